//! `fixed_pairs`: the second half of the tasks sends to the first.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::{Build, bytes};
use crate::tasks::{Motif, Script};
use weir_input::registry::{Entry, Keys};
use weir_input::{ConfigError, Section, Size};
use weir_model::Invalid;

/// Fixed pairs: of N tasks, task N/2 + i sends to task i and waits until the message has left;
/// nothing comes back. N must be even. The traffic is bound by the bisection of the network and
/// never by an endpoint.
#[derive(Clone, Debug, Deserialize, Serialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
struct Params {
    /// Repetitions.
    iterations: u32,
    /// Each message.
    bytes: Size,
}

impl Default for Params {
    fn default() -> Self {
        Params {
            iterations: 2,
            bytes: Size::Bits(8 * (4 << 20)),
        }
    }
}

pub const ENTRY: Entry<Build> = Entry {
    name: "fixed_pairs",
    summary: "Task N/2 + i sends long messages to task i.",
    source: "SWM (fixed pairs); McGlohon et al., section IV",
    examples: &[r#"bytes = "20 kB""#],
    parameters: Keys::of::<Params>(),
    build,
};

fn build(section: &Section, tasks: u32) -> Result<Box<dyn Motif>, ConfigError> {
    let params: Params = section.parse()?;
    if tasks % 2 == 1 {
        return Err(section.refuse(Invalid::new(
            "",
            format!("{tasks} tasks cannot be paired"),
            format!(
                "give the job an even number of tasks, such as {}",
                tasks + 1
            ),
        )));
    }
    Ok(Box::new(FixedPairs {
        iterations: params.iterations,
        bytes: bytes(section, "bytes", params.bytes)?,
    }))
}

struct FixedPairs {
    iterations: u32,
    bytes: u64,
}

impl Motif for FixedPairs {
    fn part(&self, part: u32, script: &mut Script) -> bool {
        if part >= self.iterations {
            return false;
        }
        let half = script.tasks() / 2;
        let label = match script.task().checked_sub(half) {
            Some(partner) => script.isend(partner, self.bytes, 0),
            None => script.irecv(script.task() + half, 0),
        };
        script.wait(label);
        true
    }
}

#[cfg(test)]
mod tests {
    use super::super::testing::{ops, refusal, run, words};

    #[test]
    fn the_second_half_sends_to_the_first() {
        let run = run("fixed_pairs", "", 256);
        for task in 0..128 {
            assert_eq!(run.sent_by(128 + task), vec![(task, 4_194_304, 0); 2]);
            assert!(run.sent_by(task).is_empty());
        }
        let words = words(&ops("fixed_pairs", "iterations = 1", 130, 256));
        assert_eq!(words, ["Isend>2=4194304", "Wait*1"]);
    }

    #[test]
    fn odd_numbers_are_refused() {
        assert!(refusal("fixed_pairs", "", 7).contains("such as 8"));
    }
}
