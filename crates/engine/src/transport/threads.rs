//! Ranks as threads of one process.

use std::sync::mpsc::{Receiver, Sender, channel};

use super::interface::{Transport, TransportError};

/// Ranks as threads of one process, which exchange messages through channels: to test and to embed
/// weir without MPI.
///
/// A rank whose thread ends early leaves the others with an error.
pub struct Threads {
    rank: u32,
    /// To each rank.
    to: Vec<Sender<Vec<u8>>>,
    /// From each rank.
    from: Vec<Receiver<Vec<u8>>>,
}

impl Threads {
    /// The transports of `size` ranks, in the order of their numbers; each belongs on a separate
    /// thread.
    pub fn ranks(size: u32) -> Vec<Threads> {
        let mut all: Vec<Threads> = (0..size)
            .map(|rank| Threads {
                rank,
                to: Vec::new(),
                from: Vec::new(),
            })
            .collect();
        for sender in 0..size as usize {
            for receiver in 0..size as usize {
                let (to, from) = channel();
                all[sender].to.push(to);
                all[receiver].from.push(from);
            }
        }
        all
    }

    fn send(&self, rank: u32, bytes: Vec<u8>) -> Result<(), TransportError> {
        let gone = |_| TransportError::Gone { rank };
        self.to[rank as usize].send(bytes).map_err(gone)
    }

    fn receive(&self, rank: u32) -> Result<Vec<u8>, TransportError> {
        let gone = |_| TransportError::Gone { rank };
        self.from[rank as usize].recv().map_err(gone)
    }

    /// Combines the values of all ranks in each place.
    fn reduce(
        &mut self,
        values: &mut [u64],
        combine: impl Fn(u64, u64) -> u64,
    ) -> Result<(), TransportError> {
        let others: Vec<u32> = (0..self.size()).filter(|&rank| rank != self.rank).collect();
        let mine = bytemuck::cast_slice(values).to_vec();
        let incoming = self.exchange(&others, &vec![mine; others.len()])?;
        for (bytes, &rank) in incoming.iter().zip(&others) {
            if bytes.len() != size_of_val(values) {
                let bytes = bytes.len();
                return Err(TransportError::Garbled { rank, bytes });
            }
            let theirs = bytes.chunks_exact(8).map(bytemuck::pod_read_unaligned);
            for (value, other) in values.iter_mut().zip(theirs) {
                *value = combine(*value, other);
            }
        }
        Ok(())
    }
}

impl Transport for Threads {
    fn rank(&self) -> u32 {
        self.rank
    }

    fn size(&self) -> u32 {
        self.to.len() as u32
    }

    fn exchange(
        &mut self,
        ranks: &[u32],
        outgoing: &[Vec<u8>],
    ) -> Result<Vec<Vec<u8>>, TransportError> {
        for (&rank, message) in ranks.iter().zip(outgoing) {
            self.send(rank, message.clone())?;
        }
        ranks.iter().map(|&rank| self.receive(rank)).collect()
    }

    fn min(&mut self, values: &mut [u64]) -> Result<(), TransportError> {
        self.reduce(values, u64::min)
    }

    fn sum(&mut self, values: &mut [u64]) -> Result<(), TransportError> {
        self.reduce(values, u64::wrapping_add)
    }

    fn gather(&mut self, bytes: Vec<u8>) -> Result<Option<Vec<Vec<u8>>>, TransportError> {
        if self.rank != 0 {
            self.send(0, bytes)?;
            return Ok(None);
        }
        let mut all = vec![bytes];
        for rank in 1..self.size() {
            all.push(self.receive(rank)?);
        }
        Ok(Some(all))
    }

    fn broadcast(&mut self, bytes: Vec<u8>) -> Result<Vec<u8>, TransportError> {
        if self.rank != 0 {
            return self.receive(0);
        }
        for rank in 1..self.size() {
            self.send(rank, bytes.clone())?;
        }
        Ok(bytes)
    }
}
