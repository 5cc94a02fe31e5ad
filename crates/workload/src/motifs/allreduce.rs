//! `allreduce`: one allreduce after the other.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::{Build, bytes};
use crate::tasks::{Motif, Script};
use weir_input::registry::{Entry, Keys};
use weir_input::{ConfigError, Duration, Section, Size};
use weir_model::Time;

/// Allreduces of all tasks, one after the other, with a computation before each.
#[derive(Clone, Debug, Deserialize, Serialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
struct Params {
    /// Number of operations.
    iterations: u32,
    /// Contribution of each task.
    bytes: Size,
    /// Time before each.
    compute: Duration,
}

impl Default for Params {
    fn default() -> Self {
        Params {
            iterations: 100,
            bytes: Size::Bits(64),
            compute: Duration(0),
        }
    }
}

pub const ENTRY: Entry<Build> = Entry {
    name: "allreduce",
    summary: "Allreduces of all tasks, one after the other.",
    source: "SWM (allreduce); SST Ember (Allreduce)",
    examples: &[r#"iterations = 3, bytes = "4 KiB""#],
    parameters: Keys::of::<Params>(),
    build,
};

fn build(section: &Section, _: u32) -> Result<Box<dyn Motif>, ConfigError> {
    let params: Params = section.parse()?;
    Ok(Box::new(Allreduce {
        iterations: params.iterations,
        bytes: bytes(section, "bytes", params.bytes)?,
        compute: params.compute.0,
    }))
}

struct Allreduce {
    iterations: u32,
    bytes: u64,
    compute: Time,
}

impl Motif for Allreduce {
    fn part(&self, part: u32, script: &mut Script) -> bool {
        if part >= self.iterations {
            return false;
        }
        script.compute(self.compute);
        script.allreduce(self.bytes);
        true
    }
}

#[cfg(test)]
mod tests {
    use super::super::testing::{ops, run, words};

    #[test]
    fn thirty_two_tasks_a_hundred_times() {
        let run = run("allreduce", "", 32);
        // Recursive doubling: 5 partners each time.
        let once: Vec<u32> = vec![1, 2, 4, 8, 16];
        let to: Vec<u32> = run.sent_by(0).iter().map(|sent| sent.0).collect();
        assert_eq!(to, once.repeat(100));
        assert!(run.sent_by(31).iter().all(|sent| sent.1 == 8));
    }

    #[test]
    fn with_a_microsecond_before_each() {
        let ops = ops("allreduce", "iterations = 2\ncompute = \"1 us\"", 3, 32);
        let once = ["Compute=1000000", "Allreduce=8"];
        assert_eq!(words(&ops), once.repeat(2));
    }
}
