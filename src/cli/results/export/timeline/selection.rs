//! The part of a run that a timeline shows, and its jobs.

use std::io;

use super::perfetto::Note;
use weir_model::Time;
use weir_result::{ResultFile, TraceError};

/// Picoseconds of the unit of Perfetto's clock.
const NS: Time = 1_000;

/// Time in Perfetto's unit, rounded down: so an order of times stays one.
pub fn ns(time: Time) -> u64 {
    time / NS
}

/// The part of a run that is written.
pub struct Selection<'a> {
    /// Its begin.
    pub from: Time,
    /// Its end.
    pub to: Time,
    /// True if jobs were chosen.
    pub some_jobs: bool,
    /// The chosen jobs.
    pub jobs: &'a [Job],
    /// The chosen routers; all if none is named.
    pub routers: &'a [u32],
}

impl Selection<'_> {
    /// The part of an interval that is written, if there is one.
    pub fn part(&self, begin: Time, end: Time) -> Option<(Time, Time)> {
        let inside = begin < self.to && end > self.from && begin <= end;
        inside.then(|| (begin.max(self.from), end.min(self.to)))
    }

    /// True if a router was chosen.
    pub fn has_router(&self, router: u64) -> bool {
        self.routers.is_empty() || self.routers.iter().any(|&one| u64::from(one) == router)
    }
}

/// Annotations with the exact times of an interval.
pub fn times(begin: Time, end: Time) -> Vec<(&'static str, Note)> {
    vec![
        ("begin_ps", Note::Number(begin)),
        ("end_ps", Note::Number(end)),
    ]
}

/// Contents of a timeline.
#[derive(Debug, Default)]
pub struct Counts {
    /// Messages; None if they were not recorded, as for the next two.
    pub messages: Option<u64>,
    /// Intervals of tasks.
    pub intervals: Option<u64>,
    /// Intervals of links.
    pub links: Option<u64>,
    /// Events of the scheme.
    pub events: u64,
}

/// A problem while a timeline is written.
pub enum Trouble {
    /// The result.
    Read(TraceError),
    /// The file.
    Write(io::Error),
}

impl From<TraceError> for Trouble {
    fn from(error: TraceError) -> Trouble {
        Trouble::Read(error)
    }
}

impl From<io::Error> for Trouble {
    fn from(error: io::Error) -> Trouble {
        Trouble::Write(error)
    }
}

/// A job of the run.
pub struct Job {
    /// Its name.
    pub name: String,
    /// Its index in columns.
    pub index: u64,
    /// Endpoints of its tasks.
    pub endpoints: Vec<u64>,
}

/// The jobs of a run, in their order.
///
/// # Errors
/// If the result is damaged.
pub fn jobs(result: &ResultFile) -> Result<Vec<Job>, TraceError> {
    let mut jobs = Vec::new();
    for name in result.groups("data/jobs")? {
        let group = format!("data/jobs/{name}");
        let index = result.number(&group, "index")?.unwrap_or(0.0) as u64;
        let endpoints = result.column(&group, "endpoint")?.unwrap_or_default();
        jobs.push(Job {
            name,
            index,
            endpoints,
        });
    }
    jobs.sort_by_key(|job| job.index);
    Ok(jobs)
}
