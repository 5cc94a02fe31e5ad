//! The ends of tasks and their iterations. The events of tasks and their causes, from which the
//! chain is found that a job's end hung on.

use std::collections::BTreeMap;

use rustc_hash::FxHashMap;
use serde::{Deserialize, Serialize};

use weir_model::table::IterationRow;
use weir_model::{EndpointId, Time};
use weir_workload::tasks::{Envelope, Peer};

/// One task at the end of a run.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct TaskEnd {
    pub job: u16,
    pub task: Peer,
    /// Time when it was done, ps; None if it was not.
    pub finish: Option<Time>,
    /// Its communication time, up to the end of the run if it was not done, ps.
    pub communication: Time,
    /// Messages that it never received.
    pub unclaimed: u64,
}

/// Tasks of a job in one domain that are not done.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct TasksBehind {
    pub job: u16,
    /// The first iteration that they have not begun.
    pub next: u64,
    /// Number of them.
    pub tasks: u64,
}

/// One row for each iteration of a job, by job, then number: from the first of its tasks'
/// beginnings to the last of their ends.
pub fn merge_iterations(rows: impl Iterator<Item = IterationRow>) -> Vec<IterationRow> {
    let mut merged: BTreeMap<(u32, u32), IterationRow> = BTreeMap::new();
    for new in rows {
        let first = IterationRow {
            begin_ps: Time::MAX,
            end_ps: 0,
            tasks: 0,
            ended: 0,
            ..new
        };
        let row = merged.entry((new.job, new.iteration)).or_insert(first);
        row.begin_ps = row.begin_ps.min(new.begin_ps);
        row.end_ps = row.end_ps.max(new.end_ps);
        row.tasks += new.tasks;
        row.ended += new.ended;
    }
    merged.into_values().collect()
}

/// Something that happened to a task, or that it did.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct TaskStep {
    /// The job, in the order of the workloads that run.
    pub job: u16,
    /// The task.
    pub task: Peer,
    /// Time of the event, ps.
    pub time: Time,
    /// The event.
    pub what: TaskEvent,
    /// Place of its cause in the log. None if it began by itself, or came from another task.
    pub cause: Option<u32>,
}

/// Events of a task. Messages are identified by the words of their stamps ([`Envelope::to_stamp`]).
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum TaskEvent {
    /// It began.
    Start,
    /// A time that it had to wait was over.
    Woken,
    /// It gave a message to its NIC.
    Given {
        /// For this task.
        to: Peer,
        /// Identifier of the message for the two tasks.
        stamp: u64,
        /// Identifier of the message in the network: its source, and its number there.
        message: (EndpointId, u32),
    },
    /// One of its messages had left, or was copied.
    Left {
        /// For this task.
        to: Peer,
        /// Identifier of the message for the two tasks.
        stamp: u64,
    },
    /// A message was there.
    Came {
        /// From this task.
        from: Peer,
        /// Identifier of the message for the two tasks.
        stamp: u64,
    },
}

/// The log of a domain.
#[derive(Debug, Default, Serialize, Deserialize)]
pub(crate) struct TaskLog {
    on: bool,
    rows: Vec<TaskStep>,
    /// The event that is being handled.
    now: Option<u32>,
    /// Cause of each event that is due, by the event's order.
    causes: FxHashMap<u64, u32>,
}

impl TaskLog {
    /// A log that is kept, or is not.
    pub(crate) fn new(on: bool) -> TaskLog {
        TaskLog {
            on,
            ..TaskLog::default()
        }
    }

    /// True if it is kept.
    #[inline]
    pub(crate) fn is_on(&self) -> bool {
        self.on
    }

    /// Notes that the current event makes something due.
    #[cold]
    pub(crate) fn due(&mut self, order: u64) {
        if let Some(now) = self.now {
            self.causes.insert(order, now);
        }
    }

    /// Makes the cause of a due event the current one, when the event happens.
    #[cold]
    pub(crate) fn happens(&mut self, order: u64) {
        self.now = self.causes.remove(&order);
    }

    /// Begins an event of a task; everything that it causes comes until [`TaskLog::over`].
    #[cold]
    pub(crate) fn begin(&mut self, job: u16, task: Peer, what: TaskEvent, time: Time) {
        let row = self.rows.len() as u32;
        self.add(job, task, what, time);
        self.now = Some(row);
    }

    /// A task does something.
    #[cold]
    pub(crate) fn add(&mut self, job: u16, task: Peer, what: TaskEvent, time: Time) {
        let cause = self.now;
        self.rows.push(TaskStep {
            job,
            task,
            time,
            what,
            cause,
        });
    }

    /// Ends the current event: it has caused everything that it causes.
    #[inline]
    pub(crate) fn over(&mut self) {
        self.now = None;
    }

    /// The rows, in order.
    pub(crate) fn take(&mut self) -> Vec<TaskStep> {
        std::mem::take(&mut self.rows)
    }
}

/// The word of a message's stamp.
pub(crate) fn word(envelope: Envelope) -> u64 {
    envelope.to_stamp().word()
}
