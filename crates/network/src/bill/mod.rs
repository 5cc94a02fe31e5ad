//! The bill of materials of a network: routers with their used and unused ports, links of each
//! class, the bandwidth between its halves, and the number of ways between its routers.

mod flows;

#[cfg(test)]
mod tests;

use std::collections::BTreeMap;

use serde::Serialize;

use crate::topology::{Links, Peer, Topology};
use flows::Wires;
use weir_model::RouterKind;

pub use flows::{Diversity, Halves};

/// The parts of a network, and their capabilities together.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Bill {
    /// Routers, by kind and number of ports.
    pub routers: Vec<RouterClass>,
    /// Links, by kind, bandwidth and latency.
    pub links: Vec<LinkClass>,
    /// The least bandwidth between two halves of the endpoints; None with fewer than 2.
    pub halves: Option<Halves>,
    /// Ways between routers with endpoints; None with fewer than 2 such routers.
    pub ways: Option<Diversity>,
}

/// Routers of one kind and with the same number of ports.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct RouterClass {
    /// Name of the kind.
    pub kind: String,
    /// Number of routers.
    pub count: u64,
    /// Ports of each.
    pub ports: u32,
    /// Ports of all of them with a link.
    pub used: u64,
    /// Ports of all of them without one.
    pub unused: u64,
}

/// Equal links.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct LinkClass {
    /// Name of the kind.
    pub kind: String,
    /// Number of links.
    pub count: u64,
    /// Bandwidth of a direction of each, bit/s.
    pub bandwidth_bps: u64,
    /// Latency of each, ps.
    pub latency_ps: u64,
}

impl Bill {
    /// Counts the parts of a network. Takes time in the order of its links for each of the pairs
    /// and halves looked at: seconds for 100,000 links.
    pub fn of(topology: &dyn Topology) -> Bill {
        let wires = Wires::of(topology);
        Bill {
            routers: routers(topology),
            links: links(topology),
            halves: Halves::of(topology, &wires),
            ways: Diversity::of(topology, &wires),
        }
    }

    /// Cost of all parts at these prices by the name of a kind, of routers or of links. Parts
    /// without a price cost nothing.
    pub fn cost(&self, prices: &BTreeMap<String, f64>) -> f64 {
        let routers = self.routers.iter().map(|class| (&class.kind, class.count));
        let links = self.links.iter().map(|class| (&class.kind, class.count));
        let price = |(kind, count): (&String, u64)| prices.get(kind).unwrap_or(&0.0) * count as f64;
        routers.chain(links).map(price).sum()
    }

    /// Names of all kinds that may have a price.
    pub fn kinds(&self) -> Vec<&str> {
        let routers = self.routers.iter().map(|class| class.kind.as_str());
        let links = self.links.iter().map(|class| class.kind.as_str());
        let mut kinds: Vec<&str> = routers.chain(links).collect();
        kinds.dedup();
        kinds
    }
}

fn routers(topology: &dyn Topology) -> Vec<RouterClass> {
    let mut classes: BTreeMap<(RouterKind, u32), [u64; 2]> = BTreeMap::new();
    for router in 0..topology.routers() {
        let ports = topology.ports(router);
        let unused = (0..ports).filter(|&port| topology.peer(router, port) == Peer::Unused);
        let unused = unused.count() as u64;
        let class = classes.entry((topology.router_kind(router), ports.into()));
        let [count, open] = class.or_default();
        *count += 1;
        *open += unused;
    }
    let names = topology.router_kinds();
    let class = |((kind, ports), [count, unused]): ((RouterKind, u32), [u64; 2])| RouterClass {
        kind: names[kind.index()].to_string(),
        count,
        ports,
        used: count * u64::from(ports) - unused,
        unused,
    };
    classes.into_iter().map(class).collect()
}

fn links(topology: &dyn Topology) -> Vec<LinkClass> {
    let names = topology.link_kinds();
    let mut all = topology.links();
    all.sort_by_key(|links| (links.link.kind, links.link.bandwidth.0, links.link.latency));
    let class = |links: Links| LinkClass {
        kind: names[links.link.kind.index()].to_string(),
        count: links.count,
        bandwidth_bps: links.link.bandwidth.0,
        latency_ps: links.link.latency,
    };
    all.into_iter().map(class).collect()
}
