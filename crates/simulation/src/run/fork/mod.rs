//! Forks: runs that are the same until a time simulate the time before it once.
//!
//! The first of them writes its state at that time, as a checkpoint in a place that all of them
//! know. The others go on from there. They are the same until then if they agree in everything that
//! has an effect before ([`prefix`]), which the checkpoint has as its origin.

mod prefix;

use serde::{Deserialize, Serialize};

use super::checkpoint::{Checkpoints, Identity};
use weir_model::Time;

pub use prefix::{prefix, times, written};

/// Name of the lock in its directory: the run that writes the state has it until then.
pub const LOCK: &str = ".lock";

/// The state that a run has in common with others.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct Shared {
    /// Its place, and the states found there.
    pub place: Checkpoints,
    /// Its simulated time, ps.
    pub at: Time,
    /// True if the run writes it when it comes there: no other run does.
    pub saves: bool,
}

/// The origin of a state that runs with this [`prefix`] share.
pub fn identity(program: String, prefix: String) -> Identity {
    Identity {
        program,
        experiment: prefix,
        folder: "".into(),
        every: None,
    }
}
