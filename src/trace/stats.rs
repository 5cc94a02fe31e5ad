//! What a reader wants to know first: totals, latency percentiles, a line per job. The same from a run that has just
//! ended and from a file.

use super::results::{Data, Job, Run, Summary};
use crate::model::{Histogram, Time};

/// The shape of a latency distribution. Without samples the mean and the quantiles are NaN and the maximum is 0.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Stats {
    /// Number of samples.
    pub samples: u64,
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

impl Stats {
    /// The numbers of a histogram.
    pub fn of(histogram: &Histogram) -> Stats {
        let quantile = |q| match histogram.samples() {
            0 => f64::NAN,
            _ => histogram.quantile(q),
        };
        Stats {
            samples: histogram.samples(),
            mean_ps: match histogram.samples() {
                0 => f64::NAN,
                _ => histogram.mean(),
            },
            p50_ps: quantile(0.5),
            p90_ps: quantile(0.9),
            p99_ps: quantile(0.99),
            p999_ps: quantile(0.999),
            max_ps: histogram.max(),
        }
    }
}

/// One job without its tasks: the attributes of `/data/jobs/<name>`.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct JobTotals {
    /// Its name.
    pub name: String,
    /// Number of tasks.
    pub tasks: u64,
    /// See [`Job::start_ps`].
    pub start_ps: Time,
    /// See [`Job::finish_ps`].
    pub finish_ps: Time,
    /// See [`Job::communication_ps`].
    pub communication_ps: Time,
    /// See [`Job::bytes_delivered`].
    pub bytes_delivered: u64,
    /// See [`Job::senders`].
    pub senders: u64,
    /// See [`Job::receivers`].
    pub receivers: u64,
    /// See [`Job::on_from_ps`].
    pub on_from_ps: Time,
    /// See [`Job::on_to_ps`].
    pub on_to_ps: Time,
    /// See [`Job::offered_load`].
    pub offered_load: f64,
    /// See [`Job::accepted_load`].
    pub accepted_load: f64,
}

impl JobTotals {
    fn of(job: &Job) -> JobTotals {
        JobTotals {
            name: job.name.clone(),
            tasks: job.endpoint.len() as u64,
            start_ps: job.start_ps,
            finish_ps: job.finish_ps,
            communication_ps: job.communication_ps,
            bytes_delivered: job.bytes_delivered,
            senders: job.senders,
            receivers: job.receivers,
            on_from_ps: job.on_from_ps,
            on_to_ps: job.on_to_ps,
            offered_load: job.offered_load,
            accepted_load: job.accepted_load,
        }
    }
}

/// The numbers of a result without its rows.
#[derive(Clone, Debug, Default)]
pub struct Digest {
    /// Totals.
    pub summary: Summary,
    /// Every latency class, in the order of [`Data::latency`].
    pub latency: Vec<(String, Stats)>,
    /// Every job, in the order of the experiment file.
    pub jobs: Vec<JobTotals>,
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
        Digest {
            summary: self.summary.clone(),
            latency: latency
                .map(|(class, h)| (class.clone(), Stats::of(h)))
                .collect(),
            jobs: self.jobs.iter().map(JobTotals::of).collect(),
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
