use std::sync::mpsc::{Receiver, Sender, channel};

use super::transport::{Agreement, Transport, TransportError};

/// Ranks as threads of one process, which exchange messages through channels: to test and to embed weir without MPI.
///
/// A rank whose thread ends early leaves the others with an error at their next exchange, or a panic where only a
/// reduction is under way.
pub struct Threads {
    rank: u32,
    /// To each rank.
    to: Vec<Sender<Vec<u8>>>,
    /// From each rank.
    from: Vec<Receiver<Vec<u8>>>,
}

impl Threads {
    /// The transports of `size` ranks, in the order of their numbers; each belongs on a thread of its own.
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
        let gone = TransportError::Garbled { rank, bytes: 0 };
        self.to[rank as usize].send(bytes).map_err(|_| gone)
    }

    fn receive(&self, rank: u32) -> Result<Vec<u8>, TransportError> {
        let gone = TransportError::Garbled { rank, bytes: 0 };
        self.from[rank as usize].recv().map_err(|_| gone)
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

    fn agree(&mut self, mine: Agreement) -> Agreement {
        let others: Vec<u32> = (0..self.size()).filter(|&rank| rank != self.rank).collect();
        let outgoing = vec![bytemuck::bytes_of(&mine).to_vec(); others.len()];
        let incoming = self.exchange(&others, &outgoing);
        let incoming = incoming.expect("no thread has ended while others reduce");
        incoming.iter().fold(mine, |common, bytes| {
            common.with(bytemuck::pod_read_unaligned(bytes))
        })
    }

    fn gather(&mut self, bytes: Vec<u8>) -> Option<Vec<Vec<u8>>> {
        let all = "no thread has ended while others gather";
        if self.rank != 0 {
            self.send(0, bytes).expect(all);
            return None;
        }
        let others = (1..self.size()).map(|rank| self.receive(rank).expect(all));
        Some([vec![bytes], others.collect()].concat())
    }
}
