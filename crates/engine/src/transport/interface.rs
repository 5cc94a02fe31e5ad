//! Communication between ranks: the trait, its errors, and a run of one process.

use thiserror::Error;

/// A message that did not come through.
#[derive(Clone, Debug, Error, PartialEq, Eq)]
pub enum TransportError {
    /// The bytes of a neighbour make no sense.
    #[error(
        "rank {rank} sent {bytes} bytes that cannot be read as mail (are all ranks the same build \
         of weir?)"
    )]
    Garbled {
        /// The sender.
        rank: u32,
        /// Length of the message.
        bytes: usize,
    },
    /// A rank has ended while others wait for it.
    #[error("rank {rank} has ended before the others")]
    Gone {
        /// The rank.
        rank: u32,
    },
}

/// Communication between ranks.
pub trait Transport {
    /// This rank, from 0.
    fn rank(&self) -> u32;
    /// Number of ranks.
    fn size(&self) -> u32;
    /// Sends a message to each of some ranks, and receives one from each of them. `outgoing` and
    /// the result are in the order of `ranks`. The ranks must call it with matching lists.
    fn exchange(
        &mut self,
        ranks: &[u32],
        outgoing: &[Vec<u8>],
    ) -> Result<Vec<Vec<u8>>, TransportError>;
    /// Leaves the least of all ranks in every place of a list of the same length on all.
    fn min(&mut self, values: &mut [u64]) -> Result<(), TransportError>;
    /// Leaves the greatest of all ranks in every place of a list of the same length on all.
    fn max(&mut self, values: &mut [u64]) -> Result<(), TransportError> {
        values.iter_mut().for_each(|value| *value = !*value);
        self.min(values)?;
        values.iter_mut().for_each(|value| *value = !*value);
        Ok(())
    }
    /// Leaves the sum over all ranks, which fits, in every place of a list of the same length on
    /// all.
    fn sum(&mut self, values: &mut [u64]) -> Result<(), TransportError>;
    /// Sends bytes of every rank to rank 0, which gets all of them in the order of ranks.
    fn gather(&mut self, bytes: Vec<u8>) -> Result<Option<Vec<Vec<u8>>>, TransportError>;
    /// Sends bytes of rank 0 to all ranks; the bytes of the others are ignored.
    fn broadcast(&mut self, bytes: Vec<u8>) -> Result<Vec<u8>, TransportError>;
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
    fn min(&mut self, _: &mut [u64]) -> Result<(), TransportError> {
        Ok(())
    }
    fn sum(&mut self, _: &mut [u64]) -> Result<(), TransportError> {
        Ok(())
    }
    fn gather(&mut self, bytes: Vec<u8>) -> Result<Option<Vec<Vec<u8>>>, TransportError> {
        Ok(Some(vec![bytes]))
    }
    fn broadcast(&mut self, bytes: Vec<u8>) -> Result<Vec<u8>, TransportError> {
        Ok(bytes)
    }
}
