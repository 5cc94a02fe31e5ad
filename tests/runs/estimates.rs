//! Estimates of `weir check` and `weir sweep plan` are near the actual cost of a run, and take
//! little time themselves.

use std::process::Command;
use std::time::Duration;

use crate::support::{Cli, Experiment};
use weir::engine::Local;
use weir::fabric::{Fabric, Parts};
use weir::forecast::{Amount, Basis, Forecast, Scaling, Work, Workers};
use weir::simulation::{Plan, trial};

/// Bytes of the state of all domains, built.
fn built(plan: &Plan) -> u64 {
    let (blueprint, scheme) = (&plan.blueprint, plan.scheme.as_ref());
    let mut fabric = Fabric::new(blueprint, scheme, &Local, 2);
    let parts = fabric.parts();
    parts.iter().map(|part| part.memory_bytes().0 as u64).sum()
}

#[test]
fn the_state_of_a_network_is_known_without_building_it() {
    let dragonfly = || Experiment::dragonfly(4, 8, 4).uniform(0.4);
    let networks = [
        dragonfly(),
        dragonfly().groups(9).routing("par"),
        dragonfly()
            .set("queueing.scheme", "single")
            .routing("valiant"),
        dragonfly().set("congestion.scheme", "lhrp"),
        dragonfly().set("congestion.scheme", "codes_cc"),
        dragonfly().set("congestion.scheme", "sst_cm"),
        Experiment::tree(8, 3).hotspot(100, 4, 0.1),
        Experiment::clos(16, 2).routing("adaptive_up").uniform(1.0),
    ];
    for network in networks {
        let plan = network.plan();
        let built = built(&plan) as f64;
        let ratio = plan.expected_state() as f64 / built;
        assert!((0.8..1.25).contains(&ratio), "{ratio}: {network:?}");
    }
}

/// A million endpoints and twenty million ports of routers, which take gigabytes, are counted and
/// not built.
#[test]
fn a_large_network_is_checked_in_little_memory() {
    let large = Experiment::tree(2, 20).uniform(0.1);
    let cli = Cli::check(&large.text());
    let shell = ["-c", "ulimit -v 400000; exec \"$0\" \"$@\""];
    let mut command = Command::new("sh");
    command
        .args(shell)
        .arg(env!("CARGO_BIN_EXE_weir"))
        .args(["check", "experiment.toml"]) // and so large a network is not begun
        .current_dir(cli.folder());
    let output = command.output().expect("a shell");
    let ran = cli.ran(output);
    assert_eq!(ran.code, Some(0), "{}", ran.stderr);
    assert!(
        ran.stdout.contains("# endpoints  1048576"),
        "{}",
        ran.stdout
    );
}

fn work(experiment: &Experiment) -> Work {
    Work::of(&experiment.checked(), &experiment.plan(), 1_000_000)
}

/// Forecast from the beginning of a run, up to `packet_hops` packet-hops.
pub(super) fn after(experiment: &Experiment, packet_hops: u64) -> Forecast {
    let plan = experiment.plan();
    // A sample after every window, regardless of the clock.
    let begun = trial(&plan, Duration::ZERO, &mut |sample| {
        sample.packet_hops >= packet_hops
    });
    Forecast::of(&work(experiment), &begun.expect("it begins"))
}

/// Messages of four flits, each with a reservation and a grant, more than the links carry of them.
fn srp_of_small_messages(until: &str) -> Experiment {
    let tree = Experiment::tree(8, 2).set("congestion.scheme", "srp");
    tree.uniform(0.9).message("4 flits").until(until)
}

fn near(what: &str, expected: f64, counted: f64, factor: f64, experiment: &Experiment) {
    let ratio = expected / counted;
    assert!(
        (1.0 / factor..factor).contains(&ratio),
        "{what}: {expected:.4e} expected, {counted:.4e} counted: {experiment:?}"
    );
}

#[test]
fn packet_hops_of_traffic_on_shortest_ways_are_known_from_the_file() {
    let experiments = [
        Experiment::dragonfly(4, 8, 4).uniform(0.3).until("5 us"),
        Experiment::tree(8, 3).uniform(0.5).until("5 us"),
        // Two that receive take no more than their links carry.
        Experiment::tree(8, 2).hotspot(40, 2, 0.5).until("50 us"),
        // With five flits one acknowledges; with seven one asks, one grants and one acknowledges.
        Experiment::tree(8, 2)
            .set("nic.acknowledge", true)
            .uniform(0.95)
            .message("4 flits")
            .until("10 us"),
        srp_of_small_messages("10 us"),
    ];
    for experiment in experiments {
        let counted = experiment.run().data.summary.packet_hops as f64;
        near(
            "hops",
            work(&experiment).packet_hops(),
            counted,
            1.25,
            &experiment,
        );
    }
}

/// Applications short enough to be run: each kind of motif.
fn applications() -> Vec<Experiment> {
    let tree = || Experiment::tree(8, 2);
    vec![
        tree().job("allreduce", 32).with("motif.iterations", 5),
        tree().job("alltoall", 16).with("motif.iterations", 2),
        tree().job("fft3d", 16).with("motif.iterations", 1),
        tree().job("fixed_pairs", 8).with("motif.bytes", "30 kB"),
        tree().job("halo2d", 16).with("motif.iterations", 3),
        tree().job("halo3d", 27).with("motif.iterations", 3),
        tree().job("halo3d26", 27).with("motif.iterations", 2),
        tree()
            .job("incast", 20)
            .with("motif.bytes", "20 kB")
            .with("motif.iterations", 3),
        tree().job("ping_pong", 2),
        tree().job("spread", 12).with("motif.iterations", 2),
        tree().applications(),
        tree().applications().set("nic.acknowledge", true),
    ]
}

#[test]
fn what_applications_send_is_counted_from_their_programs() {
    for experiment in applications() {
        let work = work(&experiment);
        let run = experiment.run();
        let summary = &run.data.summary;
        let (mut all, mut last) = (0.0, 0.0_f64);
        for flow in &work.flows {
            let Amount::Closed { bits, least } = flow.amount else {
                panic!("an application: {experiment:?}");
            };
            all += bits;
            last = last.max(flow.start + least);
        }
        let counted = 8.0 * summary.bytes_delivered as f64;
        near("bits", all, counted, 1.02, &experiment);
        let counted = summary.packet_hops as f64;
        near("hops", work.packet_hops(), counted, 1.05, &experiment);
        let took = summary.simulated_ps as f64;
        assert!(last <= 2.0 * took, "{last} of {took}: {experiment:?}");
    }
}

/// For a job that is too large to be examined completely, some tasks and parts stand for all.
#[test]
fn some_of_a_large_program_stands_for_all_of_it() {
    for experiment in applications() {
        let (checked, plan) = (experiment.checked(), experiment.plan());
        let [all, some] =
            [1_000_000, 8_000].map(|effort| Work::of(&checked, &plan, effort).packet_hops());
        near("hops", some, all, 1.5, &experiment);
    }
}

/// If packets take detours, wait and are sent again, the beginning of the run shows the extent.
/// A hot spot in small buffers is harder to forecast: sooner or later they are full.
#[test]
fn the_beginning_of_a_run_tells_the_rest() {
    let dragonfly = || Experiment::dragonfly(2, 4, 2);
    let hot = |scheme: &str| {
        let hot = dragonfly().routing("par").hotspot(16, 4, 0.5);
        hot.set("congestion.scheme", scheme).until("50 us")
    };
    let experiments = [
        (dragonfly().routing("valiant").uniform(0.3), 2.0),
        (dragonfly().routing("par").uniform(0.9), 2.0),
        (dragonfly().applications(), 2.0),
        // Every message leaves its reservation, its grant and its place at the source.
        (
            dragonfly().set("congestion.scheme", "srp").uniform(0.9),
            2.0,
        ),
        // The same if ever more of them wait for their granted times.
        (srp_of_small_messages("12 us"), 2.0),
        (hot("none"), 3.0),
        (hot("ecn"), 3.0),
        (hot("lhrp"), 3.0),
    ];
    let mut wrong = Vec::new();
    for (experiment, factor) in experiments {
        let experiment = match experiment.text().contains("until") {
            true => experiment,
            false => experiment.until("30 us"),
        };
        let run = experiment.run();
        let summary = &run.data.summary;
        let forecast = after(&experiment, summary.packet_hops / 5);
        assert!(matches!(forecast.basis, Basis::Part(_)), "{forecast:?}");
        let held = (run.facts.memory_state + run.facts.memory_packets) as f64;
        let hops = forecast.packet_hops / summary.packet_hops as f64;
        // Counters are no part of the network.
        let counted = work(&experiment).counted();
        let bytes = (forecast.bytes - Forecast::PROGRAM - counted) / held;
        let good = |ratio: f64| (1.0 / factor..factor).contains(&ratio);
        if !good(hops) || !good(bytes) {
            wrong.push(format!(
                "hops {hops:.2}, bytes {bytes:.2} of those counted: {experiment:?}"
            ));
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

/// A job that computes for long and then sends much at once: the forecast from its beginning, for a
/// run that is cut off in the middle of the burst, and for the whole.
#[test]
fn a_run_that_ends_in_a_burst_is_told_from_before_it() {
    let job = || {
        Experiment::tree(8, 2)
            .job("halo3d26", 27)
            .with("motif.cells", vec![24, 24, 24])
            .with("motif.iterations", 2)
            .with("motif.compute", "30 us")
            .job("ping_pong", 2)
            .with("motif.iterations", 100)
    };
    for experiment in [job(), job().until("35 us")] {
        let run = experiment.run();
        let summary = &run.data.summary;
        // Before the halos begin to be exchanged.
        let forecast = after(&experiment, 400);
        assert!(matches!(forecast.basis, Basis::Part(_)), "{forecast:?}");
        let counted = summary.packet_hops as f64;
        near("hops", forecast.packet_hops, counted, 2.0, &experiment);
        let took = summary.simulated_ps as f64;
        near("time", forecast.end, took, 2.0, &experiment);
    }
}

/// The beginning of a run is examined until answers to the first packets have come, and the number
/// of messages under way no longer grows.
#[test]
fn long_links_and_messages_take_a_longer_look() {
    let network = |global: &str, message: &str| {
        let network = Experiment::dragonfly(2, 4, 2).latencies("5 ns", "20 ns", global);
        work(&network.uniform(0.3).message(message).until("50 us")).settles()
    };
    let (short, long) = (network("50 ns", "24 flits"), network("2 us", "24 flits"));
    // A message of 64 KiB takes 5.24 us.
    let message = network("50 ns", "64 KiB");
    assert!((10.48e6..11.5e6).contains(&message), "{message}");
    assert!((0.1e6..1e6).contains(&short), "{short}");
    assert!((2e6..10e6).contains(&long), "{long}");
    let cut = Experiment::tree(4, 2).uniform(0.2).until("50 ns");
    assert_eq!(work(&cut).settles(), 50e3);
}

/// Times after the start of a trace run in parallel: they are no computation that the next one
/// follows.
#[test]
fn a_trace_ends_when_its_last_message_does() {
    let folder = tempfile::tempdir().expect("a directory");
    let trace = folder.path().join("times.vef");
    let message = |at: u32| {
        let (from, to) = (at % 4, (at + 1) % 4);
        format!("{at} {from} {to} 100 0 {} -1\n", 50 * at)
    };
    let messages: String = (0..2_000).map(message).collect();
    let text = format!("VEF3 4 2000 1 0 0 0\nC0 0 1 2 3\n{messages}");
    std::fs::write(&trace, text).expect("written");
    let name = trace.to_str().expect("UTF-8");
    let text = Experiment::tree(4, 2).text()
        + &format!("[[workload]]\ntrace = {{ format = \"vef\", file = {name:?} }}\n");
    let replay = Experiment::of(text.parse().expect("TOML")).until("completion");
    let run = replay.run();
    let took = run.data.summary.simulated_ps as f64;
    near("time", work(&replay).least_end(), took, 1.1, &replay);
    let hops = run.data.summary.packet_hops;
    let forecast = after(&replay, hops / 5);
    assert!(matches!(forecast.basis, Basis::Part(_)), "{forecast:?}");
    near("time", forecast.end, took, 1.2, &replay);
}

/// Each job has histograms in each domain in which it has tasks, and they are in memory more than
/// once when the result is written.
#[test]
fn histograms_of_many_jobs_are_counted() {
    let mut many = Experiment::dragonfly(2, 4, 2).until("20 us");
    for _ in 0..12 {
        many = many.job("alltoall", 6).with("placement", "random");
    }
    let begun = trial(&many.plan(), Duration::ZERO, &mut |_| false).expect("it runs");
    let counted = begun.samples.last().map_or(0, |last| last.counts) as f64;
    let work = work(&many);
    near("bytes", work.records.counts, counted, 2.0, &many);
    let forecast = Forecast::assumed(&work, 1e6);
    let least = Forecast::PROGRAM + work.state as f64 + work.counted();
    assert!(forecast.bytes >= least, "{forecast:?}");
}

/// A trace is in memory once, however many jobs replay it.
#[test]
fn memory_of_traces_is_counted_once() {
    let folder = tempfile::tempdir().expect("a directory");
    let trace = folder.path().join("long.goal");
    let tasks = (0..4u32).map(|task| {
        let (to, from) = ((task + 1) % 4, (task + 3) % 4);
        let step = |at: u32| {
            format!(
                "s{at}: send 64b to {to}\nr{at}: recv 64b from {from}\nc{at}: calc 9\nc{at} requires r{at}\n"
            )
        };
        let steps: String = (0..5_000).map(step).collect();
        format!("rank {task} {{\n{steps}}}\n")
    });
    let text = format!("num_ranks 4\n{}", tasks.collect::<String>());
    std::fs::write(&trace, text).expect("written");
    let replay = |count: usize| {
        let name = trace.to_str().expect("UTF-8");
        let one = format!("[[workload]]\ntrace = {{ format = \"goal\", file = {name:?} }}\n");
        let text = Experiment::tree(4, 2).text() + &one.repeat(count);
        work(&Experiment::of(text.parse().expect("TOML")).until("completion"))
    };
    let (once, twice) = (replay(1), replay(2));
    // 60,000 operations of 24 bytes, the state that waits for them, and the memory of the check.
    assert!(
        (2_000_000..4_000_000).contains(&once.shared),
        "{}",
        once.shared
    );
    assert_eq!(twice.shared, once.shared);
    // State of a task for its operations, by job.
    assert!(once.state > 240_000 && twice.state > once.state + 240_000);
    let forecast = Forecast::assumed(&once, 1e6);
    let least = Forecast::PROGRAM + (once.shared + once.state) as f64;
    assert!(forecast.bytes >= least, "{forecast:?}");
}

#[test]
fn a_run_that_comes_to_its_end_is_known() {
    let short = Experiment::tree(4, 2).uniform(0.2).until("2 us");
    let forecast = after(&short, u64::MAX);
    assert_eq!(forecast.basis, Basis::Whole);
    let counted = short.run().data.summary.packet_hops as f64;
    assert_eq!(forecast.packet_hops, counted);
}

#[test]
fn check_says_what_a_run_will_take_and_by_what() {
    let short = Experiment::tree(4, 2).uniform(0.2).until("2 us").text();
    let begun = Cli::weir(&short, &["check", "experiment.toml"]).succeeds();
    assert!(
        begun.stdout.contains("run to its end for that"),
        "{}",
        begun.stdout
    );
    let not_begun = Cli::check(&short).succeeds();
    assert!(
        not_begun.stdout.contains("are assumed: it was not begun"),
        "{}",
        not_begun.stdout
    );
}

/// Traffic of each ready application is counted, from a part of the programs of large ones.
#[test]
fn every_ready_application_has_its_work_counted() {
    let mut looked = 0;
    for file in std::fs::read_dir("workloads").expect("the folder is there") {
        let path = file.expect("a file").path();
        let name = path
            .file_stem()
            .expect("a name")
            .to_string_lossy()
            .into_owned();
        let text = format!(
            "[topology]\nfile = \"dragonfly-8192\"\n[routing]\nalgorithm = \"minimal\"\n\
             [[workload]]\nname = \"job\"\nfile = \"{name}\"\n[run]\nuntil = \"completion\"\n"
        );
        let experiment = Experiment::of(text.parse().expect("TOML"));
        let work = work(&experiment);
        let Amount::Closed { bits, least } = work.flows[0].amount else {
            panic!("{name} is an application");
        };
        assert!(
            bits > 0.0 && least > 0.0 && work.packet_hops() > 0.0,
            "{name}: {work:?}"
        );
        assert!(bits.is_finite() && least.is_finite(), "{name}: {work:?}");
        looked += 1;
    }
    assert!(looked > 20, "{looked}");
}

/// Tasks remember every other one that they have met; an alltoall that starts all at once has that
/// many messages open.
#[test]
fn what_tasks_hold_of_each_other_is_counted() {
    const TASKS: f64 = 64.0;
    let alltoall = |algorithm: &str| {
        let job = Experiment::tree(8, 2)
            .job("alltoall", 64)
            .with("motif.bytes", "8 KiB");
        job.with("mpi.collectives.alltoall", algorithm)
            .until("completion")
    };
    let open = |algorithm: &str| work(&alltoall(algorithm)).flows[0].open;
    let (all, pairs) = (TASKS * (TASKS - 1.0), open("pairwise"));
    assert_eq!(
        (pairs.peers, pairs.sends, pairs.receives),
        (all, TASKS, TASKS)
    );
    let linear = open("linear");
    assert_eq!(
        (linear.peers, linear.sends, linear.receives),
        (all, all, all)
    );
    // A ring of rings knows its neighbours only, however often it goes round.
    let ring = Experiment::tree(8, 2)
        .job("halo2d", 64)
        .with("motif.iterations", 9);
    let halo = work(&ring.until("completion")).flows[0].open;
    assert!(
        halo.peers <= 4.0 * TASKS && halo.sends <= 4.0 * TASKS,
        "{halo:?}"
    );
}

/// The memory of processes in which all messages of an alltoall are open at once, or one after the
/// other.
#[test]
fn memory_of_an_alltoall_is_that_of_its_open_messages() {
    for (algorithm, tasks) in [("linear", 256), ("linear", 400), ("pairwise", 512)] {
        let job = Experiment::tree(8, 3)
            .job("alltoall", tasks)
            .with("motif.bytes", "8 KiB");
        let job = job
            .with("mpi.collectives.alltoall", algorithm)
            .until("30 us");
        let forecast = Forecast::assumed(&work(&job), 1e6);
        let ran = job.cli().succeeds();
        let run = weir::result::read(&ran.result()).expect("a result").run;
        let ratio = forecast.bytes / run.peak_memory_bytes as f64;
        let good = 0.6..1.7;
        assert!(
            good.contains(&ratio),
            "{algorithm} {tasks}: {ratio:.2} of what it took"
        );
    }
}

/// Nine even domains: the time is that of the rank with the most, shared by its threads, and each
/// window takes a little more. Signals that take no time are for one thread.
#[test]
fn time_on_ranks_and_threads_follows_the_domains() {
    let even = Experiment::dragonfly(2, 4, 2).uniform(0.5).until("20 us");
    let plan = even.plan();
    let begun = trial(&plan, Duration::ZERO, &mut |_| false).expect("runs");
    let alone = Forecast::of(&work(&even), &begun);
    // Domains of the same traffic, in windows of some length.
    let (windows, balance) = (begun.windows as f64, begun.balance);
    assert!((6.0..=9.0).contains(&balance), "{balance}");
    let on = |ranks, threads| {
        let workers = Workers { ranks, threads };
        Scaling::of(&plan, &alone, &begun, workers).expect("windows")
    };
    let share = |ranks, threads| on(ranks, threads).seconds / alone.seconds;
    assert!((share(1, 1) - 1.0).abs() < 1e-9);
    let meetings = windows * 3e-6 / alone.seconds;
    assert!((share(1, 3) - 1.0 / 3.0 - meetings).abs() < 1e-9);
    // Five domains of nine on one of two ranks, which exchange a message in each window.
    assert_eq!(on(2, 1).domains, 5);
    let messages = windows * 1.5e-6 + alone.packet_hops / 2.0 * 112.0 / 10e9;
    let expected = 5.0 / 9.0 + messages / alone.seconds;
    assert!((share(2, 1) - expected).abs() < 1e-9);
    // No more than a thread for each domain is of use.
    assert_eq!(on(1, 9).seconds, on(1, 1_000).seconds);
    let signals = even.set("congestion.scheme", "codes_cc").plan();
    let workers = Workers {
        ranks: 1,
        threads: 2,
    };
    assert_eq!(Scaling::of(&signals, &alone, &begun, workers), None);
}
