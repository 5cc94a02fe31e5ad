//! The ports of routers that are watched.

use serde::{Deserialize, Serialize};
use smallvec::SmallVec;

use weir_model::{EndpointId, Time};

/// A port of a router; fits a cache line if few endpoints send through it.
#[derive(Clone, Debug, Default, Deserialize, Serialize)]
#[repr(align(64))]
pub(super) struct Watch {
    /// Senders, sorted by endpoint, and the flits or packets of each at the port, as
    /// [`super::Count`] says.
    ///
    /// These are the endpoints with packets queued at the port, and endpoints that it throttles but
    /// that have none left there. While congested it throttles all of them.
    pub senders: SmallVec<[(EndpointId, u32); 4]>,
    /// Their sum.
    pub total: u32,
    pub congested: bool,
    /// Earliest time at which it may be drained.
    pub drained: Time,
    /// The alarm that is valid; earlier ones are ignored.
    pub alarm: Time,
}

impl Watch {
    /// Adds a packet that is routed to the port, by its weight in flits or packets. True if its
    /// sender was not there.
    pub fn enter(&mut self, sender: EndpointId, weight: u32) -> bool {
        self.total += weight;
        let found = self.find(sender);
        match found {
            Ok(place) => self.senders[place].1 += weight,
            Err(place) => self.senders.insert(place, (sender, weight)),
        }
        found.is_err()
    }

    /// Takes away a packet that leaves, by its weight in flits or packets.
    pub fn leave(&mut self, sender: EndpointId, weight: u32) {
        if let Ok(place) = self.find(sender) {
            let (_, counted) = &mut self.senders[place];
            *counted -= weight;
            self.total -= weight;
            if *counted == 0 && !self.congested {
                self.senders.remove(place);
            }
        }
    }

    /// Position of a sender, or the position at which to insert it.
    fn find(&self, sender: EndpointId) -> Result<usize, usize> {
        self.senders.binary_search_by_key(&sender, |&(to, _)| to)
    }
}
