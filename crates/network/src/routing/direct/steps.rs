//! Steps of packets that take the dimensions in a fixed order, on every network of several
//! dimensions, and their virtual channels.
//!
//! Packets that take the dimensions in different orders are in different *virtual networks*: each
//! has separate virtual channels, and a packet stays in the one where it began. Within one,
//! dependencies lead from a dimension to later ones of the order. In a dimension there is no cycle
//! either: on a torus because of the classes of [`super::rings`], on a HyperX since there is one
//! step, on a KNS since a line is a switch, or a tree where down follows up.
//!
//! Every virtual network of a link has the same number of virtual channels. The channels of a class
//! are equivalent, and so are links between the same two routers.

use std::sync::Arc;

use super::rings::{Rings, classes, course, onward};
use crate::routing::{Here, Hop};
use crate::topology::grid::Grid;
use crate::topology::hyperx::HyperX;
use crate::topology::kns::{Kns, Place};
use crate::topology::torus::{Heading, Torus};
use crate::topology::{Topology, tree};
use weir_input::{ConfigError, Section};
use weir_model::{Flight, Invalid, LinkKind, PortId, RouterId};

// One per run: its size does not matter, and a box would add an indirection to every hop.
#[allow(clippy::large_enum_variant)]
enum Network {
    Torus(Torus),
    HyperX(HyperX),
    Kns(Kns),
}

/// Steps in one network of several dimensions. `flight.phase` is 0 before a packet's first step.
pub(super) struct Steps {
    network: Network,
    /// Virtual networks.
    networks: u8,
    classes: u8,
    /// True if one place stays free in each ring.
    bubbles: bool,
    /// Virtual channels of each class of each virtual network.
    each: u8,
    diameter: u32,
}

/// Equivalent hops: a number of virtual channels of a number of ports.
#[derive(Clone, Copy, Debug)]
struct Spares {
    first: Hop,
    ports: PortId,
    vcs: u8,
}

impl Spares {
    fn count(self) -> u32 {
        u32::from(self.ports) * u32::from(self.vcs)
    }

    fn hop(self, number: u32) -> Hop {
        let vcs = u32::from(self.vcs);
        Hop {
            port: self.first.port + (number / vcs) as PortId,
            vc: self.first.vc + (number % vcs) as u8,
        }
    }

    /// A random one of them.
    fn draw(self, here: &mut dyn Here) -> Hop {
        match self.count() {
            1 => self.first,
            count => self.hop(here.pick(count)),
        }
    }

    /// Draws two of them and takes the one with the shorter queue.
    #[inline]
    fn choose(self, here: &mut dyn Here) -> Hop {
        let count = self.count();
        if count == 1 {
            return self.first;
        }
        let one = here.pick(count);
        let other = (one + 1 + here.pick(count - 1)) % count;
        let hops = [one, other].map(|number| self.hop(number));
        let used = hops.map(|hop| here.load(hop).used);
        hops[usize::from(used[1] < used[0])]
    }
}

impl Steps {
    /// Steps through `topology`, refused if it has no dimensions. The `vcs` virtual channels of a
    /// link are divided among `networks` virtual networks. The default is the minimum for freedom
    /// from deadlock.
    pub fn new(
        section: &Section,
        topology: &Arc<dyn Topology>,
        networks: usize,
        vcs: Option<u8>,
        rings: Rings,
    ) -> Result<Steps, ConfigError> {
        let bubbles = rings == Rings::Bubble;
        let (network, classes) = if let Some(torus) = topology.as_a::<Torus>() {
            let classes = if bubbles { 1 } else { classes(torus) };
            (Network::Torus(torus.clone()), classes)
        } else if let Some(hyperx) = topology.as_a::<HyperX>() {
            (Network::HyperX(hyperx.clone()), 1)
        } else if let Some(kns) = topology.as_a::<Kns>() {
            (Network::Kns(kns.clone()), 1)
        } else {
            return Err(not_for(section, topology, "networks of several dimensions"));
        };
        if bubbles {
            check_bubbles(section, &network, networks, vcs)?;
        }
        let least = networks * usize::from(classes);
        let vcs = usize::from(vcs.unwrap_or(least as u8));
        if vcs == 0 || vcs % least != 0 {
            let of = match classes {
                1 => "",
                _ => ", each of two classes to keep rings free of deadlock",
            };
            let orders = if networks == 1 { "order" } else { "orders" };
            return Err(section.refuse(Invalid::new(
                "vcs",
                format!("{vcs} virtual channels for {networks} {orders} of dimensions{of}"),
                format!("give a multiple of {least}, up to {}", 255 / least * least),
            )));
        }
        Ok(Steps {
            network,
            networks: networks as u8,
            classes,
            bubbles,
            each: (vcs / least) as u8,
            diameter: topology.diameter_routers(),
        })
    }

    /// Virtual channels of a link.
    pub fn vcs(&self, kind: LinkKind) -> u8 {
        match kind {
            LinkKind::TERMINAL => 1,
            _ => self.networks * self.classes * self.each,
        }
    }

    /// True if one place stays free in each ring.
    pub fn keeps_bubbles(&self) -> bool {
        self.bubbles
    }

    /// The port by which the ring that comes in by `in_port` continues, if it keeps a bubble.
    pub fn onward(&self, in_port: PortId) -> Option<PortId> {
        match &self.network {
            Network::Torus(torus) if self.bubbles => onward(torus, in_port),
            _ => None,
        }
    }

    /// Maximum number of routers of a route.
    pub fn max_routers(&self) -> u32 {
        self.diameter
    }

    /// True if there are equivalent hops anywhere.
    pub fn has_spares(&self) -> bool {
        let doubled = match &self.network {
            Network::Torus(torus) => {
                let mut dimensions = 0..torus.grid().dimensions();
                dimensions.any(|d| torus.ports_to(d, Heading::Up).1 > 1)
            }
            Network::HyperX(hyperx) => {
                let mut dimensions = 0..hyperx.grid().dimensions();
                dimensions.any(|d| hyperx.ports_to(d, 0, 1).1 > 1)
            }
            Network::Kns(_) => false,
        };
        doubled || self.each > 1
    }

    /// Endpoints at a router, which are at its first ports.
    pub fn terminals(&self, router: RouterId) -> u32 {
        match &self.network {
            Network::Torus(torus) => torus.endpoints_per_router(),
            Network::HyperX(hyperx) => hyperx.endpoints_per_router(),
            Network::Kns(kns) => matches!(kns.place(router), Place::Nic(_)).into(),
        }
    }

    /// True if a packet that has just been injected is at its destination's router.
    pub fn is_home(&self, flight: &Flight, here: &dyn Here) -> bool {
        let to = match &self.network {
            Network::Torus(torus) => torus.router_of(flight.destination),
            Network::HyperX(hyperx) => hyperx.router_of(flight.destination),
            Network::Kns(_) => flight.destination,
        };
        here.router() == to
    }

    /// True if a packet has just been injected.
    pub fn is_new(flight: &Flight) -> bool {
        flight.phase == 0
    }

    /// The next hop of a packet in a virtual network.
    #[inline]
    pub fn next(
        &self,
        flight: &mut Flight,
        order: &[usize],
        network: u8,
        here: &mut dyn Here,
    ) -> Hop {
        self.spares(flight, order, network, here).choose(here)
    }

    /// One of the next hops, regardless of backlog.
    pub fn draw(
        &self,
        flight: &mut Flight,
        order: &[usize],
        network: u8,
        here: &mut dyn Here,
    ) -> Hop {
        self.spares(flight, order, network, here).draw(here)
    }

    /// The hops of a packet that are equivalent to `first`.
    pub fn others(
        &self,
        flight: &Flight,
        order: &[usize],
        network: u8,
        (first, here): (Hop, &mut dyn Here),
        ways: &mut Vec<Hop>,
    ) {
        // The state of the packet leads to the same hops again.
        let spares = self.spares(&mut { *flight }, order, network, here);
        let all = (0..spares.count()).map(|number| spares.hop(number));
        ways.extend(all.filter(|&hop| hop != first));
    }

    #[inline(always)]
    fn spares(
        &self,
        flight: &mut Flight,
        order: &[usize],
        network: u8,
        here: &mut dyn Here,
    ) -> Spares {
        let (ports, class) = match &self.network {
            Network::Torus(torus) => {
                let way = [here.router(), torus.router_of(flight.destination)];
                let Some(course) = course(torus, way, flight, order, here) else {
                    return arrival(torus.terminal_port(flight.destination));
                };
                let class = if self.bubbles { 0 } else { course.class };
                (torus.ports_to(course.d, course.heading), class)
            }
            Network::HyperX(hyperx) => {
                let (at, to) = (here.router(), hyperx.router_of(flight.destination));
                let Some(d) = next_dimension(hyperx.grid(), at, to, order) else {
                    return arrival(hyperx.terminal_port(flight.destination));
                };
                let [from, to] = [at, to].map(|router| hyperx.grid().coordinate(router, d));
                flight.phase = 1;
                (hyperx.ports_to(d, from, to), 0)
            }
            Network::Kns(kns) => {
                let to = flight.destination;
                let port = match kns.place(here.router()) {
                    Place::Nic(at) => match next_dimension(kns.grid(), at, to, order) {
                        Some(d) => Kns::port_into(d),
                        None => return arrival(0),
                    },
                    Place::Switch { d, switch, .. } => {
                        match kns.line().step(switch, kns.grid().coordinate(to, d)) {
                            tree::Step::Down(port) => port,
                            tree::Step::Up { fixed, .. } => fixed,
                        }
                    }
                };
                flight.phase = 1;
                ((port, 1), 0)
            }
        };
        Spares {
            first: Hop {
                port: ports.0,
                vc: (network * self.classes + class) * self.each,
            },
            ports: ports.1,
            vcs: self.each,
        }
    }
}

/// Refuses bubbles if there are no rings, or if a packet could continue along its ring by another
/// channel than it came by.
fn check_bubbles(
    section: &Section,
    network: &Network,
    networks: usize,
    vcs: Option<u8>,
) -> Result<(), ConfigError> {
    let refuse = |key: &str, what: String, remedy: String| {
        Err(section.refuse(Invalid::new(key, what, remedy)))
    };
    let Network::Torus(torus) = network else {
        let what = "there are no rings for a bubble in this network".to_string();
        return refuse("rings", what, "leave it out: only a torus has rings".into());
    };
    let mut dimensions = 0..torus.grid().dimensions();
    if dimensions.clone().any(|d| !torus.is_ring(d)) {
        let what = "a line with open ends is no ring, and needs no bubble".to_string();
        return refuse(
            "rings",
            what,
            "leave it out, or choose a torus without open dimensions".into(),
        );
    }
    if dimensions.any(|d| torus.ports_to(d, Heading::Up).1 > 1) {
        let what =
            "a bubble is kept in rings of single links, and some are doubled here".to_string();
        let remedy = "let topology.links_between_routers be 1, or routing.rings \"dateline\"";
        return refuse("rings", what, remedy.into());
    }
    match vcs {
        Some(vcs) if usize::from(vcs) != networks => refuse(
            "vcs",
            format!(
                "{vcs} virtual channels: with bubbles there is one for each order of dimensions"
            ),
            format!("write {networks}, or leave it out"),
        ),
        _ => Ok(()),
    }
}

/// The only hop to an endpoint.
#[inline]
fn arrival(port: PortId) -> Spares {
    Spares {
        first: Hop { port, vc: 0 },
        ports: 1,
        vcs: 1,
    }
}

/// The first dimension of an order in which two places differ.
#[inline]
fn next_dimension(grid: &Grid, at: u32, to: u32, order: &[usize]) -> Option<usize> {
    let mut order = order.iter().copied();
    order.find(|&d| grid.apart([at, to], d))
}

/// The error that a routing is not made for a topology.
pub(super) fn not_for(section: &Section, topology: &Arc<dyn Topology>, what: &str) -> ConfigError {
    section.refuse(Invalid::new(
        "algorithm",
        format!("it routes in {what}, and this is a {}", topology.describe()),
        "choose a routing that is made for this topology",
    ))
}
