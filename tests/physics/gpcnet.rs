//! GPCNeT: its tests take the same time as alone if nothing is shared, and longer otherwise; its
//! congestors run as long as a test does. The measure of a test is the duration of iterations over
//! its tasks.

use weir::result::{Data, Latency};

use crate::support::{Experiment, run_on};

const CONGESTORS: [&str; 4] = [
    "gpcnet_alltoall",
    "gpcnet_incast",
    "gpcnet_put_incast",
    "gpcnet_get_broadcast",
];

/// A test on a fifth of the endpoints of a network of `endpoints`, which begins after 5 us, and the
/// congestors on the others, in equal parts.
fn gpcnet(network: Experiment, endpoints: i64, test: &str, congested: bool) -> Experiment {
    let part = endpoints / 5;
    let run = network
        .set("nic.max_packet", "24 flits")
        .set("output.iterations", true)
        .until("completion")
        .job(test, part)
        .with("name", "test")
        .with("placement", "random")
        .with("start", "5 us");
    let run = match test {
        "gpcnet_allreduce" => run,
        "gpcnet_bw_sync" => run
            .with("motif.rings", 2)
            .with("motif.iterations", 1)
            .with("motif.bytes", "4 KiB"),
        _ => run.with("motif.rings", 2),
    };
    CONGESTORS.iter().fold(run, |run, congestor| {
        run.job(congestor, part)
            .with("name", *congestor)
            .with("placement", "random")
            .with("repetitions", 1_000)
            .with("background", true)
            .with("enabled", congested)
    })
}

/// Durations of the test's iterations over its tasks.
fn times(data: &Data) -> &Latency {
    let class = data.latency.iter();
    let mut class = class.filter(|(name, _)| name == "job.test.iteration");
    &class.next().expect("iterations are recorded").1
}

/// The impact of congestion: of the mean and of the 99th percentile.
fn impact(network: impl Fn() -> Experiment, endpoints: i64, test: &str) -> [f64; 2] {
    let of = |congested| gpcnet(network(), endpoints, test, congested).run().data;
    let (alone, beside) = (of(false), of(true));
    let (alone, beside) = (&times(&alone).arrived, &times(&beside).arrived);
    assert_eq!(alone.samples(), beside.samples());
    [
        beside.mean() / alone.mean(),
        beside.quantile(0.99) / alone.quantile(0.99),
    ]
}

/// The negative control: on one crossbar nothing is shared but the switch, and the impact is 1
/// under every scheme.
#[test]
fn on_one_crossbar_congestors_have_no_impact() {
    for scheme in ["none", "ecn", "lhrp"] {
        for test in ["gpcnet_ring", "gpcnet_bw_sync", "gpcnet_allreduce"] {
            let network = || Experiment::tree(30, 1).set("congestion.scheme", scheme);
            assert_eq!(
                impact(network, 30, test),
                [1.0, 1.0],
                "{test} under {scheme}"
            );
        }
    }
}

/// The impact is larger if buffers on the way to the congestors' targets are shared.
#[test]
fn in_a_tree_congestors_have_an_impact() {
    let network = || Experiment::tree(4, 3).set("router.input_buffer", "4 packets");
    let [mean, p99] = impact(network, 60, "gpcnet_ring");
    assert!(mean > 1.2 && p99 > 2.0, "{mean} {p99}");
}

#[test]
fn a_run_ends_with_the_test_and_has_the_same_bits_on_several_ranks() {
    let run = gpcnet(Experiment::tree(4, 3), 60, "gpcnet_allreduce", true);
    let data = run_on(1, &run.plan()).expect("runs");
    let job = |name: &str| data.jobs.iter().find(|job| job.name == name).expect(name);
    assert_eq!(times(&data).arrived.samples(), 12 * 20);
    // To the end of the window in which the last task is done.
    let end = data.summary.simulated_ps;
    assert!(end - job("test").finish() < 1_000_000, "{end}");
    for congestor in CONGESTORS {
        assert_eq!(job(congestor).finish(), end, "{congestor} goes on");
    }
    assert_eq!(data, run_on(3, &run.plan()).expect("runs"));
}

#[test]
fn a_run_that_would_wait_for_nothing_is_refused() {
    let lone = Experiment::tree(4, 2)
        .until("completion")
        .job("gpcnet_incast", 16)
        .with("background", true);
    let Err(error) = lone.try_plan() else {
        panic!("it should be refused");
    };
    let words = error.render(false);
    assert!(
        words.contains("all applications are in the background"),
        "{words}"
    );
    assert!(lone.until("5 us").try_plan().is_ok());
}

/// A run to completion ends at its limit, and unfinished messages and jobs are missing; a run that
/// is done before is the same as without a limit.
#[test]
fn a_run_to_completion_may_have_a_limit() {
    let run = |congested| gpcnet(Experiment::tree(4, 3), 60, "gpcnet_allreduce", congested);
    let cut = run(false).set("run.at_most", "8 us").run().data;
    assert_eq!(cut.summary.simulated_ps, 8_000_000);
    assert_eq!(times(&cut).missing.samples(), 12);
    let limited = run(true).set("run.at_most", "10 ms").run().data;
    assert_eq!(limited, run(true).run().data);
    let time = Experiment::tree(4, 2).uniform(0.1).until("5 us");
    assert!(time.set("run.at_most", "4 us").try_plan().is_err());
}

/// The iterations of a task fill the time from its start to its finish.
#[test]
fn iterations_add_up_to_the_time_of_a_job() {
    let data = Experiment::tree(4, 2)
        .set("output.iterations", true)
        .until("completion")
        .job("allreduce", 12)
        .with("name", "test")
        .with("motif.iterations", 7)
        .with("motif.compute", "1 us")
        .run()
        .data;
    let Latency { arrived, missing } = times(&data);
    assert_eq!((arrived.samples(), missing.samples()), (12 * 7, 0));
    let finishes = &data.jobs[0].tasks.task_finish_ps;
    let all: u64 = finishes.iter().sum();
    assert!((arrived.mean() * 84.0 - all as f64).abs() < 1.0);
    assert!(arrived.mean() > 1e6, "a microsecond is computed in each");
}

/// An iteration that is not over at the end is missing, with its age.
#[test]
fn an_iteration_that_is_cut_off_is_missing() {
    let data = Experiment::tree(4, 2)
        .set("output.iterations", true)
        .job("allreduce", 12)
        .with("name", "test")
        .with("motif.compute", "1 us")
        .until("3500 ns")
        .run()
        .data;
    let Latency { arrived, missing } = times(&data);
    assert_eq!(missing.samples(), 12);
    assert!(arrived.samples() >= 12 && missing.max() < 1_500_000);
}
