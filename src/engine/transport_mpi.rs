use mpi::environment::Universe;
use mpi::point_to_point::Status;
use mpi::request::WaitGuard;
use mpi::topology::SimpleCommunicator;
use mpi::traits::*;

use super::transport::{Agreement, Transport, TransportError};

/// The longest piece of one message: MPI counts are C ints.
const PIECE: usize = 1 << 30;

/// Ranks over MPI.
pub struct Mpi {
    world: SimpleCommunicator,
    // Dropped last: it finalizes MPI.
    _universe: Universe,
}

impl Mpi {
    /// Starts MPI. None if it was started before in this process.
    pub fn start() -> Option<Mpi> {
        let universe = mpi::initialize()?;
        Some(Mpi {
            world: universe.world(),
            _universe: universe,
        })
    }

    /// `MPI_Get_library_version`, first line.
    pub fn version() -> String {
        let text = mpi::environment::library_version().unwrap_or_default();
        text.trim_end_matches('\0')
            .lines()
            .next()
            .unwrap_or_default()
            .to_string()
    }
}

/// Ends all ranks at once with this exit code.
pub fn abort_all(code: i32) -> ! {
    SimpleCommunicator::world().abort(code)
}

impl Transport for Mpi {
    fn rank(&self) -> u32 {
        self.world.rank() as u32
    }

    fn size(&self) -> u32 {
        self.world.size() as u32
    }

    fn exchange(
        &mut self,
        ranks: &[u32],
        outgoing: &[Vec<u8>],
    ) -> Result<Vec<Vec<u8>>, TransportError> {
        // Every message is led by its length, so that one of more than a piece is known to go on.
        let lengths: Vec<[u8; 8]> = outgoing
            .iter()
            .map(|m| (m.len() as u64).to_le_bytes())
            .collect();
        let framed: Vec<Vec<u8>> = outgoing
            .iter()
            .zip(&lengths)
            .map(|(m, length)| [length, m.as_slice()].concat())
            .collect();
        mpi::request::scope(|scope| {
            let mut sends = Vec::with_capacity(ranks.len());
            for (&rank, message) in ranks.iter().zip(&framed) {
                for piece in message.chunks(PIECE) {
                    let to = self.world.process_at_rank(rank as i32);
                    sends.push(WaitGuard::from(to.immediate_send(scope, piece)));
                }
            }
            ranks.iter().map(|&rank| self.receive(rank)).collect()
        })
    }

    fn agree(&mut self, mine: Agreement) -> Agreement {
        let send: [u64; 5] = bytemuck::cast(mine);
        let mut receive = [0u64; 5];
        self.world
            .all_reduce_into(&send, &mut receive, mpi::collective::SystemOperation::min());
        bytemuck::cast(receive)
    }

    fn gather(&mut self, bytes: Vec<u8>) -> Option<Vec<Vec<u8>>> {
        if self.rank() != 0 {
            let length = (bytes.len() as u64).to_le_bytes();
            let framed = [length.as_slice(), &bytes].concat();
            for piece in framed.chunks(PIECE) {
                self.world.process_at_rank(0).send(piece);
            }
            return None;
        }
        let mut all = vec![bytes];
        for rank in 1..self.size() {
            // A message from another rank was framed by this same function.
            all.push(self.receive(rank).unwrap_or_default());
        }
        Some(all)
    }
}

impl Mpi {
    fn receive(&self, rank: u32) -> Result<Vec<u8>, TransportError> {
        let from = self.world.process_at_rank(rank as i32);
        let (mut message, _): (Vec<u8>, Status) = from.receive_vec();
        let garbled = |bytes| TransportError::Garbled { rank, bytes };
        let head: [u8; 8] = message
            .get(..8)
            .and_then(|head| head.try_into().ok())
            .ok_or(garbled(message.len()))?;
        let total = u64::from_le_bytes(head) as usize + 8;
        while message.len() < total {
            let (piece, _): (Vec<u8>, Status) = from.receive_vec();
            if piece.is_empty() {
                return Err(garbled(message.len()));
            }
            message.extend(piece);
        }
        message.drain(..8);
        Ok(message)
    }
}
