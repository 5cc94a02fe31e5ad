//! `gpcnet_bw_sync`: GPCNeT's bandwidth test with synchronisation: long messages to both neighbours
//! on random rings, then a barrier.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::SOURCE;
use super::rings::Rings;
use crate::motifs::{Build, bytes, check_count};
use crate::tasks::{Motif, Script};
use weir_input::registry::{Entry, Keys};
use weir_input::{ConfigError, Section, Size};

/// On one random ring after the other: every task exchanges several messages at once with both
/// neighbours, waits for all of them, and then all tasks wait for each other. (GPCNeT's bandwidth
/// is what a task sends in an iteration over the iteration's time.)
#[derive(Clone, Debug, Deserialize, Serialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
struct Params {
    /// Rings, which are the same in every run. GPCNeT has 30.
    rings: u32,
    /// Iterations at the beginning of each ring whose time does not count.
    warm_up: u32,
    /// Iterations of each ring after that.
    iterations: u32,
    /// Messages to each neighbour at once.
    outstanding: u32,
    /// Each message.
    bytes: Size,
}

impl Default for Params {
    fn default() -> Self {
        Params {
            rings: 3,
            warm_up: 1,
            iterations: 8,
            outstanding: 8,
            bytes: Size::Bits(8 * 131_072),
        }
    }
}

pub const ENTRY: Entry<Build> = Entry {
    name: "gpcnet_bw_sync",
    summary: "GPCNeT's test of bandwidth: long messages to both neighbours on random rings, and a \
              barrier.",
    source: SOURCE,
    examples: &[r#"rings = 2, iterations = 1, outstanding = 2, bytes = "16 KiB""#],
    parameters: Keys::of::<Params>(),
    build,
};

fn build(section: &Section, tasks: u32) -> Result<Box<dyn Motif>, ConfigError> {
    let params: Params = section.parse()?;
    check_count(section, "outstanding", u64::from(params.outstanding))?;
    Ok(Box::new(Bandwidth {
        rings: Rings::new(
            section,
            tasks,
            params.rings,
            [params.warm_up, params.iterations],
        )?,
        outstanding: params.outstanding,
        bytes: bytes(section, "bytes", params.bytes)?,
    }))
}

struct Bandwidth {
    rings: Rings,
    outstanding: u32,
    bytes: u64,
}

impl Motif for Bandwidth {
    fn counts(&self, part: u32) -> bool {
        self.rings.counts(part)
    }

    fn part(&self, part: u32, script: &mut Script) -> bool {
        let Some(neighbours) = self.rings.neighbours(part, script.task()) else {
            return false;
        };
        let mark = script.mark();
        for _ in 0..self.outstanding {
            for from in neighbours {
                script.irecv(from, 0);
            }
        }
        for _ in 0..self.outstanding {
            for to in neighbours {
                script.isend(to, self.bytes, 0);
            }
        }
        script.wait_all(script.since(mark));
        script.barrier();
        true
    }
}

#[cfg(test)]
mod tests {
    use super::super::super::testing::{ops, refusal, run, words};

    #[test]
    fn eight_messages_to_each_neighbour_and_a_barrier() {
        let ops = ops("gpcnet_bw_sync", "rings = 1\niterations = 0", 3, 40);
        let words = words(&ops);
        assert_eq!(words.len(), 16 + 16 + 2);
        assert!(words[16..32].iter().all(|word| word.ends_with("=131072")));
        assert_eq!(words[32..], ["Wait*32", "Barrier=0"]);
    }

    #[test]
    fn all_of_it_arrives() {
        let run = run("gpcnet_bw_sync", "rings = 2\niterations = 2", 6);
        for task in 0..6 {
            let sent: u64 = run.sent_by(task).iter().map(|(_, bytes, _)| bytes).sum();
            assert_eq!(sent, 2 * 3 * 16 * 131_072);
        }
    }

    #[test]
    fn too_many_at_once_are_refused() {
        assert!(refusal("gpcnet_bw_sync", "outstanding = 4000000", 8).contains("1000000"));
    }
}
