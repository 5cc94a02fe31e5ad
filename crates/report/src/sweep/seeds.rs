//! Statistics over the seeds of a point.

use weir_study::Interval;

/// The mean of rows that differ in their seed, and how far they spread. NaN without any.
pub(super) fn mean(values: &[f64], interval: Interval) -> (f64, [f64; 2]) {
    let seen = values.iter().copied().filter(|value| !value.is_nan());
    let seen: Vec<f64> = seen.collect();
    let count = seen.len() as f64;
    let mean = seen.iter().sum::<f64>() / count;
    let spread = match (seen.len(), interval) {
        (0 | 1, _) => [f64::NAN; 2],
        (_, Interval::Range) => [
            seen.iter().copied().fold(f64::INFINITY, f64::min),
            seen.iter().copied().fold(f64::NEG_INFINITY, f64::max),
        ],
        (_, Interval::Confidence) => {
            let squares: f64 = seen.iter().map(|value| (value - mean).powi(2)).sum();
            let error = (squares / (count - 1.0) / count).sqrt();
            let half = student(seen.len() - 1) * error;
            [mean - half, mean + half]
        }
    };
    (mean, spread)
}

/// The 97.5% quantile of Student's t distribution with `freedom` degrees of freedom (Abramowitz and
/// Stegun, table 26.10; beyond it their expansion 26.7.5 about the normal quantile, which is right
/// to three digits there).
fn student(freedom: usize) -> f64 {
    const TABLE: [f64; 10] = [
        12.706, 4.303, 3.182, 2.776, 2.571, 2.447, 2.365, 2.306, 2.262, 2.228,
    ];
    const NORMAL: f64 = 1.959964;
    match freedom.checked_sub(1).and_then(|at| TABLE.get(at)) {
        Some(quantile) => *quantile,
        None => {
            let (z, n) = (NORMAL, freedom as f64);
            let first = (z.powi(3) + z) / 4.0;
            let second = (5.0 * z.powi(5) + 16.0 * z.powi(3) + 3.0 * z) / 96.0;
            z + first / n + second / (n * n)
        }
    }
}
