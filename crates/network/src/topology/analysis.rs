//! Examines every router and port of a network, and compares what its topology says of itself.

use std::collections::VecDeque;
use std::fmt::Debug;

use super::dragonfly::Dragonfly;
use super::{Links, Peer, Topology, kind_problem, search_links};
use weir_model::{EndpointId, LinkKind, PortId, RouterId};

/// Compares the methods of a topology with each other and with a search. The time grows with the
/// square of the endpoints: for tests, with small networks.
///
/// # Errors
///
/// The first method that does not agree, with its arguments, its value, and the value that the
/// others lead to.
pub fn check(topology: &dyn Topology) -> Result<(), String> {
    check_names(topology)?;
    check_ports(topology)?;
    check_counts(topology)?;
    check_domains(topology)?;
    check_distances(topology)
}

fn agree<T: PartialEq + Debug>(
    what: impl FnOnce() -> String,
    got: T,
    expected: T,
) -> Result<(), String> {
    match got == expected {
        true => Ok(()),
        false => Err(format!("{} is {got:?}; it has to be {expected:?}", what())),
    }
}

/// A number that counts from 0 to the one before `count`.
fn below(what: impl FnOnce() -> String, number: usize, count: usize) -> Result<(), String> {
    match number < count {
        true => Ok(()),
        false => Err(format!(
            "{} is {number}; it has to be less than {count}",
            what()
        )),
    }
}

fn ports(topology: &dyn Topology) -> impl Iterator<Item = (RouterId, PortId)> + '_ {
    let of = |router| (0..topology.ports(router)).map(move |port| (router, port));
    (0..topology.routers()).flat_map(of)
}

/// Names of kinds exist for everything that has one, and no two routers are at the same place.
fn check_names(topology: &dyn Topology) -> Result<(), String> {
    let lists = [topology.link_kinds(), topology.router_kinds()];
    for name in lists.into_iter().chain([topology.axes()]).flatten() {
        if let Some(problem) = kind_problem(name) {
            return Err(format!("the name {name:?} {problem}"));
        }
    }
    let [links, routers] = lists.map(<[_]>::len);
    for (router, port) in ports(topology) {
        let kind = topology.link(router, port).kind.index();
        below(
            || format!("the kind of link({router}, {port})"),
            kind,
            links,
        )?;
    }
    let mut places = Vec::new();
    for router in 0..topology.routers() {
        let kind = topology.router_kind(router).index();
        below(|| format!("router_kind({router})"), kind, routers)?;
        let place = topology.coordinates(router);
        let length = || format!("the length of coordinates({router})");
        agree(length, place.len(), topology.axes().len())?;
        places.push((place, router));
    }
    places.sort_unstable();
    let same = places.windows(2).find(|two| two[0].0 == two[1].0);
    match same {
        Some(two) if !topology.axes().is_empty() => Err(format!(
            "routers {} and {} are both at {:?}",
            two[0].1, two[1].1, two[0].0
        )),
        _ => Ok(()),
    }
}

/// Each peer's peer, both ends of one link, and each endpoint once.
fn check_ports(topology: &dyn Topology) -> Result<(), String> {
    let mut seen: EndpointId = 0;
    for (router, port) in ports(topology) {
        let link = topology.link(router, port);
        let terminal = link.kind == LinkKind::TERMINAL;
        let is_terminal = || format!("link({router}, {port}).kind == LinkKind::TERMINAL");
        match topology.peer(router, port) {
            Peer::Router(other, there) => {
                let far = || format!("the router of peer({router}, {port})");
                below(far, other as usize, topology.routers() as usize)?;
                let far = || format!("the port of peer({router}, {port})");
                below(far, there.into(), topology.ports(other).into())?;
                let back = || format!("peer({other}, {there})");
                agree(
                    back,
                    topology.peer(other, there),
                    Peer::Router(router, port),
                )?;
                let back = || format!("link({other}, {there})");
                agree(back, topology.link(other, there), link)?;
                agree(is_terminal, terminal, false)?;
                if other == router {
                    return Err(format!("router {router} has a link to itself, port {port}"));
                }
            }
            Peer::Endpoint(endpoint) => {
                let far = || format!("the endpoint of peer({router}, {port})");
                below(far, endpoint as usize, topology.endpoints() as usize)?;
                let attachment = topology.attachment(endpoint);
                agree(
                    || format!("attachment({endpoint})"),
                    attachment,
                    (router, port),
                )?;
                agree(is_terminal, terminal, true)?;
                seen += 1;
            }
            Peer::Unused => {}
        }
    }
    // None is seen twice: each has one attachment.
    agree(|| "endpoints()".into(), topology.endpoints(), seen)
}

/// The formulae against a count of everything.
fn check_counts(topology: &dyn Topology) -> Result<(), String> {
    let sorted = |mut links: Vec<Links>| {
        links.sort_by_key(|links| (links.link.kind, links.link.latency));
        links
    };
    let found = sorted(search_links(topology));
    agree(|| "links()".into(), sorted(topology.links()), found)?;
    let count = ports(topology).count() as u64;
    agree(|| "all_ports()".into(), topology.all_ports(), count)
}

/// Every router is in a domain and a group, and every domain has one.
fn check_domains(topology: &dyn Topology) -> Result<(), String> {
    let [domains, groups] = [topology.domains(), topology.groups()].map(|count| count as usize);
    let mut owns = vec![false; domains];
    for router in 0..topology.routers() {
        let domain = topology.domain_of(router) as usize;
        below(|| format!("domain_of({router})"), domain, domains)?;
        owns[domain] = true;
        let group = topology.group_of(router) as usize;
        below(|| format!("group_of({router})"), group, groups)?;
    }
    match owns.iter().position(|&owns| !owns) {
        Some(domain) => Err(format!("domain {domain} has no router")),
        None => Ok(()),
    }
}

/// The lengths of shortest routes in a plane against a search; no way leads out of one. A
/// dragonfly's are over one global link at most.
fn check_distances(topology: &dyn Topology) -> Result<(), String> {
    if topology.as_a::<Dragonfly>().is_some() {
        return Ok(());
    }
    let mut farthest = 0;
    for a in 0..topology.endpoints() {
        let found = distances(topology, topology.attachment(a).0);
        for b in 0..topology.endpoints() {
            let found = found[topology.attachment(b).0 as usize];
            if topology.plane_of(a) != topology.plane_of(b) {
                if found.is_some() {
                    return Err(format!("endpoints {a} and {b} of two planes are joined"));
                }
                continue;
            }
            let routers = Some(topology.minimal_routers(a, b));
            agree(|| format!("minimal_routers({a}, {b})"), routers, found)?;
            farthest = farthest.max(found.unwrap_or(0));
        }
    }
    let diameter = topology.diameter_routers();
    agree(|| "diameter_routers()".into(), diameter, farthest)
}

/// Routers on a shortest route from one router to every other, both counted; None without a way.
pub fn distances(topology: &dyn Topology, start: RouterId) -> Vec<Option<u32>> {
    let mut routers = vec![None; topology.routers() as usize];
    routers[start as usize] = Some(1);
    let mut queue = VecDeque::from([(start, 1)]);
    while let Some((router, length)) = queue.pop_front() {
        for port in 0..topology.ports(router) {
            if let Some(next) = topology.peer(router, port).router()
                && routers[next as usize].is_none()
            {
                routers[next as usize] = Some(length + 1);
                queue.push_back((next, length + 1));
            }
        }
    }
    routers
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::topology::Link;
    use weir_model::{Bandwidth, KindName, RouterKind};

    /// Four routers in a square with an endpoint each, at port 0; router x + 2·y. One method is
    /// wrong at router 3.
    struct Square(&'static str);

    impl Square {
        fn or<T>(&self, method: &str, router: RouterId, good: T, bad: T) -> T {
            match self.0 == method && router == 3 {
                true => bad,
                false => good,
            }
        }
    }

    impl Topology for Square {
        fn endpoints(&self) -> u32 {
            self.or("endpoints", 3, 4, 5)
        }
        fn routers(&self) -> u32 {
            4
        }
        fn ports(&self, _: RouterId) -> PortId {
            3
        }
        fn peer(&self, router: RouterId, port: PortId) -> Peer {
            match port {
                0 => Peer::Endpoint(router),
                1 => Peer::Router(router ^ 1, 1),
                2 => Peer::Router(router ^ 2, self.or("peer", router, 2, 1)),
                _ => Peer::Unused,
            }
        }
        fn link(&self, router: RouterId, port: PortId) -> Link {
            let good = port.min(1) as u8;
            let kind = LinkKind(self.or("link", router, good, 2));
            Link {
                kind,
                bandwidth: Bandwidth(100_000_000_000),
                latency: 5_000,
            }
        }
        fn link_kinds(&self) -> &[KindName] {
            const GOOD: &[KindName] = &[KindName::Borrowed("terminal"), KindName::Borrowed("x")];
            const BAD: &[KindName] = &[KindName::Borrowed("terminal"), KindName::Borrowed("X/y")];
            self.or("link_kinds", 3, GOOD, BAD)
        }
        fn router_kind(&self, router: RouterId) -> RouterKind {
            RouterKind(self.or("router_kind", router, 0, 1))
        }
        fn axes(&self) -> &[KindName] {
            const NAMES: &[KindName] = &[KindName::Borrowed("x"), KindName::Borrowed("y")];
            NAMES
        }
        fn coordinates(&self, router: RouterId) -> Vec<u32> {
            vec![router % 2, self.or("coordinates", router, router / 2, 0)]
        }
        fn attachment(&self, endpoint: EndpointId) -> (RouterId, PortId) {
            (endpoint, self.or("attachment", endpoint, 0, 2))
        }
        fn group_of(&self, router: RouterId) -> u32 {
            self.or("group_of", router, router % 2, 2)
        }
        fn groups(&self) -> u32 {
            2
        }
        fn domains(&self) -> u32 {
            self.or("domains", 3, 2, 3)
        }
        fn domain_of(&self, router: RouterId) -> u32 {
            self.or("domain_of", router, router % 2, 2)
        }
        fn minimal_routers(&self, a: EndpointId, b: EndpointId) -> u32 {
            self.or("minimal_routers", a, 1 + (a ^ b).count_ones(), 2)
        }
        fn diameter_routers(&self) -> u32 {
            self.or("diameter_routers", 3, 3, 4)
        }
        fn all_ports(&self) -> u64 {
            self.or("all_ports", 3, 12, 11)
        }
        fn describe(&self) -> String {
            "a square of four routers".into()
        }
    }

    #[test]
    fn a_wrong_method_is_named_with_its_place() {
        assert_eq!(check(&Square("none")), Ok(()));
        for (method, told) in [
            ("endpoints", "endpoints() is 5; it has to be 4"),
            (
                "peer",
                "peer(3, 2) is Router(1, 1); it has to be Router(1, 2)",
            ),
            (
                "link",
                "the kind of link(3, 0) is 2; it has to be less than 2",
            ),
            ("link_kinds", "the name \"X/y\" "),
            (
                "router_kind",
                "router_kind(3) is 1; it has to be less than 1",
            ),
            ("coordinates", "routers 1 and 3 are both at [1, 0]"),
            ("attachment", "attachment(3) is (3, 2); it has to be (3, 0)"),
            ("group_of", "group_of(3) is 2; it has to be less than 2"),
            ("domains", "domain 2 has no router"),
            ("domain_of", "domain_of(3) is 2; it has to be less than 2"),
            (
                "minimal_routers",
                "minimal_routers(3, 0) is Some(2); it has to be Some(3)",
            ),
            (
                "diameter_routers",
                "diameter_routers() is 4; it has to be 3",
            ),
            ("all_ports", "all_ports() is 11; it has to be 12"),
        ] {
            let fault = check(&Square(method)).expect_err(method);
            assert!(fault.starts_with(told), "{method}: {fault}");
        }
    }
}
