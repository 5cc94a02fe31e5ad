//! The routings of the dragonfly: every route that they could take.

use std::collections::{BTreeSet, HashMap};
use std::sync::Arc;

use crate::support::{Place, dragonfly, params, routing, travel};
use proptest::prelude::*;
use weir::model::{Flight, LinkKind, PortId, RouterId};
use weir::routing::analysis::Walker;
use weir::routing::{Here, Hop, Routing};
use weir::topology::dragonfly::{Arrangement, Dragonfly, Params};
use weir::topology::{Peer, Topology};

/// UGAL as BookSim2 has it.
const BOOKSIM: &str = "measure = \"credits\"\nweight = 2\ncandidates = 1\nthreshold = \"30 flits\"\nvia = \"endpoint\"\n\
                       draw = \"all\"\ninside = \"minimal\"\nvcs = \"separate\"";

const ALGORITHMS: [(&str, &str); 10] = [
    ("minimal", ""),
    ("valiant", ""),
    ("ugal", "candidates = 1"),
    ("ugal", BOOKSIM),
    ("ugal", "candidates = 1\nvcs = \"separate\""),
    ("ugal", "candidates = 1\nvia = \"router\""),
    ("ugal", "candidates = 1\nagain = true"),
    ("ugal", "via = \"router\"\nagain = true"),
    ("par", ""),
    ("par", "via = \"group\""),
];

/// Small networks of every shape: full, with several links for each pair of groups, with unused
/// ports, without local links, of two groups.
fn networks() -> Vec<Arc<dyn Topology>> {
    let several = |p, a, h, g, links, arrangement| -> Arc<dyn Topology> {
        let params = Params {
            links_between_groups: links,
            arrangement,
            ..params(p, a, h, g)
        };
        Arc::new(Dragonfly::new(&params).expect("valid"))
    };
    use Arrangement::{Absolute, Palmtree, Relative};
    vec![
        several(1, 2, 1, 3, None, Absolute),
        several(2, 2, 1, 3, None, Relative),
        several(1, 4, 2, 9, None, Absolute),
        several(1, 4, 2, 9, None, Palmtree),
        several(1, 3, 2, 4, None, Absolute), // 2 links per pair
        several(1, 3, 2, 4, None, Relative),
        several(1, 4, 2, 3, None, Absolute), // 4 links per pair
        several(1, 4, 2, 3, Some(3), Palmtree), // 3 links per pair, 2 ports unused
        several(1, 2, 4, 3, None, Absolute), // 4 links per pair of 2 routers
        several(1, 3, 3, 6, None, Absolute), // 1 link per pair, 4 ports unused
        several(1, 1, 3, 4, None, Absolute), // one router in each group
        several(1, 4, 1, 2, None, Absolute), // two groups
        several(2, 1, 1, 2, None, Absolute), // two routers
    ]
}

#[test]
fn no_routing_can_deadlock_and_all_routes_arrive() {
    for topology in networks() {
        for (name, parameters) in ALGORITHMS {
            let routing = routing(name, parameters, &topology);
            let mut walker = Walker::new(&*topology, &*routing);
            let context = format!("{name} on {}", topology.describe());
            let span = walker
                .walk_all()
                .unwrap_or_else(|fault| panic!("{context}: {fault}"));
            assert_eq!(walker.cycle(), None, "{context}");
            assert_eq!(span.shortest, 1, "{context}");
            // The bound is reached wherever a group has room for the way round: the walker itself
            // sees that it holds.
            let dragonfly: &Dragonfly = topology.as_a::<Dragonfly>().expect("a dragonfly");
            if dragonfly.routers_per_group() != 2 {
                assert_eq!(span.longest, routing.max_routers(), "{context}");
            }
        }
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(24))]

    #[test]
    fn no_routing_can_deadlock_on_any_small_dragonfly(
        (a, h, g, links) in (1u32..=4, 1u32..=3, 0u32..100, 0u32..100),
    ) {
        let groups = 2 + g % (a * h).min(7);
        let most = a * h / (groups - 1);
        let params = Params {
            links_between_groups: Some(1 + links % most),
            ..params(1, a, h, groups)
        };
        let topology: Arc<dyn Topology> = Arc::new(Dragonfly::new(&params).expect("valid"));
        for (name, parameters) in ALGORITHMS {
            let routing = routing(name, parameters, &topology);
            let mut walker = Walker::new(&*topology, &*routing);
            let walked = walker.walk_all();
            prop_assert!(walked.is_ok(), "{name}: {walked:?}");
            prop_assert_eq!(walker.cycle(), None, "{}", name);
        }
    }
}

#[test]
fn virtual_channels_are_used_as_documented() {
    let topology: Arc<dyn Topology> = Arc::new(dragonfly(1, 4, 2, 9));
    let used = |name, parameters| -> BTreeSet<(LinkKind, u8)> {
        let routing = routing(name, parameters, &topology);
        let mut walker = Walker::new(&*topology, &*routing);
        walker.walk_all().expect("all arrive");
        let channels = walker.channels().into_iter();
        channels
            .map(|c| (topology.link(c.router, c.port).kind, c.vc))
            .collect()
    };
    let expected = |locals, globals| -> BTreeSet<(LinkKind, u8)> {
        let locals = (0..locals).map(|vc| (Dragonfly::LOCAL, vc));
        let globals = (0..globals).map(|vc| (Dragonfly::GLOBAL, vc));
        locals
            .chain(globals)
            .chain([(LinkKind::TERMINAL, 0)])
            .collect()
    };
    assert_eq!(used("minimal", ""), expected(2, 1));
    assert_eq!(used("valiant", ""), expected(3, 2));
    assert_eq!(used("ugal", ""), expected(3, 2));
    assert_eq!(used("ugal", "vcs = \"separate\""), expected(3, 2));
    assert_eq!(used("ugal", "via = \"router\""), expected(4, 2));
    assert_eq!(used("ugal", BOOKSIM), expected(4, 2));
    // The sixth local channel is for a second local hop in the last group.
    assert_eq!(used("par", ""), expected(5, 2));
    assert_eq!(used("par", "via = \"group\""), expected(3, 2));
}

#[test]
fn every_link_between_routers_is_used_in_both_directions() {
    for topology in networks() {
        for (name, parameters) in ALGORITHMS {
            let routing = routing(name, parameters, &topology);
            let mut walker = Walker::new(&*topology, &*routing);
            walker.walk_all().expect("all arrive");
            let channels = walker.channels();
            for router in 0..topology.routers() {
                for port in 0..topology.ports(router) {
                    let used = channels
                        .iter()
                        .any(|c| (c.router, c.port) == (router, port));
                    let exists = topology.peer(router, port) != Peer::Unused;
                    assert_eq!(used, exists, "{name}, router {router} port {port}");
                }
            }
        }
    }
}

#[test]
fn minimal_routes_are_as_long_as_the_topology_says() {
    for topology in networks() {
        let dragonfly: &Dragonfly = topology.as_a::<Dragonfly>().expect("a dragonfly");
        let routing = routing("minimal", "", &topology);
        let mut walker = Walker::new(&*topology, &*routing);
        for a in 0..topology.endpoints() {
            for b in 0..topology.endpoints() {
                let shortest = topology.minimal_routers(a, b);
                let span = walker.walk(a, b, false).expect("arrives");
                assert_eq!(span.shortest, shortest, "{a} to {b}");
                if dragonfly.links_between_groups() == 1 {
                    assert_eq!(span.longest, shortest, "{a} to {b}");
                }
                assert!(span.longest <= 4);
            }
        }
    }
}

#[test]
fn control_packets_go_minimally_under_every_algorithm() {
    for topology in networks() {
        let minimal = routing("minimal", "", &topology);
        let mut minimal = Walker::new(&*topology, &*minimal);
        for (name, parameters) in ALGORITHMS {
            let routing = routing(name, parameters, &topology);
            let mut walker = Walker::new(&*topology, &*routing);
            for a in 0..topology.endpoints() {
                for b in 0..topology.endpoints() {
                    assert_eq!(walker.walk(a, b, true), minimal.walk(a, b, true), "{name}");
                }
            }
        }
    }
}

#[test]
fn adaptive_routes_include_the_minimal_ones_and_the_long_ones() {
    let topology: Arc<dyn Topology> = Arc::new(dragonfly(1, 4, 2, 9));
    for (name, parameters, longest) in [
        ("ugal", "", 6),
        ("par", "", 8),
        ("par", "via = \"group\"", 6),
    ] {
        let routing = routing(name, parameters, &topology);
        let mut walker = Walker::new(&*topology, &*routing);
        let mut longest_met = 0;
        for a in 0..topology.endpoints() {
            for b in 0..topology.endpoints() {
                let span = walker.walk(a, b, false).expect("arrives");
                // By way of a third group a route can be shorter, with two global links in a row.
                let shortest = topology.minimal_routers(a, b);
                assert!(
                    span.shortest == shortest || (span.shortest, shortest) == (3, 4),
                    "{name} {a} to {b}: {span:?}"
                );
                longest_met = longest_met.max(span.longest);
            }
        }
        assert_eq!(longest_met, longest, "{name}");
    }
}

/// An algorithm whose virtual channels are all 0.
struct OneChannel(Box<dyn Routing>);

impl Routing for OneChannel {
    fn vcs(&self, _: LinkKind) -> u8 {
        1
    }
    fn route(&self, flight: &mut Flight, here: &mut dyn Here) -> Hop {
        let hop = self.0.route(flight, here);
        Hop { vc: 0, ..hop }
    }
    fn max_routers(&self) -> u32 {
        self.0.max_routers()
    }
}

#[test]
fn without_ascending_channels_a_cycle_is_found() {
    let topology: Arc<dyn Topology> = Arc::new(dragonfly(1, 4, 2, 9));
    for (name, parameters) in ALGORITHMS {
        let broken = OneChannel(routing(name, parameters, &topology));
        let mut walker = Walker::new(&*topology, &broken);
        walker.walk_all().expect("all arrive");
        let cycle = walker.cycle().expect(name);
        let dependencies = walker.dependencies();
        for (i, &channel) in cycle.iter().enumerate() {
            let next = cycle[(i + 1) % cycle.len()];
            assert!(dependencies.contains(&(channel, next)), "{name}");
            let peer = topology.peer(channel.router, channel.port);
            assert!(matches!(peer, Peer::Router(router, _) if router == next.router));
        }
    }
}

#[test]
fn valiant_goes_by_every_third_group_equally_often() {
    let topology: Arc<dyn Topology> = Arc::new(dragonfly(1, 4, 2, 9));
    let routing = routing("valiant", "", &topology);
    let mut place = Place::idle(7);
    let mut by_group = HashMap::<u32, u32>::new();
    for _ in 0..7_000 {
        let way = travel(&*topology, &*routing, (3, 17), &mut place);
        let mut groups: Vec<u32> = way.iter().map(|&(r, _)| topology.group_of(r)).collect();
        groups.dedup();
        assert_eq!((groups.len(), groups[0], groups[2]), (3, 0, 4));
        *by_group.entry(groups[1]).or_default() += 1;
    }
    assert_eq!(by_group.len(), 7);
    // 1,000 each with a standard deviation of 29.
    assert!(by_group.values().all(|n| (870..1_130).contains(n)));
}

#[test]
fn valiant_inside_a_group_goes_by_a_third_router() {
    let topology: Arc<dyn Topology> = Arc::new(dragonfly(2, 4, 2, 9));
    let routing = routing("valiant", "", &topology);
    let mut place = Place::idle(8);
    let mut by_router = HashMap::<u32, u32>::new();
    for _ in 0..1_000 {
        let way = travel(&*topology, &*routing, (0, 7), &mut place);
        assert_eq!((way.len(), way[0].0, way[2].0), (3, 0, 3));
        *by_router.entry(way[1].0).or_default() += 1;
    }
    assert_eq!(by_router.len(), 2);
    assert!(by_router.values().all(|n| (420..580).contains(n)));
}

#[test]
fn minimal_uses_all_links_between_two_groups_equally() {
    let shapes = [(4, 2, 3), (3, 3, 4), (2, 4, 3)];
    for (a, h, g) in shapes {
        let network = dragonfly(1, a, h, g);
        let links = network.links_between_groups();
        assert!(links > 1);
        let topology: Arc<dyn Topology> = Arc::new(network);
        let routing = routing("minimal", "", &topology);
        let mut place = Place::idle(9);
        let mut uses = HashMap::<(RouterId, PortId), u32>::new();
        for _ in 0..1_000 * links {
            let way = travel(&*topology, &*routing, (0, a), &mut place);
            let out = way
                .iter()
                .find(|&&(router, port)| topology.link(router, port).kind == Dragonfly::GLOBAL);
            *uses.entry(*out.expect("one global hop")).or_default() += 1;
        }
        assert_eq!(uses.len() as u32, links);
        assert!(uses.values().all(|n| (850..1_150).contains(n)), "{uses:?}");
    }
}
