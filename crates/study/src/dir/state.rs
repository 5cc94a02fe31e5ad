//! The state of a point, and the file that stores it.

use serde::{Deserialize, Serialize};

/// Content of `status.toml`.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Status {
    /// State of the point.
    pub state: StateName,
    /// Its place in the study when it was started.
    /// The job file may have been edited since: a hint where to look first.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub point: Option<usize>,
    /// Reason of the failure.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub reason: Option<Reason>,
    /// The last words of the run.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub message: Option<String>,
    /// The exit code; absent if a signal ended the run, or while it runs.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub exit_code: Option<i32>,
    /// From its start to its end.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub wall_seconds: Option<f64>,
    /// Wall-clock time at its start, RFC 3339, UTC.
    pub started: String,
    /// Computer on which it runs.
    pub host: String,
    /// The process of the run.
    pub pid: u32,
    /// Start of that process, in the units of the operating system: tells it from a later one of
    /// the same number.
    pub pid_began: u64,
    /// MPI ranks.
    pub ranks: u32,
}

/// The states in `status.toml`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum StateName {
    /// The result exists.
    Done,
    /// It ended without a result.
    Failed,
    /// It has begun.
    Running,
}

/// Reasons why a point failed.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Reason {
    /// The run ended with an error.
    Error,
    /// Packets in flight could never move again.
    Stalled,
    /// It took longer than `run.max_wall`.
    #[serde(rename = "time limit")]
    TimeLimit,
    /// A signal ended it.
    Killed,
    /// It had a result, which cannot be read any more.
    Damaged,
}

impl Reason {
    /// Its name in `status.toml`.
    pub fn name(self) -> &'static str {
        match self {
            Reason::Error => "error",
            Reason::Stalled => "stalled",
            Reason::TimeLimit => "time limit",
            Reason::Killed => "killed",
            Reason::Damaged => "damaged",
        }
    }

    /// True if the next run tries again without being asked to: the experiment is not to blame.
    pub fn passes(self) -> bool {
        matches!(self, Reason::Killed | Reason::Damaged)
    }
}

/// State of a point.
#[derive(Clone, Debug, PartialEq)]
pub enum State {
    /// The point was not started yet, or its run was killed.
    Waiting,
    /// It is running now.
    Running,
    /// Its result is whole.
    Done,
    /// It failed.
    Failed(Reason, String),
}

impl State {
    /// Its name in tables.
    pub fn name(&self) -> &'static str {
        match self {
            State::Waiting => "waiting",
            State::Running => "running",
            State::Done => "done",
            State::Failed(..) => "failed",
        }
    }
}
