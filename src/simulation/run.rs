//! Runs a plan on this rank's domains.

use std::ops::ControlFlow;
use std::time::{Duration, Instant};

use super::assemble::Plan;
use super::collect::{Facts, collect};
use super::error::RunError;
use super::watchman::{Watchman, search};
use crate::congestion::{Scheme, Visitor};
use crate::engine::{self, Agreement, End, Progress, Share, Transport};
use crate::fabric::{FabricDomain, Step};
use crate::model::{NEVER, Time};
use crate::trace::Data;

/// How a run went, on rank 0.
pub struct Outcome {
    /// What was measured.
    pub data: Data,
    /// Facts about this run that may differ between runs.
    pub facts: Facts,
    /// The way of the watched packet, in order.
    pub steps: Vec<Step>,
    /// From the first window to the last, s.
    pub wall_seconds: f64,
    /// Windows run.
    pub windows: u64,
    /// Why it ended early, if it did.
    pub stopped: Option<&'static str>,
}

/// What the outside sees and says while a run goes on.
pub trait Observer {
    /// Called after every window.
    fn progress(&mut self, progress: Progress, ranks: u32);
    /// Wall-clock limit.
    fn max_wall(&self) -> Option<Duration>;
}

/// Runs a plan. The outcome is on rank 0 only; errors are the same kind on all ranks, or end all of them.
///
/// Not generic: everything below is compiled once for each scheme, here, and not again for every transport and every
/// crate that runs plans.
pub fn run(
    plan: &Plan,
    transport: &mut dyn Transport,
    observer: &mut dyn Observer,
) -> Result<Option<Outcome>, RunError> {
    plan.scheme.visit(Running {
        plan,
        transport,
        observer,
    })
}

/// A run, to be done with whatever scheme.
struct Running<'a> {
    plan: &'a Plan,
    transport: &'a mut dyn Transport,
    observer: &'a mut dyn Observer,
}

impl Visitor for Running<'_> {
    type Output = Result<Option<Outcome>, RunError>;

    fn visit<S: Scheme>(self, scheme: &S) -> Self::Output {
        run_with(self.plan, scheme, self.transport, self.observer)
    }
}

fn run_with<S: Scheme>(
    plan: &Plan,
    scheme: &S,
    transport: &mut dyn Transport,
    observer: &mut dyn Observer,
) -> Result<Option<Outcome>, RunError> {
    let network = plan.network();
    let share = Share {
        domains: network.topology.domains(),
        ranks: transport.size(),
    };
    let mut domains: Vec<FabricDomain<S>> = share
        .of(transport.rank())
        .map(|id| FabricDomain::new(id, &plan.blueprint, scheme))
        .collect();
    let mut watchman = Watchman::new(plan.patience, plan.blueprint.traffic.clone());
    let started = Instant::now();
    let (end, windows) = engine::run(
        &mut domains,
        share,
        plan.schedule,
        transport,
        |id| network.neighbours(id),
        |settled, transport, progress| {
            watchman.look(settled, transport, progress)?;
            observer.progress(progress, share.ranks);
            let out_of_time = observer
                .max_wall()
                .is_some_and(|limit| started.elapsed() > limit);
            Ok(if out_of_time {
                ControlFlow::Break(())
            } else {
                ControlFlow::Continue(())
            })
        },
    )?;
    let wall_seconds = started.elapsed().as_secs_f64();
    let simulated = simulated_time(&domains, plan, end, transport);
    if end != End::Asked {
        search(&domains, transport, simulated)?;
        watchman.search_hang(&domains, transport, simulated)?;
    }
    let collected = collect(&mut domains, plan, simulated, end, transport)?;
    Ok(collected.map(|(data, facts, steps)| Outcome {
        data,
        facts,
        steps,
        wall_seconds,
        windows,
        stopped: (end == End::Asked).then_some("max_wall"),
    }))
}

/// Where simulated time ended: at the schedule's end, or (run to completion) with the last delivery or the end of the last
/// task; at the end of a window, if other traffic goes on.
fn simulated_time<S: Scheme, T: Transport + ?Sized>(
    domains: &[FabricDomain<S>],
    plan: &Plan,
    end: End,
    transport: &mut T,
) -> Time {
    if end == End::Time || (end == End::Idle && plan.schedule.end != NEVER) {
        return plan.schedule.end;
    }
    if let End::Finished(until) = end {
        return until;
    }
    let last = domains
        .iter()
        .map(FabricDomain::last_activity)
        .max()
        .unwrap_or(0);
    // The least of what is left to the end of time is the most.
    let common = transport.agree(Agreement {
        next: NEVER - last,
        unmoved: 0,
        go_on: 1,
        finished: 0,
    });
    NEVER - common.next
}
