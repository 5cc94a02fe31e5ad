//! Content of a comparison, for text, JSON and pages.

use super::bounds::Bounds;

/// Two or more runs, or two or more sweeps, compared with the first of them.
#[derive(Clone, Debug, Default)]
pub struct Comparison {
    /// True of sweeps, false of runs.
    pub of_sweeps: bool,
    /// The first one is the baseline.
    pub inputs: Vec<Compared>,
    /// Facts that a reader must know before the numbers.
    pub remarks: Vec<String>,
    /// Keys of the experiments that differ.
    pub keys: Vec<KeyChange>,
    /// Number of keys that are the same.
    pub same_keys: usize,
    /// All numbers, equal ones included.
    pub numbers: Vec<NumberChange>,
    /// Notes of runs that not all have.
    pub notes: Vec<NoteChange>,
    /// Points of sweeps without a partner.
    pub alone: Vec<PointAlone>,
    /// Results that were compared bit by bit.
    pub identical: Vec<Identical>,
}

/// A run or a sweep that is compared.
#[derive(Clone, Debug, Default)]
pub struct Compared {
    /// `A`, `B`, …
    pub letter: String,
    /// Its path as it was given.
    pub path: String,
    /// The resolved experiment; of a sweep that of its first compared point.
    pub experiment: String,
    /// Its content in a few words.
    pub about: String,
}

/// A key of the experiments with its values.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct KeyChange {
    /// The key as `--set` takes it.
    pub key: String,
    /// One for each input; None if the experiment has no such key.
    pub values: Vec<Option<String>>,
}

/// A number with its values and differences.
#[derive(Clone, Debug)]
pub struct NumberChange {
    /// The name of the metric: `latency.message.p99`.
    pub metric: String,
    /// Its unit; empty for counts and fractions.
    pub unit: String,
    /// The point of a sweep: names of axes and labels; empty for runs.
    pub point: Vec<(String, String)>,
    /// Places of the inputs that it is of, the baseline first.
    pub inputs: Vec<usize>,
    /// One for each of them; None if that result does not have it. Of a sweep the mean over the
    /// seeds that are paired.
    pub values: Vec<Option<Bounds>>,
    /// Samples of the latency that are missing in each, which a sweep's numbers leave out.
    pub missing: Vec<f64>,
    /// Differences to the baseline, one for each of the other inputs.
    pub changes: Vec<Option<Change>>,
    /// True if a short table shows it; of a sweep, if the study asks for the metric.
    pub asked: bool,
    /// True if it is the same in all inputs; of a sweep, for every seed.
    pub same: bool,
}

/// A difference to the baseline.
#[derive(Clone, Copy, Debug)]
pub struct Change {
    /// The value less that of the baseline.
    pub absolute: Bounds,
    /// As a share of the baseline's value; None if there is no such share.
    pub relative: Option<Bounds>,
    /// Pairs of runs with equal seeds; 1 for runs.
    pub pairs: usize,
    /// The 95% confidence interval of the mean difference; None of a single pair.
    pub interval: Option<[f64; 2]>,
}

impl Change {
    /// True if the confidence interval excludes zero.
    pub fn is_marked(&self) -> bool {
        let beyond = |[low, high]: [f64; 2]| low > 0.0 || high < 0.0;
        self.interval.is_some_and(beyond)
    }
}

/// A note that not all runs have.
#[derive(Clone, Debug)]
pub struct NoteChange {
    /// Places of the inputs that have it.
    pub inputs: Vec<usize>,
    /// Kind of note, for programs.
    pub kind: String,
    /// The note.
    pub text: String,
}

/// A point that only one of two sweeps has.
#[derive(Clone, Debug)]
pub struct PointAlone {
    /// Place of the input that has it.
    pub input: usize,
    /// Place of the input that lacks it.
    pub other: usize,
    /// Names of axes and labels.
    pub point: Vec<(String, String)>,
}

/// Results of the baseline and of another input that were compared bit by bit.
#[derive(Clone, Copy, Debug)]
pub struct Identical {
    /// Place of the other input.
    pub input: usize,
    /// Results that are the same under `/data`.
    pub same: usize,
    /// Results in all.
    pub all: usize,
}

/// The letter of an input by its place.
pub(super) fn letter(place: usize) -> String {
    char::from(b'A' + place as u8).to_string()
}
