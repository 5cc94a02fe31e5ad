//! Messages that have come in part.

use rustc_hash::FxHashMap;
use serde::{Deserialize, Serialize};

use weir_model::{EndpointId, Origin};

/// Source, number at the source, destination.
type Key = (EndpointId, u32, EndpointId);

/// Messages of which some packets have arrived and others have not.
#[derive(Debug, Default, Serialize, Deserialize)]
pub struct Reassembly {
    /// Payload that has arrived, bits.
    got: FxHashMap<Key, u64>,
}

impl Reassembly {
    /// Adds a packet. True when it is the last of its message; they may overtake each other. A
    /// message of one packet leaves no trace.
    #[inline]
    pub fn add(&mut self, origin: &Origin, source: EndpointId, destination: EndpointId) -> bool {
        let payload = u64::from(origin.payload_bits);
        if payload == origin.message_bits {
            return true;
        }
        let key = (source, origin.message, destination);
        let got = self.got.entry(key).or_insert(0);
        *got += payload;
        if *got < origin.message_bits {
            return false;
        }
        self.got.remove(&key);
        true
    }

    /// Bytes of memory held.
    pub fn memory_bytes(&self) -> usize {
        // A place has a byte of the table's own besides.
        self.got.capacity() * (size_of::<(Key, u64)>() + 1)
    }
}
