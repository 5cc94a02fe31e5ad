//! The links that failures change: by name, and drawn at random.

use rustc_hash::FxHashMap;

use super::{Changed, Direction, FailedLinks, FailureConfig, Failures, LinkName, NewBandwidth};
use crate::topology::{Peer, Place, Topology};
use weir_input::suggest;
use weir_model::{Invalid, LinkKind, Rng, RouterId, TERMINAL, below, stream};

/// Purpose of the random stream of a failure.
const FAILURE_STREAM: u64 = 4;
/// The most neighbours of a router that an error names.
const MOST_NAMED: usize = 12;

/// A link by its two ends: for one by name, the named end first.
type Ends = [Place; 2];

/// The links that differ from their kind. The same wherever it is asked: it depends on the failures,
/// the network and the seed alone.
///
/// # Errors
/// The first thing that is wrong, with its key: `failure.0.links`.
pub fn choose(
    list: &[FailureConfig],
    topology: &dyn Topology,
    seed: u64,
) -> Result<Failures, Invalid> {
    let mut failures = Failures::default();
    for (number, own) in list.iter().enumerate() {
        check(own).map_err(|invalid| within(number, invalid))?;
    }
    // Links are drawn among the others.
    for (number, own) in list.iter().enumerate() {
        let FailedLinks::Named(names) = &own.links else {
            continue;
        };
        for (at, name) in names.iter().enumerate() {
            let refuse = |invalid| within(number, beside(&format!("links.{at}"), invalid));
            for ends in named(name, topology).map_err(refuse)? {
                let changed = change(&mut failures, topology, (number, own), ends);
                changed.map_err(|invalid| match invalid.key.as_str() {
                    "" => refuse(invalid),
                    _ => within(number, invalid),
                })?;
            }
        }
    }
    for (number, own) in list.iter().enumerate() {
        let FailedLinks::Kind(kind) = &own.links else {
            continue;
        };
        let mut rng = match own.seed {
            Some(seed) => stream(seed, &[FAILURE_STREAM]),
            None => stream(seed, &[FAILURE_STREAM, number as u64]),
        };
        let drawn = drawn(own, kind, topology, &failures, &mut rng);
        for ends in drawn.map_err(|invalid| within(number, invalid))? {
            change(&mut failures, topology, (number, own), ends)
                .map_err(|invalid| within(number, invalid))?;
        }
    }
    Ok(failures)
}

/// The same error with a key before its own.
fn beside(path: &str, invalid: Invalid) -> Invalid {
    let key = match invalid.key.as_str() {
        "" => path.to_string(),
        key => format!("{path}.{key}"),
    };
    Invalid { key, ..invalid }
}

fn within(number: usize, invalid: Invalid) -> Invalid {
    beside(&format!("failure.{number}"), invalid)
}

/// Checks what needs no network.
fn check(own: &FailureConfig) -> Result<(), Invalid> {
    let refuse = |key: &str, message: String, remedy: &str| Err(Invalid::new(key, message, remedy));
    if own.bandwidth.is_none() && own.added_latency.is_none() {
        let remedy = "add bandwidth = 0.25, or \"25 Gbps\", or added_latency = \"1 us\"";
        return refuse("", "this changes nothing".into(), remedy);
    }
    if let Some(NewBandwidth::Share(share)) = own.bandwidth
        && !(share > 0.0 && share <= 1.0)
    {
        let message = format!("{share} is not a share of a link's bandwidth");
        return refuse("bandwidth", message, "write more than 0 and at most 1");
    }
    let FailedLinks::Kind(_) = own.links else {
        let drawn = [
            ("count", own.count.is_some()),
            ("share", own.share.is_some()),
            ("seed", own.seed.is_some()),
        ];
        return match drawn.iter().find(|(_, given)| *given) {
            Some((key, _)) => refuse(
                key,
                "these links are named, and none is drawn".into(),
                "leave it out, or write a kind for `links`, such as \"global\"",
            ),
            None => Ok(()),
        };
    };
    if own.direction == Direction::Out {
        let message = "a link that is drawn has no side to go out from".to_string();
        let remedy = "leave it out, or name the links: links = [{ router = 3, port = 7 }]";
        return refuse("direction", message, remedy);
    }
    match (own.count, own.share) {
        (None, None) => refuse(
            "links",
            "the number of links is missing".into(),
            "add count = 1, or share = 0.05; share = 1 for all of them",
        ),
        (Some(_), Some(_)) => refuse(
            "share",
            "the number of links is given by `count`".into(),
            "leave out one of them",
        ),
        (None, Some(share)) if !(0.0..=1.0).contains(&share) => refuse(
            "share",
            format!("{share} is not a share of links"),
            "write a number from 0 to 1",
        ),
        _ => Ok(()),
    }
}

/// Changes a link. An error without a key is about the link.
fn change(
    failures: &mut Failures,
    topology: &dyn Topology,
    (number, own): (usize, &FailureConfig),
    ends: Ends,
) -> Result<(), Invalid> {
    let directions = match own.direction {
        Direction::Both => &ends[..],
        Direction::Out => &ends[..1],
    };
    for &from in directions {
        if let Some(other) = failures.get(from) {
            let message = match other.failure == number {
                true => "this link is named twice".to_string(),
                false => format!("failure.{} changes this link already", other.failure),
            };
            return Err(Invalid::new("", message, "name each link once"));
        }
        let changed = Changed {
            link: own.changed(topology.link_from(from))?,
            failure: number,
        };
        failures.add(topology, from, changed);
    }
    Ok(())
}

/// The links of a name.
fn named(name: &LinkName, topology: &dyn Topology) -> Result<Vec<Ends>, Invalid> {
    let routers = topology.routers();
    let ends = |from: Place| topology.far_end(from).map(|far| [from, far]);
    match *name {
        LinkName {
            router: Some(router),
            port: Some(port),
            routers: None,
            endpoint: None,
        } => {
            if router >= routers {
                return beyond("router", "router", router, routers);
            }
            let ports = topology.ports(router);
            let found = (port < ports).then(|| ends(Place::Router(router, port)));
            found.flatten().map(|ends| vec![ends]).ok_or_else(|| {
                Invalid::new(
                    "port",
                    format!("no link is at port {port} of router {router}"),
                    format!("its links are at ports {}", used_ports(topology, router)),
                )
            })
        }
        LinkName {
            router: None,
            port: None,
            routers: Some([one, other]),
            endpoint: None,
        } => {
            if let Some(router) = [one, other].into_iter().find(|one| *one >= routers) {
                return beyond("routers", "router", router, routers);
            }
            let places = (0..topology.ports(one)).map(|port| Place::Router(one, port));
            let between = places
                .filter_map(ends)
                .filter(|[_, far]| matches!(far, Place::Router(router, _) if *router == other));
            let between: Vec<Ends> = between.collect();
            match between.is_empty() {
                false => Ok(between),
                true => Err(Invalid::new(
                    "routers",
                    format!("no link joins routers {one} and {other}"),
                    format!("router {one} has links to {}", neighbours(topology, one)),
                )),
            }
        }
        LinkName {
            router: None,
            port: None,
            routers: None,
            endpoint: Some(endpoint),
        } => {
            if endpoint >= topology.endpoints() {
                return beyond("endpoint", "endpoint", endpoint, topology.endpoints());
            }
            Ok(ends(Place::Nic(endpoint)).into_iter().collect())
        }
        _ => Err(Invalid::new(
            "",
            "this names no link",
            "write { router = 3, port = 7 }, { routers = [3, 9] }, or { endpoint = 12 }",
        )),
    }
}

/// The error about a number that the network does not have.
fn beyond<T>(key: &str, what: &str, number: u32, count: u32) -> Result<T, Invalid> {
    Err(Invalid::new(
        key,
        format!("{what} {number} is beyond the network, which has {count} {what}s"),
        format!("write a number from 0 to {}", count - 1),
    ))
}

/// The ports of a router that have links, for an error.
fn used_ports(topology: &dyn Topology, router: RouterId) -> String {
    let ports = 0..topology.ports(router);
    let used = ports.filter(|&port| topology.peer(router, port) != Peer::Unused);
    listed(used.map(u32::from).collect())
}

/// The routers that a router has links to, for an error.
fn neighbours(topology: &dyn Topology, router: RouterId) -> String {
    let ports = 0..topology.ports(router);
    let others = ports.filter_map(|port| match topology.peer(router, port) {
        Peer::Router(other, _) => Some(other),
        Peer::Endpoint(_) | Peer::Unused => None,
    });
    let mut others: Vec<u32> = others.collect();
    others.sort_unstable();
    others.dedup();
    match others.is_empty() {
        true => "no other".into(),
        false => listed(others),
    }
}

fn listed(numbers: Vec<u32>) -> String {
    let shown = numbers.iter().take(MOST_NAMED).map(u32::to_string);
    let shown: Vec<String> = shown.collect();
    let more = if numbers.len() > MOST_NAMED {
        ", …"
    } else {
        ""
    };
    shown.join(", ") + more
}

/// Every link once, by the router and port with the lower numbers.
fn all_links(topology: &dyn Topology) -> impl Iterator<Item = Ends> + '_ {
    let routers = 0..topology.routers();
    let places = routers.flat_map(|router| {
        (0..topology.ports(router)).map(move |port| Place::Router(router, port))
    });
    places.filter_map(|place| {
        let far = topology.far_end(place)?;
        (matches!(far, Place::Nic(_)) || place < far).then_some([place, far])
    })
}

/// Draws links of a kind among links that no failure changes.
fn drawn(
    own: &FailureConfig,
    kind: &str,
    topology: &dyn Topology,
    failures: &Failures,
    rng: &mut Rng,
) -> Result<Vec<Ends>, Invalid> {
    let names = topology.link_kinds();
    let is_own = |number: LinkKind| {
        let name = &*names[number.index()];
        name == kind || kind == "all" || (kind == "fabric" && name != TERMINAL)
    };
    let of_kind = || all_links(topology).filter(|[one, _]| is_own(topology.link_from(*one).kind));
    let is_free = |ends: &Ends| ends.iter().all(|end| failures.get(*end).is_none());
    let all = of_kind().count();
    if all == 0 {
        let known: Vec<&str> = names.iter().map(|name| &**name).collect();
        let known: Vec<&str> = known.into_iter().chain(["fabric", "all"]).collect();
        let (message, remedy) = match known.contains(&kind) {
            true => (
                format!("the network has no {kind} links"),
                "choose another kind".into(),
            ),
            false => (
                format!("the network has no kind of links called {kind:?}"),
                suggest(kind, "kinds", &known, '"'),
            ),
        };
        return Err(Invalid::new("links", message, remedy));
    }
    let free = of_kind().filter(is_free).count();
    let (key, wanted) = match own.share {
        Some(share) => ("share", (share * all as f64).round() as usize),
        None => ("count", own.count.unwrap_or(0) as usize),
    };
    if wanted > free {
        let message = match free == all {
            true => format!("the network has {all} {kind} links, not {wanted}"),
            false => format!(
                "of the {all} {kind} links, {free} are left beside other failures, not {wanted}"
            ),
        };
        return Err(Invalid::new(key, message, "write less"));
    }
    let chosen = draw(wanted, free, rng);
    let mut next = chosen.iter().copied().peekable();
    let links = of_kind().filter(is_free).enumerate();
    let links = links.filter(|(number, _)| next.next_if_eq(number).is_some());
    Ok(links.map(|(_, ends)| ends).collect())
}

/// `count` different numbers below `of`, ascending. A larger `count` of the same stream has the
/// numbers of a smaller one, and more.
fn draw(count: usize, of: usize, rng: &mut Rng) -> Vec<usize> {
    // The shuffle of Fisher and Yates, of which only the moved numbers are kept.
    let mut moved: FxHashMap<usize, usize> = FxHashMap::default();
    let mut drawn: Vec<usize> = Vec::with_capacity(count);
    for at in 0..count {
        // There are fewer than 2³¹ links.
        let other = at + below(rng, (of - at) as u32) as usize;
        let here = moved.get(&at).copied().unwrap_or(at);
        drawn.push(moved.insert(other, here).unwrap_or(other));
    }
    drawn.sort_unstable();
    drawn
}
