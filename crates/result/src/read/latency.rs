//! Latency classes of a result: their numbers and histograms.

use hdf5::Group;

use crate::hdf::{Failure, Outcome, get_column, get_numbers, open};
use crate::schema;
use crate::stats::{JobTotals, Shape, Stats};
use weir_model::Time;

/// One latency class as stored.
#[derive(Clone, Debug, PartialEq)]
pub struct StoredLatency {
    /// `network`, `message`, `job.<name>.network`, `job.<name>.message`.
    pub class: String,
    /// Its numbers.
    pub stats: Stats,
    /// Lower edges of the buckets that hold samples or missing ones, ps.
    pub lower_ps: Vec<Time>,
    /// Samples of each of these buckets.
    pub count: Vec<u64>,
    /// Samples that are missing and were so old when the run ended.
    pub missing: Vec<u64>,
}

/// More buckets than a histogram of 64-bit times can have.
const MOST_BUCKETS: usize = 1 << 13;

/// All classes of a result whose jobs are these, in their order.
pub(super) fn read_latency(at: &Group, jobs: &[JobTotals]) -> Outcome<Vec<StoredLatency>> {
    let mut classes = Vec::new();
    for class in at.member_names()? {
        let group = open(at, &class)?;
        let [lower, count, missing] = &schema::LATENCY;
        let stored = StoredLatency {
            class,
            stats: read_stats(&group)?,
            lower_ps: get_column(&group, lower.name, MOST_BUCKETS)?,
            count: get_column(&group, count.name, MOST_BUCKETS)?,
            missing: get_column(&group, missing.name, MOST_BUCKETS)?,
        };
        let rows = stored.lower_ps.len();
        if stored.count.len() != rows || stored.missing.len() != rows {
            return Err(Failure::Content(format!(
                "{} has columns of different length",
                group.name()
            )));
        }
        classes.push(stored);
    }
    classes.sort_by_cached_key(|stored| rank_of(&stored.class, jobs));
    Ok(classes)
}

fn read_stats(at: &Group) -> Outcome<Stats> {
    let [samples, missing, max, max_at_least] = get_numbers(at, &schema::LATENCY_COUNTS)?;
    let numbers = get_numbers::<f64, 15>(at, &schema::LATENCY_QUANTILES)?;
    let shape = |mean_ps, quantiles: &[f64], max_ps| Shape {
        mean_ps,
        p50_ps: quantiles[0],
        p90_ps: quantiles[1],
        p99_ps: quantiles[2],
        p999_ps: quantiles[3],
        max_ps,
    };
    // Of mean and maximum there is no upper bound if anything is missing.
    let (mean, most) = match missing {
        0 => (numbers[0], max),
        _ => (f64::INFINITY, Time::MAX),
    };
    Ok(Stats {
        samples,
        missing,
        arrived: shape(numbers[0], &numbers[1..5], max),
        at_least: shape(numbers[6], &numbers[7..11], max_at_least),
        at_most: shape(mean, &numbers[11..15], most),
    })
}

/// Classes in their order, the whole network before the jobs, jobs in the order of the experiment file.
fn rank_of(class: &str, jobs: &[JobTotals]) -> (usize, usize, String) {
    let of_job = class
        .strip_prefix("job.")
        .and_then(|rest| rest.rsplit_once('.'));
    let (group, kind) = match of_job {
        Some((job, kind)) => {
            let index = jobs.iter().position(|j| j.name == job);
            (1 + index.unwrap_or(jobs.len()), kind)
        }
        None => (0, class),
    };
    let order = schema::LATENCY_CLASSES.iter().position(|&k| k == kind);
    let last = schema::LATENCY_CLASSES.len();
    (group, order.unwrap_or(last), class.to_string())
}
