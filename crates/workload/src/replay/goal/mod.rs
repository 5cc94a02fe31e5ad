//! `goal`: GOAL, the group operation assembly language of LogGOPSim and ATLAHS, as text or in its
//! binary form.

mod binary;
mod head;
#[cfg(test)]
mod tests;
mod text;
mod words;
mod write;

use std::io::Read;
use std::path::Path;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

pub use write::write;

use super::check::check;
use super::input::{Fault, Input};
use super::{Build, Content, Coverage, Refusal, Scale, nanosecond};
use weir_input::registry::{Entry, Keys};
use weir_input::{Duration, Section};
use weir_model::Time;

keys! {
    /// A schedule of sends, receives and computations for each rank, with their dependencies.
    struct Params {
        /// The unit of `calc`.
        #[serde(default = "nanosecond")]
        unit: Duration,
    }
}

pub const ENTRY: Entry<Build> = Entry {
    name: "goal",
    summary: "GOAL, text or binary: sends, receives and computations of each rank, and which waits \
              for which.",
    source: "LogGOPSim (Hoefler et al., HPDC 2010), ATLAHS",
    examples: &[r#"file = "run.goal""#, r#"file = "run.bin""#],
    parameters: Keys::of::<Params>(),
    build,
};

fn build(section: &Section, path: &Path, compute: Scale) -> Result<Content, Refusal> {
    let params: Params = section.parse()?;
    let unit = params.unit.0;
    if is_binary(path)? {
        let (mut content, firsts) = binary::read(path, unit, compute)?;
        check(&mut content.graphs, &|task, node| {
            binary::place(&firsts, task, node)
        })?;
        return Ok(content);
    }
    let mut content = text::read(path, unit, compute)?;
    let place = |task, node| text::place(path, task, node);
    check(&mut content.graphs, &place)?;
    Ok(content)
}

/// True if a file starts like the binary form.
fn is_binary(path: &Path) -> Result<bool, Fault> {
    let mut first = Vec::new();
    let read = Input::open(path)?.take(8).read_to_end(&mut first);
    read.map_err(|e| Fault::new(format!("it cannot be read: {e}"), "look at the file"))?;
    Ok(first == binary::MAGIC)
}

/// Operations of a schedule.
#[derive(Default)]
struct Counts {
    sends: (u64, u64),
    receives: (u64, u64),
    computations: (u64, Time),
    requires: u64,
    irequires: u64,
    nics: u64,
}

impl Counts {
    fn send(&mut self, bytes: u64) {
        self.sends.0 += 1;
        self.sends.1 = self.sends.1.saturating_add(bytes);
    }

    fn receive(&mut self, bytes: u64) {
        self.receives.0 += 1;
        self.receives.1 = self.receives.1.saturating_add(bytes);
    }

    fn compute(&mut self, time: Time) {
        self.computations.0 += 1;
        self.computations.1 = self.computations.1.saturating_add(time);
    }

    fn coverage(&self) -> Coverage {
        let mut coverage = Coverage::default();
        coverage.simulated("sends", self.sends.0, self.sends.1);
        coverage.simulated("receives", self.receives.0, self.receives.1);
        coverage.timed("computations", self.computations.0, self.computations.1);
        coverage.simulated("dependencies on ends", self.requires, 0);
        coverage.simulated("dependencies on starts", self.irequires, 0);
        coverage.ignored("choices of a NIC", self.nics, 0, "a task has one NIC");
        coverage
    }
}
