//! Runs compared number by number.

use std::collections::{HashMap, HashSet};
use std::path::PathBuf;

use super::bounds::Bounds;
use super::comparison::{
    Change, Compared, Comparison, Identical, NoteChange, NumberChange, letter,
};
use super::keys::{Keys, differences, flat, remarks};
use crate::metric::names::unit;
use weir_input::ConfigError;
use weir_model::Time;
use weir_model::table::{Attributes, Number};
use weir_result::schema::{BY_ARRIVAL, ITERATION};
use weir_result::{Digest, Job, Shape, Stats, Stored, same_data};

/// A run with its result.
#[derive(Debug)]
pub struct RunResult {
    /// Path as it was given.
    pub name: String,
    /// The result file.
    pub file: PathBuf,
    /// Its content.
    pub stored: Stored,
}

/// Compares runs with the first of them.
///
/// # Errors
/// If a comparison would mislead, or a file cannot be read again.
pub fn compare_runs(runs: &[RunResult]) -> Result<Comparison, ConfigError> {
    let (first, others) = runs.split_first().ok_or_else(|| {
        ConfigError::new("there is nothing to compare", "name two or more results")
    })?;
    for (place, other) in others.iter().enumerate() {
        refuse(first, other, &letter(place + 1))?;
    }
    let experiments: Vec<Keys> = (runs.iter())
        .map(|run| flat(&run.stored.header.experiment))
        .collect();
    let (keys, same_keys) = differences(&experiments);
    let mut comparison = Comparison {
        inputs: runs.iter().enumerate().map(input).collect(),
        keys,
        same_keys,
        numbers: numbers(runs),
        notes: notes(runs),
        ..Comparison::default()
    };
    for (place, other) in others.iter().enumerate() {
        remark(&mut comparison, first, other, place + 1);
    }
    identical(&mut comparison, runs)?;
    Ok(comparison)
}

fn input((place, run): (usize, &RunResult)) -> Compared {
    Compared {
        letter: letter(place),
        path: run.name.clone(),
        experiment: run.stored.header.experiment.clone(),
        about: String::new(),
    }
}

/// Refuses a pair whose numbers do not say what they seem to say.
fn refuse(first: &RunResult, other: &RunResult, which: &str) -> Result<(), ConfigError> {
    let names = || format!("{} (A) and {} ({which})", first.name, other.name);
    let (one, two) = (&first.stored, &other.stored);
    let models = [one, two].map(|stored| stored.header.model_version);
    if models[0] != models[1] {
        let [a, b] = models.map(|model| model.map_or("unknown".into(), |own| own.to_string()));
        return Err(ConfigError::new(
            format!(
                "{} are of the model versions {a} and {b}: the model's changes would look like \
                 effects of the experiments",
                names()
            ),
            "run both experiments with one version of weir: `weir inspect --experiment` prints them",
        ));
    }
    let ends = [one, two].map(|stored| stored.digest.summary.simulated_ps);
    let early = [(first, 0), (other, 1)];
    let early = early
        .iter()
        .find(|(run, _)| !run.stored.header.complete && ends[0] != ends[1]);
    if let Some((run, place)) = early {
        let [own, rest] = [ends[*place], ends[1 - *place]].map(nanoseconds);
        return Err(ConfigError::new(
            format!(
                "{} stopped early, at {own} ns, and the other run ended at {rest} ns: totals and \
                 latencies of different lengths differ for that reason alone",
                run.name
            ),
            format!("run it again to its end, or the other one with --set run.until=\"{own} ns\""),
        ));
    }
    let jobs = [one, two].map(|stored| names_of(&stored.digest.jobs));
    let sizes = [one, two].map(|stored| stored.digest.summary.endpoints);
    if jobs[0].is_disjoint(&jobs[1]) && sizes[0] != sizes[1] {
        return Err(ConfigError::new(
            format!(
                "{} have no job in common, and networks of {} and {} endpoints: none of their \
                 numbers are about the same thing",
                names(),
                sizes[0],
                sizes[1]
            ),
            "give the jobs that correspond to each other the same `name`",
        ));
    }
    Ok(())
}

fn names_of(jobs: &[Job]) -> HashSet<&str> {
    jobs.iter().map(|job| job.name.as_str()).collect()
}

fn nanoseconds(ps: Time) -> f64 {
    ps as f64 / 1e3
}

/// Facts about another run that put its differences in doubt.
fn remark(comparison: &mut Comparison, first: &RunResult, other: &RunResult, place: usize) {
    let which = letter(place);
    let keys = comparison.keys.iter();
    let changed = keys.filter(|one| one.values[0] != one.values[place]);
    let mut remarks = remarks(changed.map(|one| &*one.key), &which);
    let [one, two] = [first, other].map(|run| &run.stored.digest.summary);
    let windows = [one, two].map(|one| [one.measured_from_ps, one.measured_to_ps]);
    if windows[0] != windows[1] {
        let [a, b] = windows.map(|window| {
            let [from, to] = window.map(nanoseconds);
            format!("{from} to {to} ns")
        });
        remarks.push(format!(
            "{which} is measured from {b}, A from {a}: totals depend on that."
        ));
    }
    if first.stored.header.seed != other.stored.header.seed {
        remarks.push(format!(
            "{which} has another seed than A: part of each difference is chance. Sweeps with \
             several seeds show how much."
        ));
    }
    if !first.stored.header.complete || !other.stored.header.complete {
        remarks.push(format!(
            "A or {which} stopped early, at the time at which the other one ended."
        ));
    }
    comparison.remarks.extend(remarks);
}

/// A number of one run.
type Own = (String, &'static str, Option<Bounds>);

fn numbers(runs: &[RunResult]) -> Vec<NumberChange> {
    let all: Vec<Vec<Own>> = runs.iter().map(|run| own(&run.stored.digest)).collect();
    let by_name: Vec<HashMap<&str, Option<Bounds>>> = all
        .iter()
        .map(|own| {
            own.iter()
                .map(|(name, _, value)| (&**name, *value))
                .collect()
        })
        .collect();
    let mut seen = HashSet::new();
    // By groups, in the order of the first run that has a number.
    let mut order: Vec<&Own> = all.iter().flatten().collect();
    order.retain(|(name, ..)| seen.insert(name.as_str()));
    order.sort_by_key(|(name, ..)| group(name));
    let short = short(runs);
    let change = |(name, unit, _): &Own| {
        let values: Vec<Option<Bounds>> = (by_name.iter())
            .map(|own| own.get(&**name).copied().flatten())
            .collect();
        let same = values.iter().all(|value| *value == values[0]);
        NumberChange {
            metric: name.clone(),
            unit: unit.to_string(),
            point: Vec::new(),
            inputs: (0..runs.len()).collect(),
            changes: (values[1..].iter())
                .map(|value| Some(between(&values[0]?, value.as_ref()?)))
                .collect(),
            values,
            missing: Vec::new(),
            asked: short(name),
            same,
        }
    };
    order.into_iter().map(change).collect()
}

/// True for the numbers of a short table: of latencies those of messages, their mean and their 99th
/// percentile; by arrival only of classes that miss samples otherwise; no classes of the only job,
/// which are those of the whole network.
fn short(runs: &[RunResult]) -> impl Fn(&str) -> bool {
    let alone = runs.iter().all(|run| run.stored.digest.jobs.len() == 1);
    let classes = runs.iter().flat_map(|run| &run.stored.digest.latency);
    let missing = classes.filter(|(_, stats)| stats.missing > 0);
    let missing: HashSet<&str> = missing.map(|(class, _)| class.as_str()).collect();
    move |name| {
        let latency = name.strip_prefix("latency.");
        let Some((class, number)) = latency.and_then(|name| name.rsplit_once('.')) else {
            return true;
        };
        let arrived = class.strip_suffix(BY_ARRIVAL);
        let packets = arrived.unwrap_or(class).ends_with("network");
        let again = alone && class.starts_with("job.") && !class.ends_with(ITERATION);
        let numbers: &[&str] = match arrived {
            Some(class) if !missing.contains(class) => &[],
            Some(_) => &["mean", "p99"],
            None => &["missing", "mean", "p99"],
        };
        !packets && !again && numbers.contains(&number)
    }
}

/// Groups of numbers in their order.
fn group(name: &str) -> Option<usize> {
    const ORDER: [&str; 6] = ["summary", "jobs", "latency", "scheme", "phases", "cost"];
    let first = name.split('.').next();
    ORDER.iter().position(|own| Some(*own) == first)
}

fn between(base: &Bounds, value: &Bounds) -> Change {
    Change {
        absolute: value.minus(base),
        relative: value.relative_to(base),
        pairs: 1,
        interval: None,
    }
}

/// Every number of a run by the name of its metric.
fn own(digest: &Digest) -> Vec<Own> {
    let mut all = Vec::new();
    add_group(&mut all, "summary", &digest.summary, &[]);
    for job in &digest.jobs {
        add_job(&mut all, job);
    }
    for (class, stats) in &digest.latency {
        add_latency(&mut all, class, stats);
    }
    for (name, count) in &digest.scheme.1 {
        let unit = if name.ends_with("_ps") { "ps" } else { "" };
        let value = Some(Bounds::known(*count as f64));
        all.push((format!("scheme.{name}"), unit, value));
    }
    let phases = &digest.phases;
    for row in 0..phases.job.len() {
        let job = digest.jobs.get(phases.job[row] as usize);
        let name = format!(
            "phases.{}.{}",
            job.map_or("?", |job| &job.name),
            phases.phase[row]
        );
        let [begin, end] = [phases.begin_ps[row], phases.end_ps[row]];
        let time = (end > 0).then(|| Bounds::known(nanoseconds(end.saturating_sub(begin))));
        all.push((format!("{name}.time"), "ns", time));
        all.push((format!("{name}.stretch"), "", known(phases.stretch[row])));
    }
    if let Some(cost) = &digest.cost {
        add_group(&mut all, "cost", cost, &[]);
    }
    all
}

/// A number that is not NaN.
fn known(value: f64) -> Option<Bounds> {
    (!value.is_nan()).then(|| Bounds::known(value))
}

/// The numbers of a group, except some, by their names without `_ps`.
fn add_group(all: &mut Vec<Own>, path: &str, group: &impl Attributes, except: &[&str]) {
    for (attribute, value) in group.pairs() {
        let value = match value {
            Some(Number::Whole(value)) => value as f64,
            Some(Number::Real(value)) => value,
            Some(Number::Text(_) | Number::Texts(_)) | None => continue,
        };
        if except.contains(&attribute.name) {
            continue;
        }
        let (name, value) = match attribute.name.strip_suffix("_ps") {
            Some(name) => (name, value / 1e3),
            None => (attribute.name, value),
        };
        all.push((
            format!("{path}.{name}"),
            unit(attribute.units),
            known(value),
        ));
    }
}

fn add_job(all: &mut Vec<Own>, job: &Job) {
    // The place of a job is no number of it, and bounds stand beside what they bound.
    const EXCEPT: [&str; 4] = [
        "index",
        "over",
        "finish_at_least_ps",
        "communication_at_least_ps",
    ];
    let path = format!("jobs.{}", job.name);
    let start = all.len();
    add_group(all, &path, &job.totals, &EXCEPT);
    if !job.is_cut_off() {
        return;
    }
    for (name, least) in [
        ("finish", job.finish()),
        ("communication", job.communication()),
    ] {
        let name = format!("{path}.{name}");
        let own = all[start..].iter_mut().find(|(own, ..)| *own == name);
        if let Some((_, _, value)) = own {
            *value = Some(Bounds {
                least: nanoseconds(least),
                most: f64::INFINITY,
            });
        }
    }
}

/// Name of a number of a distribution, and the number.
type Named = (&'static str, fn(&Shape) -> f64);

fn add_latency(all: &mut Vec<Own>, class: &str, stats: &Stats) {
    const SHAPE: [Named; 6] = [
        ("mean", |shape| shape.mean_ps),
        ("p50", |shape| shape.p50_ps),
        ("p90", |shape| shape.p90_ps),
        ("p99", |shape| shape.p99_ps),
        ("p999", |shape| shape.p999_ps),
        ("max", |shape| match shape.max_ps {
            Time::MAX => f64::INFINITY,
            max => max as f64,
        }),
    ];
    for (name, count) in [("samples", stats.samples), ("missing", stats.missing)] {
        let value = Some(Bounds::known(count as f64));
        all.push((format!("latency.{class}.{name}"), "", value));
    }
    for (name, number) in SHAPE {
        let value = (stats.all() > 0).then(|| Bounds {
            least: number(&stats.at_least) / 1e3,
            most: number(&stats.at_most) / 1e3,
        });
        let value = value.filter(|value| !value.least.is_nan());
        all.push((format!("latency.{class}.{name}"), "ns", value));
    }
}

/// Notes that not all runs have, by their text.
fn notes(runs: &[RunResult]) -> Vec<NoteChange> {
    let mut all: Vec<NoteChange> = Vec::new();
    for (place, run) in runs.iter().enumerate() {
        for note in &run.stored.digest.notes {
            match all.iter_mut().find(|own| own.text == note.text) {
                Some(own) => own.inputs.push(place),
                None => all.push(NoteChange {
                    inputs: vec![place],
                    kind: note.kind.clone(),
                    text: note.text.clone(),
                }),
            }
        }
    }
    all.retain(|note| note.inputs.len() < runs.len());
    all
}

/// Compares all data of the runs whose numbers are all the same as those of the first.
fn identical(comparison: &mut Comparison, runs: &[RunResult]) -> Result<(), ConfigError> {
    for (place, run) in runs.iter().enumerate().skip(1) {
        let equal = |one: &NumberChange| one.values[0] == one.values[place];
        let same = comparison.numbers.iter().all(equal)
            && same_data(&runs[0].file, &run.file)
                .map_err(|error| ConfigError::new(error.to_string(), ""))?;
        comparison.identical.push(Identical {
            input: place,
            same: usize::from(same),
            all: 1,
        });
    }
    Ok(())
}
