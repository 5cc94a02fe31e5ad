//! The last packets of NICs and flows, for injection disciplines.

use rustc_hash::FxHashMap;
use serde::{Deserialize, Serialize};

use weir_model::{EndpointId, LATEST, Time};

/// The last packet that was sent.
#[derive(Clone, Copy, Debug, Serialize, Deserialize)]
pub struct Last {
    /// Time when its head left.
    time: Time,
    flits: u16,
}

impl Last {
    /// Time when the next packet may leave at a rate.
    pub fn next(self, flits_per_ps: f64) -> Time {
        let delay = (f64::from(self.flits) / flits_per_ps).round();
        // A cast from a float stops at the ends of the type.
        self.time.saturating_add((delay as Time).min(LATEST))
    }
}

/// Last packets that the NICs of a domain have sent.
#[derive(Debug, Default, Serialize, Deserialize)]
pub struct Shaper {
    /// By NIC.
    nics: FxHashMap<u32, Last>,
    /// By NIC and destination.
    flows: FxHashMap<(u32, EndpointId), Last>,
    /// Number of flows from which forgettable ones are looked for.
    most: usize,
}

impl Shaper {
    /// A packet with a rate leaves now.
    pub fn sent(&mut self, nic: u32, to: EndpointId, flits: u16, now: Time) {
        let last = Last { time: now, flits };
        self.nics.insert(nic, last);
        self.flows.insert((nic, to), last);
    }

    /// Last packet that a NIC has sent.
    pub fn of_nic(&self, nic: u32) -> Option<&Last> {
        self.nics.get(&nic)
    }

    /// Last packet that a NIC has sent to a destination.
    pub fn of_flow(&self, nic: u32, to: EndpointId) -> Option<&Last> {
        self.flows.get(&(nic, to))
    }

    /// Forgets flows that are not to be kept, when many have been added.
    pub fn forget(&mut self, mut keep: impl FnMut(u32, EndpointId, &Last) -> bool) {
        if self.flows.len() <= self.most.max(1_024) {
            return;
        }
        self.flows.retain(|&(nic, to), last| keep(nic, to, last));
        self.most = 2 * self.flows.len();
    }

    /// Bytes of memory held.
    pub fn memory_bytes(&self) -> usize {
        self.nics.capacity() * 24 + self.flows.capacity() * 24
    }
}
