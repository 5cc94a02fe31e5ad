//! What some points say of a claim: the values measured there, and if they meet its bound.

use std::collections::BTreeMap;

use crate::job_file::claim::Bound;
use crate::job_file::keys::Along;
use crate::job_file::trend::Trend;

/// Verdict on a claim over some seeds.
pub(super) struct Judgement {
    /// Measured values in words, or the reason why there are none.
    pub(super) measured: String,
    pub(super) holds: Option<bool>,
    /// Measured values; empty if one is missing.
    pub(super) all: Vec<Measured>,
}

impl Judgement {
    /// Measured value, if it is one number.
    pub(super) fn value(&self) -> Option<f64> {
        match self.all[..] {
            [
                Measured {
                    value, words: "", ..
                },
            ] => Some(value),
            _ => None,
        }
    }
}

/// Points at one place on all axes except perhaps one, and the value measured there.
#[derive(Clone)]
pub(super) struct Measured {
    pub(super) at: Vec<usize>,
    pub(super) value: f64,
    /// Before the value in a text: "at least " if it is an end of what it may be, else empty.
    pub(super) words: &'static str,
}

impl Bound {
    /// The least and the greatest good value of what is [compared](Bound::compared).
    pub(super) fn ends(&self) -> [Option<f64>; 2] {
        match self {
            Bound::Range { min, max } => [*min, *max],
            Bound::Trend(_) => [Some(0.0), None],
        }
    }

    /// The values that are compared with the ends: those measured, or the steps of a trend from one
    /// to the next, at the place of the second.
    pub(super) fn compared(&self, all: &[Measured]) -> Vec<Measured> {
        let Bound::Trend(trend) = self else {
            return all.to_vec();
        };
        let step = |pair: &[&Measured]| Measured {
            value: trend.step(pair[0], pair[1]),
            ..pair[1].clone()
        };
        let rows = trend.rows(all).into_values();
        rows.flat_map(|row| row.windows(2).map(step).collect::<Vec<_>>())
            .collect()
    }
}

impl Trend {
    /// The measured values in the order of the trend, by their places on the other axes (with 0 on
    /// its own).
    pub(super) fn rows<'a>(&self, all: &'a [Measured]) -> BTreeMap<Vec<usize>, Vec<&'a Measured>> {
        let mut rows: BTreeMap<Vec<usize>, Vec<&Measured>> = BTreeMap::new();
        for one in all {
            let mut rest = one.at.clone();
            rest[self.axis] = 0;
            rows.entry(rest).or_default().push(one);
        }
        for row in rows.values_mut() {
            let at = |value: &usize| row.iter().find(|one| one.at[self.axis] == *value);
            *row = self.values.iter().filter_map(at).copied().collect();
        }
        rows
    }

    /// Distance of one value from the least that may follow another; less than 0 if it goes in the
    /// wrong direction.
    pub(super) fn step(&self, from: &Measured, to: &Measured) -> f64 {
        let sign = if self.rising { 1.0 } else { -1.0 };
        let (from, to) = (sign * from.value, sign * to.value);
        to - (from - self.slack * from.abs())
    }
}

/// One number of some; there is at least one.
pub(super) fn taken(take: Along, values: &[f64]) -> f64 {
    let sum = || values.iter().sum::<f64>();
    match take {
        Along::Max => values.iter().copied().fold(f64::NEG_INFINITY, f64::max),
        Along::Min => values.iter().copied().fold(f64::INFINITY, f64::min),
        Along::Sum => sum(),
        Along::Mean => sum() / values.len() as f64,
        Along::First => values[0],
        Along::Last => values[values.len() - 1],
    }
}
