//! What some points say of a claim: the values measured there, and if they meet its bound.

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
pub(super) struct Measured {
    pub(super) at: Vec<usize>,
    pub(super) value: f64,
    /// Before the value in a text: "at least " if it is an end of what it may be, else empty.
    pub(super) words: &'static str,
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
