//! The source's part of LHRP. A dropped packet is sent again at the time that the last router gave.
//! If another router dropped it and gave none, it is sent again speculatively, and after a number
//! of such losses with a reservation.

use serde::{Deserialize, Serialize};

use super::kinds::RESERVATION;
use super::{About, NicContext, table_bytes};
use weir_input::{ConfigError, Section};
use weir_model::codec::SavedMap;
use weir_model::{EndpointId, Invalid, Origin};

/// Marks the reservation for a batch of packets, and its grant.
pub const BATCH: u8 = u8::MAX;

/// Packets for one destination that share a reservation.
#[derive(Clone, Debug, Default, Deserialize, Serialize)]
struct Batch {
    /// Packets in the reservation that is under way.
    asked: Vec<Origin>,
    /// Packets for the next reservation.
    waiting: Vec<Origin>,
}

/// The packets of a domain's NICs that wait for a grant, by NIC and destination.
#[derive(Clone, Debug, Default, Deserialize, Serialize)]
pub struct Batches(SavedMap<(u32, EndpointId), Batch>);

impl Batches {
    /// Bytes of memory held.
    pub fn memory_bytes(&self) -> usize {
        let batches = self.0.values();
        let held = batches.map(|batch| batch.asked.capacity() + batch.waiting.capacity());
        table_bytes(&self.0) + held.sum::<usize>() * size_of::<Origin>()
    }
}

/// The rules for packets that were dropped.
#[derive(Clone, Copy, Debug)]
pub struct Refusals {
    about: About,
    /// Losses without a time before a packet goes with a reservation.
    retries: u8,
}

impl Refusals {
    /// Checks `retries`, which are counted in a byte with one reserved value.
    pub fn new(section: &Section, about: About, retries: u8) -> Result<Self, ConfigError> {
        if retries > 200 {
            let what = "too many retries to count";
            let remedy = "give a number from 0 to 200";
            return Err(section.refuse(Invalid::new("retries", what, remedy)));
        }
        Ok(Refusals { about, retries })
    }

    /// A packet was dropped.
    pub fn lost(&self, batches: &mut Batches, nic: &mut dyn NicContext, origin: &Origin) {
        let to = origin.source;
        if let Some(time) = origin.time() {
            return nic.resend(time, false, to, *origin);
        }
        if origin.tries < self.retries {
            let again = Origin {
                tries: origin.tries + 1,
                ..*origin
            };
            return nic.resend(nic.now(), true, to, again);
        }
        let batch = batches.0.entry((nic.nic(), to)).or_default();
        batch.waiting.push(*origin);
        if batch.asked.is_empty() {
            batch.ask(&self.about, nic, to);
        }
    }

    /// A batch is granted: it is sent from the granted time on, and the next batch makes its own
    /// reservation.
    pub fn granted(&self, batches: &mut Batches, nic: &mut dyn NicContext, origin: &Origin) {
        let to = origin.source;
        let key = (nic.nic(), to);
        let Some(batch) = batches.0.get_mut(&key) else {
            return;
        };
        let at = origin.time().unwrap_or(0);
        for packet in std::mem::take(&mut batch.asked) {
            nic.resend(at, false, to, packet);
        }
        if batch.waiting.is_empty() {
            batches.0.remove(&key);
        } else {
            batch.ask(&self.about, nic, to);
        }
    }
}

impl Batch {
    fn ask(&mut self, about: &About, nic: &mut dyn NicContext, to: EndpointId) {
        std::mem::swap(&mut self.asked, &mut self.waiting);
        let flits: u64 = self
            .asked
            .iter()
            .map(|packet| {
                about
                    .flit
                    .flits(about.payload(packet.message_bits, packet.part))
            })
            .sum();
        if let Some(&first) = self.asked.first() {
            let origin = Origin {
                tries: BATCH,
                ..first.with_flits(flits)
            };
            nic.reply(RESERVATION, to, origin);
        }
    }
}
