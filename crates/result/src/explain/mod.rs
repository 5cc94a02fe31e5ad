//! Causes of congestion and their shares, from `/data/attribution` of a result.

mod flow;
mod lost;
mod network;
mod roots;
mod tree;

use std::collections::BTreeMap;

use serde::Serialize;

use crate::{Attribution, ResultFile, TraceError};
use weir_model::Time;

use flow::{Bin, Place, Waiting, Walk};
pub use lost::{LostTime, LostTo, Path, PathWait};
pub use network::Network;
pub use roots::{Feeder, Held, LesserRoots, Partner, Root};
pub use tree::{Spread, Tree, TreePort};

/// Waiting of each job in a run, and the links that cause it.
#[derive(Clone, Debug, Default, Serialize)]
pub struct Explanation {
    /// Simulated time, ps.
    pub simulated_ps: Time,
    /// Time between two looks at the ports, ps.
    pub interval_ps: Time,
    /// Width of a time bin, ps.
    pub bin_ps: Time,
    /// Looks at the ports; of the domain with the fewest, if some look less often than others.
    pub samples: u64,
    /// True if senders and receivers are told apart.
    pub sources: bool,
    /// The texts of the run's notes (lost packets, a standstill), if they are to be told.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub notes: Vec<String>,
    /// By their index.
    pub jobs: Vec<JobWaits>,
    /// The full links that something waits behind, the worst first.
    pub roots: Vec<Root>,
    /// Full links that are not named, by their kinds.
    pub lesser: Vec<LesserRoots>,
    /// Measured times of jobs that were run again without others, if that was asked for.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub verified: Vec<Measured>,
    /// The parts of each application's time, if they were asked for.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub lost: Vec<LostTime>,
}

/// A job beside all others, alone, and without each job that is blamed. Its time is that of an
/// application from its start to its end, and of other traffic the mean latency of its messages;
/// None if the run ended before that was known.
#[derive(Clone, Debug, Serialize)]
pub struct Measured {
    /// Its name.
    pub job: String,
    /// Its time in the run, ps.
    pub here_ps: Option<f64>,
    /// Its time without any other job, ps.
    pub alone_ps: Option<f64>,
    /// Its times without one other job.
    pub without: Vec<Removal>,
}

/// A job's time without one other job.
#[derive(Clone, Debug, Serialize)]
pub struct Removal {
    /// The other job.
    pub job: String,
    /// Time without it, ps.
    pub time_ps: Option<f64>,
    /// The share of the time that all others cost the job, which it has back without this one. None
    /// if one of the times is missing, or the others cost it less than a thousandth of its time
    /// alone.
    pub gives_back: Option<f64>,
    /// Share of the waiting of the job's packets that is attributed to the other job.
    pub attributed: f64,
    /// The other job's share of the time that the job lost to others along its critical path.
    /// None for traffic that is no application.
    pub lost: Option<f64>,
}

impl Explanation {
    /// The jobs that feed a named root, each once.
    pub fn suspects(&self) -> Vec<String> {
        let fed = self.roots.iter().flat_map(|root| &root.fed_by);
        let mut names: Vec<String> = Vec::new();
        for feeder in fed.filter(|feeder| feeder.share >= roots::FEEDS) {
            if !names.contains(&feeder.job) {
                names.push(feeder.job.clone());
            }
        }
        names
    }

    /// The share of one job in the time that another one lost to others along its critical path;
    /// None if that is not known.
    pub fn lost_to(&self, job: &str, to: &str) -> Option<f64> {
        let lost = self.lost.iter().find(|lost| lost.job == job)?;
        let found = lost.to.iter().find(|one| one.job == to);
        Some(found.map_or(0.0, |one| one.share))
    }

    /// The share of the waiting of a job's packets that is behind named roots, as far as another
    /// job feeds them.
    pub fn attributed(&self, job: &str, to: &str) -> f64 {
        let of_root = |root: &Root| {
            let held = root.held_up.iter().find(|held| held.job == job);
            let fed = root.fed_by.iter().find(|feeder| feeder.job == to);
            Some(held?.share * fed?.share)
        };
        self.roots.iter().filter_map(of_root).sum()
    }
}

/// Waiting of a job.
#[derive(Clone, Debug, Default, Serialize)]
pub struct JobWaits {
    /// Its name.
    pub name: String,
    /// Payload injected, bytes.
    pub bytes_injected: u64,
    /// Backlog of its data, times its duration, B s.
    pub waited: f64,
    /// Mean waiting time of its data in the network, ps: `waited` divided by the bytes injected. Of
    /// data that has not arrived, the time until the end of the run. NaN if nothing was injected.
    pub mean_wait_ps: f64,
    /// The part of that behind the roots that are named.
    pub behind_roots: f64,
    /// The part behind full links that are not named.
    pub behind_lesser: f64,
    /// The rest, behind no full link: for its turn, and for room behind links.
    pub ordinary: f64,
    /// The part for room behind links that do not lead to a full one.
    pub room: f64,
}

/// A result with the data needed to walk it.
struct Run {
    network: Network,
    attribution: Attribution,
    jobs: Vec<JobWaits>,
    simulated_ps: Time,
    /// By time.
    bins: BTreeMap<Time, Bin>,
}

/// Attributes the waiting of each job to its causes. None if attribution was not recorded.
///
/// # Errors
/// If the file is damaged.
pub fn explain(result: &ResultFile) -> Result<Option<Explanation>, TraceError> {
    let Some(run) = Run::read(result)? else {
        return Ok(None);
    };
    Ok(Some(run.explain()))
}

/// The parts of applications' times, along their critical paths.
/// Empty if attribution was not recorded.
///
/// # Errors
/// If the file is damaged.
pub fn lost_times(result: &ResultFile, paths: &[Path]) -> Result<Vec<LostTime>, TraceError> {
    let run = Run::read(result)?;
    Ok(run.map_or(Vec::new(), |run| lost::lost_times(&run, paths)))
}

impl Run {
    fn read(result: &ResultFile) -> Result<Option<Run>, TraceError> {
        let Some(attribution) = result.attribution()? else {
            return Ok(None);
        };
        let network = Network::read(result)?;
        let simulated = result.number("data/summary", "simulated_ps")?;
        let mut jobs = BTreeMap::new();
        for name in result.groups("data/jobs")? {
            let group = format!("data/jobs/{name}");
            let index = result.number(&group, "index")?.unwrap_or(0.0);
            let injected = result.series(&format!("job.{name}.injected_bytes"))?;
            let job = JobWaits {
                name,
                bytes_injected: (injected.into_iter().flatten()).fold(0, u64::saturating_add),
                ..JobWaits::default()
            };
            jobs.insert(index as u64, job);
        }
        let bins = bins(&attribution, &network);
        Ok(Some(Run {
            network,
            attribution,
            jobs: jobs.into_values().collect(),
            simulated_ps: simulated.unwrap_or(0.0) as Time,
            bins,
        }))
    }

    fn explain(mut self) -> Explanation {
        let mut charges = roots::Charges::default();
        for (time, bin) in &self.bins {
            charges.add(*time, Walk::new(&self.network, bin).charge());
        }
        for (job, waits) in (0..).zip(&mut self.jobs) {
            waits.waited = charges.of_job(job);
            waits.mean_wait_ps = waits.waited / waits.bytes_injected as f64 * 1e12;
        }
        let named = charges.worst(&self.jobs);
        for (job, waits) in (0..).zip(&mut self.jobs) {
            let part = |amount: f64| match waits.waited > 0.0 {
                true => amount / waits.waited,
                false => 0.0,
            };
            let behind = named
                .iter()
                .fold(0.0, |sum, &root| sum + charges.charged(root, job));
            let ordinary = charges.ordinary(job);
            waits.behind_roots = part(behind);
            waits.ordinary = part(ordinary);
            waits.room = part(charges.room(job));
            waits.behind_lesser = part((waits.waited - behind - ordinary).max(0.0));
        }
        let roots = named.iter().map(|&root| roots::root(&self, &charges, root));
        Explanation {
            notes: Vec::new(),
            simulated_ps: self.simulated_ps,
            interval_ps: self.attribution.looks.interval_ps,
            bin_ps: self.attribution.looks.bin_ps,
            // A bin has eight.
            samples: self.simulated_ps / (self.attribution.looks.bin_ps / 8).max(1),
            sources: self.attribution.looks.sources,
            roots: roots.collect(),
            lesser: charges.lesser(&named, &self),
            verified: Vec::new(),
            lost: Vec::new(),
            jobs: self.jobs,
        }
    }
}

/// The rows of each time bin.
fn bins(attribution: &Attribution, network: &Network) -> BTreeMap<Time, Bin> {
    let mut bins: BTreeMap<Time, Bin> = BTreeMap::new();
    let waits = &attribution.waits;
    for row in 0..waits.time_ps.len() {
        let Some(port) = network.place(waits.router[row], waits.port[row]) else {
            continue;
        };
        let place: Place = (port, waits.nic[row] > 0);
        let waiting = Waiting {
            full: waits.full[row],
            queued: waits.queued[row],
            starved: waits.starved[row],
        };
        let bin = bins.entry(waits.time_ps[row]).or_default();
        bin.waits.push((place, waits.job[row], waiting));
    }
    let pressure = &attribution.pressure;
    for row in 0..pressure.time_ps.len() {
        let port = |port| network.place(pressure.router[row], port);
        let (from, to) = (port(pressure.from_port[row]), port(pressure.port[row]));
        if let (Some(from), Some(to)) = (from, to) {
            let bin = bins.entry(pressure.time_ps[row]).or_default();
            let outputs = bin.pressure.entry(from).or_default();
            outputs.push((to, pressure.waited[row]));
        }
    }
    let elsewhere = &attribution.elsewhere;
    for row in 0..elsewhere.time_ps.len() {
        let bin = bins.entry(elsewhere.time_ps[row]).or_default();
        bin.elsewhere
            .push((elsewhere.job[row], elsewhere.queued[row]));
    }
    bins
}
