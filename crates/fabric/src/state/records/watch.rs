//! Packets that are followed, hop by hop: one that the user names, or those of chosen messages.

use rustc_hash::FxHashMap;
use serde::{Deserialize, Serialize};

use crate::setup::network::Network;
use weir_model::{EndpointId, LinkKind, Time};
use weir_network::topology::Place;

/// Steps of the packets that a domain follows.
#[derive(Debug, Default, Serialize, Deserialize)]
pub struct Watch {
    /// True once the packet that the user has named is under way: its number comes again after
    /// 2³² packets.
    pub found: bool,
    /// Their steps here.
    pub steps: Vec<Step>,
    /// For how long the NIC of a message had lacked credit when the message was handed to it, by
    /// source and number.
    pub stalled: FxHashMap<(EndpointId, u32), Time>,
}

/// One link of a packet's path.
#[derive(Clone, Copy, Debug, Serialize, Deserialize)]
pub struct Step {
    /// The packet: its source, its message's number there, and its own.
    pub packet: (EndpointId, u32, u32),
    /// The beginning of the link.
    pub from: Place,
    /// The kind of link.
    pub kind: LinkKind,
    /// Traffic class.
    pub class: u8,
    /// Queue within the class; the virtual channel, if virtual channels are not divided.
    pub queue: u32,
    /// Time when the packet's message was generated, ps.
    pub generated: Time,
    /// For how long the NIC has lacked credit since then, ps; 0 at routers.
    pub stalled: Time,
    /// Time when it left on the link, ps.
    pub left: Time,
    /// For how long the link was taken by it, ps.
    pub taken: Time,
    /// Time when the head is at the far end, ps.
    pub head: Time,
    /// Time when the tail is at the far end, ps.
    pub tail: Time,
    /// True if the far end is the destination's NIC.
    pub last: bool,
}

impl Step {
    /// Time when the head reached the place where this link begins, ps.
    /// That is when it was at the far end of the link `before`; at the NIC, when the message was
    /// generated.
    pub fn arrived(&self, before: Option<&Step>) -> Time {
        before.map_or(self.generated, |before| before.head)
    }

    /// Queueing time of the packet where this link begins, ps: the time in excess of an empty
    /// network. That would be zero at its NIC; at a router it is the time of an idle one, plus the
    /// time of the packet itself if it has to be there as a whole.
    pub fn waited(&self, before: Option<&Step>, network: &Network) -> Time {
        let free = match self.from {
            Place::Nic(_) => 0,
            Place::Router(router, _) => {
                let own = network.router(router);
                let whole = match own.switching.stores() {
                    true => before.map_or(0, |one| one.tail - one.head),
                    false => 0,
                };
                own.latency + whole
            }
        };
        (self.left - self.arrived(before)).saturating_sub(free)
    }
}

impl Watch {
    /// The steps of watched packets in this domain.
    pub fn steps(&self) -> &[Step] {
        &self.steps
    }
}
