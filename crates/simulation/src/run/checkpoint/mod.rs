//! States of a run on the disk, from which it goes on after it was killed or stopped.
//!
//! A checkpoint is a folder `checkpoint/TIMEps` in the directory of the result: a manifest, and a
//! file of each rank with the states of its domains, one after the other. Any number of ranks can
//! go on from it. It is written beside the previous one and renamed when all of it has reached the
//! disk, so that there is always a whole one. Two are kept.

mod folder;
mod manifest;
mod read;
mod write;

use std::io;
use std::path::{Path, PathBuf};

use thiserror::Error;

use super::stall_detector::Watch;
use crate::config::Experiment;
use serde::{Deserialize, Serialize};
use weir_engine::Start;
use weir_model::Time;

pub(super) use folder::remove_after;
pub use folder::{FOLDER, list, remove};
pub use manifest::Manifest;
pub(super) use read::load;
pub use read::{Found, find};
pub(super) use write::{agreed, write};

/// Origin of a checkpoint. Program and experiment must be the same to go on from it, since states
/// of others mean something else.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Identity {
    /// The program: version and commit.
    pub program: String,
    /// The experiment with every default; its `run.max_wall` may differ.
    pub experiment: String,
    /// The directory that paths in the experiment are relative to.
    pub folder: PathBuf,
    /// `run.checkpoint_every`, ps.
    pub every: Option<Time>,
}

impl Identity {
    /// The origin of checkpoints of an experiment that `program` runs.
    pub fn of(experiment: &Experiment, program: String, folder: &Path) -> Identity {
        Identity {
            program,
            experiment: experiment.resolved.clone(),
            every: experiment.run.checkpoint_every.map(|every| every.0),
            folder: std::path::absolute(folder).unwrap_or_else(|_| folder.to_path_buf()),
        }
    }
}

/// A state of another run from which a run went on.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct Forked {
    /// Its simulated time, ps.
    pub at: Time,
    /// Packet-hops before it.
    pub packet_hops: u64,
    /// Wall-clock time that the other run took for them, s.
    pub wall_seconds: f64,
}

/// The place that a run has reached.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Reached {
    /// In simulated time.
    pub start: Start,
    pub(super) watch: Watch,
    /// Wall-clock time since its beginning, s.
    pub wall_seconds: f64,
    /// Times that it had gone on from a checkpoint.
    pub resumed: u32,
    /// True if it had not come to its fork ([`crate::plan::Plan::fork`]): the state is one of its
    /// base.
    pub base: bool,
    /// The state of another run from which it had gone on at first.
    pub forked: Option<Forked>,
}

/// The place for the checkpoints of a run. The same on all ranks.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct Checkpoints {
    /// The directory of the result.
    pub dir: PathBuf,
    /// Their origin.
    pub identity: Identity,
    /// Checkpoints to go on from, the newest first; empty for a run from the beginning.
    pub found: Vec<Manifest>,
    /// True if a run is to start from the beginning if none of them can be loaded.
    pub anew: bool,
}

/// Reasons why a checkpoint cannot be used.
#[derive(Debug, Error)]
pub enum CheckpointError {
    /// It cannot be read.
    #[error("{} cannot be read: {cause}", path.display())]
    Unreadable {
        /// The file or folder.
        path: PathBuf,
        /// Cause.
        cause: io::Error,
    },
    /// Its bytes are others than were written.
    #[error("{} is damaged: {what}", path.display())]
    Damaged {
        /// The file.
        path: PathBuf,
        /// The first thing that is wrong.
        what: String,
    },
    /// Another program wrote it.
    #[error(
        "{} is of {found}, this is {own}; go on with that program, or start anew with --force",
        path.display()
    )]
    OtherProgram {
        /// The checkpoint.
        path: PathBuf,
        /// The program that wrote it.
        found: String,
        /// This program.
        own: String,
    },
    /// It is of another experiment.
    #[error(
        "{} is of another experiment ({difference}); write elsewhere with --out, or start anew \
         with --force",
        path.display()
    )]
    OtherExperiment {
        /// The checkpoint.
        path: PathBuf,
        /// The first lines that differ.
        difference: String,
    },
}
