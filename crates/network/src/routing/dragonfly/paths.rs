//! Shared parts of all dragonfly routings: the steps of a route, and the numbers of its virtual
//! channels.
//!
//! A routing only decides between going straight to the destination and going by way of another
//! place. The rest is the same. Towards another group a link is drawn uniformly at random among the
//! links between the two groups; the packet goes to the router that has it and leaves from there.
//!
//! The destination and `flight.via` determine where the packet is going, so the link itself need
//! not be stored: the router that the packet was sent to has a link to that group. If it has
//! several, one of them is drawn there, which leaves all links equally likely.
//!
//! Virtual channels ascend along the route, so that no cycle of waiting packets can form: see
//! [`Paths::hop`].
//!
//! Links between groups that are down are not drawn. A packet that would go straight to a group to
//! which no link is left passes a third group.

use std::sync::Arc;

use super::open::OpenLinks;
use crate::failures::{Outages, Seen};
use crate::routing::measure::third;
use crate::routing::{Here, Hop};
use crate::topology::Topology;
use crate::topology::dragonfly::Dragonfly;
use weir_input::{Allowance, ConfigError, Section, Size};
use weir_model::{EndpointId, Flight, Invalid, PortId, RouterId};

/// `flight.phase`: just injected, nothing decided.
pub(super) const NEW: u8 = 0;
/// `flight.phase`: straight to the destination.
pub(super) const STRAIGHT: u8 = 1;
/// `flight.phase`: to any router of group `flight.via` first.
pub(super) const BY_GROUP: u8 = 2;
/// `flight.phase`: to router `flight.via` first.
pub(super) const BY_ROUTER: u8 = 3;

/// `flight.steps` is local hops in this group + 16 · global hops.
const GLOBAL_STEP: u8 = 16;

/// Local hops since the packet entered this group.
fn locals(flight: &Flight) -> u8 {
    flight.steps % GLOBAL_STEP
}

/// Global hops since the packet was injected.
fn globals(flight: &Flight) -> u8 {
    flight.steps / GLOBAL_STEP
}

/// True if the packet is at the router that it was injected into.
pub(super) fn at_source(flight: &Flight) -> bool {
    flight.steps == 0
}

/// True if the packet has made one hop, inside its source's group.
pub(super) fn at_second_router_of_source_group(flight: &Flight) -> bool {
    flight.steps == 1
}

/// A way out of a router: the port, and the number of the link between groups that it leads to (0
/// inside a group).
#[derive(Clone, Copy, Debug)]
pub(super) struct Way {
    pub port: PortId,
    pub link: u32,
}

/// Position of a packet.
#[derive(Clone, Copy, Debug)]
pub(super) struct Spot {
    pub router: RouterId,
    /// Its group.
    pub group: u32,
    /// Its place in the group.
    pub index: u32,
}

/// The steps of routes through one dragonfly.
pub(super) struct Paths {
    dragonfly: Dragonfly,
    /// Links between groups that are left; None if no link is ever down.
    open: Option<OpenLinks>,
    /// The first local virtual channel, by number of global hops made.
    locals: [u8; 3],
}

impl Paths {
    /// Steps through `topology`, refused if it is not a dragonfly. `locals`: the first local
    /// virtual channel in the first, second and third group on the path.
    pub fn new(
        section: &Section,
        topology: &Arc<dyn Topology>,
        locals: [u8; 3],
    ) -> Result<Paths, ConfigError> {
        match topology.as_a::<Dragonfly>() {
            Some(dragonfly) => Ok(Paths {
                dragonfly: dragonfly.clone(),
                open: None,
                locals,
            }),
            None => Err(section.refuse(Invalid::new(
                "",
                format!(
                    "this routing is for dragonflies, but the topology is a {}",
                    topology.describe()
                ),
                "choose a routing for this topology, or a topology of kind = \"dragonfly\"",
            ))),
        }
    }

    /// Takes note of links that are down at some time.
    pub fn heed(&mut self, outages: &Arc<Outages>) {
        self.open = Some(OpenLinks::new(&self.dragonfly, outages));
    }

    /// True if links are down at some time.
    pub fn heeds(&self) -> bool {
        self.open.is_some()
    }

    /// True if a link is left between two groups that differ.
    #[inline(always)]
    pub fn joins(&self, one: u32, two: u32, seen: Seen) -> bool {
        let joined = |open: &OpenLinks| one == two || open.joins(one, two, seen);
        self.open.as_ref().is_none_or(joined)
    }

    /// Sends a packet that is at its source straight to its destination; by way of a third group,
    /// if no link between the two groups is left.
    #[inline(always)]
    pub fn go_straight(&self, flight: &mut Flight, here: &mut dyn Here) {
        flight.phase = STRAIGHT;
        if self.open.is_some() {
            self.go_around(flight, here);
        }
    }

    #[inline(never)]
    fn go_around(&self, flight: &mut Flight, here: &mut dyn Here) {
        let (at, to) = (self.spot(here).group, self.group_of(flight.destination));
        if !self.joins(at, to, here.links())
            && let Some(third) = self.third_group(at, to, here)
        {
            (flight.phase, flight.via) = (BY_GROUP, third);
        }
    }

    /// The network.
    pub fn dragonfly(&self) -> &Dragonfly {
        &self.dragonfly
    }

    /// Maximum number of routers on a route in this network. The route visits up to `first` routers
    /// in the source's group, up to `between` in a third and two in the destination's. (Without a
    /// third group, the only nonminimal route is the detour inside a group, which has fewer than
    /// four routers.)
    pub fn most_routers(&self, first: u32, between: u32) -> u32 {
        match (self.dragonfly.routers_per_group(), self.dragonfly.groups()) {
            (1, 2) => 2,
            (1, _) => 3,
            (_, 2) => 4,
            _ => first + between + 2,
        }
    }

    /// Position of the packet.
    #[inline]
    pub fn spot(&self, here: &dyn Here) -> Spot {
        let router = here.router();
        let (group, index) = self.dragonfly.place(router);
        Spot {
            router,
            group,
            index,
        }
    }

    /// The group of an endpoint.
    pub fn group_of(&self, endpoint: EndpointId) -> u32 {
        self.dragonfly.group_of(self.dragonfly.router_of(endpoint))
    }

    /// A random group other than these two, which differ, with links to both that are left; None if
    /// there is none.
    pub fn third_group(&self, one: u32, two: u32, here: &mut dyn Here) -> Option<u32> {
        match &self.open {
            None => third(self.dragonfly.groups(), one, two, here),
            Some(open) => open.third_group(one, two, here),
        }
    }

    /// A random router of their group other than these two, which differ; None if there is none.
    pub fn third_router(&self, one: RouterId, two: RouterId, here: &mut dyn Here) -> Option<u32> {
        let a = self.dragonfly.routers_per_group();
        let index = third(a, one % a, two % a, here)?;
        Some(self.dragonfly.router(one / a, index))
    }

    /// The way from this router towards another group. `choose`: draw among all links to it;
    /// otherwise among those of this router, to which the packet was sent because it has one.
    #[inline]
    pub fn to_group(&self, at: Spot, group: u32, choose: bool, here: &mut dyn Here) -> Way {
        let link = match self.dragonfly.links_between_groups() {
            1 => 0,
            _ => self.draw_link(at, group, choose, here),
        };
        let (exit, port) = self.dragonfly.global_link(at.group, group, link);
        let port = if exit == at.index {
            port
        } else {
            self.dragonfly.local_port(at.index, exit)
        };
        Way { port, link }
    }

    /// One of several links to a group.
    #[inline(never)]
    fn draw_link(&self, at: Spot, group: u32, choose: bool, here: &mut dyn Here) -> u32 {
        if let Some(open) = &self.open
            && let Some(link) = open.draw_link((at.router, at.group), group, choose, here)
        {
            return link;
        }
        let all = 0..self.dragonfly.links_between_groups();
        let range = if choose {
            all
        } else {
            let own = self.dragonfly.links_at(at.router, group);
            if own.is_empty() { all } else { own }
        };
        let count = range.end - range.start;
        let drawn = if count > 1 { here.pick(count) } else { 0 };
        range.start + drawn
    }

    /// The way from this router towards another one.
    #[inline]
    pub fn to_router(&self, at: Spot, router: RouterId, choose: bool, here: &mut dyn Here) -> Way {
        let (group, index) = self.dragonfly.place(router);
        if group != at.group {
            return self.to_group(at, group, choose, here);
        }
        let port = self.dragonfly.local_port(at.index, index);
        Way { port, link: 0 }
    }

    /// The way from this router straight to an endpoint.
    #[inline(always)]
    pub fn to_endpoint(
        &self,
        at: Spot,
        endpoint: EndpointId,
        choose: bool,
        here: &mut dyn Here,
    ) -> Way {
        let router = self.dragonfly.router_of(endpoint);
        if router == at.router {
            let port = self.dragonfly.terminal_port(endpoint);
            return Way { port, link: 0 };
        }
        self.to_router(at, router, choose, here)
    }

    /// The next port of a packet that goes straight to its destination.
    #[inline(always)]
    pub fn straight(&self, flight: &Flight, here: &mut dyn Here) -> PortId {
        let choose = locals(flight) == 0;
        self.to_endpoint(self.spot(here), flight.destination, choose, here)
            .port
    }

    /// The next port of a packet whose path is decided.
    #[inline]
    pub fn follow(&self, flight: &mut Flight, here: &mut dyn Here) -> PortId {
        let at = self.spot(here);
        let there = match flight.phase {
            BY_GROUP => at.group == flight.via,
            BY_ROUTER => at.router == flight.via,
            _ => false,
        };
        let choose = there || locals(flight) == 0;
        if there {
            flight.phase = STRAIGHT;
        }
        let way = match flight.phase {
            BY_GROUP => self.to_group(at, flight.via, choose, here),
            BY_ROUTER => self.to_router(at, flight.via, choose, here),
            _ => self.to_endpoint(at, flight.destination, choose, here),
        };
        way.port
    }

    /// The hop by `port`, counted in `flight`.
    ///
    /// The virtual channel on a global link is the number of global hops before it. On a local link
    /// it is the number of local hops before it in this group, counted from the first channel for
    /// that group. In the order local channels of the first group, global 0, local channels of the
    /// second group, global 1, … every packet waits only for channels that come later than the one
    /// it holds.
    #[inline]
    pub fn hop(&self, flight: &mut Flight, port: PortId) -> Hop {
        let (locals, globals) = (locals(flight), globals(flight));
        let vc = if self.dragonfly.is_global(port) {
            flight.steps = (globals + 1) * GLOBAL_STEP;
            globals
        } else if self.dragonfly.is_local(port) {
            flight.steps += 1;
            self.locals[usize::from(globals)] + locals
        } else {
            0
        };
        Hop { port, vc }
    }

    /// The same with separate virtual channels for packets on the way to an intermediate target, of
    /// `locals` on local links.
    ///
    /// Packets to an intermediate target take global 0, and the local channel whose number is the
    /// number of global hops before it. Packets that go straight take global 1 and the last two
    /// local ones, of which the very last is for the destination's group. Channels ascend in the
    /// order local 0, global 0, (local 1), last local but one, global 1, last local.
    pub fn hop_apart(&self, flight: &mut Flight, port: PortId, locals: u8, here: &dyn Here) -> Hop {
        let globals = globals(flight);
        let Hop { port, vc } = self.hop(flight, port);
        let straight = flight.phase == STRAIGHT;
        let vc = if self.dragonfly.is_global(port) {
            u8::from(straight)
        } else if !self.dragonfly.is_local(port) {
            vc
        } else if !straight {
            globals
        } else if self.spot(here).group == self.group_of(flight.destination) {
            locals - 1
        } else {
            locals - 2
        };
        Hop { port, vc }
    }

    /// The router of group `from` that has link number `link` to group `to`.
    fn end(&self, from: u32, to: u32, link: u32) -> RouterId {
        let (index, _) = self.dragonfly.global_link(from, to, link);
        self.dragonfly.router(from, index)
    }

    /// Links between routers on a straight path from `at` to `router`; over link number `link`, if
    /// that is in another group.
    pub fn straight_hops(&self, at: RouterId, router: RouterId, link: u32) -> u32 {
        let (from, to) = (self.dragonfly.group_of(at), self.dragonfly.group_of(router));
        if from == to {
            return u32::from(at != router);
        }
        let (exit, entry) = (self.end(from, to, link), self.end(to, from, link));
        1 + u32::from(at != exit) + u32::from(entry != router)
    }

    /// Links between routers on the path from `at` over link number `link` to `group`, and straight
    /// on to `router`.
    pub fn hops_by_group(&self, at: RouterId, group: u32, link: u32, router: RouterId) -> u32 {
        let from = self.dragonfly.group_of(at);
        let entry = self.end(group, from, link);
        self.straight_hops(at, entry, link) + self.hops_on(entry, router)
    }

    /// Links between routers on the path from `at` over link number `link` to `via`, and straight
    /// on to `router`.
    pub fn hops_by_router(&self, at: RouterId, via: RouterId, link: u32, router: RouterId) -> u32 {
        self.straight_hops(at, via, link) + self.hops_on(via, router)
    }

    /// Links between routers on the path straight on from an intermediate place. If several links
    /// go to the next group, the link to be drawn is not known yet, and a local hop is counted
    /// before and after it.
    fn hops_on(&self, from: RouterId, to: RouterId) -> u32 {
        let same = self.dragonfly.group_of(from) == self.dragonfly.group_of(to);
        match self.dragonfly.links_between_groups() {
            2.. if !same => 3,
            _ => self.straight_hops(from, to, 0),
        }
    }
}

/// An amount of data that biases a decision: flits, or longest packets.
#[derive(Clone, Copy, Debug)]
pub(in crate::routing) struct Margin(Size);

impl Margin {
    /// The margin given by a key of the section; refused if it is not in flits or packets.
    pub fn new(section: &Section, key: &str, size: Allowance) -> Result<Margin, ConfigError> {
        let Allowance(size) = size;
        match size {
            Size::Bits(_) => Err(section.refuse(Invalid::new(
                key,
                format!("is {size}, but queues are counted in flits"),
                "give flits or packets, such as \"4 packets\"",
            ))),
            Size::Flits(_) | Size::Packets(_) => Ok(Margin(size)),
        }
    }

    /// The margin in flits.
    pub fn flits(self, here: &dyn Here) -> u64 {
        match self.0 {
            Size::Packets(packets) => packets.saturating_mul(here.max_packet().into()),
            Size::Flits(flits) | Size::Bits(flits) => flits,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::routing::analysis::tests::Ring;
    use crate::routing::dragonfly::ROUTINGS;

    #[test]
    fn other_topologies_are_refused() {
        let ring: Arc<dyn Topology> = Arc::new(Ring(5));
        let section = Section::from_toml("").expect("TOML");
        for entry in ROUTINGS.entries {
            let error = (entry.build)(&section, &ring).err().expect("refused");
            assert!(format!("{error:?}").contains("is a ring"), "{error:?}");
        }
    }
}
