//! Links and routers of failures that are drawn at random.

use rustc_hash::FxHashMap;

use super::{FailureConfig, Failures};
use crate::topology::{Place, Topology};
use weir_input::suggest;
use weir_model::{Invalid, KindName, LinkKind, Rng, RouterId, TERMINAL, below};

/// A link by its two ends: for one by name, the named end first.
pub(super) type Ends = [Place; 2];

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
pub(super) fn drawn_links(
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
    let is_free = |ends: &Ends| {
        let free = |end: &Place| failures.get(*end).is_none() && failures.down_at(*end).is_empty();
        ends.iter().all(free)
    };
    let all = of_kind().count();
    if all == 0 {
        return unknown("links", kind, names, &["fabric", "all"]);
    }
    let free = of_kind().filter(is_free).count();
    let chosen = draw(own, (&format!("{kind} links"), all, free), rng)?;
    let mut next = chosen.iter().copied().peekable();
    let links = of_kind().filter(is_free).enumerate();
    let links = links.filter(|(number, _)| next.next_if_eq(number).is_some());
    Ok(links.map(|(_, ends)| ends).collect())
}

/// Draws routers of a kind.
pub(super) fn drawn_routers(
    own: &FailureConfig,
    kind: &str,
    topology: &dyn Topology,
    rng: &mut Rng,
) -> Result<Vec<RouterId>, Invalid> {
    let names = topology.router_kinds();
    let is_own =
        |router: &RouterId| kind == "all" || names[topology.router_kind(*router).index()] == kind;
    let all: Vec<RouterId> = (0..topology.routers()).filter(is_own).collect();
    if all.is_empty() {
        return unknown("routers", kind, names, &["all"]);
    }
    let what = match kind {
        "all" => "routers".to_string(),
        kind => format!("routers of the kind {kind}"),
    };
    let chosen = draw(own, (&what, all.len(), all.len()), rng)?;
    Ok(chosen.into_iter().map(|at| all[at]).collect())
}

/// The error about a kind of which there are no links or routers.
fn unknown<T>(key: &str, kind: &str, names: &[KindName], more: &[&str]) -> Result<T, Invalid> {
    let known: Vec<&str> = names.iter().map(|name| &**name).collect();
    let known: Vec<&str> = known.into_iter().chain(more.iter().copied()).collect();
    let (message, remedy) = match known.contains(&kind) {
        true => (
            format!("the network has no {kind} {key}"),
            "choose another kind".into(),
        ),
        false => (
            format!("the network has no kind of {key} called {kind:?}"),
            suggest(kind, "kinds", &known, '"'),
        ),
    };
    Err(Invalid::new(key, message, remedy))
}

/// Draws `count` or `share` of all of a kind among the free ones; their numbers among these,
/// ascending. `what`: what there is, how many of it, and how many are free.
fn draw(
    own: &FailureConfig,
    (what, all, free): (&str, usize, usize),
    rng: &mut Rng,
) -> Result<Vec<usize>, Invalid> {
    let (key, wanted) = match own.share {
        Some(share) => ("share", (share * all as f64).round() as usize),
        None => ("count", own.count.unwrap_or(0) as usize),
    };
    if wanted > free {
        let message = match free == all {
            true => format!("the network has {all} {what}, not {wanted}"),
            false => {
                format!("of the {all} {what}, {free} are left beside other failures, not {wanted}")
            }
        };
        return Err(Invalid::new(key, message, "write less"));
    }
    Ok(draw_numbers(wanted, free, rng))
}

/// `count` different numbers below `of`, ascending. A larger `count` of the same stream has the
/// numbers of a smaller one, and more.
fn draw_numbers(count: usize, of: usize, rng: &mut Rng) -> Vec<usize> {
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
