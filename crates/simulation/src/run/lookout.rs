//! Looks after a run: stalls, checkpoints, states for other runs.

use std::time::{Duration, Instant};

use super::checkpoint::{self, Checkpoints, Reached};
use super::fork::Shared;
use super::means::Means;
use super::observer::{Observer, SavedState};
use super::stall_detector::StallDetector;
use crate::error::RunError;
use crate::plan::Plan;
use weir_engine::{Progress, Start, StopReason, Transport};
use weir_fabric::{Part, Parts, Watcher};
use weir_model::{NEVER, Time};

/// Looks after a run on this rank.
pub(super) struct Lookout<'a> {
    pub detector: StallDetector,
    pub observer: &'a mut dyn Observer,
    ranks: u32,
    /// The place for its checkpoints, if it writes any.
    saver: Option<&'a Checkpoints>,
    /// The shared state that is still to be written.
    shared: Option<&'a Shared>,
    /// Time at which this ends the run and takes the states of the domains, if it does.
    forks_at: Option<Time>,
    begun: Instant,
    /// The place from which the run went on.
    pub from: Reached,
    /// States of this rank's domains at the fork, and the place of the run.
    pub states: Option<(Vec<Vec<u8>>, Reached)>,
    /// Error with which this ended the run.
    pub error: Option<RunError>,
}

impl<'a> Lookout<'a> {
    /// For a run of a plan from a place on.
    pub fn new(
        plan: &Plan,
        from: Reached,
        means: Means<'a>,
        ranks: u32,
        observer: &'a mut dyn Observer,
    ) -> Lookout<'a> {
        let before = |shared: &&Shared| shared.saves && from.start.until < shared.at;
        let traffic = plan.blueprint.traffic.clone();
        Lookout {
            detector: StallDetector::new(from.watch, plan.quiet_limit, traffic),
            observer,
            ranks,
            saver: means.checkpoints,
            shared: (means.shared)
                .filter(before)
                .filter(|_| from.forked.is_none()),
            forks_at: None,
            begun: Instant::now(),
            from,
            states: None,
            error: None,
        }
    }

    /// The same for a run that ends at a fork.
    pub fn until_fork(self, at: Time) -> Lookout<'a> {
        Lookout {
            forks_at: Some(at),
            ..self
        }
    }

    fn look(
        &mut self,
        parts: &mut dyn Parts,
        transport: &mut dyn Transport,
        progress: Progress,
    ) -> Result<(), RunError> {
        // The place where windows are cut depends on the clock; the findings must not.
        if progress.window_ended() {
            self.detector.look(parts, transport, progress)?;
        }
        if progress.cut
            && let Some(shared) = self.shared.take()
        {
            let written = self.write(&shared.place, &parts.parts(), transport, progress.at)?;
            self.observer
                .shared(written.as_ref().copied().map_err(String::as_str));
        }
        if progress.cut && self.forks_at.is_some() {
            let parts = parts.parts();
            let states = parts.iter().map(|part| {
                let mut bytes = Vec::new();
                part.save(&mut bytes).map(|()| bytes)
            });
            let states: Result<Vec<_>, _> = states.collect();
            let states = states.map_err(|error| RunError::Checkpoint(error.to_string()))?;
            self.states = Some((states, self.reached(progress.at)));
        } else if progress.save {
            self.save(&parts.parts(), transport, progress.at)?;
        }
        Ok(())
    }

    /// Writes a checkpoint, if there is a place for it. Returns true if it was written.
    pub fn save(
        &mut self,
        parts: &[&mut dyn Part],
        transport: &mut dyn Transport,
        start: Start,
    ) -> Result<bool, RunError> {
        let Some(to) = self.saver else {
            return Ok(false);
        };
        let written = self.write(to, parts, transport, start)?;
        self.observer
            .saved(written.as_ref().copied().map_err(String::as_str));
        Ok(written.is_ok())
    }

    /// Writes the state. The inner error is that of the disk.
    fn write(
        &self,
        to: &Checkpoints,
        parts: &[&mut dyn Part],
        transport: &mut dyn Transport,
        start: Start,
    ) -> Result<Result<SavedState, String>, RunError> {
        let reached = self.reached(start);
        let begun = Instant::now();
        let written = checkpoint::write(to, parts, reached, transport)?;
        Ok(written.map(|bytes| SavedState {
            until: start.until,
            bytes,
            took: begun.elapsed(),
        }))
    }

    fn reached(&self, start: Start) -> Reached {
        Reached {
            start,
            watch: self.detector.watch(),
            wall_seconds: self.wall_seconds(),
            ..self.from
        }
    }

    /// Wall-clock time since the beginning of the whole run, s.
    pub fn wall_seconds(&self) -> f64 {
        self.from.wall_seconds + self.begun.elapsed().as_secs_f64()
    }
}

impl Watcher for Lookout<'_> {
    fn stop(&mut self) -> Option<StopReason> {
        self.observer.stop()
    }

    fn wants_state(&mut self) -> bool {
        self.saver.is_some() && self.observer.wants_state()
    }

    fn cut(&self) -> Time {
        // Both are at the same time if there are both.
        let shared = self.shared.map(|shared| shared.at);
        shared.or(self.forks_at).unwrap_or(NEVER)
    }

    fn heed_within(&self) -> Duration {
        self.observer.heed_within()
    }

    fn observe(
        &mut self,
        parts: &mut dyn Parts,
        transport: &mut dyn Transport,
        progress: Progress,
    ) -> bool {
        if let Err(error) = self.look(parts, transport, progress) {
            self.error = Some(error);
            return false;
        }
        self.observer.progress(progress, self.ranks);
        self.states.is_none()
    }
}
