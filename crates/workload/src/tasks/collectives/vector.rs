//! Collective operations with a number of bytes for each task.

use std::sync::Arc;

use super::super::{Group, Op};
use super::steps::Steps;
use super::{Algorithms, AlltoallBy};

/// A part in a collective operation with different numbers of bytes per task: `MPI_Gatherv` and
/// similar ones. Tasks are named by their places in the group.
///
/// Messages that both ends know to be empty are not sent.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Vector {
    /// Kind of operation.
    pub kind: VectorKind,
    /// The place of the root, if there is one.
    pub root: u32,
    /// Bytes by place. Gather to the root or to all: contribution of each task. Scatter,
    /// reduce-scatter: bytes that each gets. Alltoall: bytes that this task sends to each.
    pub bytes: Arc<[u64]>,
    /// Alltoall: bytes that this task receives from each.
    pub receives: Arc<[u64]>,
}

/// Collective operations whose tasks have different numbers of bytes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum VectorKind {
    /// From all to the root, directly.
    Gatherv,
    /// From the root to all, directly.
    Scatterv,
    /// From all to all, around a ring.
    Allgatherv,
    /// Combined, and each gets its part; each sends every other its part directly.
    ReduceScatter,
    /// From each to each: all at once if the algorithm of alltoall is "linear", otherwise by shifts
    /// of 1, 2, 3 … places.
    Alltoallv,
}

impl VectorKind {
    /// Its name.
    pub fn name(self) -> &'static str {
        match self {
            VectorKind::Gatherv => "gatherv",
            VectorKind::Scatterv => "scatterv",
            VectorKind::Allgatherv => "allgatherv",
            VectorKind::ReduceScatter => "reduce_scatter",
            VectorKind::Alltoallv => "alltoallv",
        }
    }
}

impl Vector {
    /// The name of the algorithm, as in the experiment file.
    pub fn algorithm(&self, algorithms: &Algorithms) -> &'static str {
        match self.kind {
            VectorKind::Gatherv | VectorKind::Scatterv => "linear",
            VectorKind::Alltoallv if algorithms.alltoall == AlltoallBy::Linear => "linear",
            VectorKind::Allgatherv | VectorKind::Alltoallv => "ring",
            VectorKind::ReduceScatter => "pairwise",
        }
    }

    /// Adds the operations of the task at `place` in step `step`. False if there are fewer steps.
    pub fn step(&self, algorithms: &Algorithms, place: u32, step: u32, ops: &mut Vec<Op>) -> bool {
        let count = self.bytes.len() as u32;
        if count < 2 {
            return false;
        }
        let mut steps = Steps::new(ops, Group::all(count), place);
        let bytes = |place: u32| self.bytes[place as usize];
        match self.kind {
            VectorKind::Gatherv => step == 0 && self.gather(&mut steps),
            VectorKind::Scatterv => step == 0 && self.scatter(&mut steps),
            VectorKind::Allgatherv => {
                let goes_on = step + 1 < count;
                if goes_on {
                    let (next, last) = (steps.after(1), steps.before(1));
                    let block = bytes(steps.before(step));
                    steps.exchange(next, block, last);
                }
                goes_on
            }
            VectorKind::ReduceScatter => {
                let own = bytes(place);
                shift(&mut steps, step, bytes, |_| own)
            }
            VectorKind::Alltoallv if algorithms.alltoall == AlltoallBy::Linear => {
                step == 0 && self.linear(&mut steps)
            }
            VectorKind::Alltoallv => {
                let from = |place: u32| self.receives[place as usize];
                shift(&mut steps, step, bytes, from)
            }
        }
    }

    /// All other tasks with bytes, and their bytes.
    fn others<'a>(bytes: &'a [u64], steps: &Steps) -> impl Iterator<Item = (u32, u64)> + use<'a> {
        let order: Vec<u32> = (1..steps.count).map(|places| steps.after(places)).collect();
        let sized = order
            .into_iter()
            .map(|place| (place, bytes[place as usize]));
        sized.filter(|&(_, bytes)| bytes > 0)
    }

    fn gather(&self, steps: &mut Steps) -> bool {
        let own = self.bytes[steps.me as usize];
        if steps.me == self.root {
            for (from, _) in Vector::others(&self.bytes, steps) {
                steps.irecv(from);
            }
            steps.wait();
        } else if own > 0 {
            steps.send(self.root, own);
        }
        true
    }

    fn scatter(&self, steps: &mut Steps) -> bool {
        if steps.me == self.root {
            for (to, bytes) in Vector::others(&self.bytes, steps) {
                steps.isend(to, bytes);
            }
            steps.wait();
        } else if self.bytes[steps.me as usize] > 0 {
            steps.recv(self.root);
        }
        true
    }

    fn linear(&self, steps: &mut Steps) -> bool {
        for (from, _) in Vector::others(&self.receives, steps) {
            steps.irecv(from);
        }
        for (to, bytes) in Vector::others(&self.bytes, steps) {
            steps.isend(to, bytes);
        }
        steps.wait();
        true
    }
}

/// Sends to the task a number of places on and receives from the one the same number of places
/// back, one more in each step.
fn shift(
    steps: &mut Steps,
    step: u32,
    sends: impl Fn(u32) -> u64,
    receives: impl Fn(u32) -> u64,
) -> bool {
    if step + 1 >= steps.count {
        return false;
    }
    let (to, from) = (steps.after(step + 1), steps.before(step + 1));
    if receives(from) > 0 {
        steps.irecv(from);
    }
    if sends(to) > 0 {
        steps.send(to, sends(to));
    }
    steps.wait();
    true
}
