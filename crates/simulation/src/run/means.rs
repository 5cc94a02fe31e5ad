//! Means of a run besides its plan.

use std::num::NonZeroUsize;

use super::checkpoint::Checkpoints;
use super::fork::Shared;

/// Means of a run: one thread and nothing else by default.
#[derive(Clone, Copy, Default)]
pub struct Means<'a> {
    /// The most threads that run the domains of this rank.
    pub threads: Option<NonZeroUsize>,
    /// The place for its checkpoints. It goes on from the newest one that was found there, on any
    /// number of ranks and threads. It writes one when the observer wants it and when the run is
    /// stopped.
    pub checkpoints: Option<&'a Checkpoints>,
    /// The state that it shares with other runs: without a checkpoint it goes on from there, or
    /// writes it.
    pub shared: Option<&'a Shared>,
}

impl Means<'_> {
    /// The most threads that run the domains of this rank.
    pub fn threads(&self) -> usize {
        self.threads.map_or(1, NonZeroUsize::get)
    }
}
