//! Points of a study that are the same run until a time.

use std::collections::{BTreeSet, HashMap};
use std::hash::Hash;

use crate::job_file::Study;
use crate::points::Point;
use crate::points::expand::each;
use weir_input::ConfigError;
use weir_model::Time;
use weir_result::experiment_hash;
use weir_simulation::config::Catalog;
use weir_simulation::fork;

/// Groups are not searched among more points: each experiment is read again for each time.
const MOST_POINTS: usize = 4_096;

/// The most times that are examined: the latest.
const MOST_TIMES: usize = 64;

/// Least part of the longest run that is worth a fork: a fiftieth.
const LEAST: Time = 50;

/// Points that are the same run until a time.
#[derive(Clone, Debug, PartialEq)]
pub struct Group {
    /// That time, ps.
    pub at: Time,
    /// The part of their experiments that has an effect before ([`fork::prefix`]).
    pub prefix: String,
    /// Name of its directory: a hash of that.
    pub hash: String,
    /// Their places in the study.
    pub points: Vec<usize>,
}

impl Group {
    /// Simulated time that all but one of the points do not simulate, ps.
    pub fn saved(&self) -> Time {
        let others = self.points.len().saturating_sub(1) as Time;
        self.at.saturating_mul(others)
    }
}

impl Study {
    /// Groups of points that are the same run until a time, the latest possible one. No point is in
    /// two of them.
    ///
    /// # Errors
    /// If an experiment cannot be run.
    pub fn groups(&self, points: &[&Point], catalog: &Catalog) -> Result<Vec<Group>, ConfigError> {
        if points.len() > MOST_POINTS {
            return Ok(Vec::new());
        }
        let mut groups = Vec::new();
        let mut left: Vec<&Point> = points.to_vec();
        for at in self.times(points, catalog)? {
            let written = each(left.len(), &|index| {
                let experiment = self.experiment(left[index], catalog)?;
                Ok(fork::written(&experiment, at))
            })?;
            for alike in alike(&left, written) {
                let prefixes = each(alike.len(), &|index| {
                    let experiment = self.experiment(alike[index], catalog)?;
                    let plan = self.plan(&alike[index].at, &experiment)?;
                    Ok(fork::prefix(&experiment, &plan, at))
                })?;
                let prefixes: HashMap<usize, String> = (alike.iter().zip(prefixes))
                    .filter_map(|(point, prefix)| Some((point.index, prefix?)))
                    .collect();
                let own = |point: &&Point| prefixes.get(&point.index);
                for same in self::alike(&alike, alike.iter().map(own)) {
                    let prefix = prefixes[&same[0].index].clone();
                    groups.push(Group {
                        at,
                        hash: experiment_hash(&prefix),
                        prefix,
                        points: same.iter().map(|point| point.index).collect(),
                    });
                }
            }
            let taken: BTreeSet<usize> =
                groups.iter().flat_map(|one| &one.points).copied().collect();
            left.retain(|point| !taken.contains(&point.index));
        }
        groups.sort_by_key(|group| group.points[0]);
        Ok(groups)
    }

    /// Times until which points may be the same run, the latest first.
    fn times(&self, points: &[&Point], catalog: &Catalog) -> Result<Vec<Time>, ConfigError> {
        let times = each(points.len(), &|index| {
            let experiment = self.experiment(points[index], catalog)?;
            Ok((fork::times(&experiment), experiment.run.end()))
        })?;
        // Unknown for runs to completion.
        let longest = times.iter().map(|(_, end)| *end).max().flatten();
        let all: BTreeSet<Time> = times.into_iter().flat_map(|(times, _)| times).collect();
        let worth = |time: &Time| {
            longest.is_none_or(|end| *time < end && time.saturating_mul(LEAST) >= end)
        };
        Ok(all
            .into_iter()
            .rev()
            .filter(worth)
            .take(MOST_TIMES)
            .collect())
    }
}

/// Points with the same value, where there are several, in their order.
fn alike<'a, T: Eq + Hash>(
    points: &[&'a Point],
    values: impl IntoIterator<Item = Option<T>>,
) -> Vec<Vec<&'a Point>> {
    let mut places: HashMap<T, usize> = HashMap::new();
    let mut alike: Vec<Vec<&Point>> = Vec::new();
    for (point, value) in points.iter().zip(values) {
        let Some(value) = value else { continue };
        let place = *places.entry(value).or_insert(alike.len());
        match alike.get_mut(place) {
            Some(others) => others.push(point),
            None => alike.push(vec![point]),
        }
    }
    alike.retain(|points| points.len() > 1);
    alike
}
