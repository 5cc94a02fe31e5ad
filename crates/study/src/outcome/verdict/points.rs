//! Points of a claim: their simulated time, and their steady states.

use super::Count;
use super::evaluation::Evaluation;
use super::judgement::taken;
use crate::job_file::claim::Claim;
use crate::job_file::keys::Along;
use crate::metric::SETTLED;
use crate::outcome::table::Row;
use std::collections::HashSet;

impl Evaluation<'_> {
    /// The points that a claim is about, and those it compares with.
    pub(super) fn points(&self, claim: &Claim) -> Vec<&Row> {
        let rows = &self.table.rows;
        let mut places: HashSet<Vec<usize>> = HashSet::new();
        for row in rows.iter().filter(|row| claim.selection.has(&row.at)) {
            places.extend(claim.reference.iter().map(|other| other.place(&row.at)));
            places.insert(row.at.clone());
        }
        let chosen = rows.iter().filter(|row| places.contains(&row.at));
        chosen.collect()
    }

    /// True if some point of these is one that the claim is about.
    pub(super) fn has_points(&self, claim: &Claim) -> bool {
        self.rows.keys().any(|at| claim.selection.has(at))
    }

    /// The shortest and the longest time that points simulate, ns.
    pub(super) fn simulated(&self, points: &[&Row]) -> Option<[f64; 2]> {
        let times = self.values(points, "summary.simulated");
        let ends = [Along::Min, Along::Max].map(|take| taken(take, &times));
        (!times.is_empty()).then_some(ends)
    }

    /// Number of points that have settled, and of those of which that can be told.
    pub(super) fn settled(&self, points: &[&Row]) -> Option<Count> {
        let flags = self.values(points, SETTLED);
        (!flags.is_empty()).then(|| Count {
            held: flags.iter().filter(|flag| **flag == 1.0).count(),
            of: flags.len(),
        })
    }

    /// The known values of a column of the table.
    fn values(&self, points: &[&Row], name: &str) -> Vec<f64> {
        let mut metrics = self.table.metrics.iter();
        let column = metrics.position(|metric| metric.name() == name);
        let value = |row: &&Row| column.and_then(|column| row.values[column]);
        points.iter().filter_map(value).collect()
    }
}
