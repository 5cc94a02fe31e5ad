//! `[fork]`: from a time on, an experiment has other values.

use schemars::JsonSchema;
use serde::Deserialize;

use super::place_at;
use crate::config::resolve;
use crate::config::sections::defaults::Elsewhere;
use crate::config::sections::experiment::{Experiment, ForkConfig};
use crate::config::sections::workload::WorkloadConfig;
use weir_input::tree::{Member, Node, Value, inline, key};
use weir_input::{ConfigError, Duration, Section};
use weir_model::{Invalid, Time};

/// Name of the section.
pub(in crate::config) const FORK: &str = "fork";

/// Sections that may change.
const ALLOWED: [&str; 4] = ["routing", "congestion", "workload", "run"];

/// Keys of `[run]` that may change.
const OF_RUN: [&str; 3] = ["until", "at_most", "seed"];

/// Keys of `[routing]` that packets under way keep to: freedom from deadlocks rests on them.
const OF_WAYS: [&str; 8] = [
    "routing.order",
    "routing.orders",
    "routing.rings",
    "routing.roots",
    "routing.ways",
    "routing.most",
    "routing.cache",
    "routing.horizontal_hops",
];

/// `[fork]`: until a time the run is that of the file without this section, its base. From then on
/// some keys have other values.
#[derive(Clone, Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(in crate::config) struct ForkSection {
    /// Simulated time of the change.
    pub at: Duration,
    /// Keys in quotes, as for `--set`, and their values from then on. Possible: parameters of the
    /// routing and of the congestion control scheme, workloads, `run.until`, `run.at_most` and
    /// `run.seed`.
    #[expect(dead_code, reason = "read with its places")]
    pub set: Elsewhere,
}

/// Takes the section out of an experiment file.
pub(in crate::config) fn take(root: &mut Node) -> Option<Member> {
    let Value::Table(members) = &mut root.value else {
        return None;
    };
    let at = members.iter().position(|member| member.key == FORK)?;
    Some(members.remove(at))
}

/// Puts a key into the section of an experiment file, which forks at `at`.
///
/// # Errors
/// If the file has such a section that is no table.
pub(in crate::config) fn put(
    root: &mut Node,
    at: Node,
    key: &str,
    value: Node,
) -> Result<(), ConfigError> {
    place_at(root, "fork.at", at)?;
    let origin = value.origin.clone();
    let node = &mut root.value;
    let sections = match node {
        Value::Table(members) => members,
        _ => return Ok(()),
    };
    let fork = sections.iter_mut().find(|member| member.key == FORK);
    let Some(Value::Table(members)) = fork.map(|fork| &mut fork.value.value) else {
        return Ok(());
    };
    if !members.iter().any(|member| member.key == "set") {
        let value = Value::Table(Vec::new());
        members.push(Member {
            key: "set".into(),
            origin: origin.clone(),
            value: Node {
                value,
                origin: origin.clone(),
            },
        });
    }
    let set = members.iter_mut().find(|member| member.key == "set");
    let Some(set) = set else { return Ok(()) };
    let Value::Table(set) = &mut set.value.value else {
        return Err(ConfigError::at(
            &set.origin,
            "expected a table",
            "write set = { \"KEY\" = VALUE }",
        ));
    };
    set.retain(|member| member.key != key);
    set.push(Member {
        key: key.into(),
        origin,
        value,
    });
    Ok(())
}

/// The experiment that `root` describes with a section `[fork]`, whose base is `base`. `read` reads
/// an experiment.
///
/// # Errors
/// If a key cannot change while a run goes on.
pub(in crate::config) fn forked(
    mut root: Node,
    fork: Member,
    base: Experiment,
    read: &dyn Fn(Node) -> Result<Experiment, ConfigError>,
) -> Result<Experiment, ConfigError> {
    let section = Section::new(fork.value, FORK);
    let ForkSection { at, .. } = section.parse()?;
    let set = section.node.get("set").map(|set| &set.value);
    let members = set.map_or(&[][..], Node::members);
    if members.is_empty() {
        let how = "write set = { \"KEY\" = VALUE } with a key, or remove the section";
        return Err(section.refuse(Invalid::new("set", "nothing changes", how)));
    }
    let ends = base.run.end().is_some_and(|end| end <= at.0);
    if at.0 == 0 || ends {
        let what = "the run does not fork between its start and its end";
        return Err(section.refuse(Invalid::new("at", what, "write a time before run.until")));
    }
    for member in members {
        allowed(member)?;
        place_at(&mut root, &member.key, member.value.clone())?;
    }
    let changed = read(root)?;
    let refuse = |(name, why): (&str, String)| {
        let named =
            |member: &&Member| member.key == name || member.key.starts_with(&format!("{name}."));
        let place = members.iter().find(named).or(members.first());
        let origin = place.map_or(&section.node.origin, |member| &member.origin);
        let what = format!("`{name}` cannot change while the run goes on: {why}");
        ConfigError::at(
            origin,
            what,
            "leave it as it is, or run this as a separate experiment",
        )
    };
    variants(&base, &changed).map_err(refuse)?;
    end(&base, &changed, at.0).map_err(refuse)?;
    let unchanged =
        workloads(&base, &changed, at.0).map_err(|(name, why)| refuse((name.as_str(), why)))?;
    let changes = differences(&base, &changed)?;
    if changes.is_empty() {
        return Ok(base);
    }
    let resolved = format!(
        "{}\n[fork]\nat = \"{}\"\nset = {{ {changes} }}\n",
        base.resolved, at,
    );
    let fork = ForkConfig {
        at: at.0,
        base,
        unchanged,
        changes,
        section,
    };
    Ok(Experiment {
        resolved,
        fork: Some(Box::new(fork)),
        ..changed
    })
}

/// Checks that a key is of a section that may change.
fn allowed(member: &Member) -> Result<(), ConfigError> {
    let mut parts = member.key.split('.');
    let (section, inner) = (parts.next().unwrap_or_default(), parts.next());
    let good = match section {
        "run" => inner.is_some_and(|inner| OF_RUN.contains(&inner)),
        section => ALLOWED.contains(&section),
    };
    match good {
        true => Ok(()),
        false => Err(ConfigError::at(
            &member.origin,
            format!("`{}` cannot change while the run goes on", member.key),
            "change parameters of [routing], [congestion] or a [[workload]], run.until, \
             run.at_most or run.seed; set other keys in their sections, for the whole run",
        )),
    }
}

type Refusal<'a> = (&'a str, String);

/// Checks that routing and scheme are the same, but for their parameters.
fn variants(base: &Experiment, changed: &Experiment) -> Result<(), Refusal<'static>> {
    let different = |name, old: &str, new: &str| {
        let why = format!("packets and state of {old:?} mean nothing to {new:?}");
        if old == new { Ok(()) } else { Err((name, why)) }
    };
    let (old, new) = (&base.routing.variant, &changed.routing.variant);
    different("routing.algorithm", old.name, new.name)?;
    let [old, new] = [base, changed].map(|one| one.routing.written());
    for name in OF_WAYS {
        let key = name.trim_start_matches("routing.");
        let [old, new] = [&old, &new].map(|node| node.get(key).map(|own| inline(&own.value)));
        if old != new {
            return Err((name, "packets under way keep to it".into()));
        }
    }
    let (old, new) = (&base.congestion.variant, &changed.congestion.variant);
    match old.name {
        // The plan of the run checks whether the new scheme can begin in the middle.
        "none" => Ok(()),
        _ => different("congestion.scheme", old.name, new.name),
    }
}

/// Checks that the run ends after the fork.
fn end(base: &Experiment, changed: &Experiment, at: Time) -> Result<(), Refusal<'static>> {
    let ends = changed.run.end().is_some_and(|end| end <= at);
    let key = match base.run.until == changed.run.until {
        true => "run.at_most",
        false => "run.until",
    };
    match ends {
        true => Err((key, "it would end before the fork".into())),
        false => Ok(()),
    }
}

/// True for each workload that goes on unchanged.
fn workloads(
    base: &Experiment,
    changed: &Experiment,
    at: Time,
) -> Result<Vec<bool>, (String, String)> {
    let (old, new) = (&base.workloads, &changed.workloads);
    if old.len() != new.len() {
        return Err((
            "workload".into(),
            "there are more or fewer workloads".into(),
        ));
    }
    let one = |(old, new): (&WorkloadConfig, &WorkloadConfig)| {
        let place = format!("workload.{}", old.name);
        let begun = old.enabled && old.start.0 < at;
        let seeds = base.run.seed == changed.run.seed;
        let written = |one| resolve::workload(one).map(|node| inline(&node));
        let same = matches!((written(old), written(new)), (Ok(old), Ok(new)) if old == new);
        let refuse = |key: &str, why: &str| Err((format!("{place}.{key}"), why.to_string()));
        if old.name != new.name {
            return refuse("name", "results have one name for a workload");
        }
        if same && (seeds || !begun) {
            return Ok(begun);
        }
        if old.job().is_some() && begun {
            return refuse("motif", "tasks of this application have begun");
        }
        let starts = new.job().is_some() || !begun;
        if starts && new.enabled && new.start.0 < at {
            return refuse("start", "it starts at the fork or later");
        }
        if begun {
            let places =
                |one: &WorkloadConfig| (format!("{:?}", one.endpoints), one.shared, one.enabled);
            if places(old) != places(new) {
                return refuse("endpoints", "the workload has started on other endpoints");
            }
            if old.start != new.start || new.job().is_some() {
                return refuse("start", "the workload has started");
            }
            let stops = [old, new].map(|one| one.pattern().and_then(|one| one.stop));
            let past = stops.iter().flatten().any(|stop| stop.0 <= at);
            if stops[0] != stops[1] && past {
                return refuse("stop", "it stops before the fork");
            }
        }
        Ok(false)
    };
    old.iter().zip(new).map(one).collect()
}

/// The sections and keys that differ, resolved, as members of an inline table.
fn differences(base: &Experiment, changed: &Experiment) -> Result<String, ConfigError> {
    let mut all: Vec<(String, String)> = Vec::new();
    let mut add = |name: String, old: &Node, new: &Node| {
        let (old, new) = (inline(old), inline(new));
        if old != new {
            all.push((name, new));
        }
    };
    add(
        "routing".into(),
        &base.routing.written(),
        &changed.routing.written(),
    );
    add(
        "congestion".into(),
        &base.congestion.written(),
        &changed.congestion.written(),
    );
    for (at, (old, new)) in base.workloads.iter().zip(&changed.workloads).enumerate() {
        add(
            format!("workload.{at}"),
            &resolve::workload(old)?,
            &resolve::workload(new)?,
        );
    }
    let (old, new) = (Node::written(&base.run)?, Node::written(&changed.run)?);
    for member in new
        .members()
        .iter()
        .filter(|one| OF_RUN.contains(&one.key.as_str()))
    {
        let before = old.get(&member.key).map(|one| inline(&one.value));
        let after = inline(&member.value);
        if before.as_ref() != Some(&after) {
            all.push((format!("run.{}", member.key), after));
        }
    }
    let all: Vec<String> = all
        .iter()
        .map(|(name, value)| format!("{} = {value}", key(name)))
        .collect();
    Ok(all.join(", "))
}
