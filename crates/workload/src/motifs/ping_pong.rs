//! `ping_pong`: two tasks send one message back and forth.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::{Build, at_least, bytes};
use crate::tasks::{Motif, Peer, Script};
use weir_input::registry::{Entry, Keys};
use weir_input::{ConfigError, Section, Size};
use weir_model::Invalid;

/// Task 0 sends to another one, which sends the same back. All others do nothing.
#[derive(Clone, Debug, Deserialize, Serialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
struct Params {
    /// Number of round trips.
    iterations: u32,
    /// Each message.
    bytes: Size,
    /// The other task.
    partner: u32,
}

impl Default for Params {
    fn default() -> Self {
        Params {
            iterations: 1,
            bytes: Size::Bits(8 * 1_024),
            partner: 1,
        }
    }
}

pub const ENTRY: Entry<Build> = Entry {
    name: "ping_pong",
    summary: "Task 0 and another send one message back and forth.",
    source: "SST Ember (PingPong)",
    examples: &[r#"iterations = 5"#],
    parameters: Keys::of::<Params>(),
    build,
};

fn build(section: &Section, tasks: u32) -> Result<Box<dyn Motif>, ConfigError> {
    let params: Params = section.parse()?;
    at_least(section, tasks, 2)?;
    if params.partner == 0 || params.partner >= tasks {
        return Err(section.refuse(Invalid::new(
            "partner",
            format!(
                "task {} cannot be the partner of task 0 among {tasks} tasks",
                params.partner
            ),
            format!("write a task from 1 to {}", tasks - 1),
        )));
    }
    Ok(Box::new(PingPong {
        iterations: params.iterations,
        bytes: bytes(section, "bytes", params.bytes)?,
        partner: params.partner,
    }))
}

struct PingPong {
    iterations: u32,
    bytes: u64,
    partner: Peer,
}

impl Motif for PingPong {
    fn part(&self, part: u32, script: &mut Script) -> bool {
        let task = script.task();
        if part >= self.iterations || (task != 0 && task != self.partner) {
            return false;
        }
        if task == 0 {
            script.send(self.partner, self.bytes, 0);
            script.recv(self.partner, 0);
        } else {
            script.recv(0, 0);
            script.send(0, self.bytes, 0);
        }
        true
    }
}

#[cfg(test)]
mod tests {
    use super::super::testing::{refusal, run};

    #[test]
    fn there_and_back() {
        let run = run(
            "ping_pong",
            "iterations = 3\npartner = 2\nbytes = \"100 B\"",
            4,
        );
        assert_eq!(run.sent_by(0), vec![(2, 100, 0); 3]);
        assert_eq!(run.sent_by(2), vec![(0, 100, 0); 3]);
        // 100 ps for the bytes and 1 ns for the wire, six times.
        assert_eq!(run.tasks[0].finished(), Some(6 * 1_100));
        assert_eq!(run.tasks[1].finished(), Some(0));
    }

    #[test]
    fn one_cannot_play_alone() {
        assert!(refusal("ping_pong", "", 1).contains("2 tasks or more"));
        assert!(refusal("ping_pong", "partner = 4", 4).contains("from 1 to 3"));
        assert!(refusal("ping_pong", "bytes = \"2 flits\"", 4).contains("in bytes"));
    }
}
