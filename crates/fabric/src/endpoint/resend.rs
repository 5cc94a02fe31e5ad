//! Packets that a source sends again, those that were given a time and those that try their luck once more, and how its NIC does.

use serde::{Deserialize, Serialize};
use std::cmp::Reverse;
use std::collections::{BinaryHeap, VecDeque};

use super::injection::{Sending, turn_of};
use super::nic::{Blocked, blank};
use crate::domain::FabricDomain;
use crate::setup::plain::Compiled;
use weir_model::{Classes, EndpointId, NEVER, Origin, PacketIndex, PacketKind, Time};

/// A packet to be sent again.
#[derive(Clone, Copy, Debug, Serialize, Deserialize)]
pub struct Resend {
    /// Where to.
    pub to: EndpointId,
    /// Which packet.
    pub origin: Origin,
}

/// Bytes of a packet that waits for its time.
pub const TIMED_PACKET: usize = size_of::<Timed>();

/// A packet with its time. Of equal times the one that was given first comes first.
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

/// What one NIC has to send again.
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

    /// When the first timed packet is to go; [`NEVER`] if there is none.
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

    /// When there is something to send next, at `now` or later; [`NEVER`] if there is nothing.
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

impl<K: Compiled> FabricDomain<K> {
    /// A packet that is sent again.
    pub(super) fn again_from(
        &mut self,
        nic: u32,
        output: u32,
        lossy: bool,
        now: Time,
        blocked: &mut Blocked,
    ) -> Option<(PacketIndex, u16)> {
        let list = &self.ends.resends[nic as usize];
        if !lossy && list.due() > now {
            blocked.again = blocked.again.min(list.due());
            return None;
        }
        let Resend { to, origin } = *list.peek(lossy)?;
        let payload = self.about.payload(origin.message_bits, origin.part);
        let flits = self.about.flit.flits(payload) as u16;
        let class = if lossy {
            Classes::LOSSY
        } else {
            self.fixed.classes.data
        };
        let sending = Sending {
            destination: to,
            class,
            job: origin.job,
            flits,
            turn: turn_of(&origin),
        };
        match self.injection_queue(output, sending, now) {
            Ok(queue) => {
                self.ends.resends[nic as usize].pop(lossy);
                let origin = Origin {
                    source: self.ends.nics[nic as usize].id,
                    kind: PacketKind::DATA.number(),
                    ..origin.with_payload(payload as u32)
                };
                self.records.stats.resent(lossy);
                if self.fixed.can.reserves {
                    let (ring, which) = (
                        &mut self.ends.nics[nic as usize].ring,
                        (origin.job, origin.message, origin.part),
                    );
                    let first = self.ends.sends.sent_withdrawn(nic, ring, to, which);
                    self.begin_message(nic, first, now);
                }
                let packet = blank(to, class, 0, flits, now);
                Some((self.pool.insert(packet, origin), queue))
            }
            Err(time) => {
                blocked.starve(time);
                None
            }
        }
    }
}
