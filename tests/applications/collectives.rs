//! Collective operations on one idle switch take the time of closed forms, to the picosecond: those
//! of ASTRA-sim's analytical network, 2 (n - 1) (latency + S / (n B)) for an allreduce of S bytes
//! around a ring of n tasks, and the parts of it.

use super::{NS, SAME_ROUTER};
use crate::support::Experiment;

const TASKS: u64 = 8;

/// Bytes of a block: 200 flits of 100 bits, at 1 ns each.
const BLOCK: u64 = 2_500;

/// The time at which each task is done with one operation, all tasks on one router.
fn ends(collective: &str, bytes: u64) -> Vec<u64> {
    ends_of(job(TASKS, collective, bytes))
}

fn job(tasks: u64, collective: &str, bytes: u64) -> Experiment {
    let text = format!(
        "rounds = 1\nphases = [{{ collective = {{ kind = \"{collective}\", bytes = \"{bytes} B\" }} }}]"
    );
    let parameters: toml::Table = text.parse().expect("TOML");
    let mut run = Experiment::tree(8, 1)
        .set("nic.acknowledge", false)
        .job("script", tasks as i64)
        .with("mpi.preset", "nccl");
    for (key, value) in parameters {
        run = run.with(&format!("motif.{key}"), value);
    }
    run
}

fn ends_of(run: Experiment) -> Vec<u64> {
    let job = run.run().data.jobs[0].clone();
    job.tasks.task_finish_ps
}

/// One block after the other, each alone on its links.
fn steps(count: u64) -> Vec<u64> {
    vec![count * (SAME_ROUTER + 200 * NS); TASKS as usize]
}

#[test]
fn rings_take_the_time_of_their_steps() {
    assert_eq!(ends("allreduce", TASKS * BLOCK), steps(2 * (TASKS - 1)));
    assert_eq!(ends("allgather", BLOCK), steps(TASKS - 1));
    assert_eq!(ends("reduce_scatter", BLOCK), steps(TASKS - 1));
}

#[test]
fn an_alltoall_at_once_fills_the_links() {
    // latency + (n - 1) S / (n B): no two send to one task at the same time.
    let once = SAME_ROUTER + (TASKS - 1) * 200 * NS;
    assert_eq!(ends("alltoall", BLOCK), vec![once; TASKS as usize]);
}

#[test]
fn two_trees_take_the_time_of_their_halves() {
    let allreduce = |tasks, by: &str| {
        let run = job(tasks, "allreduce", 2 * BLOCK);
        ends_of(run.with("mpi.collectives.allreduce", by))
    };
    // Each of two tasks is the root of a tree: half of the data up, and down again.
    let there_and_back = 2 * (SAME_ROUTER + 200 * NS);
    assert_eq!(allreduce(2, "double_tree"), [there_and_back; 2]);
    // Short messages take the trees, as in NCCL; two tasks its ring, with as many steps.
    assert_eq!(allreduce(TASKS, "nccl"), allreduce(TASKS, "double_tree"));
    assert_eq!(allreduce(2, "nccl"), allreduce(2, "ring"));
    assert_ne!(allreduce(TASKS, "nccl"), allreduce(TASKS, "ring"));
}
