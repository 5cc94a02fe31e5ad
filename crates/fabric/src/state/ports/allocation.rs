//! The times from which virtual channels can take another packet.

use rustc_hash::FxHashMap;
use serde::{Deserialize, Serialize};

use crate::state::InIndex;
use weir_model::Time;

/// Times from which virtual channels can take another packet.
/// Channels that have carried none are not included.
#[derive(Debug, Default, Serialize, Deserialize)]
pub struct Allocation {
    /// Queues of inputs without virtual output queues: when the next packet may cross, ps.
    pub inputs: FxHashMap<(InIndex, u16), Time>,
    /// Channels of outputs: when a packet may cross to them, ps.
    pub outputs: Vec<Time>,
    /// The same of ports to endpoints, which have as many channels as links from NICs: by channel,
    /// then the times of those, of which a packet takes any.
    pub ends: FxHashMap<usize, Box<[Time]>>,
}

impl Allocation {
    /// True if it can be of this number of channels.
    pub fn fits(&self, channels: usize) -> bool {
        self.outputs.len() <= channels && self.ends.keys().all(|&channel| channel < channels)
    }

    /// Bytes of memory held.
    pub fn memory_bytes(&self) -> usize {
        let ends = self
            .ends
            .values()
            .map(|times| times.len() * size_of::<Time>());
        self.inputs.capacity() * (size_of::<((InIndex, u16), Time)>() + 1)
            + self.outputs.capacity() * size_of::<Time>()
            + self.ends.capacity() * (size_of::<(usize, Box<[Time]>)>() + 1)
            + ends.sum::<usize>()
    }
}
