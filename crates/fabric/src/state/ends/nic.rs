//! The NIC of an endpoint.

use crate::state::ends::control_lists::ControlLists;
use crate::state::ends::pair_ring::{NONE, PairRing};
use crate::state::pool::Fifo;
use serde::{Deserialize, Serialize};
use weir_model::EndpointId;

/// A network interface.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct Nic {
    /// Its endpoint.
    pub id: EndpointId,
    /// Packets on the wire from its router, in order of arrival.
    pub wire: Fifo,
    /// Control packets that wait to be sent.
    pub control: ControlLists,
    /// Control packets that go behind the data of their flows.
    pub ends: Fifo,
    /// Queue pairs with something to send.
    pub ring: PairRing,
    /// Number of the next message; begins again at its end ([`Origin::message`]).
    pub next_message: u32,
    /// Number of the next packet; begins again at its end ([`Origin::sequence`]).
    pub next_packet: u32,
    /// Virtual channel used last.
    pub(crate) vc: u8,
}

impl Nic {
    /// An idle NIC.
    pub fn new(id: EndpointId) -> Self {
        Nic {
            id,
            wire: Fifo::EMPTY,
            control: ControlLists::EMPTY,
            ends: Fifo::EMPTY,
            ring: PairRing::EMPTY,
            next_message: 0,
            next_packet: 0,
            vc: 0,
        }
    }

    /// True if no message and no control packet waits to be sent.
    pub fn is_idle(&self) -> bool {
        self.ring.turn == NONE && self.ends.is_empty() && self.control.are_empty()
    }
}
