//! Networks as graphs, and their split into domains. Everything is computed from coordinates: no table grows with
//! the number of endpoints.

pub mod dragonfly;
pub mod folded_clos;
pub mod kary_ntree;
mod link;
pub mod tree;

use std::any::Any;
use std::sync::Arc;

use crate::config::{ConfigError, Section};
use crate::model::{Bandwidth, DomainId, EndpointId, LinkKind, PortId, RouterId, Time};
use crate::registry::Entry;

pub use link::LinkParams;

/// What is at the other end of a router's port.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Peer {
    /// Another router, and the port there.
    Router(RouterId, PortId),
    /// An endpoint.
    Endpoint(EndpointId),
    /// Nothing: the port is not used.
    Unused,
}

/// One link; both directions are alike.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Link {
    /// What it joins.
    pub kind: LinkKind,
    /// Of each direction.
    pub bandwidth: Bandwidth,
    /// From the head leaving one end to the head reaching the other, in ps; at least 1.
    pub latency: Time,
}

/// A network.
///
/// Routers of a domain have a local index, in ascending order of their identifiers.
pub trait Topology: Send + Sync + Any {
    /// Number of endpoints, counted from 0.
    fn endpoints(&self) -> u32;
    /// Number of routers, counted from 0.
    fn routers(&self) -> u32;
    /// Number of ports of `router`, unused ones included.
    fn ports(&self, router: RouterId) -> PortId;
    /// What `port` of `router` leads to. Symmetric: the peer of a router's peer is that router and port.
    fn peer(&self, router: RouterId, port: PortId) -> Peer;
    /// The link at `port` of `router`. For an unused port: any.
    fn link(&self, router: RouterId, port: PortId) -> Link;
    /// The router and port that `endpoint` is attached to.
    fn attachment(&self, endpoint: EndpointId) -> (RouterId, PortId);
    /// Number of domains.
    fn domains(&self) -> u32;
    /// The domain that owns `router` (and the endpoints attached to it).
    fn domain_of(&self, router: RouterId) -> DomainId;
    /// The routers of a domain, ascending. `local_index` is the position in this list.
    fn domain_routers(&self, domain: DomainId) -> Vec<RouterId>;
    /// The position of `router` in the list of its domain's routers. Constant time.
    fn local_index(&self, router: RouterId) -> u32;
    /// The group, pod or block that `router` belongs to, for placements and patterns that speak of groups.
    fn group_of(&self, router: RouterId) -> u32;
    /// Number of groups.
    fn groups(&self) -> u32;
    /// Routers on a shortest route between two endpoints (1 when they share a router).
    fn minimal_routers(&self, a: EndpointId, b: EndpointId) -> u32;
    /// The most routers on a shortest route between any two endpoints: the formula, not a search.
    fn diameter_routers(&self) -> u32;
    /// One line of words: what was built (`dragonfly: 33 groups of 8 routers …`).
    fn describe(&self) -> String;
    /// For routings, which know the topologies they are made for.
    fn as_any(&self) -> &dyn Any;
}

/// Builds a topology from its section.
pub type Build = fn(&Section) -> Result<Arc<dyn Topology>, ConfigError>;

/// All topologies.
pub const REGISTRY: &[Entry<Build>] = &[dragonfly::ENTRY, kary_ntree::ENTRY, folded_clos::ENTRY];
