//! The steady state of congestion control is arithmetic: one derived number for the dynamics of
//! each scheme.

use crate::support::Experiment;
use weir::result::Data;

const NS: u64 = 1_000;
const US: u64 = 1_000_000;

/// Flits of a packet, of 1 ns each on every link.
const FLITS: i64 = 24;

/// Endpoints of other groups send to endpoint 0 at this load each, all of the time.
fn incast(sources: i64, load: f64) -> Experiment {
    let list: Vec<i64> = (1..=sources).map(|number| 8 * number).collect();
    let mut members = list.clone();
    members.push(0);
    Experiment::dragonfly(2, 4, 2)
        .traffic("hotspot", load)
        .with("endpoints", members)
        .with("pattern.source_list", list)
        .with("pattern.destination_list", vec![0i64])
        .with("injection", "periodic")
        .message(&format!("{FLITS} flits"))
        .set("nic.acknowledge", true)
}

/// The same under a scheme, with the allowed rates of sources recorded every 500 ns.
fn recorded(sources: i64, scheme: &str) -> Experiment {
    let list: Vec<i64> = (1..=sources).map(|number| 8 * number).collect();
    incast(sources, 0.9)
        .set("congestion.scheme", scheme)
        .set("output.rates.interval", "500 ns")
        .set("output.rates.endpoints", list)
}

fn count(data: &Data, name: &str) -> u64 {
    let counters = data.scheme.counters.iter();
    let mut found = counters.filter(|(own, _)| own == name);
    found.next().unwrap_or_else(|| panic!("no {name}")).1
}

fn share(data: &Data, name: &str) -> f64 {
    let shares = data.scheme.shares.iter();
    let mut found = shares.filter(|(own, _)| own == name);
    found.next().unwrap_or_else(|| panic!("no {name}")).1
}

/// The most bytes that ever waited for endpoint 0.
fn peak(data: &Data) -> u64 {
    let ports = &data.ports;
    let hot = (0..ports.router.len()).find(|&row| ports.router[row] == 0 && ports.port[row] == 0);
    ports.peak_occupancy_bytes[hot.expect("the port of endpoint 0")]
}

/// Allowed rates of sources, from a time on.
fn rates(data: &Data, from: u64) -> Vec<f64> {
    let rates = data.rates.as_ref().expect("rates are recorded");
    let rows = 0..rates.time_ps.len();
    let settled = rows.filter(|&row| rates.time_ps[row] >= from);
    settled.map(|row| rates.share[row]).collect()
}

/// A delay that neither grows nor shrinks in the long run grows by marks as fast as it shrinks by
/// its timer: each source gets a mark in every increment / decrement timers, which is 24 · 96 ns.
#[test]
fn ecn_marks_as_often_as_delays_shrink() {
    let sources = 4;
    let end = 400 * US;
    let experiment = incast(sources, 0.9).set("congestion.scheme", "ecn");
    let data = experiment.until("400 us").run().data;
    let marks = count(&data, "marked") as f64;
    let expected = (sources as u64 * end / (24 * 96 * NS)) as f64;
    // In addition there are the marks that build up the delays: the first ones come before any
    // source has heard of them, one for each packet that fits into the buffers and the round trip.
    assert!((marks / expected - 1.0).abs() < 0.1, "{marks} {expected}");
}

/// An index of InfiniBand's table that neither grows nor shrinks in the long run gets a
/// notification in every increase / decrease timers, wherever the threshold is. Before that it
/// climbs to where N sources leave (N - 1) packet times between packets, which fills the hot link:
/// 36 of the table's steps of 2 ns.
#[test]
fn ib_cca_notifies_as_often_as_indices_shrink() {
    let (sources, end, timer) = (4, 400 * US, 500 * NS);
    for increase in [1, 2] {
        let experiment = incast(sources, 0.9)
            .set("congestion.scheme", "ib_cca")
            .set("congestion.buffer", "10 packets")
            .set("congestion.virtual_lanes", 2)
            .set("congestion.max_ipd", "254 ns")
            .set("congestion.ccti_increase", increase)
            .set("congestion.recovery_timer", "500 ns")
            .set("nic.max_packet", "24 flits");
        let data = experiment.until("400 us").run().data;
        let told = count(&data, "becns") as f64;
        let settled = end / timer + 36;
        let expected = (sources as u64 * settled) as f64 / increase as f64;
        assert!((told / expected - 1.0).abs() < 0.03, "{told} {expected}");
        assert!(count(&data, "held_back") > 0);
    }
}

/// Each message of one packet has a reservation, a grant and an acknowledgement of one flit. They
/// end at other endpoints than the data, but every endpoint sends and receives alike.
#[test]
fn srp_has_a_reservation_and_a_grant_for_every_message() {
    let experiment = Experiment::dragonfly(2, 4, 2)
        .uniform(0.3)
        .message(&format!("{FLITS} flits"))
        .set("congestion.scheme", "srp")
        .set("nic.acknowledge", true)
        .set("run.warmup", "10 us")
        .until("60 us");
    let data = experiment.run().data;
    let data_share = share(&data, "ejected_data_share");
    assert!((data_share - 0.3).abs() < 0.01, "{data_share}");
    for kind in ["reservation", "grant", "ack"] {
        let share = share(&data, &format!("ejected_{kind}_share"));
        let expected = data_share / FLITS as f64;
        assert!(
            (share / expected - 1.0).abs() < 0.02,
            "{kind}: {share} {expected}"
        );
    }
}

/// One message at a time: the next begins when the acknowledgement of this one is back, a round
/// trip after its reservation, whether one or two jobs send them.
#[test]
fn srp_sends_as_many_messages_in_a_round_trip_as_may_be_outstanding() {
    let (end, latency) = (400 * US, US);
    let accepted = |outstanding: Option<u64>, jobs: u64| {
        let network = Experiment::clos(4, 1)
            .set("topology.terminal.latency", "1 us")
            .set("router.input_buffer", "8000 flits")
            .set("congestion.scheme", "srp")
            .set("nic.acknowledge", true);
        let limited = match outstanding {
            Some(outstanding) => network.set("congestion.outstanding", outstanding as i64),
            None => network,
        };
        let both = (0..jobs).fold(limited, |experiment, _| {
            experiment
                .traffic("fixed_pairs", 0.4 / jobs as f64)
                .with("endpoints", vec![0, 1])
                .with("shared", true)
                .message(&format!("{FLITS} flits"))
        });
        both.until("400 us").run().data.summary.messages_received
    };
    // There and back over two links each; a reservation, the message, routers and an
    // acknowledgement take less than 100 ns beside that.
    for outstanding in [1, 4] {
        let trips = |trip| outstanding * (end / trip);
        let expected = trips(4 * latency + 100 * NS)..=trips(4 * latency);
        for jobs in [1, 2] {
            let received = accepted(Some(outstanding), jobs);
            assert!(
                expected.contains(&received),
                "{outstanding}: {received} {expected:?}"
            );
        }
    }
    let free = accepted(None, 1) as f64;
    let offered = 0.4 * (end / NS) as f64 / FLITS as f64;
    assert!((free / offered - 1.0).abs() < 0.05, "{free} {offered}");
}

/// A speculative packet is dropped when more than the threshold is queued.
/// So the queue is no longer than that, plus a packet from each input of the last router (14 ports
/// at most hold one on its way in), plus packets that come at their granted times.
#[test]
fn lhrp_keeps_the_queue_of_the_last_hop_at_its_threshold() {
    let end = "60 us";
    let threshold = 480;
    let hot = |scheme: &str| {
        incast(8, 0.9)
            .set("congestion.scheme", scheme)
            .set("router.input_buffer", "2100 flits")
            .until(end)
    };
    let lhrp = hot("lhrp").set("congestion.threshold", format!("{threshold} flits"));
    let data = lhrp.set("run.warmup", "10 us").run().data;
    let flit_bytes = 100 / 8;
    let ports = 2 + 3 + 2;
    let most = (threshold + (ports + 1) * FLITS) as u64 * 13;
    assert!(peak(&data) <= most, "{} {most}", peak(&data));
    assert!(
        peak(&data) > threshold as u64 * flit_bytes,
        "{}",
        peak(&data)
    );
    assert!(count(&data, "dropped_last_hop") > 100);
    // And the endpoint's link is full.
    let accepted = data.jobs[0].totals.accepted_load;
    assert!(accepted > 0.99, "{accepted}");
    assert!(peak(&hot("none").run().data) > 2 * most);
}

/// A throttled source sends at the rate of its delivery, and the endpoint takes 1/N of its link
/// from each.
#[test]
fn codes_cc_throttles_to_the_rate_of_delivery() {
    let sources = 4u64;
    let experiment = recorded(sources as i64, "codes_cc")
        .set("congestion.period", "5 us")
        .until("400 us");
    let data = experiment.run().data;
    let throttled: Vec<f64> = rates(&data, 200 * US)
        .into_iter()
        .filter(|&rate| rate < 1.0)
        .collect();
    assert!(throttled.len() > 100, "{}", throttled.len());
    let mean = throttled.iter().sum::<f64>() / throttled.len() as f64;
    let fair = 1.0 / sources as f64;
    assert!((mean / fair - 1.0).abs() < 0.1, "{mean}");
    // No less than 1/(N + 1), for any delivery.
    let least = throttled.iter().fold(1.0, |a: f64, &b| a.min(b));
    assert!(least >= 1.0 / (sources + 1) as f64 - 1e-9, "{least}");
}

/// Each of N sources may send 1/N of the link, once its pause is over.
#[test]
fn sst_cm_shares_the_link_evenly() {
    let sources = 8u64;
    let experiment = recorded(sources as i64, "sst_cm")
        .set("congestion.threshold", "480 flits")
        .set("congestion.smallest", "4 flits")
        .until("200 us");
    let data = experiment.run().data;
    let limited: Vec<f64> = rates(&data, 50 * US)
        .into_iter()
        .filter(|&rate| rate > 0.0 && rate < 1.0)
        .collect();
    assert!(limited.len() > 100, "{}", limited.len());
    let even = limited
        .iter()
        .filter(|&&rate| (rate - 1.0 / sources as f64).abs() < 1e-9)
        .count();
    assert!(even * 10 > limited.len() * 9, "{even} of {}", limited.len());
}

/// Under SST's own preset N sources may send 1/(N + 2) of the link each, so that 2/(N + 2) of it
/// are free.
#[test]
fn sst_cm_with_ssts_preset_leaves_two_shares_free() {
    let sources = 8i64;
    let experiment = recorded(sources, "sst_cm")
        .set("congestion.preset", "sst")
        .set("congestion.threshold", "480 flits")
        .set("congestion.smallest", "4 flits")
        .set("run.warmup", "100 us")
        .until("200 us");
    let data = experiment.run().data;
    let settled = rates(&data, 100 * US);
    assert!(settled.len() > 100, "{}", settled.len());
    let share = 1.0 / (sources + 2) as f64;
    assert!(settled.iter().all(|&rate| (rate - share).abs() < 1e-9));
    let taken = data.jobs[0].totals.accepted_load;
    assert!(
        (taken / (sources as f64 * share) - 1.0).abs() < 0.01,
        "{taken}"
    );
}
