//! Enumerates every route that an algorithm could take, and checks them for deadlock.
//!
//! A [`Walker`] replays a routing algorithm with scripted choices. Each `pick` takes every value;
//! each `backlog` and `load` is once 0 and once far above any threshold; circuits are kept or find
//! no room; and each word that the algorithm keeps at a router takes every value that was ever
//! written there. Visited states are kept by router, port of arrival, route state of the packet,
//! and its source if the algorithm asks for that, not by path. Small networks are therefore walked
//! completely in well under a second. The job is always the first.
//!
//! The channel dependency graph has the channels of the routes as nodes, one for each virtual
//! channel of each link. Its edges say which channels' packets may wait for which others. If it has
//! no cycle, no packets can wait for each other for ever (Dally and Seitz, "Deadlock-free message
//! routing in multiprocessor interconnection networks", 1987). The link from an endpoint to its
//! router is left out: nothing in the network waits for it.
//!
//! A packet that may take several ways waits for all of them. The graph is then that of the
//! escapes, which are the channels that are the last way of some packet somewhere. An edge leads
//! from an escape to the last way of every packet that can be in it, whatever channels that packet
//! came by. Routers keep whole packets (virtual cut-through), so a waiting packet holds no other
//! channel than the one it is in. Suppose there is no cycle, and take an escape without outgoing
//! edges: its packets have arrived, so it empties. Then the escapes whose edges lead to it alone
//! empty, and so on. With the escapes, all packets that wait for them leave, in any channel.
//! (Duato, "A necessary and sufficient condition for deadlock-free routing in cut-through and
//! store-and-forward networks", IEEE TPDS 7(8), 1996.) Connectivity of the escapes needs no
//! separate check: every packet has a last way everywhere, and every route arrives.

mod bubbles;
mod choices;
mod graph;
mod script;

use rustc_hash::{FxHashMap, FxHashSet};
use thiserror::Error;

use super::{Hop, Routing};
use crate::failures::Seen;
use crate::topology::{Peer, Topology};
use weir_model::{EndpointId, Flight, PortId, RouterId};

pub use graph::{Channel, find_cycle};
pub use script::BUSY;
use script::Memory;

/// End of the text of a fault that says nothing about the algorithm.
const TOO_LARGE: &str = "walk a smaller network";

/// A route that an algorithm must not take: the reason, the packet, and the way to the place.
#[derive(Clone, Debug, Error, PartialEq, Eq)]
#[error("{what} (from endpoint {source_endpoint} to endpoint {destination}, after \
         {})", describe(.way))]
pub struct Fault {
    /// The reason.
    pub what: String,
    /// Source of the packet.
    pub source_endpoint: EndpointId,
    /// Destination of the packet.
    pub destination: EndpointId,
    /// The channels it used so far.
    pub way: Vec<Channel>,
}

impl Fault {
    /// True if the walk gave up because there are too many decision sequences, at one place or in
    /// all. Nothing is known to be wrong with the route then.
    pub fn is_too_large(&self) -> bool {
        self.what.ends_with(TOO_LARGE)
    }
}

fn describe(way: &[Channel]) -> String {
    if way.is_empty() {
        return "no hop".into();
    }
    let hops: Vec<String> = way.iter().map(Channel::to_string).collect();
    hops.join(", ")
}

/// The lengths of all routes from one place: routers visited, that place and the destination's
/// router included.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Span {
    /// On the shortest route.
    pub shortest: u32,
    /// On the longest route.
    pub longest: u32,
}

impl Span {
    /// The span of the routes of both.
    fn and(self, other: Span) -> Span {
        Span {
            shortest: self.shortest.min(other.shortest),
            longest: self.longest.max(other.longest),
        }
    }
}

/// State of a packet: router, input port, virtual channel that it came by, routing state, and
/// source.
type State = (RouterId, PortId, u8, Flight, EndpointId);
/// Flights are compared as the bytes they consist of. The source is 0 if the algorithm does not ask
/// for it.
type StateKey = (RouterId, PortId, u8, FlightKey, EndpointId);
type FlightKey = [u8; size_of::<Flight>()];

/// The ways that a packet may go after one sequence of decisions, and its route state on each; the
/// last is the escape.
type Ways = Vec<(Hop, Flight)>;

/// Walks through all routes of one algorithm on one network, and remembers what it saw.
pub struct Walker<'a> {
    topology: &'a dyn Topology,
    routing: &'a dyn Routing,
    known: FxHashMap<StateKey, Option<Span>>,
    channels: FxHashSet<Channel>,
    /// Channels that are the last way of some packet.
    escapes: FxHashSet<Channel>,
    /// From the channel that a packet is in to its last way.
    dependencies: FxHashSet<(Channel, Channel)>,
    /// Values written at routers.
    memory: Memory,
    /// True if the algorithm has asked for the source of a packet.
    asks_source: bool,
    /// Number of times that known states had to be examined again.
    anew: u32,
    /// State of the links.
    seen: Seen,
    /// Number of decision sequences that it may still try.
    tries: u64,
}

/// One state on the way to a destination, with its unvisited successors.
struct Step {
    key: StateKey,
    next: Vec<(Channel, State)>,
    arrived_by: Option<Channel>,
    span: Option<Span>,
}

impl Step {
    fn widen(&mut self, shortest: u32, longest: u32) {
        self.span = Some(match self.span {
            None => Span { shortest, longest },
            Some(span) => Span {
                shortest: span.shortest.min(shortest),
                longest: span.longest.max(longest),
            },
        });
    }
}

impl<'a> Walker<'a> {
    /// A walker that has seen nothing yet.
    pub fn new(topology: &'a dyn Topology, routing: &'a dyn Routing) -> Self {
        Walker {
            topology,
            routing,
            known: FxHashMap::default(),
            channels: FxHashSet::default(),
            escapes: FxHashSet::default(),
            dependencies: FxHashSet::default(),
            memory: Memory::default(),
            asks_source: false,
            anew: 0,
            seen: Seen::default(),
            tries: u64::MAX,
        }
    }

    /// Gives up ([`Fault::is_too_large`]) after this number of decision sequences in all.
    #[must_use]
    pub fn at_most(mut self, tries: u64) -> Self {
        self.tries = tries;
        self
    }

    /// Sets the state of the links for the walks that follow. What was seen before is kept: packets
    /// of several states may meet.
    pub fn set_links(&mut self, seen: Seen) {
        self.seen = seen;
        self.known.clear();
    }

    /// Walks every route between all pairs of endpoints of a plane (an endpoint and itself, too),
    /// for data packets, control packets, and packets that set up circuits. Returns the lengths of
    /// the routes.
    pub fn walk_all(&mut self) -> Result<Span, Fault> {
        let mut all: Option<Span> = None;
        loop {
            let anew = self.anew;
            for source in 0..self.topology.endpoints() {
                for destination in self.topology.plane(self.topology.plane_of(source)) {
                    for flags in self.kinds_of_packets() {
                        let span = self.walk_packet(source, destination, *flags)?;
                        all = Some(all.map_or(span, |all| all.and(span)));
                    }
                }
            }
            // Values written by one packet may be read by others.
            if self.anew == anew {
                break;
            }
        }
        Ok(all.unwrap_or(Span {
            shortest: 0,
            longest: 0,
        }))
    }

    /// Walks every route of a packet from `source` to `destination`. Returns the lengths of the
    /// routes. Alternative ways are walked like any other.
    ///
    /// A [`Fault`] if a route
    /// - never arrives or arrives elsewhere,
    /// - is longer than [`Routing::max_routers`],
    /// - leaves by a port that does not exist or is not used,
    /// - or takes a virtual channel that the link does not have.
    ///
    /// It is also a fault if the algorithm asks for the backlog of such a port, for a number out of
    /// none or for a word that it does not have, or names a way twice.
    pub fn walk(
        &mut self,
        source: EndpointId,
        destination: EndpointId,
        control: bool,
    ) -> Result<Span, Fault> {
        self.walk_packet(source, destination, u8::from(control) * Flight::CONTROL)
    }

    /// The flags of the packets that are routed differently. Packets that set up circuits come
    /// first: others read what they store.
    fn kinds_of_packets(&self) -> &'static [u8] {
        const ALL: &[u8] = &[Flight::CONTROL | Flight::SETUP, 0, Flight::CONTROL];
        match self.routing.circuits() {
            Some(_) => ALL,
            None => &ALL[1..],
        }
    }

    fn walk_packet(
        &mut self,
        source: EndpointId,
        destination: EndpointId,
        flags: u8,
    ) -> Result<Span, Fault> {
        let (router, in_port) = self.topology.attachment(source);
        let flight = Flight {
            destination,
            flags,
            ..Flight::default()
        };
        let networks = self.routing.choice_at_nic();
        let networks = networks.map_or(1, |choice| u32::from(choice.networks));
        let span = loop {
            let anew = self.anew;
            let mut all: Option<Span> = None;
            for via in 0..networks {
                // A NIC may choose any.
                let flight = Flight { via, ..flight };
                let explored = self.explore((router, in_port, 0, flight, source));
                let span = explored.map_err(|(what, way)| Fault {
                    what,
                    source_endpoint: source,
                    destination,
                    way,
                })?;
                all = Some(all.map_or(span, |all| all.and(span)));
            }
            if let (Some(span), true) = (all, self.anew == anew) {
                break span;
            }
            self.known.clear();
        };
        let most = self.routing.max_routers();
        if span.longest > most {
            return Err(Fault {
                what: format!(
                    "a route visits {} routers, but max_routers() is {most}",
                    span.longest
                ),
                source_endpoint: source,
                destination,
                way: Vec::new(),
            });
        }
        Ok(span)
    }

    /// Depth first, with an explicit stack so that an endless route cannot overflow the thread's.
    fn explore(&mut self, start: State) -> Result<Span, (String, Vec<Channel>)> {
        if let Some(Some(span)) = self.known.get(&self.key(&start)) {
            return Ok(*span);
        }
        let mut stack = vec![self.enter(start, None).map_err(|what| (what, Vec::new()))?];
        loop {
            let Some(top) = stack.last_mut() else {
                return Err(("nothing was walked".into(), Vec::new()));
            };
            if let Some((channel, state)) = top.next.pop() {
                match self.known.get(&self.key(&state)) {
                    Some(Some(span)) => top.widen(span.shortest + 1, span.longest + 1),
                    Some(None) => {
                        let mut way = way(&stack);
                        way.push(channel);
                        return Err(("a route never arrives: it comes back to itself".into(), way));
                    }
                    None => {
                        let step = self.enter(state, Some(channel)).map_err(|what| {
                            let mut way = way(&stack);
                            way.push(channel);
                            (what, way)
                        })?;
                        stack.push(step);
                    }
                }
                continue;
            }
            // Every state has a successor or is an arrival, so a finished step has a span.
            let Some(span) = top.span else {
                return Err(("a route ends nowhere".into(), way(&stack)));
            };
            self.known.insert(top.key, Some(span));
            stack.pop();
            match stack.last_mut() {
                Some(below) => below.widen(span.shortest + 1, span.longest + 1),
                None => return Ok(span),
            }
        }
    }

    /// Tries every choice at one state and notes the channels that follow.
    fn enter(&mut self, state: State, arrived_by: Option<Channel>) -> Result<Step, String> {
        let (router, in_port, vc, _, source) = state;
        let key = self.key(&state);
        let mut step = Step {
            key,
            next: Vec::new(),
            arrived_by,
            span: None,
        };
        self.known.insert(step.key, None);
        let waiting = match self.topology.peer(router, in_port) {
            Peer::Router(router, port) => Some(Channel { router, port, vc }),
            _ => None,
        };
        let mut gone = FxHashSet::default();
        for ways in self.choices(state)? {
            let mut last = None;
            for (hop, flight) in ways {
                let channel = Channel {
                    router,
                    port: hop.port,
                    vc: hop.vc,
                };
                let peer = self.check(&state, hop)?;
                last = Some(channel);
                self.channels.insert(channel);
                match peer {
                    Peer::Router(next, port) => {
                        if gone.insert((hop, bytes(&flight))) {
                            step.next
                                .push((channel, (next, port, hop.vc, flight, source)));
                        }
                    }
                    _ => step.widen(1, 1),
                }
            }
            self.escapes.extend(last);
            self.dependencies.extend(waiting.zip(last));
        }
        Ok(step)
    }

    /// The other end of the hop; an error if a packet may not take it.
    fn check(&self, state: &State, hop: Hop) -> Result<Peer, String> {
        let (router, _, _, flight, _) = state;
        if hop.port >= self.topology.ports(*router) {
            return Err(format!("router {router} has no port {}", hop.port));
        }
        let peer = self.topology.peer(*router, hop.port);
        let kind = self.topology.link(*router, hop.port).kind;
        let vcs = self.routing.vcs(kind);
        if hop.vc >= vcs {
            return Err(format!(
                "virtual channel {} at port {} of router {router}, but {} links have {vcs}",
                hop.vc,
                hop.port,
                self.topology.link_kinds()[kind.index()]
            ));
        }
        match peer {
            Peer::Unused => Err(format!("port {} of router {router} is unused", hop.port)),
            Peer::Endpoint(endpoint) if endpoint != flight.destination => {
                Err(format!("arrives at endpoint {endpoint}"))
            }
            Peer::Endpoint(_) if hop.vc != 0 => Err(format!(
                "arrives on virtual channel {}, and not on 0",
                hop.vc
            )),
            _ => Ok(peer),
        }
    }

    /// The channels that routes walked so far have used, ascending.
    pub fn channels(&self) -> Vec<Channel> {
        let mut channels: Vec<Channel> = self.channels.iter().copied().collect();
        channels.sort_unstable();
        channels
    }

    /// The edges of the channel dependency graph, ascending. A packet in the first channel, which
    /// is the last way of some packet, may wait for the second as its last way.
    pub fn dependencies(&self) -> Vec<(Channel, Channel)> {
        let edges = self.dependencies.iter().copied();
        let mut edges: Vec<_> = edges
            .filter(|(from, _)| self.escapes.contains(from))
            .collect();
        edges.sort_unstable();
        edges
    }

    /// A cycle of the channel dependency graph, each channel once; None if there is none. Each ring
    /// that keeps a bubble is one node, represented by its first channel.
    pub fn cycle(&self) -> Option<Vec<Channel>> {
        let edges = self.dependencies();
        match self.routing.keeps_bubbles() {
            false => find_cycle(&edges),
            true => find_cycle(&self.between_rings(&edges)),
        }
    }

    fn key(&self, (router, in_port, vc, flight, source): &State) -> StateKey {
        let source = if self.asks_source { *source } else { 0 };
        (*router, *in_port, *vc, bytes(flight), source)
    }

    /// Number of states (router, port of arrival, route state) visited so far.
    pub fn states(&self) -> usize {
        self.known.len()
    }
}

fn bytes(flight: &Flight) -> FlightKey {
    bytemuck::cast(*flight)
}

fn way(stack: &[Step]) -> Vec<Channel> {
    stack.iter().filter_map(|step| step.arrived_by).collect()
}

#[cfg(test)]
pub(super) mod tests;
