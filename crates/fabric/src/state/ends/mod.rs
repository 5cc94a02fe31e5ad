//! NICs: their sending and receiving, and the tasks of applications on them.

pub(crate) mod flows;
pub(crate) mod nic;
pub(crate) mod reassembly;
pub(crate) mod resend;
pub(crate) mod sends;
pub(crate) mod shaper;
pub(crate) mod source;

use serde::{Deserialize, Serialize};

use crate::setup::network::Network;
use flows::Flows;
use nic::Nic;
use reassembly::Reassembly;
use resend::Resends;
use sends::send_queues::SendQueues;
use shaper::Shaper;
use source::Source;
use weir_slots::Slots;

/// NICs, with the state of their sending and receiving.
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
    /// Flows whose paths are set up.
    pub flows: Flows,
    /// Last packets that NICs have sent at the rates of flows.
    pub shaper: Shaper,
}

impl Ends {
    /// Without endpoints.
    pub fn new(network: &Network) -> Ends {
        Ends {
            nics: Slots::default(),
            sends: SendQueues::new(
                network.parameters.order,
                network.parameters.prepared,
                network.flows.shared,
            ),
            resends: Vec::new(),
            partial: Reassembly::default(),
            acknowledged: Reassembly::default(),
            sources: Slots::default(),
            flows: Flows::default(),
            shaper: Shaper::default(),
        }
    }
}
