//! What some points say of a claim: the values measured there, and if they meet its bound.

use crate::job_file::claim::Bound;
use crate::job_file::keys::Along;

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
            Bound::Slope { .. } => [Some(0.0), None],
        }
    }

    /// What is compared with the ends: the measured values, or along a slope the steps from one to
    /// the next, at the place of the second.
    pub(super) fn compared(&self, all: &[Measured]) -> Vec<Measured> {
        let Bound::Slope { axis, values, .. } = self else {
            return all.to_vec();
        };
        let at = |place: &[usize], value: usize| {
            let mut place = place.to_vec();
            place[*axis] = value;
            all.iter().find(|one| one.at == place)
        };
        let step = |to: &Measured| {
            // Places that the slope is not about lie on it nowhere.
            values.iter().find(|&&value| value == to.at[*axis])?;
            let before = values.iter().take_while(|&&value| value != to.at[*axis]);
            let from = before.filter_map(|&value| at(&to.at, value)).last()?;
            Some(Measured {
                value: self.step(from.value, to.value),
                ..to.clone()
            })
        };
        all.iter().filter_map(step).collect()
    }

    /// How far one value lies beyond the least that may follow another along a slope; less than 0
    /// if it goes in the wrong direction. In a range none follows another.
    pub(super) fn step(&self, from: f64, to: f64) -> f64 {
        let Bound::Slope { rising, slack, .. } = self else {
            return 0.0;
        };
        let (from, to) = if *rising { (from, to) } else { (-from, -to) };
        to - (from - slack * from.abs())
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
