//! Runs a plan on this rank's domains.

pub mod checkpoint;
mod critical_path;
pub mod fork;
mod hang;
mod stall_detector;
mod trial;

pub use critical_path::Log;
pub use trial::{Sample, Trial, trial};

use std::time::{Duration, Instant};

use crate::collect::{Facts, collect};
use crate::error::RunError;
use crate::plan::Plan;
use checkpoint::{Checkpoints, Forked, Manifest, Reached};
use fork::Shared;
use stall_detector::{StallDetector, search};
use weir_engine::{End, Progress, Start, StopReason, Transport, broadcast, gather};
use weir_fabric::{Fabric, Fork, Part, Parts, Step, TaskStep, Watcher};
use weir_model::{LATEST, NEVER, Time};
use weir_result::Data;

/// Outcome of a run, on rank 0.
pub struct Outcome {
    /// The measurements.
    pub data: Data,
    /// Facts about this run that may differ between runs.
    pub facts: Facts,
    /// The paths of watched packets: by packet, in order.
    pub steps: Vec<Step>,
    /// Log of tasks, by domain, if one was kept.
    pub tasks: Vec<Vec<TaskStep>>,
    /// From the first window to the last, s.
    pub wall_seconds: f64,
    /// Windows run.
    pub windows: u64,
    /// Times that it went on from a checkpoint.
    pub resumed: u32,
    /// The state of another run from which it went on, if it did.
    pub forked: Option<Forked>,
    /// Reason why it ended early, if it did.
    pub stopped: Option<StopReason>,
    /// True if it can go on from there: a checkpoint was written when it was stopped.
    pub saved: bool,
}

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

/// Looks after a run on this rank.
struct Lookout<'a> {
    detector: StallDetector,
    observer: &'a mut dyn Observer,
    ranks: u32,
    /// The place for its checkpoints, if it writes any.
    saver: Option<&'a Checkpoints>,
    /// The shared state that is still to be written.
    shared: Option<&'a Shared>,
    begun: Instant,
    /// The place from which the run went on.
    from: Reached,
    /// Error with which this ended the run.
    error: Option<RunError>,
}

impl Lookout<'_> {
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
        if progress.save {
            self.save(&parts.parts(), transport, progress.at)?;
        }
        Ok(())
    }

    /// Writes a checkpoint, if there is a place for it. Returns true if it was written.
    fn save(
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
        let reached = Reached {
            start,
            watch: self.detector.watch(),
            wall_seconds: self.wall_seconds(),
            ..self.from
        };
        let begun = Instant::now();
        let written = checkpoint::write(to, parts, reached, transport)?;
        Ok(written.map(|bytes| SavedState {
            until: start.until,
            bytes,
            took: begun.elapsed(),
        }))
    }

    /// Wall-clock time since the beginning of the whole run, s.
    fn wall_seconds(&self) -> f64 {
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
        self.shared.map_or(NEVER, |shared| shared.at)
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
        true
    }
}

/// Runs a plan. The outcome is on rank 0 only; errors are the same kind on all ranks, or end all of
/// them.
pub fn run(
    plan: &Plan,
    transport: &mut dyn Transport,
    observer: &mut dyn Observer,
) -> Result<Option<Outcome>, RunError> {
    run_kept(plan, None, transport, observer)
}

/// Runs a plan like [`run`], from the newest checkpoint that was found, and writes checkpoints when
/// the observer wants them and when the run is stopped. The numbers of ranks may differ.
///
/// # Errors
/// As of [`run`]; also if none of the checkpoints can be loaded.
pub fn run_kept(
    plan: &Plan,
    checkpoints: Option<&Checkpoints>,
    transport: &mut dyn Transport,
    observer: &mut dyn Observer,
) -> Result<Option<Outcome>, RunError> {
    run_shared(plan, checkpoints, None, transport, observer)
}

/// Runs a plan like [`run_kept`]. Without checkpoints it goes on from the state that it shares with
/// other runs, or writes that.
///
/// # Errors
/// As of [`run_kept`].
pub fn run_shared(
    plan: &Plan,
    checkpoints: Option<&Checkpoints>,
    shared: Option<&Shared>,
    transport: &mut dyn Transport,
    observer: &mut dyn Observer,
) -> Result<Option<Outcome>, RunError> {
    let (mut fabric, from) = begin(plan, checkpoints, shared, transport, observer)?;
    let before = |shared: &&Shared| shared.saves && from.start.until < shared.at;
    let mut lookout = Lookout {
        detector: StallDetector::new(from.watch, plan.quiet_limit, plan.blueprint.traffic.clone()),
        observer,
        ranks: transport.size(),
        saver: checkpoints,
        shared: shared.filter(before).filter(|_| from.forked.is_none()),
        begun: Instant::now(),
        from,
        error: None,
    };
    let ended = fabric.run(
        plan.network(),
        plan.schedule,
        from.start,
        transport,
        &mut lookout,
    );
    let (end, at) = ended.map_err(|halt| RunError::of(halt, lookout.error.take()))?;
    if end == End::Time && plan.completes && plan.schedule.end == LATEST {
        return Err(RunError::Endless);
    }
    let mut parts = fabric.parts();
    let wall_seconds = lookout.wall_seconds();
    let simulated = simulated_time(&parts, plan, end, transport)?;
    let stopped = match end {
        End::Asked(_, reason) => Some(reason),
        _ => None,
    };
    let saved = stopped.is_some() && lookout.save(&parts, transport, at)?;
    if stopped.is_none() {
        search(&parts, transport, simulated)?;
        let detector = &lookout.detector;
        detector.search_hang(&parts, transport, simulated)?;
    }
    let collected = collect(&mut parts, plan, simulated, end, transport)?;
    Ok(collected.map(|all| Outcome {
        data: all.data,
        facts: all.facts,
        steps: all.steps,
        tasks: all.tasks,
        wall_seconds,
        windows: at.windows,
        resumed: from.resumed,
        forked: from.forked,
        stopped,
        saved,
    }))
}

/// The domains of this rank at the place where the run begins: from the newest checkpoint that all
/// ranks can load, from the state that it shares with others, or new.
fn begin(
    plan: &Plan,
    checkpoints: Option<&Checkpoints>,
    shared: Option<&Shared>,
    transport: &mut dyn Transport,
    observer: &mut dyn Observer,
) -> Result<(Fabric, Reached), RunError> {
    let found = checkpoints.map_or(&[][..], |all| &all.found);
    match loaded(plan, found, None, transport)? {
        Ok(Some((fabric, mut from))) => {
            from.resumed += 1;
            return Ok((fabric, from));
        }
        Ok(None) => {}
        Err(error) if !checkpoints.is_some_and(|all| all.anew) => {
            return Err(RunError::Checkpoint(error));
        }
        Err(error) => observer.starts_anew(&error),
    }
    if let Some(shared) = shared {
        let fork = plan.fork(shared.at);
        match loaded(plan, &shared.place.found, Some(&fork), transport)? {
            Ok(Some((mut fabric, from))) => {
                let forked = Some(forked(&fabric.parts(), shared.at, &from, transport)?);
                let from = Reached {
                    resumed: 0,
                    forked,
                    ..from
                };
                return Ok((fabric, from));
            }
            Ok(None) => {}
            Err(error) => observer.is_alone(&error),
        }
    }
    Ok((built(plan, transport), Reached::default()))
}

fn built(plan: &Plan, transport: &dyn Transport) -> Fabric {
    Fabric::new(&plan.blueprint, plan.scheme.as_ref(), transport)
}

/// The first of some states that all ranks can load, if there are any. The inner error is that of
/// the last one, and the same on all ranks.
#[expect(clippy::type_complexity, reason = "two kinds of errors")]
fn loaded(
    plan: &Plan,
    found: &[Manifest],
    fork: Option<&Fork>,
    transport: &mut dyn Transport,
) -> Result<Result<Option<(Fabric, Reached)>, String>, RunError> {
    let mut failed = None;
    for manifest in found {
        let mut fabric = built(plan, transport);
        let state = checkpoint::load(manifest, &mut fabric, fork);
        let state = state.map_err(|error| error.to_string());
        match checkpoint::agreed(state, transport)? {
            Ok(()) => return Ok(Ok(Some((fabric, manifest.reached)))),
            Err(error) => failed = Some(error),
        }
    }
    Ok(failed.map_or(Ok(None), Err))
}

/// The state from which a run has just been forked, the same on all ranks.
fn forked(
    parts: &[&mut dyn Part],
    at: Time,
    from: &Reached,
    transport: &mut dyn Transport,
) -> Result<Forked, RunError> {
    // Dropped packets count as moved.
    let hops = |part: &&mut dyn Part| part.moved() - part.stats().tally.dropped();
    let here: u64 = parts.iter().map(hops).sum();
    let all = gather(transport, here)?;
    let packet_hops = broadcast(transport, &all.map_or(0, |all| all.iter().sum()))?;
    Ok(Forked {
        at,
        packet_hops,
        wall_seconds: from.wall_seconds,
    })
}

/// Simulated time at the end of a run.
/// That is the schedule's end, or (run to completion) the time of the last delivery or of the end
/// of the last task. It is the end of a window if other traffic goes on, and the time that all
/// domains have reached if the run was stopped.
fn simulated_time(
    parts: &[&mut dyn Part],
    plan: &Plan,
    end: End,
    transport: &mut dyn Transport,
) -> Result<Time, RunError> {
    if end == End::Time || (end == End::Idle && !plan.completes) {
        return Ok(plan.schedule.end);
    }
    if let End::Finished(until) | End::Asked(until, _) = end {
        return Ok(until);
    }
    let last = parts.iter().map(|part| part.last_activity()).max();
    let last = last.unwrap_or(0);
    // The minimum of the distances to the end of time is the maximum.
    let mut left = [NEVER - last];
    transport.min(&mut left)?;
    Ok(NEVER - left[0])
}
