//! From where data waits to where that begins: the walk down the tree of congestion, in one time
//! bin.
//!
//! What waits at a port waits for the link itself, or for room in the buffer behind it. That buffer
//! is full of what waits, in the next router, for some of its outputs; for each of them the same
//! holds. So what waits for room is passed on, in proportion to what is in the buffer, from port to
//! port, until it comes to links that are full: those are the roots.

use std::collections::{BTreeMap, BTreeSet};

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

/// What waits at a port, and what is behind that.
#[derive(Clone, Debug, Default)]
struct Node {
    port: PortIndex,
    /// All that waits there.
    waiting: Waiting,
    /// For what parts of that wait.
    shares: Waiting,
    /// What is behind that for which they wait for room.
    behind: Behind,
}

/// The outputs that hold up what waits for room at a place.
#[derive(Clone, Debug, Default)]
struct Behind {
    /// Those at which something waits, by their nodes, with their parts.
    outputs: Vec<(usize, f64)>,
    /// The part of others.
    others: f64,
}

/// What all of it waits for at each port, and where that leads.
pub(super) struct Walk<'a> {
    network: &'a Network,
    bin: &'a Bin,
    /// In order of their ports.
    nodes: Vec<Node>,
    /// The jobs of whose data something waits, in order.
    jobs: Vec<u32>,
}

impl<'a> Walk<'a> {
    pub(super) fn new(network: &'a Network, bin: &'a Bin) -> Walk<'a> {
        let mut ports: BTreeMap<PortIndex, Waiting> = BTreeMap::new();
        for ((port, nic), _, waiting) in &bin.waits {
            if !nic {
                ports.entry(*port).or_default().add(*waiting);
            }
        }
        let node = |(port, waiting): (PortIndex, Waiting)| Node {
            port,
            waiting,
            ..Node::default()
        };
        let jobs: BTreeSet<u32> = bin.waits.iter().map(|&(_, job, _)| job).collect();
        let mut walk = Walk {
            network,
            bin,
            nodes: ports.into_iter().map(node).collect(),
            jobs: jobs.into_iter().collect(),
        };
        for at in 0..walk.nodes.len() {
            let port = walk.nodes[at].port;
            let behind = walk.behind((port, false));
            let node = &mut walk.nodes[at];
            node.shares = node.shares();
            node.behind = behind;
        }
        walk
    }

    /// The node of a port, if anything waits there.
    fn node(&self, port: PortIndex) -> Option<usize> {
        self.nodes
            .binary_search_by_key(&port, |node| node.port)
            .ok()
    }

    /// The node of a place; None of a NIC.
    fn node_of(&self, (port, nic): Place) -> Option<usize> {
        if nic { None } else { self.node(port) }
    }

    /// What of `waiting` at a place is for the port's own link as one that is full, for its turn,
    /// and for room behind it.
    fn split(&self, place: Place, waiting: Waiting) -> Waiting {
        let node = self.node_of(place);
        node.map_or(waiting, |node| self.nodes[node].split(waiting))
    }

    /// The outputs that hold up what waits for room behind a place, with their parts; none if
    /// nothing is known to.
    fn behind(&self, (port, nic): Place) -> Behind {
        // A NIC's packets come into the router by the port that it is at.
        let input = match nic {
            true => Some(port),
            false => self.network.far_side(port),
        };
        let found = input.and_then(|input| self.bin.pressure.get(&input));
        let found = found.map_or(&[][..], Vec::as_slice);
        let all: f64 = found.iter().map(|(_, share)| share).sum();
        let mut behind = Behind {
            outputs: Vec::new(),
            others: 1.0,
        };
        if all > 0.0 {
            let outputs = found.iter();
            let outputs =
                outputs.filter_map(|(port, share)| Some((self.node(*port)?, share / all)));
            behind.outputs = outputs.collect();
            let known: f64 = behind.outputs.iter().map(|(_, part)| part).sum();
            behind.others = 1.0 - known;
        }
        behind
    }

    /// Charges what waits to the roots.
    pub(super) fn charge(&self) -> Charged {
        let mut amounts = Amounts::new(self);
        for &(place, job, waiting) in &self.bin.waits {
            amounts.begin(place, job, self.split(place, waiting));
        }
        let least = REST * amounts.waits_for_room();
        for _ in 0..ROUNDS {
            if amounts.waits_for_room() <= least {
                break;
            }
            amounts.pass_on();
        }
        amounts.charged()
    }

    /// All that waits in the bin, by place and job.
    pub(super) fn waits(&self) -> impl Iterator<Item = &(Place, u32, Waiting)> {
        self.bin.waits.iter()
    }

    /// The links at which the queue of a place ends, followed from port to port, full or not, with
    /// their parts. Whatever is not recorded is missing from them.
    pub(super) fn ends(&self, place: Place) -> BTreeMap<PortIndex, f64> {
        let mut here: BTreeMap<usize, f64> = match (self.node_of(place), place) {
            (Some(node), _) => BTreeMap::from([(node, 1.0)]),
            (None, (_, true)) => self.behind(place).outputs.into_iter().collect(),
            (None, _) => BTreeMap::new(),
        };
        let mut ends: BTreeMap<PortIndex, f64> = BTreeMap::new();
        for _ in 0..ROUNDS {
            let mut next: BTreeMap<usize, f64> = BTreeMap::new();
            for (at, mass) in here {
                let node = &self.nodes[at];
                *ends.entry(node.port).or_default() +=
                    mass * (node.shares.full + node.shares.queued);
                for &(behind, part) in &node.behind.outputs {
                    *next.entry(behind).or_default() += mass * node.shares.starved * part;
                }
            }
            if next.values().sum::<f64>() < REST {
                break;
            }
            here = next;
        }
        ends
    }

    /// The part of what waits at each place that a root holds up, in bytes times seconds.
    pub(super) fn tree_of(&self, root: PortIndex) -> BTreeMap<Place, f64> {
        // By node: the part of what comes to wait there that the root is behind.
        let mut held = vec![0.0; self.nodes.len()];
        for _ in 0..ROUNDS {
            let mut change: f64 = 0.0;
            let part = |node: &Node| {
                let own = if node.port == root {
                    node.shares.full
                } else {
                    0.0
                };
                own + node.shares.starved * node.behind.mean(&held)
            };
            let next: Vec<f64> = self.nodes.iter().map(part).collect();
            for (value, old) in next.iter().zip(&held) {
                change = change.max((value - old).abs());
            }
            held = next;
            if change < REST {
                break;
            }
        }
        let mut tree: BTreeMap<Place, f64> = BTreeMap::new();
        for &(place, _, waiting) in &self.bin.waits {
            let split = self.split(place, waiting);
            let own = if place == (root, false) {
                split.full
            } else {
                0.0
            };
            let mean = match self.node_of(place) {
                Some(node) => self.nodes[node].behind.mean(&held),
                None => self.behind(place).mean(&held),
            };
            let waited = own + split.starved * mean;
            if waited > 0.0 {
                *tree.entry(place).or_default() += waited;
            }
        }
        tree
    }
}

impl Node {
    /// What of `waiting` here is for the link as one that is full, for its turn, and for room
    /// behind it. What waits for its turn where more waits for the full link, or for room behind
    /// it, waits because of that: the link had just become full, or there is a queue only because
    /// the link stands still at times.
    fn split(&self, waiting: Waiting) -> Waiting {
        let all = self.waiting;
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

    /// For what parts of those that wait here wait; for their turn, if nothing waits.
    fn shares(&self) -> Waiting {
        let (all, split) = (self.waiting.all(), self.split(self.waiting));
        if all <= 0.0 {
            return Waiting {
                queued: 1.0,
                ..Waiting::default()
            };
        }
        Waiting {
            full: split.full / all,
            queued: split.queued / all,
            starved: split.starved / all,
        }
    }
}

impl Behind {
    /// The mean of a number over the outputs; of others it is 0.
    fn mean(&self, numbers: &[f64]) -> f64 {
        let outputs = self.outputs.iter();
        outputs.map(|&(node, part)| part * numbers[node]).sum()
    }
}

/// How far what waits has been passed on, in bytes times seconds. The lists go by node, then job.
struct Amounts<'a> {
    walk: &'a Walk<'a>,
    /// What waits for room.
    starved: Vec<f64>,
    /// What has come from ports before, of which it is not said yet what it waits for.
    came: Vec<f64>,
    /// What of that was for a full link.
    full: Vec<f64>,
    /// By job: what was for no full link.
    ordinary: Vec<f64>,
    /// What is for the link that it waits at.
    at_once: Charged,
}

impl<'a> Amounts<'a> {
    fn new(walk: &'a Walk) -> Amounts<'a> {
        let jobs = walk.jobs.len();
        let none = vec![0.0; walk.nodes.len() * jobs];
        let mut at_once = Charged::default();
        for &(job, queued) in &walk.bin.elsewhere {
            *at_once.ordinary.entry(job).or_default() += queued;
        }
        Amounts {
            walk,
            starved: none.clone(),
            came: none.clone(),
            full: none,
            ordinary: vec![0.0; jobs],
            at_once,
        }
    }

    /// Adds what waits at a place.
    fn begin(&mut self, place: Place, job: u32, waiting: Waiting) {
        if waiting.full > 0.0 {
            let root = self.at_once.roots.entry(place.0).or_default();
            *root.entry(job).or_default() += waiting.full;
        }
        if waiting.queued > 0.0 {
            *self.at_once.ordinary.entry(job).or_default() += waiting.queued;
        }
        let (walk, jobs) = (self.walk, self.walk.jobs.len());
        let job = walk.jobs.partition_point(|&other| other < job);
        match walk.node_of(place) {
            Some(node) => self.starved[node * jobs + job] += waiting.starved,
            None if waiting.starved > 0.0 => {
                let behind = walk.behind(place);
                for (node, part) in behind.outputs {
                    self.came[node * jobs + job] += waiting.starved * part;
                }
                self.ordinary[job] += waiting.starved * behind.others;
            }
            None => {}
        }
    }

    fn waits_for_room(&self) -> f64 {
        self.starved.iter().chain(&self.came).sum()
    }

    /// Passes what waits for room on by one router.
    fn pass_on(&mut self) {
        let jobs = self.walk.jobs.len();
        if jobs == 0 {
            return;
        }
        let rows = self.walk.nodes.iter().zip(self.starved.chunks(jobs));
        for (node, row) in rows {
            if row.iter().all(|&amount| amount == 0.0) {
                continue;
            }
            for &(next, part) in &node.behind.outputs {
                let there = &mut self.came[next * jobs..][..jobs];
                for (there, amount) in there.iter_mut().zip(row) {
                    *there += amount * part;
                }
            }
            for (ordinary, amount) in self.ordinary.iter_mut().zip(row) {
                *ordinary += amount * node.behind.others;
            }
        }
        for (at, node) in self.walk.nodes.iter().enumerate() {
            let shares = node.shares;
            for job in 0..jobs {
                let came = std::mem::take(&mut self.came[at * jobs + job]);
                self.full[at * jobs + job] += came * shares.full;
                self.ordinary[job] += came * shares.queued;
                self.starved[at * jobs + job] = came * shares.starved;
            }
        }
    }

    /// What became of it all. What still goes in a circle is nobody's.
    fn charged(mut self) -> Charged {
        let jobs = self.walk.jobs.len();
        let mut charged = std::mem::take(&mut self.at_once);
        for (at, node) in self.walk.nodes.iter().enumerate() {
            for (job, number) in self.walk.jobs.iter().enumerate() {
                let here = at * jobs + job;
                self.ordinary[job] += self.starved[here] + self.came[here];
                if self.full[here] > 0.0 {
                    let root = charged.roots.entry(node.port).or_default();
                    *root.entry(*number).or_default() += self.full[here];
                }
            }
        }
        for (number, ordinary) in self.walk.jobs.iter().zip(&self.ordinary) {
            if *ordinary > 0.0 {
                *charged.ordinary.entry(*number).or_default() += ordinary;
            }
        }
        charged
    }
}
