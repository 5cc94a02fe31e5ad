//! Optional records, offered and accepted loads, and workloads that occur several times or not at
//! all.

mod loads;
mod timeline;

use std::collections::BTreeSet;

use crate::support::{Experiment, run_on};
use weir::result::{Data, Job};

/// A dragonfly of 72 endpoints.
fn network() -> Experiment {
    Experiment::dragonfly(2, 4, 2).routing("par")
}

fn job<'a>(data: &'a Data, name: &str) -> &'a Job {
    let found = data.jobs.iter().find(|job| job.name == name);
    found.unwrap_or_else(|| panic!("no job {name}"))
}

#[test]
fn rates_have_a_row_for_each_time_and_endpoint() {
    let experiment = network()
        .uniform(0.1)
        .with("name", "u")
        .with("endpoints", vec![40, 3, 71, 12])
        .with("load", 0.3)
        .set("output.rates.interval", "700 ns")
        .set("output.rates.endpoints", vec![9])
        .set("output.rates.tasks.u", vec![2, 0])
        .until("2 us");
    let rates = experiment.run().data.rates.expect("rates");
    // At 0, 700 and 1400 ns; the next would be after the end.
    let times = [0, 700_000, 1_400_000];
    let expected: Vec<u64> = times.iter().flat_map(|&time| [time; 3]).collect();
    assert_eq!(rates.time_ps, expected);
    assert_eq!(rates.endpoint, [9, 71, 40].repeat(3));
    assert_eq!(rates.job, [u32::MAX, 0, 0].repeat(3));
    assert_eq!(rates.task, [u32::MAX, 2, 0].repeat(3));
    assert_eq!(rates.share, [1.0; 9], "nobody controls anything");
}

#[test]
fn rates_and_occupancy_are_sampled_side_by_side() {
    let experiment = network()
        .uniform(0.4)
        .set("output.rates.interval", "300 ns")
        .set("output.rates.endpoints", vec![0])
        .set("output.occupancy", "500 ns")
        .until("1500 ns");
    let data = experiment.run().data;
    let occupancy = data.occupancy.expect("occupancy");
    assert_eq!(occupancy.time_ps, [0, 500_000, 1_000_000]);
    assert!(
        occupancy.bytes[occupancy.routers..]
            .iter()
            .any(|&held| held > 0)
    );
    let rates = data.rates.expect("rates");
    assert_eq!(rates.time_ps, [0, 300_000, 600_000, 900_000, 1_200_000]);
    // The same contents as without the other record.
    let alone = experiment.set("output.rates.interval", "1 us").run().data;
    assert_eq!(alone.occupancy.expect("occupancy").bytes, occupancy.bytes);
}

/// At the end all data that has been injected and has not arrived is in routers, but for what is on
/// the links: at most 1,250 bytes on each of 36 global ones, and little on the others.
#[test]
fn occupancy_is_all_that_routers_hold() {
    for scheme in ["voq_sw", "single", "dbbm"] {
        let hot = Experiment::dragonfly(2, 4, 2)
            .routing("minimal")
            .hotspot(16, 4, 0.9);
        let data = hot
            .set("queueing.scheme", scheme)
            .set("router.input_buffer", "64 KiB")
            .set("nic.acknowledge", false)
            .set("output.occupancy", "10 us")
            .until("50001 ns")
            .run()
            .data;
        let summary = &data.summary;
        let packet = summary.bytes_delivered as f64 / summary.packets_delivered as f64;
        let inside = packet * (summary.packets_injected - summary.packets_delivered) as f64;
        let occupancy = data.occupancy.expect("occupancy");
        let last = occupancy
            .bytes
            .rchunks(occupancy.routers)
            .next()
            .expect("rows");
        let held = last.iter().sum::<u64>() as f64;
        assert!(inside > 1e6, "{scheme}: {inside}");
        assert!(
            (0.95..1.02).contains(&(held / inside)),
            "{scheme}: {held} of {inside}"
        );
    }
}

#[test]
fn iterations_follow_one_another() {
    let experiment = network()
        .job("halo3d26", 18)
        .with("name", "halo")
        .with("motif.cells", vec![6, 6, 6])
        .with("motif.iterations", 3)
        .with("motif.compute", "1 us")
        .with("start", "2 us")
        .set("output.iterations", true);
    let data = experiment.run().data;
    let (rows, halo) = (data.iterations.as_ref().expect("rows"), job(&data, "halo"));
    assert_eq!(
        (&rows.job[..], &rows.iteration[..]),
        (&[0; 3][..], &[0, 1, 2][..])
    );
    assert_eq!(
        (&rows.tasks[..], &rows.ended[..]),
        (&[18; 3][..], &[18; 3][..])
    );
    assert_eq!(
        (rows.begin_ps[0], rows.end_ps[2]),
        (2_000_000, halo.finish())
    );
    for (begin, end) in rows.begin_ps.iter().zip(&rows.end_ps) {
        assert!(end - begin > 1_000_000, "longer than it computes");
    }
    // The allreduce at the end of an iteration holds no task back for longer than it takes to
    // spread.
    assert!(rows.begin_ps[1] <= rows.end_ps[0] && rows.begin_ps[2] <= rows.end_ps[1]);
}

/// Eight tasks that other traffic brings out of step send seven flows each in every iteration, the
/// last of which ends it.
#[test]
fn flows_belong_to_the_iterations_of_their_tasks() {
    let jobs = Experiment::dragonfly(2, 4, 2)
        .routing("minimal")
        .job("alltoall", 8)
        .with("placement", "random")
        .with("motif.iterations", 4)
        .with("motif.bytes", "32 KiB")
        .traffic("uniform", 0.7)
        .message("8 KiB")
        .with("endpoints", "rest")
        .with("stop", "60 us");
    let recorded = jobs
        .set("output.flows", true)
        .set("output.iterations", true);
    let data = recorded.until("completion").run().data;
    let (phases, iterations) = (data.phases.expect("phases"), data.iterations.expect("rows"));
    let own: Vec<usize> = (0..phases.job.len())
        .filter(|&row| phases.job[row] == 0)
        .collect();
    let flows: Vec<_> = own.iter().map(|&row| phases.flows[row]).collect();
    assert_eq!(flows, [56; 4]);
    let ends: Vec<_> = own.iter().map(|&row| phases.end_ps[row]).collect();
    assert_eq!(ends, iterations.end_ps);
}

#[test]
fn tasks_with_nothing_to_do_are_not_in_an_iteration() {
    let experiment = network()
        .job("periodic_aggressor", 12)
        .with("name", "storm")
        .with("motif.senders", 4)
        .with("motif.iterations", 2)
        .with("motif.bytes", "20 kB")
        .with("repetitions", 2)
        .set("output.iterations", true);
    let rows = experiment.run().data.iterations.expect("rows");
    // A calm step, twice the incast, a calm step; and all of that again.
    assert_eq!(rows.tasks, [12, 5, 5, 12].repeat(2));
    assert_eq!(rows.iteration, (0..8).collect::<Vec<_>>());
    // The others have not ended the iterations that the tasks of the incast begin.
    assert!(rows.end_ps[1] < rows.end_ps[2] && rows.end_ps[2] < rows.end_ps[3]);
}

#[test]
fn an_iteration_that_is_cut_off_has_not_ended() {
    let experiment = network()
        .job("fixed_pairs", 4)
        .with("motif.iterations", 3)
        .with("motif.bytes", "100 kB")
        .set("output.iterations", true);
    let whole = experiment.run().data.iterations.expect("rows");
    let middle = (whole.begin_ps[1] + whole.end_ps[1]) / 2;
    let cut = experiment.until(&format!("{middle} ps")).run();
    let rows = cut.data.iterations.expect("rows");
    assert_eq!(
        (&rows.tasks[..], &rows.ended[..]),
        (&[4, 4][..], &[4, 0][..])
    );
    assert_eq!(rows.end_ps, [whole.end_ps[0], 0]);
}

#[test]
fn copies_have_endpoints_and_names_of_their_own() {
    let experiment = network()
        .job("allreduce", 10)
        .with("name", "sum")
        .with("motif.iterations", 1)
        .with("placement", "random")
        .with("copies", 3)
        .job("ping_pong", 2)
        .with("name", "ping");
    let data = experiment.run().data;
    let names: Vec<&str> = data.jobs.iter().map(|job| job.name.as_str()).collect();
    assert_eq!(names, ["sum-0", "sum-1", "sum-2", "ping"]);
    let places: BTreeSet<u32> = data
        .jobs
        .iter()
        .flat_map(|job| job.tasks.endpoint.clone())
        .collect();
    assert_eq!(places.len(), 32, "nobody shares an endpoint");
    // The resolved experiment, which names each copy, gives the same.
    let resolved = weir::config::Experiment::from_text(
        "again.toml",
        &experiment.checked().resolved,
        std::path::Path::new(""),
        &[],
        &weir::catalog::catalog(),
    );
    let again = resolved.unwrap_or_else(|error| panic!("{}", error.render(false)));
    assert_eq!(again.resolved, experiment.checked().resolved);
    assert_eq!(again.workloads.len(), 4);
}

#[test]
fn a_workload_that_is_not_enabled_keeps_its_endpoints_only() {
    let both = |enabled: bool| {
        network()
            .job("incast", 20)
            .with("name", "storm")
            .with("motif.bytes", "40 kB")
            .with("placement", "random")
            .with("enabled", enabled)
            .job("allreduce", 20)
            .with("name", "sum")
            .with("placement", "random")
            .uniform(0.05)
            .with("name", "noise")
            .with("endpoints", "rest")
            .with("stop", "3 us")
            .until("completion")
    };
    let (with, without) = (both(true).run().data, both(false).run().data);
    assert_eq!(without.jobs.len(), 2);
    for name in ["sum", "noise"] {
        let [with, without] = [&with, &without].map(|data| &job(data, name).tasks);
        assert_eq!(with.endpoint, without.endpoint);
    }
    // The remaining traffic is the same: the random numbers of a job do not depend on the others.
    let sent = |data: &Data| job(data, "noise").totals.bytes_delivered;
    assert_eq!(sent(&with), sent(&without));
    assert!(job(&without, "sum").communication() < job(&with, "sum").communication());
}

#[test]
fn whose_rates_is_checked() {
    let of = |key: &str, value: toml::Value| {
        network()
            .uniform(0.1)
            .with("name", "u")
            .with("endpoints", "0..10")
            .set("output.rates.interval", "1 us")
            .set(key, value)
    };
    for (experiment, says) in [
        (
            of("output.rates.endpoints", vec![3, 72].into()),
            "output.rates.endpoints.1: endpoint 72 is beyond the network, which has 72",
        ),
        (
            of("output.rates.tasks.u", vec![9, 10].into()),
            "output.rates.tasks.u.1: \"u\" has 10 tasks, and 10 is none of them",
        ),
        (
            of("output.received", vec![3, 72].into()).set("output.rates.endpoints", vec![3]),
            "output.received.1: endpoint 72 is beyond the network, which has 72",
        ),
    ] {
        let ran = experiment.cli().go();
        let words: Vec<&str> = ran.stderr.split_whitespace().collect();
        assert_eq!(ran.code, Some(2), "{}", ran.stderr);
        assert!(words.join(" ").contains(says), "{}", ran.stderr);
    }
}

/// An incast of 9 tasks that begins at `start`, with bins of 10 µs.
fn late_incast(start: &str) -> Experiment {
    network()
        .job("incast", 9)
        .with("name", "late")
        .with("motif.bytes", "20 kB")
        .with("motif.iterations", 3)
        .with("start", start)
        .set("output.bin", "10 us")
}

#[test]
fn bins_double_until_there_are_about_a_million_at_most() {
    let [early, late] = ["0 s", "100 s"].map(|start| late_incast(start).run().data.series);
    assert_eq!(early.bin_ps, 10_000_000);
    // 10⁷ bins of 10 µs are 625,000 of 160 µs; 1,250,000 of 80 µs are more than 1,048,576.
    assert_eq!(late.bin_ps, 160_000_000);
    assert_eq!(late.bins, 625_001);
    assert_eq!(late.jobs[0].1.messages.len(), late.bins);
    let sums = |series: &weir::result::Series| {
        let job = &series.jobs[0];
        let columns = [&job.1.messages, &job.1.injected_bytes, &job.1.packets];
        let flits = &series.ejected_flits[0].1;
        [columns[0], columns[1], columns[2], flits].map(|column| column.iter().sum::<u64>())
    };
    assert_eq!(sums(&late), sums(&early));
    // Requests, answers and contents of 3 messages from each of 8 senders.
    assert_eq!(sums(&late)[0], 3 * 3 * 8);
    let messages = &late.jobs[0].1.messages;
    assert_eq!(messages[625_000], 3 * 3 * 8, "all at the end");
}

/// Two domains of two routers each.
fn small_tree() -> Experiment {
    Experiment::tree(2, 2)
}

#[test]
fn a_run_that_ends_at_a_time_has_no_more_bins() {
    // 3 · 10⁹ bins are asked for.
    let experiment = small_tree()
        .traffic("fixed_pairs", 1e-9)
        .with("endpoints", vec![0, 3])
        .with("injection", "periodic")
        .set("output.bin", "1 ns")
        .set("output.occupancy", "2 ns")
        .until("3 s");
    let data = experiment.run().data;
    let series = &data.series;
    // 3 · 10⁹ / 2¹² are 732,422.
    assert_eq!((series.bin_ps, series.bins), (4_096_000, 732_422));
    // A message of 400 bits for every 4 s of each link, from a random time on.
    let injected: u64 = series.jobs[0].1.injected_bytes.iter().sum();
    assert!(injected == 50 || injected == 100, "{injected}");
    let times = data.occupancy.expect("occupancy").time_ps;
    assert_eq!(times.len(), 732_422);
    assert!((0..).zip(&times).all(|(at, &time)| time == at * 4_096_000));
}

#[test]
fn samples_double_their_interval() {
    let job = |start: &str| {
        small_tree()
            .job("incast", 4)
            .with("motif.bytes", "20 kB")
            .with("motif.iterations", 3)
            .with("start", start)
            .set("output.occupancy", "100 ns")
            .set("output.rates.interval", "100 ns")
            .set("output.rates.endpoints", vec![0, 3])
    };
    // 3 · 10⁷ samples at 100 ns are 937,500 at 3.2 µs.
    let data = job("3 s").run().data;
    let (occupancy, rates) = (data.occupancy.expect("rows"), data.rates.expect("rows"));
    assert_eq!(occupancy.time_ps[..3], [0, 3_200_000, 6_400_000]);
    assert!((937_500..937_510).contains(&occupancy.time_ps.len()));
    let held = occupancy.bytes.chunks(occupancy.routers);
    let held: Vec<u64> = held.map(|row| row.iter().sum()).collect();
    assert!(held[..937_500].iter().all(|&bytes| bytes == 0));
    assert_eq!(rates.time_ps.len(), 2 * occupancy.time_ps.len());
    assert_eq!(rates.endpoint[..4], [0, 3, 0, 3]);
    // The contents are the same as at the same times after an early start.
    let early = job("0 s").run().data.occupancy.expect("rows").bytes;
    let early = early.chunks(occupancy.routers).step_by(32);
    let early: Vec<u64> = early.map(|row| row.iter().sum()).collect();
    assert_eq!(held[937_500..], early);
    assert!(early.iter().any(|&bytes| bytes > 0));
}

/// Payload that endpoints receive adds up to what their job delivers, bin by bin, and is recorded
/// for the named endpoints.
#[test]
fn what_endpoints_receive_is_what_is_delivered() {
    let run = |received: toml::Value| {
        let experiment = Experiment::dragonfly(2, 4, 2).uniform(0.3).until("5 us");
        let experiment = experiment.set("output.bin", "500 ns");
        experiment
            .set("output.received", received)
            .run()
            .data
            .series
    };
    let all = run("all".into());
    assert_eq!(all.received.len(), 72);
    for bin in 0..all.bins {
        let sum: u64 = all.received.iter().map(|(_, bytes)| bytes[bin]).sum();
        assert_eq!(sum, all.jobs[0].1.delivered_bytes[bin]);
    }
    let some = run(vec![71, 3, 71].into());
    let chosen = [all.received[3].clone(), all.received[71].clone()];
    assert_eq!(some.received, chosen);
}

/// Everyone sends to four endpoints, more than they can take.
fn hot(scheme: &str) -> Experiment {
    network()
        .uniform(0.6)
        .with(
            "pattern",
            toml::toml! { kind = "hotspot"
            destinations = 4 },
        )
        .set("nic.acknowledge", true)
        .set("congestion.scheme", scheme)
        .until("5 us")
}

#[test]
fn a_scheme_writes_down_what_it_grants_where_it_is_asked_to() {
    for (scheme, place) in [("srp", "endpoint"), ("lhrp", "router")] {
        let data = hot(scheme).set("output.scheme", vec!["grants"]).run().data;
        let [grants] = data.scheme.records.as_slice() else {
            panic!("{scheme}: {:?}", data.scheme.records);
        };
        let column = |name: &str| {
            let found = grants.columns.iter().find(|column| column.name == name);
            &found
                .unwrap_or_else(|| panic!("{scheme}: no {name}"))
                .values
        };
        let (time, at, wait) = (column("time_ps"), column("granted_ps"), column("wait_ps"));
        assert!(
            time.is_sorted() && time.len() > 50,
            "{scheme}: {}",
            time.len()
        );
        assert!(
            time.iter()
                .zip(at)
                .zip(wait)
                .all(|((time, at), wait)| time + wait == *at)
        );
        // No time is given twice by the same schedule.
        let hot: BTreeSet<u64> = column(place).iter().copied().collect();
        assert!(hot.len() <= 4, "{scheme}: {hot:?}");
        if scheme == "srp" {
            let mut given = BTreeSet::new();
            assert!(column(place).iter().zip(at).all(|pair| given.insert(pair)));
            let counter = data
                .scheme
                .counters
                .iter()
                .find(|(name, _)| name == "packets_grant");
            // All grants except the last ones have left by the end.
            let sent = counter.expect("grants are counted").1;
            let noted = time.len() as u64;
            assert!(sent <= noted && noted < sent + 8, "{sent} of {noted}");
        }
        assert!(hot_without(scheme), "{scheme}: nobody asked");
    }
}

fn hot_without(scheme: &str) -> bool {
    hot(scheme).run().data.scheme.records.is_empty()
}

#[test]
fn records_of_a_scheme_do_not_depend_on_ranks() {
    let experiment = hot("srp").set("output.scheme", vec!["grants"]);
    let alone = experiment.run().data;
    for ranks in [2, 3] {
        let many = run_on(ranks, &experiment.plan()).expect("runs");
        assert_eq!(many, alone);
    }
}
