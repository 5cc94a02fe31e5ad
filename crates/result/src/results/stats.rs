//! Summary of a run: totals, latency percentiles, a line per job.
//! It is the same for a run that has just ended and for a file.

use super::{Data, Job, Latency, Note};
use crate::schema::{Cost, LatencyNumbers, Phases, Run};
use weir_model::table::Summary;
use weir_model::{Histogram, Time};

/// The shape of a latency distribution. Without samples the means and the quantiles are NaN and the
/// maxima are 0.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Stats {
    /// Number of samples that arrived.
    pub samples: u64,
    /// Number of samples that had not arrived when the run ended.
    pub missing: u64,
    /// Shape of the samples that arrived.
    pub arrived: Shape,
    /// Lower bounds over all samples, whatever becomes of the missing ones.
    /// Missing samples count with their age at the end.
    pub at_least: Shape,
    /// Upper bounds over all samples, whatever becomes of the missing ones.
    /// Infinite ([`Time::MAX`] for the maximum) if there is no such bound. A number is known, to
    /// within a bucket of the histogram, if both bounds are the same.
    pub at_most: Shape,
}

/// Mean, percentiles and maximum.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Shape {
    /// Mean, ps.
    pub mean_ps: f64,
    /// Median, ps.
    pub p50_ps: f64,
    /// 90th percentile, ps.
    pub p90_ps: f64,
    /// 99th percentile, ps.
    pub p99_ps: f64,
    /// 99.9th percentile, ps.
    pub p999_ps: f64,
    /// Largest sample, ps.
    pub max_ps: Time,
}

impl Shape {
    fn new(mean_ps: f64, quantile: impl Fn(f64) -> f64, max_ps: Time) -> Shape {
        Shape {
            mean_ps,
            p50_ps: quantile(0.5),
            p90_ps: quantile(0.9),
            p99_ps: quantile(0.99),
            p999_ps: quantile(0.999),
            max_ps,
        }
    }

    /// Lower bounds, none of them below a lower percentile: a bound is the edge of its bucket, in
    /// which a percentile that is known may lie, too.
    fn raised(mut self) -> Shape {
        self.p90_ps = self.p90_ps.max(self.p50_ps);
        self.p99_ps = self.p99_ps.max(self.p90_ps);
        self.p999_ps = self.p999_ps.max(self.p99_ps);
        self
    }

    /// Upper bounds, none of them above a higher percentile.
    fn lowered(mut self) -> Shape {
        self.p99_ps = self.p99_ps.min(self.p999_ps);
        self.p90_ps = self.p90_ps.min(self.p99_ps);
        self.p50_ps = self.p50_ps.min(self.p90_ps);
        self
    }

    fn of(histogram: &Histogram) -> Shape {
        match histogram.samples() {
            0 => Shape::new(f64::NAN, |_| f64::NAN, 0),
            _ => Shape::new(histogram.mean(), |q| histogram.quantile(q), histogram.max()),
        }
    }
}

impl Stats {
    /// The numbers of a latency class.
    pub fn of(latency: &Latency) -> Stats {
        let Latency { arrived, missing } = latency;
        let mut stats = Stats {
            samples: arrived.samples(),
            missing: missing.samples(),
            arrived: Shape::of(arrived),
            at_least: Shape::of(arrived),
            at_most: Shape::of(arrived),
        };
        if stats.missing > 0 {
            let all = latency.at_least();
            let bounds = |q| bounds(&all, arrived, q);
            stats.at_least = Shape::new(all.mean(), |q| bounds(q)[0], all.max()).raised();
            stats.at_most = Shape::new(f64::INFINITY, |q| bounds(q)[1], Time::MAX).lowered();
        }
        stats
    }

    /// The numbers as the file has them.
    pub fn numbers(&self) -> LatencyNumbers {
        let Stats {
            samples,
            missing,
            arrived,
            at_least,
            at_most,
        } = *self;
        LatencyNumbers {
            samples,
            missing,
            max_ps: arrived.max_ps,
            max_at_least_ps: at_least.max_ps,
            mean_ps: arrived.mean_ps,
            p50_ps: arrived.p50_ps,
            p90_ps: arrived.p90_ps,
            p99_ps: arrived.p99_ps,
            p999_ps: arrived.p999_ps,
            missing_share: self.missing_share(),
            mean_at_least_ps: at_least.mean_ps,
            p50_at_least_ps: at_least.p50_ps,
            p90_at_least_ps: at_least.p90_ps,
            p99_at_least_ps: at_least.p99_ps,
            p999_at_least_ps: at_least.p999_ps,
            p50_at_most_ps: at_most.p50_ps,
            p90_at_most_ps: at_most.p90_ps,
            p99_at_most_ps: at_most.p99_ps,
            p999_at_most_ps: at_most.p999_ps,
        }
    }

    /// All samples, the missing ones included.
    pub fn all(&self) -> u64 {
        self.samples + self.missing
    }

    /// Share of the samples that is missing; NaN without samples.
    pub fn missing_share(&self) -> f64 {
        self.missing as f64 / self.all() as f64
    }

    /// The bounds of a number, and whether they are the same.
    pub fn known(&self, number: fn(&Shape) -> f64) -> (f64, bool) {
        let [least, most] = [&self.at_least, &self.at_most].map(number);
        // Two of no samples are the same, too.
        (least, least == most || least.is_nan())
    }
}

impl From<LatencyNumbers> for Stats {
    fn from(file: LatencyNumbers) -> Stats {
        // Mean and maximum have no upper bound if anything is missing.
        let (mean, max) = match file.missing {
            0 => (file.mean_ps, file.max_ps),
            _ => (f64::INFINITY, Time::MAX),
        };
        Stats {
            samples: file.samples,
            missing: file.missing,
            arrived: Shape {
                mean_ps: file.mean_ps,
                p50_ps: file.p50_ps,
                p90_ps: file.p90_ps,
                p99_ps: file.p99_ps,
                p999_ps: file.p999_ps,
                max_ps: file.max_ps,
            },
            at_least: Shape {
                mean_ps: file.mean_at_least_ps,
                p50_ps: file.p50_at_least_ps,
                p90_ps: file.p90_at_least_ps,
                p99_ps: file.p99_at_least_ps,
                p999_ps: file.p999_at_least_ps,
                max_ps: file.max_at_least_ps,
            },
            at_most: Shape {
                mean_ps: mean,
                p50_ps: file.p50_at_most_ps,
                p90_ps: file.p90_at_most_ps,
                p99_ps: file.p99_at_most_ps,
                p999_ps: file.p999_at_most_ps,
                max_ps: max,
            },
        }
    }
}

/// Bounds of a quantile of all samples: if the missing ones are as small as they can be, and if
/// they are larger than everything. If both fall into the same bucket, the quantile is interpolated
/// as usual.
fn bounds(all: &Histogram, arrived: &Histogram, q: f64) -> [f64; 2] {
    let rank = (q * all.samples() as f64).ceil().max(1.0);
    let least = bucket(all, rank).unwrap_or(0);
    match bucket(arrived, rank) {
        Some(most) if most == least => [all.quantile(q); 2],
        Some(most) => [
            least as f64,
            Histogram::last_of(most).min(arrived.max()) as f64,
        ],
        None => [least as f64, f64::INFINITY],
    }
}

/// The lower edge of the bucket in which the sample of a rank is, counted from 1; None if there are
/// fewer.
fn bucket(histogram: &Histogram, rank: f64) -> Option<Time> {
    let mut seen = 0;
    let mut rows = histogram.rows();
    let found = rows.find(|&(_, count)| {
        seen += count;
        seen as f64 >= rank
    });
    found.map(|(lower, _)| lower)
}

/// The numbers of a result without its rows.
#[derive(Clone, Debug, Default)]
pub struct Digest {
    /// Totals.
    pub summary: Summary,
    /// Every latency class, in the order of [`Data::latency`].
    pub latency: Vec<(String, Stats)>,
    /// Every job without its tasks, in the order of the experiment file.
    pub jobs: Vec<Job>,
    /// The congestion-control scheme, and its counters.
    pub scheme: (String, Vec<(String, u64)>),
    /// Phases, if they were recorded.
    pub phases: Phases,
    /// Remarkable facts about the run.
    pub notes: Vec<Note>,
    /// Cost of the routers' buffers, if the experiment gives the cost of memory.
    pub cost: Option<Cost>,
}

impl Digest {
    /// The latency class called `class`.
    pub fn class(&self, class: &str) -> Option<&Stats> {
        let (_, stats) = self.latency.iter().find(|(name, _)| name == class)?;
        Some(stats)
    }
}

impl Data {
    /// The numbers of this result without its rows.
    pub fn digest(&self) -> Digest {
        let latency = self.latency.iter();
        let jobs = self.jobs.iter().map(|job| Job {
            name: job.name.clone(),
            totals: job.totals.clone(),
            ..Job::default()
        });
        Digest {
            summary: self.summary.clone(),
            latency: latency
                .map(|(class, latency)| (class.clone(), Stats::of(latency)))
                .collect(),
            jobs: jobs.collect(),
            scheme: (self.scheme.name.clone(), self.scheme.counters.clone()),
            phases: self.phases.clone().unwrap_or_default(),
            notes: self.notes.clone(),
            cost: self.cost.clone(),
        }
    }
}

impl Run {
    /// `count` per second of wall-clock time; 0 if no time has passed.
    pub fn per_second(&self, count: u64) -> f64 {
        if self.wall_seconds > 0.0 {
            count as f64 / self.wall_seconds
        } else {
            0.0
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn stats(arrived: &[Time], missing: &[Time]) -> Stats {
        let of = |times: &[Time]| {
            let mut histogram = Histogram::default();
            times.iter().for_each(|&time| histogram.add(time));
            histogram
        };
        Stats::of(&Latency {
            arrived: of(arrived),
            missing: of(missing),
        })
    }

    #[test]
    fn without_missing_samples_everything_is_known() {
        let stats = stats(&[10, 20, 30, 40], &[]);
        assert_eq!(stats.at_least, stats.arrived);
        assert_eq!(stats.at_most, stats.arrived);
        assert_eq!(stats.known(|shape| shape.p999_ps), (40.0, true));
    }

    #[test]
    fn bounds_are_in_the_order_of_their_percentiles() {
        // The median is known, and the 99th percentile may be in the same bucket. Then the 90th
        // percentile is known, and the median may be in its bucket.
        let low = stats(&[1_154_000; 99], &[1_150_000; 5]);
        let times = [vec![500_000; 49], vec![1_150_000; 50], vec![1_163_000]];
        let high = stats(&times.concat(), &[500_000; 5]);
        for shape in [low.at_least, low.at_most, high.at_least, high.at_most] {
            let all = [shape.p50_ps, shape.p90_ps, shape.p99_ps, shape.p999_ps];
            assert!(all.is_sorted(), "{all:?}");
        }
    }

    #[test]
    fn a_percentile_among_the_missing_is_a_bound() {
        // Ten samples: 10, 20, 25 or more, 30, 40, and five of 50 or more.
        let stats = stats(&[10, 20, 30, 40], &[25, 50, 50, 50, 50, 50]);
        assert_eq!((stats.samples, stats.missing), (4, 6));
        assert_eq!(stats.missing_share(), 0.6);
        // The samples that arrived look fine by themselves.
        assert_eq!((stats.arrived.p50_ps, stats.arrived.max_ps), (20.0, 40));
        let least = stats.at_least;
        assert_eq!((least.p50_ps, least.p90_ps, least.max_ps), (40.0, 50.0, 50));
        assert_eq!(least.mean_ps, 37.5);
        assert_eq!(stats.known(|shape| shape.p50_ps), (40.0, false));
        assert!(stats.at_most.p50_ps.is_infinite());
    }

    #[test]
    fn a_known_percentile_is_that_of_all_and_not_of_those_that_arrived() {
        let arrived: Vec<Time> = (1..=50).collect();
        let stats = stats(&arrived, &[60; 50]);
        assert_eq!(stats.arrived.p50_ps, 25.0);
        assert_eq!(stats.known(|shape| shape.p50_ps), (50.0, true));
        assert_eq!(stats.known(|shape| shape.p90_ps), (60.0, false));
    }

    #[test]
    fn a_few_that_are_young_make_no_difference_but_to_the_tail() {
        // 900 of 10 ps, 90 of 40 ps, and ten that have just begun.
        let arrived = [vec![10; 900], vec![40; 90]].concat();
        let stats = stats(&arrived, &[0; 10]);
        assert_eq!(stats.known(|shape| shape.p50_ps), (10.0, true));
        assert_eq!(stats.known(|shape| shape.p90_ps), (10.0, true));
        assert_eq!(stats.known(|shape| shape.p99_ps), (40.0, true));
        assert_eq!(stats.known(|shape| shape.p999_ps), (40.0, false));
        assert!(!stats.known(|shape| shape.mean_ps).1);
        assert!(!stats.known(|shape| shape.max_ps as f64).1);
    }

    #[test]
    fn a_percentile_may_be_known_to_lie_between_two_numbers() {
        let arrived = [vec![10; 50], vec![40; 49]].concat();
        let stats = stats(&arrived, &[0]);
        assert_eq!((stats.at_least.p50_ps, stats.at_most.p50_ps), (10.0, 10.0));
        let arrived = [vec![10; 49], vec![40; 50]].concat();
        let stats = self::stats(&arrived, &[0]);
        assert_eq!((stats.at_least.p50_ps, stats.at_most.p50_ps), (10.0, 40.0));
    }

    #[test]
    fn nothing_but_missing_samples_is_all_bounds() {
        let stats = stats(&[], &[60; 50]);
        assert!(stats.arrived.p50_ps.is_nan());
        assert_eq!(stats.known(|shape| shape.p50_ps), (60.0, false));
        assert_eq!(stats.at_least.max_ps, 60);
    }
}
