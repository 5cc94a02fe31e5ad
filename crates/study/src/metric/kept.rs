//! Throughput under congestion: the part of it that is kept, and the time until it is back.
//!
//! Both compare bins of the window with the throughput before it: the mean of the bins in the
//! second half of that time (a run begins empty). Pfister et al. (HPI-DC 2005, end of section IV)
//! call a setting effective if it can "avoid, prevent, or recover from throughput collapse". As a
//! number, that is the mean share of the previous throughput that is kept while congestion lasts.

use super::{Metric, NotAMetric};
use weir_model::Time;
use weir_result::{ResultFile, TraceError};

/// Metrics of a throughput under congestion.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) enum Kept {
    /// The mean over the bins of each bin's share of the throughput before, at most all of it.
    Effectiveness,
    /// Time from the beginning of the window until no later bin is below this percentage of the
    /// throughput before.
    Recovery(u32),
}

/// The name of the first, and the prefix of the second.
const EFFECTIVENESS: &str = "effectiveness";
const RECOVERY: &str = "recovery_";

impl Kept {
    /// Metric that the last part of a name asks for; None if it asks for something else.
    pub fn parse(name: &str, last: &str) -> Option<Result<Kept, NotAMetric>> {
        if last == EFFECTIVENESS {
            return Some(Ok(Kept::Effectiveness));
        }
        let percent = last.strip_prefix(RECOVERY)?;
        let good = percent
            .parse()
            .ok()
            .filter(|percent| (1..=100).contains(percent));
        Some(good.map(Kept::Recovery).ok_or_else(|| NotAMetric {
            message: format!("{name:?}: {percent:?} is no percentage"),
            remedy: format!("end with a whole number from 1 to 100: `{RECOVERY}90`"),
        }))
    }

    /// Its unit.
    pub fn unit(self) -> &'static str {
        match self {
            Kept::Effectiveness => "",
            Kept::Recovery(_) => "ns",
        }
    }

    /// Checks that there is a time before the window to compare with.
    pub fn check(name: &str, window: Option<(Time, Time)>) -> Result<(), NotAMetric> {
        match window {
            Some((from, _)) if from > 0 => Ok(()),
            _ => Err(NotAMetric {
                message: format!(
                    "{name:?} compares the time of congestion with the time before it"
                ),
                remedy: format!("write when congestion is, as in \"{name} @ 1 ms..4 ms\""),
            }),
        }
    }
}

impl Metric {
    /// Its value. None if nothing arrived before the window, or the throughput is not back at its
    /// end.
    pub(super) fn kept(
        &self,
        result: &ResultFile,
        column: &str,
        kept: Kept,
    ) -> Result<Option<f64>, TraceError> {
        let (Some(window), Some(rows)) = (self.window, result.series(column)?) else {
            return Ok(None);
        };
        let own = result.bins()?.unwrap_or_default();
        let bins = own.begin_ps.iter().zip(&own.length_ps).zip(rows);
        // One that the end of the run cuts off has less than the others.
        let bins = bins.filter(|((_, length), _)| **length == own.width_ps);
        let bins: Vec<(Time, f64)> = bins
            .map(|((&begin, _), bytes)| (begin, bytes as f64))
            .collect();
        let after = self.bins_after(&own);
        Ok(of_bins(&bins, own.width_ps, window, after, kept))
    }
}

/// Value from the beginnings of bins, ps, with the count of each; `after` more bins of the window
/// are empty.
fn of_bins(
    bins: &[(Time, f64)],
    bin: Time,
    (from, to): (Time, Time),
    after: u64,
    kept: Kept,
) -> Option<f64> {
    let before = bins
        .iter()
        .filter(|(time, _)| *time >= from / 2 && time + bin <= from);
    let (count, sum) = before.fold((0.0, 0.0), |(n, sum), (_, bytes)| (n + 1.0, sum + bytes));
    let usual = Some(sum / count).filter(|usual| *usual > 0.0)?;
    let inside: Vec<_> = bins
        .iter()
        .filter(|(time, _)| (from..to).contains(time))
        .collect();
    match kept {
        Kept::Effectiveness => {
            let shares = inside.iter().map(|(_, bytes)| (bytes / usual).min(1.0));
            let count = inside.len() as f64 + after as f64;
            (count > 0.0).then(|| shares.sum::<f64>() / count)
        }
        Kept::Recovery(_) if after > 0 => None,
        Kept::Recovery(percent) => {
            let enough = usual * f64::from(percent) / 100.0;
            let (last, _) = inside.last()?;
            match inside.iter().rev().find(|(_, bytes)| *bytes < enough) {
                None => Some(0.0),
                Some((time, _)) if time == last => None,
                Some((time, _)) => Some((time + bin - from) as f64 / 1e3),
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Bins of 10 ps; congestion from 40 ps on.
    fn metric(bytes: &[f64], kept: Kept) -> Option<f64> {
        let bins: Vec<(Time, f64)> = (0..).step_by(10).zip(bytes.iter().copied()).collect();
        of_bins(&bins, 10, (40, 90), 0, kept)
    }

    #[test]
    fn a_collapse_is_measured_against_the_second_half_of_the_time_before_it() {
        // The run begins empty: 5 and 5 do not count, 100 and 100 do.
        let collapse = [5.0, 5.0, 100.0, 100.0, 100.0, 20.0, 60.0, 95.0, 130.0];
        let share = metric(&collapse, Kept::Effectiveness).expect("measured");
        // Data that drains later makes up for nothing: (1 + 0.2 + 0.6 + 0.95 + 1) / 5.
        assert!((share - 0.75).abs() < 1e-12, "{share}");
        // The bin from 60 to 70 ps is the last one below 90.
        assert_eq!(metric(&collapse, Kept::Recovery(90)), Some(0.03));
        assert_eq!(metric(&collapse, Kept::Recovery(50)), Some(0.02));
        assert_eq!(metric(&collapse, Kept::Recovery(10)), Some(0.0));
    }

    #[test]
    fn what_is_not_back_has_no_time_and_nothing_before_no_share() {
        let lost = [0.0, 0.0, 100.0, 100.0, 100.0, 20.0, 60.0, 95.0, 80.0];
        assert_eq!(metric(&lost, Kept::Recovery(90)), None);
        assert_eq!(metric(&[0.0; 9], Kept::Effectiveness), None);
    }
}
