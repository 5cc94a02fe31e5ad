//! Statistics over the seeds of a point.

use weir_study::{Interval, mean_interval};

/// The mean of rows that differ in their seed, and how far they spread. NaN without any.
pub(super) fn mean(values: &[f64], interval: Interval) -> (f64, [f64; 2]) {
    let seen = values.iter().copied().filter(|value| !value.is_nan());
    let seen: Vec<f64> = seen.collect();
    let (mean, confidence) = mean_interval(&seen);
    let spread = match (confidence, interval) {
        (None, _) => [f64::NAN; 2],
        (Some(_), Interval::Range) => [
            seen.iter().copied().fold(f64::INFINITY, f64::min),
            seen.iter().copied().fold(f64::NEG_INFINITY, f64::max),
        ],
        (Some(ends), Interval::Confidence) => ends,
    };
    (mean, spread)
}
