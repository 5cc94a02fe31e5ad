//! Runs a plan on this rank's domains.

mod critical_path;
mod hang;
mod saved;
mod stall_detector;
mod trial;

pub use critical_path::Log;
pub use saved::Saved;
pub use trial::{Sample, Trial, trial};

use std::time::{Duration, Instant};

use crate::collect::{Facts, collect};
use crate::error::RunError;
use crate::plan::Plan;
use stall_detector::{StallDetector, Watch, search};
use weir_engine::{End, Progress, Start, StopReason, Transport};
use weir_fabric::{Fabric, Part, Parts, Step, TaskStep, Watcher};
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
    /// Reason why it ended early, if it did.
    pub stopped: Option<StopReason>,
}

/// Interface to the outside while a run goes on.
pub trait Observer {
    /// Called several times a second, and after every window.
    fn progress(&mut self, progress: Progress, ranks: u32);
    /// Reason to end the run now, if there is one.
    /// Asked several times a second, and after every window, on every rank. If one rank gives a
    /// reason, all end at the same simulated time, and the result is marked as not complete.
    fn stop(&mut self) -> Option<StopReason>;
    /// True if the state is to be saved now. Asked at the end of every window on all ranks, of
    /// which all or none save theirs.
    fn wants_state(&mut self, _: Progress) -> bool {
        false
    }
    /// The state of this rank's domains, which was wanted.
    fn take_state(&mut self, _: Saved) {}
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
        self.detector.look(parts, transport, progress)?;
        if self.observer.wants_state(progress) {
            let start = Start {
                until: progress.until,
                windows: progress.windows,
            };
            let saved = Saved::of(start, self.detector.watch(), &parts.parts())?;
            self.observer.take_state(saved);
        }
        Ok(())
    }
}

impl Watcher for Lookout<'_> {
    fn stop(&mut self) -> Option<StopReason> {
        self.observer.stop()
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
        // The place where windows are cut depends on the clock; the findings must not.
        if progress.window_ended
            && let Err(error) = self.look(parts, transport, progress)
        {
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
    run_from(plan, None, transport, observer)
}

/// Goes on with a run of the same plan from its state at the end of a window, on any number of
/// ranks. `saved` has the domains of this rank at least. Otherwise like [`run`].
///
/// # Errors
/// As of [`run`]; also if the state is none of this plan.
pub fn resume(
    plan: &Plan,
    saved: &Saved,
    transport: &mut dyn Transport,
    observer: &mut dyn Observer,
) -> Result<Option<Outcome>, RunError> {
    run_from(plan, Some(saved), transport, observer)
}

fn run_from(
    plan: &Plan,
    saved: Option<&Saved>,
    transport: &mut dyn Transport,
    observer: &mut dyn Observer,
) -> Result<Option<Outcome>, RunError> {
    let mut fabric = Fabric::new(&plan.blueprint, plan.scheme.as_ref(), transport);
    let (mut start, mut watch) = (Start::default(), Watch::default());
    if let Some(saved) = saved {
        saved.load(&mut fabric)?;
        (start, watch) = (saved.start, saved.watch);
    }
    let mut lookout = Lookout {
        detector: StallDetector::new(watch, plan.quiet_limit, plan.blueprint.traffic.clone()),
        observer,
        ranks: transport.size(),
        error: None,
    };
    let started = Instant::now();
    let ended = fabric.run(
        plan.network(),
        plan.schedule,
        start,
        transport,
        &mut lookout,
    );
    let (end, windows) = ended.map_err(|halt| RunError::of(halt, lookout.error.take()))?;
    if end == End::Time && plan.completes && plan.schedule.end == LATEST {
        return Err(RunError::Endless);
    }
    let mut parts = fabric.parts();
    let wall_seconds = started.elapsed().as_secs_f64();
    let simulated = simulated_time(&parts, plan, end, transport)?;
    let stopped = match end {
        End::Asked(_, reason) => Some(reason),
        _ => None,
    };
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
        windows,
        stopped,
    }))
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
