//! The things that a run records.

use std::sync::Arc;

use rustc_hash::FxHashSet;
use serde::{Deserialize, Serialize};
use weir_model::{EndpointId, RouterId, Span, Time};
use weir_workload::timeline::Limits;

/// Selection of what is recorded.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Recording {
    /// The measurement window.
    pub window: Span,
    /// Least width of the bins of the time series, ps.
    pub bin: Time,
    /// Interval at which the routers' contents are recorded, ps; 0: never.
    pub occupancy: Time,
    /// Interval at which the allowed rates of chosen endpoints are recorded, ps; 0: never.
    pub rates: Time,
    /// Interval at which waiting data is looked for at the ports, ps; 0: never.
    pub waits: Time,
    /// True if sources and destinations of waiting data are told apart.
    pub waits_by_source: bool,
    /// A bit for each record of the scheme that is kept ([`weir_congestion::Rules::records`]).
    pub scheme: u32,
    /// Keep a row for each packet.
    pub packets: bool,
    /// Keep a row for each message.
    pub messages: bool,
    /// Keep a row for each iteration of each application.
    pub iterations: bool,
    /// Keep how long tasks took for their iterations.
    pub iteration_times: bool,
    /// Keep the paths of flows.
    pub flows: bool,
    /// Part of the run of which timelines are kept, if any are.
    pub timeline: Option<Span>,
    /// Keep the events of the tasks of applications, with their causes.
    pub tasks: bool,
}

/// An endpoint whose allowed rate is recorded.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Rated {
    /// The endpoint.
    pub endpoint: EndpointId,
    /// The job (its number among the jobs that run) and the task by which it was chosen.
    pub task: Option<(u16, u32)>,
}

/// The links whose busy and stalled times are recorded.
#[derive(Clone, Debug)]
pub struct LinkTimelines {
    /// Routers whose ports send onto them, ascending.
    pub routers: Arc<[RouterId]>,
    /// Selection of what is kept of each link.
    pub limits: Limits,
}

/// The packets that a run follows.
#[derive(Clone, Debug, Default)]
pub enum Watched {
    /// None.
    #[default]
    Nothing,
    /// One: its source and its number there.
    Packet(EndpointId, u32),
    /// All data packets of these messages: their sources and their numbers there. A number comes
    /// again after 2³² messages.
    Messages(Arc<FxHashSet<(EndpointId, u32)>>),
}
