//! Applications on the network: exact times, several jobs at once, ends of runs, refusals.
//!
//! The law of a message alone (see `physics/time.rs`): the links' latencies, 10 ns for each router,
//! and the flits of the message at 1 ns each. A flit is 100 bits.

mod collectives;
mod nodes;
mod schemes;

use std::sync::Arc;

use crate::support::{Experiment, run_plan};
use weir::fabric::{Application, Drive, TaskNics, Traffic};
use weir::result::Job;
use weir::simulation::{Plan, RunError};
use weir::workload::tasks::{
    Algorithms, Exchange, Job as Tasks, Motif, MpiPreset, Pace, Protocol, Script,
};

const NS: u64 = 1_000;

/// 9 groups of 4 routers with 2 endpoints; terminal links 5 ns, local 20 ns, global 100 ns. No
/// acknowledgements, so that nothing but messages is on the links.
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
    let ends = job(&run, 0).tasks.task_finish_ps;
    assert_eq!(ends, [6 * once, 5 * once + 20 * NS]);
}

#[test]
fn a_ping_pong_across_the_network() {
    // The longest route: local, global and local link, four routers; packets of 24 flits follow
    // each other without gaps.
    let run = network()
        .job("ping_pong", 2)
        .with("tasks", 2)
        .with("endpoints", vec![2, 10])
        .with("motif.bytes", "750 B");
    let once = (5 + 10 + 20 + 10 + 100 + 10 + 20 + 10 + 5 + 60) * NS;
    let ends = job(&run, 0).tasks.task_finish_ps;
    assert_eq!(ends, [2 * once, once + 60 * NS]);
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
    assert_eq!(job.tasks.task_finish_ps, [2 * once, 2 * once - SAME_ROUTER]);
    assert_eq!((job.finish(), job.communication()), (2 * once, 2 * once));
}

#[test]
fn host_overheads_of_codes_on_the_network() {
    let run = network()
        .job("ping_pong", 2)
        .with("motif.bytes", "250 B")
        .with("mpi.preset", "codes")
        .with("mpi.receive_delay", "7 ns");
    let once = 3_510 * NS + 250 * 550 + SAME_ROUTER + 20 * NS + 7 * NS;
    assert_eq!(job(&run, 0).tasks.task_finish_ps[0], 2 * once);
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
    let finish = outcome.data.jobs[0].finish();
    assert!(finish > 12 * 24 * 3_510 * NS);
    assert_eq!(outcome.data.summary.simulated_ps, finish);
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
    assert_eq!(busy.finish(), idle.finish() + 40_000 * NS);
    assert_eq!(idle.totals.start_ps, 3_000 * NS);
    assert_eq!(idle.communication(), idle.finish() - 3_000 * NS);
    let [busy, idle] = [busy, idle].map(|job| job.tasks.task_communication_ps);
    assert_eq!(busy, idle);
}

#[test]
fn a_program_is_repeated() {
    let run = |repetitions: i64, iterations: i64| {
        let run = network()
            .job("ping_pong", 2)
            .with("repetitions", repetitions)
            .with("motif.iterations", iterations);
        job(&run, 0).finish()
    };
    assert_eq!(run(3, 2), run(1, 6));
}

#[test]
fn fewer_tasks_than_endpoints_and_lists() {
    let run = network()
        .job("ping_pong", 2)
        .with("endpoints", vec![70, 3, 9])
        .run();
    assert_eq!(run.data.jobs[0].tasks.endpoint, [70, 3]);
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
    let done = busy.jobs[0].finish();
    assert!(done >= alone.jobs[0].finish());
    // At the end of the window in which the last task was done; a window is the least latency
    // between groups.
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
    assert!(job.is_cut_off());
    assert_eq!(job.finish(), 5_000 * NS);
    assert_eq!(job.tasks.task_finish_ps, [0, 0]);
    assert_eq!(job.tasks.task_communication_at_least_ps, [5_000 * NS; 2]);
}

/// A motif of one part.
struct Program<F>(F);

impl<F: Fn(&mut Script) + Send + Sync> Motif for Program<F> {
    fn part(&self, part: u32, script: &mut Script) -> bool {
        if part == 0 {
            (self.0)(script);
        }
        part == 0
    }
}

/// A run with this program instead of the first workload, an application of four tasks.
fn run_program(
    experiment: Experiment,
    program: impl Fn(&mut Script) + Send + Sync + 'static,
) -> Result<Vec<Job>, RunError> {
    let mut plan = experiment.plan();
    let Some(old) = Arc::get_mut(&mut plan.blueprint.traffic) else {
        panic!("nobody else has it");
    };
    let tasks = old[0].tasks.clone();
    let numbers = tasks.iter().zip(0..).map(|(&at, task)| (at, task));
    let numbers = numbers.collect();
    old[0] = Traffic {
        name: "program".into(),
        number: 0,
        members: tasks.clone(),
        tasks: tasks.clone(),
        drive: Drive::Motif(Application {
            job: Tasks {
                motif: Box::new(Program(program)),
                tasks: 4,
                repetitions: 1,
                iterations: false,
                timeline: None,
                exchange: Exchange {
                    protocol: Protocol {
                        control_bytes: 25,
                        ..MpiPreset::Plain.protocol()
                    },
                    seed: 1,
                },
                algorithms: Algorithms::default(),
                pace: Pace::default(),
            },
            numbers,
            nics: TaskNics::one_each(tasks.clone()),
        }),
        start: 0,
        stop: u64::MAX,
        background: false,
    };
    run_plan(&plan).map(|outcome| outcome.data.jobs)
}

/// The same alone.
fn run_alone(
    experiment: Experiment,
    program: impl Fn(&mut Script) + Send + Sync + 'static,
) -> Result<Vec<Job>, RunError> {
    run_program(experiment.job("ping_pong", 4), program)
}

fn hang(script: &mut Script) {
    match script.task() {
        0 => script.recv(1, 5),
        1 => script.send(2, 100_000, 0),
        2 => script.recv(3, None),
        _ => script.compute(7_000 * NS),
    }
}

const HANG: &str = "3 of its tasks wait for ever, with no message on its way and nothing to \
                    compute: task 0 waits for a message from task 1 with tag 5; task 1 waits for \
                    task 2 to receive its long message; task 2 waits for a message from task 3; \
                    long messages wait for their receives: start the receives before the sends, \
                    or raise mpi.rendezvous_from of the workload above their size";

#[test]
fn a_hung_application_is_an_error_that_names_who_waits_for_whom() {
    let error = run_alone(network(), hang).unwrap_err();
    let words = error.to_string();
    assert!(
        words.starts_with("the application \"program\" hangs, as seen at"),
        "{words}"
    );
    assert!(words.ends_with(HANG), "{words}");
    assert_eq!(error.exit_code(), 4);
}

#[test]
fn a_hung_application_is_found_while_others_go_on() {
    // The traffic continues for 2,000 windows, and the first search that finds the hang is among
    // the first 1,000.
    let error = run_program(plain_traffic_after(), hang).unwrap_err();
    let RunError::Hung {
        simulated_ps,
        job,
        tasks,
        ..
    } = error
    else {
        panic!("{error}");
    };
    assert_eq!((job.as_str(), tasks), ("program", 3));
    assert!(simulated_ps < 110_000 * NS, "{simulated_ps}");
}

/// The program replaces the first workload; this is the second.
fn plain_traffic_after() -> Experiment {
    network()
        .job("ping_pong", 4)
        .uniform(0.2)
        .with("endpoints", "20..40")
        .with("stop", "200 us")
}

#[test]
fn messages_that_nobody_receives_are_an_error() {
    let error = run_alone(network(), |script| {
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

/// Message about an experiment that cannot be run, on one line.
fn refusal(experiment: Experiment) -> String {
    let Err(error) = experiment.try_plan() else {
        panic!("{experiment:?} should be refused");
    };
    assert!(error.line().is_some());
    let words = error.render(false);
    let words: Vec<&str> = words.split_whitespace().collect();
    words.join(" ")
}

#[test]
fn what_cannot_run_is_refused() {
    let words = refusal(network().job("ping_pong", 73));
    let asked = "workload.0.tasks: 73 tasks are to have an endpoint each, and 72 of 72 are free";
    assert!(words.contains(asked), "{words}");
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
}

#[test]
fn a_message_may_be_held_up_by_chance() {
    let rounds = 400;
    let run = |jitter: &str, seed: u32| {
        let run = network()
            .set("run.seed", seed)
            .job("ping_pong", 2)
            .with("motif.bytes", "250 B")
            .with("motif.iterations", rounds)
            .with("mpi.send_jitter", jitter);
        job(&run, 0).tasks.task_finish_ps[0]
    };
    let (without, most) = (run("0 ns", 1), 100 * NS);
    assert_eq!(without, run("0 ns", 2));
    let more = run("100 ns", 1) - without;
    // With 800 messages, each with the same chance for every time: half of the most, within 5
    // sigma.
    let each = more as f64 / f64::from(2 * rounds) / most as f64;
    assert!((each - 0.5).abs() < 5.0 / 9600f64.sqrt(), "{each}");
    assert_eq!(run("100 ns", 1), without + more);
    assert_ne!(run("100 ns", 2), without + more);
}
