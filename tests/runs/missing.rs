//! A network that collapses has no fine numbers: messages that had not arrived when the run ended
//! are counted, percentiles among them are lower bounds, and a job at a standstill is reported.

use crate::support::Experiment;
use weir::result::{Data, Latency, Stats, read};

const US: f64 = 1e6;

fn class<'a>(data: &'a Data, name: &str) -> &'a Latency {
    let found = data.latency.iter().find(|(class, _)| class == name);
    &found.expect("a class").1
}

/// Four endpoints send 24 flits every 24 ns to a fifth, whose link brings 1 flit per ns. Each
/// message waits its turn behind its source's earlier messages, and each source gets a quarter of
/// the link: a message generated at g is received at 4 g.
fn four_to_one() -> Experiment {
    Experiment::dragonfly(5, 2, 1)
        .traffic("hotspot", 1.0)
        .with("endpoints", vec![0, 1, 2, 3, 4])
        .with("pattern.source_list", vec![0, 1, 2, 3])
        .with("pattern.destination_list", vec![4])
        .with("injection", "periodic")
        .message("24 flits")
        .set("nic.acknowledge", false)
        .until("96 us")
}

/// A bound is below the true value by the width of the histogram's buckets at most.
fn close(bound: f64, exact_us: f64) {
    let exact = exact_us * US;
    assert!(
        (0.975 * exact..1.005 * exact).contains(&bound),
        "{bound} is not {exact}"
    );
}

/// `count` except the messages on their way through the idle network (less than half a microsecond,
/// of four sources).
fn about(count: u64, expected: u64) {
    assert!(count.abs_diff(expected) <= 80, "{count}, not {expected}");
}

#[test]
fn what_did_not_arrive_of_an_overloaded_endpoint_is_arithmetic() {
    let outcome = four_to_one().set("run.warmup", "12 us").run();
    let stats = Stats::of(class(&outcome.data, "message"));
    // From 12 to 96 us each source generates 3,500 messages. The messages generated up to 24 us
    // arrive.
    assert_eq!(stats.all(), 4 * 3_500);
    about(stats.samples, 4 * 500);
    // Messages that arrived took from 36 to 72 us; messages that did not are up to 72 us old.
    assert!(stats.at_most.p50_ps.is_infinite());
    close(stats.arrived.p50_ps, 54.0);
    close(stats.at_least.mean_ps, (12.0 * 36.0 + 2.0 * 54.0) / 14.0);
    // Up to 36 us 6,000 that are missing; from there on 1,000 more within 4.5 us.
    close(stats.at_least.p50_ps, 40.5);
    close(stats.at_least.max_ps as f64, 72.0);
    assert_eq!(
        *class(&outcome.data, "message"),
        *class(&outcome.data, "job.workload0.message")
    );
}

#[test]
fn what_arrived_in_the_window_took_longer_than_what_was_sent_in_it_and_arrived() {
    let outcome = four_to_one().set("run.warmup", "12 us").run();
    let stats = Stats::of(class(&outcome.data, "message_by_arrival"));
    // The endpoint receives one message in 24 ns. A message received at t was generated at t / 4.
    assert_eq!(stats.missing, 0);
    about(stats.samples, 3_500);
    close(stats.arrived.mean_ps, 0.75 * (12.0 + 96.0) / 2.0);
    close(stats.arrived.max_ps as f64, 72.0);
    let packets = class(&outcome.data, "network_by_arrival");
    assert_eq!(packets.arrived.samples(), stats.samples);
    assert_eq!(
        *packets,
        *class(&outcome.data, "job.workload0.network_by_arrival")
    );
}

#[test]
fn percentiles_below_everything_that_is_missing_are_known() {
    // The first half of the messages generated from 12 to 36 us arrives, within 36 to 72 us; the
    // others are 60 to 72 us old.
    let outcome = four_to_one()
        .set("run.warmup", "12 us")
        .set("run.measure", "24 us")
        .run();
    let stats = Stats::of(class(&outcome.data, "message"));
    assert_eq!(stats.all(), 4_000);
    about(stats.samples, 2_000);
    close(stats.arrived.p50_ps, 54.0);
    assert!(!stats.known(|shape| shape.p50_ps).1);
    close(stats.at_least.p50_ps, 63.0);
    // Two pairs send 8,000 short messages that arrive at once: the median is among them, regardless
    // of the others.
    let outcome = four_to_one()
        .set("run.warmup", "12 us")
        .set("run.measure", "24 us")
        .traffic("fixed_pairs", 1.0)
        .with("endpoints", vec![5, 6, 7, 8])
        .with("injection", "periodic")
        .message("6 flits")
        .run();
    let stats = Stats::of(class(&outcome.data, "message"));
    assert_eq!(stats.all(), 12_000);
    about(stats.samples, 10_000);
    let (median, known) = stats.known(|shape| shape.p50_ps);
    assert!(known && median < US, "{median}");
    assert!(!stats.known(|shape| shape.p90_ps).1);
}

#[test]
fn nothing_is_missing_of_what_had_the_time_to_arrive() {
    let outcome = four_to_one().set("run.measure", "19200 ns").run();
    let stats = Stats::of(class(&outcome.data, "message"));
    assert_eq!(stats.missing, 0);
    assert_eq!(stats.samples, 4 * 800);
    assert_eq!(stats.arrived, stats.at_least);
    assert!(outcome.data.notes.is_empty(), "{:?}", outcome.data.notes);
}

/// Invariants of every run that is measured from its beginning to its end.
/// Everything generated is received or missing, and every packet that a NIC sent is delivered,
/// dropped or missing. Returns missing messages and packets.
fn nothing_is_forgotten(experiment: &Experiment) -> (u64, u64) {
    let data = experiment.run().data;
    let messages = Stats::of(class(&data, "message"));
    assert_eq!(
        messages.all(),
        data.summary.messages_generated,
        "{experiment:?}"
    );
    assert_eq!(messages.samples, data.summary.messages_received);
    let packets = Stats::of(class(&data, "network"));
    let counters = data.scheme.counters.iter();
    let sent = counters.clone().find(|(name, _)| name == "packets_data");
    let (_, sent) = sent.expect("a counter");
    assert_eq!(packets.all() + data.summary.packets_dropped, *sent);
    // The jobs together are everything.
    for (kind, whole) in [("message", messages), ("network", packets)] {
        let jobs = data.jobs.iter();
        let parts = jobs.map(|job| Stats::of(class(&data, &format!("job.{}.{kind}", job.name))));
        let sum = parts.fold((0, 0), |sum, part| {
            (sum.0 + part.samples, sum.1 + part.missing)
        });
        assert_eq!(sum, (whole.samples, whole.missing));
    }
    (messages.missing, packets.missing)
}

/// A hot spot of eight over two beside uniform traffic.
fn hot() -> Experiment {
    Experiment::dragonfly(2, 4, 2)
        .routing("par")
        .hotspot(8, 2, 0.8)
        .with("endpoints.count", 10)
        .with("endpoints.placement", "random")
        .uniform(0.4)
        .with("endpoints", "rest")
        .message("60 flits")
        .until("15 us")
}

#[test]
fn a_packet_that_is_dropped_is_missing_once_or_not_at_all() {
    for scheme in [
        "none", "ecn", "srp", "smsrp", "lhrp", "lhrp_srp", "codes_cc", "sst_cm",
    ] {
        let experiment = hot().set("congestion.scheme", scheme);
        let (messages, _) = nothing_is_forgotten(&experiment);
        assert!(messages > 100, "{scheme}: {messages}");
    }
    for scheme in ["srp", "lhrp"] {
        let lossy = hot()
            .set("congestion.scheme", scheme)
            .set("congestion.loss", 0.3);
        nothing_is_forgotten(&lossy);
    }
}

#[test]
fn applications_that_are_cut_off_have_messages_missing() {
    let cut = |until: &str| {
        let network = Experiment::dragonfly(2, 4, 2).routing("par");
        nothing_is_forgotten(&network.applications().until(until))
    };
    let (messages, packets) = cut("4 us");
    assert!(messages > 0 && packets > 0);
    assert_eq!(cut("completion"), (0, 0));
}

/// Sixteen endpoints send messages of 4 flits to another one by its router, four times what its
/// link brings: for each message there is a reservation of 1 flit, which goes first, so
/// reservations alone fill the link.
fn collapsed() -> Experiment {
    Experiment::tree(17, 1)
        .hotspot(16, 1, 0.26)
        .set("congestion.scheme", "srp")
        .set("router.input_buffer", "2100 flits")
        .set("run.warmup", "10 us")
        .set("output.bin", "5 us")
        .until("50 us")
}

#[test]
fn a_standstill_is_told_of_everywhere() {
    let ran = collapsed().cli().succeeds();
    let says = "warning     workload0 came to a standstill: in the second half";
    assert!(ran.stdout.contains(says), "{}", ran.stdout);
    assert!(ran.stdout.contains(">="), "{}", ran.stdout);
    let stored = read(&ran.result()).expect("a result");
    let kinds: Vec<_> = stored.digest.notes.iter().map(|note| &note.kind).collect();
    assert_eq!(kinds, ["standstill", "missing", "drops"]);
    let note = &stored.digest.notes[0];
    assert_eq!(note.job.as_deref(), Some("workload0"));
    let numbers: Vec<_> = note.numbers.iter().map(|(name, _)| name).collect();
    assert_eq!(numbers, ["missing", "received"]);
    let path = ran.result().display().to_string();
    let inspected = crate::support::Cli::weir("", &["inspect", &path]).succeeds();
    assert!(inspected.stdout.contains(says), "{}", inspected.stdout);
    // The arrived samples look fine, the numbers to be believed do not.
    let network = stored.digest.class("network").expect("a class");
    assert!(network.arrived.max_ps < network.at_least.max_ps);
    let json = crate::support::Cli::run(&collapsed().text())
        .arg("--json")
        .succeeds();
    let json: serde_json::Value = serde_json::from_str(&json.stdout).expect("JSON");
    assert_eq!(json["notes"][0]["kind"], "standstill");
    assert_eq!(json["summary"]["notes"], 3);
}

#[test]
fn a_hot_spot_that_is_overloaded_but_served_is_at_no_standstill() {
    for scheme in ["none", "lhrp", "smsrp"] {
        let notes = collapsed()
            .set("congestion.scheme", scheme)
            .run()
            .data
            .notes;
        let kinds: Vec<_> = notes.iter().map(|note| note.kind.as_str()).collect();
        assert_eq!(kinds, ["missing"], "{scheme}");
    }
}
