//! Counts of links that fail.

use serde::{Deserialize, Serialize};

use weir_model::Time;

/// Packets of an output whose link fails during the run.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct FailingCounts {
    /// Packets lost on the link.
    pub lost: u64,
    /// Packets that it sent again, once for each time.
    pub retries: u64,
    /// The last outage that lost packets.
    pub last_outage: LastOutage,
}

/// The packets lost by an outage, some of which left before it begins.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct LastOutage {
    /// Its beginning, ps.
    pub begins: Time,
    /// Their number.
    pub lost: u64,
}

impl LastOutage {
    /// Counts a packet that is lost by the outage that begins then.
    pub fn loses_at(&mut self, begins: Time) {
        if self.begins != begins {
            *self = LastOutage { begins, lost: 0 };
        }
        self.lost += 1;
    }
}
