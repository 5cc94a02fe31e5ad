//! A stall is diagnosed: packets that can never move are named, and packets that can move are never
//! called a stall.

use std::sync::Arc;

use crate::support::Experiment;
use weir::config::{ConfigError, Section};
use weir::fabric::{Deadlock, Wait};
use weir::model::{Flight, LinkKind};
use weir::queueing::{Joining, Queueing};
use weir::routing::{Here, Hop, Routing};
use weir::simulation::RunError;
use weir::topology::Topology;

/// Clockwise from router to router round each group, on one virtual channel: the textbook deadlock.
/// Packets to other groups take the only link there is, so this is for traffic inside groups.
struct Clockwise {
    topology: Arc<dyn Topology>,
    /// Only in these groups; minimally elsewhere.
    groups: std::ops::Range<u32>,
}

impl Clockwise {
    /// For `try_run_by`.
    fn everywhere(
        _: &Section,
        topology: &Arc<dyn Topology>,
    ) -> Result<Box<dyn Routing>, ConfigError> {
        Ok(Box::new(Clockwise {
            topology: topology.clone(),
            groups: 0..u32::MAX,
        }))
    }

    fn in_the_first_group(
        _: &Section,
        topology: &Arc<dyn Topology>,
    ) -> Result<Box<dyn Routing>, ConfigError> {
        Ok(Box::new(Clockwise {
            topology: topology.clone(),
            groups: 0..1,
        }))
    }

    /// The port of a router that leads to another one of its group.
    fn port_to(&self, from: u32, to: u32) -> u16 {
        (0..self.topology.ports(from))
            .find(|&port| {
                matches!(self.topology.peer(from, port), weir::topology::Peer::Router(other, _) if other == to)
            })
            .expect("the routers of a group are linked")
    }

    /// The port of a router that leads to the next one of its group.
    fn port_on(&self, from: u32) -> u16 {
        let group = self.topology.group_of(from);
        let members: Vec<u32> = (0..self.topology.routers())
            .filter(|&router| self.topology.group_of(router) == group)
            .collect();
        let at = members.iter().position(|&router| router == from);
        let next = (at.expect("a member of its group") + 1) % members.len();
        self.port_to(from, members[next])
    }

    /// The port of a router that leads to another group, if it has one.
    fn port_out(&self, from: u32, group: u32) -> Option<u16> {
        (0..self.topology.ports(from)).find(|&port| {
            matches!(self.topology.peer(from, port), weir::topology::Peer::Router(other, _) if self.topology.group_of(other) == group)
        })
    }
}

impl Routing for Clockwise {
    fn vcs(&self, _: LinkKind) -> u8 {
        1
    }

    fn route(&self, flight: &mut Flight, here: &mut dyn Here) -> Hop {
        let at = here.router();
        let (to, terminal) = self.topology.attachment(flight.destination);
        let (group, there) = (self.topology.group_of(at), self.topology.group_of(to));
        let port = if at == to {
            terminal
        } else if group != there {
            // No packet of these tests leaves its group, but the length of the route may be asked
            // for.
            self.port_out(at, there).unwrap_or_else(|| self.port_on(at))
        } else if self.groups.contains(&group) {
            self.port_on(at)
        } else {
            self.port_to(at, to)
        };
        Hop { port, vc: 0 }
    }

    fn max_routers(&self) -> u32 {
        self.topology.routers()
    }
}

/// Two groups of six routers. Each endpoint of the first group sends to the one before it: almost
/// all the way round.
fn ring() -> Experiment {
    Experiment::dragonfly(1, 6, 1)
        .groups(2)
        .smallest_buffers()
        .set("nic.acknowledge", false)
        .traffic("permutation", 1.0)
        .with("pattern.list", vec![5, 0, 1, 2, 3, 4])
        .with("endpoints", "0..6")
        .message("24 flits")
}

/// The deadlock with which a run must end.
fn deadlock(
    experiment: &Experiment,
    ended: Result<weir::simulation::Outcome, RunError>,
) -> Deadlock {
    let error = match ended {
        Ok(_) => panic!("the run came to an end\n{}", experiment.text()),
        Err(error) => error,
    };
    assert_eq!(error.exit_code(), 4);
    let message = error.to_string();
    let RunError::Deadlocked { deadlock, .. } = error else {
        panic!("{message}");
    };
    for wait in &deadlock.cycle {
        for place in [wait.at, wait.needs] {
            let named = format!(
                "router {} port {} queue {}",
                place.router, place.port, place.queue
            );
            assert!(message.contains(&named), "{named} is not in {message}");
        }
        let (source, number) = wait.packet;
        assert!(message.contains(&format!("packet {source}:{number}")));
    }
    deadlock
}

/// Each place waits for the next, the last for the first, and no place occurs twice.
fn assert_cycle(cycle: &[Wait]) {
    assert!(!cycle.is_empty());
    for (wait, next) in cycle.iter().zip(cycle.iter().cycle().skip(1)) {
        assert_eq!(wait.needs, next.at);
    }
    let mut places: Vec<_> = cycle.iter().map(|wait| wait.at).collect();
    places.sort_unstable();
    places.dedup();
    assert_eq!(places.len(), cycle.len());
}

#[test]
fn a_ring_of_one_channel_is_diagnosed() {
    let experiment = ring().to_completion("20 us");
    let found = deadlock(&experiment, experiment.try_run_by(Clockwise::everywhere));
    assert_cycle(&found.cycle);
    // The buffers between the six routers of the ring, and nothing else.
    let mut routers: Vec<u32> = found.cycle.iter().map(|wait| wait.at.router).collect();
    routers.sort_unstable();
    assert_eq!(routers, [0, 1, 2, 3, 4, 5]);
}

#[test]
fn output_queues_are_part_of_the_cycle() {
    let experiment = ring()
        .set("router.output_queue", "1 packets")
        .to_completion("20 us");
    let found = deadlock(&experiment, experiment.try_run_by(Clockwise::everywhere));
    assert_cycle(&found.cycle);
    assert!(found.cycle.iter().any(|wait| wait.at.output));
    assert!(found.cycle.iter().any(|wait| !wait.at.output));
}

#[test]
fn without_virtual_output_queues_too() {
    let experiment = ring()
        .set("queueing.scheme", "single")
        .to_completion("20 us");
    let found = deadlock(&experiment, experiment.try_run_by(Clockwise::everywhere));
    assert_cycle(&found.cycle);
}

/// All packets join the last of a hundred queues, which are more than a word has bits.
struct LastQueue;

impl Queueing for LastQueue {
    fn queues(&self, _: LinkKind, _: u8) -> u32 {
        100
    }

    fn queue(&self, _: &Joining) -> u32 {
        99
    }

    fn by_output(&self) -> bool {
        false
    }
}

#[test]
fn one_of_many_queues_is_named() {
    for queue in ["none", "1 packets"] {
        let experiment = ring()
            .set("router.input_buffer", "100 packets")
            .set("router.output_queue", queue)
            .to_completion("20 us");
        let own = experiment
            .clone()
            .own_queueing(|_, _| Ok(Box::new(LastQueue)));
        let found = deadlock(&experiment, own.try_run_by(Clockwise::everywhere));
        assert_cycle(&found.cycle);
        assert!(found.cycle.iter().all(|wait| wait.at.queue == 99));
    }
}

#[test]
fn a_queue_for_each_destination_breaks_the_ring() {
    // A packet waits for others to the same endpoint only, of which the first is nearer to it.
    let experiment = ring()
        .set("router.input_buffer", "auto")
        .set("queueing.scheme", "voq_net")
        .to_completion("20 us");
    let outcome = experiment.try_run_by(Clockwise::everywhere);
    let summary = outcome.expect("it comes to its end").data.summary;
    assert!(summary.packets_delivered > 1_000);
}

#[test]
fn shared_buffers_too() {
    let experiment = ring()
        .set("router.buffer_per", "port")
        .to_completion("20 us");
    let found = deadlock(&experiment, experiment.try_run_by(Clockwise::everywhere));
    assert_cycle(&found.cycle);
}

#[test]
fn while_sources_go_on_generating() {
    let experiment = ring().until("10 ms");
    let found = deadlock(&experiment, experiment.try_run_by(Clockwise::everywhere));
    assert_cycle(&found.cycle);
}

#[test]
fn while_other_packets_go_on_moving() {
    let experiment = ring()
        .uniform(0.3)
        .with("endpoints", "6..12")
        .until("10 ms");
    let found = deadlock(
        &experiment,
        experiment.try_run_by(Clockwise::in_the_first_group),
    );
    assert_cycle(&found.cycle);
    assert!(found.cycle.iter().all(|wait| wait.at.router < 6));
}

#[test]
fn two_runs_name_the_same_cycle() {
    let experiment = ring().until("10 ms");
    let once = deadlock(&experiment, experiment.try_run_by(Clockwise::everywhere));
    let again = deadlock(&experiment, experiment.try_run_by(Clockwise::everywhere));
    assert_eq!(once, again);
}

#[test]
fn the_same_ring_without_load_is_no_stall() {
    let experiment = ring().with("load", 0.01).to_completion("20 us");
    let outcome = experiment.try_run_by(Clockwise::everywhere);
    let summary = outcome.expect("it completes").data.summary;
    assert!(summary.packets_delivered > 0);
    assert_eq!(summary.packets_delivered, summary.packets_injected);
}

/// Buffers of one packet, more load than the network carries, through the search for deadlocks
/// while packets move and to the last packet.
///
/// Virtual channels that share the buffer of a port do not keep a routing free of deadlock that
/// relies on them, and on dragonflies all do: shared buffers are for trees.
fn saturates_and_completes(experiment: Experiment) {
    let plan = experiment.clone().uniform(0.1).plan();
    let shared = plan.network().routing.vcs(LinkKind(1)) == 1;
    let kinds: &[&str] = if shared { &["vc", "port"] } else { &["vc"] };
    let queueing = ["voq_sw", "single"];
    for (queueing, &per) in kinds.iter().flat_map(|per| queueing.map(|one| (one, per))) {
        for queue in ["none", "1 packets"] {
            let outcome = experiment
                .clone()
                .smallest_buffers()
                .set("router.output_queue", queue)
                .set("queueing.scheme", queueing)
                .set("router.buffer_per", per)
                .uniform(1.2)
                .message("24 flits")
                .to_completion("12 us")
                .try_run();
            let tried = format!("{queueing}, a buffer per {per}, output queue {queue}");
            match outcome {
                Err(error) => panic!("{tried}: {error}\n{}", experiment.text()),
                Ok(outcome) => assert!(outcome.data.summary.packets_delivered > 1_000, "{tried}"),
            }
        }
    }
}

/// 512 windows, after which the program looks for deadlocks among moving packets, pass in 5 us.
fn small_dragonfly(groups: i64) -> Experiment {
    Experiment::dragonfly(2, 4, 2)
        .groups(groups)
        .latencies("5 ns", "10 ns", "10 ns")
}

#[test]
fn minimal_saturates_and_completes() {
    saturates_and_completes(small_dragonfly(9));
}

#[test]
fn valiant_saturates_and_completes() {
    saturates_and_completes(small_dragonfly(9).routing("valiant"));
}

#[test]
fn ugal_saturates_and_completes() {
    saturates_and_completes(small_dragonfly(5).routing("ugal"));
}

#[test]
fn par_saturates_and_completes() {
    saturates_and_completes(small_dragonfly(9).routing("par"));
}

#[test]
fn trees_saturate_and_complete() {
    for routing in ["dmodk", "random_up", "adaptive_up"] {
        saturates_and_completes(
            Experiment::tree(2, 3)
                .latencies("5 ns", "10 ns", "10 ns")
                .routing(routing),
        );
        saturates_and_completes(
            Experiment::clos(4, 2)
                .latencies("5 ns", "10 ns", "10 ns")
                .routing(routing),
        );
    }
}

#[test]
fn the_program_names_the_cycle_and_leaves_no_result() {
    // All channels of a port in one buffer: nothing keeps Valiant's routes free of cycles then.
    let experiment = small_dragonfly(9)
        .routing("valiant")
        .smallest_buffers()
        .set("router.buffer_per", "port")
        .set("queueing.scheme", "single")
        .uniform(1.2)
        .message("24 flits")
        .to_completion("12 us");
    let mut diagnoses = Vec::new();
    for ranks in [1, 3] {
        let ran = experiment
            .cli()
            .ranks(ranks)
            .arg("--quiet")
            .arg("--json")
            .go();
        assert_eq!(ran.code, Some(4), "{}", ran.stderr);
        let start = ran
            .stderr
            .find("the network is deadlocked, as seen at")
            .expect("a diagnosis");
        let lines = ran.stderr[start..].lines();
        let end = |line: &&str| !line.contains("waits for room in router");
        let cycle: Vec<&str> = lines
            .clone()
            .skip(1)
            .take_while(|line| !end(line))
            .collect();
        assert!(cycle.len() > 1, "{}", ran.stderr);
        for line in &cycle {
            for word in ["router ", "port ", "queue ", "packet "] {
                assert!(line.contains(word), "{line}");
            }
        }
        assert_eq!(ran.stdout, "");
        assert!(!ran.out().exists());
        diagnoses.push(cycle.join("\n"));
    }
    assert_eq!(
        diagnoses[0], diagnoses[1],
        "any number of ranks says the same"
    );
}

#[test]
fn packets_that_may_go_several_ways_are_dropped_at_the_one_they_wait_for() {
    // Speculative packets wait for an output and ask for others, too; their patience ends at the
    // first of them.
    let data = crate::networks::direct::experiment(
        "kind = \"torus\"\nsizes = [4, 4, 4]",
        "minimal_adaptive",
    )
    .set("congestion.scheme", "srp")
    .set("router.output_queue", "none")
    .traffic("hot_background", 0.7)
    .with("pattern.hot_fraction", 0.5)
    .message("60 flits")
    .until("20 us")
    .run()
    .data;
    assert!(data.summary.packets_dropped > 0);
    assert!(data.summary.simulated_ps >= 20_000_000);
}
