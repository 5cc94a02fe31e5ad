//! Failures that change nothing, or cut endpoints off.

use super::super::plan::{Plan, Warning};
use crate::config::Experiment;
use weir_input::Duration;
use weir_model::{Invalid, Time};

/// The most endpoints that a warning names.
const MOST_NAMED: usize = 12;

/// Failures that begin after the run, and shares that are no whole link or router.
pub(super) fn fail_nothing(experiment: &Experiment, plan: &Plan, end: Time) -> Vec<Warning> {
    let network = plan.network();
    let changes = |number: usize| {
        let mut changed = network.failures.iter();
        let mut down = network.failures.down().flat_map(|(_, all)| all);
        changed.any(|(_, one)| one.failure == number) || down.any(|one| one.failure == number)
    };
    let warn = |(key, message, remedy)| {
        let invalid = Invalid::new(key, message, remedy);
        Warning::new("fails_nothing", None, &experiment.file, invalid)
    };
    let failures = experiment.failures.iter().enumerate();
    let told = failures.filter_map(|(number, failure)| {
        if let Some(at) = failure.at.filter(|at| at.0 >= end) {
            let end = Duration(end);
            let message = format!("{at} is not before the end of the run ({end}): nothing fails");
            let key = format!("failure.{number}.at");
            return Some((key, message, "write an earlier time, or a longer run"));
        }
        let share = failure
            .share
            .filter(|&share| share > 0.0 && !changes(number))?;
        let message = format!("{share} of all of the kind is less than half of one: none fails");
        let key = format!("failure.{number}.share");
        Some((key, message, "write a larger share, or count = 1"))
    });
    told.map(warn).collect()
}

/// Endpoints that links which are down cut off from the others.
pub(super) fn cut_off(experiment: &Experiment, plan: &Plan) -> Option<Warning> {
    let network = plan.network();
    let outages = network.outages.as_ref()?;
    let states = 0..outages.states() as u32;
    let cut_off = states.map(|state| outages.cut_off(network.topology.as_ref(), state));
    let worst = cut_off
        .max_by_key(Vec::len)
        .filter(|cut_off| !cut_off.is_empty())?;
    let named = worst.iter().take(MOST_NAMED).map(u32::to_string);
    let named: Vec<String> = named.collect();
    let more = if worst.len() > MOST_NAMED {
        ", …"
    } else {
        ""
    };
    let message = format!(
        "links that are down cut {} of {} endpoints off from the others: {}{more}; packets to and \
         from them are lost",
        worst.len(),
        network.topology.endpoints(),
        named.join(", ")
    );
    let remedy = "leave them out of the workloads, or let fewer links and routers fail";
    let invalid = Invalid::new("failure", message, remedy);
    Some(Warning::new("cut_off", None, &experiment.file, invalid))
}
