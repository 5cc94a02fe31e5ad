//! Walk down the congestion tree in one time bin, from the ports where data waits to the links that
//! cause it.
//!
//! Data at a port waits for the link itself, or for room in the buffer behind it. That buffer is
//! full of data that waits, in the next router, for some of its outputs; for each of them the same
//! holds. So the amount that waits for room is passed on from port to port, in proportion to the
//! content of the buffer, until it reaches links that are full: the roots.

use std::collections::{BTreeMap, BTreeSet};

use super::network::{Network, PortIndex};

/// Amounts that wait at a place, by cause, in bytes times seconds.
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

/// Place of waiting data: a port by which it is to leave the router, or the NIC behind that port.
pub(super) type Place = (PortIndex, bool);

/// One time bin of a result.
#[derive(Clone, Debug, Default)]
pub(super) struct Bin {
    /// Waiting amounts, by place and job.
    pub waits: Vec<(Place, u32, Waiting)>,
    /// Waiting amounts behind an input (named by its port), by output.
    pub pressure: BTreeMap<PortIndex, Vec<(PortIndex, f64)>>,
    /// Amounts that wait for their turn elsewhere, by job.
    pub elsewhere: Vec<(u32, f64)>,
}

/// Attribution of all amounts that wait in a bin.
#[derive(Clone, Debug, Default)]
pub(super) struct Charged {
    /// By root, then job: bytes times seconds.
    pub roots: BTreeMap<PortIndex, BTreeMap<u32, f64>>,
    /// By job: amounts that no full link causes.
    pub ordinary: BTreeMap<u32, f64>,
    /// The part of them that waits for room behind a link.
    pub room: BTreeMap<u32, f64>,
}

/// Rounds after which amounts that still go in a circle are taken to be nobody's.
const ROUNDS: usize = 200;
/// Part of the waiting amount that is not worth another round.
const REST: f64 = 1e-6;

/// Waiting amounts at a port, and the ports behind them.
#[derive(Clone, Debug, Default)]
struct Node {
    port: PortIndex,
    /// All that waits there.
    waiting: Waiting,
    /// Shares of the causes of that waiting.
    shares: Waiting,
    /// The outputs that hold up the part that waits for room.
    behind: Behind,
}

/// The outputs that hold up the amounts that wait for room at a place.
#[derive(Clone, Debug, Default)]
struct Behind {
    /// Those at which something waits, by their nodes, with their parts.
    outputs: Vec<(usize, f64)>,
    /// The part of others.
    others: f64,
}

/// Causes of the waiting at each port, and the ports they lead to.
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

    /// Splits `waiting` at a place into the parts for the port's own link as a full one, for its
    /// turn, and for room behind the link.
    fn split(&self, place: Place, waiting: Waiting) -> Waiting {
        let node = self.node_of(place);
        node.map_or(waiting, |node| self.nodes[node].split(waiting))
    }

    /// The outputs that hold up data that waits for room behind a place, with their parts; none if
    /// no output is known to.
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

    /// Charges the waiting amounts to the roots.
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

    /// Part of the waiting amount at each place that a root holds up, in bytes times seconds.
    pub(super) fn tree_of(&self, root: PortIndex) -> BTreeMap<Place, f64> {
        // By node: the part of the amount passed to it that the root holds up.
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
    /// Splits `waiting` here into the parts for the link as a full one, for its turn, and for room
    /// behind it.
    ///
    /// If more data waits for the full link, or for room behind it, than for its turn, then the
    /// data that waits for its turn waits because of that: the link had just become full, or there
    /// is a queue only because the link stands still at times.
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

    /// Shares of the causes for which data waits here; all for its turn, if nothing waits.
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

/// Waiting amounts while they are passed on, in bytes times seconds.
/// The lists are ordered by node, then job.
struct Amounts<'a> {
    walk: &'a Walk<'a>,
    /// Amounts that wait for room.
    starved: Vec<f64>,
    /// Amounts passed on from ports before, whose cause is not determined yet.
    came: Vec<f64>,
    /// The part of them for a full link.
    full: Vec<f64>,
    /// By job: amounts that wait for room, for no full link.
    room: Vec<f64>,
    /// Amounts for the link at which they wait.
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
            room: vec![0.0; jobs],
            at_once,
        }
    }

    /// Adds the waiting amounts of a place.
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
                self.room[job] += waiting.starved * behind.others;
            }
            None => {}
        }
    }

    fn waits_for_room(&self) -> f64 {
        self.starved.iter().chain(&self.came).sum()
    }

    /// Passes the amounts that wait for room on by one router.
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
            for (room, amount) in self.room.iter_mut().zip(row) {
                *room += amount * node.behind.others;
            }
        }
        for (at, node) in self.walk.nodes.iter().enumerate() {
            let shares = node.shares;
            for job in 0..jobs {
                let came = std::mem::take(&mut self.came[at * jobs + job]);
                self.full[at * jobs + job] += came * shares.full;
                self.room[job] += came * shares.queued;
                self.starved[at * jobs + job] = came * shares.starved;
            }
        }
    }

    /// The final attribution. Amounts that still go in a circle are nobody's.
    fn charged(mut self) -> Charged {
        let jobs = self.walk.jobs.len();
        let mut charged = std::mem::take(&mut self.at_once);
        for (at, node) in self.walk.nodes.iter().enumerate() {
            for (job, number) in self.walk.jobs.iter().enumerate() {
                let here = at * jobs + job;
                self.room[job] += self.starved[here] + self.came[here];
                if self.full[here] > 0.0 {
                    let root = charged.roots.entry(node.port).or_default();
                    *root.entry(*number).or_default() += self.full[here];
                }
            }
        }
        for (number, room) in self.walk.jobs.iter().zip(&self.room) {
            if *room > 0.0 {
                *charged.ordinary.entry(*number).or_default() += room;
                *charged.room.entry(*number).or_default() += room;
            }
        }
        charged
    }
}
