//! Sweeps compared point by point, over the seeds that both have.

use std::collections::{BTreeSet, HashMap};

use super::bounds::Bounds;
use super::comparison::{
    Change, Compared, Comparison, Identical, KeyChange, NumberChange, PointAlone, letter,
};
use super::keys::{Keys, changes, differences, flat, merged, remarks};
use super::places::{Place, Places};
use crate::dir::SweepDir;
use crate::job_file::{SEED, Study};
use crate::metric::Metric;
use crate::outcome::table::{Row, Table};
use crate::points::expand::Points;
use crate::statistics::mean_interval;
use weir_input::ConfigError;
use weir_result::{ResultFile, TraceError, same_data};
use weir_simulation::config::Catalog;

/// A sweep with its results.
pub struct SweepResult<'a> {
    /// Path as it was given.
    pub name: String,
    /// The job file.
    pub study: &'a Study,
    /// Names in its experiments.
    pub catalog: &'a Catalog,
    /// Its points.
    pub points: &'a Points,
    /// Directory of their results.
    pub dir: &'a SweepDir,
    /// Their numbers.
    pub table: &'a Table,
}

/// A point that two sweeps have, with its runs in pairs of equal seeds.
struct Matched<'a> {
    point: Vec<(String, String)>,
    pairs: Vec<[&'a Row; 2]>,
}

/// Compares sweeps with the first of them.
///
/// # Errors
/// If two sweeps have no runs that can be compared, or a result cannot be read.
pub fn compare_sweeps(sweeps: &[SweepResult]) -> Result<Comparison, ConfigError> {
    let (first, others) = sweeps.split_first().ok_or_else(|| {
        ConfigError::new("there is nothing to compare", "name two or more sweeps")
    })?;
    let mut comparison = Comparison {
        of_sweeps: true,
        ..Comparison::default()
    };
    let mut compared = Vec::new();
    for (at, sweep) in sweeps.iter().enumerate() {
        refuse_unfinished(sweep, &letter(at))?;
    }
    for (at, other) in others.iter().enumerate() {
        let at = at + 1;
        let places = Places::of(first.study, other.study, [&first.name, &other.name])?;
        let [own, theirs] = [
            places.rows(0, &first.table.rows),
            places.rows(1, &other.table.rows),
        ];
        let matched = matched(&own, &theirs);
        refuse_unpaired([first, other], &own, &theirs, &matched)?;
        let points = matched.iter().map(|one| one.pairs[0].map(|row| row.point));
        compared.push(points.collect::<BTreeSet<[usize; 2]>>());
        comparison.remarks.extend(places.remark(at));
        comparison
            .remarks
            .extend(remark(&own, &theirs, &matched, at));
        comparison.remarks.extend(left_out(first, other, at));
        comparison.alone.extend(alone(&own, &theirs, at));
        let numbers = numbers([first, other], &matched, at)?;
        comparison
            .identical
            .push(identical([first, other], &matched, at)?);
        comparison.numbers.extend(numbers);
    }
    describe(&mut comparison, sweeps, &compared)?;
    Ok(comparison)
}

/// Refuses a sweep without a result.
fn refuse_unfinished(sweep: &SweepResult, which: &str) -> Result<(), ConfigError> {
    if sweep.table.rows.iter().any(is_done) {
        return Ok(());
    }
    let why = sweep.dir.outdated();
    let why = why.map_or(String::new(), |why| format!(": {why}"));
    Err(ConfigError::new(
        format!("{} ({which}) has no point with a result{why}", sweep.name),
        format!("run its points: weir sweep run {}", sweep.name),
    ))
}

fn is_done(row: &Row) -> bool {
    row.state == "done"
}

/// The points of both sweeps that have a run with the same seed.
fn matched<'a>(own: &[Place<'a>], theirs: &[Place<'a>]) -> Vec<Matched<'a>> {
    let by_key: HashMap<&[String], &Place> =
        theirs.iter().map(|place| (&*place.key, place)).collect();
    let point = |place: &Place<'a>| {
        let other = by_key.get(&*place.key)?;
        let pair = |row: &&'a Row| {
            let mut rows = other.rows.iter();
            let twin = rows.find(|twin| twin.seed == row.seed && is_done(twin))?;
            is_done(row).then_some([*row, *twin])
        };
        let pairs: Vec<[&Row; 2]> = place.rows.iter().filter_map(pair).collect();
        (!pairs.is_empty()).then(|| Matched {
            point: place.labels.clone(),
            pairs,
        })
    };
    own.iter().filter_map(point).collect()
}

/// Refuses two sweeps without a pair of runs.
fn refuse_unpaired(
    [first, other]: [&SweepResult; 2],
    own: &[Place],
    theirs: &[Place],
    matched: &[Matched],
) -> Result<(), ConfigError> {
    if !matched.is_empty() {
        return Ok(());
    }
    let names = format!("{} and {}", first.name, other.name);
    let common = own
        .iter()
        .any(|place| theirs.iter().any(|other| other.key == place.key));
    let seeds = [own, theirs].map(seeds);
    let (message, remedy) = if !common {
        let [a, b] = [own, theirs].map(|places| places.first().map_or("", |place| &place.name));
        (
            format!("{names} have no point in common: the first ones are {a} and {b}"),
            "give both the same values on the axes, by name; an axis with a single value in each \
             may differ",
        )
    } else if seeds[0].is_disjoint(&seeds[1]) {
        let [a, b] = seeds.map(listed);
        (
            format!("{names} have no seed in common ({a} and {b}): no two runs make a pair"),
            "run one of them with the `seeds` of the other",
        )
    } else {
        (
            format!("{names} have no point that is done in both, with the same seed"),
            "run the missing points: weir sweep run DIR",
        )
    };
    Err(ConfigError::new(message, remedy))
}

fn seeds(places: &[Place]) -> BTreeSet<u64> {
    let rows = places.iter().flat_map(|place| &place.rows);
    rows.map(|row| row.seed).collect()
}

fn listed(seeds: BTreeSet<u64>) -> String {
    let seeds: Vec<String> = seeds.iter().map(u64::to_string).collect();
    seeds.join(", ")
}

/// Facts that put the differences in doubt.
fn remark(own: &[Place], theirs: &[Place], matched: &[Matched], at: usize) -> Vec<String> {
    let which = letter(at);
    let mut remarks = Vec::new();
    for (places, which) in [(own, "A"), (theirs, which.as_str())] {
        let rows: Vec<&&Row> = places.iter().flat_map(|place| &place.rows).collect();
        let missing = rows.iter().filter(|row| !is_done(row)).count();
        if missing > 0 {
            remarks.push(format!(
                "{missing} of {} runs of {which} have no result.",
                rows.len()
            ));
        }
    }
    let [one, two] = [own, theirs].map(seeds);
    let sides = [(&one, "A"), (&two, which.as_str())];
    for [(seeds, has), (rest, lacks)] in [sides, [sides[1], sides[0]]] {
        let only: BTreeSet<u64> = seeds.difference(rest).copied().collect();
        if !only.is_empty() {
            remarks.push(format!(
                "Seeds that {has} has and {lacks} lacks are left out: {}.",
                listed(only)
            ));
        }
    }
    if matched.iter().all(|point| point.pairs.len() == 1) {
        remarks.push(format!(
            "A and {which} have one seed in common at each point: there is no confidence interval, \
             and a difference may be chance."
        ));
    }
    remarks
}

/// Metrics that A's study asks for and that the other's table lacks.
fn left_out(first: &SweepResult, other: &SweepResult, at: usize) -> Option<String> {
    let asked = first.study.shown_metrics(&first.table.metrics);
    let lacks = |metric: &&Metric| other.table.column(metric).is_none();
    let lacking: Vec<&str> = asked.iter().filter(lacks).map(|one| one.name()).collect();
    (!lacking.is_empty()).then(|| {
        let which = letter(at);
        let lacking = lacking.join(", ");
        format!("Metrics that {which} lacks are left out: {lacking}. Name them in its study.")
    })
}

/// Points that only one of the two has.
fn alone(own: &[Place], theirs: &[Place], at: usize) -> Vec<PointAlone> {
    let lacks = |places: &[Place], key: &[String]| !places.iter().any(|own| own.key == key);
    let mut all = Vec::new();
    for (places, rest, [input, other]) in [(own, theirs, [0, at]), (theirs, own, [at, 0])] {
        let only = places.iter().filter(|place| lacks(rest, &place.key));
        all.extend(only.map(|place| PointAlone {
            input,
            other,
            point: place.labels.clone(),
        }));
    }
    all
}

/// The differences of all metrics that both tables have, at each point.
fn numbers(
    [first, other]: [&SweepResult; 2],
    matched: &[Matched],
    at: usize,
) -> Result<Vec<NumberChange>, ConfigError> {
    let shown = first.study.shown_metrics(&first.table.metrics);
    let missing = Missing::of([first, other], matched).map_err(unreadable)?;
    let mut all = Vec::new();
    for (column, metric) in first.table.metrics.iter().enumerate() {
        let Some(theirs) = other.table.column(metric) else {
            continue;
        };
        let asked = shown.iter().any(|one| one.name() == metric.name());
        for point in matched {
            let values: Vec<[Option<f64>; 2]> = (point.pairs.iter())
                .map(|[a, b]| [a.values[column], b.values[theirs]])
                .collect();
            if values.iter().flatten().all(Option::is_none) {
                continue;
            }
            let (means, change) = paired(&values);
            all.push(NumberChange {
                metric: metric.name().to_string(),
                unit: metric.unit().to_string(),
                point: point.point.clone(),
                inputs: vec![0, at],
                values: means.to_vec(),
                missing: missing.at(metric, &point.pairs),
                changes: vec![change],
                asked,
                same: values.iter().all(|[a, b]| a == b),
            });
        }
    }
    Ok(all)
}

/// The means of both sides, and the mean difference, over the pairs of which both are known.
/// Without such a pair the means are those of each side.
fn paired(values: &[[Option<f64>; 2]]) -> ([Option<Bounds>; 2], Option<Change>) {
    let both = values.iter().filter_map(|[a, b]| Some([(*a)?, (*b)?]));
    let both: Vec<[f64; 2]> = both.collect();
    let mean =
        |values: Vec<f64>| (!values.is_empty()).then(|| Bounds::known(mean_interval(&values).0));
    if both.is_empty() {
        let side = |side: usize| mean(values.iter().filter_map(|pair| pair[side]).collect());
        return ([side(0), side(1)], None);
    }
    let means = [0, 1].map(|side| mean(both.iter().map(|pair| pair[side]).collect()));
    let apart: Vec<f64> = both.iter().map(|[a, b]| b - a).collect();
    let (difference, interval) = mean_interval(&apart);
    let base = means[0].and_then(|base| base.value());
    let share = base.filter(|base| *base > 0.0);
    let change = Change {
        absolute: Bounds::known(difference),
        relative: share.map(|base| Bounds::known(difference / base)),
        pairs: both.len(),
        interval,
    };
    (means, Some(change))
}

fn unreadable(error: TraceError) -> ConfigError {
    ConfigError::new(error.to_string(), "")
}

/// Missing samples of latencies, by side, point of the study and class.
#[derive(Default)]
struct Missing {
    counts: HashMap<(usize, usize, String), f64>,
}

impl Missing {
    fn of(sweeps: [&SweepResult; 2], matched: &[Matched]) -> Result<Missing, TraceError> {
        let mut missing = Missing::default();
        for (side, sweep) in sweeps.into_iter().enumerate() {
            for row in matched.iter().flat_map(|point| &point.pairs) {
                let row = row[side];
                let result = ResultFile::open(&sweep.dir.point(&row.hash).result())?;
                for class in result.groups("data/latency")? {
                    let count = result.number(&format!("data/latency/{class}"), "missing")?;
                    if let Some(count) = count.filter(|count| *count > 0.0) {
                        missing.counts.insert((side, row.point, class), count);
                    }
                }
            }
        }
        Ok(missing)
    }

    /// Sums for both sides, for numbers of latencies that leave missing samples out; else nothing.
    fn at(&self, metric: &Metric, pairs: &[[&Row; 2]]) -> Vec<f64> {
        const LEAVE_OUT: [&str; 6] = ["mean", "p50", "p90", "p99", "p999", "max"];
        let name = metric.name().strip_prefix("latency.");
        let Some((class, number)) = name.and_then(|name| name.rsplit_once('.')) else {
            return Vec::new();
        };
        if !LEAVE_OUT.contains(&number) {
            return Vec::new();
        }
        let sum = |side: usize| {
            let keys = pairs
                .iter()
                .map(|pair| (side, pair[side].point, class.to_string()));
            keys.filter_map(|key| self.counts.get(&key)).sum::<f64>()
        };
        let sums = vec![sum(0), sum(1)];
        match sums.iter().any(|sum| *sum > 0.0) {
            true => sums,
            false => Vec::new(),
        }
    }
}

/// Compares the data of the pairs whose numbers are the same.
fn identical(
    sweeps: [&SweepResult; 2],
    matched: &[Matched],
    at: usize,
) -> Result<Identical, ConfigError> {
    let mut found = Identical {
        input: at,
        same: 0,
        all: 0,
    };
    for [a, b] in matched.iter().flat_map(|point| &point.pairs) {
        let value = |(column, metric): (usize, &Metric)| {
            let theirs = sweeps[1].table.column(metric);
            theirs.is_none_or(|theirs| a.values[column] == b.values[theirs])
        };
        let mut metrics = sweeps[0].table.metrics.iter().enumerate();
        let file = |side: usize, row: &Row| sweeps[side].dir.point(&row.hash).result();
        let same = metrics.all(value) && same_data(&file(0, a), &file(1, b)).map_err(unreadable)?;
        found.same += usize::from(same);
        found.all += 1;
    }
    Ok(found)
}

/// Adds what the sweeps are, and the keys whose values differ between points that are compared:
/// `compared` has, for each other sweep, pairs of a point of the first and the other's point.
fn describe(
    comparison: &mut Comparison,
    sweeps: &[SweepResult],
    compared: &[BTreeSet<[usize; 2]>],
) -> Result<(), ConfigError> {
    let of_first = compared.iter().flatten().map(|[own, _]| *own);
    let of_first = of_first.collect::<BTreeSet<usize>>().into_iter().collect();
    let of_others = compared
        .iter()
        .map(|pairs| pairs.iter().map(|pair| pair[1]));
    let points = std::iter::once(of_first).chain(of_others.map(Iterator::collect));
    let points: Vec<Vec<usize>> = points.collect();
    let texts = sweeps.iter().zip(&points);
    let texts = texts.map(|(sweep, points)| experiments(sweep, points));
    let texts = texts.collect::<Result<Vec<Vec<String>>, ConfigError>>()?;
    let keys: Vec<Vec<Keys>> = texts
        .iter()
        .map(|all| all.iter().map(|text| keys(text)).collect())
        .collect();
    for (at, (sweep, texts)) in sweeps.iter().zip(&texts).enumerate() {
        comparison.inputs.push(Compared {
            letter: letter(at),
            path: sweep.name.clone(),
            experiment: texts.first().cloned().unwrap_or_default(),
            about: about(sweep),
        });
    }
    let own: HashMap<usize, &Keys> = points[0].iter().copied().zip(&keys[0]).collect();
    let mut told = Vec::new();
    let mut differ: Vec<BTreeSet<String>> = Vec::new();
    for (at, (pairs, theirs)) in compared.iter().zip(&keys[1..]).enumerate() {
        let pairs = pairs.iter().zip(theirs);
        let changed = pairs.flat_map(|([point, _], theirs)| {
            let (changed, _) = differences(&[own[point], theirs]);
            changed.into_iter().map(|change| change.key)
        });
        let changed: BTreeSet<String> = changed.collect();
        told.extend(remarks(changed.iter().map(|key| &**key), &letter(at + 1)));
        differ.push(changed);
    }
    told.append(&mut comparison.remarks);
    comparison.remarks = told;
    let all: Vec<Keys> = keys.iter().map(merged).collect();
    comparison.keys = axes(sweeps);
    for mut change in changes(&all) {
        if !differ.iter().any(|keys| keys.contains(&change.key)) {
            comparison.same_keys += 1;
            continue;
        }
        let (first, others) = change.values.split_at_mut(1);
        for (value, keys) in others.iter_mut().zip(&differ) {
            let elsewhere = *value == first[0] && keys.contains(&change.key);
            if let Some(value) = value.as_mut().filter(|_| elsewhere) {
                value.push_str(", at other points");
            }
        }
        comparison.keys.push(change);
    }
    Ok(())
}

/// The resolved experiments of some points.
fn experiments(sweep: &SweepResult, points: &[usize]) -> Result<Vec<String>, ConfigError> {
    let resolved = points.iter().map(|&at| {
        let experiment = sweep.study.experiment(&sweep.points[at], sweep.catalog)?;
        Ok(experiment.resolved)
    });
    resolved.collect()
}

/// The keys of an experiment. Runs are compared with those of the same seed.
fn keys(experiment: &str) -> Keys {
    let mut keys = flat(experiment);
    keys.retain(|(key, _)| key != SEED);
    keys
}

/// Axes whose values differ.
fn axes(sweeps: &[SweepResult]) -> Vec<KeyChange> {
    let change = |name: &String| {
        let values = sweeps.iter().map(|sweep| {
            let axis = sweep.study.axes.iter().find(|own| own.name == *name)?;
            let labels: Vec<&str> = axis.values.iter().map(|one| one.label.as_str()).collect();
            Some(labels.join(", "))
        });
        KeyChange {
            key: format!("axis {name}"),
            values: values.collect(),
        }
    };
    let names = sweeps[0].study.axes.iter().map(|axis| &axis.name);
    let all = names.map(change);
    all.filter(|one| one.values.iter().any(|value| *value != one.values[0]))
        .collect()
}

/// `30 runs, 28 done, seeds 1, 2`.
fn about(sweep: &SweepResult) -> String {
    let rows = &sweep.table.rows;
    let done = rows.iter().filter(|row| is_done(row)).count();
    let seeds: BTreeSet<u64> = rows.iter().map(|row| row.seed).collect();
    let word = if seeds.len() == 1 { "seed" } else { "seeds" };
    let scale = match sweep.study.has_scales {
        true => format!(", {}", sweep.study.scale().name()),
        false => String::new(),
    };
    format!(
        "{} runs, {done} done, {word} {}{scale}",
        rows.len(),
        listed(seeds)
    )
}
