//! The part of an experiment that has an effect before a time: experiments that agree in it are the
//! same run until then.

use std::collections::BTreeSet;
use std::fmt::Write;

use twox_hash::XxHash3_128;

use crate::config::{Experiment, WorkloadConfig};
use crate::plan::Plan;
use weir_fabric::{Network, Recording, Traffic, is_rich};
use weir_input::tree::{Node, Value, inline, key};
use weir_input::{Section, Until};
use weir_model::{EndpointId, NEVER, Span, Time};

/// The times at which something of an experiment starts or ends, ascending: until one of them it
/// may be the same run as others.
pub fn times(experiment: &Experiment) -> BTreeSet<Time> {
    if let Some(fork) = &experiment.fork {
        return BTreeSet::from([fork.at]);
    }
    let workloads = experiment.workloads.iter().filter(|one| one.enabled);
    let of = |one: &WorkloadConfig| {
        let stop = one.pattern().and_then(|pattern| pattern.stop);
        [Some(one.start.0), stop.map(|stop| stop.0)]
    };
    let until = match experiment.run.until {
        Until::Time(until) => Some(until.0),
        Until::Completion => None,
    };
    let failures = experiment.failures.iter().map(|one| one.at.map(|at| at.0));
    // Some time before, as a packet is lost or not when it is sent.
    let first = failures.min().flatten().map(|at| at - at / 16);
    let all = workloads.flat_map(of).chain([until, first]).flatten();
    all.filter(|&time| time > 0).collect()
}

/// The parts of a resolved experiment that have an effect before `at`; None if nothing happens
/// until then, or the run ends before.
pub fn written(experiment: &Experiment, at: Time) -> Option<String> {
    if let Some(fork) = &experiment.fork {
        return (fork.at == at).then(|| written(&fork.base, at))?;
    }
    let begins = |one: &&WorkloadConfig| one.enabled && one.start.0 < at;
    if !experiment.workloads.iter().any(|one| begins(&one)) {
        return None;
    }
    let time = match experiment.run.until {
        Until::Time(until) if until.0 < at => return None,
        Until::Time(_) => true,
        Until::Completion => false,
    };
    let intact = fails_later(experiment, at);
    let stops = |one: &WorkloadConfig| {
        let stop = one.pattern().and_then(|pattern| pattern.stop);
        stop.is_some_and(|stop| stop.0 < at)
    };
    let whole = Section::from_toml(&experiment.resolved).ok()?;
    let mut text = format!("# until {at} ps\n");
    for member in whole.node.members() {
        let mut add = |node: &Node, later: &[&str]| {
            let node = without(node, later);
            text.push_str(&format!("{} = {}\n", key(&member.key), inline(&node)));
        };
        match (member.key.as_str(), &member.value.value) {
            ("workload", Value::Array(nodes)) => {
                let all = experiment.workloads.iter().zip(nodes);
                for (one, node) in all.filter(|(one, _)| begins(one)) {
                    add(node, if stops(one) { &[] } else { &["stop"] });
                }
            }
            ("failure", _) if intact => {}
            ("run", _) if time => add(&member.value, &["max_wall", "until"]),
            ("run", _) => add(&member.value, &["max_wall"]),
            _ => add(&member.value, &[]),
        }
    }
    Some(text)
}

/// A table without some of its keys.
fn without(node: &Node, keys: &[&str]) -> Node {
    let mut node = node.clone();
    if let Value::Table(members) = &mut node.value {
        members.retain(|member| !keys.contains(&member.key.as_str()));
    }
    node
}

/// True if there are failures, and all of them begin at `at` or later.
fn fails_later(experiment: &Experiment, at: Time) -> bool {
    let failures = &experiment.failures;
    !failures.is_empty()
        && failures
            .iter()
            .all(|one| one.at.is_some_and(|from| from.0 >= at))
}

/// True if failures that begin at `at` or later have no effect before: what is sent then has
/// arrived when the first of them begins.
fn is_intact(network: &Network, at: Time) -> bool {
    let failures = &network.failures;
    let links = network.topology.links();
    let built = links.iter().map(|links| links.link);
    let all = built.chain(failures.iter().map(|(_, own)| own.link));
    let longest = u64::from(network.parameters.max_packet);
    let packet = all.map(|link| network.rate(&link).time_of(longest)).max();
    let (_, latency) = network.latency_range();
    // A packet comes in, crosses the router, and leaves.
    let times = [latency, network.longest_crossing()];
    let reach = times.into_iter().chain([packet.unwrap_or(0); 2]);
    let reach = reach.fold(at, Time::saturating_add);
    let down = failures
        .down()
        .flat_map(|(_, all)| all)
        .map(|down| down.span);
    let spans = down.chain(failures.iter().map(|(_, own)| own.span));
    spans.map(|span| span.from).all(|from| from > reach)
}

/// [`written`], with everything that is built from the whole experiment and has an effect before
/// `at`: the places of tasks, and the numbers of sources, which order simultaneous events.
pub fn prefix(experiment: &Experiment, plan: &Plan, at: Time) -> Option<String> {
    let mut text = written(experiment, at)?;
    let network = plan.network();
    if fails_later(experiment, at) && !is_intact(network, at) {
        return None;
    }
    let mut facts = String::new();
    // Writing into a text does not fail.
    let _ = built(plan.before_fork(true), at, &mut facts);
    let sum = XxHash3_128::oneshot(facts.as_bytes());
    let _ = writeln!(text, "# built {sum:032x}");
    Some(text)
}

fn built(plan: &Plan, at: Time, facts: &mut String) -> std::fmt::Result {
    let blueprint = &plan.blueprint;
    let traffic = &*blueprint.traffic;
    let later = |time: Time| if time >= at { NEVER } else { time };
    let Recording {
        window: Span { from, to },
        ..
    } = blueprint.recording;
    let recording = Recording {
        window: Span {
            from,
            to: later(to),
        },
        ..blueprint.recording
    };
    let applications = traffic.iter().any(|one| one.application().is_some());
    writeln!(
        facts,
        "{recording:?} {} {:?} {} {} {applications} {} {}",
        blueprint.schedule.window,
        blueprint.schedule.interleaving,
        blueprint.until_done,
        plan.completes,
        is_rich(blueprint),
        blueprint.network.outages.is_some(),
    )?;
    writeln!(
        facts,
        "{:?} {:?} {:?}",
        blueprint.rated, blueprint.received, blueprint.links
    )?;
    for (job, one) in traffic.iter().enumerate().filter(|(_, one)| one.start < at) {
        let timeline = one.application().map(|one| one.job.timeline);
        let (name, tasks) = (&one.name, &one.tasks);
        writeln!(facts, "{job} {name:?} {tasks:?} {timeline:?}")?;
    }
    numbers(plan, at, facts)
}

/// The bits of the number of a source or task in each domain, and the first number of each workload
/// that starts before `at`.
fn numbers(plan: &Plan, at: Time, facts: &mut String) -> std::fmt::Result {
    let Network {
        topology,
        partition,
        ..
    } = plan.network();
    let domains = partition.domains() as usize;
    let domain = |endpoint: EndpointId| partition.domain_of(topology.attachment(endpoint).0);
    let mut nics = vec![0_usize; domains];
    for endpoint in 0..topology.endpoints() {
        nics[domain(endpoint) as usize] += 1;
    }
    let [mut sources, mut tasks] = [vec![0_usize; domains], vec![0_usize; domains]];
    for (job, one) in plan.blueprint.traffic.iter().enumerate() {
        let application = one.application().is_some();
        let counts = if application {
            &mut tasks
        } else {
            &mut sources
        };
        if one.start < at {
            writeln!(facts, "{job} from {counts:?}")?;
        }
        let here = |endpoint: &&EndpointId| application || Traffic::sends(one, **endpoint);
        for &endpoint in one.tasks.iter().filter(here) {
            counts[domain(endpoint) as usize] += 1;
        }
    }
    let most = nics.iter().zip(sources).zip(tasks);
    // A domain has at least two ports for each NIC, and numbers for ports as well.
    let bits =
        most.map(|((nics, sources), tasks)| (2 * nics).max(sources).max(tasks).next_power_of_two());
    writeln!(facts, "{:?}", bits.collect::<Vec<_>>())
}
