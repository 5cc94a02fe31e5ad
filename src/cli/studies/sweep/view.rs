//! The points of a study that `plan` and `status` examine: all of them, or some of a large study.

use std::collections::{BTreeSet, HashSet};

use super::{Sweep, bad};
use crate::cli::process::failure::Failure;
use weir_study::{Point, PointDir, State, Status};

/// A study of more points than these is not listed from its first point to its last.
pub const LISTED: usize = 2_000;

/// Number of the first and of the last points of such a study that are shown.
pub const ENDS: usize = 10;

/// Number of points, spread evenly, that are examined for the cost of the whole study.
const SPREAD: usize = 256;

/// Points of a study with their states.
pub struct View {
    /// In the order of the study.
    pub points: Vec<Point>,
    /// One for each of them.
    pub states: Vec<State>,
    /// All points of the study. Points that are not here are waiting.
    pub all: usize,
}

impl View {
    /// All points.
    pub fn whole(sweep: &Sweep) -> Result<View, Failure> {
        let points = sweep.points()?;
        Ok(View {
            states: sweep.dir.states(&points),
            all: points.len(),
            points: points.to_vec(),
        })
    }

    /// Part of a large study: the points that were begun, and some that represent the others.
    pub fn part(sweep: &Sweep) -> Result<View, Failure> {
        let rows = sweep.study.rows().map_err(|error| bad(&error))?;
        let sample = sweep.study.sample(LISTED).map_err(|error| bad(&error))?;
        let ends = (0..ENDS.min(rows)).chain(rows.saturating_sub(ENDS)..rows);
        let spread = (0..rows).step_by(rows.div_ceil(SPREAD).max(1));
        let mut places: BTreeSet<usize> = sample.into_iter().chain(ends).chain(spread).collect();
        let begun: Vec<(PointDir, Option<Status>)> = (sweep.dir.begun().into_iter())
            .map(|dir| {
                let status = dir.status();
                (dir, status)
            })
            .collect();
        let hints = begun
            .iter()
            .filter_map(|(_, status)| status.as_ref()?.point);
        places.extend(hints.filter(|place| *place < rows));
        let places: Vec<usize> = places.into_iter().collect();
        let points = sweep.study.some_points(&places, &sweep.catalog);
        let points = points.map_err(|error| bad(&error))?;
        let found: HashSet<&str> = points.iter().map(|point| point.hash.as_str()).collect();
        // A directory without a status in which no process is at work says nothing, whichever point
        // it is of.
        let elsewhere = begun.iter().any(|(dir, status)| {
            let idle = || status.is_none() && dir.state() == State::Waiting;
            !found.contains(dir.hash()) && !idle()
        });
        if elsewhere {
            // The job file was edited: any of its points may be one of those.
            return View::whole(sweep);
        }
        Ok(View {
            states: sweep.dir.states(&points),
            points,
            all: rows,
        })
    }

    /// The number of points in a state.
    pub fn count(&self, name: &str) -> usize {
        let here = self.states.iter().filter(|state| state.name() == name);
        match name == State::Waiting.name() {
            true => here.count() + self.all - self.points.len(),
            false => here.count(),
        }
    }

    /// Points with their states.
    pub fn iter(&self) -> impl Iterator<Item = (&Point, &State)> {
        self.points.iter().zip(&self.states)
    }
}
