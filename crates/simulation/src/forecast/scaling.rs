//! Time of a run on several ranks and threads, from counts of its beginning.

use std::collections::BTreeSet;

use super::Forecast;
use crate::{Plan, Trial};
use weir_engine::Share;

/// Time in which the threads of a rank are called and meet again in each window, s: measured on one
/// computer.
const MEETING: f64 = 3e-6;

/// Time of a message between two ranks, s: that of common interconnects.
const MESSAGE: f64 = 1.5e-6;

/// Bytes that a rank sends and receives per second.
const BANDWIDTH: f64 = 10e9;

/// Bytes of a packet between two ranks, with its credit.
const MAIL: f64 = 112.0;

/// Ranks of a run, and threads of each.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Workers {
    /// Ranks, at least 1.
    pub ranks: u32,
    /// Threads of each, at least 1.
    pub threads: u32,
}

/// Time of a run on some workers.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Scaling {
    /// Wall-clock time, s.
    pub seconds: f64,
    /// Domains of the rank with the most.
    pub domains: u32,
    /// Windows in all.
    pub windows: f64,
}

impl Scaling {
    /// None if the run is for one rank and one thread: signals of its scheme take no time.
    ///
    /// Work is shared as the domains are, and no better than the balance of each window allows.
    /// Each window takes a meeting of the threads, and a message to each neighbouring rank; all
    /// mail is taken to go to other ranks.
    pub fn of(
        plan: &Plan,
        forecast: &Forecast,
        trial: &Trial,
        workers: Workers,
    ) -> Option<Scaling> {
        if plan.blueprint.schedule.interleaving.is_some() {
            return None;
        }
        let all = plan.network().partition.domains();
        let ranks = workers.ranks.clamp(1, all);
        let domains = all.div_ceil(ranks);
        let threads = workers.threads.clamp(1, domains);
        let share = f64::from(domains) / f64::from(all) / f64::from(threads);
        let work = forecast.seconds * share.max(1.0 / trial.balance.max(1.0));
        let seen = trial.samples.last().map_or(0, |last| last.until).max(1) as f64;
        let windows = trial.windows as f64 * (forecast.end / seen).max(1.0);
        let mut seconds = work;
        if threads > 1 {
            seconds += windows * MEETING;
        }
        if ranks > 1 {
            let bytes = forecast.packet_hops * MAIL / f64::from(ranks);
            seconds += windows * MESSAGE * neighbours(plan, ranks) as f64 + bytes / BANDWIDTH;
        }
        Some(Scaling {
            seconds,
            domains,
            windows,
        })
    }
}

/// Ranks with which a rank in the middle exchanges mail.
fn neighbours(plan: &Plan, ranks: u32) -> usize {
    let network = plan.network();
    let domains = network.partition.domains();
    let share = Share { domains, ranks };
    let own = ranks / 2;
    let others = share.of(own).flat_map(|domain| network.neighbours(domain));
    let others: BTreeSet<u32> = others.map(|domain| share.owner(domain)).collect();
    others.into_iter().filter(|&rank| rank != own).count()
}
