//! Operations of programs.

use weir_workload::tasks::{Job, Op, Script};

/// Most parts of programs that are examined for an operation.
/// Programs that have none for longer pass.
const PARTS: u32 = 100_000;

/// True if no task of a program has such an operation, as far as they are examined.
pub(super) fn none_does(job: &Job, does: impl Fn(&Op, u32) -> bool) -> bool {
    let (mut ops, mut looked) = (Vec::new(), 0);
    for task in 0..job.tasks {
        for part in 0.. {
            ops.clear();
            let goes_on = job
                .motif
                .part(part, &mut Script::new(&mut ops, task, job.tasks));
            if ops.iter().any(|op| does(op, task)) {
                return false;
            }
            if !goes_on {
                break;
            }
            looked += 1;
            if looked > PARTS {
                return false;
            }
        }
    }
    true
}
