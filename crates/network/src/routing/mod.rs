//! Routing: the path of a packet.
//!
//! There is a folder for each family of topologies, with a file for each of its algorithms: the
//! same name may stand for the same idea on several topologies.

pub mod analysis;
mod detours;
pub mod direct;
pub mod dragonfly;
pub mod graph;
pub mod hyperx;
mod measure;
pub mod tree;

use serde::{Deserialize, Serialize};
use std::sync::Arc;

use crate::failures::{Outages, Seen};
use crate::topology::Topology;
use weir_input::registry::{Entry, Variant};
use weir_input::{ConfigError, Section};
use weir_model::{EndpointId, Flight, LinkKind, PortId, RouterId};

pub use detours::Detours;
pub use measure::Measure;

/// The next step of a packet: an output port of this router, and the virtual channel on the link
/// behind it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub struct Hop {
    /// Output port.
    pub port: PortId,
    /// Virtual channel within the packet's traffic class: below [`Routing::vcs`] of that link's
    /// kind.
    pub vc: u8,
}

impl Hop {
    /// No way leads to the destination, since links are down: the packet is lost.
    pub const NOWHERE: Hop = Hop {
        port: PortId::MAX,
        vc: 0,
    };
}

/// Load of a virtual channel, in flits.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Load {
    /// Flits in the output queue of this router and in the buffer behind the link, as far as
    /// credits tell. Flits on the link and credits on their way back are included.
    pub used: u32,
    /// The part of `used` in the output queue.
    pub queued: u32,
    /// Flits that could be sent now: credits that the output queue will not use.
    pub free: u32,
}

/// Flits to leave by a port, over all virtual channels of a packet's traffic class and of the
/// classes with precedence over it.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Queue {
    /// Flits in input queues of this router.
    pub waiting: u32,
    /// Flits in the port's output queues.
    pub queued: u32,
    /// Flits on the link, in the buffer behind it, or on the way back as credit. None on the way to
    /// an endpoint.
    pub beyond: u32,
}

/// State that a routing algorithm may read and draw from at one router.
///
/// The packet's flow is its source, its destination (in the [`Flight`]) and its job.
///
/// All randomness goes through `pick`, all knowledge of load through `backlog`, `queue` and `load`,
/// and all memory through `recall` and `remember`. A test can therefore walk through every route
/// that an algorithm could take.
pub trait Here {
    /// The router that the packet is at.
    fn router(&self) -> RouterId;
    /// The port it came in by.
    fn in_port(&self) -> PortId;
    /// The packet's source.
    fn source(&self) -> EndpointId;
    /// The index of the packet's job among the jobs of the run.
    fn job(&self) -> u16;
    /// A random integer in `0..n`; n > 0.
    fn pick(&mut self, n: u32) -> u32;
    /// Backlog of `port`, flits, over all virtual channels of the packet's traffic class and of the
    /// classes with precedence over it.
    ///
    /// It includes flits that wait in this router for the port (input and output queues) and, as
    /// far as credits tell, flits in the buffer behind it, less the content of the link's round
    /// trip.
    fn backlog(&mut self, port: PortId) -> u32;
    /// The same by location, including the link's round trip.
    fn queue(&mut self, port: PortId) -> Queue;
    /// Load of a virtual channel of the packet's traffic class. If virtual channels share a buffer:
    /// the load of that buffer.
    fn load(&mut self, hop: Hop) -> Load;
    /// One of the words that the routing keeps at this router, below [`Routing::words`]; 0 before
    /// it is written.
    fn recall(&mut self, word: u32) -> u64;
    /// Writes a word that the routing keeps at this router.
    fn remember(&mut self, word: u32, value: u64);
    /// Number of flows that leave by `port`: set up and not torn down. For routings that keep
    /// circuits ([`Routing::circuits`]), like the two methods below.
    fn flows(&mut self, port: PortId) -> u32;
    /// The port that this router keeps for the packet's flow (source and destination) at the input
    /// where the packet came in.
    fn circuit(&mut self) -> Option<PortId>;
    /// Keeps a port for the packet's flow until it is torn down; false if the cache of the input is
    /// full.
    fn keep_circuit(&mut self, port: PortId) -> bool;
    /// The longest packet in flits, for biases in packets.
    fn max_packet(&self) -> u32;
    /// The state of the links now; the first one in networks where no link is ever down.
    fn links(&self) -> Seen;
}

/// Methods of [`Here`] that a view of a router (`self.here`) does not change.
macro_rules! pass_on {
    ($($method:ident)*) => { $(pass_on!(@$method);)* };
    (@router) => { fn router(&self) -> weir_model::RouterId { self.here.router() } };
    (@in_port) => { fn in_port(&self) -> weir_model::PortId { self.here.in_port() } };
    (@source) => { fn source(&self) -> weir_model::EndpointId { self.here.source() } };
    (@job) => { fn job(&self) -> u16 { self.here.job() } };
    (@pick) => { fn pick(&mut self, n: u32) -> u32 { self.here.pick(n) } };
    (@backlog) => {
        fn backlog(&mut self, port: weir_model::PortId) -> u32 { self.here.backlog(port) }
    };
    (@queue) => {
        fn queue(&mut self, port: weir_model::PortId) -> $crate::routing::Queue {
            self.here.queue(port)
        }
    };
    (@recall) => { fn recall(&mut self, word: u32) -> u64 { self.here.recall(word) } };
    (@remember) => {
        fn remember(&mut self, word: u32, value: u64) { self.here.remember(word, value); }
    };
    (@flows) => { fn flows(&mut self, port: weir_model::PortId) -> u32 { self.here.flows(port) } };
    (@circuit) => {
        fn circuit(&mut self) -> Option<weir_model::PortId> { self.here.circuit() }
    };
    (@keep_circuit) => {
        fn keep_circuit(&mut self, port: weir_model::PortId) -> bool {
            self.here.keep_circuit(port)
        }
    };
    (@max_packet) => { fn max_packet(&self) -> u32 { self.here.max_packet() } };
    (@links) => { fn links(&self) -> $crate::failures::Seen { self.here.links() } };
}
pub(crate) use pass_on;

/// Choice of a packet's virtual network by a NIC. The link to its router has the virtual channels
/// of `nic.injection_vcs` for each network.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct NicChoice {
    /// Virtual networks, 1 or more.
    pub networks: u8,
    /// Rule for the choice.
    pub by: NicRule,
}

/// Rule by which a NIC chooses a virtual network.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum NicRule {
    /// The one after that of the previous packet from the same NIC. If that has no room, the packet
    /// waits.
    InTurn,
    /// The same; packets of other queues do not go before it either.
    Strict,
    /// Packet i of the m-th message of an endpoint, both from 0, takes network (m + i) mod
    /// `networks`, and waits until that has room.
    Numbered,
    /// The one with the least backlog in the queue that the packet would join behind the link; of
    /// equal ones the first in turn.
    LeastUsed,
}

/// Per-flow state at routers.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Circuits {
    /// Maximum number of flows that an input port keeps a port for.
    pub cache: u32,
}

/// A routing algorithm, fixed to one topology.
#[allow(unused_variables)]
pub trait Routing: Send + Sync {
    /// Virtual channels that one traffic class needs on links of `kind`.
    fn vcs(&self, kind: LinkKind) -> u8;
    /// The orders in which its virtual networks take the dimensions of the network. All networks
    /// have the same number of virtual channels of a link, one network after the other. Empty:
    /// packets do not keep to an order.
    fn orders(&self) -> &[Box<[usize]>] {
        &[]
    }
    /// Choice of the virtual network by the NIC that sends a packet; `flight.via` is its number.
    /// None: `route` chooses.
    fn choice_at_nic(&self) -> Option<NicChoice> {
        None
    }
    /// The next hop of a packet.
    ///
    /// Called once per router, when the packet reaches the head of its input queue or, with virtual
    /// output queues, when it arrives; `flight` holds the algorithm's state. At the destination's
    /// router the hop is the terminal port with virtual channel 0. Packets with
    /// `flight.is_control()` go minimally under every algorithm (all control packets, unless
    /// `nic.control_routes` says otherwise).
    fn route(&self, flight: &mut Flight, here: &mut dyn Here) -> Hop;
    /// Maximum number of routers that a packet can visit.
    fn max_routers(&self) -> u32;
    /// True if it depends on load ([`Here::backlog`], [`Here::queue`], [`Here::load`]).
    fn is_adaptive(&self) -> bool {
        false
    }
    /// Words of memory that the algorithm keeps at `router` ([`Here::recall`]): flow tables,
    /// round-robin pointers.
    fn words(&self, router: RouterId) -> u32 {
        0
    }
    /// Set if routers keep the paths of flows ([`Here::circuit`]).
    ///
    /// NICs then set up a path before they send any packet of a message, and tear it down behind
    /// it. Set-up packets ([`Flight::is_setup`]) are routed by choice, and all of the flow behind
    /// them ([`Flight::goes_by_circuits`]) by the stored ports.
    fn circuits(&self) -> Option<Circuits> {
        None
    }
    /// True if all packets from one endpoint to another take one path, including control packets,
    /// as long as a flow lasts.
    fn one_way(&self) -> bool {
        self.circuits().is_some()
    }
    /// True if rings of links are kept free of deadlock by a place that stays free in each of them
    /// ([`Routing::onward`]).
    fn keeps_bubbles(&self) -> bool {
        false
    }
    /// The port by which a ring that comes in at a router by `in_port` continues.
    ///
    /// This is for rings on which packets that continue, always in the same virtual channel, may
    /// wait for each other all the way round. A packet continues along its ring if the buffer ahead
    /// has a place for it. It enters the ring, from an endpoint or another ring, only if there are
    /// two. One place is thus left, the *bubble*, and some packet of the ring can move (Carrion,
    /// Beivide, Gregorio, Vallejo, "A flow control mechanism to avoid message deadlock in k-ary
    /// n-cube networks", HiPC 1997; Puente et al., "The adaptive bubble router", JPDC 61(9), 2001).
    fn onward(&self, router: RouterId, in_port: PortId) -> Option<PortId> {
        None
    }
    /// True if packets that have to wait may take alternatives to the first way: `alternatives` and
    /// `take` are then called.
    fn has_alternatives(&self) -> bool {
        false
    }
    /// The ways that a packet may take if it cannot go by `first`, the result of `route`: the best
    /// first, the escape last.
    ///
    /// Called once, when the packet starts to wait; it waits for all of them, and takes the first
    /// that it can. In a queue it waits until it is the first there.
    ///
    /// The escapes alone prevent deadlocks (Duato, "A necessary and sufficient condition for
    /// deadlock-free routing in cut-through and store-and-forward networks", 1996). Wherever a
    /// packet is, the last of its ways, which is `first` if there are no others, must lead to its
    /// destination. No packets in channels that are the last way of any may wait for each other in
    /// a cycle. [`analysis::Walker`] proves that.
    fn alternatives(&self, flight: &Flight, first: Hop, here: &mut dyn Here, ways: &mut Vec<Hop>) {}
    /// Records that the packet leaves `router` by `hop`, which is the first way or one of the
    /// alternatives. State that depends on that is stored in `flight` here and not in `route`.
    fn take(&self, flight: &mut Flight, router: RouterId, hop: Hop) {}
    /// True if the last virtual channel of each link between routers is for detours, which are in
    /// no ring ([`Detours`]).
    fn has_detours(&self) -> bool {
        false
    }
    /// Takes note of links that are down at some time, before anything runs, to choose ways that
    /// avoid them ([`Here::links`]). Where an algorithm does not, or finds none, [`Detours`] goes
    /// around them.
    fn heed(&mut self, outages: &Arc<Outages>) {}
}

/// Builds a routing algorithm for a topology from its section.
pub type Build = fn(&Section, &Arc<dyn Topology>) -> Result<Box<dyn Routing>, ConfigError>;

/// The routings of a family of topologies. No other family has a routing of the same name for one
/// of these topologies.
pub struct Routings {
    /// The kinds of topology that they are made for, by their names in the experiment file; empty:
    /// all kinds.
    pub topologies: &'static [&'static str],
    /// The routings.
    pub entries: &'static [Entry<Build>],
}

/// All routing algorithms.
pub const REGISTRY: &[Routings] = &[
    dragonfly::ROUTINGS,
    tree::ROUTINGS,
    direct::IN_ORDER,
    direct::HYBRID,
    direct::IN_ORDERS,
    direct::IN_ANY_ORDER,
    hyperx::ROUTINGS,
    graph::ROUTINGS,
];

/// All routings, with the topologies that each is made for.
pub fn variants() -> Vec<Variant<Build>> {
    let of_family = |family: &'static Routings| {
        let entries = family.entries.iter();
        entries.map(|entry| entry.for_topologies(family.topologies))
    };
    REGISTRY.iter().flat_map(of_family).collect()
}

/// The routing called `name` for a kind of topology.
pub fn find(topology: &str, name: &str) -> Option<&'static Entry<Build>> {
    let made =
        |family: &&Routings| family.topologies.is_empty() || family.topologies.contains(&topology);
    let mut entries = REGISTRY
        .iter()
        .filter(made)
        .flat_map(|family| family.entries);
    entries.find(|entry| entry.name == name)
}
