//! Steady state: the metric `settled`.
//!
//! Payload that came in during the last third of the bins is compared with the third before it, as
//! two samples of bins: settled is a run in which the two means differ by less than the 95%
//! confidence interval of their difference (Student's t). Bins that depend on each other make the
//! interval too narrow, so a run can be settled that is said not to be. Few bins make it wide, so a
//! slow rise is overlooked.

use super::Metric;
use crate::statistics::{mean_and_error, student};
use weir_model::Time;
use weir_result::{ResultFile, TraceError};

/// Bins of a third that can be compared at least.
const LEAST: usize = 3;

impl Metric {
    /// 1 if the payload that came in for a job, or for all jobs that were not over when the run
    /// ended, has settled, 0 if not. None if there is no such job, nothing came in, or there are
    /// too few bins.
    pub(super) fn settled(
        &self,
        result: &ResultFile,
        job: Option<&str>,
    ) -> Result<Option<f64>, TraceError> {
        let mut sums: Vec<f64> = Vec::new();
        for own in result.groups("data/jobs")? {
            let chosen = match job {
                Some(job) => job == own,
                None => !result.job_is_over(&format!("data/jobs/{own}"))?,
            };
            let rows = result.series(&format!("job.{own}.delivered_bytes"))?;
            let Some(rows) = rows.filter(|_| chosen) else {
                continue;
            };
            sums.resize(rows.len(), 0.0);
            for (sum, bytes) in sums.iter_mut().zip(rows) {
                *sum += bytes as f64;
            }
        }
        let times = result.column("data/series", "time_ps")?.unwrap_or_default();
        let bin = result.number("data/series", "bin_ps")?.unwrap_or_default() as Time;
        let simulated = result.number("data/summary", "simulated_ps")?;
        let end = simulated.unwrap_or_default() as Time;
        let (from, to) = self.window.unwrap_or((0, end));
        let whole = |time: Time| time >= from && time.saturating_add(bin) <= to.min(end);
        let bins = times.iter().zip(sums).filter(|(time, _)| whole(**time));
        let bins: Vec<f64> = bins.map(|(_, sum)| sum).collect();
        Ok(agree(&bins).map(f64::from))
    }
}

/// True if the last third of some bins agrees with the third before it.
fn agree(bins: &[f64]) -> Option<bool> {
    let third = bins.len() / 3;
    if third < LEAST {
        return None;
    }
    let (before, last) = bins[bins.len() - 2 * third..].split_at(third);
    if before.iter().chain(last).sum::<f64>() == 0.0 {
        return None;
    }
    let [(earlier, first), (later, second)] = [before, last].map(mean_and_error);
    let interval = student(2 * third - 2) * first.hypot(second);
    Some((later - earlier).abs() <= interval)
}

#[cfg(test)]
mod tests {
    use super::agree;

    #[test]
    fn the_last_third_is_compared_with_the_third_before_it() {
        // The first third is not looked at; the means are 10 and 10.25.
        let level = [
            0.0, 1.0, 5.0, 7.0, 9.0, 11.0, 10.0, 10.0, 10.0, 10.0, 11.0, 10.0,
        ];
        assert_eq!(agree(&level), Some(true));
        // From 10 to 11 with the same spread: 2.447 sqrt(2 × 2/3/4) = 1.41 is more than 1, with a
        // spread of a tenth of that it is less.
        let spread = |by: f64| {
            [[10.0; 4], [10.0; 4], [11.0; 4]]
                .concat()
                .into_iter()
                .zip([-by, by].into_iter().cycle())
        };
        let bins = |by: f64| spread(by).map(|(bin, off)| bin + off).collect::<Vec<f64>>();
        assert_eq!(agree(&bins(1.0)), Some(true));
        assert_eq!(agree(&bins(0.1)), Some(false));
        // Constant and rising.
        assert_eq!(agree(&[5.0; 9]), Some(true));
        assert_eq!(
            agree(&(0..30).map(f64::from).collect::<Vec<f64>>()),
            Some(false)
        );
        assert_eq!(agree(&[5.0; 8]), None);
        assert_eq!(agree(&[0.0; 9]), None);
    }
}
