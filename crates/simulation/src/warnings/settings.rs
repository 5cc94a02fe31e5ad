//! Settings of a workload without effect.

use super::programs::none_does;
use serde_json::Value as Json;

use crate::config::{Experiment, WorkloadConfig};
use crate::plan::{Plan, UNUSED, Warning};
use weir_fabric::{Drive, Traffic};
use weir_input::registry::schema_json;
use weir_input::{Given, Section, Until};
use weir_model::Invalid;
use weir_workload::open::endpoints::{Endpoints, Placement};
use weir_workload::tasks::{Compute, Op};

/// Kind of these warnings.
const KIND: &str = "changes_nothing";

/// Warnings about settings that another one makes useless.
pub(super) fn useless(experiment: &Experiment, plan: &Plan) -> Vec<Warning> {
    let timed = matches!(experiment.run.until, Until::Time(_));
    let enabled = experiment.workloads.iter().filter(|one| one.enabled);
    let pairs = enabled.zip(&*plan.blueprint.traffic);
    let of_workloads = pairs.flat_map(move |(workload, traffic)| {
        let all = [
            background(workload).filter(|_| timed),
            stragglers(workload).or_else(|| speed(workload, traffic)),
            placement(workload),
            idle_endpoints(workload),
        ];
        all.into_iter().flatten()
    });
    of_workloads.chain(of_scheme(experiment, plan)).collect()
}

/// Parameters of the scheme that have another value than by default and in its presets.
fn of_scheme(experiment: &Experiment, plan: &Plan) -> Vec<Warning> {
    let section = &experiment.congestion;
    let variant = section.variant.described();
    let presets = variant.presets();
    let presets = presets
        .iter()
        .map(|one| format!("preset = {{ {} }}", one.values));
    let presets: Vec<Section> = presets
        .filter_map(|text| Section::from_toml(&text).ok())
        .collect();
    let schema = schema_json(variant.parameters);
    let value = |given: Given| {
        let text = given.text().map(Json::from);
        text.or_else(|| given.whole().map(Json::from))
    };
    let is_told = |invalid: &Invalid| {
        let key = &*invalid.key;
        let own = section.given(key).and_then(value);
        let in_preset = |preset: &Section| preset.given("preset")?.get(key).and_then(value);
        own.is_some_and(|own| {
            own != schema["properties"][key]["default"]
                && presets
                    .iter()
                    .all(|preset| in_preset(preset).as_ref() != Some(&own))
        })
    };
    let useless = plan.scheme.useless().into_iter().filter(is_told);
    useless
        .map(|invalid| Warning::new(UNUSED, None, section, invalid))
        .collect()
}

fn background(workload: &WorkloadConfig) -> Option<Warning> {
    let message = "the run ends at a time, and waits for no application";
    let remedy = "leave it out, or write run.until = \"completion\"";
    workload
        .job()?
        .background
        .then(|| Warning::about(workload, KIND, "background", message, remedy))
}

/// The speed of tasks that compute nothing.
fn speed(workload: &WorkloadConfig, traffic: &Traffic) -> Option<Warning> {
    workload.job()?.compute?;
    let Drive::Motif(application) = &traffic.drive else {
        return None;
    };
    let computes = |op: &Op, _| matches!(op, Op::Compute(time) if *time > 0);
    let useless = none_does(&application.job, computes);
    let message = "the tasks compute nothing";
    let remedy = "let the program compute, or leave it out";
    useless.then(|| Warning::about(workload, KIND, "compute", message, remedy))
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
