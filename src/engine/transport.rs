use thiserror::Error;

use crate::model::Time;

/// What the ranks agree on between two pieces of windows. Combining takes the least of every field.
#[derive(Clone, Copy, Debug, PartialEq, Eq, bytemuck::Pod, bytemuck::Zeroable)]
#[repr(C)]
pub struct Agreement {
    /// The next time at which anything happens.
    pub next: Time,
    /// `u64::MAX` less the number of moves in the last piece (so that the least means the most moves).
    pub unmoved: u64,
    /// The number of a [`super::StopReason`] if a rank asks to stop, otherwise more than any of them.
    pub go_on: u64,
    /// 1 if all domains of all ranks are finished ([`super::Domain::finished`]), otherwise 0.
    pub finished: u64,
    /// How long the next piece of a window may be, ps.
    pub piece: Time,
}

impl Agreement {
    /// Leaves every other view as it is.
    pub const NEUTRAL: Agreement = Agreement {
        next: u64::MAX,
        unmoved: u64::MAX,
        go_on: u64::MAX,
        finished: u64::MAX,
        piece: u64::MAX,
    };

    /// The common view of two ranks.
    pub fn with(self, other: Agreement) -> Agreement {
        Agreement {
            next: self.next.min(other.next),
            unmoved: self.unmoved.min(other.unmoved),
            go_on: self.go_on.min(other.go_on),
            finished: self.finished.min(other.finished),
            piece: self.piece.min(other.piece),
        }
    }
}

/// A message that did not come through.
#[derive(Clone, Debug, Error, PartialEq, Eq)]
pub enum TransportError {
    /// The bytes of a neighbour make no sense.
    #[error(
        "rank {rank} sent {bytes} bytes that cannot be read as mail (are all ranks the same build of weir?)"
    )]
    Garbled {
        /// The sender.
        rank: u32,
        /// Length of the message.
        bytes: usize,
    },
}

/// How ranks talk.
pub trait Transport {
    /// This rank, from 0.
    fn rank(&self) -> u32;
    /// Number of ranks.
    fn size(&self) -> u32;
    /// Sends a message to each of some ranks, and receives one from each of them. `outgoing` and the result are in
    /// the order of `ranks`. The ranks must call it with matching lists.
    fn exchange(
        &mut self,
        ranks: &[u32],
        outgoing: &[Vec<u8>],
    ) -> Result<Vec<Vec<u8>>, TransportError>;
    /// Combines every rank's view into one, the same on all.
    fn agree(&mut self, mine: Agreement) -> Agreement;
    /// Sends bytes of every rank to rank 0, which gets all of them in the order of ranks.
    fn gather(&mut self, bytes: Vec<u8>) -> Option<Vec<Vec<u8>>>;
}

/// One process.
#[derive(Clone, Copy, Debug, Default)]
pub struct Local;

impl Transport for Local {
    fn rank(&self) -> u32 {
        0
    }
    fn size(&self) -> u32 {
        1
    }
    fn exchange(&mut self, _: &[u32], _: &[Vec<u8>]) -> Result<Vec<Vec<u8>>, TransportError> {
        Ok(Vec::new())
    }
    fn agree(&mut self, mine: Agreement) -> Agreement {
        mine
    }
    fn gather(&mut self, bytes: Vec<u8>) -> Option<Vec<Vec<u8>>> {
        Some(vec![bytes])
    }
}
