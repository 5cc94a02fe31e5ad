//! Offered and accepted loads are those of the time in which a job is on.

use super::{job, network};
use crate::support::Experiment;
use weir::result::Data;

/// Two endpoints of one router each: the first sends a message of 20.48 ns to the second every
/// 40.96 ns, half of its link.
fn pair(experiment: Experiment, name: &str, first: i64) -> Experiment {
    experiment
        .traffic("fixed_pairs", 0.5)
        .with("name", name)
        .with("endpoints", vec![first, first + 1])
        .with("injection", "periodic")
}

/// The measurement window of [`jobs_that_start_and_stop`], ps: 200 periods.
const WINDOW: (u64, u64) = (8_192_000, 16_384_000);

fn jobs_that_start_and_stop() -> Experiment {
    some_jobs("24576 ns").set("run.measure", "8192 ns")
}

/// The same until a time, measured until then.
fn some_jobs(until: &str) -> Experiment {
    let network = Experiment::dragonfly(12, 1, 1)
        .set("router.flit", "64 B")
        .set("nic.max_packet", "4 flits")
        .set("run.warmup", "8192 ns")
        .until(until);
    let network = pair(network, "whole", 0);
    let network = pair(network, "before", 2).with("stop", "4096 ns");
    let network = pair(network, "leaves", 4).with("stop", "12288 ns");
    let network = pair(network, "comes", 6).with("start", "12288 ns");
    pair(network, "within", 8)
        .with("start", "10240 ns")
        .with("stop", "14336 ns")
}

/// Bits that came in at endpoints from `from` to `to`, by the log of packets: each comes in for
/// 20.48 ns, 100 bits in a ns.
fn came_in(data: &Data, job: Option<u32>, (from, to): (u64, u64)) -> f64 {
    let packets = data.packets.as_ref().expect("a log of packets");
    let of_job = packets.job.iter().zip(&packets.delivered_ps);
    let tails = of_job.filter(|(one, _)| job.is_none_or(|job| job == **one));
    let times = tails.map(|(_, &tail)| tail.min(to).saturating_sub(from.max(tail - 20_480)));
    times.sum::<u64>() as f64 * 0.1
}

#[test]
fn loads_are_those_of_the_time_in_which_a_job_is_on() {
    let experiment = pair(jobs_that_start_and_stop(), "after", 10).with("start", "20480 ns");
    let data = experiment.set("output.packets", true).run().data;
    // Half of the window, and where in it; a whole number of periods holds as many messages
    // wherever it begins.
    let on = [
        ("whole", WINDOW),
        ("leaves", (8_192_000, 12_288_000)),
        ("comes", (12_288_000, 16_384_000)),
        ("within", (10_240_000, 14_336_000)),
    ];
    for (name, (from, to)) in on {
        let job = &job(&data, name).totals;
        assert_eq!((job.senders, job.receivers), (1, 1), "{name}");
        assert_eq!((job.on_from_ps, job.on_to_ps), (from, to), "{name}");
        assert_eq!(job.offered_load, 0.5, "{name}");
        let index = data.jobs.iter().position(|one| one.name == name).unwrap() as u32;
        let accepted = came_in(&data, Some(index), (from, to)) / ((to - from) as f64 * 0.1);
        // Less than a bit is lost at each edge.
        assert!(
            (job.accepted_load - accepted).abs() < 1e-5,
            "{name} {accepted}"
        );
        // Messages under way at the end are missing if the job began in the window: one latency of
        // the 4.096 us.
        let expected = if from == WINDOW.0 {
            0.499_99..0.500_01
        } else {
            0.45..0.499
        };
        assert!(expected.contains(&accepted), "{name} {accepted}");
    }
    for name in ["before", "after"] {
        let job = &job(&data, name).totals;
        assert!(job.on_to_ps <= job.on_from_ps, "{name}");
        let loads = [job.offered_load, job.accepted_load];
        assert!(loads.iter().all(|load| load.is_nan()), "{name}");
    }
    let summary = &data.summary;
    assert_eq!(summary.endpoints, 24);
    assert_eq!(summary.endpoint_bandwidth, 100_000_000_000);
    // One job for all of the window, three for half of it.
    assert_eq!(summary.offered_load, 0.5 * 2.5 / 24.0);
    let accepted = came_in(&data, None, WINDOW) / (24.0 * 819_200.0);
    let error = (summary.accepted_load - accepted).abs();
    assert!(error < 1e-6, "{accepted}");
}

#[test]
fn loads_do_not_depend_on_what_comes_after_the_window_or_is_logged() {
    let loads = |experiment: Experiment| {
        let data = experiment.run().data;
        let jobs = data.jobs.iter().map(|job| &job.totals);
        let jobs = jobs.map(|job| (job.offered_load, job.accepted_load));
        let jobs: Vec<_> = jobs.collect();
        let summary = &data.summary;
        format!(
            "{jobs:?} {} {}",
            summary.offered_load, summary.accepted_load
        )
    };
    let whole = loads(jobs_that_start_and_stop());
    let logged = jobs_that_start_and_stop().set("output.messages", true);
    assert_eq!(whole, loads(logged));
    // For packets that are coming in when the run ends, the part that has come counts.
    assert_eq!(whole, loads(some_jobs("16384 ns")));
}

#[test]
fn a_link_that_is_never_idle_accepts_all_of_its_bandwidth_and_no_more() {
    // Windows that begin and end inside packets of 20.48 ns.
    for (warmup, measure) in [
        ("10 us", "100 ns"),
        ("10007 ns", "333 ns"),
        ("10011 ns", "1 us"),
    ] {
        let data = Experiment::dragonfly(6, 1, 1)
            .set("router.flit", "64 B")
            .set("nic.max_packet", "4 flits")
            .set("run.warmup", warmup)
            .set("run.measure", measure)
            .traffic("hotspot", 1.0)
            .with("endpoints", "0..5")
            .with("pattern.source_list", vec![1, 2, 3, 4])
            .with("pattern.destination_list", vec![0])
            .until("20 us")
            .run()
            .data;
        let job = &data.jobs[0];
        assert_eq!((job.totals.senders, job.totals.receivers), (4, 1));
        // A bit may be lost to rounding at each edge, of at least 10,000.
        let accepted = job.totals.accepted_load;
        assert!((0.9998..=1.0).contains(&accepted), "{measure}: {accepted}");
        let (_, share) = &data.scheme.shares[0];
        assert!((share * 12.0 - 1.0).abs() < 2e-4, "{measure}: {share}");
    }
}

#[test]
fn an_application_is_on_until_its_last_task_is_done() {
    let data = network()
        .job("ping_pong", 2)
        .with("start", "2 us")
        .with("motif.iterations", 3)
        .until("40 us")
        .run()
        .data;
    let job = &data.jobs[0];
    assert!(job.finish() < 39_000_000, "{}", job.finish());
    let totals = &job.totals;
    assert_eq!(
        (totals.on_from_ps, totals.on_to_ps),
        (2_000_000, job.finish())
    );
    // Two links of 100 Gbps, 0.1 bits in a ps each.
    let capacity = 2.0 * 0.1 * (job.finish() - 2_000_000) as f64;
    let load = 8.0 * job.totals.bytes_delivered as f64 / capacity;
    assert!(
        load > 0.0 && (job.totals.offered_load / load - 1.0).abs() < 1e-12,
        "{load}"
    );
    assert_eq!(job.totals.offered_load, job.totals.accepted_load);
}
