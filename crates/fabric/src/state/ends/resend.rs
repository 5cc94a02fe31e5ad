//! Packets that a source will send again.

use serde::{Deserialize, Serialize};
use std::cmp::Reverse;
use std::collections::{BinaryHeap, VecDeque};

use weir_model::{EndpointId, NEVER, Origin, Time};

/// A packet to be sent again.
#[derive(Clone, Copy, Debug, Serialize, Deserialize)]
pub struct Resend {
    /// The destination.
    pub to: EndpointId,
    /// The packet.
    pub origin: Origin,
}

/// Bytes of a packet that waits for its time.
pub const TIMED_PACKET: usize = size_of::<Timed>();

/// A packet with its time. Among equal times the packet given first comes first.
#[derive(Clone, Copy, Debug, Serialize, Deserialize)]
struct Timed {
    at: Time,
    order: u64,
    what: Resend,
}

impl Timed {
    fn key(&self) -> (Time, u64) {
        (self.at, self.order)
    }
}

impl PartialEq for Timed {
    fn eq(&self, other: &Self) -> bool {
        self.key() == other.key()
    }
}

impl Eq for Timed {}

impl PartialOrd for Timed {
    fn partial_cmp(&self, other: &Self) -> Option<std::cmp::Ordering> {
        Some(self.cmp(other))
    }
}

impl Ord for Timed {
    fn cmp(&self, other: &Self) -> std::cmp::Ordering {
        self.key().cmp(&other.key())
    }
}

/// Packets that one NIC has to send again.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
pub struct Resends {
    /// Without loss, at its time.
    timed: BinaryHeap<Reverse<Timed>>,
    /// In the lossy class, at once.
    lossy: VecDeque<Resend>,
    order: u64,
}

impl Resends {
    /// Adds a packet that goes without loss at `at`.
    pub fn add_timed(&mut self, at: Time, what: Resend) {
        let order = self.order;
        self.order += 1;
        self.timed.push(Reverse(Timed { at, order, what }));
    }

    /// Adds a packet that goes in the lossy class.
    pub fn add_lossy(&mut self, what: Resend) {
        self.lossy.push_back(what);
    }

    /// Time when the first timed packet is to be sent; [`NEVER`] if there is none.
    pub fn due(&self) -> Time {
        self.timed.peek().map_or(NEVER, |Reverse(first)| first.at)
    }

    /// The next packet: timed ones that are due, or lossy ones.
    pub fn peek(&self, lossy: bool) -> Option<&Resend> {
        match lossy {
            true => self.lossy.front(),
            false => self.timed.peek().map(|Reverse(first)| &first.what),
        }
    }

    /// Takes the packet that [`Resends::peek`] shows.
    pub fn pop(&mut self, lossy: bool) {
        match lossy {
            true => drop(self.lossy.pop_front()),
            false => drop(self.timed.pop()),
        }
    }

    /// Time when the next packet is to be sent, at `now` or later; [`NEVER`] if there is none.
    pub fn next(&self, now: Time) -> Time {
        match self.lossy.is_empty() {
            true => self.due().max(now),
            false => now,
        }
    }

    /// Bytes of memory held.
    pub fn memory_bytes(&self) -> usize {
        self.timed.capacity() * size_of::<Timed>() + self.lossy.capacity() * size_of::<Resend>()
    }
}
