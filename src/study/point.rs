//! The points of a study: one experiment for each combination of the values of its axes and each seed.

use std::collections::{BTreeSet, HashMap};

use sha2::{Digest, Sha256};

use super::alone::Baselines;
use super::job_file::{SEED, Study};
use super::needs::Unmet;
use super::selection::Selection;
use crate::config::{ConfigError, Experiment};
use crate::forecast::Work;
use crate::registry::Catalog;
use crate::simulation::{self, Plan, Warning};
use crate::trace::schema;

/// More points than a directory should hold.
const MOST: usize = 1_000_000;

/// Operations of the programs of its applications that are looked at, for what a point is to do.
pub(super) const EFFORT: u64 = 20_000;

/// Hexadecimal digits of a hash.
const DIGITS: usize = 16;

/// One run of a study.
#[derive(Clone, Debug)]
pub struct Point {
    /// Its place in the study, from 0.
    pub index: usize,
    /// The index of its value on each axis.
    pub at: Vec<usize>,
    /// Its seed.
    pub seed: u64,
    /// The name of its directory: a hash of the resolved experiment, the version of the result's schema and that of
    /// the model.
    pub hash: String,
    /// What it runs.
    pub experiment: Experiment,
    /// What it is to do.
    pub work: Work,
    /// What does nothing in it.
    pub warnings: Vec<Warning>,
    /// Whether it is a point of the study or what such points are compared with.
    pub role: Role,
}

/// What a run of a study is for.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Role {
    /// One of its points, a row of the table.
    Own {
        /// Jobs whose slowdown is asked for, and the place of the run in which each is alone.
        alone: Vec<(String, usize)>,
    },
    /// A job of some points alone. Its place on the axes is that of the first of them.
    Alone {
        /// The job.
        job: String,
        /// On which axes they differ.
        varies: Vec<bool>,
    },
}

impl Point {
    /// `routing=minimal load=0.3`: the names of its axes and its labels there; the seed if there are several.
    /// Of a job alone: what all that are compared with it have in common.
    pub fn label(&self, study: &Study) -> String {
        let axes = study.axes.iter().enumerate();
        let axes = axes.filter_map(|(axis, own)| Some((own, self.value(study, axis)?)));
        let mut words: Vec<String> = axes
            .map(|(axis, label)| format!("{}={label}", axis.name))
            .collect();
        if study.seeds.as_ref().is_some_and(|seeds| seeds.len() > 1) || words.is_empty() {
            words.push(format!("seed={}", self.seed));
        }
        match &self.role {
            Role::Own { .. } => words.join(" "),
            Role::Alone { job, .. } => format!("{job} alone {}", words.join(" ")),
        }
    }

    /// The label of its value on an axis; None where it stands for several.
    pub fn value<'a>(&self, study: &'a Study, axis: usize) -> Option<&'a str> {
        let one = match &self.role {
            Role::Own { .. } => true,
            Role::Alone { varies, .. } => !varies[axis],
        };
        let value = &study.axes[axis].values[self.at[axis]];
        one.then_some(value.label.as_str())
    }

    /// Whether it is a row of the table.
    pub fn is_own(&self) -> bool {
        matches!(self.role, Role::Own { .. })
    }
}

/// The directory's name for an experiment.
pub(super) fn hash_of(resolved: &str) -> String {
    let mut hash = Sha256::new();
    hash.update(format!(
        "schema {}\nmodel {}\n{resolved}",
        schema::VERSION,
        simulation::MODEL_VERSION
    ));
    let mut text = String::new();
    for byte in hash.finalize() {
        text.push_str(&format!("{byte:02x}"));
    }
    text.truncate(DIGITS);
    text
}

impl Study {
    /// All points in order: the last axis changes fastest, and the seed faster still. After them the runs of jobs alone that slowdowns are
    /// measured against.
    ///
    /// # Errors
    /// If an experiment cannot be run, an axis changes nothing, two points are the same, or no point records what a
    /// figure or a claim needs.
    pub fn points(&self, catalog: &Catalog) -> Result<Vec<Point>, ConfigError> {
        let places = self.places()?;
        let mut points: Vec<Point> = Vec::new();
        let mut unmet = Unmet::new(&self.needs, self.options.reduced);
        let mut baselines = Baselines::new(&self.needs);
        for at in places {
            for seed in self.seeds.as_deref().map_or(vec![None], |seeds| {
                seeds.iter().copied().map(Some).collect()
            }) {
                let (experiment, plan) = self.experiment(&at, seed, catalog)?;
                unmet.look(&at, &experiment, &plan);
                baselines.look((points.len(), &at), &experiment, &plan, catalog)?;
                let work = Work::of(&experiment, &plan, EFFORT);
                points.push(Point {
                    index: points.len(),
                    at: at.clone(),
                    seed: experiment.run.seed,
                    hash: hash_of(&experiment.resolved),
                    experiment,
                    work,
                    warnings: plan.warnings,
                    role: Role::Own { alone: Vec::new() },
                });
            }
        }
        self.no_two_alike(&points)?;
        unmet.none_left()?;
        baselines.add(&mut points)?;
        Ok(points)
    }

    /// All combinations of values that are not excluded.
    fn places(&self) -> Result<Vec<Vec<usize>>, ConfigError> {
        let mut used = vec![false; self.excluded.len()];
        let mut places = Vec::new();
        for at in self.combinations()? {
            let mut wanted = true;
            for ((selection, _), used) in self.excluded.iter().zip(&mut used) {
                if selection.has(&at) {
                    (wanted, *used) = (false, true);
                }
            }
            if wanted {
                places.push(at);
            }
        }
        if let Some(((_, given), _)) = self.excluded.iter().zip(used).find(|(_, used)| !used) {
            return Err(given.wrong(
                "this excludes nothing",
                "remove it, or name values that meet",
            ));
        }
        let asked = self.excluded.iter().chain(self.only.iter().flatten());
        match (places.is_empty(), asked.last()) {
            (true, Some((_, given))) => Err(given.wrong("no point is left", "exclude less")),
            _ => Ok(places),
        }
    }

    /// All combinations that are asked for, each once.
    fn combinations(&self) -> Result<BTreeSet<Vec<usize>>, ConfigError> {
        let all = Selection::default();
        let asked: Vec<&Selection> = match &self.only {
            Some(only) => only.iter().map(|(selection, _)| selection).collect(),
            None => vec![&all],
        };
        let mut found = BTreeSet::new();
        for selection in asked {
            let values = |axis: usize| match selection.on(axis) {
                Some(values) => values.to_vec(),
                None => (0..self.axes[axis].values.len()).collect(),
            };
            let values: Vec<Vec<usize>> = (0..self.axes.len()).map(values).collect();
            let count = values.iter().try_fold(1usize, |product, own| {
                product
                    .checked_mul(own.len())
                    .filter(|&count| count <= MOST)
            });
            let few = count.is_some_and(|count| found.len() + count <= MOST);
            if !few {
                return Err(ConfigError::new(
                    format!("{}: more than {MOST} points", self.path.display()),
                    "leave out values or axes",
                ));
            }
            let mut own = vec![Vec::new()];
            for values in values {
                let longer = |at: &Vec<usize>| {
                    let at = at.clone();
                    values
                        .iter()
                        .map(move |&value| [at.as_slice(), &[value]].concat())
                };
                own = own.iter().flat_map(longer).collect();
            }
            found.extend(own);
        }
        Ok(found)
    }

    fn experiment(
        &self,
        at: &[usize],
        seed: Option<u64>,
        catalog: &Catalog,
    ) -> Result<(Experiment, Plan), ConfigError> {
        let mut document = self.base.clone();
        for (axis, &value) in self.axes.iter().zip(at) {
            for (key, given) in &axis.values[value].sets {
                if key == SEED && seed.is_some() {
                    return Err(given.wrong(
                        "the seeds of this study are in `seeds`",
                        "remove `seeds`, or this key",
                    ));
                }
                document.place(key, given)?;
            }
        }
        if let Some(seed) = seed {
            document.set(&format!("{SEED}={seed}"))?;
        }
        let experiment = document.experiment(catalog).and_then(|experiment| {
            // Everything that can be wrong is found before anything runs.
            let plan = Plan::new(&experiment, None)?;
            Ok((experiment, plan))
        });
        experiment.map_err(|mut error| {
            let words = self
                .axes
                .iter()
                .zip(at)
                .map(|(axis, &value)| format!("{} = {}", axis.name, axis.values[value].label));
            let words: Vec<String> = words.collect();
            if !words.is_empty() {
                error.message = format!("{} (at the point {})", error.message, words.join(", "));
            }
            error
        })
    }

    fn no_two_alike(&self, points: &[Point]) -> Result<(), ConfigError> {
        let mut seen: HashMap<&str, &Point> = HashMap::new();
        for point in points {
            let Some(other) = seen.insert(&point.hash, point) else {
                continue;
            };
            let differ = (0..self.axes.len()).filter(|&axis| point.at[axis] != other.at[axis]);
            let differ: Vec<usize> = differ.collect();
            let [axis] = differ.as_slice() else {
                return Err(ConfigError::new(
                    format!(
                        "{}: the points {} and {} are the same experiment",
                        self.path.display(),
                        other.label(self),
                        point.label(self)
                    ),
                    "leave one of them out with [[exclude]]",
                ));
            };
            let axis = &self.axes[*axis];
            let all = points.iter().all(|any| {
                let at = self.axes.iter().position(|own| own.name == axis.name);
                let mut place = any.at.clone();
                place[at.unwrap_or_default()] = other.at[at.unwrap_or_default()];
                let twin = points.iter().find(|p| p.at == place && p.seed == any.seed);
                twin.is_none_or(|twin| twin.hash == any.hash)
            });
            let message = match all {
                true => format!("the axis `{}` changes nothing", axis.name),
                false => format!(
                    "the points {} and {} are the same experiment",
                    other.label(self),
                    point.label(self)
                ),
            };
            return Err(axis.refuse(
                "values",
                message,
                "remove the axis, or leave points out with [[exclude]]",
            ));
        }
        Ok(())
    }
}
