//! `alltoall`: one alltoall after the other.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::{Build, bytes};
use crate::tasks::{Motif, Script};
use weir_input::registry::{Entry, Keys};
use weir_input::{ConfigError, Duration, Section, Size};
use weir_model::Time;

/// Alltoalls of all tasks, one after the other, with a computation before each.
#[derive(Clone, Debug, Deserialize, Serialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
struct Params {
    /// Number of operations.
    iterations: u32,
    /// From each task to each other.
    bytes: Size,
    /// Time before each.
    compute: Duration,
}

impl Default for Params {
    fn default() -> Self {
        Params {
            iterations: 1,
            bytes: Size::Bits(8),
            compute: Duration(0),
        }
    }
}

pub const ENTRY: Entry<Build> = Entry {
    name: "alltoall",
    summary: "Alltoalls of all tasks, one after the other.",
    source: "SST Ember (Alltoall)",
    examples: &[r#"bytes = "1 KiB""#],
    parameters: Keys::of::<Params>(),
    build,
};

fn build(section: &Section, _: u32) -> Result<Box<dyn Motif>, ConfigError> {
    let params: Params = section.parse()?;
    Ok(Box::new(Alltoall {
        iterations: params.iterations,
        bytes: bytes(section, "bytes", params.bytes)?,
        compute: params.compute.0,
    }))
}

struct Alltoall {
    iterations: u32,
    bytes: u64,
    compute: Time,
}

impl Motif for Alltoall {
    fn part(&self, part: u32, script: &mut Script) -> bool {
        if part >= self.iterations {
            return false;
        }
        script.compute(self.compute);
        script.alltoall(self.bytes);
        true
    }
}

#[cfg(test)]
mod tests {
    use super::super::testing::{motif, run};
    use crate::tasks::Algorithms;
    use crate::tasks::ideal::{Ideal, job};

    #[test]
    fn everybody_sends_to_everybody() {
        let run = run("alltoall", "bytes = \"1 KiB\"\niterations = 2", 6);
        for task in 0..6 {
            let mut to: Vec<(u32, u64)> = run.sent_by(task).iter().map(|s| (s.0, s.1)).collect();
            to.sort_unstable();
            let others = (0..6).filter(|&other| other != task);
            let expected: Vec<(u32, u64)> = others.flat_map(|to| [(to, 1_024); 2]).collect();
            assert_eq!(to, expected);
        }
    }

    #[test]
    fn firefly_shifts_around_a_ring() {
        let mut job = job(motif("alltoall", "", 5), 5);
        job.algorithms = Algorithms::EMBER;
        let run = Ideal::new(job).finish();
        let to: Vec<u32> = run.sent_by(3).iter().map(|sent| sent.0).collect();
        assert_eq!(to, [4, 0, 1, 2]);
    }
}
