//! `gpcnet_allreduce`: GPCNeT's collective test, an allreduce of one number after the other.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::SOURCE;
use crate::motifs::{Build, bytes, check_count};
use crate::tasks::{Motif, Script};
use weir_input::registry::{Entry, Keys};
use weir_input::{ConfigError, Section, Size};

/// Allreduces of all tasks, one after the other.
#[derive(Clone, Debug, Deserialize, Serialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
struct Params {
    /// Iterations at the beginning whose time does not count.
    warm_up: u32,
    /// Iterations after that. GPCNeT has 200.
    iterations: u32,
    /// Contribution of each task.
    bytes: Size,
}

impl Default for Params {
    fn default() -> Self {
        Params {
            warm_up: 1,
            iterations: 20,
            bytes: Size::Bits(64),
        }
    }
}

pub const ENTRY: Entry<Build> = Entry {
    name: "gpcnet_allreduce",
    summary: "GPCNeT's collective test: an allreduce of 8 bytes after the other.",
    source: SOURCE,
    examples: &["iterations = 3"],
    parameters: Keys::of::<Params>(),
    build,
};

fn build(section: &Section, _: u32) -> Result<Box<dyn Motif>, ConfigError> {
    let params: Params = section.parse()?;
    let all = u64::from(params.warm_up) + u64::from(params.iterations);
    check_count(section, "warm_up", all)?;
    Ok(Box::new(Allreduce {
        warm_up: params.warm_up,
        all: all as u32,
        bytes: bytes(section, "bytes", params.bytes)?,
    }))
}

struct Allreduce {
    warm_up: u32,
    /// Iterations, including warm-up.
    all: u32,
    bytes: u64,
}

impl Motif for Allreduce {
    fn counts(&self, part: u32) -> bool {
        part >= self.warm_up
    }

    fn part(&self, part: u32, script: &mut Script) -> bool {
        if part >= self.all {
            return false;
        }
        script.allreduce(self.bytes);
        true
    }
}

#[cfg(test)]
mod tests {
    use super::super::super::testing::{motif, ops, words};

    #[test]
    fn one_warms_up_and_twenty_count() {
        let ops = ops("gpcnet_allreduce", "", 3, 32);
        assert_eq!(words(&ops), ["Allreduce=8"].repeat(21));
        let motif = motif("gpcnet_allreduce", "", 32);
        assert_eq!((0..21).filter(|&part| motif.counts(part)).count(), 20);
    }
}
