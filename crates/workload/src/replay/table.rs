//! Messages that wait for times only, as read from tables of flows.

use super::{Builder, Content, Coverage, Fault, Node, TaskGraph};
use crate::tasks::Peer;
use weir_model::{LATEST, LONGEST_MESSAGE, Time};

/// A message of a table.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Flow {
    /// Source.
    pub from: Peer,
    /// Destination.
    pub to: Peer,
    /// Payload, bytes.
    pub bytes: u64,
    /// Time after the start of the workload, ps.
    pub start: Time,
}

impl Flow {
    /// Start time in units of this number of ps, rounded.
    pub fn start_in(&self, unit: Time) -> Time {
        let unit = unit.max(1);
        self.start / unit + u64::from(self.start % unit >= unit.div_ceil(2))
    }

    /// Refuses a flow that cannot be simulated: the error and its remedy.
    pub fn check(&self) -> Result<(), (String, String)> {
        if self.bytes > LONGEST_MESSAGE / 8 {
            return Err((
                format!("a message of {} bytes is too long", self.bytes),
                format!("at most {} are possible", LONGEST_MESSAGE / 8),
            ));
        }
        if self.start >= LATEST {
            return Err((
                "the start is later than can be simulated".into(),
                "at most 1,000,000 s are possible: look at `unit`".into(),
            ));
        }
        Ok(())
    }
}

/// Maximum number of tasks of a table without lines.
const TASKS: u64 = 1 << 16;
/// Additional tasks per line: the length of a file thus bounds its memory.
const TASKS_PER_LINE: u64 = 16;

/// Maximum number of tasks of a table with this number of lines.
pub fn most_tasks(lines: usize) -> u64 {
    TASKS + TASKS_PER_LINE * lines as u64
}

/// Maximum number of tasks of a table if its section gives their number.
pub const TASKS_IF_GIVEN: u64 = 1 << 20;

/// Number of tasks of a table with this number of lines. Tasks up to `highest` have flows; `given`
/// is the number of all tasks, if the section gives it.
///
/// # Errors
/// If that is too few, or the highest is so high that it must be an error.
pub fn tasks(highest: Option<u64>, given: Option<u32>, lines: usize) -> Result<Tasks, Fault> {
    let active = highest.map_or(0, |highest| highest + 1);
    let (most, remedy) = match given {
        Some(_) => (
            most_tasks(lines).max(TASKS_IF_GIVEN),
            "number tasks from 0 on",
        ),
        None => (
            most_tasks(lines),
            "number tasks from 0 on, or write `tasks`",
        ),
    };
    match given {
        Some(given) if active > u64::from(given) => Err(Fault::new(
            format!("it has a task {}, and there are {given}", active - 1),
            "write more `tasks`, or leave them out",
        )),
        _ if active > most => Err(Fault::new(
            format!("it has a task {} and {lines} lines only", active - 1),
            remedy,
        )),
        _ => Ok(Tasks {
            active: active as u32,
            all: given.unwrap_or(active as u32),
        }),
    }
}

/// The tasks of a table.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Tasks {
    /// Tasks up to the last one that has flows.
    pub active: u32,
    /// All tasks.
    pub all: u32,
}

/// The operations of each task: its flows leave at their times, in the order of the table if those
/// are equal. A task receives its messages whenever they arrive.
pub fn graphs(flows: &[Flow], tasks: u32) -> Vec<TaskGraph> {
    let mut order: Vec<u32> = (0..flows.len() as u32).collect();
    order.sort_by_key(|&flow| flows[flow as usize].start);
    let mut builders: Vec<Builder> = Vec::new();
    builders.resize_with(tasks as usize, Builder::default);
    // The operation after which the next one of a task leaves, and its time.
    let mut last: Vec<Option<(u32, Time)>> = vec![None; tasks as usize];
    for flow in order.into_iter().map(|flow| flows[flow as usize]) {
        let own = &mut builders[flow.from as usize];
        let clock = &mut last[flow.from as usize];
        let (before, then) = clock.map_or((None, 0), |(node, time)| (Some(node), time));
        if flow.start > then {
            let delay = own.add(Node::delay(flow.start - then));
            if let Some(before) = before {
                own.requires(delay, before);
            }
            *clock = Some((delay, flow.start));
        }
        let send = own.add(Node::send(flow.to, flow.bytes, 0));
        if let Some((delay, _)) = *clock {
            own.requires(send, delay);
        }
        builders[flow.to as usize].add(Node::receive(flow.from, flow.bytes, 0));
    }
    builders.into_iter().map(Builder::build).collect()
}

/// The content of a table.
pub fn content(flows: &[Flow], tasks: Tasks, mut coverage: Coverage, sha256: String) -> Content {
    let bytes = flows
        .iter()
        .map(|flow| u128::from(flow.bytes))
        .sum::<u128>();
    let bytes = u64::try_from(bytes).unwrap_or(u64::MAX);
    coverage.simulated("messages", flows.len() as u64, bytes);
    Content {
        tasks: tasks.all,
        ..Content::new(graphs(flows, tasks.active), coverage, sha256)
    }
}
