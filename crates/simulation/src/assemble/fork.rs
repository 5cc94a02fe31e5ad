//! Runs that fork: their base, and the state with which they go on.

use crate::config::ForkConfig;
use crate::plan::{ForkPlan, Plan};
use weir_congestion::{Capabilities, Scheme};
use weir_fabric::Fork;
use weir_input::{ConfigError, Duration};
use weir_model::{Invalid, LinkKind};
use weir_result::Note;

/// The run before the fork of `plan`.
///
/// # Errors
/// If the state of the base means something else after the fork.
pub(super) fn plan(config: &ForkConfig, base: Plan, plan: &Plan) -> Result<ForkPlan, ConfigError> {
    let refuse = |why: &str, remedy: &str| {
        let what = format!("the run cannot go on from the state of its base: {why}");
        Err(config.section.refuse(Invalid::new("set", what, remedy)))
    };
    let (old, new) = (&base.blueprint, &plan.blueprint);
    for (job, one) in old.traffic.iter().enumerate() {
        let begun = one.start < config.at;
        let other = new.traffic.get(job);
        let same =
            other.is_some_and(|other| (other.number, &other.tasks) == (one.number, &one.tasks));
        if begun && !same {
            let why = format!(
                "the tasks of workload {:?} would move, or have other numbers",
                one.name
            );
            return refuse(
                &why,
                "give it a placement that does not depend on the changed keys",
            );
        }
    }
    if let Some((why, remedy)) = other_network(&base, plan) {
        return refuse(why, remedy);
    }
    let scheme = base.scheme.name() == plan.scheme.name();
    let fits = match scheme {
        true => same_state(base.scheme.as_ref(), plan.scheme.as_ref()),
        false => may_begin(base.scheme.as_ref(), plan.scheme.as_ref()),
    };
    if !fits || old.schedule.interleaving.is_some() != new.schedule.interleaving.is_some() {
        let why = match scheme {
            true => format!(
                "the state of {:?} depends on these parameters",
                plan.scheme.name()
            ),
            false => format!(
                "{:?} counts packets from their first one on, or changes their classes",
                plan.scheme.name()
            ),
        };
        return refuse(
            &why,
            "leave [congestion] as it is, or run the two as separate experiments",
        );
    }
    Ok(ForkPlan {
        at: config.at,
        fork: Fork {
            at: config.at,
            carried: carried(config, plan),
            scheme,
            seed: new.seed,
        },
        base,
    })
}

/// A difference of the networks or of their records, and the remedy.
fn other_network(base: &Plan, plan: &Plan) -> Option<(&'static str, &'static str)> {
    let ports = |plan: &Plan| {
        let network = plan.network();
        let kinds = 0..network.topology.link_kinds().len() as u8;
        let queues = kinds.map(|kind| network.queues(LinkKind(kind)));
        (
            queues.collect::<Vec<_>>(),
            network.vcs(LinkKind::TERMINAL),
            plan.lookahead,
        )
    };
    if ports(base) != ports(plan) {
        let remedy = "leave the keys of [routing] that change them";
        return Some(("ports would have other virtual channels", remedy));
    }
    if base.network().failures != plan.network().failures {
        let remedy = "give each [[failure]] a `seed`";
        return Some(("other links would fail", remedy));
    }
    let remedy = "leave the endpoints of workloads with output.timeline or output.rates.tasks";
    (records(base) != records(plan)).then_some(("[output] would record other tasks", remedy))
}

/// The rows that are kept of tasks.
fn records(plan: &Plan) -> impl PartialEq + use<> {
    let blueprint = &plan.blueprint;
    let jobs = (blueprint.traffic.iter()).filter_map(|one| one.application());
    let timelines: Vec<_> = jobs.filter_map(|own| own.job.timeline).collect();
    (timelines, blueprint.rated.clone())
}

/// True for each workload that runs and goes on as it is.
fn carried(config: &ForkConfig, plan: &Plan) -> Vec<bool> {
    let traffic = plan.blueprint.traffic.iter();
    traffic
        .map(|one| config.unchanged[usize::from(one.number)])
        .collect()
}

/// True if a scheme can go on from the state that it has with other parameters.
fn same_state(old: &dyn Scheme, new: &dyn Scheme) -> bool {
    let shape = |scheme: &dyn Scheme| {
        (
            scheme.capabilities(),
            scheme.classes(),
            scheme.kinds(),
            scheme.header_words(),
        )
    };
    let (before, mut after) = (old.start(1, 1), new.start(1, 1));
    shape(old) == shape(new) && before.save().is_ok_and(|bytes| after.load(&bytes).is_ok())
}

/// True if a scheme can begin among packets that were sent without one: it marks packets and
/// delays sources, and keeps no account of packets.
fn may_begin(old: &dyn Scheme, new: &dyn Scheme) -> bool {
    let can = new.capabilities();
    let harmless = Capabilities {
        listens: can.listens,
        marks: can.marks,
        paces: can.paces,
        ..Capabilities::NONE
    };
    old.capabilities() == Capabilities::NONE
        && can == harmless
        && old.classes() == new.classes()
        && old.header_words() == new.header_words()
}

/// A note on the fork, for the result.
pub(super) fn note(config: &ForkConfig) -> Note {
    let at = Duration(config.at);
    Note {
        kind: "fork".into(),
        job: None,
        text: format!(
            "the run is forked: until {at} it is that of the experiment without [fork], from then \
             on with {}",
            config.changes
        ),
        numbers: vec![("at_ps".into(), config.at)],
    }
}
