//! Time steps: packets leave NICs and routers at the beginning of a step, one of each output in
//! every step.

use super::one_message;
use crate::physics::flows::{program, two_switches};
use crate::support::Experiment;
use weir::result::{Data, Packets};

const NS: u64 = 1_000;

fn packets(data: &Data) -> &Packets {
    data.packets.as_ref().expect("packets")
}

/// Two switches of four endpoints, with links and routers that take almost no time.
fn switches() -> Experiment {
    stepped(two_switches())
        .set("topology.terminal.latency", "1 ps")
        .set("topology.link.latency", "1 ps")
        .set("router.latency", "0 ns")
        .set("output.packets", true)
}

fn stepped(network: Experiment) -> Experiment {
    network
        .set("router.switching", "time_steps")
        .set("router.arbitration", "first_come")
        .set("router.speedup", "infinite")
        .set("router.output_queue", "none")
}

/// A packet of 24 flits takes 24 ns, a router 10 ns, the longest link 100 ns; one picosecond more
/// keeps arrivals apart from the step after them.
#[test]
fn a_lone_message_takes_a_step_at_each_router() {
    const STEP: u64 = 134 * NS + 1;
    // Endpoints of one router, of one group, and of two groups with local links at both ends.
    for (source, destination, routers) in [(0, 1, 1), (0, 2, 2), (2, 10, 4)] {
        let network = stepped(Experiment::dragonfly(2, 4, 2).routing("minimal"));
        let data = one_message(network, source, destination, 60).run().data;
        let rows = packets(&data);
        let mut order: Vec<usize> = (0..rows.sequence.len()).collect();
        order.sort_by_key(|&row| rows.sequence[row]);
        let first = rows.injected_ps[order[0]];
        for (place, (row, flits)) in order.into_iter().zip([24, 24, 12]).enumerate() {
            let injected = rows.injected_ps[row];
            assert_eq!(injected, first + place as u64 * STEP);
            assert_eq!(injected % STEP, 0);
            // The last router, and the link to the endpoint.
            let last = (10 + 5 + flits) * NS;
            assert_eq!(rows.delivered_ps[row] - injected, routers * STEP + last);
        }
    }
}

/// Tasks of a switch send 100 packets each to a fourth one there.
fn senders(from: &[u32]) -> Experiment {
    let flows: Vec<(u32, u32, u64)> = from.iter().map(|&task| (task, 3, 100)).collect();
    switches()
        .job("script", 8)
        .with("motif", program(&flows))
        .with("mpi.rendezvous_from", "1 GB")
}

/// A packet takes 48 ns on the slow link between the switches, and its credit 100 ns back to the
/// NIC: two places are enough for one in every step.
#[test]
fn a_place_is_free_before_the_next_step_on_links_of_any_kind() {
    const STEP: u64 = (48 + 100) * NS + 1;
    let data = switches()
        .set("topology.terminal.latency", "100 ns")
        .set("topology.link.bandwidth", "50 Gbps")
        .set("router.input_buffer", "2 packets")
        .job("script", 8)
        .with("motif", program(&[(0, 4, 100)]))
        .with("mpi.rendezvous_from", "1 GB")
        .run()
        .data;
    let mut times = packets(&data).injected_ps.clone();
    times.sort_unstable();
    let gaps = times.windows(2).map(|pair| pair[1] - pair[0]);
    assert_eq!(gaps.collect::<Vec<u64>>(), [STEP; 99]);
}

/// A source at two thirds of a link sends in two steps of three: the wait for the next step does
/// not put off the packets after it.
#[test]
fn rates_that_are_no_part_of_a_step_are_kept() {
    const STEP: u64 = 24 * NS + 2;
    for discipline in ["ipd", "svc", "ps"] {
        let sender = senders(&[0])
            .set("congestion.scheme", "fixed_rate")
            .set("congestion.share", 2.0 / 3.0)
            .set("nic.discipline", discipline);
        let data = sender.run().data;
        let mut times = packets(&data).injected_ps.clone();
        times.sort_unstable();
        let from_first: Vec<u64> = times.iter().map(|time| time - times[0]).collect();
        let expected: Vec<u64> = (0..100)
            .map(|packet| (36 * NS * packet).next_multiple_of(STEP))
            .collect();
        assert_eq!(from_first, expected, "{discipline}");
    }
}

/// Two sources with more than an output takes: one packet comes in every step, and each source has
/// its half, though their packets come in the same steps.
#[test]
fn an_output_sends_one_packet_in_every_step() {
    const STEP: u64 = 24 * NS + 2;
    let data = senders(&[0, 1])
        .set("router.input_buffer", "4 packets")
        .run()
        .data;
    let rows = packets(&data);
    let mut arrived: Vec<(u64, u32)> = (rows.delivered_ps.iter().copied())
        .zip(rows.source.iter().copied())
        .collect();
    arrived.sort_unstable();
    let gaps = arrived.windows(2).map(|pair| pair[1].0 - pair[0].0);
    assert_eq!(gaps.collect::<Vec<u64>>(), [STEP; 199]);
    let first = arrived[..100].iter().filter(|(_, source)| *source == 0);
    let count = first.count();
    assert!((40..60).contains(&count), "{count}");
}

/// NICs whose packets join different queues keep to steps, too: one that waits for credits looks
/// again with the next step, whatever it gets to send in between.
#[test]
fn every_packet_leaves_its_nic_at_a_step() {
    const STEP: u64 = 134 * NS + 1;
    let queueing = |scheme: &str| {
        stepped(Experiment::dragonfly(2, 4, 2).routing("minimal"))
            .set("queueing.scheme", scheme)
            .set("router.input_buffer", "240 flits")
            .set("router.buffer_per", "divided")
    };
    for scheme in ["single", "voq_sw", "dbbm"] {
        let crowded = queueing(scheme)
            .set("nic.acknowledge", false)
            .set("output.packets", true)
            .uniform(0.6)
            .message("24 flits")
            .until("40 us");
        let data = crowded.run().data;
        let rows = packets(&data);
        assert!(rows.injected_ps.len() > 1_000, "{scheme}");
        assert!(
            rows.injected_ps.iter().all(|time| time % STEP == 0),
            "{scheme}"
        );
    }
}

/// The order of packets that come in one step is drawn from the run's seed.
#[test]
fn ties_depend_on_the_seed() {
    let order = |seed: i64| {
        let data = senders(&[0, 1]).set("run.seed", seed).run().data;
        let rows = packets(&data);
        let mut arrived: Vec<(u64, u32)> = (rows.delivered_ps.iter().copied())
            .zip(rows.source.iter().copied())
            .collect();
        arrived.sort_unstable();
        arrived
            .into_iter()
            .map(|(_, source)| source)
            .collect::<Vec<u32>>()
    };
    assert_eq!(order(1), order(1));
    assert_ne!(order(1), order(2));
}
