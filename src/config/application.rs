//! `[[workload]]` with a `motif`: an application whose tasks wait for each other.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::tree::{Member, Node, Value};
use super::workload::{Elsewhere, at_once, is_yes, yes};
use super::{ConfigError, Duration, Endpoints, Placement, Section};
use crate::model::Invalid;

/// An application.
#[derive(Clone, Debug)]
pub struct ApplicationConfig {
    /// The section of the motif: `motif = { kind = "lammps", … }`.
    pub motif: Section,
    /// Number of tasks; None: as many as endpoints.
    pub tasks: Option<u32>,
    /// How many times the program is run.
    pub repetitions: u32,
    /// The section that says how messages travel: `mpi = { preset = "codes" }`. It may be empty.
    pub mpi: Section,
}

/// `[[workload]]` of an application as it is written.
#[derive(Clone, Debug, Deserialize, Serialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(super) struct ApplicationSection {
    /// Its name in results: letters, digits, `_` and `-`. `workload0`, `workload1`, … by default.
    #[serde(default)]
    pub name: Option<String>,
    /// Where it runs, in task order: "all", "rest" (those that no other workload names), "16..32" (16 to 31), a list,
    /// or { count, placement, seed }. By default as many endpoints as tasks, or all.
    #[serde(default)]
    pub endpoints: Option<Endpoints>,
    /// Number of tasks; as many as endpoints by default.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub tasks: Option<u32>,
    /// How the endpoints of `tasks` are chosen, instead of `endpoints`: "linear" by default.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub placement: Option<Placement>,
    /// Seed of that placement; the run's seed by default.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub placement_seed: Option<u64>,
    /// Whether these endpoints may also belong to other workloads.
    #[serde(default)]
    pub shared: bool,
    /// Whether it runs. One that does not keeps its endpoints, so that the others are where they were: a baseline. It is not
    /// in the results.
    #[serde(default = "yes", skip_serializing_if = "is_yes")]
    pub enabled: bool,
    /// How many of it there are, each on endpoints of its own: `name-0`, `name-1`, … Only one, called `name`, by default.
    #[serde(default, skip_serializing)]
    #[expect(
        dead_code,
        reason = "makes `copies` a known key; it is read with the list"
    )]
    pub copies: Option<u32>,
    /// When its tasks begin.
    #[serde(default = "at_once")]
    pub start: Duration,
    /// How many times its program is run, one after the other; at most 1,000,000.
    #[serde(default = "once")]
    pub repetitions: u32,
    /// How messages travel between tasks.
    #[serde(default, skip_serializing)]
    #[expect(dead_code, reason = "makes `mpi` a known key; it is read as a section")]
    pub mpi: Elsewhere,
    /// What its tasks do: a name, or { kind = "…", … }.
    #[serde(skip_serializing)]
    #[expect(
        dead_code,
        reason = "makes `motif` a known key; it is read as a section"
    )]
    pub motif: Elsewhere,
}

fn once() -> u32 {
    1
}

impl ApplicationSection {
    /// Where it runs.
    ///
    /// # Errors
    /// If two keys say so, or a placement has nothing to place.
    pub fn place(&self, section: &Section) -> Result<Endpoints, ConfigError> {
        let refuse = |key: &str, message: &str, remedy: &str| {
            Err(section.refuse(Invalid::new(key, message, remedy)))
        };
        let placement = match (self.placement, self.placement_seed) {
            (Some(_), _) => Some("placement"),
            (None, Some(_)) => Some("placement_seed"),
            (None, None) => None,
        };
        match (&self.endpoints, self.tasks, placement) {
            (Some(_), _, Some(key)) => refuse(
                key,
                "`endpoints` says already where the job runs",
                "remove one of the two, or write endpoints = { count, placement, seed }",
            ),
            (None, None, Some(key)) => refuse(
                key,
                "it is not said how many tasks are to be placed",
                "add tasks = …",
            ),
            (_, Some(0), _) => refuse("tasks", "0 tasks do nothing", "write 1 or more"),
            (Some(endpoints), _, None) => Ok(endpoints.clone()),
            (None, None, None) => Ok(Endpoints::All),
            (None, Some(count), _) => Ok(Endpoints::Count {
                count,
                placement: self.placement.unwrap_or(Placement::Linear),
                seed: self.placement_seed,
            }),
        }
    }
}

/// The section of the motif of a workload.
pub(super) fn motif(section: &Section, path: &str) -> Result<Section, ConfigError> {
    let node = match section.node.get("motif").map(|member| &member.value) {
        Some(node) if matches!(node.value, Value::Table(_)) => node.clone(),
        _ => {
            return Err(section.refuse(Invalid::new(
                "motif",
                "expected a name or a table",
                "write motif = \"lammps\" or motif = { kind = \"lammps\", … } (see `weir list motifs`)",
            )));
        }
    };
    Ok(Section::new(node, format!("{path}.motif")).choosing_by("kind", Some("motifs")))
}

/// The section of the protocol; empty if it is not there.
pub(super) fn mpi(section: &Section, path: &str) -> Section {
    let node = match section.node.get("mpi") {
        Some(member) => member.value.clone(),
        None => Node {
            value: Value::Table(Vec::new()),
            origin: section.node.origin.clone(),
        },
    };
    Section::new(node, format!("{path}.mpi"))
}

/// A workload whose `motif` is a table, also where only its name is written: tables can be laid over each other.
pub(super) fn with_kind(mut node: Node) -> Node {
    if let Value::Table(members) = &mut node.value {
        for member in members.iter_mut().filter(|member| member.key == "motif") {
            if let Value::String(_) = member.value.value {
                let kind = Member {
                    key: "kind".into(),
                    origin: member.value.origin.clone(),
                    value: member.value.clone(),
                };
                member.value = Node {
                    origin: member.value.origin.clone(),
                    value: Value::Table(vec![kind]),
                };
            }
        }
    }
    node
}
