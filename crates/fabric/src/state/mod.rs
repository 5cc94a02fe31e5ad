//! Everything of a domain that changes while it runs: plain data that can be saved.

pub(crate) mod ends;
pub(crate) mod event;
pub(crate) mod mail;
pub(crate) mod pool;
pub(crate) mod ports;
mod saved;

use std::iter;

use serde::{Deserialize, Serialize};

use crate::record::attribution::Attribution;
use crate::record::flow_log::FlowLog;
use crate::record::samples::Samples;
use crate::record::stats::Stats;
use crate::record::task_log::TaskLog;
use crate::record::watch::Watch;
use crate::setup::blueprint::Blueprint;
use weir_model::Time;

pub(crate) use ends::Ends;
pub(crate) use mail::Mail;
pub use ports::*;

/// What is counted and recorded.
#[derive(Serialize, Deserialize)]
pub(crate) struct Records {
    pub stats: Stats,
    /// What is recorded of flows.
    pub flow_log: FlowLog,
    /// What happens to tasks, if that is kept.
    pub task_log: TaskLog,
    /// Packets that are followed.
    pub watch: Watch,
    pub samples: Samples,
    pub attribution: Attribution,
}

impl Records {
    /// Of a domain without endpoints.
    pub fn new(blueprint: &Blueprint) -> Records {
        Records {
            stats: Stats::new(blueprint.recording, iter::empty(), 0, 1, 0),
            flow_log: FlowLog::default(),
            task_log: TaskLog::new(blueprint.recording.tasks),
            watch: Watch::default(),
            samples: Samples::none(),
            attribution: Attribution::none(),
        }
    }
}

/// How far the domain is.
#[derive(Clone, Copy, Debug, Default, Serialize, Deserialize)]
pub(crate) struct Progress {
    /// The end of the window.
    pub until: Time,
    /// Packet-hops so far.
    pub moved: u64,
    /// Events so far.
    pub events: u64,
    /// Those of the last window.
    pub recent: u64,
}
