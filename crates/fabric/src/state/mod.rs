//! Everything of a domain that changes while it runs: plain data that can be saved.

mod ports;
mod saved;

pub use ports::*;

use std::iter;

use serde::{Deserialize, Serialize};

use crate::endpoint::hosts::Hosts;
use crate::endpoint::nic::Nic;
use crate::endpoint::reassembly::Reassembly;
use crate::endpoint::resend::Resends;
use crate::endpoint::send_queues::SendQueues;
use crate::endpoint::shaper::Shaper;
use crate::endpoint::source::Source;
use crate::flows::Flows;
use crate::mail::inbox::Inbox;
use crate::mail::later::Later;
use crate::mail::signals::Signals;
use crate::record::attribution::Attribution;
use crate::record::flow_log::FlowLog;
use crate::record::samples::Samples;
use crate::record::stats::Stats;
use crate::record::task_log::TaskLog;
use crate::record::watch::Watch;
use crate::router::allocation::Allocation;
use crate::router::crowd::{Crowds, HeadQueues};
use crate::router::ring::Requests;
use crate::setup::build::Blueprint;
use crate::setup::memory::Memory;
use crate::setup::network::Network;
use weir_model::Time;
use weir_slots::Slots;

/// Routers and their ports, and the links of NICs.
#[derive(Default, Serialize, Deserialize)]
pub(crate) struct Ports {
    pub routers: Slots<Router>,
    /// What the routing keeps at the routers.
    pub memory: Memory,
    pub inputs: Slots<Input>,
    pub outputs: Slots<Output>,
    pub channels: Slots<Channel>,
    pub requests: Requests,
    pub rings: Rings,
    pub crowds: Crowds,
    pub fifos: HeadQueues,
    pub allocation: Allocation,
}

/// NICs, and what they send and receive.
#[derive(Serialize, Deserialize)]
pub(crate) struct Ends {
    pub nics: Slots<Nic>,
    pub sends: SendQueues,
    /// By NIC; of schemes that send packets again only.
    pub resends: Vec<Resends>,
    /// Messages that have come in part.
    pub partial: Reassembly,
    /// Messages of tasks that are acknowledged in part; of schemes that may drop packets only.
    pub acknowledged: Reassembly,
    pub sources: Slots<Source>,
    /// Tasks of applications.
    #[serde(skip)]
    pub hosts: Hosts,
    /// Flows whose ways are set up.
    pub flows: Flows,
    /// What NICs have sent at the rates of flows.
    pub shaper: Shaper,
}

impl Ends {
    /// Without endpoints.
    pub fn new(network: &Network) -> Ends {
        Ends {
            nics: Slots::default(),
            sends: SendQueues::new(network.parameters.order, network.flows.managed),
            resends: Vec::new(),
            partial: Reassembly::default(),
            acknowledged: Reassembly::default(),
            sources: Slots::default(),
            hosts: Hosts::default(),
            flows: Flows::default(),
            shaper: Shaper::default(),
        }
    }
}

/// Mail that has come and takes effect later.
#[derive(Serialize, Deserialize)]
pub(crate) struct Mail {
    /// What the scheme does at a later time: timers at NICs, control packets.
    pub later: Later,
    /// What the scheme says out of band.
    pub signals: Signals,
    /// By neighbour.
    pub inboxes: Slots<Inbox>,
}

impl Mail {
    /// Without neighbours.
    pub fn new(hurry: bool) -> Mail {
        Mail {
            later: Later::default(),
            signals: Signals::new(hurry),
            inboxes: Slots::default(),
        }
    }
}

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
