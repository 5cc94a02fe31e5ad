//! Means with their 95% confidence intervals.

/// The mean of some values, and the interval in which the mean lies with 95% confidence (Student's
/// t). Without values the mean is NaN; the interval needs two.
pub fn mean_interval(values: &[f64]) -> (f64, Option<[f64; 2]>) {
    let (mean, error) = mean_and_error(values);
    if values.len() < 2 {
        return (mean, None);
    }
    let half = student(values.len() - 1) * error;
    (mean, Some([mean - half, mean + half]))
}

/// The mean of some values, and its standard error. Without values the mean is NaN, and of fewer
/// than two the error is.
pub(crate) fn mean_and_error(values: &[f64]) -> (f64, f64) {
    let count = values.len() as f64;
    let mean = values.iter().sum::<f64>() / count;
    let squares: f64 = values.iter().map(|value| (value - mean).powi(2)).sum();
    (mean, (squares / (count - 1.0) / count).sqrt())
}

/// The 97.5% quantile of Student's t distribution with `freedom` degrees of freedom (Abramowitz and
/// Stegun, table 26.10, with more digits; beyond it their expansion 26.7.5 about the normal
/// quantile, which is right to four digits there).
pub(crate) fn student(freedom: usize) -> f64 {
    const TABLE: [f64; 10] = [
        12.70620, 4.302653, 3.182446, 2.776445, 2.570582, 2.446912, 2.364624, 2.306004, 2.262157,
        2.228139,
    ];
    const NORMAL: f64 = 1.959964;
    match freedom.checked_sub(1).and_then(|at| TABLE.get(at)) {
        Some(quantile) => *quantile,
        None => {
            let (z, n) = (NORMAL, freedom as f64);
            let first = (z.powi(3) + z) / 4.0;
            let second = (5.0 * z.powi(5) + 16.0 * z.powi(3) + 3.0 * z) / 96.0;
            let third = 3.0 * z.powi(7) + 19.0 * z.powi(5) + 17.0 * z.powi(3) - 15.0 * z;
            z + first / n + second / n.powi(2) + third / 384.0 / n.powi(3)
        }
    }
}
