//! Makes points and their experiments from places on the axes, as far as they are asked for.
//!
//! A study may have a million points, and each of its commands is started for each of them in a job
//! array. So points are light ([`Point`]), experiments are made one by one and dropped, and a
//! command looks only at the points that it needs.

use std::collections::HashMap;
use std::ops::Deref;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::thread;

use super::alone::{Baselines, Found};
use super::{Point, Role};
use crate::dir::{Setup, SweepDir};
use crate::job_file::needs::Unmet;
use crate::job_file::{SEED, Study};
use weir_input::ConfigError;
use weir_result::experiment_hash;
use weir_simulation::config::{Catalog, Document, Experiment};
use weir_simulation::forecast::{ASSUMED_RATE, Forecast, Work};
use weir_simulation::{Plan, Warning};

/// Operations of the programs of its applications that are examined, to estimate the work of a
/// point.
const EFFORT: u64 = 20_000;

/// Threads that examine points, at most: login nodes are shared.
const MOST_THREADS: usize = 8;
/// A thread for fewer points is not worth its start.
const LEAST_EACH: usize = 64;
/// Points whose warnings are kept before the same ones become one.
const BATCH: usize = 4_096;

/// All points of a study, and the common part of their experiments.
#[derive(Clone, Debug, Default)]
pub struct Points {
    list: Vec<Point>,
    /// All workloads that run, by name: true if it is an application.
    jobs: Vec<(String, bool)>,
}

impl Study {
    /// The job file in the directory of its study, as it was when points were last run: with all
    /// files that it names, which may have been moved since.
    ///
    /// # Errors
    /// As for [`Study::read`].
    pub fn kept(dir: &SweepDir, setup: &Setup) -> Result<Study, ConfigError> {
        let name = dir.job().display().to_string();
        let inputs = setup.inputs.clone();
        let document = Document::parse_with(&name, &setup.text, &setup.folder, inputs)?;
        Study::of(document, &setup.file, &setup.options)
    }
}

impl Deref for Points {
    type Target = [Point];

    fn deref(&self) -> &[Point] {
        &self.list
    }
}

impl Points {
    /// The names of all workloads that run at any point.
    pub fn jobs(&self) -> Vec<String> {
        self.jobs.iter().map(|(name, _)| name.clone()).collect()
    }

    /// Those of them that are applications.
    pub fn applications(&self) -> impl Iterator<Item = &str> {
        let applications = self.jobs.iter().filter(|(_, application)| *application);
        applications.map(|(name, _)| name.as_str())
    }
}

/// Estimated work of a point: from its file and its programs alone.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Brief {
    /// Endpoints of its network.
    pub endpoints: u32,
    /// Domains of its network.
    pub domains: u32,
    /// The most ranks that can run it.
    pub most_ranks: u32,
    /// Packet-hops.
    pub packet_hops: f64,
    /// On one core, s.
    pub seconds: f64,
    /// Memory, bytes.
    pub bytes: f64,
}

/// Points that were examined: each of them can be run.
#[derive(Debug, Default)]
pub struct Checked {
    /// One for each point, in their order.
    pub briefs: Vec<Brief>,
    /// Warnings of some of them.
    pub warnings: Vec<PointWarning>,
}

/// A warning of some points, which may differ in its numbers.
#[derive(Debug)]
pub struct PointWarning {
    /// As it is at the first of them.
    pub first: Warning,
    /// The number of points.
    pub points: usize,
    /// True if its numbers are the same at all of them.
    pub same: bool,
    /// The last of them, counted from 1.
    last: usize,
}

impl Checked {
    /// Adds a warning of the latest point.
    fn add(&mut self, warning: Warning) {
        let point = self.briefs.len();
        let mut known = self.warnings.iter_mut();
        match known.find(|own| are_alike(&own.first.text, &warning.text)) {
            Some(own) => {
                own.points += usize::from(own.last < point);
                own.same &= own.first.text == warning.text;
                own.last = point;
            }
            None => self.warnings.push(PointWarning {
                first: warning,
                points: 1,
                same: true,
                last: point,
            }),
        }
    }
}

/// True if two warnings, as `key: message`, are about the same key and differ in numbers at most.
fn are_alike(one: &str, other: &str) -> bool {
    let words = |text: &str| -> String {
        let (key, message) = text.split_once(": ").unwrap_or((text, ""));
        let message = message.chars().filter(|c| !c.is_ascii_digit() && *c != '.');
        key.chars().chain(message).collect()
    };
    words(one) == words(other)
}

/// A point with the kept part of its experiment.
struct Seen {
    point: Point,
    jobs: Vec<(String, bool)>,
    alone: Vec<Found>,
}

impl Study {
    /// All points in order: those of the table, then the runs of jobs alone that slowdowns are
    /// measured against.
    ///
    /// Their experiments are read; [`Study::check`] finds their other errors.
    ///
    /// # Errors
    /// If an experiment cannot be read, an axis changes nothing, two points are the same, or no
    /// point records the data that a figure or a claim needs.
    pub fn points(&self, catalog: &Catalog) -> Result<Points, ConfigError> {
        let grid = self.grid()?;
        let baselines = Baselines::new(&self.needs);
        let seen = each(grid.len(), &|index| {
            let (at, seed) = grid.at(index);
            let experiment = self.experiment_at(at, seed, catalog)?;
            let alone = match baselines.asks() {
                true => {
                    let plan = self.plan(at, &experiment)?;
                    baselines.look(at, &experiment, &plan, catalog)?
                }
                false => Vec::new(),
            };
            Ok(Seen {
                point: point(index, at, &experiment),
                jobs: jobs(&experiment),
                alone,
            })
        })?;
        let mut points = Points::default();
        let mut known: HashMap<String, usize> = HashMap::new();
        let mut found = Vec::new();
        for seen in seen {
            for (name, application) in seen.jobs {
                let next = points.jobs.len();
                let at = *known.entry(name.clone()).or_insert(next);
                match points.jobs.get_mut(at) {
                    Some((_, own)) => *own |= application,
                    None => points.jobs.push((name, application)),
                }
            }
            found.push(seen.alone);
            points.list.push(seen.point);
        }
        self.no_two_alike(&points.list)?;
        self.needs_are_met(catalog)?;
        baselines.add(found, &mut points.list);
        Ok(points)
    }

    /// The number of points that are rows of the table.
    ///
    /// # Errors
    /// If there is none, or there are too many.
    pub fn rows(&self) -> Result<usize, ConfigError> {
        Ok(self.grid()?.len())
    }

    /// Some points of the table, by their places in the study. No other is examined.
    ///
    /// # Errors
    /// If one of their experiments cannot be read.
    pub fn some_points(
        &self,
        places: &[usize],
        catalog: &Catalog,
    ) -> Result<Vec<Point>, ConfigError> {
        let grid = self.grid()?;
        each(places.len(), &|place| {
            let (at, seed) = grid.at(places[place]);
            let experiment = self.experiment_at(at, seed, catalog)?;
            Ok(point(places[place], at, &experiment))
        })
    }

    /// Places of points that show most of the possible errors of a study, at most `most`: every
    /// value of every axis is in one of them, if there are no more values than that.
    ///
    /// # Errors
    /// As for [`Study::rows`].
    pub fn sample(&self, most: usize) -> Result<Vec<usize>, ConfigError> {
        let sample = self.grid()?.sample();
        let step = sample.len().div_ceil(most).max(1);
        Ok(sample.into_iter().step_by(step).collect())
    }

    /// True if slowdowns are asked for: then there are runs of jobs alone after the points of the
    /// table.
    pub fn compares(&self) -> bool {
        Baselines::new(&self.needs).asks()
    }

    /// Looks at points in all respects.
    ///
    /// # Errors
    /// The first of them that cannot be run.
    pub fn check(&self, points: &[&Point], catalog: &Catalog) -> Result<Checked, ConfigError> {
        let mut checked = Checked::default();
        for batch in points.chunks(BATCH) {
            let looked = each(batch.len(), &|index| self.look(batch[index], catalog))?;
            for (brief, warnings) in looked {
                checked.briefs.push(brief);
                warnings.into_iter().for_each(|one| checked.add(one));
            }
        }
        Ok(checked)
    }

    fn look(&self, point: &Point, catalog: &Catalog) -> Result<(Brief, Vec<Warning>), ConfigError> {
        let experiment = self.experiment(point, catalog)?;
        let plan = self.plan(&point.at, &experiment)?;
        let work = Work::of(&experiment, &plan, EFFORT);
        let assumed = Forecast::assumed(&work, ASSUMED_RATE);
        let brief = Brief {
            endpoints: work.endpoints,
            domains: work.domains,
            most_ranks: plan.most_ranks(),
            packet_hops: assumed.packet_hops,
            seconds: assumed.seconds,
            bytes: assumed.bytes,
        };
        let warnings = match point.is_own() {
            true => plan.warnings,
            // Warnings that come from leaving the other jobs out are no news.
            false => Vec::new(),
        };
        Ok((brief, warnings))
    }

    /// Experiment of a point.
    ///
    /// # Errors
    /// If it cannot be run.
    pub fn experiment(&self, point: &Point, catalog: &Catalog) -> Result<Experiment, ConfigError> {
        let seed = self.seeds.as_ref().map(|_| point.seed);
        let experiment = self.experiment_at(&point.at, seed, catalog)?;
        match &point.role {
            Role::Own { .. } => Ok(experiment),
            Role::Alone { job, .. } => {
                let plan = self.plan(&point.at, &experiment)?;
                Baselines::new(&self.needs).alone(&point.at, job, &experiment, &plan, catalog)
            }
        }
    }

    fn experiment_at(
        &self,
        at: &[usize],
        seed: Option<u64>,
        catalog: &Catalog,
    ) -> Result<Experiment, ConfigError> {
        let document = self.document_at(at, seed)?;
        let experiment = document.experiment(catalog);
        experiment.map_err(|error| self.at_the_point(at, error))
    }

    fn document_at(&self, at: &[usize], seed: Option<u64>) -> Result<Document, ConfigError> {
        let mut document = self.base.clone();
        for (axis, &value) in self.axes.iter().zip(at) {
            for (key, given) in &axis.values[value].sets {
                if key == SEED && seed.is_some() {
                    return Err(given.wrong(
                        "the seeds of this study are in `seeds`",
                        "remove `seeds`, or this key",
                    ));
                }
                match &axis.fork_at {
                    Some(at) => document.fork(at, key, given)?,
                    None => document.place(key, given)?,
                }
            }
        }
        if let Some(seed) = seed {
            document.set(&format!("{SEED}={seed}"))?;
        }
        Ok(document)
    }

    /// Everything that can be wrong with an experiment is found here, before anything runs.
    pub(crate) fn plan(&self, at: &[usize], experiment: &Experiment) -> Result<Plan, ConfigError> {
        Plan::new(experiment, None).map_err(|error| self.at_the_point(at, error))
    }

    fn at_the_point(&self, at: &[usize], mut error: ConfigError) -> ConfigError {
        let values = self.axes.iter().zip(at);
        let words = values
            .map(|(axis, &value)| format!("{} = {}", axis.name, axis.values[value].label))
            .collect::<Vec<String>>();
        if !words.is_empty() {
            error.message = format!("{} (at the point {})", error.message, words.join(", "));
        }
        error
    }

    /// Checks that some point records the data that each figure and claim needs.
    /// No more points are examined than necessary.
    ///
    /// # Errors
    /// The first need that no point can meet.
    pub fn needs_are_met(&self, catalog: &Catalog) -> Result<(), ConfigError> {
        let grid = self.grid()?;
        let mut unmet = Unmet::new(&self.needs, self.options.reduced);
        for index in 0..grid.len() {
            if unmet.is_empty() {
                break;
            }
            let (at, seed) = grid.at(index);
            if unmet.concerns(at) {
                let experiment = self.experiment_at(at, seed, catalog)?;
                let plan = self.plan(at, &experiment)?;
                unmet.look(at, &experiment, &plan);
            }
        }
        unmet.none_left()
    }

    fn no_two_alike(&self, points: &[Point]) -> Result<(), ConfigError> {
        let mut seen: HashMap<&str, &Point> = HashMap::new();
        for point in points {
            let Some(other) = seen.insert(&point.hash, point) else {
                continue;
            };
            let differ = (0..self.axes.len()).filter(|&axis| point.at[axis] != other.at[axis]);
            let differ: Vec<usize> = differ.collect();
            let same = || {
                format!(
                    "the points {} and {} are the same experiment",
                    other.label(self),
                    point.label(self)
                )
            };
            let [axis] = differ.as_slice() else {
                return Err(ConfigError::new(
                    format!("{}: {}", self.path.display(), same()),
                    "leave one of them out with [[exclude]]",
                ));
            };
            let message = match self.changes_nothing(points, *axis, other.at[*axis]) {
                true => format!("the axis `{}` changes nothing", self.axes[*axis].name),
                false => same(),
            };
            return Err(self.axes[*axis].refuse(
                "values",
                message,
                "remove the axis, or leave points out with [[exclude]]",
            ));
        }
        Ok(())
    }

    /// True if no point changes with this value on the axis.
    fn changes_nothing(&self, points: &[Point], axis: usize, value: usize) -> bool {
        let places = points.iter().map(|point| ((&*point.at, point.seed), point));
        let places: HashMap<(&[usize], u64), &Point> = places.collect();
        points.iter().all(|any| {
            let mut at = any.at.clone();
            at[axis] = value;
            let twin = places.get(&(&*at, any.seed));
            twin.is_none_or(|twin| twin.hash == any.hash)
        })
    }
}

fn point(index: usize, at: &[usize], experiment: &Experiment) -> Point {
    Point {
        index,
        at: at.to_vec(),
        seed: experiment.run.seed,
        hash: experiment_hash(&experiment.resolved),
        role: Role::Own { alone: Vec::new() },
    }
}

/// Its workloads that run, and whether they are applications.
fn jobs(experiment: &Experiment) -> Vec<(String, bool)> {
    let enabled = experiment.workloads.iter().filter(|one| one.enabled);
    let jobs = enabled.map(|one| (one.name.clone(), one.job().is_some()));
    jobs.collect()
}

/// The values of a function of `0..count`, computed by several threads.
/// Its first error, if there is one.
pub(crate) fn each<T: Send>(
    count: usize,
    value: &(dyn Fn(usize) -> Result<T, ConfigError> + Sync),
) -> Result<Vec<T>, ConfigError> {
    let cores = thread::available_parallelism().map_or(1, usize::from);
    let threads = cores.min(MOST_THREADS).min(count.div_ceil(LEAST_EACH));
    if threads < 2 {
        return (0..count).map(value).collect();
    }
    let share = count.div_ceil(threads);
    let wrong = AtomicUsize::new(usize::MAX);
    let part = |begin: usize| {
        let mut values = Vec::new();
        for index in begin..(begin + share).min(count) {
            // An earlier one is wrong: that is the one to be told of.
            if wrong.load(Ordering::Relaxed) < begin {
                break;
            }
            match value(index) {
                Ok(value) => values.push(value),
                Err(error) => {
                    wrong.fetch_min(index, Ordering::Relaxed);
                    return Err(error);
                }
            }
        }
        Ok(values)
    };
    let parts = thread::scope(|scope| {
        let begin = (0..count).step_by(share);
        let running: Vec<_> = begin.map(|at| scope.spawn(move || part(at))).collect();
        let ended = running.into_iter().map(|one| one.join());
        ended.collect::<Vec<_>>()
    });
    let mut all = Vec::with_capacity(count);
    for part in parts {
        match part {
            Ok(values) => all.extend(values?),
            Err(panic) => std::panic::resume_unwind(panic),
        }
    }
    Ok(all)
}
