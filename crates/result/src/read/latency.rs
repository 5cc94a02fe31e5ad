//! Latency classes of a result: their numbers and histograms.

use hdf5::Group;

use crate::hdf::{Outcome, get_attributes, get_table, open};
use crate::results::Job;
use crate::results::stats::Stats;
use crate::schema::{self, Buckets, LatencyNumbers};

/// One latency class as stored.
#[derive(Clone, Debug, PartialEq)]
pub struct StoredLatency {
    /// `network`, `message`, `job.<name>.network`, `job.<name>.message`.
    pub class: String,
    /// Its numbers.
    pub stats: Stats,
    /// Its histogram.
    pub buckets: Buckets,
}

/// More buckets than a histogram of 64-bit times can have.
const MOST_BUCKETS: usize = 1 << 13;

/// All classes of a result whose jobs are these, in their order.
pub(super) fn read_latency(at: &Group, jobs: &[Job]) -> Outcome<Vec<StoredLatency>> {
    let mut classes = Vec::new();
    for class in at.member_names()? {
        let group = open(at, &class)?;
        classes.push(StoredLatency {
            class,
            stats: get_attributes::<LatencyNumbers>(&group)?.into(),
            buckets: get_table(&group, MOST_BUCKETS)?,
        });
    }
    classes.sort_by_cached_key(|stored| rank_of(&stored.class, jobs));
    Ok(classes)
}

/// Classes in their order, the whole network before the jobs, jobs in the order of the experiment
/// file.
fn rank_of(class: &str, jobs: &[Job]) -> (usize, usize, String) {
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
