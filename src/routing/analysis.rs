//! Every route that an algorithm could ever take, and whether they can deadlock.
//!
//! A [`Walker`] replays a routing algorithm with scripted choices: each `pick` takes every value, each `backlog` is
//! once nothing and once far more than any threshold. What it meets is kept by state (router, port of arrival, route
//! state of the packet) and not by path, so that small networks are walked completely in well under a second.
//!
//! The channels on the way, one for each virtual channel of each link, and who waits for whom among them form the
//! channel dependency graph. Without a cycle in it no packets can wait for each other for ever (Dally and Seitz,
//! "Deadlock-free message routing in multiprocessor interconnection networks", 1987). The link from an endpoint to
//! its router is left out: nothing in the network waits for it.

use std::fmt;

use rustc_hash::{FxHashMap, FxHashSet};
use thiserror::Error;

use super::{Here, Hop, Routing};
use crate::model::{EndpointId, Flight, PortId, RouterId};
use crate::topology::{Peer, Topology};

/// The backlog in flits that the walker reports for a port that is not empty: more than any sensible threshold.
pub const BUSY: u32 = 1 << 24;

/// The longest packet that the walker reports, in flits.
const MAX_PACKET: u32 = 16;

/// How many decision sequences one call of `route` may have before the walker gives up.
const MOST_CHOICES: usize = 1 << 20;

/// One virtual channel of the link behind a router's port, in the direction away from the router.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Channel {
    /// Where the link begins.
    pub router: RouterId,
    /// The output port.
    pub port: PortId,
    /// The virtual channel within a traffic class.
    pub vc: u8,
}

impl fmt::Display for Channel {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(
            f,
            "router {} port {} vc {}",
            self.router, self.port, self.vc
        )
    }
}

/// A route that an algorithm must not take: what is wrong, for which packet, and the way to the place.
#[derive(Clone, Debug, Error, PartialEq, Eq)]
#[error("{what} (from endpoint {source_endpoint} to endpoint {destination}, after {})", describe(.way))]
pub struct Fault {
    /// What is wrong.
    pub what: String,
    /// Where the packet came from.
    pub source_endpoint: EndpointId,
    /// Where it wants to go.
    pub destination: EndpointId,
    /// The channels it used so far.
    pub way: Vec<Channel>,
}

fn describe(way: &[Channel]) -> String {
    if way.is_empty() {
        return "no hop".into();
    }
    let hops: Vec<String> = way.iter().map(Channel::to_string).collect();
    hops.join(", ")
}

/// The lengths of all routes from one place: routers visited, that place and the destination's router included.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Span {
    /// On the shortest route.
    pub shortest: u32,
    /// On the longest route.
    pub longest: u32,
}

/// Where a packet is: router, input port and the virtual channel it came by, and what its routing knows.
type State = (RouterId, PortId, u8, Flight);
/// Flights are compared as the bytes they are made of.
type StateKey = (RouterId, PortId, u8, [u8; size_of::<Flight>()]);

/// Walks through all routes of one algorithm on one network, and remembers what it saw.
pub struct Walker<'a> {
    topology: &'a dyn Topology,
    routing: &'a dyn Routing,
    known: FxHashMap<StateKey, Option<Span>>,
    channels: FxHashSet<Channel>,
    dependencies: FxHashSet<(Channel, Channel)>,
}

/// One state on the way to a destination, with those of its successors that are still to be visited.
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
            dependencies: FxHashSet::default(),
        }
    }

    /// Walks every route between all pairs of endpoints (an endpoint and itself included), for data and for control
    /// packets. Returns the lengths of the routes.
    pub fn walk_all(&mut self) -> Result<Span, Fault> {
        let mut all: Option<Span> = None;
        for source in 0..self.topology.endpoints() {
            for destination in 0..self.topology.endpoints() {
                for control in [false, true] {
                    let span = self.walk(source, destination, control)?;
                    let so_far = all.unwrap_or(span);
                    all = Some(Span {
                        shortest: so_far.shortest.min(span.shortest),
                        longest: so_far.longest.max(span.longest),
                    });
                }
            }
        }
        Ok(all.unwrap_or(Span {
            shortest: 0,
            longest: 0,
        }))
    }

    /// Walks every route of a packet from `source` to `destination`. Returns the lengths of the routes.
    ///
    /// A [`Fault`] if a route never arrives or arrives elsewhere, is longer than [`Routing::max_routers`], leaves by
    /// a port that does not exist or is not used, or takes a virtual channel that the link does not have; also if
    /// the algorithm asks for the backlog of such a port or for a number out of none.
    pub fn walk(
        &mut self,
        source: EndpointId,
        destination: EndpointId,
        control: bool,
    ) -> Result<Span, Fault> {
        let (router, in_port) = self.topology.attachment(source);
        let flight = Flight {
            destination,
            flags: u8::from(control) * Flight::CONTROL,
            ..Flight::default()
        };
        let span = self
            .explore((router, in_port, 0, flight))
            .map_err(|(what, way)| Fault {
                what,
                source_endpoint: source,
                destination,
                way,
            })?;
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

    /// Depth first, with a stack of its own so that a route without end cannot exhaust the thread's.
    fn explore(&mut self, start: State) -> Result<Span, (String, Vec<Channel>)> {
        if let Some(Some(span)) = self.known.get(&key(&start)) {
            return Ok(*span);
        }
        let mut stack = vec![self.enter(start, None).map_err(|what| (what, Vec::new()))?];
        loop {
            let Some(top) = stack.last_mut() else {
                return Err(("nothing was walked".into(), Vec::new()));
            };
            if let Some((channel, state)) = top.next.pop() {
                match self.known.get(&key(&state)) {
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
        let (router, in_port, vc, _) = state;
        let mut step = Step {
            key: key(&state),
            next: Vec::new(),
            arrived_by,
            span: None,
        };
        self.known.insert(step.key, None);
        let waiting = match self.topology.peer(router, in_port) {
            Peer::Router(router, port) => Some(Channel { router, port, vc }),
            _ => None,
        };
        for (hop, flight) in self.choices(state)? {
            let channel = Channel {
                router,
                port: hop.port,
                vc: hop.vc,
            };
            let peer = self.check(&state, hop)?;
            self.channels.insert(channel);
            if let Some(waiting) = waiting {
                self.dependencies.insert((waiting, channel));
            }
            match peer {
                Peer::Router(next, port) => {
                    step.next.push((channel, (next, port, hop.vc, flight)));
                }
                _ => step.widen(1, 1),
            }
        }
        Ok(step)
    }

    /// What the hop leads to; an error if it is not one that a packet may take.
    fn check(&self, state: &State, hop: Hop) -> Result<Peer, String> {
        let (router, _, _, flight) = state;
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

    /// The outcomes of all decision sequences at one state, each once.
    fn choices(&self, (router, in_port, _, flight): State) -> Result<Vec<(Hop, Flight)>, String> {
        let mut outcomes = Vec::new();
        let mut seen = FxHashSet::default();
        let mut script = Script::new(self.topology, router, in_port);
        for _ in 0..MOST_CHOICES {
            let mut flight = flight;
            script.rewind();
            let hop = self.routing.route(&mut flight, &mut script);
            if let Some(fault) = script.fault.take() {
                return Err(fault);
            }
            if seen.insert((hop, key(&(router, in_port, 0, flight)))) {
                outcomes.push((hop, flight));
            }
            if !script.advance() {
                return Ok(outcomes);
            }
        }
        Err(format!(
            "more than {MOST_CHOICES} ways to decide at router {router}: walk a smaller network"
        ))
    }

    /// The channels that routes walked so far have used, ascending.
    pub fn channels(&self) -> Vec<Channel> {
        let mut channels: Vec<Channel> = self.channels.iter().copied().collect();
        channels.sort_unstable();
        channels
    }

    /// The edges of the channel dependency graph, ascending: a packet that holds the first channel may wait for the
    /// second.
    pub fn dependencies(&self) -> Vec<(Channel, Channel)> {
        let mut edges: Vec<_> = self.dependencies.iter().copied().collect();
        edges.sort_unstable();
        edges
    }

    /// A cycle of the channel dependency graph, each channel once; None if there is none.
    pub fn cycle(&self) -> Option<Vec<Channel>> {
        find_cycle(&self.dependencies())
    }

    /// Number of states (router, port of arrival, route state) met so far: how much was walked.
    pub fn states(&self) -> usize {
        self.known.len()
    }
}

fn key((router, in_port, vc, flight): &State) -> StateKey {
    (*router, *in_port, *vc, bytemuck::cast(*flight))
}

fn way(stack: &[Step]) -> Vec<Channel> {
    stack.iter().filter_map(|step| step.arrived_by).collect()
}

/// A cycle of a directed graph that is given by its edges; None if there is none.
pub fn find_cycle(edges: &[(Channel, Channel)]) -> Option<Vec<Channel>> {
    let mut after: FxHashMap<Channel, Vec<Channel>> = FxHashMap::default();
    for &(from, to) in edges {
        after.entry(from).or_default().push(to);
    }
    let mut finished: FxHashSet<Channel> = FxHashSet::default();
    let mut starts: Vec<Channel> = after.keys().copied().collect();
    starts.sort_unstable();
    for start in starts {
        if finished.contains(&start) {
            continue;
        }
        // The path from `start`, with the number of successors of each channel that were tried.
        let mut path = vec![(start, 0)];
        let mut on_path: FxHashSet<Channel> = [start].into_iter().collect();
        while let Some((channel, tried)) = path.last_mut() {
            let next = after.get(channel).and_then(|list| list.get(*tried));
            *tried += 1;
            match next {
                Some(next) if on_path.contains(next) => {
                    let cycle = path.iter().map(|(channel, _)| *channel);
                    return Some(cycle.skip_while(|channel| channel != next).collect());
                }
                Some(next) if finished.contains(next) => {}
                Some(next) => {
                    on_path.insert(*next);
                    path.push((*next, 0));
                }
                None => {
                    finished.insert(*channel);
                    on_path.remove(channel);
                    path.pop();
                }
            }
        }
    }
    None
}

/// A `Here` that plays a list of decisions and makes the first choice where the list ends.
struct Script<'a> {
    topology: &'a dyn Topology,
    router: RouterId,
    in_port: PortId,
    /// What was decided, out of how many.
    decisions: Vec<(u32, u32)>,
    played: usize,
    /// Asked twice in one call, a port has the same backlog.
    backlogs: FxHashMap<PortId, u32>,
    fault: Option<String>,
}

impl<'a> Script<'a> {
    fn new(topology: &'a dyn Topology, router: RouterId, in_port: PortId) -> Self {
        Script {
            topology,
            router,
            in_port,
            decisions: Vec::new(),
            played: 0,
            backlogs: FxHashMap::default(),
            fault: None,
        }
    }

    fn rewind(&mut self) {
        self.played = 0;
        self.backlogs.clear();
    }

    /// Moves on to the next sequence of decisions. False when there is none.
    fn advance(&mut self) -> bool {
        self.decisions.truncate(self.played);
        while let Some((choice, of)) = self.decisions.pop() {
            if choice + 1 < of {
                self.decisions.push((choice + 1, of));
                return true;
            }
        }
        false
    }

    fn decide(&mut self, of: u32) -> u32 {
        if self.played == self.decisions.len() {
            self.decisions.push((0, of));
        }
        let (choice, _) = self.decisions[self.played];
        self.played += 1;
        choice
    }
}

impl Here for Script<'_> {
    fn router(&self) -> RouterId {
        self.router
    }

    fn in_port(&self) -> PortId {
        self.in_port
    }

    fn source(&self) -> u32 {
        0
    }
    fn job(&self) -> u16 {
        0
    }
    fn pick(&mut self, n: u32) -> u32 {
        if n == 0 {
            self.fault = Some("picks one out of none".into());
            return 0;
        }
        self.decide(n)
    }

    fn backlog(&mut self, port: PortId) -> u32 {
        let router = self.router;
        if port >= self.topology.ports(router) || self.topology.peer(router, port) == Peer::Unused {
            self.fault = Some(format!(
                "asks for the backlog of port {port} of router {router}, which is not in use"
            ));
            return 0;
        }
        if let Some(&known) = self.backlogs.get(&port) {
            return known;
        }
        let backlog = self.decide(2) * BUSY;
        self.backlogs.insert(port, backlog);
        backlog
    }

    fn max_packet(&self) -> u32 {
        MAX_PACKET
    }
}

#[cfg(test)]
pub(super) mod tests;
