//! The order of the routers, and the ways that keep to it.

use std::collections::VecDeque;

use crate::failures::Outages;
use crate::topology::{Peer, Topology};
use weir_model::{PortId, RouterId};

/// A distance that is not known, and no port.
const FAR: u32 = u32::MAX;
const NONE: PortId = PortId::MAX;

/// An order of all routers: by their distance from a root, over links that are never down.
pub(super) struct Order {
    ranks: Box<[u32]>,
    longest: u32,
}

impl Order {
    pub fn new(topology: &dyn Topology, outages: &Outages) -> Order {
        let count = topology.routers() as usize;
        let mut seen = vec![false; count];
        let mut roots: Vec<(usize, RouterId)> = Vec::new();
        for root in 0..topology.routers() {
            if !seen[root as usize] {
                let (part, _) = part(topology, outages, root, &mut seen);
                roots.push((usize::MAX - part.len(), root));
            }
        }
        // The largest part first. The others follow where links that are down at some time join
        // them: they hang below it while these work.
        roots.sort_unstable();
        let mut seen = vec![false; count];
        let mut order: Vec<RouterId> = Vec::with_capacity(count);
        let (mut next, mut depth) = (0, 0);
        let mut add = |order: &mut Vec<RouterId>, root: RouterId| {
            if !seen[root as usize] {
                let (mut part, own) = part(topology, outages, root, &mut seen);
                order.append(&mut part);
                depth = depth.max(own);
            }
        };
        for &(_, root) in &roots {
            add(&mut order, root);
            while next < order.len() {
                let router = order[next];
                next += 1;
                for port in 0..topology.ports(router) {
                    if let Peer::Router(other, _) = topology.peer(router, port) {
                        add(&mut order, other);
                    }
                }
            }
        }
        let mut ranks = vec![0; count];
        for (rank, &router) in (0..).zip(&order) {
            ranks[router as usize] = rank;
        }
        Order {
            ranks: ranks.into(),
            longest: 2 * depth + 1 + 2 * (roots.len() as u32 - 1),
        }
    }

    /// True if a link from one router to another leads down: away from the root.
    pub fn is_down(&self, from: RouterId, to: RouterId) -> bool {
        self.ranks[from as usize] < self.ranks[to as usize]
    }

    /// Maximum number of routers of a detour.
    pub fn longest(&self) -> u32 {
        self.longest
    }
}

/// The routers that a root reaches over links that are never down, by their distance and number;
/// and the longest distance.
fn part(
    topology: &dyn Topology,
    outages: &Outages,
    root: RouterId,
    seen: &mut [bool],
) -> (Vec<RouterId>, u32) {
    seen[root as usize] = true;
    let (mut part, mut level, mut depth) = (Vec::new(), vec![root], 0);
    loop {
        let mut next = Vec::new();
        for &router in &level {
            for port in 0..topology.ports(router) {
                if let Peer::Router(other, _) = topology.peer(router, port)
                    && !outages.is_ever_down(router, port)
                    && !std::mem::replace(&mut seen[other as usize], true)
                {
                    next.push(other);
                }
            }
        }
        part.append(&mut level);
        if next.is_empty() {
            return (part, depth);
        }
        next.sort_unstable();
        (level, depth) = (next, depth + 1);
    }
}

/// The ways to one router in one state of the links: the next port at each router.
pub(super) struct Table {
    /// For packets that may still go up.
    any: Box<[PortId]>,
    /// For packets that have gone down.
    down: Box<[PortId]>,
}

impl Table {
    pub fn new(
        topology: &dyn Topology,
        outages: &Outages,
        order: &Order,
        state: u32,
        to: RouterId,
    ) -> Table {
        let works = |&(router, port, _): &(RouterId, PortId, RouterId)| {
            !outages.is_down(state, router, port)
        };
        let links = |router: RouterId| {
            let ports = 0..topology.ports(router);
            let peers = ports.filter_map(move |port| {
                Some((router, port, topology.peer(router, port).router()?))
            });
            peers.filter(works)
        };
        let count = topology.routers() as usize;
        let mut down = vec![FAR; count];
        down[to as usize] = 0;
        let mut queue = VecDeque::from([to]);
        while let Some(router) = queue.pop_front() {
            for (.., other) in links(router).filter(|&(.., other)| order.is_down(other, router)) {
                if down[other as usize] == FAR {
                    down[other as usize] = down[router as usize] + 1;
                    queue.push_back(other);
                }
            }
        }
        let any = with_ups(order, &links, &down);
        let next = |router: RouterId, distances: [&[u32]; 2], own: u32| {
            let [after_up, after_down] = distances;
            let leads = |&(_, _, other): &(RouterId, PortId, RouterId)| {
                let after = match order.is_down(router, other) {
                    true => after_down[other as usize],
                    false => after_up[other as usize],
                };
                after != FAR && after + 1 == own
            };
            // Which of several differs from one destination to another.
            let several = links(router).filter(leads).count();
            let place = (to as usize + router as usize) % several.max(1);
            let mut ports = links(router).filter(leads).map(|(_, port, _)| port);
            ports.nth(place).unwrap_or(NONE)
        };
        let far = vec![FAR; count];
        let routers = || 0..topology.routers();
        Table {
            any: routers()
                .map(|r| next(r, [&any, &down], any[r as usize]))
                .collect(),
            down: routers()
                .map(|r| next(r, [&far, &down], down[r as usize]))
                .collect(),
        }
    }

    /// The next port at a router, of packets that have gone down or not.
    pub fn next(&self, router: RouterId, down: bool) -> Option<PortId> {
        let ports = if down { &self.down } else { &self.any };
        Some(ports[router as usize]).filter(|&port| port != NONE)
    }

    /// True if there is a way from a router.
    pub fn has_way(&self, router: RouterId) -> bool {
        self.next(router, false).is_some()
    }
}

/// Distances of routers on ways that first go up, from those on ways that only go down.
fn with_ups<I: Iterator<Item = (RouterId, PortId, RouterId)>>(
    order: &Order,
    links: &impl Fn(RouterId) -> I,
    down: &[u32],
) -> Vec<u32> {
    let mut any = down.to_vec();
    let mut by_distance: Vec<Vec<RouterId>> = Vec::new();
    let add = |by_distance: &mut Vec<Vec<RouterId>>, distance: u32, router| {
        let distance = distance as usize;
        if by_distance.len() <= distance {
            by_distance.resize(distance + 1, Vec::new());
        }
        by_distance[distance].push(router);
    };
    for (router, &distance) in (0..).zip(down) {
        if distance != FAR {
            add(&mut by_distance, distance, router);
        }
    }
    let mut distance = 0;
    while distance < by_distance.len() {
        for router in std::mem::take(&mut by_distance[distance]) {
            let own = any[router as usize];
            if own as usize != distance {
                // It was found by a shorter way.
                continue;
            }
            // From the other router the link leads up.
            for (.., other) in links(router).filter(|&(.., other)| order.is_down(router, other)) {
                if any[other as usize] > own + 1 {
                    any[other as usize] = own + 1;
                    add(&mut by_distance, own + 1, other);
                }
            }
        }
        distance += 1;
    }
    any
}
