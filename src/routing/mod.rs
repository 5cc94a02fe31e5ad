//! Which way a packet takes. A folder for each family of topologies, with a file for each of its algorithms: the same name
//! may stand for the same idea on several topologies.

pub mod analysis;
pub mod dragonfly;
pub mod tree;

use std::sync::Arc;

use crate::config::{ConfigError, Section};
use crate::model::{EndpointId, Flight, LinkKind, PortId, RouterId};
use crate::registry::{Entry, Variant};
use crate::topology::Topology;

/// The next step of a packet: an output port of this router, and the virtual channel on the link behind it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Hop {
    /// Output port.
    pub port: PortId,
    /// Virtual channel within the packet's traffic class: below [`Routing::vcs`] of that link's kind.
    pub vc: u8,
}

/// What a routing algorithm may look at and draw from, at one router.
///
/// All chance goes through `pick` and all knowledge of load through `backlog`, so that a test can walk through every
/// route an algorithm could ever take.
pub trait Here {
    /// The router that the packet is at.
    fn router(&self) -> RouterId;
    /// The port it came in by.
    fn in_port(&self) -> PortId;
    /// The packet's source. With its destination and its job it is the packet's flow.
    fn source(&self) -> EndpointId;
    /// The number of the packet's job among those that run.
    fn job(&self) -> u16;
    /// A random whole number in `0..n`; n > 0.
    fn pick(&mut self, n: u32) -> u32;
    /// Flits that are on their way out by `port`, over all virtual channels of the packet's traffic class and those that
    /// go before it: waiting in this router for it
    /// (input and output queues), and in the buffer behind it as far as credits tell, less what merely fills the
    /// link's round trip.
    fn backlog(&mut self, port: PortId) -> u32;
    /// The longest packet in flits, for biases that are counted in packets.
    fn max_packet(&self) -> u32;
}

/// A routing algorithm, fixed to one topology.
pub trait Routing: Send + Sync {
    /// Virtual channels that one traffic class needs on links of `kind`.
    fn vcs(&self, kind: LinkKind) -> u8;
    /// The next hop of a packet. Called once per router; `flight` keeps what the algorithm has to remember.
    /// At the destination's router it is the terminal port with virtual channel 0. Packets with `flight.is_control()`
    /// go minimally under every algorithm.
    fn route(&self, flight: &mut Flight, here: &mut dyn Here) -> Hop;
    /// The most routers that a packet can visit.
    fn max_routers(&self) -> u32;
}

/// Builds a routing algorithm for a topology from its section.
pub type Build = fn(&Section, &Arc<dyn Topology>) -> Result<Box<dyn Routing>, ConfigError>;

/// The routings of a family of topologies. No other has a routing of the same name for one of these topologies.
pub struct Routings {
    /// The kinds of topology that they are made for, by their names in the experiment file; empty: for all there are.
    pub topologies: &'static [&'static str],
    /// The routings.
    pub entries: &'static [Entry<Build>],
}

/// All routing algorithms.
pub const REGISTRY: &[Routings] = &[dragonfly::ROUTINGS, tree::ROUTINGS];

/// All routings, with the topologies that each is made for.
pub fn variants() -> Vec<Variant> {
    let of_family = |family: &'static Routings| {
        family.entries.iter().map(|entry| Variant {
            topologies: family.topologies,
            ..entry.variant()
        })
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
