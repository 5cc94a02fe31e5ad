//! Bandwidth between halves of a network, and ways between its routers, by maximum flows.

use petgraph::algo::maximum_flow::dinics;
use petgraph::graph::{DiGraph, NodeIndex};
use serde::Serialize;

use crate::topology::{Peer, Topology};
use weir_model::{EndpointId, RouterId};

/// Bandwidths are divided by this, so that sums of all of them are far from the end of 64 bits:
/// Mbit/s.
const UNIT: u64 = 1_000_000;

/// The most pairs of routers whose ways are counted, and the fewest.
const PAIRS: [u64; 2] = [64, 8];

/// The golden ratio: its multiples, without their whole parts, spread evenly from 0 to 1.
const GOLDEN: f64 = 1.618_033_988_749_895;

/// Links that are looked at for all of them: a large network has fewer pairs.
const LOOKS: u64 = 1 << 24;

/// Links between routers, in both directions.
pub(super) struct Wires {
    routers: u32,
    /// From, to, and the bandwidth in Mbit/s.
    links: Vec<(RouterId, RouterId, u64)>,
    /// For each router, the others.
    neighbours: Vec<Vec<RouterId>>,
}

impl Wires {
    pub(super) fn of(topology: &dyn Topology) -> Wires {
        let routers = topology.routers();
        let mut links = Vec::new();
        let mut neighbours = vec![Vec::new(); routers as usize];
        for from in 0..routers {
            for port in 0..topology.ports(from) {
                if let Peer::Router(to, _) = topology.peer(from, port) {
                    links.push((from, to, topology.link(from, port).bandwidth.0 / UNIT));
                    neighbours[from as usize].push(to);
                }
            }
        }
        Wires {
            routers,
            links,
            neighbours,
        }
    }

    /// The wires as a graph, with room for more nodes.
    fn graph(&self, capacity: impl Fn(u64) -> u64) -> DiGraph<(), u64> {
        let mut graph = DiGraph::with_capacity(self.routers as usize + 2, self.links.len());
        for _ in 0..self.routers {
            graph.add_node(());
        }
        for &(from, to, bandwidth) in &self.links {
            let [from, to] = [from, to].map(|router| NodeIndex::new(router as usize));
            graph.add_edge(from, to, capacity(bandwidth));
        }
        graph
    }
}

/// The least bandwidth that a network has between two halves of its endpoints.
///
/// Halves by number, and along each axis of the routers' coordinates; of networks that can be
/// halved in other ways it may be less. Of several planes each is halved. The bandwidth is the
/// maximum flow from one half to the other, with what endpoints can send as its limit.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Halves {
    /// The halves: `number`, or the name of an axis.
    pub by: String,
    /// Bandwidth in one direction, bit/s.
    pub bandwidth_bps: u64,
    /// Share of what the smaller half can send, from 0 to 1.
    pub share: f64,
}

impl Halves {
    pub(super) fn of(topology: &dyn Topology, wires: &Wires) -> Option<Halves> {
        let plane = topology.plane(0);
        let half = |endpoint: EndpointId| endpoint < plane.end / 2;
        let mut all = vec![flow(topology, wires, "number", half)];
        for (axis, name) in topology.axes().iter().enumerate() {
            let at = |endpoint| topology.coordinates(topology.attachment(endpoint).0)[axis];
            let size = plane.clone().map(at).max().map_or(0, |last| last + 1);
            if size > 1 {
                all.push(flow(topology, wires, name, |endpoint| {
                    at(endpoint) < size / 2
                }));
            }
        }
        let all = all.into_iter().flatten();
        all.min_by(|one, other| one.share.total_cmp(&other.share))
    }
}

/// The flow from the endpoints of one half to the others; None if a half is empty.
fn flow(
    topology: &dyn Topology,
    wires: &Wires,
    by: &str,
    first: impl Fn(EndpointId) -> bool,
) -> Option<Halves> {
    let mut sends = [0_u64; 2];
    // Bandwidth of the endpoints of each router, in each half.
    let mut ends = vec![[0_u64; 2]; wires.routers as usize];
    // Planes are alike.
    for endpoint in topology.plane(0) {
        let (router, port) = topology.attachment(endpoint);
        let bandwidth = topology.link(router, port).bandwidth.0 / UNIT;
        let half = usize::from(!first(endpoint));
        ends[router as usize][half] += bandwidth;
        sends[half] += bandwidth;
    }
    let least = sends[0].min(sends[1]);
    if least == 0 {
        return None;
    }
    let mut graph = wires.graph(|bandwidth| bandwidth);
    let [source, target] = [(), ()].map(|end| graph.add_node(end));
    for (router, [from, to]) in ends.into_iter().enumerate() {
        let router = NodeIndex::new(router);
        graph.add_edge(source, router, from);
        graph.add_edge(router, target, to);
    }
    let (most, _) = dinics(&graph, source, target);
    Some(Halves {
        by: by.to_string(),
        bandwidth_bps: most * UNIT * u64::from(topology.planes()),
        share: most as f64 / least as f64,
    })
}

/// Ways between pairs of routers with endpoints, of one plane: all of up to 256 pairs, otherwise 64
/// (fewer in networks of more than 262,144 directed links), spread over the list of all of them.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Diversity {
    /// Number of pairs.
    pub pairs: u64,
    /// Mean number of shortest ways; parallel links are different ways.
    pub shortest_mean: f64,
    /// Least number of shortest ways.
    pub shortest_least: f64,
    /// Mean number of ways that share no link, in one direction.
    pub separate_mean: f64,
    /// Least number of such ways: one less is the number of links that may fail.
    pub separate_least: u64,
}

impl Diversity {
    pub(super) fn of(topology: &dyn Topology, wires: &Wires) -> Option<Diversity> {
        let attached = topology
            .plane(0)
            .map(|endpoint| topology.attachment(endpoint).0);
        let mut routers: Vec<RouterId> = attached.collect();
        routers.sort_unstable();
        routers.dedup();
        let count = routers.len() as u64;
        let all = count * count.saturating_sub(1);
        let affordable = LOOKS / (wires.links.len() as u64).max(1);
        let pairs = match all {
            // Too few for that many different ones.
            few if few <= 4 * PAIRS[0] => few,
            _ => affordable.clamp(PAIRS[1], PAIRS[0]),
        };
        if pairs == 0 {
            return None;
        }
        let graph = wires.graph(|_| 1);
        let pair = |number: u64| {
            let place = match all > pairs {
                true => (number as f64 * GOLDEN).fract() * all as f64,
                false => number as f64,
            } as u64;
            let (from, away) = (place / (count - 1), place % (count - 1));
            let to = away + u64::from(away >= from);
            let [from, to] = [from, to].map(|at| routers[at as usize]);
            let ends = [from, to].map(|router| NodeIndex::new(router as usize));
            (
                shortest(wires, from, to),
                dinics(&graph, ends[0], ends[1]).0,
            )
        };
        let ways: Vec<(f64, u64)> = (0..pairs).map(pair).collect();
        let mean = |of: fn(&(f64, u64)) -> f64| ways.iter().map(of).sum::<f64>() / pairs as f64;
        Some(Diversity {
            pairs,
            shortest_mean: mean(|way| way.0),
            shortest_least: ways.iter().map(|way| way.0).fold(f64::INFINITY, f64::min),
            separate_mean: mean(|way| way.1 as f64),
            separate_least: ways.iter().map(|way| way.1).min().unwrap_or(0),
        })
    }
}

/// Number of shortest ways from one router to another. (As a float: it may be huge.)
fn shortest(wires: &Wires, from: RouterId, to: RouterId) -> f64 {
    let mut ways = vec![0.0; wires.routers as usize];
    let mut reached = vec![u32::MAX; wires.routers as usize];
    ways[from as usize] = 1.0;
    reached[from as usize] = 0;
    let mut level = vec![from];
    for distance in 1.. {
        let mut next = Vec::new();
        for &router in &level {
            for &other in &wires.neighbours[router as usize] {
                if reached[other as usize] == u32::MAX {
                    reached[other as usize] = distance;
                    next.push(other);
                }
                if reached[other as usize] == distance {
                    ways[other as usize] += ways[router as usize];
                }
            }
        }
        if next.is_empty() || reached[to as usize] == distance {
            break;
        }
        level = next;
    }
    ways[to as usize]
}
