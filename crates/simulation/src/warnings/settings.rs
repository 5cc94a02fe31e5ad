//! Settings of a workload without effect.

use crate::config::{Experiment, WorkloadConfig};
use crate::plan::Warning;
use weir_input::Until;
use weir_workload::open::endpoints::{Endpoints, Placement};
use weir_workload::tasks::Compute;

/// Kind of these warnings.
const KIND: &str = "changes_nothing";

/// Warnings about settings that another one makes useless.
pub(super) fn useless(experiment: &Experiment) -> impl Iterator<Item = Warning> {
    let timed = matches!(experiment.run.until, Until::Time(_));
    let enabled = experiment.workloads.iter().filter(|one| one.enabled);
    enabled.flat_map(move |workload| {
        let all = [
            background(workload).filter(|_| timed),
            stragglers(workload),
            placement(workload),
            idle_endpoints(workload),
        ];
        all.into_iter().flatten()
    })
}

fn background(workload: &WorkloadConfig) -> Option<Warning> {
    let message = "the run ends at a time, and waits for no application";
    let remedy = "leave it out, or write run.until = \"completion\"";
    workload
        .job()?
        .background
        .then(|| Warning::about(workload, KIND, "background", message, remedy))
}

fn stragglers(workload: &WorkloadConfig) -> Option<Warning> {
    let compute = workload.job()?.compute?;
    let useless =
        compute.stragglers == 0 && compute.straggler_speed != Compute::default().straggler_speed;
    let message = "no node is slow: `stragglers` is 0";
    let remedy = "write stragglers, or leave it out";
    useless.then(|| Warning::about(workload, KIND, "compute.straggler_speed", message, remedy))
}

fn placement(workload: &WorkloadConfig) -> Option<Warning> {
    let Endpoints::Count {
        placement: Placement::Linear,
        seed: Some(_),
        ..
    } = workload.endpoints
    else {
        return None;
    };
    let key = match workload.section.node.get("placement_seed") {
        Some(_) => "placement_seed",
        None => "endpoints.seed",
    };
    let message = "a linear placement draws nothing";
    let remedy = "leave it out, or choose another placement";
    Some(Warning::about(workload, KIND, key, message, remedy))
}

/// Endpoints of a list that are of no task.
fn idle_endpoints(workload: &WorkloadConfig) -> Option<Warning> {
    let (Endpoints::List(listed), Some(job)) = (&workload.endpoints, workload.job()) else {
        return None;
    };
    let taken = job.tasks? as usize * job.nics as usize;
    let rest = listed.get(taken..).filter(|rest| !rest.is_empty())?;
    let message = format!("the last {} of {} have no task", rest.len(), listed.len());
    let remedy = "leave them out, or let the job have more tasks";
    Some(Warning::about(workload, KIND, "endpoints", message, remedy))
}
