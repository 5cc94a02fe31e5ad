//! Links that are down, as routers know of them.

use std::sync::Arc;

use rustc_hash::{FxHashMap, FxHashSet};

use super::{Down, Failures};
use crate::topology::{Peer, Place, Topology};
use weir_model::{EndpointId, PortId, RouterId, Span, Time};

/// Ports of routers whose links are down.
type Dead = FxHashSet<(RouterId, PortId)>;

/// The state of the links at a moment: numbers for [`Outages::is_down`].
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Seen {
    /// As all routers know it.
    pub known: u32,
    /// As it is. A router sees its links so.
    pub actual: u32,
}

/// Links that are down, from one moment at which that changes to the next.
#[derive(Clone, Debug)]
pub struct Outages {
    /// The beginning of each stretch of time, ascending from 0, and its states.
    times: Vec<(Time, Seen)>,
    /// The different states; the first is that of the beginning.
    states: Vec<Dead>,
}

impl Outages {
    /// The outages of failures; None if no link is ever down.
    pub fn new(failures: &Failures, topology: &dyn Topology) -> Option<Arc<Outages>> {
        let mut all: Vec<((RouterId, PortId), Down)> = Vec::new();
        for (from, down) in failures.down() {
            let place = match from {
                Place::Nic(endpoint) => topology.attachment(endpoint),
                Place::Router(router, port) => (router, port),
            };
            all.extend(down.iter().map(|down| (place, *down)));
        }
        if all.is_empty() {
            return None;
        }
        let ends = |span: Span| [span.from, span.to];
        let spans = all.iter().flat_map(|(_, down)| [down.span, down.known()]);
        let mut moments: Vec<Time> = spans.flat_map(ends).chain([0]).collect();
        moments.sort_unstable();
        moments.dedup();
        let mut outages = Outages {
            times: Vec::with_capacity(moments.len()),
            states: Vec::new(),
        };
        for time in moments {
            let dead = |span: fn(&Down) -> Span| -> Dead {
                let at = all.iter().filter(|(_, down)| span(down).contains(time));
                at.map(|(place, _)| *place).collect()
            };
            let seen = Seen {
                known: outages.number(dead(Down::known)),
                actual: outages.number(dead(|down| down.span)),
            };
            outages.times.push((time, seen));
        }
        Some(Arc::new(outages))
    }

    /// The number of a state.
    fn number(&mut self, dead: Dead) -> u32 {
        let known = self.states.iter().position(|state| *state == dead);
        known.unwrap_or_else(|| {
            self.states.push(dead);
            self.states.len() - 1
        }) as u32
    }

    /// The state at a moment.
    pub fn seen(&self, now: Time) -> Seen {
        let next = self.times.partition_point(|&(from, _)| from <= now);
        self.times[next - 1].1
    }

    /// The states, in the order of time.
    pub fn all_seen(&self) -> impl Iterator<Item = Seen> {
        self.times.iter().map(|&(_, seen)| seen)
    }

    /// Number of different states.
    pub fn states(&self) -> usize {
        self.states.len()
    }

    /// True if the link at a port of a router is down in a state.
    #[inline]
    pub fn is_down(&self, state: u32, router: RouterId, port: PortId) -> bool {
        self.states[state as usize].contains(&(router, port))
    }

    /// Endpoints that cannot reach the largest part of their plane in a state: their links are
    /// down, or the way there is interrupted.
    pub fn cut_off(&self, topology: &dyn Topology, state: u32) -> Vec<EndpointId> {
        let mut parts = vec![u32::MAX; topology.routers() as usize];
        for first in 0..topology.routers() {
            let mut next = vec![first];
            while let Some(router) = next.pop() {
                if parts[router as usize] != u32::MAX {
                    continue;
                }
                parts[router as usize] = first;
                let ports = 0..topology.ports(router);
                let works = ports.filter(|&port| !self.is_down(state, router, port));
                next.extend(works.filter_map(|port| match topology.peer(router, port) {
                    Peer::Router(other, _) if parts[other as usize] == u32::MAX => Some(other),
                    _ => None,
                }));
            }
        }
        let part = |endpoint: EndpointId| {
            let (router, port) = topology.attachment(endpoint);
            (!self.is_down(state, router, port)).then_some(parts[router as usize])
        };
        let mut sizes: FxHashMap<u32, usize> = FxHashMap::default();
        for own in (0..topology.endpoints()).filter_map(part) {
            *sizes.entry(own).or_default() += 1;
        }
        let plane = |number: u32| {
            let all = topology.plane(number);
            let largest = all.clone().filter_map(part).max_by_key(|part| {
                let size = sizes[part];
                (size, u32::MAX - part)
            });
            all.filter(move |&endpoint| part(endpoint).is_none() || part(endpoint) != largest)
        };
        (0..topology.planes()).flat_map(plane).collect()
    }

    /// The ports whose links are down in a state.
    pub fn down(&self, state: u32) -> impl Iterator<Item = (RouterId, PortId)> {
        self.states[state as usize].iter().copied()
    }

    /// True if it is down in any state.
    pub fn is_ever_down(&self, router: RouterId, port: PortId) -> bool {
        self.states
            .iter()
            .any(|state| state.contains(&(router, port)))
    }
}
