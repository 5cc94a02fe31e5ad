//! A number of a result, by its name: `summary.accepted_load`, `latency.message.p99`,
//! `series.job.hot.delivered_bytes.sum @ 10 us..30 us`.
//!
//! A name is the path in `/data` with dots, without the `_ps` of times, which become ns.

mod kept;
pub(super) mod names;
pub mod pattern;
mod read;
mod settled;
mod slowdown;

use kept::Kept;
pub(super) use names::SETTLED;
pub use slowdown::{Ran, Slowdown};
use weir_input::Duration;
use weir_model::Time;
use weir_result::Whose;

/// A number of a result.
#[derive(Clone, Debug, PartialEq)]
pub struct Metric {
    name: String,
    what: What,
    window: Option<(Time, Time)>,
}

#[derive(Clone, Debug, PartialEq)]
enum What {
    /// An attribute of `/data/<group>`, and its unit.
    Attribute {
        group: String,
        attribute: String,
        unit: &'static str,
    },
    /// The same of several jobs as one number.
    Jobs {
        pattern: String,
        attribute: String,
        how: How,
        unit: &'static str,
    },
    /// The communication times of a job's tasks as one number.
    Tasks { group: String, how: How },
    /// An iteration of a job, or of several.
    Iteration {
        pattern: String,
        number: u64,
        moment: Moment,
        how: How,
    },
    /// A number of a phase of a job.
    Phase {
        job: String,
        phase: u64,
        column: &'static str,
        unit: &'static str,
    },
    /// A column of `/data/series` as one number, perhaps over the number of tasks of a job.
    Series {
        column: String,
        per_task: Option<String>,
        how: How,
        unit: &'static str,
    },
    /// Fairness of what endpoints received: Jain's index of their sums.
    Fairness { column: String },
    /// Part of a throughput kept in the window, or the time when it is back.
    Kept { column: String, kept: Kept },
    /// 1 if the run, or a job of it, has come to its steady state.
    Settled { job: Option<String> },
    /// A job against itself alone.
    Slowdown(Slowdown),
    /// Made of other columns of the table: the score of a study, or one of its criteria.
    Derived { unit: String },
    /// A sum of latencies over a count: the mean latency in each bin.
    Mean {
        sum: String,
        count: String,
        how: How,
    },
    /// A share of the time of all ports of a kind.
    Share { kind: String, column: &'static str },
    /// The share of the ports of a kind that did something for more than this percentage of the
    /// time.
    Beyond {
        kind: String,
        column: &'static str,
        percent: u32,
    },
    /// Content of the routers, as one number.
    Occupancy { held: Held },
    /// A column of `/data/ports` over all ports of a kind.
    Ports {
        kind: String,
        column: &'static str,
        how: How,
        unit: &'static str,
    },
    /// The share of the ejection channels' time that a traffic class takes.
    Ejection { class: String },
    /// The allowed rate of an endpoint or task as one number, or the time when it was below a
    /// share.
    Rates { whose: Whose, stat: RateStat },
    /// A counter of the scheme, or a column of one of its records as one number.
    Scheme { name: String },
}

impl What {
    /// True if it can be limited to a window of time.
    fn has_window(&self) -> bool {
        match self {
            What::Slowdown(slowdown) => slowdown.what().is_some_and(What::has_window),
            What::Series { .. }
            | What::Kept { .. }
            | What::Settled { .. }
            | What::Fairness { .. }
            | What::Mean { .. }
            | What::Ejection { .. }
            | What::Occupancy { .. }
            | What::Rates { .. } => true,
            _ => false,
        }
    }
}

/// One number of many.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum How {
    Max,
    Min,
    Mean,
    First,
    Last,
    Sum,
    /// The standard deviation over the mean: how much a throughput oscillates.
    Variation,
}

/// Moment of an iteration.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Moment {
    /// Time when the first task began it.
    Begin,
    /// Time when the last task ended it.
    End,
    /// From one to the other.
    Time,
}

/// Statistic of the samples of all routers.
#[derive(Clone, Copy, Debug, PartialEq)]
enum Held {
    /// One number of them.
    One(How),
    /// The value that this share of them does not exceed.
    Quantile(f64),
}

/// Statistic of rates over time.
#[derive(Clone, Copy, Debug, PartialEq)]
enum RateStat {
    /// One of them.
    One(How),
    /// The first time at which it was below this percentage of the link.
    FirstBelow(u32),
    /// The last such time.
    LastBelow(u32),
}

const HOWS: [(&str, How); 7] = [
    ("max", How::Max),
    ("min", How::Min),
    ("mean", How::Mean),
    ("first", How::First),
    ("last", How::Last),
    ("sum", How::Sum),
    ("variation", How::Variation),
];

/// Reduction of a column of a record of the scheme to one number: `grants.wait_ps.mean` is the mean
/// of the column `wait_ps` of the record `grants`. None if the name is not of that form.
pub(super) fn of_record(name: &str) -> Option<(How, &str, &str)> {
    let (column, how) = name.rsplit_once('.')?;
    let (record, column) = column.split_once('.')?;
    let (_, how) = HOWS.iter().find(|(own, _)| *own == how)?;
    Some((*how, column, record))
}

/// Reason why a name is no metric: the problem and the remedy.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct NotAMetric {
    /// The problem.
    pub message: String,
    /// The remedy.
    pub remedy: String,
}

impl Metric {
    /// The metric called `text`. `jobs` are the names of the workloads that there may be.
    ///
    /// # Errors
    /// If there is no such metric.
    pub fn parse(text: &str, jobs: &[String]) -> Result<Metric, NotAMetric> {
        let (name, window) = match text.split_once('@') {
            Some((name, window)) => (name.trim(), Some(window.trim())),
            None => (text.trim(), None),
        };
        let what = names::what(name, jobs)?;
        let window = window.map(|window| read_window(name, window)).transpose()?;
        if let What::Kept { .. } = &what {
            Kept::check(name, window)?;
        }
        if window.is_some() && !what.has_window() {
            return Err(NotAMetric {
                message: format!("{name:?} is one number for the whole run"),
                remedy: "leave out the window after `@`: only `series`, `ejection`, `occupancy`, \
                         `rates` and `settled` have one"
                    .into(),
            });
        }
        let name = match window {
            Some((from, to)) => format!("{name} @ {}..{}", Duration(from), Duration(to)),
            None => name.to_string(),
        };
        Ok(Metric { name, what, window })
    }

    /// A column that is made of others.
    pub(super) fn derived(name: String, unit: &str) -> Metric {
        let unit = unit.to_string();
        Metric {
            name,
            what: What::Derived { unit },
            window: None,
        }
    }

    /// True if it is made of other columns of the table.
    pub(super) fn is_derived(&self) -> bool {
        matches!(self.what, What::Derived { .. })
    }

    /// Its name in the one form that it has in tables.
    pub fn name(&self) -> &str {
        &self.name
    }

    /// Time of a run that it examines: from and up to, ps.
    pub(super) fn window(&self) -> (Time, Time) {
        self.window.unwrap_or((0, Time::MAX))
    }

    /// Its unit: `"ns"`, `"B"`, `"flits"`; empty for counts and fractions.
    pub fn unit(&self) -> &str {
        match &self.what {
            What::Series {
                how: How::Variation,
                ..
            } => "",
            What::Attribute { unit, .. }
            | What::Jobs { unit, .. }
            | What::Series { unit, .. }
            | What::Phase { unit, .. }
            | What::Ports { unit, .. } => unit,
            What::Kept { kept, .. } => kept.unit(),
            What::Derived { unit } => unit,
            What::Mean { .. } | What::Iteration { .. } | What::Tasks { .. } => "ns",
            What::Occupancy { .. } => "B",
            What::Rates { stat, .. } => match stat {
                RateStat::One(_) => "",
                RateStat::FirstBelow(_) | RateStat::LastBelow(_) => "ns",
            },
            What::Share { .. }
            | What::Slowdown(_)
            | What::Beyond { .. }
            | What::Ejection { .. }
            | What::Fairness { .. }
            | What::Settled { .. }
            | What::Scheme { .. } => "",
        }
    }

    /// Its name and unit as the header of a column: `latency.message.mean [ns]`.
    pub fn header(&self) -> String {
        match self.unit() {
            "" => self.name.clone(),
            unit => format!("{} [{unit}]", self.name),
        }
    }
}

fn read_window(name: &str, text: &str) -> Result<(Time, Time), NotAMetric> {
    let bad = |message: String| NotAMetric {
        message,
        remedy: format!("write two times, as in \"{name} @ 10 us..30 us\""),
    };
    let parts = text.split_once("..");
    let (from, to) = parts.ok_or_else(|| bad(format!("{text:?} is no window of time")))?;
    let time = |text: &str| {
        let time = text.trim().parse::<Duration>();
        time.map_err(|error| bad(error.to_string()))
    };
    let (from, to) = (time(from)?.0, time(to)?.0);
    if to <= from {
        return Err(bad(format!("the window {text} is empty")));
    }
    Ok((from, to))
}
