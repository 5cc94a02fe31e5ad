//! The tasks of simulated applications: MPI processes, one operation after the other.
//!
//! A *motif* ([`Motif`]) writes the program of a task part by part into a [`Script`]; a part is a
//! pure function of the task and the part's number, so that the whole state of a program is a
//! number. A [`Task`] has a [`Process`] ([`Procedure`] with its state) and [`Messages`]. The
//! process carries operations out one after the other or in the order of a graph. Messages are
//! sends by the eager or the rendezvous protocol, and arrivals, matched with the posted receives.
//! Collective operations become messages step by step ([`collectives`]). A task knows no network:
//! its requests go to a [`Wire`], whose implementation calls the task back.

pub mod collectives;
mod group;
mod hang;
mod job;
mod messages;
mod pace;
mod program;
mod task;

#[cfg(any(test, feature = "testing"))]
pub mod ideal;
#[cfg(test)]
mod tests;

use messages::{envelope, protocol, queues};
use program::{op, script, sequence};

pub use collectives::{Algorithms, Vector, VectorKind};
pub use envelope::{Envelope, EnvelopeKind};
pub use group::{Group, Peer};
pub use hang::{Obstacle, Waiting};
pub use job::{Calls, Iteration, Job, Motif, Procedure, Process};
pub use messages::{
    Entries, Exchange, Messages, OF_A_PEER, OF_A_RECEIVE, OF_A_SEND, Trouble, Wire,
};
pub(crate) use op::BLOCKING;
pub use op::{Collective, Label, Labels, Op, Tag};
pub use pace::{Compute, Pace};
pub use protocol::{Completes, Mpi, MpiPreset, Protocol, RendezvousCompletes};
pub(crate) use queues::Queues;
pub use script::Script;
pub use sequence::Sequence;
pub use task::Task;
