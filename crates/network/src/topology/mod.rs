//! Networks as graphs, and their split into domains. Everything is computed from coordinates: no
//! table grows with the number of endpoints.

pub mod analysis;
mod blocks;
pub mod cascade;
pub mod dragonfly;
pub mod folded_clos;
pub mod graph;
pub mod grid;
pub mod hyperx;
pub mod kary_ntree;
pub mod kns;
mod link;
pub mod megafly;
pub mod mesh;
pub mod slimfly;
pub mod torus;
pub mod tree;
pub mod xgft;

use std::any::Any;
use std::ops::Range;
use std::sync::Arc;

use serde::{Deserialize, Serialize};
use weir_input::registry::Entry;
use weir_input::{ConfigError, Section};
use weir_model::{
    Bandwidth, DomainId, EndpointId, Invalid, KindName, LinkKind, PortId, RouterId, RouterKind,
    Time, gcd,
};

pub use link::LinkParams;

use grid::Grid;

/// The router of a group that has its link of a number, if they take the links to each of some
/// other groups in turn, round after round. Where the rounds would begin to repeat, each router
/// takes the links of the one before it: otherwise all links between two groups might be at a few
/// routers.
pub(crate) fn in_turn(link: u32, routers: u32, others: u32) -> u32 {
    let [link, common] = [link, gcd(routers, others)].map(u64::from);
    let repeats = link * common / (u64::from(routers) * u64::from(others));
    ((link + repeats) % u64::from(routers)) as u32
}

/// The other end of a router's port.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Peer {
    /// Another router, and the port there.
    Router(RouterId, PortId),
    /// An endpoint.
    Endpoint(EndpointId),
    /// Nothing: the port is not used.
    Unused,
}

impl Peer {
    /// The router, if it is one.
    pub fn router(self) -> Option<RouterId> {
        match self {
            Peer::Router(router, _) => Some(router),
            Peer::Endpoint(_) | Peer::Unused => None,
        }
    }
}

/// The beginning of one direction of a link.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub enum Place {
    /// At the NIC of an endpoint.
    Nic(EndpointId),
    /// At a port of a router.
    Router(RouterId, PortId),
}

/// One link; both directions are alike.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Link {
    /// Its kind, from [`Topology::link_kinds`].
    pub kind: LinkKind,
    /// Bandwidth of each direction.
    pub bandwidth: Bandwidth,
    /// Time from the head leaving one end to the head reaching the other, in ps; at least 1.
    pub latency: Time,
}

/// Equal links.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Links {
    /// Each of them.
    pub link: Link,
    /// Number of links; more than 0.
    pub count: u64,
}

impl Links {
    /// The nonempty kinds of links: each link, and their number.
    pub(super) fn of(kinds: impl IntoIterator<Item = (Link, u64)>) -> Vec<Links> {
        let some = kinds.into_iter().filter(|&(_, count)| count > 0);
        some.map(|(link, count)| Links { link, count }).collect()
    }
}

/// Maximum number of endpoints of a network: every rank keeps lists of all of them.
pub const MOST_ENDPOINTS: u128 = 1 << 24;
/// Maximum number of ports of all routers.
pub const MOST_PORTS: u128 = 1 << 31;
/// Maximum number of ports of the routers of a domain, which one rank holds: at least ten
/// gigabytes.
pub const MOST_DOMAIN_PORTS: u128 = 1 << 25;

/// Ports of the routers of a domain at most, where a topology divides itself by size: about 256 KiB
/// of state and packets, what the cache of a core can hold.
pub(crate) const DOMAIN_PORTS: u64 = 512;

/// `1 router`, `2 routers`.
fn count(number: u32, what: &str) -> String {
    match number {
        1 => format!("1 {what}"),
        _ => format!("{number} {what}s"),
    }
}

/// Refuses networks that no machine could simulate. `key` is the parameter named in errors.
pub(super) fn check_size(
    key: &str,
    endpoints: u128,
    ports: u128,
    domain_ports: u128,
) -> Result<(), Invalid> {
    let sizes = [
        (endpoints, "endpoints", MOST_ENDPOINTS),
        (ports, "ports of routers", MOST_PORTS),
        (
            domain_ports,
            "ports of routers in a domain (a group, pod or slab), which one rank simulates",
            MOST_DOMAIN_PORTS,
        ),
    ];
    for (size, what, most) in sizes {
        if size > most {
            return Err(Invalid::new(
                key,
                format!("the network would have {size} {what}"),
                format!("at most {most} can be simulated: choose a smaller network"),
            ));
        }
    }
    Ok(())
}

/// A network.
pub trait Topology: Send + Sync {
    /// Number of endpoints, counted from 0.
    fn endpoints(&self) -> u32;
    /// Number of routers, counted from 0.
    fn routers(&self) -> u32;
    /// Number of ports of `router`, including unused ones.
    fn ports(&self, router: RouterId) -> PortId;
    /// The other end of `port` of `router`. Symmetric: the peer of a router's peer is that router
    /// and port.
    fn peer(&self, router: RouterId, port: PortId) -> Peer;
    /// The link at `port` of `router`. For an unused port: any.
    fn link(&self, router: RouterId, port: PortId) -> Link;
    /// The names of the kinds of links, which are also the keys of their parameters: [`LinkKind`]
    /// is a place in this list. The first is `terminal`, and so is every link to an endpoint.
    /// Lower-case letters, digits and underscores.
    fn link_kinds(&self) -> &[KindName];
    /// The names of the kinds of routers: [`RouterKind`] is a place in this list. As the names of
    /// links.
    fn router_kinds(&self) -> &[KindName] {
        const ALIKE: &[KindName] = &[KindName::Borrowed("router")];
        ALIKE
    }
    /// The kind of a router.
    fn router_kind(&self, _router: RouterId) -> RouterKind {
        RouterKind(0)
    }
    /// All links, grouped by equal ones. A search, unless a topology has formulae.
    fn links(&self) -> Vec<Links> {
        search_links(self)
    }
    /// Number of ports of all routers, including unused ones. A search, unless a topology has a
    /// formula.
    fn all_ports(&self) -> u64 {
        let ports = (0..self.routers()).map(|router| u64::from(self.ports(router)));
        ports.sum()
    }
    /// The router and port that `endpoint` is attached to.
    fn attachment(&self, endpoint: EndpointId) -> (RouterId, PortId);
    /// Names of the endpoints, by number; none if they have none.
    fn endpoint_names(&self) -> &[String] {
        &[]
    }
    /// Number of planes: equal parts that no link joins. The endpoints of one follow those of the
    /// one before it.
    fn planes(&self) -> u32 {
        1
    }
    /// Number of groups.
    fn groups(&self) -> u32;
    /// The group, pod or slab that `router` belongs to: for placements and patterns that use
    /// groups.
    fn group_of(&self, router: RouterId) -> u32;
    /// Number of domains, each with one router at least. Default: the groups are the domains.
    fn domains(&self) -> u32 {
        self.groups()
    }
    /// The domain that owns `router` (and the endpoints attached to it). Results depend on it in
    /// the order of what happens at the same time. Links that join domains should be long.
    fn domain_of(&self, router: RouterId) -> DomainId {
        self.group_of(router)
    }
    /// The names of the axes of the routers' coordinates: those of the space in which they are
    /// arranged; none if a router has only a number. Same rules as for the names of links.
    fn axes(&self) -> &[KindName] {
        self.as_grid().map_or(&[], Grid::axes)
    }
    /// The coordinates of a router, one for each of the axes.
    fn coordinates(&self, router: RouterId) -> Vec<u32> {
        let grid = self.as_grid();
        grid.map_or_else(Vec::new, |grid| grid.coordinates(router).collect())
    }
    /// Routers on a shortest route between two endpoints of a plane (1 when they share a router).
    fn minimal_routers(&self, a: EndpointId, b: EndpointId) -> u32;
    /// Maximum number of routers on a shortest route between any two endpoints of a plane: a
    /// formula, not a search.
    fn diameter_routers(&self) -> u32;
    /// A one-line description of the network (`dragonfly: 33 groups of 8 routers …`).
    fn describe(&self) -> String;
    /// The network that this is or contains, as its own type: routings that are made for a type
    /// find it with [`as_a`](trait.Topology.html#method.as_a). Routers, ports and endpoints have
    /// the same numbers in both.
    fn as_any(&self) -> Option<&dyn Any> {
        None
    }
    /// The grid of the routers with endpoints, in a network of several dimensions: the place of an
    /// endpoint is the number of the router that it is attached to.
    fn as_grid(&self) -> Option<&Grid> {
        None
    }
}

impl dyn Topology + '_ {
    /// The network that this is or contains, if it is a `T`: a [`Dragonfly`](dragonfly::Dragonfly),
    /// a [`Tree`](tree::Tree), a topology of one's own.
    pub fn as_a<T: Topology + 'static>(&self) -> Option<&T> {
        self.as_any()?.downcast_ref()
    }

    /// The plane of an endpoint, from 0.
    pub fn plane_of(&self, endpoint: EndpointId) -> u32 {
        endpoint / (self.endpoints() / self.planes())
    }

    /// The endpoints of a plane.
    pub fn plane(&self, plane: u32) -> Range<EndpointId> {
        let each = self.endpoints() / self.planes();
        plane * each..(plane + 1) * each
    }

    /// The link that begins at a place.
    pub fn link_from(&self, from: Place) -> Link {
        let (router, port) = match from {
            Place::Nic(endpoint) => self.attachment(endpoint),
            Place::Router(router, port) => (router, port),
        };
        self.link(router, port)
    }

    /// The place at the far end of a link, where its other direction begins. None for an unused
    /// port.
    pub fn far_end(&self, from: Place) -> Option<Place> {
        let (router, port) = match from {
            Place::Nic(endpoint) => self.attachment(endpoint),
            Place::Router(router, port) => match self.peer(router, port) {
                Peer::Router(router, port) => (router, port),
                Peer::Endpoint(endpoint) => return Some(Place::Nic(endpoint)),
                Peer::Unused => return None,
            },
        };
        Some(Place::Router(router, port))
    }
}

/// [`Topology::links`] by examining every port of every router.
pub fn search_links<T: Topology + ?Sized>(topology: &T) -> Vec<Links> {
    let mut all: Vec<Links> = Vec::new();
    for router in 0..topology.routers() {
        for port in 0..topology.ports(router) {
            match topology.peer(router, port) {
                // The condition counts a link from one end only.
                Peer::Router(other, there) if (other, there) > (router, port) => {}
                Peer::Endpoint(_) => {}
                Peer::Router(..) | Peer::Unused => continue,
            }
            let link = topology.link(router, port);
            match all.iter_mut().find(|links| links.link == link) {
                Some(links) => links.count += 1,
                None => all.push(Links { link, count: 1 }),
            }
        }
    }
    all
}

/// Builds a topology from its section.
pub type Build = fn(&Section) -> Result<Arc<dyn Topology>, ConfigError>;

/// All topologies.
pub const REGISTRY: &[Entry<Build>] = &[
    dragonfly::ENTRY,
    kary_ntree::ENTRY,
    folded_clos::ENTRY,
    xgft::ENTRY,
    torus::ENTRY,
    mesh::ENTRY,
    hyperx::ENTRY,
    kns::ENTRY,
    graph::ENTRY,
    slimfly::ENTRY,
    megafly::ENTRY,
    cascade::ENTRY,
];

/// The reason why a name cannot be that of a kind of links, routers or axes, if it cannot: they are
/// keys of the experiment file, parts of the names of metrics and a column of results.
pub fn kind_problem(name: &str) -> Option<&'static str> {
    let legal = |byte: u8| byte.is_ascii_lowercase() || byte.is_ascii_digit() || byte == b'_';
    if !(1..=64).contains(&name.len()) || !name.bytes().all(legal) {
        return Some("is not of 1 to 64 characters a-z, 0-9 and _");
    }
    matches!(name, "all" | "fabric")
        .then_some("means several kinds: choose another name for this one")
}
