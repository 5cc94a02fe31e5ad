//! The tasks of simulated applications: what an MPI process does, one operation after the other.
//!
//! A *motif* ([`Motif`]) writes the program of a task part by part into a [`Script`]; a part is a pure function of the
//! task and the part's number, so that the whole state of a program is a number. A [`Task`] carries the operations out:
//! it computes, sends by the eager or the rendezvous protocol, matches what arrives with the receives that are posted,
//! and waits. Collective operations become messages step by step ([`collectives`]). A task knows no network: what it
//! wants goes to a [`Wire`], and whoever carries its messages calls it back.

pub mod collectives;
mod envelope;
mod group;
mod hang;
mod job;
mod mailbox;
mod op;
mod protocol;
mod requests;
mod script;
mod task;

#[cfg(test)]
pub(crate) mod ideal;
#[cfg(test)]
mod tests;

pub use collectives::{Algorithms, Collective};
pub use envelope::{Envelope, EnvelopeKind};
pub use group::Group;
pub use hang::{Obstacle, Waiting};
pub use job::{Job, Motif};
pub use op::{Label, Labels, Op, Peer, Tag};
pub use protocol::{Completes, Mpi, MpiPreset, Protocol};
pub use script::Script;
pub use task::{Iteration, Task, Trouble, Wire};
