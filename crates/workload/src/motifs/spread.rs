//! `spread`: the last task sends a little to all others.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::{Build, at_least, bytes};
use crate::tasks::{Motif, Script};
use weir_input::registry::{Entry, Keys};
use weir_input::{ConfigError, Duration, Section, Size};
use weir_model::Time;

/// The last task sends to all others in order, without waiting for each (Isend), and computes after
/// each; then it waits for all of them. The others receive.
#[derive(Clone, Debug, Deserialize, Serialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
struct Params {
    /// Repetitions.
    iterations: u32,
    /// Each message.
    bytes: Size,
    /// Time after each send.
    compute: Duration,
}

impl Default for Params {
    fn default() -> Self {
        Params {
            iterations: 50,
            bytes: Size::Bits(64),
            compute: Duration(2_500_000),
        }
    }
}

pub const ENTRY: Entry<Build> = Entry {
    name: "spread",
    summary: "The last task sends a little to all others, one after the other.",
    source: "SWM (spread)",
    examples: &[r#"iterations = 3"#],
    parameters: Keys::of::<Params>(),
    build,
};

fn build(section: &Section, tasks: u32) -> Result<Box<dyn Motif>, ConfigError> {
    let params: Params = section.parse()?;
    at_least(section, tasks, 2)?;
    Ok(Box::new(Spread {
        iterations: params.iterations,
        bytes: bytes(section, "bytes", params.bytes)?,
        compute: params.compute.0,
    }))
}

struct Spread {
    iterations: u32,
    bytes: u64,
    compute: Time,
}

impl Motif for Spread {
    fn part(&self, part: u32, script: &mut Script) -> bool {
        if part >= self.iterations {
            return false;
        }
        let last = script.tasks() - 1;
        if script.task() < last {
            script.recv(last, 0);
            return true;
        }
        let mark = script.mark();
        for to in 0..last {
            script.isend(to, self.bytes, 0);
            script.compute(self.compute);
        }
        script.wait_all(script.since(mark));
        true
    }
}

#[cfg(test)]
mod tests {
    use super::super::testing::{ops, run, words};

    #[test]
    fn task_63_sends_to_62_others() {
        let run = run("spread", "", 64);
        let once: Vec<(u32, u64, u32)> = (0..63).map(|to| (to, 8, 0)).collect();
        assert_eq!(run.sent_by(63), once.repeat(50));
        assert!((0..63).all(|task| run.sent_by(task).is_empty()));
        assert!(run.tasks[63].finished() >= Some(50 * 63 * 2_500_000));
    }

    #[test]
    fn the_order_of_operations() {
        let words = words(&ops("spread", "iterations = 1", 2, 3));
        assert_eq!(
            words,
            [
                "Isend>0=8",
                "Compute=2500000",
                "Isend>1=8",
                "Compute=2500000",
                "Wait*2"
            ]
        );
    }
}
