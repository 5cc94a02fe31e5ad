//! `goal`: GOAL, the group operation assembly language of LogGOPSim and ATLAHS, as text.

#[cfg(test)]
mod tests;
mod text;
mod write;

use std::path::Path;

use schemars::{JsonSchema, schema_for};
use serde::{Deserialize, Serialize};

pub use write::write;

use super::check::check;
use super::{Build, Content, Refusal, Scale, nanosecond};
use crate::config::{Duration, Section};
use crate::registry::Entry;

/// A schedule of sends, receives and computations for each rank, with their dependencies.
#[derive(Debug, Deserialize, Serialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct Params {
    /// The file, relative to the experiment file.
    #[allow(dead_code)]
    file: String,
    /// Its SHA-256: another file is refused.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[allow(dead_code)]
    sha256: Option<String>,
    /// How many times as long as in the file computation takes.
    #[serde(default)]
    #[allow(dead_code)]
    compute: Scale,
    /// The unit of `calc`.
    #[serde(default = "nanosecond")]
    unit: Duration,
}

pub const ENTRY: Entry<Build> = Entry {
    name: "goal",
    summary: "GOAL text: sends, receives and computations of each rank, and which waits for which.",
    source: "LogGOPSim (Hoefler et al., HPDC 2010), ATLAHS",
    examples: &[r#"file = "run.goal""#],
    parameters: || schema_for!(Params),
    build,
};

fn build(section: &Section, path: &Path, compute: Scale) -> Result<Content, Refusal> {
    let params: Params = section.parse()?;
    let mut content = text::read(path, params.unit.0, compute)?;
    let place = |task, node| text::place(path, task, node);
    check(&mut content.graphs, &place)?;
    Ok(content)
}
