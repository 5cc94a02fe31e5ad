//! `[[workload]]` with a `motif` or a `trace`: an application whose tasks wait for each other.

use std::path::Path;
use std::sync::Arc;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::defaults::{Elsewhere, at_once, is_no, is_yes, yes};
use crate::config::Catalog;
use weir_fabric::NicOfMessage;
use weir_input::registry::{Chosen, Keys};
use weir_input::tree::{Member, Node, Value};
use weir_input::{ConfigError, Duration, Section};
use weir_model::Invalid;
use weir_workload::motifs;
use weir_workload::open::endpoints::{Endpoints, Placement};
use weir_workload::replay::{self, Trace};
use weir_workload::tasks::{Compute, Mpi};

/// An application.
#[derive(Clone, Debug)]
pub struct ApplicationConfig {
    /// Behaviour of its tasks.
    pub program: ProgramConfig,
    /// Number of tasks; None: the number of endpoints.
    pub tasks: Option<u32>,
    /// Number of times the program is run.
    pub repetitions: u32,
    /// True if a run to completion does not wait for it.
    pub background: bool,
    /// Number of NICs of each task.
    pub nics: u32,
    /// Choice of one of these for a message.
    pub nic_choice: NicOfMessage,
    /// The speed of computations; None: as programs say.
    pub compute: Option<Compute>,
    /// The section on the transfer of messages: `mpi = { preset = "codes" }`. It may be empty.
    pub mpi: Section,
}

/// Behaviour of the tasks of an application.
#[derive(Clone, Debug)]
pub enum ProgramConfig {
    /// The section of the motif: `motif = { kind = "lammps", … }`.
    Motif(Chosen<motifs::Build>),
    /// A recorded application.
    Trace(TraceConfig),
}

/// A recorded application.
#[derive(Clone, Debug)]
pub struct TraceConfig {
    /// Its section: `trace = { format = "goal", file = "run.goal" }`, with the absolute path and
    /// the hash of the file.
    pub section: Chosen<replay::Build>,
    /// The trace.
    pub trace: Arc<Trace>,
}

impl ProgramConfig {
    /// The section with this key.
    pub fn section(&self) -> &Section {
        match self {
            ProgramConfig::Motif(section) => section,
            ProgramConfig::Trace(trace) => &trace.section,
        }
    }

    /// The recorded application, if it is one.
    pub fn trace(&self) -> Option<&Arc<Trace>> {
        match self {
            ProgramConfig::Motif(_) => None,
            ProgramConfig::Trace(config) => Some(&config.trace),
        }
    }
}

/// `[[workload]]` of an application as it is written.
#[derive(Clone, Debug, Deserialize, Serialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(in crate::config) struct ApplicationSection {
    /// Its name in results: letters, digits, `_` and `-`. `workload0`, `workload1`, … by default.
    #[serde(default)]
    pub name: Option<String>,
    /// Endpoints, in task order: "all", "rest" (endpoints that no other workload names), "16..32"
    /// (16 to 31), a list, { file = "hosts.txt" } (a list as text: numbers separated by white
    /// space, # begins a comment), names of nodes ("nid[0003-0010,0020]"), or { count, placement,
    /// seed }. Default: one endpoint for each task, or all.
    #[serde(default)]
    pub endpoints: Option<Endpoints>,
    /// Number of tasks; one for each endpoint by default.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub tasks: Option<u32>,
    /// Choice of the endpoints of `tasks`, instead of `endpoints`; "linear" by default.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub placement: Option<Placement>,
    /// Seed of that placement; the run's seed by default.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub placement_seed: Option<u64>,
    /// True if these endpoints may also belong to other workloads.
    #[serde(default)]
    pub shared: bool,
    /// True if it runs. Otherwise it keeps its endpoints, so that the others stay where they are: a
    /// baseline. It is then not in the results.
    #[serde(default = "yes", skip_serializing_if = "is_yes")]
    #[schemars(extend("default" = yes()))]
    pub enabled: bool,
    /// Number of copies, on different endpoints: `name-0`, `name-1`, … One, called `name`, by
    /// default.
    #[serde(default, skip_serializing)]
    #[expect(
        dead_code,
        reason = "makes `copies` a known key; it is read with the list"
    )]
    pub copies: Option<u32>,
    /// Start of its tasks.
    #[serde(default = "at_once")]
    pub start: Duration,
    /// Number of runs of its program, one after the other; at most 1,000,000.
    #[serde(default = "once")]
    pub repetitions: u32,
    /// With `run.until = "completion"`: true if the run ends without it, when all other
    /// applications are done.
    #[serde(default, skip_serializing_if = "is_no")]
    #[schemars(extend("default" = false))]
    pub background: bool,
    /// NICs of each task, which are endpoints of one node ([nodes]): a job has that many endpoints
    /// for each task, in task order. Messages arrive at the task by any of them.
    #[serde(default = "once", skip_serializing_if = "is_one")]
    #[schemars(extend("default" = once()))]
    pub nics: u32,
    /// Only with several `nics`: the ones of a message, at the sender and at the receiver.
    #[serde(default, skip_serializing_if = "NicOfMessage::is_default")]
    #[schemars(extend("default" = NicOfMessage::default()))]
    pub nic_choice: NicOfMessage,
    /// The speed at which tasks compute: { speed, noise, stragglers, straggler_speed }.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub compute: Option<Compute>,
    /// Messages between tasks.
    #[serde(default, skip_serializing)]
    #[expect(dead_code, reason = "makes `mpi` a known key; it is read as a section")]
    pub mpi: Elsewhere,
    /// Program of its tasks: a name, or { kind = "…", … }.
    #[serde(default, skip_serializing)]
    #[expect(
        dead_code,
        reason = "makes `motif` a known key; it is read as a section"
    )]
    pub motif: Elsewhere,
    /// A recorded application, instead of `motif`: { format = "…", file = "…" }. It gives the
    /// number of tasks.
    #[serde(default, skip_serializing)]
    #[expect(
        dead_code,
        reason = "makes `trace` a known key; it is read as a section"
    )]
    pub trace: Elsewhere,
}

fn once() -> u32 {
    1
}

#[allow(clippy::trivially_copy_pass_by_ref)] // as serde wants it
fn is_one(number: &u32) -> bool {
    *number == 1
}

impl ApplicationSection {
    /// Endpoints on which it runs; `recorded`: the number of tasks of a trace.
    ///
    /// # Errors
    /// If two keys say so, or a placement has nothing to place; if a trace has not as many tasks as
    /// there should be.
    pub fn place(
        &self,
        section: &Section,
        recorded: Option<u32>,
    ) -> Result<Endpoints, ConfigError> {
        let refuse = |key: &str, message: &str, remedy: &str| {
            Err(section.refuse(Invalid::new(key, message, remedy)))
        };
        let placement = match (self.placement, self.placement_seed) {
            (Some(_), _) => Some("placement"),
            (None, Some(_)) => Some("placement_seed"),
            (None, None) => None,
        };
        if let (Some(given), Some(recorded)) = (self.tasks, recorded)
            && given != recorded
        {
            let message = format!("the trace has {recorded} tasks, not {given}");
            return refuse("tasks", &message, "leave `tasks` out");
        }
        match (&self.endpoints, self.tasks.or(recorded), placement) {
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
                count: count.saturating_mul(self.nics),
                placement: self.placement.unwrap_or(Placement::Linear),
                seed: self.placement_seed,
            }),
        }
    }
}

/// The motif of a workload.
pub(in crate::config) fn motif(
    section: &Section,
    path: &str,
    catalog: &Catalog,
) -> Result<Chosen<motifs::Build>, ConfigError> {
    let node = match section.node.get("motif").map(|member| &member.value) {
        Some(node) if matches!(node.value, Value::Table(_)) => node.clone(),
        _ => {
            return Err(section.refuse(Invalid::new(
                "motif",
                "expected a name or a table",
                "write motif = \"lammps\" or motif = { kind = \"lammps\", … } (see `weir list \
                 motifs`)",
            )));
        }
    };
    let motif = Section::new(node, format!("{path}.motif")).choosing_by("kind", Some("motifs"));
    motifs::check_counts(&motif)?;
    catalog.motifs.read(motif)
}

/// The recorded application of a workload, read. Its path is relative to `folder`.
pub(in crate::config) fn trace(
    section: &Section,
    path: &str,
    folder: &Path,
    catalog: &Catalog,
) -> Result<TraceConfig, ConfigError> {
    if section.node.get("motif").is_some() {
        return Err(section.refuse(Invalid::new(
            "trace",
            "`motif` says already what the tasks do",
            "remove one of the two",
        )));
    }
    let mut node = match section.node.get("trace").map(|member| &member.value) {
        Some(node) if matches!(node.value, Value::Table(_)) => node.clone(),
        _ => {
            return Err(section.refuse(Invalid::new(
                "trace",
                "expected a table",
                "write trace = { format = \"…\", file = \"…\" } (see `weir list traces`)",
            )));
        }
    };
    let own = |node: &Node| {
        Section::new(node.clone(), format!("{path}.trace")).choosing_by("format", Some("traces"))
    };
    absolute(&mut node, folder).map_err(|invalid| own(&node).refuse(invalid))?;
    // Wrong keys are refused before a long file is read.
    let mut section = catalog.traces.read(own(&node))?;
    let trace = replay::read(&section)?;
    if let Value::Table(members) = &mut node.value
        && !members.iter().any(|member| member.key == "sha256")
    {
        let hash = Node::default(Value::String(trace.sha256.clone()));
        members.push(Member::default("sha256", hash));
        section = catalog.traces.read(own(&node))?;
    }
    Ok(TraceConfig { section, trace })
}

/// Makes the path of a trace's `file` absolute: the resolved experiment may be run from anywhere.
fn absolute(node: &mut Node, folder: &Path) -> Result<(), Invalid> {
    let Value::Table(members) = &mut node.value else {
        return Ok(());
    };
    let Some(member) = members.iter_mut().find(|member| member.key == "file") else {
        let remedy = "add file = \"…\"";
        return Err(Invalid::new("", "the key `file` is missing", remedy));
    };
    if let Value::String(name) = &mut member.value.value {
        let path = std::path::absolute(folder.join(&*name));
        let path = path.ok().and_then(|path| Some(path.to_str()?.to_string()));
        match path {
            Some(path) => *name = path,
            None => {
                let message = format!("{name:?} is no path in UTF-8");
                return Err(Invalid::new("file", message, "write the path of a file"));
            }
        }
    }
    Ok(())
}

/// The section of the protocol; empty if it is not there.
pub(in crate::config) fn mpi(section: &Section, path: &str) -> Result<Section, ConfigError> {
    let node = match section.node.get("mpi") {
        Some(member) => member.value.clone(),
        None => Node {
            value: Value::Table(Vec::new()),
            origin: section.node.origin.clone(),
        },
    };
    Keys::of::<Mpi>().read(Section::new(node, format!("{path}.mpi")))
}

/// A workload whose `motif` is a table, also if only its name is written: tables can be laid over
/// each other.
pub(in crate::config) fn with_kind(mut node: Node) -> Node {
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
