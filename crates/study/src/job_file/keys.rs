//! Keys that a job file has besides the sections of an experiment, as they are written.

use schemars::JsonSchema;
use schemars::generate::SchemaSettings;
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value as Json, json};

use super::bound::BoundFile;
use crate::tune::TuneFile;
use weir_input::registry::range::ScaleKind;
use weir_input::{Duration, Elsewhere};

/// Changes to a job file from the command line.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Options {
    /// Values of `--set`.
    #[serde(default)]
    pub sets: Vec<String>,
    /// `--reduced`.
    #[serde(default)]
    pub reduced: bool,
    /// `--fork-at`: the time from which axes take effect that name none.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub fork_at: Option<String>,
}

/// `[[axis]]`: a difference between points. The points are all combinations of the values of all
/// axes; the last axis changes fastest.
#[derive(Clone, Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct AxisFile {
    /// Its name in tables, figures and claims: letters, digits, `_` and `-`.
    pub name: String,
    /// Its name in figures; the name by default.
    #[serde(default)]
    pub label: Option<String>,
    /// The key of the experiment that it changes, as for `--set`.
    #[serde(default)]
    pub key: Option<String>,
    /// Several keys that change together. A value is a list with a value for each, or one value for
    /// all of them.
    #[serde(default)]
    pub keys: Option<Vec<String>>,
    /// A list of values; or { from, to, step } or { from, to, count } for evenly spaced numbers,
    /// ends included. Without `key` and `keys` a value is a table: a `label`, and the values it
    /// sets, with keys in quotes.
    #[expect(dead_code, reason = "read with its place")]
    pub values: Elsewhere,
    /// Simulated time from which its values hold. Until then the run is that of the file without
    /// this axis, and simulated once for all its values. See `[fork]`.
    #[serde(default)]
    pub fork_at: Option<Duration>,
    /// Names of the values in `table.csv`, legends and bars; by default the values themselves.
    /// Numbers stay numbers along the axis of a figure, in `table.h5` and in Python.
    #[serde(default)]
    pub labels: Option<Vec<String>>,
}

/// Evenly spaced numbers.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct RangeFile {
    pub from: f64,
    pub to: f64,
    #[serde(default)]
    pub step: Option<f64>,
    #[serde(default)]
    pub count: Option<u32>,
}

/// Rule by which points of one place on all axes that differ in their seed become one number.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Deserialize, Serialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum SeedsBy {
    /// Their mean.
    #[default]
    Mean,
    /// The smallest.
    Min,
    /// The largest.
    Max,
}

/// Size of a study that a claim is about.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize, Serialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Scale {
    /// The study as it stands.
    Paper,
    /// The study with `[reduced]` applied (`--reduced`).
    Reduced,
}

impl Scale {
    /// Its name in the job file.
    pub fn name(self) -> &'static str {
        match self {
            Scale::Paper => "paper",
            Scale::Reduced => "reduced",
        }
    }
}

/// `[[criterion]]`: a measure by which points are ranked. The table gets a column for each, and one
/// with their score: the weighted mean of their grades. The grade is 1 at `best` or better, 0 at
/// `worst` or worse, and in proportion between.
#[derive(Clone, Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct CriterionFile {
    /// Its name; its column is `criterion.NAME`.
    pub name: String,
    /// Metric that is measured.
    pub metric: String,
    /// Divide by this: another metric, a number, or a text with a unit; of a tuned experiment also
    /// the label of a `[[tune.reference]]`, for the same metric there.
    #[serde(default)]
    pub of: Option<BoundFile>,
    /// Better direction; needed unless `best` and `worst` are both given.
    #[serde(default)]
    pub goal: Option<Goal>,
    /// Value with the full grade; by default the best value of any point.
    #[serde(default)]
    pub best: Option<BoundFile>,
    /// Value with grade 0; by default the worst value of any point, but at least a quarter worse
    /// than the best.
    #[serde(default)]
    pub worst: Option<BoundFile>,
    /// Its weight in the score, more than 0.
    #[serde(default = "one")]
    pub weight: f64,
}

fn one() -> f64 {
    1.0
}

/// Better direction.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize, Serialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Goal {
    /// More.
    Max,
    /// Less.
    Min,
}

/// A point that a map shows by its name.
#[derive(Clone, Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct MarkFile {
    /// Its name.
    pub label: String,
    /// Its place: axis = value, for the two axes of the map.
    #[expect(dead_code, reason = "read with its place")]
    pub at: Elsewhere,
}

/// Kind of a figure.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize, Serialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum FigureKind {
    /// A curve per series over `x`.
    Line,
    /// Bars side by side.
    Bar,
    /// Boxes over the seeds of each point: quartiles, median, least and largest, and each seed as a
    /// dot.
    Box,
    /// Bars on top of one another, one part per metric of `y`.
    Stacked,
    /// A column of `/data/series` over simulated time, each bin a mean over the seeds. A run whose
    /// jobs are all over counts with 0 after its end; latencies are those of the others.
    Time,
    /// The distribution of a latency class.
    Distribution,
    /// Busy, stalled and idle shares of ports in a triangle.
    Ternary,
    /// A matrix, as of `/data/occupancy`.
    Heatmap,
    /// Metrics as colours over two axes of numbers, `x` and `up`: a panel for each metric.
    /// Places that were not run have the colour of the nearest point that was. If other axes differ
    /// as well, the point with the best score is shown.
    Map,
}

/// Meaning of whiskers and bands over several seeds.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Deserialize, Serialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Interval {
    /// From the least to the largest.
    #[default]
    Range,
    /// Range of the mean with 95% confidence (Student's t).
    Confidence,
}

/// One name, or several.
#[derive(Clone, Debug, Deserialize, JsonSchema)]
#[serde(
    untagged,
    expecting = "expected a name or a list of names; write \"…\" or [\"…\", \"…\"]"
)]
pub enum Names {
    /// One.
    One(String),
    /// Several.
    Several(Vec<String>),
}

/// `[[figure]]`: a figure of `weir report`.
#[derive(Clone, Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct FigureFile {
    /// Its name, and that of its files: letters, digits, `_`, `-` and `.`. Unique.
    pub id: String,
    /// Above the figure.
    #[serde(default)]
    pub title: Option<String>,
    /// Kind of figure.
    pub kind: FigureKind,
    /// The axis or the metric that lies along the bottom, of bars on the left; of bars also
    /// "metrics": those of each metric of `y` together.
    #[serde(default)]
    pub x: Option<String>,
    /// The metric, or several.
    pub y: Names,
    /// The axis that lies upwards in a map.
    #[serde(default)]
    pub up: Option<String>,
    /// For a map: points that are shown by their names, { label, at = { axis = value, … } }.
    #[serde(default)]
    pub marks: Option<Vec<MarkFile>>,
    /// The axis whose values are curves or colours.
    #[serde(default)]
    pub series: Option<String>,
    /// The axis whose values are panels side by side.
    #[serde(default)]
    pub panel: Option<String>,
    /// Points: axis = value or a list of values.
    #[serde(default, rename = "where")]
    #[expect(dead_code, reason = "read with its place")]
    pub points: Option<Elsewhere>,
    /// Divide each value of `y` by the same of other points, or by another metric, seed by seed.
    #[serde(default)]
    pub ratio: Option<ReferenceFile>,
    /// Whiskers and bands if points have several seeds.
    #[serde(default)]
    pub interval: Interval,
    /// Scale of the horizontal axis.
    #[serde(default)]
    pub x_scale: ScaleKind,
    /// Scale of the vertical axis.
    #[serde(default)]
    pub y_scale: ScaleKind,
    /// Below the horizontal axis.
    #[serde(default)]
    pub x_label: Option<String>,
    /// Beside the vertical axis.
    #[serde(default)]
    pub y_label: Option<String>,
    /// From and to: times (`"50 us"`), or numbers in the unit of `x`.
    #[serde(default)]
    pub x_range: Option<[BoundFile; 2]>,
    /// From and to: times (`"50 us"`), or numbers in the unit of `y`.
    #[serde(default)]
    pub y_range: Option<[BoundFile; 2]>,
    /// Below the figure.
    #[serde(default)]
    pub caption: Option<String>,
}

/// `[[claims]]`: a statement that is checked against the table.
#[derive(Clone, Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct ClaimFile {
    /// Its name. Unique.
    pub id: String,
    /// The claim in words, as the source has them.
    pub says: String,
    /// Metric that is measured.
    pub metric: String,
    /// Points: axis = value or a list of values. Axes that are left out: every value.
    #[serde(default, rename = "where")]
    #[expect(dead_code, reason = "read with its place")]
    pub points: Option<Elsewhere>,
    /// Scale at which it is checked; both by default.
    #[serde(default)]
    pub scale: Option<Scale>,
    /// Reduction of several seeds to one number.
    #[serde(default)]
    pub seeds: SeedsBy,
    /// The axis along which `take` or `first` makes one number of many.
    #[serde(default)]
    pub along: Option<String>,
    /// The number to take along that axis.
    #[serde(default)]
    pub take: Option<Along>,
    /// The place on that axis where this first holds.
    #[serde(default)]
    pub first: Option<FirstFile>,
    /// Divide by the same of other points, or of another metric.
    #[serde(default)]
    pub ratio: Option<ReferenceFile>,
    /// Subtract the same of other points, or of another metric.
    #[serde(default)]
    pub difference: Option<ReferenceFile>,
    /// Not less than this.
    #[serde(default)]
    pub min: Option<BoundFile>,
    /// Not more than this.
    #[serde(default)]
    pub max: Option<BoundFile>,
    /// With `ratio`: between 1 - within and 1 + within.
    #[serde(default)]
    pub within: Option<f64>,
    /// Values of an axis in the order in which the measure rises.
    #[serde(default)]
    pub order: Option<OrderFile>,
    /// The measure rises, or falls, along an axis.
    #[serde(default)]
    pub monotone: Option<MonotoneFile>,
}

/// Choice of a number along an axis.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize, Serialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Along {
    /// The largest.
    Max,
    /// The smallest.
    Min,
    /// The mean.
    Mean,
    /// The sum.
    Sum,
    /// The number of the first value of the axis.
    First,
    /// The number of the last value of the axis.
    Last,
}

/// A condition on the metric, for the place where it first holds.
#[derive(Clone, Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct FirstFile {
    /// The metric is more than this, or more than this times `of`.
    #[serde(default)]
    pub above: Option<BoundFile>,
    /// The metric is less than this, or less than this times `of`.
    #[serde(default)]
    pub below: Option<BoundFile>,
    /// Another metric at the same point, or "start": the metric at the smallest value of the axis.
    #[serde(default)]
    pub of: Option<String>,
}

/// Reference to compare with.
#[derive(Clone, Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct ReferenceFile {
    /// Another metric; the same by default.
    #[serde(default)]
    pub metric: Option<String>,
    /// The same point except for these axes: axis = value.
    #[serde(default, rename = "where")]
    #[expect(dead_code, reason = "read with its place")]
    pub points: Option<Elsewhere>,
}

/// Values of an axis in rising order of the measure.
#[derive(Clone, Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct OrderFile {
    /// The axis.
    pub axis: String,
    /// Its values, that of the smallest measure first.
    #[expect(dead_code, reason = "read with its place")]
    pub values: Elsewhere,
    /// A step may go in the wrong direction by this fraction.
    #[serde(default)]
    pub slack: f64,
}

/// Rising or falling along an axis.
#[derive(Clone, Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct MonotoneFile {
    /// The axis.
    pub axis: String,
    /// The direction.
    pub direction: Slope,
    /// A step may go in the wrong direction by this fraction.
    #[serde(default)]
    pub slack: f64,
}

/// Direction of a measure.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize, Serialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Slope {
    /// It never falls.
    Rising,
    /// It never rises.
    Falling,
}

/// `[reduced]`: a smaller study of the same shape, for `--reduced`.
#[derive(Clone, Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct ReducedFile {
    /// Keys of the experiment, in quotes, and their values, as for `--set`.
    #[serde(default)]
    #[expect(dead_code, reason = "read with its place")]
    pub set: Option<Elsewhere>,
    /// The values of an axis that are kept: axis = [ … ].
    #[serde(default)]
    #[expect(dead_code, reason = "read with its place")]
    pub axis: Option<Elsewhere>,
    /// Keys of `[tune]` and their values.
    #[serde(default)]
    #[expect(dead_code, reason = "read with its place")]
    pub tune: Option<Elsewhere>,
    /// Instead of the study's seeds.
    #[serde(default)]
    #[expect(dead_code, reason = "read with its place")]
    pub seeds: Option<Elsewhere>,
}

/// The JSON Schemas of the additional keys of a job file, by key, and their `$defs`.
pub fn schemas() -> (Map<String, Json>, Map<String, Json>) {
    let mut generator = SchemaSettings::draft2020_12().into_generator();
    let mut sections = Map::new();
    let axis = generator.subschema_for::<AxisFile>().to_value();
    let figure = generator.subschema_for::<FigureFile>().to_value();
    let claim = generator.subschema_for::<ClaimFile>().to_value();
    let criterion = generator.subschema_for::<CriterionFile>().to_value();
    let tune = generator.subschema_for::<TuneFile>().to_value();
    let reduced = generator.subschema_for::<ReducedFile>().to_value();
    let list = |items: Json| json!({ "type": "array", "items": items });
    sections.insert(
        "title".into(),
        json!({ "type": "string", "description": "What the study is called; the name of its file \
                                                  by default." }),
    );
    sections.insert(
        "seeds".into(),
        json!({
            "type": ["integer", "array"],
            "items": { "type": "integer" },
            "description": "How many seeds every combination is run with, from `run.seed` on; or a \
                            list of seeds.",
        }),
    );
    sections.insert("axis".into(), list(axis));
    let excluded = "Combinations that are left out: axis = value, or a list of values.";
    sections.insert(
        "exclude".into(),
        list(json!({ "type": "object", "description": excluded })),
    );
    let only =
        "Combinations that are run: axis = value, or a list of values; all others are left out.";
    sections.insert(
        "only".into(),
        list(json!({ "type": "object", "description": only })),
    );
    let more = "Metrics that the table is to have besides those of figures, claims and criteria; a \
                `*` in a job's name stands for each that it fits.";
    sections.insert(
        "metrics".into(),
        json!({ "type": "array", "items": { "type": "string" }, "description": more }),
    );
    sections.insert("criterion".into(), list(criterion));
    sections.insert("tune".into(), tune);
    sections.insert("figure".into(), list(figure));
    sections.insert("claims".into(), list(claim));
    sections.insert("reduced".into(), reduced);
    (sections, generator.take_definitions(true))
}
