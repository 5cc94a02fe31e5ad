//! The points that a claim is about: how long they run, and whether they settle.

use super::Count;
use super::evaluation::{Evaluation, taken};
use crate::job_file::claim::Claim;
use crate::job_file::keys::Along;
use crate::metric::Metric;
use std::collections::HashSet;

impl Evaluation<'_> {
    /// The values of a column at all points that a claim is about, those it compares with included.
    fn of_points(&self, claim: &Claim, name: &str) -> Vec<f64> {
        let rows = &self.table.rows;
        let of = |metric: &Metric| metric.name() == name;
        let Some(column) = self.table.metrics.iter().position(of) else {
            return Vec::new();
        };
        let mut places: HashSet<Vec<usize>> = HashSet::new();
        for row in rows.iter().filter(|row| claim.selection.has(&row.at)) {
            places.insert(row.at.clone());
            if let Some(reference) = &claim.reference {
                let mut there = row.at.clone();
                for (axis, value) in &reference.at {
                    there[*axis] = *value;
                }
                places.insert(there);
            }
        }
        let rows = rows.iter().filter(|row| places.contains(&row.at));
        rows.filter_map(|row| row.values[column]).collect()
    }

    /// The shortest and the longest time that they simulate, ns.
    pub(super) fn simulated(&self, claim: &Claim) -> Option<[f64; 2]> {
        let times = self.of_points(claim, "summary.simulated");
        let ends = [Along::Min, Along::Max].map(|take| taken(take, &times));
        (!times.is_empty()).then_some(ends)
    }

    /// How many of them have settled, of those of which that can be told.
    pub(super) fn settled(&self, claim: &Claim) -> Option<Count> {
        let flags = self.of_points(claim, "settled");
        (!flags.is_empty()).then(|| Count {
            held: flags.iter().filter(|flag| **flag == 1.0).count(),
            of: flags.len(),
        })
    }
}
