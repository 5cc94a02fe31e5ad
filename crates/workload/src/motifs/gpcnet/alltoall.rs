//! `gpcnet_alltoall`: GPCNeT's congestor all-to-all, a pairwise exchange of all tasks.

use super::{Congestor, SOURCE};
use crate::motifs::Build;
use crate::tasks::{Motif, Script};
use weir_input::registry::{Entry, Keys};
use weir_input::{ConfigError, Section};

pub const ENTRY: Entry<Build> = Entry {
    name: "gpcnet_alltoall",
    summary: "GPCNeT's congestor all-to-all: a pairwise exchange of all tasks.",
    source: SOURCE,
    examples: &["iterations = 1"],
    parameters: Keys::of::<Congestor>(),
    build,
};

fn build(section: &Section, tasks: u32) -> Result<Box<dyn Motif>, ConfigError> {
    let (iterations, bytes) = Congestor::read(section, tasks)?;
    Ok(Box::new(Alltoall { iterations, bytes }))
}

/// A pairwise exchange in steps.
///
/// If the number of tasks is a power of two, a task exchanges in step k with the one whose number
/// differs from its own in the bits of k. Otherwise it sends to the task k places on and receives
/// from the one k places before.
struct Alltoall {
    iterations: u32,
    bytes: u64,
}

impl Motif for Alltoall {
    fn part(&self, part: u32, script: &mut Script) -> bool {
        if part >= self.iterations {
            return false;
        }
        let (task, tasks) = (script.task(), script.tasks());
        for step in 1..tasks {
            let (to, from) = match tasks.is_power_of_two() {
                true => (task ^ step, task ^ step),
                false => ((task + step) % tasks, (task + tasks - step) % tasks),
            };
            script.sendrecv(to, self.bytes, from, 0);
        }
        true
    }
}

#[cfg(test)]
mod tests {
    use super::super::super::testing::{ops, run, words};

    #[test]
    fn everybody_sends_to_everybody() {
        for tasks in [6, 8] {
            let run = run("gpcnet_alltoall", "iterations = 1", tasks);
            for task in 0..tasks {
                let mut to: Vec<(u32, u64)> =
                    run.sent_by(task).iter().map(|s| (s.0, s.1)).collect();
                to.sort_unstable();
                let others = (0..tasks).filter(|&other| other != task);
                let expected: Vec<(u32, u64)> = others.map(|to| (to, 4_096)).collect();
                assert_eq!(to, expected);
            }
        }
    }

    #[test]
    fn a_pass_of_many_tasks_has_fewer_iterations() {
        let steps = |tasks: u32| words(&ops("gpcnet_alltoall", "", 0, tasks)).len() as u32;
        assert_eq!(steps(16), 512 * 15 * 3);
        assert_eq!(steps(64), 256 * 63 * 3);
    }
}
