//! Recorded applications: traces, and tables of messages. One file or folder for each format.
//!
//! A format's reader gives the operations of each task as a graph ([`TaskGraph`]) and the part of
//! the file that it covers ([`Coverage`]). [`Walk`] carries a graph out.

/// The keys of a format: the common ones and its own. (Serde refuses unknown keys and flattens
/// structs, but not both.)
macro_rules! keys {
    ($(#[$about:meta])* struct $name:ident { $($own:tt)* }) => {
        $(#[$about])*
        #[derive(Clone, Debug, Deserialize, Serialize, JsonSchema)]
        #[serde(deny_unknown_fields)]
        struct $name {
            /// The file, relative to the experiment file.
            #[allow(dead_code)]
            file: String,
            /// Its SHA-256: another file is refused.
            #[serde(default, skip_serializing_if = "Option::is_none")]
            #[allow(dead_code)]
            sha256: Option<String>,
            /// Factor of the computation times in the file; where messages have times, factor of
            /// the time from the start of the workload, or from the events they wait for, until
            /// they leave.
            #[serde(default)]
            #[allow(dead_code)]
            compute: Scale,
            $($own)*
        }
    };
}

mod attempt;
mod check;
mod coverage;
mod deadlock;
mod files;
mod graph;
mod input;
mod mpi;
mod operations;
mod pace;
mod places;
mod program;
mod scale;
mod table;
#[cfg(test)]
mod testing;
mod walk;

mod allprof;
mod chakra;
mod connections;
mod flows;
mod goal;
mod matrix;
mod simai;
mod simgrid;
mod vef;

use std::collections::BTreeMap;
use std::fmt;
use std::path::Path;
use std::sync::{Arc, Mutex, OnceLock, Weak};

use serde::Deserialize;

pub use attempt::{attempt, attempt_any};
pub use coverage::Coverage;
pub use goal::write as write_goal;
pub use graph::{Builder, Kind, Node, Part, TaskGraph};
use graph::{Graphs, Make};
pub use input::Fault;
use places::Places;
pub use program::Replay;
pub use scale::Scale;
pub use table::Flow;
pub use vef::write as write_vef;
pub use walk::Walk;

use crate::tasks::{Algorithms, Peer};
use weir_input::registry::{Chosen, Entry};
use weir_input::{ConfigError, Duration, Section};
use weir_model::{Invalid, NS, Time};

/// Reads a file as given in its section.
pub type Build = fn(&Section, &Path, Scale) -> Result<Content, Refusal>;

/// All formats.
pub const REGISTRY: &[Entry<Build>] = &[
    goal::ENTRY,
    flows::ENTRY,
    matrix::ENTRY,
    connections::ENTRY,
    vef::ENTRY,
    simgrid::ENTRY,
    allprof::ENTRY,
    chakra::ENTRY,
    simai::ENTRY,
];

/// The result of reading a file.
pub struct Content {
    /// The operations of each task; tasks after the last of them do nothing.
    pub graphs: Vec<TaskGraph>,
    /// Makes the operations of each task instead, when they are needed.
    pub make: Option<Make>,
    /// Number of tasks.
    pub tasks: u32,
    /// The part of the file that it covers.
    pub coverage: Coverage,
    /// The hash of all bytes read: SHA-256, hexadecimal.
    pub sha256: String,
}

impl Content {
    /// A trace with one task per graph.
    fn new(graphs: Vec<TaskGraph>, coverage: Coverage, sha256: String) -> Content {
        Content {
            tasks: graphs.len() as u32,
            graphs,
            make: None,
            coverage,
            sha256,
        }
    }
}

/// Reason why a file is refused.
pub enum Refusal {
    /// An error in its section.
    Section(ConfigError),
    /// An error in the file.
    File(Fault),
}

impl From<ConfigError> for Refusal {
    fn from(error: ConfigError) -> Refusal {
        Refusal::Section(error)
    }
}

impl From<Fault> for Refusal {
    fn from(fault: Fault) -> Refusal {
        Refusal::File(fault)
    }
}

/// A recorded application.
pub struct Trace {
    graphs: Graphs,
    tasks: u32,
    /// The part of the file that it covers.
    pub coverage: Coverage,
    /// The hash of all bytes read.
    pub sha256: String,
    /// The name of the file.
    pub name: String,
    /// Pace of each task, computed on first use.
    paces: Vec<OnceLock<Option<Box<[Time]>>>>,
}

impl Trace {
    /// Number of tasks.
    pub fn tasks(&self) -> u32 {
        self.tasks
    }

    /// The operations of a task.
    pub fn graph(&self, task: Peer) -> Arc<TaskGraph> {
        self.graphs.of(task)
    }

    /// Additional time of each stretch of a task's operations over the previous ones, if it differs
    /// from their computation time ([`pace::pace`]).
    fn pace(&self, task: Peer) -> Option<&[Time]> {
        let pace = || pace::pace(&self.graph(task));
        let known = self.paces.get(task as usize)?;
        known.get_or_init(pace).as_deref()
    }

    /// Bytes of memory held, including the memory used to check it, which the allocator does not
    /// return to the system.
    pub fn memory_bytes(&self) -> u64 {
        /// Bytes per operation for the check: its position in the file, and for sends and receives
        /// the other end.
        const CHECKED: usize = 13;
        self.graphs.memory_bytes(CHECKED)
    }

    /// Algorithms that its collective operations use, under this selection.
    pub fn algorithms(&self, algorithms: &Algorithms) -> Vec<Used> {
        let mut used: BTreeMap<Used, u64> = BTreeMap::new();
        for graph in (0..self.graphs.count()).map(|task| self.graph(task)) {
            let parts = graph.collectives.iter();
            // Each operation has one part at the first place.
            for part in parts.filter(|part| part.place == 0 && part.members.len() > 1) {
                let (operation, algorithm) = part.names(algorithms);
                let one = Used {
                    operation,
                    tasks: part.members.len(),
                    algorithm,
                    count: 0,
                };
                *used.entry(one).or_default() += 1;
            }
        }
        used.into_iter()
            .map(|(one, count)| Used { count, ..one })
            .collect()
    }
}

/// Collective operations that are carried out in the same way.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Used {
    /// Name of the operation.
    pub operation: &'static str,
    /// Number of tasks in each.
    pub tasks: usize,
    /// Name of the algorithm.
    pub algorithm: &'static str,
    /// Number of operations.
    pub count: u64,
}

impl fmt::Display for Used {
    fn fmt(&self, f: &mut fmt::Formatter) -> fmt::Result {
        let Used {
            operation,
            tasks,
            algorithm,
            count,
        } = self;
        write!(f, "{count} {operation} of {tasks} tasks by {algorithm}")
    }
}

impl fmt::Debug for Trace {
    fn fmt(&self, f: &mut fmt::Formatter) -> fmt::Result {
        write!(f, "Trace({} {})", self.name, self.sha256)
    }
}

/// The keys common to all formats.
#[derive(Clone, Deserialize)]
struct Common {
    file: String,
    #[serde(default)]
    sha256: Option<String>,
    #[serde(default)]
    compute: Scale,
    /// Unit of the times in the file, if its format has one.
    #[serde(default)]
    unit: Option<Duration>,
}

/// Traces in memory: the points of a study share them.
static KNOWN: Mutex<Vec<(String, Weak<Trace>)>> = Mutex::new(Vec::new());

/// Reads the trace of a section: `{ format = "goal", file = "…" }`, with an absolute path.
///
/// # Errors
/// If the file cannot be read, is damaged, does not have the expected hash, or is a trace with
/// which no run could finish.
pub fn read(section: &Chosen<Build>) -> Result<Arc<Trace>, ConfigError> {
    let common: Common = section.parse()?;
    if common.unit.is_some_and(|unit| unit.0 == 0) {
        let remedy = "write a longer time, such as \"1 ns\"";
        return Err(section.refuse(Invalid::new("unit", "a unit of no time", remedy)));
    }
    let path = Path::new(&common.file);
    let key = key(section, path);
    let mut known = KNOWN
        .lock()
        .unwrap_or_else(|poisoned| poisoned.into_inner());
    known.retain(|(_, trace)| trace.strong_count() > 0);
    let same = known.iter().find(|(own, _)| *own == key);
    if let Some(trace) = same.and_then(|(_, trace)| trace.upgrade()) {
        return Ok(trace);
    }
    let refuse = |fault: Fault| {
        let place = match fault.place.is_empty() {
            true => String::new(),
            false => format!(", {}", fault.place),
        };
        let message = format!("{}{place}: {}", common.file, fault.message);
        section.refuse(Invalid::new("file", message, fault.remedy))
    };
    let mut content = (section.variant.build)(section, path, common.compute).map_err(
        |refusal| match refusal {
            Refusal::Section(error) => error,
            Refusal::File(fault) => refuse(fault),
        },
    )?;
    if content.tasks == 0 {
        return Err(refuse(Fault::new(
            "it has no task",
            "give a trace with tasks",
        )));
    }
    if let Some(given) = &common.sha256
        && *given != content.sha256
    {
        let message = format!(
            "the file is another one now: its hash is {}",
            content.sha256
        );
        let remedy = "bring the old file back, or leave `sha256` out";
        return Err(section.refuse(Invalid::new("sha256", message, remedy)));
    }
    let name = path.file_name().map(|name| name.to_string_lossy());
    stays(&mut content);
    let graphs = match content.make {
        Some(make) => Graphs::Made(content.tasks, make, Mutex::new(None)),
        None => {
            let graphs = content.graphs.into_iter().map(Arc::new).collect();
            Graphs::Read(graphs, Arc::new(Builder::default().build()))
        }
    };
    let trace = Arc::new(Trace {
        paces: (0..graphs.count()).map(|_| OnceLock::new()).collect(),
        graphs,
        tasks: content.tasks,
        coverage: content.coverage,
        sha256: content.sha256,
        name: name.unwrap_or_default().into_owned(),
    });
    known.push((key, Arc::downgrade(&trace)));
    Ok(trace)
}

/// Notes the messages of tasks to themselves: they are carried out, and no network sees them.
fn stays(content: &mut Content) {
    for (graph, task) in content.graphs.iter().zip(0..) {
        let own = |node: &&Node| node.kind == Kind::Send && node.peer == task;
        for node in graph.nodes.iter().filter(own) {
            let name = "messages that stay within a task";
            content.coverage.simulated(name, 1, node.amount);
        }
    }
}

/// Identity of a trace: its section, and the file's length and date.
fn key(section: &Section, path: &Path) -> String {
    let about = std::fs::metadata(path).ok();
    let about = about.map(|about| (about.len(), about.modified().ok()));
    format!("{} {about:?}", section.text())
}

/// The default unit of times in formats that count nanoseconds.
fn nanosecond() -> Duration {
    Duration(NS)
}

/// Refuses a task number beyond the number of tasks.
fn task(number: u64, tasks: u32) -> Result<Peer, (String, String)> {
    match u32::try_from(number) {
        Ok(task) if task < tasks => Ok(task),
        _ => Err((
            format!("there is no task {number} among {tasks}"),
            format!(
                "write a task from 0 to {}; markers without a receiver have to be removed",
                tasks.saturating_sub(1)
            ),
        )),
    }
}

/// The same for a number that may be negative.
fn signed_task(number: i64, tasks: u32) -> Result<Peer, (String, String)> {
    match u64::try_from(number) {
        Ok(number) => task(number, tasks),
        Err(_) => Err((
            format!("there is no task {number} among {tasks}"),
            format!("write a task from 0 to {}", tasks.saturating_sub(1)),
        )),
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::testing::read_bytes;

    /// The traces of the integration tests. For formats with a file per task only the first: sends
    /// and calls of other tasks are missing.
    const FILES: [(&str, &[u8]); 10] = [
        (
            "goal",
            include_bytes!("../../../../tests/traces/mixed.goal"),
        ),
        (
            "goal",
            include_bytes!("../../../../tests/traces/mixed.goal.bin"),
        ),
        (
            "simgrid",
            include_bytes!("../../../../tests/traces/mixed.ti"),
        ),
        (
            "allprof",
            include_bytes!("../../../../tests/traces/allprof/rank-0.txt"),
        ),
        (
            "chakra",
            include_bytes!("../../../../tests/traces/chakra/npu.0.et"),
        ),
        (
            "flows",
            include_bytes!("../../../../tests/traces/flows.csv"),
        ),
        ("vef", include_bytes!("../../../../tests/traces/mixed.vef")),
        (
            "simai",
            include_bytes!("../../../../tests/traces/step.simai"),
        ),
        (
            "matrix",
            include_bytes!("../../../../tests/traces/matrix.csv"),
        ),
        (
            "connections",
            include_bytes!("../../../../tests/traces/chain.cm"),
        ),
    ];

    proptest! {
        /// Truncated, and with some bytes changed: it is read, or refused with an error; nothing
        /// else.
        #[test]
        fn damage_is_no_disaster(
            file in 0..FILES.len(),
            cut in 0.0..1.2f64,
            changes in prop::collection::vec((any::<prop::sample::Index>(), any::<u8>()), 0..4),
            digits in any::<bool>(),
        ) {
            let (format, content) = FILES[file];
            let keep = (cut * content.len() as f64) as usize;
            let mut bytes = content[..keep.min(content.len())].to_vec();
            for (at, byte) in changes {
                if !bytes.is_empty() {
                    let at = at.index(bytes.len());
                    bytes[at] = if digits { b'0' + byte % 10 } else { byte };
                }
            }
            if let Err(error) = read_bytes(format, "", &bytes) {
                prop_assert!(!error.message.is_empty() && error.remedy().is_some(), "{error:?}");
            }
        }
    }
}
