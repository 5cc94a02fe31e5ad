//! The routings: every route is minimal, none can deadlock, and the load is spread as promised.

use std::sync::Arc;

use proptest::prelude::*;
use weir::config::Section;
use weir::failures::Seen;
use weir::model::{EndpointId, Flight, LinkKind, PortId, RouterId};
use weir::routing::analysis::Walker;
use weir::routing::{self, Here, Hop, Load, Queue, Routing};
use weir::topology::tree::Tree;
use weir::topology::{Peer, Topology};

use super::support::{Kind, kinds, tree};

pub const ALGORITHMS: [&str; 3] = ["dmodk", "random_up", "adaptive_up"];

/// Builds a routing without parameters.
pub fn route_in(algorithm: &str, topology: &Arc<dyn Topology>) -> Result<Box<dyn Routing>, String> {
    let section = Section::from_toml("").map_err(|e| e.to_string())?;
    let entry = routing::find("kary_ntree", algorithm).ok_or("no such algorithm")?;
    (entry.build)(&section, topology).map_err(|e| e.to_string())
}

/// Makes one fixed choice at every router: the pick is `choice` modulo the number of candidates.
struct Fixed {
    router: RouterId,
    in_port: PortId,
    choice: u32,
    backlog: fn(PortId) -> u32,
}

impl Here for Fixed {
    fn router(&self) -> RouterId {
        self.router
    }
    fn in_port(&self) -> PortId {
        self.in_port
    }
    fn source(&self) -> u32 {
        0
    }
    fn job(&self) -> u16 {
        0
    }
    fn pick(&mut self, n: u32) -> u32 {
        self.choice % n
    }
    fn backlog(&mut self, port: PortId) -> u32 {
        (self.backlog)(port)
    }
    fn queue(&mut self, _: PortId) -> Queue {
        unreachable!("nothing here asks for more than the backlog")
    }
    fn load(&mut self, _: Hop) -> Load {
        unreachable!("nothing here asks for virtual channels")
    }
    fn recall(&mut self, _: u32) -> u64 {
        unreachable!("nothing here keeps words")
    }
    fn remember(&mut self, _: u32, _: u64) {
        unreachable!("nothing here keeps words")
    }
    fn flows(&mut self, _: PortId) -> u32 {
        0
    }

    fn circuit(&mut self) -> Option<PortId> {
        None
    }

    fn keep_circuit(&mut self, _: PortId) -> bool {
        false
    }

    fn max_packet(&self) -> u32 {
        16
    }

    fn links(&self) -> Seen {
        Seen::default()
    }
}

/// The hops (router, output port) of a data packet.
fn hops(
    topology: &dyn Topology,
    routing: &dyn Routing,
    source: EndpointId,
    destination: EndpointId,
) -> Vec<(RouterId, PortId)> {
    let (router, in_port) = topology.attachment(source);
    let mut here = Fixed {
        router,
        in_port,
        choice: 0,
        backlog: |_| 0,
    };
    let mut flight = Flight {
        destination,
        ..Flight::default()
    };
    let mut hops = Vec::new();
    while hops.len() < 64 {
        let hop = routing.route(&mut flight, &mut here);
        hops.push((here.router, hop.port));
        match topology.peer(here.router, hop.port) {
            Peer::Router(router, port) => (here.router, here.in_port) = (router, port),
            Peer::Endpoint(endpoint) => {
                assert_eq!(endpoint, destination);
                return hops;
            }
            Peer::Unused => panic!("unused port {} of router {}", hop.port, here.router),
        }
    }
    panic!("{source} to {destination} never arrives");
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(64))]

    /// No two destinations share a link down from a top router, wherever the packets come from; and
    /// the links up from a router carry packets for equal numbers of destinations.
    #[test]
    fn dmodk_spreads_destinations_evenly(kind in kinds(150)) {
        let network = kind.build();
        let tree = tree(&network);
        let routing = route_in("dmodk", &network).expect("a tree");
        let mut users: Vec<Vec<Vec<EndpointId>>> = (0..network.routers())
            .map(|router| vec![Vec::new(); usize::from(network.ports(router))])
            .collect();
        for destination in 0..network.endpoints() {
            for source in 0..network.endpoints() {
                for (router, port) in hops(&*network, &*routing, source, destination) {
                    let users = &mut users[router as usize][usize::from(port)];
                    if users.last() != Some(&destination) {
                        users.push(destination);
                    }
                }
            }
        }
        for router in 0..network.routers() {
            let used: Vec<usize> = users[router as usize].iter().map(Vec::len).collect();
            let up = tree.up_ports(router);
            if up.is_empty() {
                prop_assert!(used.iter().all(|&destinations| destinations == 1), "{:?}", used);
            }
            let (_, up) = used.split_at(usize::from(up.start));
            // The destinations outside of this router's subtree, dealt out to its up ports.
            let outside = (0..network.endpoints()).filter(|&e| !tree.is_ancestor(router, e));
            let mine = outside.count() / usize::try_from(replicas(tree, router)).unwrap();
            prop_assert!(up.iter().all(|&n| n * up.len() == mine), "{:?} of {}", up, mine);
        }
    }
}

/// Routers that reach the same endpoints as this one does, itself included.
fn replicas(tree: &Tree, router: RouterId) -> u32 {
    let below = (0..tree.endpoints()).find(|&e| tree.is_ancestor(router, e));
    let below = below.expect("every router reaches an endpoint");
    let level = tree.level_of(router);
    let alike = |&other: &RouterId| tree.level_of(other) == level && tree.is_ancestor(other, below);
    (0..tree.routers()).filter(alike).count() as u32
}

proptest! {
    // The walker takes every choice, 2^ports of them for adaptive ascent: small networks, fewer
    // cases.
    #![proptest_config(ProptestConfig::with_cases(24))]

    #[test]
    fn every_route_is_minimal_and_none_can_deadlock(kind in kinds(64)) {
        let network = kind.build();
        for algorithm in ALGORITHMS {
            let routing = route_in(algorithm, &network).expect("a tree");
            prop_assert!((0..network.link_kinds().len()).all(|kind| routing.vcs(LinkKind(kind as u8)) == 1));
            prop_assert_eq!(routing.max_routers(), network.diameter_routers());
            let mut walker = Walker::new(&*network, &*routing);
            for source in 0..network.endpoints() {
                for destination in 0..network.endpoints() {
                    for control in [false, true] {
                        let span = walker.walk(source, destination, control);
                        let span = span.map_err(|fault| TestCaseError::fail(fault.to_string()))?;
                        let minimal = network.minimal_routers(source, destination);
                        prop_assert_eq!((span.shortest, span.longest), (minimal, minimal));
                    }
                }
            }
            prop_assert_eq!(walker.cycle(), None, "{}", algorithm);
        }
    }
}

#[test]
fn random_and_adaptive_ascent_use_every_link() {
    let network = Kind::Clos {
        radix: 4,
        levels: 3,
        pods: 4,
    }
    .build();
    let links: u32 = (0..network.routers())
        .map(|r| u32::from(network.ports(r)))
        .sum();
    for algorithm in ["random_up", "adaptive_up"] {
        let routing = route_in(algorithm, &network).expect("a tree");
        let mut walker = Walker::new(&*network, &*routing);
        walker.walk_all().expect("all routes arrive");
        assert_eq!(walker.channels().len() as u32, links, "{algorithm}");
    }
}

/// Leaf router 0 of an 8-port tree of two levels: ports 4 to 7 lead up.
fn port_up(algorithm: &str, flags: u8, choice: u32, backlog: fn(PortId) -> u32) -> PortId {
    let network = Kind::Clos {
        radix: 8,
        levels: 2,
        pods: 8,
    }
    .build();
    let routing = route_in(algorithm, &network).expect("a tree");
    let mut flight = Flight {
        destination: 14,
        flags,
        ..Flight::default()
    };
    let mut here = Fixed {
        router: 0,
        in_port: 0,
        choice,
        backlog,
    };
    routing.route(&mut flight, &mut here).port
}

#[test]
fn adaptive_ascent_takes_the_least_backlog_and_breaks_ties_by_chance() {
    for choice in 0..4 {
        assert_eq!(
            port_up("adaptive_up", 0, choice, |port| u32::from(port != 6)),
            6
        );
        assert_eq!(
            port_up("adaptive_up", 0, choice, |port| 9 - u32::from(port)),
            7
        );
        assert_eq!(
            port_up("adaptive_up", 0, choice, |_| 5),
            4 + choice as PortId
        );
        assert_eq!(
            port_up("adaptive_up", 0, choice, |_| 0),
            4 + choice as PortId
        );
    }
    // Ports 5 and 7 are equally good: the first one from the random start on.
    let odd = |port: PortId| 1 - u32::from(port % 2);
    let taken: Vec<PortId> = (0..4)
        .map(|choice| port_up("adaptive_up", 0, choice, odd))
        .collect();
    assert_eq!(taken, [5, 5, 7, 7]);
}

#[test]
fn control_packets_and_dmodk_go_by_destination() {
    // Endpoint 14 is the third of its leaf router: the third up port.
    for choice in 0..4 {
        assert_eq!(port_up("dmodk", 0, choice, u32::from), 6);
        assert_eq!(
            port_up("adaptive_up", 1, choice, |port| 100 * u32::from(port)),
            6
        );
        assert_eq!(port_up("random_up", 0, choice, |_| 0), 4 + choice as PortId);
    }
}
