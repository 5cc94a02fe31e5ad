//! The full links with backlog behind them: the selection worth naming, their feeders, and the jobs
//! that they hold up.

use std::collections::BTreeMap;

use serde::Serialize;

use super::flow::Charged;
use super::network::{Port, PortIndex};
use super::tree::{Tree, tree};
use super::{JobWaits, Run};
use weir_model::Time;

/// Minimum share of a job's waiting behind a root from which the root is named, for a job …
const SHARE_OF_JOB: f64 = 0.05;
/// … that waits this much of all that waits.
const SHARE_OF_ALL: f64 = 0.005;
/// The most roots that are named.
const MOST: usize = 12;
/// Minimum share of the backlog at a root itself from which a job counts as feeding it.
pub(super) const FEEDS: f64 = 0.1;
/// A job that waits less than this part of its waiting behind a root is not held up by it.
const HELD: f64 = 0.01;
/// The most senders and receivers that are named.
const PARTNERS: usize = 8;

/// A full link that something waits behind.
#[derive(Clone, Debug, Serialize)]
pub struct Root {
    /// Its router.
    pub router: u32,
    /// The port there.
    pub port: u16,
    /// Kind of the link.
    pub kind: String,
    /// Group of the router.
    pub group: u32,
    /// The endpoint that it leads to, if it does.
    pub endpoint: Option<u32>,
    /// The router that it leads to, and the port there, if it does.
    pub peer: Option<(u32, u16)>,
    /// Share of the bandwidth that the link was built with, if a failure has taken some of it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub bandwidth_left: Option<f64>,
    /// Beginning and end of that, ps, if it is not the whole run.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub degraded_ps: Option<[Time; 2]>,
    /// Share of the run in which flits were on the link.
    pub busy: f64,
    /// Share of the run in which it had no credit for a ready packet.
    pub stalled: f64,
    /// Time from which data waited for it as for a full link, ps.
    pub from_ps: Time,
    /// End of that time, ps.
    pub to_ps: Time,
    /// Backlog behind it, times its duration, B s.
    pub waited: f64,
    /// Its share of all that waited.
    pub share: f64,
    /// Owners of the data that waits at the link itself, most first.
    pub fed_by: Vec<Feeder>,
    /// Owners of the data that waits behind it, most first.
    pub held_up: Vec<Held>,
    /// Backlog behind it, port by port.
    pub tree: Tree,
}

/// Full links of a kind that are not named: they matter less, or the most are named already.
#[derive(Clone, Debug, Serialize)]
pub struct LesserRoots {
    /// Kind of the links.
    pub kind: String,
    /// True if they lead to endpoints.
    pub to_endpoints: bool,
    /// Their number, each direction by itself.
    pub links: usize,
    /// All links of the kind that are not down for the whole run, each direction by itself.
    pub of: usize,
    /// Their share of all that waited.
    pub share: f64,
}

/// A job whose data needs a link.
#[derive(Clone, Debug, Serialize)]
pub struct Feeder {
    /// Its name.
    pub job: String,
    /// Its share of the backlog at the link.
    pub share: f64,
    /// Its endpoints that sent that, those with most first; none if they are not told apart.
    pub senders: Vec<Partner>,
    /// Number of all of them.
    pub sender_count: usize,
    /// The endpoints that it was for.
    pub receivers: Vec<Partner>,
    /// Number of all of them.
    pub receiver_count: usize,
}

/// An endpoint.
#[derive(Clone, Copy, Debug, Serialize)]
pub struct Partner {
    /// Its number.
    pub endpoint: u32,
    /// Its share of the job's backlog at the link.
    pub share: f64,
}

/// A job that is held up by a root.
#[derive(Clone, Debug, Serialize)]
pub struct Held {
    /// Its name.
    pub job: String,
    /// The part of all its waiting that is behind the root.
    pub share: f64,
    /// Mean waiting time of its data behind the root, ps.
    pub mean_wait_ps: f64,
    /// True if it feeds the root itself.
    pub feeds: bool,
}

/// Charges of all bins.
#[derive(Default)]
pub(super) struct Charges {
    /// By root, then job.
    roots: BTreeMap<PortIndex, BTreeMap<u32, f64>>,
    ordinary: BTreeMap<u32, f64>,
    room: BTreeMap<u32, f64>,
    /// The bins in which a root had something waiting.
    times: BTreeMap<PortIndex, Vec<Time>>,
}

impl Charges {
    pub(super) fn add(&mut self, time: Time, bin: Charged) {
        for (root, jobs) in bin.roots {
            self.times.entry(root).or_default().push(time);
            let own = self.roots.entry(root).or_default();
            for (job, amount) in jobs {
                *own.entry(job).or_default() += amount;
            }
        }
        for (all, own) in [
            (&mut self.ordinary, bin.ordinary),
            (&mut self.room, bin.room),
        ] {
            for (job, amount) in own {
                *all.entry(job).or_default() += amount;
            }
        }
    }

    /// The roots that are not named, by the kind of their links.
    pub(super) fn lesser(&self, named: &[PortIndex], run: &Run) -> Vec<LesserRoots> {
        let mut kinds: BTreeMap<(&str, bool), (usize, f64)> = BTreeMap::new();
        fn key(port: &Port) -> (&str, bool) {
            (port.kind.as_str(), port.endpoint.is_some())
        }
        for &root in self.roots.keys().filter(|root| !named.contains(root)) {
            let (links, waited) = kinds.entry(key(&run.network.ports[root])).or_default();
            *links += 1;
            *waited += self.of_root(root);
        }
        let all: f64 = run.jobs.iter().map(|job| job.waited).sum();
        let lesser = kinds.into_iter().map(|(own, (links, waited))| LesserRoots {
            kind: own.0.to_string(),
            to_endpoints: own.1,
            links,
            of: run
                .network
                .ports
                .iter()
                .filter(|port| key(port) == own && port.leads())
                .count(),
            share: waited / all,
        });
        let mut lesser: Vec<LesserRoots> = lesser.collect();
        lesser.sort_by(|a, b| b.share.total_cmp(&a.share));
        lesser
    }

    /// Waiting of a job for room behind links, behind no root.
    pub(super) fn room(&self, job: u32) -> f64 {
        self.room.get(&job).copied().unwrap_or(0.0)
    }

    /// Waiting of a job behind a root.
    pub(super) fn charged(&self, root: PortIndex, job: u32) -> f64 {
        let jobs = self.roots.get(&root);
        jobs.and_then(|jobs| jobs.get(&job)).copied().unwrap_or(0.0)
    }

    /// Waiting of a job behind no root.
    pub(super) fn ordinary(&self, job: u32) -> f64 {
        self.ordinary.get(&job).copied().unwrap_or(0.0)
    }

    /// All that a job waits.
    pub(super) fn of_job(&self, job: u32) -> f64 {
        let roots = self.roots.keys();
        roots.fold(self.ordinary(job), |sum, &root| {
            sum + self.charged(root, job)
        })
    }

    fn of_root(&self, root: PortIndex) -> f64 {
        self.roots
            .get(&root)
            .into_iter()
            .flatten()
            .map(|(_, amount)| amount)
            .sum()
    }

    /// The roots that are worth naming, the worst first.
    pub(super) fn worst(&self, jobs: &[JobWaits]) -> Vec<PortIndex> {
        let all: f64 = jobs.iter().map(|job| job.waited).sum();
        let matters = |root: PortIndex| {
            (0..).zip(jobs).any(|(job, waits)| {
                waits.waited > SHARE_OF_ALL * all
                    && self.charged(root, job) >= SHARE_OF_JOB * waits.waited
            })
        };
        let mut named: Vec<PortIndex> = self.roots.keys().copied().collect();
        named.retain(|&root| matters(root));
        named.sort_by(|&a, &b| self.of_root(b).total_cmp(&self.of_root(a)));
        named.truncate(MOST);
        named
    }
}

/// Description of a root.
pub(super) fn root(run: &Run, charges: &Charges, root: PortIndex) -> Root {
    let port = &run.network.ports[root];
    let share_of_run = |ps: u64| ps as f64 / run.simulated_ps.max(1) as f64;
    let times = charges.times.get(&root);
    let first = times.and_then(|times| times.first()).copied().unwrap_or(0);
    let last = times.and_then(|times| times.last()).copied().unwrap_or(0);
    let (waited, all) = (
        charges.of_root(root),
        run.jobs.iter().map(|job| job.waited).sum::<f64>(),
    );
    let fed_by = feeders(run, root);
    let held = (0..).zip(&run.jobs).map(|(job, waits)| {
        let own = charges.charged(root, job);
        Held {
            job: waits.name.clone(),
            share: own / waits.waited,
            mean_wait_ps: own / waits.bytes_injected as f64 * 1e12,
            feeds: fed_by
                .iter()
                .any(|feeder| feeder.job == waits.name && feeder.share >= FEEDS),
        }
    });
    let mut held_up: Vec<Held> = held.filter(|held| held.share >= HELD).collect();
    held_up.sort_by(|a, b| b.mean_wait_ps.total_cmp(&a.mean_wait_ps));
    Root {
        router: port.router,
        port: port.port,
        kind: port.kind.clone(),
        group: run.network.group(root),
        endpoint: port.endpoint,
        peer: port.peer,
        bandwidth_left: port.bandwidth_left,
        degraded_ps: port.degraded_ps,
        busy: share_of_run(port.busy_ps),
        stalled: share_of_run(port.stalled_ps),
        from_ps: first,
        to_ps: (last + run.attribution.looks.bin_ps).min(run.simulated_ps),
        waited,
        share: waited / all,
        held_up,
        fed_by,
        tree: tree(run, root),
    }
}

/// Backlog at a root itself, by job, sender and receiver.
fn feeders(run: &Run, root: PortIndex) -> Vec<Feeder> {
    let waits = &run.attribution.waits;
    let port = &run.network.ports[root];
    let rows = (0..waits.time_ps.len()).filter(|&row| {
        waits.router[row] == port.router && waits.port[row] == port.port && waits.nic[row] == 0
    });
    let mut jobs: BTreeMap<u32, [BTreeMap<u32, f64>; 2]> = BTreeMap::new();
    let mut all = 0.0;
    for row in rows {
        let amount = waits.full[row] + waits.queued[row];
        all += amount;
        let ends = jobs.entry(waits.job[row]).or_default();
        for (end, endpoint) in ends
            .iter_mut()
            .zip([waits.source[row], waits.destination[row]])
        {
            *end.entry(endpoint).or_default() += amount;
        }
    }
    let feeders = jobs.into_iter().map(|(job, [senders, receivers])| {
        let own: f64 = senders.values().sum();
        let name = run.jobs.get(job as usize).map(|job| job.name.clone());
        let (senders, sender_count) = partners(run, senders, own);
        let (receivers, receiver_count) = partners(run, receivers, own);
        Feeder {
            job: name.unwrap_or_default(),
            share: own / all,
            senders,
            sender_count,
            receivers,
            receiver_count,
        }
    });
    let mut feeders: Vec<Feeder> = feeders.filter(|feeder| feeder.share > 0.0).collect();
    feeders.sort_by(|a, b| b.share.total_cmp(&a.share));
    feeders
}

/// Those with most of a sum, and the number of all of them.
fn partners(run: &Run, ends: BTreeMap<u32, f64>, all: f64) -> (Vec<Partner>, usize) {
    if !run.attribution.looks.sources {
        return (Vec::new(), 0);
    }
    let ends = ends.into_iter().filter(|(_, own)| *own > 0.0);
    let mut list: Vec<Partner> = ends
        .map(|(endpoint, own)| Partner {
            endpoint,
            share: own / all,
        })
        .collect();
    let count = list.len();
    list.sort_by(|a, b| b.share.total_cmp(&a.share));
    list.truncate(PARTNERS);
    (list, count)
}
