//! Counters, tables and logs.

pub(crate) mod attribution;
pub(crate) mod failing;
pub(crate) mod flow_log;
pub(crate) mod link_log;
pub(crate) mod looks;
pub(crate) mod samples;
pub(crate) mod series;
pub(crate) mod stats;
pub(crate) mod task_log;
pub(crate) mod waits;
pub(crate) mod watch;

use std::collections::BTreeMap;
use std::iter;

use serde::{Deserialize, Serialize};

use crate::setup::blueprint::Blueprint;
use crate::state::OutIndex;
use attribution::Attribution;
use failing::FailingCounts;
use flow_log::FlowLog;
use link_log::LinkLog;
use samples::Samples;
use stats::Stats;
use task_log::TaskLog;
use watch::Watch;
use weir_model::Time;

/// Counters and records of a domain.
#[derive(Serialize, Deserialize)]
pub(crate) struct Records {
    pub stats: Stats,
    /// Record of flows.
    pub flow_log: FlowLog,
    /// Timelines of links.
    pub link_log: LinkLog,
    /// Log of tasks, if one is kept.
    pub task_log: TaskLog,
    /// Packets that are followed.
    pub watch: Watch,
    pub samples: Samples,
    pub attribution: Attribution,
    /// Counts of the outputs whose links have failed.
    pub failing: BTreeMap<OutIndex, FailingCounts>,
    /// Packets that have routers' links after the window.
    pub beyond: Vec<Beyond>,
}

/// A packet that has a link after the end of the window in which that was settled.
#[derive(Clone, Copy, Debug, Serialize, Deserialize)]
pub(crate) struct Beyond {
    pub output: OutIndex,
    /// Time for which it has the link, ps.
    pub begin: Time,
    pub end: Time,
}

impl Records {
    /// Records of a domain without endpoints.
    pub fn new(blueprint: &Blueprint) -> Records {
        Records {
            stats: Stats::new(blueprint.recording, iter::empty(), 0, 1, 0),
            flow_log: FlowLog::default(),
            link_log: LinkLog::default(),
            task_log: TaskLog::new(blueprint.recording.tasks),
            watch: Watch::default(),
            samples: Samples::none(),
            attribution: Attribution::none(),
            failing: BTreeMap::new(),
            beyond: Vec::new(),
        }
    }
}
