//! The NIC of an endpoint.

use crate::state::ends::sends::pair_ring::{NONE, PairRing};
use crate::state::pool::{Fifo, Pool};
use serde::{Deserialize, Serialize};
use weir_model::{EndpointId, PacketIndex};

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
    /// Virtual channel used last; the second by control packets, if the routing has the NIC choose
    /// one.
    pub(crate) vcs: [u8; 2],
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
            vcs: [0; 2],
        }
    }

    /// True if no message and no control packet waits to be sent.
    pub fn is_idle(&self) -> bool {
        self.ring.turn == NONE && self.ends.is_empty() && self.control.are_empty()
    }
}

/// The lists of one NIC, by class from the lowest control class on.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct ControlLists {
    lists: [Fifo; 3],
    /// A bit for each list that has something in it: mostly none has.
    waiting: u8,
}

impl ControlLists {
    /// Nothing in them.
    pub const EMPTY: ControlLists = ControlLists {
        lists: [Fifo::EMPTY; 3],
        waiting: 0,
    };

    /// All lists.
    pub fn all(&self) -> [Fifo; 3] {
        self.lists
    }

    /// True if nothing is in them.
    #[inline]
    pub fn are_empty(&self) -> bool {
        self.waiting == 0
    }

    /// A bit for each list that has something in it.
    #[inline]
    pub fn waiting(&self) -> u8 {
        self.waiting
    }

    /// The first packets of all lists, [`weir_model::NO_PACKET`] for an empty list.
    pub fn heads(&self) -> impl Iterator<Item = PacketIndex> + use<> {
        self.lists.map(|list| list.head).into_iter()
    }

    /// The first packet of a list.
    #[inline]
    pub fn head(&self, list: usize) -> PacketIndex {
        self.lists[list].head
    }

    /// Appends a packet to a list.
    #[inline]
    pub fn push(&mut self, list: usize, index: PacketIndex, pool: &mut Pool) {
        self.lists[list].push(pool, index);
        self.waiting |= 1 << list;
    }

    /// Takes out the packet after `before` of a list ([`Fifo::take_after`]).
    #[inline]
    pub fn take_after(&mut self, list: usize, before: PacketIndex, pool: &mut Pool) {
        self.lists[list].take_after(before, pool);
        if self.lists[list].is_empty() {
            self.waiting &= !(1 << list);
        }
    }
}
