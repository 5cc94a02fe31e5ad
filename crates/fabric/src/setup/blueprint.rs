//! The plan of a domain.

use std::sync::Arc;

use super::network::Network;
use crate::setup::recording::LinkTimelines;
use crate::setup::recording::Rated;
use crate::setup::recording::Recording;
use crate::setup::recording::Watched;
use crate::setup::traffic::Traffic;
use weir_engine::Schedule;
use weir_model::EndpointId;

/// Inputs from which every domain is built.
#[derive(Clone)]
pub struct Blueprint {
    /// The network.
    pub network: Arc<Network>,
    /// The workloads, in the order of the experiment file.
    pub traffic: Arc<Vec<Traffic>>,
    /// Selection of what is recorded.
    pub recording: Recording,
    /// Windows and end of the run. With interleaving an out-of-band signal may take effect before
    /// the end of the window in which it is sent.
    pub schedule: Schedule,
    /// The endpoints whose allowed rates are recorded.
    pub rated: Arc<[Rated]>,
    /// The endpoints whose received payload is recorded, ascending.
    pub received: Arc<[EndpointId]>,
    /// The links whose busy and stalled times are recorded, if any are.
    pub links: Option<LinkTimelines>,
    /// The run's seed.
    pub seed: u64,
    /// The packets to follow.
    pub watched: Watched,
    /// True if the run ends when all tasks of applications are done, even if other traffic
    /// continues.
    pub until_done: bool,
}
