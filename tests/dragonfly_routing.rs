//! The routings of the dragonfly: every route that they could take, and what makes them choose.

use std::collections::{BTreeSet, HashMap};
use std::sync::Arc;

use crate::support::{Place, dragonfly, params, routing};
use proptest::prelude::*;
use weir::model::{Flight, LinkKind, PortId, RouterId};
use weir::routing::analysis::Walker;
use weir::routing::{Here, Hop, Load, Queue, Routing};
use weir::topology::dragonfly::{Arrangement, Dragonfly, Params};
use weir::topology::{Peer, Topology};

/// UGAL as BookSim2 has it.
const BOOKSIM: &str = "measure = \"credits\"\nweight = 2\ncandidates = 1\nthreshold = \"30 flits\"\nvia = \"endpoint\"\n\
                       draw = \"all\"\ninside = \"minimal\"\nvcs = \"separate\"";

const ALGORITHMS: [(&str, &str); 7] = [
    ("minimal", ""),
    ("valiant", ""),
    ("ugal", "candidates = 1"),
    ("ugal", BOOKSIM),
    ("ugal", "candidates = 1\nvcs = \"separate\""),
    ("ugal", "candidates = 1\nvia = \"router\""),
    ("par", ""),
];

/// Small networks of every shape: full, with several links for each pair of groups, with unused ports, without local
/// links, of two groups.
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
            // The bound is reached wherever a group has room for the way round: the walker itself sees that it holds.
            let dragonfly: &Dragonfly = topology.as_dragonfly().expect("a dragonfly");
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
        let dragonfly: &Dragonfly = topology.as_dragonfly().expect("a dragonfly");
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
    for (name, longest) in [("ugal", 6), ("par", 8)] {
        let routing = routing(name, "", &topology);
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

/// The routers that a packet visits and the ports by which it leaves them.
fn travel(
    topology: &dyn Topology,
    routing: &dyn Routing,
    ends: (u32, u32),
    place: &mut Place,
) -> Vec<(RouterId, PortId)> {
    (place.router, place.in_port) = topology.attachment(ends.0);
    let mut flight = Flight {
        destination: ends.1,
        ..Flight::default()
    };
    let mut way = vec![];
    loop {
        let hop = routing.route(&mut flight, place);
        way.push((place.router, hop.port));
        match topology.peer(place.router, hop.port) {
            Peer::Router(router, port) => (place.router, place.in_port) = (router, port),
            end => {
                assert_eq!(end, Peer::Endpoint(ends.1));
                return way;
            }
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

/// A place where `pick` always gives 0, and two ports have a backlog.
struct Loaded {
    router: RouterId,
    in_port: PortId,
    backlog: HashMap<PortId, u32>,
}

impl Here for Loaded {
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
    fn pick(&mut self, _: u32) -> u32 {
        0
    }
    fn backlog(&mut self, port: PortId) -> u32 {
        self.backlog[&port]
    }
    /// A tenth of the backlog each in input queues and in output queues.
    fn queue(&mut self, port: PortId) -> Queue {
        let part = self.backlog[&port] / 10;
        Queue {
            waiting: part,
            queued: part,
            beyond: self.backlog[&port] - 2 * part,
        }
    }
    fn load(&mut self, hop: Hop) -> Load {
        let Queue { queued, beyond, .. } = self.queue(hop.port);
        // Of one virtual channel: the first ones have most.
        let queued = queued.saturating_sub(u32::from(hop.vc));
        Load {
            used: queued + beyond,
            queued,
            free: 0,
        }
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
        24
    }
}

/// The port that `routing` takes at `router` for a packet to `destination`, with these backlogs (port, flits).
fn choice(
    routing: &dyn Routing,
    router: RouterId,
    flight: &mut Flight,
    backlog: [(PortId, u32); 2],
) -> PortId {
    let mut here = Loaded {
        router,
        in_port: 0,
        backlog: backlog.into(),
    };
    routing.route(flight, &mut here).port
}

fn packet(destination: u32) -> Flight {
    Flight {
        destination,
        ..Flight::default()
    }
}

/// In the network of 72 endpoints, from router 0 (which has the links to groups 1 and 2) to endpoint 32 at router 16,
/// the first of group 4: the minimal way is out by router 1 (groups 3 and 4). With every draw 0 the nonminimal way is
/// by group 1, over the first global port of router 0.
const DESTINATION: u32 = 32;
const MINIMAL: PortId = 2;
const NONMINIMAL: PortId = 5;

#[test]
fn par_goes_minimally_up_to_twice_the_other_queue_and_four_packets() {
    let topology: Arc<dyn Topology> = Arc::new(dragonfly(2, 4, 2, 9));
    let choose = |parameters, minimal, nonminimal| {
        let routing = routing("par", parameters, &topology);
        let backlog = [(MINIMAL, minimal), (NONMINIMAL, nonminimal)];
        choice(&*routing, 0, &mut packet(DESTINATION), backlog)
    };
    assert_eq!(choose("", 0, 0), MINIMAL);
    assert_eq!(choose("", 2 * 100 + 4 * 24, 100), MINIMAL);
    assert_eq!(choose("", 2 * 100 + 4 * 24 + 1, 100), NONMINIMAL);
    let other = "weight = 3\nbias = \"10 flits\"";
    assert_eq!(choose(other, 3 * 7 + 10, 7), MINIMAL);
    assert_eq!(choose(other, 3 * 7 + 11, 7), NONMINIMAL);
}

#[test]
fn par_takes_the_test_again_at_the_second_router_and_only_there() {
    let topology: Arc<dyn Topology> = Arc::new(dragonfly(2, 4, 2, 9));
    let routing = routing("par", "", &topology);
    let mut flight = packet(DESTINATION);
    let idle = [(MINIMAL, 0), (NONMINIMAL, 0)];
    assert_eq!(choice(&*routing, 0, &mut flight, idle), MINIMAL);
    // Router 1 has the link to group 4 as its second global port; towards group 1 it goes back to router 0.
    let (direct, back) = (6, 2);
    let mut minimal = flight;
    let loads = |direct_load, back_load| [(direct, direct_load), (back, back_load)];
    assert_eq!(choice(&*routing, 1, &mut minimal, loads(96, 0)), direct);
    let mut diverted = flight;
    let hop = {
        let mut here = Loaded {
            router: 1,
            in_port: 2,
            backlog: loads(97, 0).into(),
        };
        routing.route(&mut diverted, &mut here)
    };
    assert_eq!(hop, Hop { port: back, vc: 1 });
    // At the third router nothing is asked any more: no port has a backlog to look at.
    let mut here = Loaded {
        router: 0,
        in_port: 2,
        backlog: HashMap::new(),
    };
    let hop = routing.route(&mut diverted, &mut here);
    assert_eq!(
        hop,
        Hop {
            port: NONMINIMAL,
            vc: 0
        }
    );
}

#[test]
fn ugal_weighs_queues_by_the_hops_of_their_paths() {
    let topology: Arc<dyn Topology> = Arc::new(dragonfly(2, 4, 2, 9));
    let choose = |parameters, minimal, nonminimal| {
        let routing = routing("ugal", parameters, &topology);
        let backlog = [(MINIMAL, minimal), (NONMINIMAL, nonminimal)];
        choice(&*routing, 0, &mut packet(DESTINATION), backlog)
    };
    // Minimal: to router 1, to group 4, which is entered at router 16, where the destination is: 2 hops.
    // By group 1: router 0 leads to its router 4, whose neighbour 5 leads on to group 4 and its router 16: 3 hops.
    assert_eq!(choose("", 300, 200), MINIMAL);
    assert_eq!(choose("", 301, 200), NONMINIMAL);
    assert_eq!(choose("threshold = \"24 flits\"", 312, 200), MINIMAL);
    assert_eq!(choose("threshold = \"1 packet\"", 312, 200), MINIMAL);
    assert_eq!(choose("threshold = \"24 flits\"", 313, 200), NONMINIMAL);
    assert_eq!(choose("bias = \"4 flits\"", 306, 200), MINIMAL);
    assert_eq!(choose("bias = \"4 flits\"", 307, 200), NONMINIMAL);
}

#[test]
fn ugal_goes_by_the_measure_and_the_weight_that_it_is_given() {
    let topology: Arc<dyn Topology> = Arc::new(dragonfly(2, 4, 2, 9));
    let choose = |parameters: &str, minimal, nonminimal| {
        let parameters = format!("weight = 2\nthreshold = \"30 flits\"\n{parameters}");
        let routing = routing("ugal", &parameters, &topology);
        let backlog = [(MINIMAL, minimal), (NONMINIMAL, nonminimal)];
        choice(&*routing, 0, &mut packet(DESTINATION), backlog)
    };
    // A tenth waits in input queues, a tenth in output queues.
    for (measure, last) in [("backlog", 1_030), ("credits", 1_033), ("occupancy", 1_030)] {
        let parameters = format!("measure = \"{measure}\"");
        assert_eq!(choose(&parameters, last, 500), MINIMAL, "{measure}");
        assert_eq!(choose(&parameters, last + 2, 500), NONMINIMAL, "{measure}");
    }
    // Channel 1 of the minimal path's port holds a flit less than channel 0.
    let (shared, separate) = ("measure = \"output_queue\"", "vcs = \"separate\"");
    assert_eq!(choose(shared, 1_300, 500), MINIMAL);
    assert_eq!(choose(shared, 1_310, 500), NONMINIMAL);
    let separate = format!("{shared}\n{separate}");
    assert_eq!(choose(&separate, 1_310, 500), MINIMAL);
    assert_eq!(choose(&separate, 1_320, 500), NONMINIMAL);
}

#[test]
fn ugal_by_way_of_any_endpoint_is_as_random_as_its_draw() {
    let topology: Arc<dyn Topology> = Arc::new(dragonfly(2, 4, 2, 9));
    let draw = "weight = 2\ncandidates = 1\nvia = \"endpoint\"\ndraw = \"all\"";
    let routing = routing("ugal", draw, &topology);
    // The minimal path's port is busy.
    let mut place = Place {
        backlog: |port| if port == MINIMAL { 1_000 } else { 0 },
        ..Place::idle(11)
    };
    let mut by_group = HashMap::<u32, u32>::new();
    let mut inside = 0;
    for _ in 0..9_000 {
        let way = travel(&*topology, &*routing, (0, DESTINATION), &mut place);
        let groups: Vec<u32> = way.iter().map(|&(r, _)| topology.group_of(r)).collect();
        let mut order = groups.clone();
        order.dedup();
        let third = if order.len() == 3 { order[1] } else { 0 };
        let there = groups.iter().filter(|&&group| group == third);
        inside += u32::from(third != 0 && there.count() == 3);
        *by_group.entry(third).or_default() += 1;
    }
    // By group 3, which router 1 has the link to like to the destination's, by that one or by their own: minimally.
    assert!(by_group.remove(&0).expect("some").abs_diff(3_000) < 150);
    assert_eq!(by_group.len(), 6);
    assert!(
        by_group.values().all(|n| (870..1_130).contains(n)),
        "{by_group:?}"
    );
    // By a router of the third group that has neither link.
    assert!(inside > 1_000, "{inside}");
}

#[test]
fn ugal_keeps_the_better_of_two_candidates() {
    // All ports of router 0 are busy, but the first global one. With two candidates it is found more often.
    let topology: Arc<dyn Topology> = Arc::new(dragonfly(2, 4, 2, 9));
    let found = |parameters| {
        let routing = routing("ugal", parameters, &topology);
        let mut place = Place {
            backlog: |port| if port == NONMINIMAL { 0 } else { 1_000 },
            ..Place::idle(10)
        };
        let ways = (0..7_000).map(|_| travel(&*topology, &*routing, (0, DESTINATION), &mut place));
        ways.filter(|way| way[0] == (0, NONMINIMAL)).count()
    };
    // One of the seven third groups: 1/7, 1 - (6/7)², 1 - (6/7)³.
    for (parameters, expected) in [
        ("candidates = 1", 1_000),
        ("", 1_857),
        ("candidates = 3", 2_592),
    ] {
        let count = found(parameters);
        assert!(count.abs_diff(expected) < 150, "{parameters}: {count}");
    }
}

#[test]
fn parameters_that_make_no_sense_are_refused() {
    let topology: Arc<dyn Topology> = Arc::new(dragonfly(2, 4, 2, 9));
    let cases = [
        ("ugal", "candidates = 0", "candidates"),
        ("ugal", "threshold = \"100 bits\"", "flits or packets"),
        (
            "ugal",
            "weight = \"links\"",
            "a whole number, or \\\"hops\\\"",
        ),
        ("ugal", "weight = -1", "a weight is from 0"),
        ("par", "bias = \"1 KiB\"", "flits or packets"),
        ("par", "wieght = 2", "wieght"),
        ("minimal", "weight = 2", "weight"),
    ];
    for (name, parameters, expected) in cases {
        let section = weir::config::Section::from_toml(parameters).expect("TOML");
        let entry = weir::routing::find("dragonfly", name).expect("registered");
        let error = (entry.build)(&section, &topology).err().expect(parameters);
        let text = format!("{error:?} {error}");
        assert!(text.contains(expected), "{text}");
    }
}
