//! The queue pairs of one NIC in a ring.

use serde::{Deserialize, Serialize};

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
