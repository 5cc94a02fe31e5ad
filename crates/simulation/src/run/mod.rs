//! Runs a plan on this rank's domains.

mod begin;
pub mod checkpoint;
mod critical_path;
pub mod fork;
mod hang;
mod lookout;
mod means;
mod observer;
mod stall_detector;
mod trial;

pub use critical_path::Log;
pub use means::Means;
pub use observer::{Observer, SavedState};
pub use trial::{Sample, Trial, trial};

use crate::collect::{Facts, RankReport, collect};
use crate::error::RunError;
use crate::plan::Plan;
use begin::{begin, forked_from};
use checkpoint::{Forked, Reached};
use lookout::Lookout;
use stall_detector::search;
use weir_engine::{End, Start, StopReason, Transport};
use weir_fabric::{Fabric, Halt, Part, Parts, Step, TaskStep};
use weir_model::{LATEST, Time};
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
    /// Time in which the network was built, s.
    pub build_seconds: f64,
    /// Threads of this rank that ran its domains.
    pub threads: usize,
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

/// Runs a plan on one thread for each rank. The outcome is on rank 0 only; errors are the same kind
/// on all ranks, or end all of them.
///
/// # Errors
/// If the run does not come to its end.
pub fn run(
    plan: &Plan,
    transport: &mut dyn Transport,
    observer: &mut dyn Observer,
) -> Result<Option<Outcome>, RunError> {
    run_with(plan, Means::default(), transport, observer)
}

/// Runs a plan like [`run`] with more means. All ranks have the same, but for the threads.
///
/// # Errors
/// As of [`run`]; also if none of the checkpoints that were found can be loaded.
pub fn run_with(
    plan: &Plan,
    means: Means,
    transport: &mut dyn Transport,
    observer: &mut dyn Observer,
) -> Result<Option<Outcome>, RunError> {
    let (mut fabric, mut from) = begin(plan, means, transport, observer)?;
    let ranks = transport.size();
    if let Some(fork) = plan.fork.as_deref().filter(|_| from.base) {
        let lookout = Lookout::new(&fork.base, from, means, ranks, observer);
        let mut lookout = lookout.until_fork(fork.at);
        let ended = ran(&fork.base, &mut fabric, &mut lookout, transport)?;
        match (lookout.states.take(), ended) {
            (Some((states, reached)), _) => {
                fabric = forked_from((plan, &fork.fork), means, &states, transport)?;
                from = Reached {
                    base: false,
                    ..reached
                };
            }
            (None, Some((end @ End::Asked(..), at))) => {
                return concluded(&fork.base, fabric, lookout, (end, at), transport);
            }
            (None, _) => return Err(RunError::NoFork(fork.at)),
        }
    }
    let mut lookout = Lookout::new(plan, from, means, ranks, observer);
    let ended = ran(plan, &mut fabric, &mut lookout, transport)?;
    let ended = ended.ok_or_else(|| RunError::of(Halt::Observer, None))?;
    concluded(plan, fabric, lookout, ended, transport)
}

/// Runs domains to the end of a plan, or to the place where the lookout takes their states: None.
fn ran(
    plan: &Plan,
    fabric: &mut Fabric,
    lookout: &mut Lookout,
    transport: &mut dyn Transport,
) -> Result<Option<(End, Start)>, RunError> {
    let (network, start) = (plan.network(), lookout.from.start);
    match fabric.run(network, plan.blueprint.schedule, start, transport, lookout) {
        Ok(ended) => Ok(Some(ended)),
        Err(Halt::Observer) if lookout.states.is_some() => Ok(None),
        Err(halt) => Err(RunError::of(halt, lookout.error.take())),
    }
}

/// Outcome of a run that has ended.
fn concluded(
    plan: &Plan,
    mut fabric: Fabric,
    mut lookout: Lookout,
    (end, at): (End, Start),
    transport: &mut dyn Transport,
) -> Result<Option<Outcome>, RunError> {
    if end == End::Time && plan.completes && plan.blueprint.schedule.end == LATEST {
        return Err(RunError::Endless);
    }
    let threads = fabric.threads();
    let build_seconds = fabric.built.as_secs_f64();
    let parts = fabric.parts();
    let from = lookout.from;
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
    let report = RankReport::new(fabric, simulated);
    let collected = collect(report, plan, simulated, end, transport)?;
    Ok(collected.map(|all| Outcome {
        data: all.data,
        facts: all.facts,
        steps: all.steps,
        tasks: all.tasks,
        build_seconds,
        threads,
        wall_seconds,
        windows: at.windows,
        resumed: from.resumed,
        forked: from.forked,
        stopped,
        saved,
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
        return Ok(plan.blueprint.schedule.end);
    }
    if let End::Finished(until) | End::Asked(until, _) = end {
        return Ok(until);
    }
    let last = parts.iter().map(|part| part.last_activity()).max();
    let mut last = [last.unwrap_or(0)];
    transport.max(&mut last)?;
    Ok(last[0])
}
