//! Ranks over MPI: the only crate that links libmpi.

#![cfg_attr(not(test), deny(clippy::print_stdout, clippy::print_stderr))]

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use mpi::Count;
use mpi::Threading;
use mpi::collective::SystemOperation;
use mpi::datatype::PartitionMut;
use mpi::environment::Universe;
use mpi::point_to_point::Status;
use mpi::request::WaitGuard;
use mpi::topology::SimpleCommunicator;
use mpi::traits::*;

use weir_engine::{Transport, TransportError};

/// The longest piece of one message: MPI counts are C ints.
const PIECE: usize = 1 << 30;

/// Ranks over MPI.
pub struct Mpi {
    world: SimpleCommunicator,
    waits: Arc<Waits>,
    // Dropped last: it finalizes MPI.
    _universe: Universe,
}

impl Mpi {
    /// Starts MPI. None if it was started before in this process.
    pub fn start() -> Option<Mpi> {
        // One thread calls MPI; others run the domains of its rank.
        let (universe, _) = mpi::initialize_with_threading(Threading::Funneled)?;
        Some(Mpi {
            world: universe.world(),
            waits: Arc::default(),
            _universe: universe,
        })
    }

    /// The waits of this rank for others, for another thread.
    pub fn waits(&self) -> Arc<Waits> {
        Arc::clone(&self.waits)
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

/// The wait of a rank for others, seen from another thread.
#[derive(Debug, Default)]
pub struct Waits {
    /// Waits that have begun, times 2^32, and the ranks of the last one: 0 if it is over, 1 for
    /// all, and 2 more than the number of a single one.
    state: AtomicU64,
}

/// The ranks that a rank waits for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Whom {
    /// All others.
    All,
    /// One.
    One(u32),
}

impl Waits {
    /// Does something for which others are waited for.
    fn during<R>(&self, whom: Whom, work: impl FnOnce() -> R) -> R {
        let ranks = match whom {
            Whom::All => 1,
            Whom::One(rank) => u64::from(rank) + 2,
        };
        let begun = (self.state.load(Ordering::Relaxed) >> 32).wrapping_add(1);
        self.state.store(begun << 32 | ranks, Ordering::Relaxed);
        let done = work();
        self.state.store(begun << 32, Ordering::Relaxed);
        done
    }

    /// The number of this wait, and the ranks that are waited for; None between two waits.
    pub fn now(&self) -> Option<(u32, Whom)> {
        let state = self.state.load(Ordering::Relaxed);
        let whom = match state as u32 {
            0 => return None,
            1 => Whom::All,
            rank => Whom::One(rank - 2),
        };
        Some(((state >> 32) as u32, whom))
    }
}

/// Ends all ranks at once with this exit code. The watchdog does so from another thread, which
/// MPI leaves undefined: the main thread hangs then, and the process ends in any case.
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
        mpi::request::scope(|scope| {
            let mut sends = Vec::with_capacity(ranks.len());
            for (&rank, message) in ranks.iter().zip(outgoing) {
                let to = self.world.process_at_rank(rank as i32);
                // A piece that is shorter than the others, perhaps empty, is the last one.
                let whole = message.len() / PIECE * PIECE;
                let pieces = message[..whole].chunks(PIECE).chain([&message[whole..]]);
                sends.extend(pieces.map(|piece| WaitGuard::from(to.immediate_send(scope, piece))));
            }
            let received = ranks.iter().map(|&rank| self.receive(rank)).collect();
            // The sends end here.
            self.waits.during(Whom::All, || drop(sends));
            Ok(received)
        })
    }

    fn min(&mut self, values: &mut [u64]) -> Result<(), TransportError> {
        self.reduce(values, SystemOperation::min());
        Ok(())
    }

    fn sum(&mut self, values: &mut [u64]) -> Result<(), TransportError> {
        self.reduce(values, SystemOperation::sum());
        Ok(())
    }

    fn gather(&mut self, bytes: Vec<u8>) -> Result<Option<Vec<Vec<u8>>>, TransportError> {
        let mut most = [bytes.len() as u64];
        self.reduce(&mut most, SystemOperation::max());
        let all = || self.gathered(&bytes, most[0]);
        Ok(self.waits.during(Whom::All, all))
    }

    fn broadcast(&mut self, mut bytes: Vec<u8>) -> Result<Vec<u8>, TransportError> {
        let root = self.world.process_at_rank(0);
        self.waits.during(Whom::All, || {
            let mut length = bytes.len() as u64;
            root.broadcast_into(&mut length);
            bytes.resize(length as usize, 0);
            for piece in bytes.chunks_mut(PIECE) {
                root.broadcast_into(piece);
            }
        });
        Ok(bytes)
    }
}

/// A round's part of some bytes; nothing after their end.
fn piece(bytes: &[u8], round: usize, share: usize) -> &[u8] {
    let start = (round * share).min(bytes.len());
    let end = (start + share).min(bytes.len());
    &bytes[start..end]
}

impl Mpi {
    /// Bytes of every rank, on rank 0; `most` of any.
    fn gathered(&self, bytes: &[u8], most: u64) -> Option<Vec<Vec<u8>>> {
        let ranks = self.size() as usize;
        // Bytes that a rank adds in one round, so that a round is no longer than a piece.
        let share = PIECE / ranks;
        let length = bytes.len() as u64;
        let rounds = most.div_ceil(share as u64) as usize;
        let root = self.world.process_at_rank(0);
        if self.rank() != 0 {
            root.gather_into(&length);
            for round in 0..rounds {
                root.gather_varcount_into(piece(bytes, round, share));
            }
            return None;
        }
        let mut lengths = vec![0u64; ranks];
        root.gather_into_root(&length, &mut lengths);
        let mut all: Vec<Vec<u8>> = vec![Vec::new(); ranks];
        for round in 0..rounds {
            let left = |&length: &u64| length.saturating_sub((round * share) as u64);
            let counts: Vec<Count> = lengths
                .iter()
                .map(|length| left(length).min(share as u64) as Count)
                .collect();
            let starts: Vec<Count> = counts
                .iter()
                .scan(0, |start, &count| {
                    Some(std::mem::replace(start, *start + count))
                })
                .collect();
            let total: Count = counts.iter().sum();
            let mut received = vec![0u8; total as usize];
            let mut parts = PartitionMut::new(&mut received[..], &counts[..], &starts[..]);
            root.gather_varcount_into_root(piece(bytes, round, share), &mut parts);
            for ((one, &start), &count) in all.iter_mut().zip(&starts).zip(&counts) {
                one.extend_from_slice(&received[start as usize..(start + count) as usize]);
            }
        }
        Some(all)
    }

    /// Combines what all ranks have in each place.
    fn reduce(&self, values: &mut [u64], operation: SystemOperation) {
        let mine = values.to_vec();
        let work = || self.world.all_reduce_into(&mine[..], values, operation);
        self.waits.during(Whom::All, work);
    }

    fn receive(&self, rank: u32) -> Vec<u8> {
        let from = self.world.process_at_rank(rank as i32);
        self.waits.during(Whom::One(rank), || {
            let (mut message, _): (Vec<u8>, Status) = from.receive_vec();
            let mut last = message.len();
            while last == PIECE {
                let (piece, _): (Vec<u8>, Status) = from.receive_vec();
                last = piece.len();
                message.extend(piece);
            }
            message
        })
    }
}
