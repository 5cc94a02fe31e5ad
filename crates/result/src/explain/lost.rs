//! Lost time of a job: the waits along the critical path of its end, each charged to the jobs that
//! fill the link it was for.

use std::collections::BTreeMap;

use serde::Serialize;

use super::Run;
use super::flow::{Place, Waiting, Walk};
use weir_model::Time;

/// The chain of one job. Its parts and waits add up to the time from the job's start to its end.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Path {
    /// The job, in the order of the workloads that run.
    pub job: u16,
    /// From its start to its end, ps.
    pub time_ps: Time,
    /// Computation, and the time that hosts take to send and receive, ps.
    pub hosts_ps: Time,
    /// Zero-load time of the messages, ps.
    pub idle_ps: Time,
    /// Time for which messages waited in NICs that had credit: behind others of their
    /// NIC, or because a scheme held them back, ps.
    pub own_nic_ps: Time,
    /// The waits of messages in the network, or for room in it.
    pub waits: Vec<PathWait>,
}

/// A wait of a message on the chain.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct PathWait {
    /// The router at whose port it waited.
    pub router: u32,
    /// The port: that to leave by, or (in the NIC) that which the NIC is at.
    pub port: u16,
    /// True if it waited in the NIC for room in the router.
    pub nic: bool,
    /// Between which times it was there, ps.
    pub from_ps: Time,
    /// See `from_ps`.
    pub to_ps: Time,
    /// The time that it waited of that, ps.
    pub waited_ps: Time,
}

/// The parts of an application's time, along the chain of messages and computations that
/// its end hung on. The parts add up to it.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
pub struct LostTime {
    /// Its name.
    pub job: String,
    /// From its start to its end, ps.
    pub time_ps: f64,
    /// Computation, and the overhead of hosts to send and receive, ps.
    pub hosts_ps: f64,
    /// Time that its messages take on an idle network, ps.
    pub idle_ps: f64,
    /// Waiting for its own data, in NICs and at links, ps.
    pub own_ps: f64,
    /// Waiting whose owner is not recorded, ps.
    pub unknown_ps: f64,
    /// Waiting for other jobs, most first.
    pub to: Vec<LostTo>,
}

/// Time that a job lost to another one.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
pub struct LostTo {
    /// The other job.
    pub job: String,
    /// Time, ps.
    pub lost_ps: f64,
    /// Its share of the time lost to all other jobs.
    pub share: f64,
}

/// Time by job; None is time of unknown owners.
type Charges = BTreeMap<Option<u32>, f64>;

/// Charges the waits of paths.
pub(super) fn lost_times(run: &Run, paths: &[Path]) -> Vec<LostTime> {
    let name = |job: u32| {
        let job = run.jobs.get(job as usize);
        job.map(|job| job.name.clone()).unwrap_or_default()
    };
    let mut walks = Walks::new(run);
    let lost = paths.iter().map(|path| {
        let mut charges = Charges::new();
        for wait in &path.waits {
            walks.charge(wait, &mut charges);
        }
        let own = charges.remove(&Some(path.job.into())).unwrap_or_default();
        let unknown = charges.remove(&None).unwrap_or_default();
        let all: f64 = charges.values().sum();
        let to = charges.into_iter().filter(|&(_, lost)| lost > 0.0);
        let to = to.filter_map(|(other, lost_ps)| {
            Some(LostTo {
                job: name(other?),
                lost_ps,
                share: lost_ps / all,
            })
        });
        let mut to: Vec<LostTo> = to.collect();
        to.sort_by(|a, b| b.lost_ps.total_cmp(&a.lost_ps));
        LostTime {
            job: name(path.job.into()),
            time_ps: path.time_ps as f64,
            hosts_ps: path.hosts_ps as f64,
            idle_ps: path.idle_ps as f64,
            own_ps: path.own_nic_ps as f64 + own,
            unknown_ps: unknown,
            to,
        }
    });
    lost.collect()
}

/// The walks of all time bins, and the ends they have led to so far.
struct Walks<'a> {
    run: &'a Run,
    walks: BTreeMap<Time, Walk<'a>>,
    /// By bin and place: the jobs that fill the links at which its queue ends, with their parts.
    feeders: BTreeMap<(Time, Place), BTreeMap<u32, f64>>,
}

impl<'a> Walks<'a> {
    fn new(run: &'a Run) -> Walks<'a> {
        let walks = run.bins.iter();
        let walks = walks.map(|(time, bin)| (*time, Walk::new(&run.network, bin)));
        Walks {
            run,
            walks: walks.collect(),
            feeders: BTreeMap::new(),
        }
    }

    /// Charges a wait, bin by bin, to the owners of the data that waits where it ends.
    fn charge(&mut self, wait: &PathWait, charges: &mut Charges) {
        let waited = wait.waited_ps as f64;
        let mut nobody = waited;
        if let Some(port) = self.run.network.place(wait.router, wait.port)
            && wait.waited_ps > 0
        {
            let (width, place) = (self.run.attribution.looks.bin_ps.max(1), (port, wait.nic));
            let all = (wait.to_ps - wait.from_ps).max(1) as f64;
            let first = wait.from_ps / width * width;
            for (&time, walk) in self.walks.range(first..wait.to_ps.max(first + 1)) {
                let part = overlap((wait.from_ps, wait.to_ps), (time, time + width)) as f64 / all;
                let feeders = self.feeders.entry((time, place));
                let feeders = feeders.or_insert_with(|| feeders_at(walk, place));
                for (&job, share) in &*feeders {
                    *charges.entry(Some(job)).or_default() += waited * part * share;
                    nobody -= waited * part * share;
                }
            }
        }
        *charges.entry(None).or_default() += nobody.max(0.0);
    }
}

/// The jobs that fill the links at which the queue of a place ends, with their parts.
fn feeders_at(walk: &Walk, place: Place) -> BTreeMap<u32, f64> {
    let mut feeders: BTreeMap<u32, f64> = BTreeMap::new();
    for (port, share) in walk.ends(place) {
        let rows = || walk.waits().filter(|row| row.0 == (port, false));
        let here = |(_, job, waiting): &(Place, u32, _)| (*job, amount(waiting));
        let all: f64 = rows().map(|row| here(row).1).sum();
        for (job, own) in rows().map(here).filter(|_| all > 0.0) {
            *feeders.entry(job).or_default() += share * own / all;
        }
    }
    feeders
}

/// The part that is for the link itself.
fn amount(waiting: &Waiting) -> f64 {
    waiting.full + waiting.queued
}

fn overlap(a: (Time, Time), b: (Time, Time)) -> Time {
    a.1.min(b.1).saturating_sub(a.0.max(b.0))
}
