//! Rates: the shares of flows on a link are arithmetic.
//!
//! A flow's rate is measured from its `/data/packets`: flits delivered between two times, after
//! everything has settled.

mod buffers;
mod lengths;
mod speeds;

use crate::support::Experiment;
use weir::result::Packets;

const NS: u64 = 1_000;
const US: u64 = 1_000_000;

/// Flits from `source` (any if None) delivered in `from..to`, divided by the capacity of the link
/// of 1 flit per ns.
pub fn rate(packets: &Packets, source: Option<u32>, from: u64, to: u64) -> f64 {
    let flits: u64 = (0..packets.source.len())
        .filter(|&row| source.is_none_or(|source| packets.source[row] == source))
        .filter(|&row| (from..to).contains(&packets.delivered_ps[row]))
        .map(|row| u64::from(packets.flits[row]))
        .sum();
    flits as f64 * NS as f64 / (to - from) as f64
}

/// Packets recorded until 110 us, no acknowledgements: rates are measured from 10 us to 106 us,
/// which is 4,000 packets of 24 flits.
pub fn measured(network: Experiment) -> Experiment {
    network
        .set("nic.acknowledge", false)
        .set("output.packets", true)
        .until("110 us")
}

const FROM: u64 = 10 * US;
const TO: u64 = 106 * US;
const PACKETS: f64 = 4_000.0;

pub fn run(experiment: &Experiment) -> Packets {
    experiment.run().data.packets.expect("packets are recorded")
}

/// `source` sends to `destination` at this load.
pub fn flow(network: Experiment, source: i64, destination: i64, load: f64) -> Experiment {
    network
        .traffic("fixed_pairs", load)
        .with("endpoints", vec![source, destination])
        .with("shared", true)
        .with("injection", "periodic")
        .message("24 flits")
}

/// `sources` send to `destination` at this load each.
fn incast(network: Experiment, sources: &[i64], destination: i64, load: f64) -> Experiment {
    let mut members = sources.to_vec();
    members.push(destination);
    network
        .traffic("hotspot", load)
        .with("endpoints", members)
        .with("pattern.source_list", sources.to_vec())
        .with("pattern.destination_list", vec![destination])
        .with("injection", "periodic")
        .message("24 flits")
}

/// All routers whose crossbar gives a lone flow the whole link.
fn routers(network: Experiment) -> Vec<Experiment> {
    let crossing = network.clone().set("router.credit_at", "crossing");
    let mut all = vec![
        network.clone().set("router.speedup", "infinite"),
        crossing.clone(),
        crossing.set("router.output_queue", "unlimited"),
    ];
    for queue in ["16 packets", "2 packets", "unlimited", "none"] {
        for queueing in ["voq_sw", "single"] {
            for speedup in [1.0, 2.0] {
                for per in ["vc", "port"] {
                    all.push(
                        network
                            .clone()
                            .set("router.output_queue", queue)
                            .set("queueing.scheme", queueing)
                            .set("router.speedup", speedup)
                            .set("router.buffer_per", per),
                    );
                }
            }
        }
    }
    all
}

#[test]
fn a_lone_flow_gets_the_whole_link() {
    // Endpoint 2 (router 1 of group 0) to endpoint 10 (router 1 of group 1): local, global of 1 us,
    // local. Shorter messages than the longest packet, too: "auto" buffers are for any length.
    let network = Experiment::dragonfly(2, 4, 2).latencies("5 ns", "50 ns", "1 us");
    for network in routers(measured(network)) {
        for message in ["24 flits", "4 flits", "1 flits", "768 flits"] {
            let run_of = flow(network.clone(), 2, 10, 1.0).message(message);
            let packets = run(&run_of.until("30 us"));
            // 24 us hold a whole number of packets of each length.
            let rate = rate(&packets, None, 5 * US, 29 * US);
            assert_eq!(rate, 1.0, "{message}\n{}", network.text());
        }
    }
}

#[test]
fn a_lone_flow_gets_the_whole_link_through_slow_routers() {
    // An output queue must hold the content of its router's pipeline: 333 flits.
    let network = Experiment::dragonfly(2, 4, 2)
        .latencies("5 ns", "50 ns", "1 us")
        .set("router.credit_delay", "777 ns")
        .set("router.latency", "333 ns");
    for queue in ["16 packets", "unlimited", "none"] {
        for queueing in ["voq_sw", "single"] {
            for speedup in [1.0, 2.0] {
                let network = measured(network.clone())
                    .set("router.output_queue", queue)
                    .set("queueing.scheme", queueing)
                    .set("router.speedup", speedup);
                let packets = run(&flow(network.clone(), 2, 10, 1.0).until("30 us"));
                let rate = rate(&packets, None, 5 * US, 29 * US);
                assert_eq!(rate, 1.0, "{}", network.text());
            }
        }
    }
}

#[test]
fn a_lone_flow_waits_for_the_allocation_of_its_virtual_channel() {
    let network = measured(Experiment::dragonfly(2, 4, 2).latencies("5 ns", "50 ns", "1 us"));
    let slow = network.set("router.vc_allocation", "2 ns");
    let behind = slow.clone().set("queueing.scheme", "single");
    let looks = behind.clone().set("router.route_computation", "3 ns");
    let queues = |network: &Experiment| network.clone().set("router.output_queue", "none");
    for flits in [1, 4, 24] {
        let time = f64::from(flits);
        // A flit takes 1 ns on a link and half of that on a crossbar of twice its speed.
        let cases = [
            (queues(&slow), time + 2.0),
            (queues(&behind), time + 2.0),
            (queues(&looks), time + 5.0),
            (slow.clone().set("router.speedup", 1.0), time + 2.0),
            (slow.clone(), time.max(time / 2.0 + 2.0)),
            (looks.clone(), time.max(time / 2.0 + 5.0)),
        ];
        for (network, each) in cases {
            let message = format!("{flits} flits");
            let flow = flow(network.clone(), 2, 10, 1.0).message(&message);
            let packets = run(&flow.set("nic.max_packet", &*message).until("40 us"));
            let rate = rate(&packets, None, 10 * US, 34 * US);
            // A packet more or less in 24 us.
            let off = (rate - time / each).abs();
            assert!(
                off <= time / 24_000.0 + 1e-9,
                "{rate}, {message}\n{}",
                network.text()
            );
        }
    }
}

#[test]
fn several_virtual_channels_hide_their_allocation() {
    // Packets of one flit in channels that are 2 ns apart at each crossing: three of them fill the
    // link.
    let network = measured(Experiment::dragonfly(2, 4, 2).latencies("5 ns", "50 ns", "1 us"))
        .set("router.output_queue", "none")
        .set("router.speedup", 1.0)
        .set("router.vc_allocation", "2 ns")
        .set("nic.max_packet", "1 flits");
    for (vcs, expected) in [(1, 1.0 / 3.0), (2, 2.0 / 3.0), (3, 1.0), (4, 1.0)] {
        let network = network.clone().set("queueing.scheme", "vcs");
        let network = (network.set("queueing.count", vcs)).set("nic.injection_vcs", vcs);
        let flow = flow(network.clone(), 2, 10, 1.0).message("1 flits");
        let rate = rate(&run(&flow.until("40 us")), None, 10 * US, 34 * US);
        assert!((rate - expected).abs() < 0.001, "{rate} with {vcs}");
    }
}

#[test]
fn what_is_offered_below_the_link_rate_arrives() {
    let network = measured(Experiment::dragonfly(2, 4, 2));
    for load in [0.25, 0.75] {
        let packets = run(&flow(network.clone(), 2, 10, load));
        assert_eq!(rate(&packets, None, FROM, TO), load);
    }
}

#[test]
fn a_slow_link_on_the_way_is_the_rate() {
    // Global links of 25 Gb/s: a quarter of a flit per ns.
    let network =
        measured(Experiment::dragonfly(2, 4, 2)).set("topology.global.bandwidth", "25 Gbps");
    for network in routers(network) {
        let packets = run(&flow(network.clone(), 2, 10, 1.0).until("40 us"));
        // 24 us: 250 packets of 96 ns.
        assert_eq!(
            rate(&packets, None, 15 * US, 39 * US),
            0.25,
            "{}",
            network.text()
        );
    }
}

#[test]
fn flows_to_one_endpoint_share_its_link_alike() {
    // Endpoint 0 is on router 0 of group 0. Its rivals each come in by a port of their own: its
    // neighbour, the three other routers of the group, and groups 1 and 2 by global links.
    for sources in [
        vec![1, 2],
        vec![2, 4, 6],
        vec![1, 2, 4, 6, 8],
        vec![1, 2, 4, 6, 8, 16],
    ] {
        for arbitration in ["round_robin", "first_come", "oldest"] {
            let network =
                measured(Experiment::dragonfly(2, 4, 2)).set("router.arbitration", arbitration);
            let packets = run(&incast(network, &sources, 0, 1.0));
            let what = format!("{sources:?} {arbitration}");
            let total = rate(&packets, None, FROM, TO);
            // The window may cut one packet at each end.
            assert!((total - 1.0).abs() < 1.5 / PACKETS, "{what}: {total}");
            // First-come and oldest-first arbitration serve the one that waits longest: the sources
            // are alike only as far as their credits come back alike, so the shares are exact in
            // turn alone.
            if arbitration == "round_robin" {
                for &source in &sources {
                    let share = rate(&packets, Some(source as u32), FROM, TO);
                    let fair = 1.0 / sources.len() as f64;
                    assert!(
                        (share - fair).abs() < 2.5 / PACKETS,
                        "{what}: {source} gets {share}"
                    );
                }
            }
        }
    }
}

#[test]
fn flows_that_share_one_port_share_its_turn() {
    // The parking lot: packets of endpoints 2 and 3 come by one port, those of endpoint 4 by
    // another, and the destination serves the ports in turn. So 4 gets one half, and 2 and 3 a
    // quarter each.
    let packets = run(&incast(
        measured(Experiment::dragonfly(2, 4, 2)),
        &[2, 3, 4],
        0,
        1.0,
    ));
    for (source, fair) in [(4, 0.5), (2, 0.25), (3, 0.25)] {
        let share = rate(&packets, Some(source), FROM, TO);
        assert!(
            (share - fair).abs() < 2.5 / PACKETS,
            "{source} gets {share}"
        );
    }
}

#[test]
fn flows_over_one_link_share_it_alike() {
    for flows in 2..=4 {
        let mut members: Vec<i64> = (0..flows).collect();
        members.extend(4..4 + flows);
        let network = measured(two_switches())
            .traffic("fixed_pairs", 1.0)
            .with("endpoints", members)
            .with("injection", "periodic")
            .message("24 flits");
        for network in routers(network) {
            let packets = run(&network.clone().until("30 us"));
            for source in 0..flows {
                let share = rate(&packets, Some(source as u32), 5 * US, 29 * US);
                let fair = 1.0 / flows as f64;
                // 1,000 packets in the window; one may be cut at each end of it.
                assert!(
                    (share - fair).abs() < 2.5e-3,
                    "{source} gets {share}\n{}",
                    network.text()
                );
            }
        }
    }
}

/// Two switches with 4 endpoints each and one link between them: a dragonfly of two groups of one
/// router.
fn two_switches() -> Experiment {
    Experiment::dragonfly(4, 1, 1)
}

/// Birk and Zdornov, Fig. 1: flows 1 and 2 (endpoints 0 and 1) cross the link between the switches
/// to their destination 7, flows 3 and 4 (2 and 3) cross it to 6. Flows 5 and 6 (endpoints 4 and 5
/// of that switch) go to 6, too.
fn six_flows(network: Experiment, load: f64, message: &str, stop: &str) -> Experiment {
    let network = incast(network, &[0, 1], 7, load)
        .message(message)
        .with("stop", stop);
    incast(network, &[2, 3, 4, 5], 6, load)
        .message(message)
        .with("stop", stop)
}

#[test]
fn congestion_spreads_to_the_link_between_two_switches() {
    // The destination 6 serves the link and the endpoints 4 and 5 in turn: a third each, and so a
    // sixth for each of flows 3 and 4. Their packets fill the buffer behind the link. Flows 1 and
    // 2, which take turns with them, get no more than they do, though their own destination is
    // free: the link runs at two thirds. The paper's crossbar is infinitely fast. (One of finite
    // speed and with virtual output queues gives 1/7 and 5/14: the link's queue for 6 loses its
    // turn when a packet for 7 is just crossing from there.) A queue without limit that takes its
    // credits first holds no more than the buffer behind the link.
    for (queue, credit_at) in [
        ("none", "link"),
        ("16 packets", "link"),
        ("16 packets", "crossing"),
        ("unlimited", "crossing"),
    ] {
        let network = measured(two_switches())
            .set("router.speedup", "infinite")
            .set("router.output_queue", queue)
            .set("router.credit_at", credit_at);
        let packets = run(&six_flows(network, 1.0, "24 flits", "1 s"));
        for source in 0..6 {
            let fair = if source < 4 { 1.0 / 6.0 } else { 1.0 / 3.0 };
            let share = rate(&packets, Some(source), FROM, TO);
            let off = (share - fair).abs() * PACKETS;
            assert!(off < 3.0, "{source} gets {share}");
        }
        let link: f64 = (0..4)
            .map(|source| rate(&packets, Some(source), FROM, TO))
            .sum();
        assert!((link - 2.0 / 3.0).abs() * PACKETS < 6.0, "{link}");
    }
}

/// Time when the last flow ends, ps, and the number of all packets.
fn end_of_all(network: &Experiment) -> (f64, u64) {
    let data = network.run().data;
    let finish = data.jobs.iter().map(|job| job.finish()).max();
    (finish.expect("jobs") as f64, data.summary.packets_delivered)
}

#[test]
fn six_equal_flows_of_one_millisecond_end_after_five() {
    // Flows 5 and 6 end after 3 ms, when 2 ms of the others' 4 ms have crossed the link. One
    // message each of 10^6 flits: at load 1,000 the period is 1 us, so each comes within the first
    // microsecond.
    let network = two_switches()
        .set("nic.acknowledge", false)
        .set("router.speedup", "infinite");
    let network = six_flows(network, 1_000.0, "1000000 flits", "1 us").until("completion");
    let (finish, packets) = end_of_all(&network);
    assert_eq!(packets, 6 * 41_667);
    assert!((finish / 5e9 - 1.0).abs() < 1e-3, "{finish} ps");
}

#[test]
fn held_to_a_quarter_they_end_after_four() {
    // The same amounts: 4 ms at a quarter of a flit per ns, in packets of 24.
    let network = two_switches().set("nic.acknowledge", false);
    let network = six_flows(network, 0.25, "24 flits", "4 ms").until("completion");
    let (finish, packets) = end_of_all(&network);
    assert!(packets.abs_diff(6 * 41_667) <= 6, "{packets}");
    assert!((finish / 4e9 - 1.0).abs() < 1e-3, "{finish} ps");
}

#[test]
fn acknowledgements_go_before_data() {
    // Endpoint 0 sends 0.7 of its link in messages of one flit, so that as many acknowledgements
    // come to it; 4 and 6 together offer it twice its link in packets of 24 flits. Whatever the
    // acknowledgements leave is for data: 0.3. In turn, packet by packet, the data would get 24 of
    // every 25 flits.
    let network = Experiment::dragonfly(2, 4, 2)
        .set("output.packets", true)
        .until("110 us");
    let network = flow(network, 0, 2, 0.7).message("1 flits");
    let network = incast(network, &[4, 6], 0, 1.0).with("shared", true);
    let packets = run(&network);
    let from_zero = rate(&packets, Some(0), FROM, TO);
    assert!((from_zero - 0.7).abs() < 1e-4, "{from_zero}");
    let to_zero = rate(&packets, Some(4), FROM, TO) + rate(&packets, Some(6), FROM, TO);
    // One packet of 24 flits is 0.00025 of the time.
    assert!((to_zero - 0.3).abs() < 5e-4, "{to_zero}");
}

#[test]
fn reservations_of_srp_take_their_part_of_an_overloaded_link() {
    // A reservation of one flit for each message goes before all data: r times as much as the link
    // brings, in messages of m flits, leaves 1 - r/m of it.
    for (flits, over) in [(4, 2.0), (4, 3.2), (8, 4.0), (24, 8.0)] {
        let data = Experiment::tree(17, 1)
            .hotspot(16, 1, over / 16.0)
            .message(&format!("{flits} flits"))
            .with("injection", "periodic")
            .set("congestion.scheme", "srp")
            .set("router.input_buffer", "2100 flits")
            .set("run.warmup", "10 us")
            .until("50 us")
            .run()
            .data;
        let accepted = data.jobs[0].totals.accepted_load;
        let error = accepted - (1.0 - over / f64::from(flits));
        let told = format!("{flits} flits, {over}: {accepted}, off by {error}");
        assert!(error.abs() < 0.01, "{told}");
    }
}
