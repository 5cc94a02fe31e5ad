//! Small buffers and small output queues: the rates that they allow are arithmetic.

use super::{FROM, NS, flow, measured, rate, run, two_switches};
use crate::support::Experiment;

#[test]
fn an_output_queue_smaller_than_the_pipeline_gives_its_packets_over_the_latency() {
    // A packet has its place in the output queue from when it begins to cross until its head is on
    // the link: two packets for every 333 ns.
    let network = measured(Experiment::dragonfly(2, 4, 2))
        .set("router.latency", "333 ns")
        .set("router.output_queue", "2 packets");
    let packets = run(&flow(network, 2, 10, 1.0));
    let got = rate(&packets, None, FROM, FROM + 200 * 333 * NS) * 200.0 * 333.0;
    assert!((got - 200.0 * 2.0 * 24.0).abs() < 1e-6, "{got}");
}

#[test]
fn a_small_output_queue_limits_packets_that_find_their_link_free_too() {
    // At speedup 1 packets cross as fast as the link sends them, so that each finds it free at the
    // end of the pipeline. With room for one packet the next crosses when the head before it is on
    // the link: one for every 333 ns.
    let slow = measured(Experiment::dragonfly(2, 4, 2)).set("router.latency", "333 ns");
    for speedup in [1.0, 2.0] {
        for (queue, expected) in [("1 packets", 1.0), ("3 packets", 3.0)] {
            let network = slow
                .clone()
                .set("router.speedup", speedup)
                .set("router.output_queue", queue);
            let packets = run(&flow(network, 2, 10, 1.0));
            let got = rate(&packets, None, FROM, FROM + 200 * 333 * NS) * 200.0 * 333.0;
            let expected = 200.0 * expected * 24.0;
            assert!((got - expected).abs() < 1e-6, "{queue}: {got}");
        }
    }
}

#[test]
fn short_packets_that_take_whole_places_fill_an_output_queue_too() {
    // 60 flits are places for two packets, however short: two flits for every 10 ns.
    let network = measured(Experiment::dragonfly(2, 4, 2))
        .set("router.latency", "10 ns")
        .set("router.input_buffer", "100 packets")
        .set("router.output_queue", "60 flits")
        .set("router.credit_unit", "packet");
    let packets = run(&flow(network, 2, 10, 1.0).message("1 flits"));
    let got = rate(&packets, None, FROM, FROM + 200 * 10 * NS) * 200.0 * 10.0;
    assert!((got - 200.0 * 2.0).abs() < 1e-6, "{got}");
}

/// One case of a buffer that is too small.
struct Small {
    /// Flits of each input buffer.
    buffer: u64,
    /// Flits of each packet.
    packet: u64,
    /// True if a packet takes the room of the longest, which is 24 flits.
    whole: bool,
    /// Latency of the link between the switches and of terminal links, credit delay and router
    /// latency, ns.
    global: u64,
    terminal: u64,
    delay: u64,
    router: u64,
    /// True if there are output queues.
    queued: bool,
    /// From the time when a packet takes its place in the buffer to when the place can be taken
    /// again, ns.
    round_trip: u64,
}

/// Output queues, latency of 10 ns of routers, of 500 ns of the link between the switches.
const FAR: Small = Small {
    buffer: 240,
    packet: 24,
    whole: false,
    global: 500,
    terminal: 5,
    delay: 0,
    router: 10,
    queued: true,
    round_trip: 2 * 500 + 24,
};

const CASES: [Small; 9] = [
    FAR,
    Small {
        queued: false,
        round_trip: 2 * 500 + 24 + 10,
        ..FAR
    },
    Small {
        delay: 76,
        round_trip: 2 * 500 + 24 + 76,
        ..FAR
    },
    // floor(50 / 4) = 12 packets: two flits are never used.
    Small {
        buffer: 50,
        packet: 4,
        round_trip: 2 * 500 + 4,
        ..FAR
    },
    // floor(60 / 24) = 2 of them if each takes the room of the longest.
    Small {
        buffer: 60,
        packet: 4,
        whole: true,
        round_trip: 2 * 500 + 4,
        ..FAR
    },
    Small {
        buffer: 60,
        packet: 4,
        whole: true,
        queued: false,
        round_trip: 2 * 500 + 4 + 10,
        ..FAR
    },
    // One packet at a time.
    Small {
        buffer: 24,
        global: 300,
        round_trip: 2 * 300 + 24,
        ..FAR
    },
    // The buffer behind the NIC's link is the smallest. A NIC has no latency.
    Small {
        buffer: 72,
        global: 5,
        terminal: 200,
        round_trip: 2 * 200 + 24,
        ..FAR
    },
    Small {
        buffer: 72,
        global: 5,
        terminal: 200,
        delay: 10,
        router: 50,
        queued: false,
        round_trip: 2 * 200 + 24 + 10,
        ..FAR
    },
];

#[test]
fn a_small_buffer_gives_its_packets_over_its_round_trip() {
    // A buffer of B flits holds n = floor(B / L) packets of L flits. A place is taken when the head
    // leaves upstream. The tail leaves the (idle) router a link latency d and L flit times later;
    // the credit takes another d and the credit delay c: n packets for every 2 d + L + c. Without
    // output queues the place is taken one router latency before the head is on the link.
    for (case, queue, credit_at) in CASES.iter().flat_map(|case| {
        let routers = match case.queued {
            true => vec![("unlimited", "link")],
            // If the place is taken before the crossbar, output queues make no difference.
            false => vec![
                ("none", "link"),
                ("unlimited", "crossing"),
                ("16 packets", "crossing"),
            ],
        };
        routers
            .into_iter()
            .map(move |(queue, at)| (case, queue, at))
    }) {
        let network = measured(two_switches())
            .latencies(
                &format!("{} ns", case.terminal),
                "20 ns",
                &format!("{} ns", case.global),
            )
            .set("router.input_buffer", format!("{} flits", case.buffer))
            .set("router.credit_delay", format!("{} ns", case.delay))
            .set("router.latency", format!("{} ns", case.router))
            .set("router.output_queue", queue)
            .set("router.credit_at", credit_at)
            .set(
                "router.credit_unit",
                if case.whole { "packet" } else { "flit" },
            );
        let network = flow(network, 0, 4, 1.0).message(&format!("{} flits", case.packet));
        let packets = run(&network);
        // It repeats every round trip, so a whole number of them holds an exact number of packets.
        let span = 80 * case.round_trip * NS;
        let got = rate(&packets, None, FROM, FROM + span) * span as f64 / NS as f64;
        let places = case.buffer / if case.whole { 24 } else { case.packet };
        assert_eq!(
            got,
            (80 * places * case.packet) as f64,
            "{}",
            network.text()
        );
    }
}
