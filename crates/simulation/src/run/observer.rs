//! Interface of a run to the outside.

use std::time::Duration;

use super::checkpoint::Manifest;
use weir_engine::{Progress, StopReason};
use weir_model::Time;

/// A checkpoint that was written.
#[derive(Clone, Copy, Debug)]
pub struct SavedState {
    /// Everything before this is in it, ps.
    pub until: Time,
    /// Its size, on rank 0.
    pub bytes: u64,
    /// Wall-clock time that it took.
    pub took: Duration,
}

/// Interface to the outside while a run goes on.
pub trait Observer {
    /// Called several times a second, and after every window.
    fn progress(&mut self, progress: Progress, ranks: u32);
    /// Reason to end the run now, if there is one.
    /// Asked several times a second, and after every window, on every rank. If one rank gives a
    /// reason, all end at the same simulated time, and the result is marked as not complete.
    fn stop(&mut self) -> Option<StopReason>;
    /// True if a checkpoint is to be written now, for a run that has a place for them. Asked where
    /// [`Observer::stop`] is; if one rank wants it, all write theirs.
    fn wants_state(&mut self) -> bool {
        false
    }
    /// Told on every rank of the checkpoint that the run goes on from, and why newer ones cannot be
    /// loaded.
    fn goes_on(&mut self, _: &Manifest, _newer: &[String]) {}
    /// Told on every rank if no checkpoint can be loaded, and the run starts from the beginning.
    fn starts_anew(&mut self, _: &str) {}
    /// Told on every rank after a checkpoint; the run goes on after an error of the disk, too.
    fn saved(&mut self, _: Result<SavedState, &str>) {}
    /// Told on every rank if no shared state can be loaded, and the run simulates the time before
    /// it.
    fn is_alone(&mut self, _: &str) {}
    /// Told on every rank when the shared state has been written, or cannot be.
    fn shared(&mut self, _: Result<SavedState, &str>) {}
    /// Maximum wall-clock time before a wish to stop is heeded.
    /// Runs that have to check often are slower.
    fn heed_within(&self) -> Duration {
        Duration::from_secs(5)
    }
}
