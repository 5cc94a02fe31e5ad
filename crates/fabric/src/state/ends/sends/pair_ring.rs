//! The queue pairs of one NIC in a ring, and the messages that they send.

use serde::{Deserialize, Serialize};
use weir_model::{EndpointId, Origin, Stamp, Time};
use weir_workload::tasks::Envelope;

/// No queue pair, no message.
pub const NONE: u32 = u32::MAX;

/// The queue pairs of one NIC that have something to send, in a ring.
#[derive(Clone, Copy, Debug, Serialize, Deserialize)]
pub struct PairRing {
    /// The queue pair whose turn is next; [`NONE`] if there is none.
    pub turn: u32,
    /// Queue pairs in the ring.
    pub pairs: u32,
    /// Queue pairs among them whose group is known.
    pub grouped: u32,
    /// True if they are in the index.
    pub indexed: bool,
    /// True if their places are known ([`RingOrder`]).
    pub placed: bool,
}

impl PairRing {
    /// No queue pairs.
    pub const EMPTY: PairRing = PairRing {
        turn: NONE,
        pairs: 0,
        grouped: 0,
        indexed: false,
        placed: false,
    };
}

/// A message that is being sent.
#[derive(Clone, Copy, Debug, Serialize, Deserialize)]
pub struct Message {
    /// Time when it was generated, ps.
    pub generated: Time,
    /// Its length.
    pub bits: u64,
    /// The part that is not sent.
    pub left: u64,
    /// Its number at its source.
    pub number: u32,
    /// The workload it belongs to.
    pub job: u16,
    /// Identifier by which tasks of an application know it.
    pub stamp: Stamp,
    pub next: u32,
}

impl Message {
    /// A message of which nothing is sent.
    #[inline]
    pub fn new(generated: Time, bits: u64, number: u32, job: u16, stamp: Stamp) -> Self {
        Message {
            generated,
            bits,
            left: bits,
            number,
            job,
            stamp,
            next: NONE,
        }
    }

    /// True if it grants a request to send a long message.
    pub fn is_clear(&self) -> bool {
        Envelope::is_clear(self.stamp)
    }

    /// The common part of its packets: the origin of the first one, without payload yet.
    #[inline]
    pub fn origin(&self, source: EndpointId) -> Origin {
        let (generated, bits) = (self.generated, self.bits);
        Origin::of_message(source, self.number, self.job, generated, bits, self.stamp)
    }
}
