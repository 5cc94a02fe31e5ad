//! Choices and refusals of the adaptive routings of the dragonfly.

use std::collections::HashMap;
use std::sync::Arc;

use crate::support::{Place, dragonfly, params, routing, travel};
use weir::failures::Seen;
use weir::model::{Flight, PortId, RouterId};
use weir::routing::{Here, Hop, Load, Queue, Routing};
use weir::topology::Topology;
use weir::topology::dragonfly::Dragonfly;

/// A place where `pick` always returns the same, and two ports have a backlog.
struct Loaded {
    router: RouterId,
    in_port: PortId,
    drawn: u32,
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
        self.drawn
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
        // Flits queued on one virtual channel: the first ones have most.
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

    fn links(&self) -> Seen {
        Seen::default()
    }
}

/// The port that `routing` takes at `router` for a packet to `destination`, with these backlogs
/// (port, flits).
fn choice(
    routing: &dyn Routing,
    router: RouterId,
    flight: &mut Flight,
    backlog: [(PortId, u32); 2],
) -> PortId {
    let mut here = Loaded {
        router,
        in_port: 0,
        drawn: 0,
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

/// In the network of 72 endpoints, from router 0 (which has the links to groups 1 and 2) to
/// endpoint 32 at router 16, the first of group 4: the minimal route is out by router 1 (groups 3
/// and 4). With every draw 0 the nonminimal route is by group 1, over the first global port of
/// router 0.
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
    // Router 1 has the link to group 4 as its second global port; towards group 1 it goes back to
    // router 0.
    let (direct, back) = (6, 2);
    let mut minimal = flight;
    let loads = |direct_load, back_load| [(direct, direct_load), (back, back_load)];
    assert_eq!(choice(&*routing, 1, &mut minimal, loads(96, 0)), direct);
    let mut diverted = flight;
    let hop = {
        let mut here = Loaded {
            router: 1,
            in_port: 2,
            drawn: 0,
            backlog: loads(97, 0).into(),
        };
        routing.route(&mut diverted, &mut here)
    };
    assert_eq!(hop, Hop { port: back, vc: 1 });
    // At the third router nothing is asked any more: no port has a backlog to examine.
    let mut here = Loaded {
        router: 0,
        in_port: 2,
        drawn: 0,
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
fn par_by_way_of_a_group_goes_on_by_a_link_of_its_second_router() {
    let topology: Arc<dyn Topology> = Arc::new(dragonfly(2, 4, 2, 9));
    let routing = routing("par", "via = \"group\"", &topology);
    let mut flight = packet(DESTINATION);
    let idle = [(MINIMAL, 0), (NONMINIMAL, 0)];
    assert_eq!(choice(&*routing, 0, &mut flight, idle), MINIMAL);
    // Router 1 has links to groups 3 and 4 only: not to group 1, which was drawn.
    let (other, direct) = (5, 6);
    let loads = |load| [(direct, load), (other, 0)];
    let mut minimal = flight;
    assert_eq!(choice(&*routing, 1, &mut minimal, loads(96)), direct);
    assert_eq!(choice(&*routing, 1, &mut flight, loads(97)), other);
    // In group 3 it leaves by the router that has the link to group 4, with nothing to examine.
    let mut here = Loaded {
        router: 12,
        in_port: 5,
        drawn: 0,
        backlog: HashMap::new(),
    };
    let Hop { port, vc } = routing.route(&mut flight, &mut here);
    assert!(
        Dragonfly::new(&params(2, 4, 2, 9))
            .expect("valid")
            .is_local(port)
    );
    assert_eq!(vc, 1);
}

#[test]
fn ugal_weighs_queues_by_the_hops_of_their_paths() {
    let topology: Arc<dyn Topology> = Arc::new(dragonfly(2, 4, 2, 9));
    let choose = |parameters, minimal, nonminimal| {
        let routing = routing("ugal", parameters, &topology);
        let backlog = [(MINIMAL, minimal), (NONMINIMAL, nonminimal)];
        choice(&*routing, 0, &mut packet(DESTINATION), backlog)
    };
    // Minimal: to router 1, to group 4, which is entered at router 16, where the destination is: 2
    // hops. By group 1: router 0 leads to its router 4, whose neighbour 5 leads on to group 4 and
    // its router 16: 3 hops.
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
    // By group 3, which router 1 has the link to like to the destination's, by that one or by their
    // own: minimally.
    assert!(by_group.remove(&0).expect("some").abs_diff(3_000) < 150);
    assert_eq!(by_group.len(), 6);
    assert!(
        by_group.values().all(|n| (870..1_130).contains(n)),
        "{by_group:?}"
    );
    // By a router of the third group that has neither link.
    assert!(inside > 1_000, "{inside}");
}

/// Router 1 has the links to group 3, which is drawn, and to group 4, of the destination.
#[test]
fn ugal_may_compare_again_where_links_to_both_groups_are() {
    let topology: Arc<dyn Topology> = Arc::new(dragonfly(2, 4, 2, 9));
    let go = |parameters: &str, drawn, (first, loads): (u32, [(PortId, u32); 2])| {
        let parameters = format!("candidates = 1\n{parameters}");
        let routing = routing("ugal", &parameters, &topology);
        let mut flight = packet(DESTINATION);
        let mut here = Loaded {
            router: 0,
            in_port: 0,
            drawn,
            backlog: [(MINIMAL, first), (NONMINIMAL, first)].into(),
        };
        assert_eq!(routing.route(&mut flight, &mut here).port, MINIMAL);
        (here.router, here.in_port, here.backlog) = (1, 2, loads.into());
        routing.route(&mut flight, &mut here)
    };
    let (other, direct) = (5, 6);
    let hop = |port| Hop { port, vc: 0 };
    let loads = |load| (0, [(direct, load), (other, 100)]);
    let again = "weight = 2\nthreshold = \"50 flits\"\nagain = true";
    assert_eq!(go(again, 2, loads(2 * 100 + 50)), hop(direct));
    assert_eq!(go(again, 2, loads(2 * 100 + 51)), hop(other));
    let once = "weight = 2\nthreshold = \"50 flits\"";
    assert_eq!(go(once, 2, loads(1_000)), hop(direct));
    // Group 1 is not behind a link of router 1.
    assert_eq!(go(again, 0, (0, [(direct, 1_000), (2, 0)])), hop(direct));
    // A detour costs nothing, so the first router takes it, over the same link; the second turns
    // back if the direct link is idle.
    let free = "weight = 0\nagain = true";
    assert_eq!(go(free, 2, (1, [(direct, 0), (other, 100)])), hop(direct));
    assert_eq!(go(free, 2, (1, [(direct, 1), (other, 100)])), hop(other));
    // By way of a router of group 3: the same.
    let by_router = format!("{free}\nvia = \"router\"");
    assert_eq!(
        go(&by_router, 2, (1, [(direct, 1), (other, 100)])),
        hop(other)
    );
}

#[test]
fn ugal_keeps_the_better_of_two_candidates() {
    // All ports of router 0 are busy, but the first global one. With two candidates it is found
    // more often.
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
        (
            "ugal",
            "again = true\nvcs = \"separate\"",
            "lower virtual channels",
        ),
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
