//! The congestion tree: backlog behind a root, port by port back from it, and by group and time.

use std::collections::BTreeMap;

use serde::Serialize;

use super::Run;
use super::flow::{Place, Walk};
use super::network::PortIndex;
use weir_model::Time;

/// Minimum part of the backlog behind the root from which a port belongs to the tree.
const LEAST: f64 = 1e-3;

/// Backlog behind a root.
#[derive(Clone, Debug, Default, Serialize)]
pub struct Tree {
    /// Ports of routers at which something waits, the root among them, with most first.
    pub ports: Vec<TreePort>,
    /// Routers of these ports.
    pub routers: usize,
    /// Groups of these routers.
    pub groups: usize,
    /// Endpoints whose NICs are held back.
    pub nics: usize,
    /// Amounts by group and time bin.
    pub spread: Vec<Spread>,
}

/// A port at which something waits for a root.
#[derive(Clone, Copy, Debug, Serialize)]
pub struct TreePort {
    /// Its router.
    pub router: u32,
    /// The port.
    pub port: u16,
    /// The router's group.
    pub group: u32,
    /// Links from it to the root; 0 is the root itself.
    pub distance: u32,
    /// The router that it leads to; none if that is an endpoint.
    pub next_router: Option<u32>,
    /// Backlog there behind the root, times its duration, B s.
    pub waited: f64,
}

/// Backlog behind a root in a group and a time bin.
#[derive(Clone, Copy, Debug, Serialize)]
pub struct Spread {
    /// Start of the bin, ps.
    pub time_ps: Time,
    /// The group.
    pub group: u32,
    /// Data that waited on average, bytes.
    pub bytes: f64,
}

/// The tree of a root.
pub(super) fn tree(run: &Run, root: PortIndex) -> Tree {
    let mut places: BTreeMap<Place, f64> = BTreeMap::new();
    let mut spread: BTreeMap<(Time, u32), f64> = BTreeMap::new();
    let width = run.attribution.looks.bin_ps.max(1) as f64 * 1e-12;
    for (time, bin) in &run.bins {
        for (place, waited) in Walk::new(&run.network, bin).tree_of(root) {
            *places.entry(place).or_default() += waited;
            let group = run.network.group(place.0);
            *spread.entry((*time, group)).or_default() += waited / width;
        }
    }
    let least = LEAST * places.values().sum::<f64>();
    places.retain(|_, waited| *waited >= least);
    let distances = distances(run, root, &places);
    let ports = places.iter().filter(|((_, nic), _)| !nic);
    let mut ports: Vec<TreePort> = ports
        .map(|(&(port, _), &waited)| {
            let own = &run.network.ports[port];
            TreePort {
                router: own.router,
                port: own.port,
                group: run.network.group(port),
                distance: distances.get(&port).copied().unwrap_or(u32::MAX),
                next_router: own.peer.map(|(router, _)| router),
                waited,
            }
        })
        .collect();
    ports.sort_by(|a, b| b.waited.total_cmp(&a.waited));
    let count = |of: fn(&TreePort) -> u32| {
        let mut all: Vec<u32> = ports.iter().map(of).collect();
        all.sort_unstable();
        all.dedup();
        all.len()
    };
    Tree {
        routers: count(|port| port.router),
        groups: count(|port| port.group),
        nics: places.keys().filter(|(_, nic)| *nic).count(),
        spread: spread
            .into_iter()
            .map(|((time_ps, group), bytes)| Spread {
                time_ps,
                group,
                bytes,
            })
            .collect(),
        ports,
    }
}

/// Number of links from each port of the tree to the root, along ports of the tree.
fn distances(
    run: &Run,
    root: PortIndex,
    places: &BTreeMap<Place, f64>,
) -> BTreeMap<PortIndex, u32> {
    let mut distances = BTreeMap::from([(root, 0)]);
    let ports = || places.keys().filter(|(_, nic)| !nic).map(|(port, _)| *port);
    for distance in 1.. {
        // The routers whose incoming data continues towards the root.
        let near: Vec<u32> = (distances.iter())
            .filter(|(_, own)| **own + 1 == distance)
            .map(|(port, _)| run.network.ports[*port].router)
            .collect();
        let before = distances.len();
        for port in ports() {
            let leads = run.network.ports[port].peer;
            if leads.is_some_and(|(router, _)| near.contains(&router)) {
                distances.entry(port).or_insert(distance);
            }
        }
        if distances.len() == before {
            break;
        }
    }
    distances
}
