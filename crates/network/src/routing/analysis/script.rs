//! Decisions of a routing, played one after another.

use std::cell::Cell;

use rustc_hash::{FxHashMap, FxHashSet};

use crate::failures::Seen;
use crate::routing::{Here, Hop, Load, Queue, Routing};
use crate::topology::{Peer, Topology};
use weir_model::{EndpointId, PortId, RouterId};

/// The backlog in flits that the walker reports for a port that is not empty: more than any
/// sensible threshold.
pub const BUSY: u32 = 1 << 24;

/// The longest packet that the walker reports, in flits.
const MAX_PACKET: u32 = 16;

/// Maximum number of values of a word at a router; beyond it the walker gives up.
const MOST_VALUES: usize = 256;

/// Every value other than 0 that was ever written into the words of routers.
#[derive(Default)]
pub(super) struct Memory {
    values: FxHashMap<(RouterId, u32), Vec<u64>>,
}

impl Memory {
    /// Adds values written at a router; true if any of them is new.
    pub fn write(
        &mut self,
        router: RouterId,
        written: FxHashSet<(u32, u64)>,
    ) -> Result<bool, String> {
        let mut new = false;
        let mut written: Vec<_> = written.into_iter().collect();
        written.sort_unstable();
        for (word, value) in written {
            let values = self.values.entry((router, word)).or_default();
            if value != 0 && !values.contains(&value) {
                values.push(value);
                new = true;
            }
            if values.len() > MOST_VALUES {
                return Err(format!(
                    "word {word} of router {router} takes more than {MOST_VALUES} values: walk a \
                     smaller network"
                ));
            }
        }
        Ok(new)
    }

    /// The value with this number; number 0 is the value 0.
    fn value(&self, router: RouterId, word: u32, number: u32) -> u64 {
        match number {
            0 => 0,
            _ => self.values[&(router, word)][number as usize - 1],
        }
    }

    fn count(&self, router: RouterId, word: u32) -> u32 {
        let more = self.values.get(&(router, word));
        1 + more.map_or(0, Vec::len) as u32
    }
}

/// A `Here` that plays a list of decisions and makes the first choice where the list ends.
pub(super) struct Script<'a> {
    topology: &'a dyn Topology,
    routing: &'a dyn Routing,
    seen: Seen,
    router: RouterId,
    in_port: PortId,
    source: EndpointId,
    destination: EndpointId,
    memory: &'a Memory,
    /// The decisions, each with the number of choices.
    decisions: Vec<(u32, u32)>,
    played: usize,
    /// Backlogs reported in this call: a port keeps its backlog within a call.
    backlogs: FxHashMap<PortId, u32>,
    loads: FxHashMap<Hop, u32>,
    /// Words read or written in this call.
    words: FxHashMap<u32, u64>,
    /// Words written in any call.
    written: FxHashSet<(u32, u64)>,
    asked_source: Cell<bool>,
    pub fault: Option<String>,
}

impl<'a> Script<'a> {
    /// A script in a network, at a router, for a packet that came by a port, from a source to a
    /// destination.
    pub fn new(
        (topology, routing, seen): (&'a dyn Topology, &'a dyn Routing, Seen),
        (router, in_port): (RouterId, PortId),
        (source, destination): (EndpointId, EndpointId),
        memory: &'a Memory,
    ) -> Self {
        Script {
            topology,
            routing,
            seen,
            router,
            in_port,
            source,
            destination,
            memory,
            decisions: Vec::new(),
            played: 0,
            backlogs: FxHashMap::default(),
            loads: FxHashMap::default(),
            words: FxHashMap::default(),
            written: FxHashSet::default(),
            asked_source: Cell::new(false),
            fault: None,
        }
    }

    /// Begins a call.
    pub fn rewind(&mut self) {
        self.played = 0;
        self.backlogs.clear();
        self.loads.clear();
        self.words.clear();
    }

    /// Moves on to the next sequence of decisions. False if there is none left.
    pub fn advance(&mut self) -> bool {
        self.decisions.truncate(self.played);
        while let Some((choice, of)) = self.decisions.pop() {
            if choice + 1 < of {
                self.decisions.push((choice + 1, of));
                return true;
            }
        }
        false
    }

    /// True if the source was asked for; and the words written.
    pub fn end(self) -> (bool, FxHashSet<(u32, u64)>) {
        (self.asked_source.get(), self.written)
    }

    fn decide(&mut self, of: u32) -> u32 {
        if self.played == self.decisions.len() {
            self.decisions.push((0, of));
        }
        let (choice, _) = self.decisions[self.played];
        self.played += 1;
        choice
    }

    /// True if a port is connected; records a fault otherwise.
    fn in_use(&mut self, port: PortId, what: &str) -> bool {
        let router = self.router;
        if port < self.topology.ports(router) && self.topology.peer(router, port) != Peer::Unused {
            return true;
        }
        self.fault = Some(format!(
            "asks for the {what} of port {port} of router {router}, which is not in use"
        ));
        false
    }

    /// Any of the values that a word ever had.
    fn any_value(&mut self, word: u32) -> u64 {
        if let Some(&known) = self.words.get(&word) {
            return known;
        }
        let count = self.memory.count(self.router, word);
        let number = self.decide(count);
        let value = self.memory.value(self.router, word, number);
        self.words.insert(word, value);
        value
    }

    /// The word that records the circuit of the packet's flow at its input. It follows the
    /// routing's own words. Records a fault if circuits are not kept.
    fn circuit_word(&mut self) -> Option<u32> {
        if self.routing.circuits().is_none() {
            self.fault = Some("asks for circuits, and keeps none".into());
            return None;
        }
        self.asked_source.set(true);
        let endpoints = u64::from(self.topology.endpoints());
        let flow = u64::from(self.source) * endpoints + u64::from(self.destination);
        let own = u64::from(self.in_port) * endpoints * endpoints + flow;
        let word = u64::from(self.routing.words(self.router)) + own;
        if word > u64::from(u32::MAX) {
            self.fault = Some("too many flows to be told apart: walk a smaller network".into());
        }
        u32::try_from(word).ok()
    }

    /// True if the word exists; records a fault otherwise.
    fn has_word(&mut self, word: u32) -> bool {
        let words = self.routing.words(self.router);
        if word >= words {
            let router = self.router;
            self.fault = Some(format!(
                "asks for word {word} of {words} at router {router}"
            ));
        }
        word < words
    }
}

impl Here for Script<'_> {
    fn router(&self) -> RouterId {
        self.router
    }

    fn in_port(&self) -> PortId {
        self.in_port
    }

    fn source(&self) -> EndpointId {
        self.asked_source.set(true);
        self.source
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
        if !self.in_use(port, "backlog") {
            return 0;
        }
        if let Some(&known) = self.backlogs.get(&port) {
            return known;
        }
        let backlog = self.decide(2) * BUSY;
        self.backlogs.insert(port, backlog);
        backlog
    }

    fn queue(&mut self, port: PortId) -> Queue {
        let flits = self.backlog(port);
        Queue {
            waiting: flits,
            queued: flits,
            beyond: flits,
        }
    }

    fn load(&mut self, hop: Hop) -> Load {
        let used = match self.in_use(hop.port, "load") {
            false => 0,
            true => match self.loads.get(&hop) {
                Some(&known) => known,
                None => self.decide(2) * BUSY,
            },
        };
        self.loads.insert(hop, used);
        Load {
            used,
            queued: used,
            free: BUSY - used,
        }
    }

    fn recall(&mut self, word: u32) -> u64 {
        if !self.has_word(word) {
            return 0;
        }
        self.any_value(word)
    }

    fn remember(&mut self, word: u32, value: u64) {
        if self.has_word(word) {
            self.words.insert(word, value);
            self.written.insert((word, value));
        }
    }

    fn flows(&mut self, port: PortId) -> u32 {
        self.backlog(port)
    }

    /// Every port that was ever kept for the flow at this input, or none.
    fn circuit(&mut self) -> Option<PortId> {
        let word = self.circuit_word()?;
        let kept = self.any_value(word);
        (kept > 0).then(|| (kept - 1) as PortId)
    }

    fn keep_circuit(&mut self, port: PortId) -> bool {
        let Some(word) = self.circuit_word() else {
            return false;
        };
        let room = self.decide(2) == 0;
        if room {
            self.words.insert(word, u64::from(port) + 1);
            self.written.insert((word, u64::from(port) + 1));
        }
        room
    }

    fn max_packet(&self) -> u32 {
        MAX_PACKET
    }

    fn links(&self) -> Seen {
        self.seen
    }
}
