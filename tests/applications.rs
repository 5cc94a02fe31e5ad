//! Applications on the network: exact times, several jobs at once, what ends a run, what is refused.
//!
//! The law of a message alone (see `physics_time.rs`): the links' latencies, 10 ns for each router, and the flits of the
//! message at 1 ns each. A flit is 100 bits.

mod support;

use std::sync::Arc;

use support::{Experiment, run_plan};
use weir::fabric::{Application, Drive, Traffic};
use weir::simulation::{Plan, RunError};
use weir::trace::Job;
use weir::workload::tasks::{Algorithms, Job as Tasks, Motif, MpiPreset, Script};

const NS: u64 = 1_000;

/// 9 groups of 4 routers with 2 endpoints; terminal links 5 ns, local 20 ns, global 100 ns. No acknowledgements, so that
/// nothing but messages is on the links.
fn network() -> Experiment {
    Experiment::dragonfly(2, 4, 2).set("nic.acknowledge", false)
}

fn job(experiment: &Experiment, number: usize) -> Job {
    experiment.run().data.jobs[number].clone()
}

/// Head latency between two endpoints of one router.
const SAME_ROUTER: u64 = (5 + 10 + 5) * NS;

#[test]
fn a_ping_pong_of_short_messages() {
    // 250 bytes are 20 flits; endpoints 0 and 1 share a router.
    let run = network()
        .job("ping_pong", 2)
        .with("motif.bytes", "250 B")
        .with("motif.iterations", 3);
    let once = SAME_ROUTER + 20 * NS;
    assert_eq!(job(&run, 0).task_finish_ps, [6 * once, 5 * once + 20 * NS]);
}

#[test]
fn a_ping_pong_across_the_network() {
    // The longest way: local, global and local link, four routers; packets of 24 flits follow each other without gaps.
    let run = network()
        .job("ping_pong", 2)
        .with("tasks", 2)
        .with("endpoints", vec![2, 10])
        .with("motif.bytes", "750 B");
    let once = (5 + 10 + 20 + 10 + 100 + 10 + 20 + 10 + 5 + 60) * NS;
    assert_eq!(job(&run, 0).task_finish_ps, [2 * once, once + 60 * NS]);
}

#[test]
fn a_ping_pong_of_long_messages_asks_first() {
    // Request and answer of 25 bytes are 2 flits, the message of 10,000 bytes is 800.
    let run = network()
        .job("ping_pong", 2)
        .with("motif.bytes", "10000 B")
        .with("mpi.control", "25 B");
    let control = SAME_ROUTER + 2 * NS;
    let once = 2 * control + SAME_ROUTER + 800 * NS;
    let job = job(&run, 0);
    // Task 1 is done when its message has left.
    assert_eq!(job.task_finish_ps, [2 * once, 2 * once - SAME_ROUTER]);
    assert_eq!((job.finish_ps, job.communication_ps), (2 * once, 2 * once));
}

#[test]
fn host_overheads_of_codes_on_the_network() {
    let run = network()
        .job("ping_pong", 2)
        .with("motif.bytes", "250 B")
        .with("mpi.preset", "codes")
        .with("mpi.receive_delay", "7 ns");
    let once = 3_510 * NS + 250 * 550 + SAME_ROUTER + 20 * NS + 7 * NS;
    assert_eq!(job(&run, 0).task_finish_ps[0], 2 * once);
}

#[test]
fn a_send_to_oneself_needs_no_network() {
    // On a grid of one, both neighbours of LAMMPS are the task itself.
    let run = network()
        .job("lammps", 1)
        .with("motif.steps", 12)
        .with("mpi.preset", "codes");
    let outcome = run.run();
    assert_eq!(outcome.data.summary.packets_injected, 0);
    assert!(outcome.data.jobs[0].finish_ps > 12 * 24 * 3_510 * NS);
    assert_eq!(
        outcome.data.summary.simulated_ps,
        outcome.data.jobs[0].finish_ps
    );
}

#[test]
fn computation_is_no_communication() {
    let run = |compute: &str| {
        let run = network()
            .job("allreduce", 9)
            .with("motif.iterations", 4)
            .with("motif.compute", compute)
            .with("start", "3 us");
        job(&run, 0)
    };
    let (idle, busy) = (run("0 ns"), run("10 us"));
    assert_eq!(busy.finish_ps, idle.finish_ps + 40_000 * NS);
    assert_eq!(busy.task_communication_ps, idle.task_communication_ps);
    assert_eq!(idle.start_ps, 3_000 * NS);
    assert_eq!(idle.communication_ps, idle.finish_ps - 3_000 * NS);
}

#[test]
fn a_program_is_repeated() {
    let run = |repetitions: i64, iterations: i64| {
        let run = network()
            .job("ping_pong", 2)
            .with("repetitions", repetitions)
            .with("motif.iterations", iterations);
        job(&run, 0).finish_ps
    };
    assert_eq!(run(3, 2), run(1, 6));
}

#[test]
fn fewer_tasks_than_endpoints_and_lists() {
    let run = network()
        .job("ping_pong", 2)
        .with("endpoints", vec![70, 3, 9])
        .run();
    assert_eq!(run.data.jobs[0].endpoint, [70, 3]);
}

/// Four applications and traffic, the first at random.
fn mixed() -> Experiment {
    Experiment::dragonfly(2, 4, 2)
        .routing("par")
        .job("halo3d26", 18)
        .with("name", "halo")
        .with("motif.cells", vec![6, 6, 6])
        .with("motif.iterations", 3)
        .with("motif.compute", "1 us")
        .with("placement", "random")
        .job("incast", 9)
        .with("name", "incast")
        .with("motif.bytes", "20 kB")
        .with("motif.iterations", 3)
        .with("start", "2 us")
        .with("placement", "random")
        .job("lammps", 12)
        .with("name", "md")
        .with("motif.steps", 1)
        .with("motif.mesh", vec![12, 16, 15])
        .with("motif.replicas", vec![1, 1, 1])
        .with("placement", "random_groups")
        .job("fixed_pairs", 8)
        .with("name", "pairs")
        .with("motif.bytes", "30 kB")
        .with("mpi.preset", "codes")
}

#[test]
fn several_applications_complete() {
    let outcome = mixed().run();
    for job in &outcome.data.jobs {
        assert!(
            job.task_finish_ps
                .iter()
                .all(|&finish| finish > job.start_ps),
            "{}",
            job.name
        );
        assert_eq!(job.finish_ps, *job.task_finish_ps.iter().max().unwrap());
    }
    let summary = &outcome.data.summary;
    assert_eq!(summary.messages_generated, summary.messages_received);
    assert_eq!(summary.packets_in_flight, 0);
    // 2 × 8 of 20 kB, three times, with requests and answers of 64 bytes; nothing else belongs to that job.
    assert_eq!(
        outcome.data.jobs[1].bytes_delivered,
        3 * 8 * (20_000 + 2 * 64)
    );
}

#[test]
fn the_run_ends_with_the_applications_though_traffic_goes_on() {
    let quiet = network().job("allreduce", 8).with("motif.iterations", 5);
    let alone = quiet.run().data;
    let busy = quiet
        .uniform(0.3)
        .with("endpoints", "rest")
        .until("completion")
        .run()
        .data;
    let done = busy.jobs[0].finish_ps;
    assert!(done >= alone.jobs[0].finish_ps);
    // At the end of the window in which the last task was done; a window is the least latency between groups.
    let window = 100 * NS;
    assert_eq!(busy.summary.simulated_ps, done - done % window + window);
    assert!(busy.summary.packets_in_flight > 0);
}

#[test]
fn a_run_that_ends_too_early_says_how_far_tasks_are() {
    let run = network()
        .job("ping_pong", 2)
        .with("motif.iterations", 1_000_000)
        .until("5 us");
    let job = job(&run, 0);
    assert_eq!(job.task_finish_ps, [5_000 * NS; 2]);
}

/// A motif with a mistake.
struct Wrong(fn(&mut Script));

impl Motif for Wrong {
    fn part(&self, part: u32, script: &mut Script) -> bool {
        if part == 0 {
            (self.0)(script);
        }
        part == 0
    }
}

/// A run of two jobs: one that is well, and this one on endpoints 0 to 3.
fn run_wrong(experiment: Experiment, program: fn(&mut Script)) -> Result<(), RunError> {
    let mut plan = plan_of(experiment);
    let Some(old) = Arc::get_mut(&mut plan.blueprint.traffic) else {
        panic!("nobody else has it");
    };
    let numbers = (0..4).map(|task| (task, task)).collect();
    old[0] = Traffic {
        name: "wrong".into(),
        tasks: (0..4).collect(),
        members: (0..4).collect(),
        drive: Drive::Motif(Application {
            job: Tasks {
                motif: Box::new(Wrong(program)),
                tasks: 4,
                repetitions: 1,
                protocol: MpiPreset::Plain.protocol(),
                algorithms: Algorithms::default(),
            },
            numbers,
        }),
        start: 0,
        stop: u64::MAX,
    };
    run_plan(&plan).map(|_| ())
}

fn plan_of(experiment: Experiment) -> Plan {
    experiment.job("ping_pong", 4).plan()
}

fn hang(script: &mut Script) {
    match script.task() {
        0 => script.recv(1, 5),
        1 => script.send(2, 100_000, 0),
        2 => script.recv(3, None),
        _ => script.compute(7_000 * NS),
    }
}

const HANG: &str = "3 of its tasks wait for ever, with no message on its way and nothing to compute: \
    task 0 waits for a message from task 1 with tag 5; \
    task 1 waits for task 2 to receive its long message; \
    task 2 waits for a message from task 3";

#[test]
fn a_hung_application_is_an_error_that_names_who_waits_for_whom() {
    let error = run_wrong(network(), hang).unwrap_err();
    let words = error.to_string();
    assert!(
        words.starts_with("the application \"wrong\" hangs at"),
        "{words}"
    );
    assert!(words.ends_with(HANG), "{words}");
    assert_eq!(error.exit_code(), 4);
}

#[test]
fn a_hung_application_is_found_while_others_go_on() {
    // The traffic goes on for 2,000 windows, and the first search that finds the hang is among the first 1,000.
    let error = run_wrong(plain_traffic_after(), hang).unwrap_err();
    let RunError::Hung {
        simulated_ps,
        job,
        tasks,
        ..
    } = error
    else {
        panic!("{error}");
    };
    assert_eq!((job.as_str(), tasks), ("wrong", 3));
    assert!(simulated_ps < 110_000 * NS, "{simulated_ps}");
}

/// The wrong job replaces the first workload; this is the second.
fn plain_traffic_after() -> Experiment {
    network()
        .job("ping_pong", 4)
        .uniform(0.2)
        .with("endpoints", "20..40")
        .with("stop", "200 us")
}

#[test]
fn messages_that_nobody_receives_are_an_error() {
    let error = run_wrong(network(), |script| {
        if script.task() == 3 {
            script.send(2, 10, 1);
        }
    });
    let words = error.unwrap_err().to_string();
    assert!(
        words.contains("task 2 of workload 0 never received 1 of its messages"),
        "{words}"
    );
}

#[test]
fn every_ready_application_can_be_run() {
    for (name, _) in weir::config::READY_WORKLOADS {
        let text = format!(
            "topology.file = \"dragonfly-8192\"\nrouting.algorithm = \"par\"\nrun.until = \"completion\"\n\
             [[workload]]\nfile = \"{name}\"\nplacement = \"random\"\n"
        );
        let (folder, names) = (std::path::Path::new(""), weir::catalog::catalog());
        let checked = weir::config::Experiment::from_text(name, &text, folder, &[], &names);
        let checked = checked.unwrap_or_else(|error| panic!("{}", error.render(false)));
        let plan = Plan::new(&checked, None).unwrap_or_else(|e| panic!("{}", e.render(false)));
        let traffic = &plan.blueprint.traffic[0];
        let application = traffic.application().expect("an application");
        assert_eq!(application.job.tasks as usize, traffic.tasks.len());
        // The first part of a program can be written.
        let mut ops = Vec::new();
        let mut script = Script::new(&mut ops, 0, application.job.tasks);
        assert!(application.job.motif.part(0, &mut script), "{name}");
        assert!(!ops.is_empty(), "{name}");
    }
}

#[test]
fn what_cannot_run_is_refused() {
    let refusal = |experiment: Experiment| {
        let checked = experiment.checked();
        let Err(error) = Plan::new(&checked, None) else {
            panic!("{experiment:?} should be refused");
        };
        assert!(error.line().is_some());
        let words = error.render(false);
        words
            .split_whitespace()
            .filter(|w| *w != "│")
            .collect::<Vec<_>>()
            .join(" ")
    };
    let words = refusal(network().job("ping_pong", 73));
    assert!(words.contains("73 endpoints are asked for"), "{words}");
    let words = refusal(network().job("ping_pong", 3).with("endpoints", vec![1, 2]));
    assert!(
        words.contains("3 tasks do not fit on 2 endpoints"),
        "{words}"
    );
    let words = refusal(
        network()
            .job("milc", 16)
            .with("motif.grid", vec![2, 2, 2, 3]),
    );
    assert!(words.contains("24 tasks, and the job has 16"), "{words}");
    let words = refusal(network().job("milc", 16).with("mpi.send_delay", 5));
    assert!(words.contains("mpi.send_delay: 5 has no unit"), "{words}");
    let scheme = network()
        .set("nic.acknowledge", true)
        .set("congestion.scheme", "lhrp");
    let words = refusal(scheme.job("milc", 16));
    assert!(words.contains("a scheme that drops packets"), "{words}");
}
