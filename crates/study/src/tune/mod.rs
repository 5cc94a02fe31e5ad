//! `weir tune`: the parameters of a scheme that are searched, and the studies that do it.
//!
//! A search is a series of job files, each with all settings so far: the grid, then the neighbours
//! of the best, ever closer. They are ordinary studies in one directory, so that finished points
//! are not run again. Runs to compare with (an application alone) are a separate study in
//! `references`.

mod parameter;
mod read;
mod search;
mod stage;

use schemars::JsonSchema;
use serde::Deserialize;

use weir_input::Given;
use weir_input::{ConfigError, Elsewhere};
use weir_simulation::Plan;
use weir_simulation::config::{Catalog, Document};

pub use parameter::Parameter;
pub use search::{Search, Setting, best};
pub use stage::{Outcome, same_search};

/// Default number of runs.
const RUNS: u32 = 60;

/// The most runs: each is compared with all before it.
const MOST_RUNS: u32 = 10_000;

/// Share of the runs for the grid, if its fineness is not given.
const GRID_SHARE: f64 = 2.0 / 3.0;

/// The most values of a parameter on a default grid.
const MOST_VALUES: u32 = 9;

/// The key of the scheme's parameters.
const SECTION: &str = "congestion";

/// `[tune]`: the parameters of `[congestion]` that `weir tune` searches, and their ranges.
#[derive(Clone, Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct TuneFile {
    /// The parameters: names, or tables { key, from, to, scale, grid } with a range, "linear" or
    /// "log" steps and the number of values on the grid. Default: the parameters with a declared
    /// range (`weir list`), as far as the runs suffice.
    #[serde(default)]
    pub parameters: Option<Elsewhere>,
    /// Runs at most, including every seed and the references; 10,000 at most.
    #[serde(default = "runs")]
    pub runs: u32,
    /// Values of each parameter on the grid; by default the number for which two thirds of the runs
    /// suffice, at most 9.
    #[serde(default)]
    pub grid: Option<u32>,
    /// The two parameters of the map, that to the right first; by default the first two.
    #[serde(default)]
    pub map: Option<[String; 2]>,
    /// Settings that are run in any case and have their names in the map.
    #[serde(default)]
    pub mark: Option<Vec<MarkedFile>>,
    /// Runs that criteria compare with.
    #[serde(default)]
    pub reference: Option<Vec<ReferenceFile>>,
}

fn runs() -> u32 {
    RUNS
}

/// `[[tune.mark]]`: a setting with a name.
#[derive(Clone, Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct MarkedFile {
    /// Its name.
    pub label: String,
    /// A preset of the scheme that has it.
    #[serde(default)]
    pub preset: Option<String>,
    /// The values: parameter = value. Parameters that neither this nor the preset names are as in
    /// `[congestion]`.
    #[serde(default)]
    pub set: Option<Elsewhere>,
}

/// `[[tune.reference]]`: a run that criteria compare with, by `of = "LABEL"`.
#[derive(Clone, Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct ReferenceFile {
    /// Its name.
    pub label: String,
    /// Values that differ there: keys of the experiment, in quotes.
    pub set: Elsewhere,
}

/// A search that a job file describes, checked.
#[derive(Clone, Debug)]
pub struct Tune {
    /// The title of the study.
    pub title: String,
    /// The scheme.
    pub scheme: String,
    /// The parameters that are searched.
    pub parameters: Vec<Parameter>,
    /// Those of the scheme that could be as well, but the runs are not enough.
    pub left_out: Vec<String>,
    /// Runs at most.
    pub runs: u32,
    /// Values of each parameter on the grid.
    pub grid: Vec<u32>,
    /// Settings that have names.
    pub marks: Vec<(String, Setting)>,
    /// Labels of the references.
    pub references: Vec<String>,
    /// Jobs whose slowdown is a criterion.
    alone: usize,
    /// Seeds of every setting; None: the experiment's own.
    seeds: Option<Vec<u64>>,
    /// Places of the two parameters of the map; None with one parameter only.
    map: Option<[usize; 2]>,
    /// Values that differ in each reference.
    reference_sets: Vec<Given>,
    criteria: Vec<Given>,
    /// The experiment with all defaults, and as text.
    base: Document,
    resolved: String,
}

impl Tune {
    /// The beginning of the search.
    pub fn search(&self) -> Search {
        Search::new(&self.parameters, self.grid.clone(), self.settings())
    }

    /// Runs of each setting: one for each seed, and those of jobs alone that slowdowns are measured
    /// against.
    pub fn runs_of_each(&self) -> usize {
        self.seeds.as_ref().map_or(1, Vec::len) * (1 + self.alone)
    }

    /// The number of settings that there are runs for.
    fn settings(&self) -> usize {
        (self.runs as usize / self.runs_of_each()).saturating_sub(self.references.len())
    }

    /// Reason why a setting cannot be run, if it cannot.
    pub fn refused(&self, setting: &Setting, catalog: &Catalog) -> Option<ConfigError> {
        let run = || {
            let mut document = self.base.clone();
            for (parameter, &value) in self.parameters.iter().zip(setting) {
                let literal = parameter.literal(value);
                document.set(&format!("{SECTION}.{}={literal}", parameter.key))?;
            }
            Plan::new(&document.experiment(catalog)?, None)
        };
        run().err()
    }

    /// A setting in words: `increment = 24 ns, threshold = 0.5`.
    pub fn words(&self, setting: &Setting) -> String {
        let one = |(parameter, &value): (&Parameter, &f64)| {
            format!("{} = {}", parameter.key, parameter.label(value))
        };
        let all: Vec<String> = self.parameters.iter().zip(setting).map(one).collect();
        all.join(", ")
    }
}
