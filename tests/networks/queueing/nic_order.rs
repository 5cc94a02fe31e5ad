//! Order in which a NIC sends packets of its messages (`nic.order`), seen in the order in which
//! packets leave.

use crate::support::Experiment;

/// Packets of one NIC as they left: destination, and when their message was posted.
fn left(order: &str, scheme: &str) -> Vec<(u32, u64)> {
    let flow = |experiment: Experiment, to: i64, message: &str| {
        experiment
            .traffic("fixed_pairs", 0.8)
            .with("endpoints", vec![2, to])
            .with("shared", true)
            .message(message)
    };
    // Twice as much as the link carries, so that messages wait.
    let network = Experiment::dragonfly(2, 4, 2)
        .set("nic.order", order)
        .set("congestion.scheme", scheme)
        .set("output.packets", true);
    let both = flow(flow(network, 10, "120 flits"), 40, "72 flits").until("20 us");
    let packets = both.run().data.packets.expect("packets are recorded");
    let mut rows: Vec<_> = (0..packets.source.len())
        .filter(|&row| packets.source[row] == 2)
        .map(|row| {
            let sent = packets.injected_ps[row];
            (sent, packets.destination[row], packets.generated_ps[row])
        })
        .collect();
    rows.sort_unstable();
    assert!(rows.len() > 500, "{}", rows.len());
    rows.into_iter()
        .map(|(_, to, posted)| (to, posted))
        .collect()
}

/// True if messages left in the order in which they were posted.
fn in_order(packets: impl Iterator<Item = (u32, u64)>) -> bool {
    packets.map(|(_, posted)| posted).is_sorted()
}

fn to(packets: &[(u32, u64)], destination: u32) -> impl Iterator<Item = (u32, u64)> {
    let own = packets.iter().copied();
    own.filter(move |&(to, _)| to == destination)
}

/// Number of packets that go to another destination than the one before.
fn changes(packets: &[(u32, u64)]) -> usize {
    packets
        .windows(2)
        .filter(|pair| pair[0].0 != pair[1].0)
        .count()
}

#[test]
fn fair_takes_destinations_in_turn_and_their_messages_in_order() {
    let packets = left("fair", "none");
    assert!(in_order(to(&packets, 10)) && in_order(to(&packets, 40)));
    assert!(!in_order(packets.iter().copied()));
    // In turn as soon as both have something, which is soon.
    assert!(changes(&packets) > packets.len() * 9 / 10);
}

#[test]
fn fifo_sends_messages_one_after_the_other() {
    let packets = left("fifo", "none");
    assert!(in_order(packets.iter().copied()));
    // No message is left in the middle: of five or three packets each, no more than every third
    // packet begins one.
    assert!(changes(&packets) <= packets.len() / 3);
}

#[test]
fn message_takes_all_messages_in_turn() {
    let packets = left("message", "none");
    assert!(!in_order(to(&packets, 10)) && !in_order(to(&packets, 40)));
}

/// SRP withdraws the rest of a message when its grant arrives.
/// The granted time is far ahead if an endpoint is oversubscribed. The next message of its queue
/// pair does not overtake it.
#[test]
fn a_queue_pair_waits_until_each_packet_of_its_message_has_been_sent_once() {
    let experiment = Experiment::dragonfly(2, 4, 2)
        .traffic("hotspot", 0.9)
        .with("endpoints", vec![0, 1, 2, 3, 4])
        .with("pattern.source_list", vec![0, 1, 2, 3])
        .with("pattern.destination_list", vec![4])
        .message("120 flits")
        .set("congestion.scheme", "srp")
        .set("congestion.timeout", "15 us")
        .set("output.packets", true)
        .until("12 us");
    let data = experiment.run().data;
    let counted = |name: &str| {
        let found = data.scheme.counters.iter().find(|(own, _)| own == name);
        found.expect("a counter").1
    };
    // So the packets that arrive are the ones sent first.
    assert_eq!(counted("dropped_fabric") + counted("dropped_last_hop"), 0);
    assert!(counted("resent_granted") > 10);
    let packets = data.packets.expect("packets are recorded");
    let mut rows: Vec<_> = (0..packets.source.len())
        .map(|row| {
            let sent = (packets.source[row], packets.injected_ps[row]);
            (sent, packets.generated_ps[row])
        })
        .collect();
    rows.sort_unstable();
    let sources: std::collections::BTreeSet<u32> = packets.source.iter().copied().collect();
    assert_eq!(sources.len(), 4);
    for source in sources {
        let own = rows.iter().filter(|((from, _), _)| *from == source);
        assert!(own.map(|(_, posted)| posted).is_sorted(), "{source}");
    }
}

/// Schemes that withdraw unsent packets, or block destinations, find the intended message.
#[test]
fn all_arrives_in_every_order_under_every_scheme() {
    let schemes = weir::catalog::catalog().schemes;
    for scheme in schemes.variants.iter().map(|variant| variant.name) {
        for order in ["fair", "fifo", "clears_first", "message"] {
            let experiment = Experiment::dragonfly(2, 4, 2)
                .set("nic.order", order)
                .set("congestion.scheme", scheme)
                .hotspot(20, 2, 0.4)
                .with("endpoints.count", 24)
                .with("endpoints.placement", "random")
                .message("60 flits")
                .with("stop", "3 us")
                .uniform(0.5)
                .with("endpoints", "rest")
                .message("60 flits")
                .to_completion("3 us");
            if scheme == "saa" && order != "fair" {
                // It knows flows by their destinations.
                assert!(experiment.try_plan().is_err());
                continue;
            }
            let summary = experiment.run().data.summary;
            assert_eq!(
                summary.messages_generated, summary.messages_received,
                "{scheme} {order}"
            );
        }
    }
}

/// [`beside_a_message`] of 1 MB.
fn beside_a_long_message(order: &str, pair: (u32, u32), bytes: u64) -> u64 {
    beside_a_message(1_000_000, pair, bytes, |network| {
        network.set("nic.order", order)
    })
}

/// Two jobs on the same two hosts: task 0 of one sends `long` bytes at 1 GB/s, and after 100 of its
/// packets the other sends `bytes` between the tasks `from` and `to`, by rendezvous from 1,000
/// bytes. Returns the time from then until those have arrived, in packets of 1,000 bytes.
fn beside_a_message(
    long: u64,
    (from, to): (u32, u32),
    bytes: u64,
    nic: impl Fn(Experiment) -> Experiment,
) -> u64 {
    let send = |experiment: Experiment, (from, to), bytes: u64, start: &str, rendezvous: &str| {
        let text = format!(
            "kind = \"script\"\nphases = [{{ send = [{{ to = \"{to}\", bytes = \"{bytes} B\", when = \"task == {from}\" }}], \
             receive = [{{ from = \"{from}\", when = \"task == {to}\" }}] }}]"
        );
        let motif: toml::Table = text.parse().expect("TOML");
        experiment
            .job("script", 2)
            .with("motif", motif)
            .with("endpoints", vec![0, 1])
            .with("shared", true)
            .with("start", start)
            .with("mpi.rendezvous_from", rendezvous)
    };
    let network = Experiment::clos(4, 1)
        .set("topology.terminal.bandwidth", "1 GB/s")
        .set("topology.terminal.latency", "1 ns")
        .set("router.flit", "50 B")
        .set("router.latency", "1 ns")
        .set("nic.max_packet", "1000 B")
        .set("nic.acknowledge", false)
        .set("output.messages", true)
        .until("completion");
    let long = send(nic(network), (0, 1), long, "0 ns", "1 GB");
    let jobs = send(long, (from, to), bytes, "100500 ns", "1000 B");
    let messages = jobs.run().data.messages.expect("recorded");
    let other = messages.bytes.iter().position(|&own| own == bytes);
    let received = messages.received_ps[other.expect("the other message")];
    (received - 100_500_000) / 1_000_000
}

/// A queue pair belongs to a job: the short message waits for the packet that is on the link, and
/// for one turn.
#[test]
fn a_job_does_not_wait_behind_the_messages_of_another_on_its_host() {
    for order in ["fair", "message"] {
        let packets = beside_a_long_message(order, (0, 1), 64);
        assert!(packets <= 3, "{order}: {packets}");
    }
    // One message after the other: the rest of the long one, 900 packets, goes first.
    for order in ["fifo", "clears_first"] {
        let behind = beside_a_long_message(order, (0, 1), 64);
        assert!((895..910).contains(&behind), "{order}: {behind}");
    }
}

/// Against the long message ten packets come by rendezvous: their sender waits for a grant from the
/// host that sends the long one.
#[test]
fn requests_are_granted_in_the_middle_of_a_message_unless_it_is_fifo() {
    for order in ["fair", "message"] {
        let packets = beside_a_long_message(order, (1, 0), 10_000);
        assert!((10..=15).contains(&packets), "{order}: {packets}");
    }
    let behind = beside_a_long_message("fifo", (1, 0), 10_000);
    assert!((905..920).contains(&behind), "{behind}");
}

/// Of 1,000 packets the grant waits for the prepared ones, of 130 for the 29 that are left.
#[test]
fn clears_first_grants_requests_behind_packets_that_are_prepared() {
    let mut at_once = 0;
    for (long, prepared, waits) in [
        (1_000_000, Some("0 packets"), 0),
        (1_000_000, Some("1 packets"), 1),
        (1_000_000, None, 100),
        (1_000_000, Some("2000 packets"), 899),
        (130_000, None, 29),
    ] {
        let packets = beside_a_message(long, (1, 0), 10_000, |network| {
            let network = network.set("nic.order", "clears_first");
            match prepared {
                Some(size) => network.set("nic.prepared", size),
                None => network,
            }
        });
        if waits == 0 {
            assert!((10..15).contains(&packets), "{packets}");
            at_once = packets;
        }
        assert_eq!(packets, at_once + waits, "{prepared:?}");
    }
}

#[test]
fn prepared_packets_need_an_order_that_asks_for_them() {
    let other = Experiment::clos(4, 1)
        .uniform(0.1)
        .set("nic.prepared", "100 packets")
        .until("1 us");
    let Err(error) = other.try_plan() else {
        panic!("the order is fair");
    };
    assert!(error.to_string().contains("nic.prepared"), "{error}");
    other.set("nic.order", "clears_first").plan();
}
