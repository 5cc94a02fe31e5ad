//! `gpcnet_ring`: GPCNeT's latency test, small messages to both neighbours on random rings.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::SOURCE;
use super::rings::Rings;
use crate::motifs::{Build, bytes};
use crate::tasks::{Motif, Script};
use weir_input::registry::{Entry, Keys};
use weir_input::{ConfigError, Section, Size};

/// On one random ring after the other: every task receives from both neighbours, sends to both, and
/// waits. (GPCNeT calls half of an iteration's time the latency.)
#[derive(Clone, Debug, Deserialize, Serialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
struct Params {
    /// Rings, which are the same in every run. GPCNeT has 30.
    rings: u32,
    /// Iterations at the beginning of each ring whose time does not count. GPCNeT has 200.
    warm_up: u32,
    /// Iterations of each ring after that. GPCNeT has 200.
    iterations: u32,
    /// Each message.
    bytes: Size,
}

impl Default for Params {
    fn default() -> Self {
        Params {
            rings: 3,
            warm_up: 20,
            iterations: 20,
            bytes: Size::Bits(64),
        }
    }
}

pub const ENTRY: Entry<Build> = Entry {
    name: "gpcnet_ring",
    summary: "GPCNeT's latency test: small messages to both neighbours on random rings.",
    source: SOURCE,
    examples: &["rings = 2, warm_up = 1, iterations = 2"],
    parameters: Keys::of::<Params>(),
    build,
};

fn build(section: &Section, tasks: u32) -> Result<Box<dyn Motif>, ConfigError> {
    let params: Params = section.parse()?;
    Ok(Box::new(Latency {
        rings: Rings::new(
            section,
            tasks,
            params.rings,
            [params.warm_up, params.iterations],
        )?,
        bytes: bytes(section, "bytes", params.bytes)?,
    }))
}

struct Latency {
    rings: Rings,
    bytes: u64,
}

impl Motif for Latency {
    fn counts(&self, part: u32) -> bool {
        self.rings.counts(part)
    }

    fn part(&self, part: u32, script: &mut Script) -> bool {
        let Some(neighbours) = self.rings.neighbours(part, script.task()) else {
            return false;
        };
        let mark = script.mark();
        for from in neighbours {
            script.irecv(from, 0);
        }
        for to in neighbours {
            script.isend(to, self.bytes, 0);
        }
        script.wait_all(script.since(mark));
        true
    }
}

#[cfg(test)]
mod tests {
    use super::super::super::testing::{motif, ops, refusal, run, words};

    #[test]
    fn an_iteration_posts_both_receives_before_it_sends() {
        let ops = ops(
            "gpcnet_ring",
            "rings = 1\nwarm_up = 0\niterations = 1",
            3,
            40,
        );
        let words = words(&ops);
        let kinds: Vec<&str> = words.iter().map(|word| &word[..5]).collect();
        assert_eq!(kinds, ["Irecv", "Irecv", "Isend", "Isend", "Wait*"]);
        assert!(words[2].ends_with("=8"), "{words:?}");
        // It sends to the tasks that it receives from.
        assert_eq!(
            words[0].strip_prefix("Irecv<"),
            words[2][6..].split('=').next()
        );
    }

    #[test]
    fn every_ring_has_its_iterations() {
        let run = run("gpcnet_ring", "rings = 3\nwarm_up = 2\niterations = 4", 10);
        for task in 0..10 {
            assert_eq!(run.sent_by(task).len(), 3 * 6 * 2);
        }
    }

    #[test]
    fn what_warms_up_does_not_count() {
        let motif = motif("gpcnet_ring", "rings = 2\nwarm_up = 2\niterations = 1", 10);
        let counts: Vec<bool> = (0..6).map(|part| motif.counts(part)).collect();
        assert_eq!(counts, [false, false, true, false, false, true]);
    }

    #[test]
    fn too_many_iterations_and_a_lone_task_are_refused() {
        assert!(refusal("gpcnet_ring", "rings = 4000000", 8).contains("1000000"));
        assert!(refusal("gpcnet_ring", "", 1).contains("2 tasks or more"));
    }
}
