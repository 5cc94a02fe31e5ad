//! Collective operations as messages, by the well-known algorithms.
//!
//! An operation is carried out in steps. A step is a pure function of the operation, the task and
//! the step's number, so that the state of an operation is a number and no list of messages is
//! kept. In a step a task starts its receives, then its sends, and waits for the messages that it
//! needs.
//!
//! A message that is too long for a `u64` gets the largest length, which ends the run when it is
//! sent ([`weir_model::LONGEST_MESSAGE`]).

mod algorithms;
mod allreduce;
mod alltoall;
mod double_tree;
mod gather;
mod halves;
mod reduce_scatter;
mod rooted;
mod steps;
#[cfg(test)]
mod tests;
mod vector;

pub use algorithms::{
    Algorithms, AllgatherBy, AllreduceBy, AlltoallBy, BarrierBy, BcastBy, Choices, GatherBy,
    ReduceScatterBy, RootedBy,
};
use steps::Steps;
pub use vector::{Vector, VectorKind};

pub use super::op::{Collective, Kind};
use super::{Op, Peer};

impl Collective {
    /// The name of its algorithm, as in the experiment file.
    pub fn algorithm(&self, algorithms: &Algorithms) -> &'static str {
        let (bytes, count) = (self.bytes, self.group.count);
        match self.kind {
            Kind::Barrier => algorithms.barrier.name(),
            Kind::Bcast => algorithms.bcast.choose(bytes, count).name(),
            Kind::Reduce => algorithms.reduce.name(),
            Kind::Allreduce => algorithms.allreduce.choose(bytes, count).name(),
            Kind::Allgather => algorithms.allgather.choose(bytes, count).name(),
            Kind::ReduceScatter => algorithms.reduce_scatter.choose(bytes, count).name(),
            Kind::Alltoall => algorithms.alltoall.choose(bytes, count).name(),
            Kind::Gather => algorithms.gather.name(),
            Kind::Scatter => algorithms.scatter.name(),
            Kind::Scan => "recursive_doubling",
        }
    }

    /// Adds the operations of `task` in step `step` (from 0; a step may have none). False if there
    /// are fewer steps.
    pub fn step(&self, algorithms: &Algorithms, task: Peer, step: u32, ops: &mut Vec<Op>) -> bool {
        let count = self.group.count;
        let Some(me) = self.group.place(task) else {
            return false;
        };
        if count < 2 {
            return false;
        }
        let mut steps = Steps::new(ops, self.group, me);
        let bytes = self.bytes;
        match self.kind {
            Kind::Barrier => match algorithms.barrier {
                BarrierBy::Dissemination => alltoall::dissemination(&mut steps, step),
                BarrierBy::Tree => rooted::up_and_down(&mut steps, step, 0),
            },
            Kind::Bcast => match algorithms.bcast.choose(bytes, count) {
                BcastBy::Tree => rooted::tree_down(&mut steps, step, self.root, bytes),
                BcastBy::ScatterAllgather => {
                    gather::scatter_allgather(&mut steps, step, self.root, bytes)
                }
                _ => rooted::binomial_down(&mut steps, step, self.root, bytes),
            },
            Kind::Reduce => match algorithms.reduce {
                RootedBy::Tree => rooted::tree_up(&mut steps, step, self.root, bytes),
                RootedBy::Binomial => rooted::binomial_up(&mut steps, step, self.root, bytes),
            },
            Kind::Allreduce => match algorithms.allreduce.choose(bytes, count) {
                AllreduceBy::Rabenseifner => allreduce::rabenseifner(&mut steps, step, bytes),
                AllreduceBy::Ring => allreduce::ring(&mut steps, step, bytes),
                AllreduceBy::DoubleTree => double_tree::allreduce(&mut steps, step, bytes),
                AllreduceBy::Tree => rooted::up_and_down(&mut steps, step, bytes),
                _ => allreduce::recursive_doubling(&mut steps, step, bytes),
            },
            Kind::Allgather => match algorithms.allgather.choose(bytes, count) {
                AllgatherBy::RecursiveDoubling => {
                    gather::recursive_doubling(&mut steps, step, bytes)
                }
                AllgatherBy::Bruck => gather::bruck(&mut steps, step, bytes),
                _ => gather::ring(&mut steps, step, bytes),
            },
            Kind::ReduceScatter => match algorithms.reduce_scatter.choose(bytes, count) {
                ReduceScatterBy::RecursiveHalving => {
                    reduce_scatter::halving_all(&mut steps, step, bytes)
                }
                ReduceScatterBy::Ring => reduce_scatter::ring(&mut steps, step, bytes),
                _ => reduce_scatter::pairwise(&mut steps, step, bytes),
            },
            Kind::Alltoall => match algorithms.alltoall.choose(bytes, count) {
                AlltoallBy::Bruck => alltoall::bruck(&mut steps, step, bytes),
                AlltoallBy::Linear => alltoall::linear(&mut steps, step, bytes),
                AlltoallBy::Ring => alltoall::ring(&mut steps, step, bytes),
                _ => alltoall::pairwise(&mut steps, step, bytes),
            },
            Kind::Gather => match algorithms.gather {
                GatherBy::Binomial => rooted::gather_up(&mut steps, step, self.root, bytes),
                GatherBy::Linear => rooted::gather_linear(&mut steps, step, self.root, bytes),
            },
            Kind::Scatter => match algorithms.scatter {
                GatherBy::Binomial => rooted::scatter_down(&mut steps, step, self.root, bytes),
                GatherBy::Linear => rooted::scatter_linear(&mut steps, step, self.root, bytes),
            },
            Kind::Scan => reduce_scatter::scan(&mut steps, step, bytes),
        }
    }
}
