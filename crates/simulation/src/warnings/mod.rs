//! Warnings: parts of an experiment that can be run and do nothing, or measure nothing.
//! A sweep may intend that at some of its points, so it is no error. The warning is given before
//! the run, and is a note of the result.

mod credits;
mod failures;
mod offered;
mod programs;
mod settings;

pub use credits::credit_shares;
use credits::{credit_limited, short_buffers};
pub use offered::{bandwidth, offered, sent};
use programs::none_does;

use super::plan::{Plan, UNUSED, Warning, bandwidth_of, ends};
use crate::config::{Experiment, ProgramConfig, RouterConfig, WorkloadConfig};
use weir_fabric::{CreditAt, Drive, Open, Traffic};
use weir_input::{Duration, OutputQueue};
use weir_model::{Invalid, KindName, NEVER, Time, stream};
use weir_network::topology::kns::Kns;
use weir_workload::motifs::COUNTS;
use weir_workload::tasks::{Job, Op};

/// All warnings about an experiment, in the order of its workloads.
pub(super) fn warnings(experiment: &Experiment, plan: &Plan) -> Vec<Warning> {
    let end = experiment.run.end().unwrap_or(NEVER);
    let mut all = Vec::new();
    let enabled = experiment.workloads.iter().filter(|one| one.enabled);
    for (workload, traffic) in enabled.zip(&*plan.blueprint.traffic) {
        let found = match &traffic.drive {
            Drive::Motif(application) => empty_program(workload, &application.job),
            Drive::Pattern(open) => silent_pattern(workload, traffic, open)
                .or_else(|| few_messages(workload, traffic, open, plan, end))
                .or_else(|| diverts_never(workload, traffic, end)),
        };
        let found = found.or_else(|| not_measured(workload, traffic, plan));
        all.extend(found);
    }
    all.extend(records_nothing(experiment, plan, end));
    all.extend(unused_links(experiment, plan));
    all.extend(idle_links(experiment, plan));
    all.extend(hidden_congestion(experiment, plan));
    all.extend(may_deadlock(experiment, plan));
    all.extend(throttles_idle(experiment, plan));
    all.extend(credit_limited(experiment, plan));
    all.extend(short_buffers(experiment, plan));
    all.extend(overloads(experiment));
    all.extend(failures::cut_off(experiment, plan));
    all.extend(failures::fail_nothing(experiment, plan, end));
    all.extend(settings::useless(experiment, plan));
    all
}

/// Loads of more than all that an endpoint can send.
fn overloads(experiment: &Experiment) -> impl Iterator<Item = Warning> {
    let enabled = experiment.workloads.iter().filter(|one| one.enabled);
    let above = enabled.filter_map(|workload| {
        let load = workload.pattern()?.load;
        (load > 1.0).then_some((workload, load))
    });
    above.map(|(workload, load)| {
        let message = format!(
            "this is {load} times what an endpoint can send: while it sends, its queue grows"
        );
        let remedy = "a load is a share of an endpoint's bandwidth: 0.4 is 40%";
        Warning::about(workload, "overload", "load", message, remedy)
    })
}

/// A scheme whose limits are below the needs of an idle network slows down traffic without
/// congestion.
fn throttles_idle(experiment: &Experiment, plan: &Plan) -> Option<Warning> {
    let invalid = plan.scheme.idle_limit(&plan.network().about)?;
    let section = &experiment.congestion;
    Some(Warning::new("throttles_idle", None, section, invalid))
}

/// A switch of a line of a KNS that drops a packet sends a control packet to its source: out by a
/// node of the line, and on in a dimension that comes before this one in the order that all other
/// packets keep to.
fn may_deadlock(experiment: &Experiment, plan: &Plan) -> Option<Warning> {
    let (network, scheme) = (plan.network(), plan.scheme.as_ref());
    network.topology.as_a::<Kns>()?;
    let drops = scheme.timeout() != Time::MAX || scheme.loss() > 0.0;
    if !(scheme.capabilities().answers && drops) {
        return None;
    }
    let message = "a switch that drops a packet sends a control packet back, which may take \
                   dimensions in another order than all others: where buffers are full of control \
                   packets these can wait for each other in a cycle";
    let remedy = "let buffers have room for them, or choose a scheme of which only endpoints and \
                  the last router before them answer, such as \"lhrp\"; a run that is deadlocked \
                  ends, and says so";
    let invalid = Invalid::new("congestion.scheme", message, remedy);
    Some(Warning::new(
        "may_deadlock",
        None,
        &experiment.file,
        invalid,
    ))
}

/// Adaptive routing notices congestion elsewhere by the queues at the router where it decides.
/// An output queue without limit takes everything in, so that no queue builds up before it, unless
/// packets need a credit to cross.
fn hidden_congestion(experiment: &Experiment, plan: &Plan) -> Option<Warning> {
    if !plan.network().routing.is_adaptive() {
        return None;
    }
    let hides = |router: &RouterConfig| {
        router.output_queue == OutputQueue::Unlimited && router.credit_at == CreditAt::Link
    };
    let own = |kind: &KindName| experiment.router_kinds.iter().find(|(own, _)| own == kind);
    let kinds = plan.network().topology.router_kinds().iter();
    let tables = kinds.map(|kind| match own(kind) {
        Some((kind, router)) => (format!("router.{kind}.output_queue"), router),
        None => ("router.output_queue".into(), &experiment.router),
    });
    let mut hiding = tables.filter(|(_, router)| hides(router));
    let (mut key, _) = hiding.next()?;
    if !experiment.file.has(&key) {
        key = "router.output_queue".into();
    }
    let message = "output queues without limit hold back nothing, so adaptive routing does not see \
                   that another router is congested";
    let remedy = "write a size, such as \"16 packets\", or router.credit_at = \"crossing\", or \
                  choose a routing that does not depend on queues";
    let invalid = Invalid::new(key, message, remedy);
    Some(Warning::new(
        "hidden_congestion",
        None,
        &experiment.file,
        invalid,
    ))
}

/// An application of which no task sends anything to another.
fn empty_program(workload: &WorkloadConfig, job: &Job) -> Option<Warning> {
    if !is_silent(job) {
        return None;
    }
    let program = &workload.job()?.program;
    let motif = program.section();
    let name = &workload.name;
    let warn = |key: &str, why: &str, remedy: &str| {
        let message = format!("{why}, so {name:?} sends nothing");
        Some(Warning::about(
            workload,
            "sends_nothing",
            key,
            message,
            remedy,
        ))
    };
    if job.tasks == 1 {
        let why = "a single task has nobody to send to";
        return warn("tasks", why, "give the job two tasks or more");
    }
    let zero = |key: &&str| {
        let given = motif.given(key);
        given.is_some_and(|given| given.whole() == Some(0))
    };
    if let Some(key) = COUNTS.into_iter().chain(["senders"]).find(zero) {
        let key = format!("motif.{key}");
        return warn(&key, "this is 0", "write 1 or more");
    }
    let why = "no task has anything for another";
    if let ProgramConfig::Trace(_) = program {
        return warn("trace", why, "look at the trace");
    }
    warn("motif", why, "look at its parameters: `weir list motifs`")
}

/// True if no task sends anything to another one.
fn is_silent(job: &Job) -> bool {
    let sends = |op: &Op, task: u32| match op {
        Op::Send { to, .. } | Op::Isend { to, .. } => *to != task,
        Op::Collective(collective) => collective.group.count > 1,
        _ => false,
    };
    job.tasks == 1 || none_does(job, sends)
}

/// A pattern in which no endpoint has a destination.
fn silent_pattern(workload: &WorkloadConfig, traffic: &Traffic, open: &Open) -> Option<Warning> {
    let mut rng = stream(0, &[]);
    let mut members = traffic.tasks.iter().filter(|&&one| open.pattern.sends(one));
    let sends = |&one: &u32| {
        open.pattern
            .destination(one, traffic.start, &mut rng)
            .is_some()
    };
    if members.any(sends) {
        return None;
    }
    let message = format!("nobody sends in {:?}", workload.name);
    let remedy = "let more endpoints take part, or choose another pattern";
    Some(Warning::about(
        workload,
        "sends_nothing",
        "pattern",
        message,
        remedy,
    ))
}

/// A load at which no message is to be expected.
fn few_messages(
    workload: &WorkloadConfig,
    traffic: &Traffic,
    open: &Open,
    plan: &Plan,
    end: Time,
) -> Option<Warning> {
    let until = traffic.stop.min(end);
    if until == NEVER {
        return None;
    }
    let [senders, _] = ends(traffic);
    let seconds = until.saturating_sub(traffic.start) as f64 * 1e-12;
    let bandwidth = bandwidth_of(plan.network().topology.as_ref(), senders) as f64;
    let load = workload.pattern()?.load;
    let expected = bandwidth * load * seconds / open.sizes.mean_bits();
    if expected >= 1.0 {
        return None;
    }
    let count = match expected < 0.005 {
        true => "fewer than 0.01".to_string(),
        false => format!("about {expected:.2}"),
    };
    let message = format!(
        "at this load {:?} is to send {count} messages in all",
        workload.name
    );
    let remedy = "write a higher load, smaller messages, or a later end";
    Some(Warning::about(
        workload,
        "sends_nothing",
        "load",
        message,
        remedy,
    ))
}

/// The diversion of `hot_background` outside the time in which it sends.
fn diverts_never(workload: &WorkloadConfig, traffic: &Traffic, end: Time) -> Option<Warning> {
    let pattern = &workload.pattern()?.pattern;
    if pattern.kind().ok()? != "hot_background" {
        return None;
    }
    let time = |key: &str| pattern.given(key).and_then(|given| given.duration());
    let until = Duration(traffic.stop.min(end));
    let (key, message) = match (time("from"), time("to")) {
        (Some(from), _) if from >= until => (
            "pattern.from",
            format!("{from} is not before the last message ({until})"),
        ),
        (_, Some(to)) if to.0 <= traffic.start => (
            "pattern.to",
            format!("{to} is not after the start ({})", workload.start),
        ),
        _ => return None,
    };
    let remedy = "move it into the time in which the workload sends";
    let message = format!("{message}, so nothing is diverted");
    Some(Warning::about(
        workload,
        "diverts_nothing",
        key,
        message,
        remedy,
    ))
}

/// A workload that is not on in the measurement window.
fn not_measured(workload: &WorkloadConfig, traffic: &Traffic, plan: &Plan) -> Option<Warning> {
    let window = plan.blueprint.recording.window;
    let (key, message) = if traffic.start >= window.to {
        let to = Duration(window.to);
        (
            "start",
            format!(
                "{} is not before the end of the measurement window ({to})",
                workload.start
            ),
        )
    } else if traffic.stop <= window.from {
        let (stop, from) = (Duration(traffic.stop), Duration(window.from));
        (
            "stop",
            format!("{stop} is not after the beginning of the measurement window ({from})"),
        )
    } else {
        return None;
    };
    let message = format!("{message}, so {:?} is not measured", workload.name);
    let remedy = "move the workload, or the window (run.warmup, run.measure)";
    Some(Warning::about(
        workload,
        "not_measured",
        key,
        message,
        remedy,
    ))
}

/// Records that are asked for and will be empty.
fn records_nothing(experiment: &Experiment, plan: &Plan, end: Time) -> Vec<Warning> {
    let output = &experiment.output;
    let rates = output.rates.as_ref().map(|rates| rates.interval);
    let intervals = [
        ("output.occupancy", output.occupancy),
        ("output.rates.interval", rates),
    ];
    let warn = |key: &str, message: String, remedy: &str| {
        let invalid = Invalid::new(key, message, remedy);
        Warning::new("records_nothing", None, &experiment.file, invalid)
    };
    let late = intervals.into_iter().filter_map(|(key, interval)| {
        let interval = interval.filter(|interval| interval.0 >= end)?;
        let message =
            format!("{interval} is not shorter than the run: the only sample is at its start");
        Some(warn(key, message, "write a shorter interval"))
    });
    let mut all: Vec<Warning> = late.collect();
    let traffic = &plan.blueprint.traffic;
    let applications = traffic.iter().any(|one| one.application().is_some());
    if output.iterations && !applications {
        let message = "there is no application whose iterations could be recorded".into();
        let remedy = "leave it out, or add a workload with a `motif`";
        all.push(warn("output.iterations", message, remedy));
    }
    if let Some(timeline) = &output.timeline {
        let from = timeline.from.filter(|from| from.0 >= end);
        if let Some(from) = from {
            let message = format!("{from} is not before the end of the run: nothing is recorded");
            all.push(warn(
                "output.timeline.from",
                message,
                "write an earlier time",
            ));
        } else if plan.blueprint.links.is_none() && !applications {
            let message = "there is no application whose tasks could be recorded".into();
            let remedy = "name routers, whose links are recorded: routers = [0]";
            all.push(warn("output.timeline", message, remedy));
        }
    }
    all
}

/// Horizontal links of a tree under a routing that goes up and down alone: only paths kept by flows
/// use them.
fn idle_links(experiment: &Experiment, plan: &Plan) -> Option<Warning> {
    let (section, network) = (&experiment.topology, plan.network());
    let width = section.given("horizontal_width")?.whole()?;
    if width == 0 || network.routing.circuits().is_some() {
        return None;
    }
    let message = "no packet takes the horizontal links under this routing";
    let remedy = "leave it out, or write routing.algorithm = \"adaptive_flow\"";
    let invalid = Invalid::new("horizontal_width", message, remedy);
    Some(Warning::new(UNUSED, None, section, invalid))
}

/// Links that a tree is given and has not.
fn unused_links(experiment: &Experiment, plan: &Plan) -> Vec<Warning> {
    let section = &experiment.topology;
    if section.kind().is_ok_and(|kind| kind == "dragonfly") {
        // Its keys must be there for all its sizes.
        return Vec::new();
    }
    let topology = &plan.network().topology;
    let there = topology.links();
    let names = topology.link_kinds().iter().enumerate();
    let unused = names.filter(|(number, name)| {
        section.has(name) && there.iter().all(|links| links.link.kind.index() != *number)
    });
    let warn = |name: &str| {
        let message = format!("the network has no {name} links");
        let invalid = Invalid::new(name, message, "leave it out");
        Warning::new(UNUSED, None, section, invalid)
    };
    unused.map(|(_, name)| warn(name)).collect()
}
