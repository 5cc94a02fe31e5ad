//! From where data waits to where that begins: the walk down the tree of congestion, in one time bin.
//!
//! What waits at a port waits for the link itself, or for room in the buffer behind it. That buffer is full of what waits, in
//! the next router, for some of its outputs; for each of them the same holds. So what waits for room is passed on, in
//! proportion to what is in the buffer, from port to port, until it comes to links that are full: those are the roots.

use std::collections::BTreeMap;

use super::network::{Network, PortIndex};

/// What waits at a place for what, in bytes times seconds.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub(super) struct Waiting {
    /// For a full link.
    pub full: f64,
    /// For its turn.
    pub queued: f64,
    /// For room in the next buffer.
    pub starved: f64,
}

impl Waiting {
    pub(super) fn all(&self) -> f64 {
        self.full + self.queued + self.starved
    }

    fn add(&mut self, own: Waiting) {
        self.full += own.full;
        self.queued += own.queued;
        self.starved += own.starved;
    }
}

/// Where something waits: at a port to leave the router by it, or in the NIC behind it.
pub(super) type Place = (PortIndex, bool);

/// One time bin of a result.
#[derive(Clone, Debug, Default)]
pub(super) struct Bin {
    /// What waits, by place and job.
    pub waits: Vec<(Place, u32, Waiting)>,
    /// What waits behind an input (by the port that it is) for which output.
    pub pressure: BTreeMap<PortIndex, Vec<(PortIndex, f64)>>,
    /// What waits for its turn elsewhere, by job.
    pub elsewhere: Vec<(u32, f64)>,
}

/// What became of all that waits in a bin.
#[derive(Clone, Debug, Default)]
pub(super) struct Charged {
    /// By root, then job: bytes times seconds.
    pub roots: BTreeMap<PortIndex, BTreeMap<u32, f64>>,
    /// By job: what no full link is behind.
    pub ordinary: BTreeMap<u32, f64>,
}

/// Rounds after which what still goes in a circle is taken to be nobody's.
const ROUNDS: usize = 200;
/// The part of what waits that is not worth another round.
const REST: f64 = 1e-6;

/// What all of it waits for at each port, and where that leads.
pub(super) struct Walk<'a> {
    network: &'a Network,
    bin: &'a Bin,
    ports: BTreeMap<PortIndex, Waiting>,
}

impl<'a> Walk<'a> {
    pub(super) fn new(network: &'a Network, bin: &'a Bin) -> Walk<'a> {
        let mut ports: BTreeMap<PortIndex, Waiting> = BTreeMap::new();
        for ((port, nic), _, waiting) in &bin.waits {
            if !nic {
                ports.entry(*port).or_default().add(*waiting);
            }
        }
        Walk {
            network,
            bin,
            ports,
        }
    }

    /// What of `waiting` is for the port's own link as one that is full, for its turn, and for room behind it. What waits for its
    /// turn where more waits for the full link, or for room behind it, waits because of that: the link had just become full, or
    /// there is a queue only because the link stands still at times.
    fn split(&self, port: PortIndex, waiting: Waiting) -> Waiting {
        let all = self.ports.get(&port).copied().unwrap_or_default();
        if all.full.max(all.starved) <= all.queued {
            return waiting;
        }
        let queued = waiting.queued;
        let (full, starved) = match all.full >= all.starved {
            true => (queued, 0.0),
            false => (0.0, queued),
        };
        Waiting {
            full: waiting.full + full,
            queued: 0.0,
            starved: waiting.starved + starved,
        }
    }

    /// The outputs that hold up what waits for room behind a place, with their shares; none if nothing is known to.
    fn behind(&self, (port, nic): Place) -> &'a [(PortIndex, f64)] {
        // A NIC's packets come into the router by the port that it is at.
        let input = if nic {
            Some(port)
        } else {
            self.network.far_side(port)
        };
        let found = input.and_then(|input| self.bin.pressure.get(&input));
        found.map_or(&[], Vec::as_slice)
    }

    /// Charges what waits to the roots.
    pub(super) fn charge(&self) -> Charged {
        let mut charged = Charged::default();
        // What waits for room, by the place that waits, then job.
        let mut starved: BTreeMap<Place, BTreeMap<u32, f64>> = BTreeMap::new();
        for &(place, job, waiting) in &self.bin.waits {
            let split = match place {
                (_, true) => waiting,
                (port, false) => self.split(port, waiting),
            };
            settle(&mut charged, place.0, job, split);
            if split.starved > 0.0 {
                *starved.entry(place).or_default().entry(job).or_default() += split.starved;
            }
        }
        for &(job, queued) in &self.bin.elsewhere {
            *charged.ordinary.entry(job).or_default() += queued;
        }
        let sum = |all: &BTreeMap<Place, BTreeMap<u32, f64>>| -> f64 {
            all.values().flat_map(BTreeMap::values).sum()
        };
        let least = REST * sum(&starved);
        for _ in 0..ROUNDS {
            if sum(&starved) <= least {
                break;
            }
            starved = self.pass_on(starved, &mut charged);
        }
        for (job, rest) in starved.into_values().flatten() {
            *charged.ordinary.entry(job).or_default() += rest;
        }
        charged
    }

    /// Passes what waits for room on by one router. Gives what waits for room there.
    fn pass_on(
        &self,
        starved: BTreeMap<Place, BTreeMap<u32, f64>>,
        charged: &mut Charged,
    ) -> BTreeMap<Place, BTreeMap<u32, f64>> {
        let mut next: BTreeMap<Place, BTreeMap<u32, f64>> = BTreeMap::new();
        for (place, jobs) in starved {
            let outputs = self.behind(place);
            let all: f64 = outputs.iter().map(|(_, share)| share).sum();
            for (job, amount) in jobs {
                if all <= 0.0 {
                    *charged.ordinary.entry(job).or_default() += amount;
                    continue;
                }
                for &(port, share) in outputs {
                    let part = amount * share / all;
                    let split = self.shares(port).map_or(
                        Waiting {
                            queued: part,
                            ..Waiting::default()
                        },
                        |of| Waiting {
                            full: part * of.full,
                            queued: part * of.queued,
                            starved: part * of.starved,
                        },
                    );
                    settle(charged, port, job, split);
                    if split.starved > 0.0 {
                        let there = next.entry((port, false)).or_default();
                        *there.entry(job).or_default() += split.starved;
                    }
                }
            }
        }
        next
    }

    /// For what parts of those that wait at a port wait. None if nothing was found to.
    fn shares(&self, port: PortIndex) -> Option<Waiting> {
        let waiting = self.ports.get(&port)?;
        let all = waiting.all();
        let split = self.split(port, *waiting);
        (all > 0.0).then(|| Waiting {
            full: split.full / all,
            queued: split.queued / all,
            starved: split.starved / all,
        })
    }

    /// The part of what waits at each place that a root holds up, in bytes times seconds.
    pub(super) fn tree_of(&self, root: PortIndex) -> BTreeMap<Place, f64> {
        // By port: the part of what comes to wait there that the root is behind.
        let mut behind: BTreeMap<PortIndex, f64> = BTreeMap::new();
        for _ in 0..ROUNDS {
            let mut change: f64 = 0.0;
            let before = behind.clone();
            for &port in self.ports.keys() {
                let Some(shares) = self.shares(port) else {
                    continue;
                };
                let own = if port == root { shares.full } else { 0.0 };
                let value = own + shares.starved * self.mean_behind((port, false), &before);
                let old = behind.insert(port, value).unwrap_or(0.0);
                change = change.max((value - old).abs());
            }
            if change < REST {
                break;
            }
        }
        let mut tree: BTreeMap<Place, f64> = BTreeMap::new();
        for &(place, _, waiting) in &self.bin.waits {
            let split = match place {
                (_, true) => waiting,
                (port, false) => self.split(port, waiting),
            };
            let own = if place == (root, false) {
                split.full
            } else {
                0.0
            };
            let held = own + split.starved * self.mean_behind(place, &behind);
            if held > 0.0 {
                *tree.entry(place).or_default() += held;
            }
        }
        tree
    }

    /// The mean of a number over the outputs that hold up what waits for room behind a place.
    fn mean_behind(&self, place: Place, numbers: &BTreeMap<PortIndex, f64>) -> f64 {
        let outputs = self.behind(place);
        let all: f64 = outputs.iter().map(|(_, share)| share).sum();
        let of = |port| numbers.get(port).copied().unwrap_or(0.0);
        let sum: f64 = outputs.iter().map(|(port, share)| share * of(port)).sum();
        if all > 0.0 { sum / all } else { 0.0 }
    }
}

/// Charges what waits for a link itself.
fn settle(charged: &mut Charged, port: PortIndex, job: u32, waiting: Waiting) {
    if waiting.full > 0.0 {
        let root = charged.roots.entry(port).or_default();
        *root.entry(job).or_default() += waiting.full;
    }
    if waiting.queued > 0.0 {
        *charged.ordinary.entry(job).or_default() += waiting.queued;
    }
}
