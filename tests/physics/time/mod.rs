//! Exact time: one message alone in a network takes the hand-computed number of picoseconds.
//!
//! The law: the network latency of a packet (head leaves the NIC → tail is at the endpoint) is the
//! sum of the latencies of its links, the router's latency for each router, and the packet's flits
//! on the slowest link. Router latency is 10 ns unless said otherwise; a flit is 100 bits, 1 ns at
//! 100 Gb/s.

mod steps;

use crate::support::Experiment;
use weir::result::Data;

const NS: u64 = 1_000;

/// A dragonfly of 9 groups of 4 routers with 2 endpoints each. Terminal links 5 ns, local 20 ns,
/// global 100 ns. In the absolute arrangement router i of group 0 has the links to groups 1 + 2i
/// and 2 + 2i, and router 0 of group 1 the one back to group 0.
fn dragonfly(routing: &str) -> Experiment {
    let network = Experiment::dragonfly(2, 4, 2).routing(routing);
    match routing {
        // Credits are taken for a whole packet when its head leaves, so that a message of several
        // packets looks like a queue of up to one packet to itself. Times at most three hops, that
        // must not turn it away here.
        "ugal" => network.set("routing.threshold", "3 packets"),
        _ => network,
    }
}

/// From endpoint 0 or 2 of that dragonfly: source, destination, and head latency without the flits.
const DRAGONFLY_WAYS: [(i64, i64, u64); 6] = [
    // Same router: terminal + router + terminal.
    (0, 1, 5 + 10 + 5),
    // Same group: one local link, two routers.
    (0, 2, 5 + 10 + 20 + 10 + 5),
    // Other group, no local link: router 0 of group 0 to router 0 of group 1.
    (0, 8, 5 + 10 + 100 + 10 + 5),
    // One local link, after the global one.
    (0, 10, 5 + 10 + 100 + 10 + 20 + 10 + 5),
    // One local link, before the global one.
    (2, 8, 5 + 10 + 20 + 10 + 100 + 10 + 5),
    // Two local links.
    (2, 10, 5 + 10 + 20 + 10 + 100 + 10 + 20 + 10 + 5),
];

/// Exactly one message from `source` to `destination`: the first of a periodic sender comes at a
/// random phase of its period, and the sender stops after one period.
pub fn one_message(network: Experiment, source: i64, destination: i64, flits: u64) -> Experiment {
    let run = network
        .traffic("fixed_pairs", 0.01)
        .with("endpoints", vec![source, destination])
        .with("injection", "periodic")
        .message(&format!("{flits} flits"))
        .set("output.packets", true)
        .set("output.messages", true);
    let plan = run.plan();
    let network = plan.network();
    let (router, port) = network.topology.attachment(source as u32);
    let bits = 100 * flits * u64::from(network.parameters.flit.0);
    let bandwidth = network.topology.link(router, port).bandwidth.0;
    let period = u128::from(bits) * 1_000_000_000_000 / u128::from(bandwidth);
    run.to_completion(&format!("{period} ps"))
}

/// One message alone.
pub struct Lone {
    /// Network latency of each packet in order of injection, ps.
    pub packets: Vec<u64>,
    /// Message latency, ps.
    message: u64,
    /// From the message's generation to the end of the run (the last delivery of anything), ps.
    end: u64,
    data: Data,
}

pub fn lone(experiment: &Experiment) -> Lone {
    let data = experiment.run().data;
    let rows = data.packets.as_ref().expect("packets are recorded");
    let mut order: Vec<usize> = (0..rows.sequence.len()).collect();
    order.sort_by_key(|&row| rows.sequence[row]);
    let packets = order
        .iter()
        .map(|&row| rows.delivered_ps[row] - rows.injected_ps[row])
        .collect();
    let messages = data.messages.as_ref().expect("messages are recorded");
    assert_eq!(messages.message.len(), 1, "one message");
    // An idle NIC sends at once.
    assert_eq!(rows.injected_ps[order[0]], messages.generated_ps[0]);
    Lone {
        packets,
        message: messages.received_ps[0] - messages.generated_ps[0],
        end: data.summary.simulated_ps - messages.generated_ps[0],
        data,
    }
}

/// Routers whose pipelines differ, but that are all idle here: the time must be the same.
fn variants(network: Experiment) -> Vec<Experiment> {
    let mut all = Vec::new();
    for queue in ["16 packets", "unlimited", "none"] {
        for queueing in ["voq_sw", "single"] {
            for speedup in [1.0, 2.0] {
                all.push(
                    network
                        .clone()
                        .set("router.output_queue", queue)
                        .set("queueing.scheme", queueing)
                        .set("router.speedup", speedup),
                );
            }
        }
    }
    all.push(network.set("router.speedup", "infinite"));
    all
}

/// 1 flit, 24 flits (one longest packet), and 60 flits in packets of 24, 24 and 12 on links that
/// are all alike. The packets follow each other without gaps, so that the message takes the time of
/// one packet of 60 flits.
fn check_alike(network: &Experiment, source: i64, destination: i64, head: u64, what: &str) {
    for network in variants(network.clone()) {
        for (flits, expected) in [
            (1, vec![head + 1]),
            (24, vec![head + 24]),
            (60, vec![head + 24, head + 24, head + 12]),
        ] {
            let run = one_message(network.clone(), source, destination, flits);
            let lone = lone(&run);
            let expected: Vec<u64> = expected.iter().map(|ns| ns * NS).collect();
            assert_eq!(lone.packets, expected, "{what}\n{}", run.text());
            assert_eq!(lone.message, (head + flits) * NS, "{what}\n{}", run.text());
        }
    }
}

#[test]
fn dragonfly_ways_of_all_lengths() {
    for routing in ["minimal", "ugal", "par"] {
        for (source, destination, head) in DRAGONFLY_WAYS {
            let what = format!("{routing} {source} to {destination}");
            check_alike(&dragonfly(routing), source, destination, head, &what);
        }
    }
}

#[test]
fn a_router_that_stores_packets_sends_each_when_all_of_it_has_come() {
    let routers = [1, 2, 2, 3, 3, 4];
    for ((source, destination, head), routers) in DRAGONFLY_WAYS.into_iter().zip(routers) {
        let network = dragonfly("minimal").set("router.switching", "store_and_forward");
        for network in variants(network) {
            let run = one_message(network.clone(), source, destination, 60);
            let lone_run = lone(&run);
            // The last packet of 12 flits is behind one of 24 on every link.
            // The packet takes its time again on each of the links.
            let first = (head + 24 * (routers + 1)) * NS;
            let expected = [first, first, first - 12 * NS];
            assert_eq!(lone_run.packets, expected, "{}", run.text());
            assert_eq!(lone_run.message, first + 36 * NS, "{}", run.text());
            // Buffers of size "auto" keep a lone flow at the links' rate.
            let run = one_message(network, source, destination, 2_400);
            let long = lone(&run).message;
            assert_eq!(long, first + 99 * 24 * NS, "{}", run.text());
        }
    }
}

#[test]
fn routers_that_store_packets_stand_beside_others() {
    let tree = Experiment::tree(2, 3).set("router.leaf.switching", "store_and_forward");
    let run = one_message(tree, 0, 2, 24);
    // Leaf, inner router, leaf: the inner one passes the head on at once.
    let head = 5 + 10 + 20 + 10 + 20 + 10 + 5;
    assert_eq!(lone(&run).packets, [(head + 3 * 24) * NS], "{}", run.text());
}

/// The latencies of the links that were used, after the injection link, and the number of routers:
/// the path of a lone packet as the ports' counters show it.
fn used(data: &Data, latency: impl Fn(&str) -> u64) -> (u64, u64) {
    let ports = &data.ports;
    let used: Vec<usize> = (0..ports.port.len())
        .filter(|&row| ports.packets[row] > 0)
        .collect();
    let links = used
        .iter()
        .map(|&row| latency(&data.link_kinds[ports.kind[row].index()]))
        .sum();
    (links, used.len() as u64)
}

#[test]
fn valiant_ways_take_the_sum_of_their_links() {
    let latency = |kind: &str| match kind {
        "terminal" => 5,
        "local" => 20,
        _ => 100,
    };
    let mut lengths = std::collections::BTreeSet::new();
    for seed in 1..20 {
        for (source, destination, flits) in [(2, 10, 1), (2, 10, 24), (2, 34, 24), (4, 39, 24)] {
            let network = dragonfly("valiant")
                .set("run.seed", seed)
                .set("nic.acknowledge", false);
            let run = lone(&one_message(network, source, destination, flits));
            let (links, routers) = used(&run.data, latency);
            assert_eq!(run.packets, [(5 + links + 10 * routers + flits) * NS]);
            lengths.insert(routers);
        }
    }
    // Two global links with none to three local ones.
    assert_eq!(lengths, std::collections::BTreeSet::from([3, 4, 5, 6]));
}

#[test]
fn tree_ways_of_every_level() {
    for routing in ["dmodk", "random_up", "adaptive_up"] {
        let tree = Experiment::tree(2, 3).routing(routing);
        for (destination, head) in [
            // Same leaf router.
            (1, 5 + 10 + 5),
            // One level up and down, inside the pod: 3 routers.
            (2, 5 + 10 + 20 + 10 + 20 + 10 + 5),
            // To the top and down again: 5 routers.
            (4, 5 + 10 + 20 + 10 + 50 + 10 + 50 + 10 + 20 + 10 + 5),
        ] {
            let what = format!("{routing} 0 to {destination}");
            check_alike(&tree, 0, destination, head, &what);
        }
        let clos = Experiment::clos(4, 2).routing(routing);
        for (destination, head) in [(1, 5 + 10 + 5), (7, 5 + 10 + 50 + 10 + 50 + 10 + 5)] {
            let what = format!("{routing} in a Clos network, 0 to {destination}");
            check_alike(&clos, 0, destination, head, &what);
        }
    }
}

#[test]
fn router_latency_counts_once_for_each_router() {
    let network = dragonfly("minimal").set("router.latency", "137 ns");
    let run = lone(&one_message(network, 2, 10, 24));
    // Four routers.
    assert_eq!(run.packets, [(5 + 20 + 100 + 20 + 5 + 4 * 137 + 24) * NS]);
    let network = dragonfly("minimal").set("router.latency", "1 ps");
    let run = lone(&one_message(network, 2, 10, 24));
    assert_eq!(run.packets, [(5 + 20 + 100 + 20 + 5 + 24) * NS + 4]);
}

fn bandwidths(terminal: &str, local: &str, global: &str) -> Experiment {
    dragonfly("minimal")
        .set("topology.terminal.bandwidth", terminal)
        .set("topology.local.bandwidth", local)
        .set("topology.global.bandwidth", global)
}

#[test]
fn the_slowest_link_sets_the_pace_wherever_it_is() {
    // The head of 2 → 10 takes 5 + 20 + 100 + 20 + 5 + 4 · 10 = 190 ns. 60 flits on a link of 50
    // Gb/s take 120 ns: the first packet is through after 48 ns, the second after 96 ns, the third
    // after 120 ns, and cut-through hides every faster link before and after it.
    for (terminal, local, global) in [
        ("50 Gbps", "100 Gbps", "200 Gbps"),
        ("100 Gbps", "50 Gbps", "200 Gbps"),
        ("200 Gbps", "100 Gbps", "50 Gbps"),
        ("50 Gbps", "50 Gbps", "100 Gbps"),
    ] {
        for network in variants(bandwidths(terminal, local, global)) {
            for flits in [1, 24, 60] {
                let run = one_message(network.clone(), 2, 10, flits);
                let lone = lone(&run);
                assert_eq!(
                    lone.packets[0],
                    (190 + 2 * flits.min(24)) * NS,
                    "{}",
                    run.text()
                );
                assert_eq!(lone.message, (190 + 2 * flits) * NS, "{}", run.text());
            }
        }
    }
}

#[test]
fn a_tail_never_leaves_before_it_has_come() {
    // Slow terminals (10 ns per flit), fast links between the routers (0.5 ns per flit): the tail
    // is 240 ns behind the head on every link, although the fast links could send it in 12 ns.
    let network = bandwidths("10 Gbps", "200 Gbps", "200 Gbps").set("nic.acknowledge", false);
    let run = lone(&one_message(network.clone(), 2, 10, 24));
    assert_eq!(run.packets, [(190 + 240) * NS]);
    // Those links are taken by it for all that time, also while they wait for its flits.
    let ports = &run.data.ports;
    for row in (0..ports.port.len()).filter(|&row| ports.packets[row] > 0) {
        assert_eq!(ports.busy_ps[row], 240 * NS, "{:?}", ports.kind[row]);
    }
}

#[test]
fn an_odd_bandwidth_is_rounded_once_for_each_packet() {
    // A flit of 64 bytes takes 512 / (25 · 2^33) s = 2,384.185791015625 ps at 25 GiB/s.
    let network = bandwidths("25 GiB/s", "25 GiB/s", "25 GiB/s").set("router.flit", "64 B");
    let one = lone(&one_message(network.clone(), 2, 10, 1));
    assert_eq!(one.packets, [190 * NS + 2_384]);
    // 24 flits: 57,220.458984375 ps.
    let longest = lone(&one_message(network.clone(), 2, 10, 24));
    assert_eq!(longest.packets, [190 * NS + 57_220]);
    // The third packet, 12 flits or 28,610.2294921875 ps, leaves after two of 57,220 ps.
    let three = lone(&one_message(network, 2, 10, 60));
    assert_eq!(
        three.packets,
        [190 * NS + 57_220, 190 * NS + 57_220, 190 * NS + 28_610]
    );
    assert_eq!(three.message, 190 * NS + 2 * 57_220 + 28_610);
}

#[test]
fn part_of_a_flit_takes_a_whole_one() {
    // 2,401 bits are 25 flits of 100 bits: one longest packet of 24, and one flit for the last bit.
    let network = dragonfly("minimal");
    let run = one_message(network, 2, 10, 24)
        .message("2401 bits")
        .with("stop", "2401 ns");
    let run = lone(&run);
    assert_eq!(run.packets, [(190 + 24) * NS, (190 + 1) * NS]);
    assert_eq!(run.message, (190 + 25) * NS);
}

#[test]
fn an_acknowledgement_takes_the_same_way_back_at_once() {
    for (source, destination, head) in DRAGONFLY_WAYS {
        for routing in ["minimal", "ugal", "par"] {
            let run = one_message(dragonfly(routing), source, destination, 24);
            // The last thing that arrives is the acknowledgement, one flit, sent when the tail was
            // there.
            let with = lone(&run);
            assert_eq!(with.end, (head + 24 + head + 1) * NS, "{}", run.text());
            assert_eq!(with.data.summary.packets_delivered, 2);
            let without = lone(&run.set("nic.acknowledge", false));
            assert_eq!(without.end, (head + 24) * NS);
            assert_eq!(without.data.summary.packets_delivered, 1);
        }
    }
}

#[test]
fn each_packet_of_a_message_is_acknowledged() {
    // Packets of 24, 24 and 12 flits: the last tail arrives after 190 + 60 ns, its acknowledgement
    // 191 ns later.
    let run = lone(&one_message(dragonfly("minimal"), 2, 10, 60));
    assert_eq!(run.end, (190 + 60 + 190 + 1) * NS);
    assert_eq!(run.data.summary.packets_delivered, 6);
    let (_, control) = &run.data.series.ejected_flits[1];
    assert_eq!(control.iter().sum::<u64>(), 3);
}
