//! The dragonfly: groups of fully connected routers, and global links between all pairs of groups.
//!
//! Kim, Dally, Scott and Abts, "Technology-driven, highly-scalable dragonfly topology", ISCA 2008.
//!
//! Router `group * a + index`, endpoint `router * p + i`. The ports of a router are, in this order,
//! its p terminals, its a - 1 local ports (to the other routers of the group, ascending) and its h
//! global ports.
//!
//! # Wiring of the global ports
//!
//! L links join each pair of groups, so that a group uses L·(g - 1) of its a·h global ports. The
//! rest is left unused. The used ones are numbered by a *slot* q from 0 to L·(g - 1) - 1. Router r
//! of the group has the slots from ⌊r·L·(g - 1)/a⌋ to the one before the next router's first, so
//! the numbers of global ports of two routers differ by at most one. Slot q is link number ⌊q /
//! (g - 1)⌋ to the group at *offset* q mod (g - 1); the arrangement maps offsets to groups. Link j
//! of group A to B is link j of group B to A.
//!
//! The links of one pair are g - 1 slots apart, and therefore every router of a group has ⌊L/a⌋ or
//! ⌈L/a⌉ of them. With one link for each pair and every port in use, router q / h has slot q as its
//! port q mod h, which is the wiring of BookSim's `dragonflynew` for the absolute arrangement.

mod topology;

use std::ops::Range;
use std::sync::Arc;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::{Build, Link, LinkParams, Peer, Topology, check_size};
use weir_input::registry::{Entry, Keys};
use weir_input::{ConfigError, Section};
use weir_model::{Divisor, EndpointId, Invalid, LinkKind, PortId, RouterId};

/// Parameters of the dragonfly.
#[derive(Clone, Debug, Deserialize, Serialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Params {
    /// Endpoints at each router (p), 1 or more.
    pub endpoints_per_router: u32,
    /// Routers in each group (a), 1 or more; all of them are linked with each other.
    pub routers_per_group: u32,
    /// Global ports of each router (h), 1 or more.
    pub global_links_per_router: u32,
    /// Groups (g), from 2 to a·h + 1.
    pub groups: u32,
    /// Group that the global port with offset d of group G leads to. "absolute": group d, or d + 1
    /// from G on. "relative": group G + d + 1, modulo the number of groups. "palmtree": group G -
    /// d - 1, modulo the number of groups.
    #[serde(default)]
    pub arrangement: Arrangement,
    /// Links between each pair of groups. Default: the maximum for the global ports, ⌊a·h / (g -
    /// 1)⌋. Remaining global ports are unused.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub links_between_groups: Option<u32>,
    /// The links between endpoints and routers.
    pub terminal: LinkParams,
    /// The links inside a group.
    pub local: LinkParams,
    /// The links between groups.
    pub global: LinkParams,
}

/// Mapping of the global ports of a group to other groups.
///
/// Camarero, Vallejo and Beivide, "Topological characterization of Hamming and dragonfly networks
/// and its implications on routing", 2014.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Deserialize, Serialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum Arrangement {
    /// Offset d of group G is group d, or d + 1 from G on: every group counts the others from 0.
    #[default]
    Absolute,
    /// Offset d of group G is group G + d + 1, modulo the number of groups.
    Relative,
    /// Offset d of group G is group G - d - 1, modulo the number of groups.
    Palmtree,
}

/// A dragonfly. Everything is computed from a handful of numbers.
#[derive(Clone, Debug)]
pub struct Dragonfly {
    p: u32,
    a: u32,
    first_global: u32,
    h: u32,
    g: u32,
    arrangement: Arrangement,
    links: u32,
    by_p: Divisor,
    by_a: Divisor,
    /// The first slot of each router of a group, followed by the number of slots.
    first_slots: Arc<[u32]>,
    /// The router of each slot, as its place in its group, and its port.
    slots: Arc<[(u32, PortId)]>,
    terminal: Link,
    local: Link,
    global: Link,
}

impl Dragonfly {
    /// Links between routers of a group.
    pub const LOCAL: LinkKind = LinkKind(1);
    /// Links between groups.
    pub const GLOBAL: LinkKind = LinkKind(2);

    /// Builds the network, or names the invalid parameter and the remedy.
    pub fn new(params: &Params) -> Result<Dragonfly, Invalid> {
        let links = check_sizes(params)?;
        let (a, slots) = (params.routers_per_group, links * (params.groups - 1));
        let first = |index: u32| (u64::from(index) * u64::from(slots) / u64::from(a)) as u32;
        let first_slots: Arc<[u32]> = (0..=a).map(first).collect();
        let (p, first_global) = (
            params.endpoints_per_router,
            params.endpoints_per_router + a - 1,
        );
        let of_router = |index: u32| {
            let own = first_slots[index as usize]..first_slots[index as usize + 1];
            let count = 0..own.end - own.start;
            count.map(move |number| (index, (first_global + number) as PortId))
        };
        let slots = (0..a).flat_map(of_router).collect();
        Ok(Dragonfly {
            p,
            a,
            first_global,
            h: params.global_links_per_router,
            g: params.groups,
            arrangement: params.arrangement,
            links,
            by_p: Divisor::new(p),
            by_a: Divisor::new(a),
            first_slots,
            slots,
            terminal: params.terminal.check(LinkKind::TERMINAL, "terminal")?,
            local: params.local.check(Dragonfly::LOCAL, "local")?,
            global: params.global.check(Dragonfly::GLOBAL, "global")?,
        })
    }

    /// Endpoints of each router.
    pub fn endpoints_per_router(&self) -> u32 {
        self.p
    }

    /// Routers of each group.
    pub fn routers_per_group(&self) -> u32 {
        self.a
    }

    /// Links between each pair of groups.
    pub fn links_between_groups(&self) -> u32 {
        self.links
    }

    /// The router that `endpoint` is attached to.
    #[inline]
    pub fn router_of(&self, endpoint: EndpointId) -> RouterId {
        self.by_p.divide(endpoint)
    }

    /// Number `index` among the routers of `group`.
    #[inline]
    pub fn router(&self, group: u32, index: u32) -> RouterId {
        group * self.a + index
    }

    /// The port of its router that `endpoint` is attached to.
    #[inline]
    pub fn terminal_port(&self, endpoint: EndpointId) -> PortId {
        self.by_p.rest(endpoint) as PortId
    }

    /// The group of a router, and its place there.
    #[inline]
    pub fn place(&self, router: RouterId) -> (u32, u32) {
        let group = self.by_a.divide(router);
        (group, router - group * self.a)
    }

    /// The port of a group's router number `from` that leads to its router number `to`, another
    /// one.
    #[inline]
    pub fn local_port(&self, from: u32, to: u32) -> PortId {
        debug_assert_ne!(from, to);
        (self.p + to - u32::from(to > from)) as PortId
    }

    /// The end of a global link in group `from`: the router's place in its group, and its port.
    ///
    /// `link` is its number among the links to group `to`, below
    /// [`Dragonfly::links_between_groups`]. The same link number gives the other end in `to`:
    /// `global_link(to, from, link)`.
    #[inline]
    pub fn global_link(&self, from: u32, to: u32, link: u32) -> (u32, PortId) {
        debug_assert!(from != to && link < self.links);
        let slot = link * (self.g - 1) + self.offset(from, to);
        self.slots[slot as usize]
    }

    /// The numbers of the links to group `to` that `router` itself has; `to` is not the router's
    /// own group.
    #[inline]
    pub fn links_at(&self, router: RouterId, to: u32) -> Range<u32> {
        let (group, index) = self.place(router);
        let offset = self.offset(group, to);
        // Links whose slots are below `slot`: link * (g - 1) + offset < slot.
        let below = |slot: u32| (slot + self.g - 2 - offset) / (self.g - 1);
        below(self.first_slot(index))..below(self.first_slot(index + 1))
    }

    /// The global links of `router`: the group that each leads to, and its port here.
    pub fn links_of(&self, router: RouterId) -> impl Iterator<Item = (u32, PortId)> {
        let (group, index) = self.place(router);
        let slots = self.first_slot(index)..self.first_slot(index + 1);
        slots.map(move |slot| {
            let to = self.group_at(group, slot % (self.g - 1));
            (to, self.slots[slot as usize].1)
        })
    }

    /// True if `port` of a router is one of its global ports.
    #[inline]
    pub fn is_global(&self, port: PortId) -> bool {
        u32::from(port) >= self.first_global
    }

    /// True if `port` of a router is one of its local ports.
    #[inline]
    pub fn is_local(&self, port: PortId) -> bool {
        u32::from(port) >= self.p && !self.is_global(port)
    }

    /// The first slot of router `index` of a group; for `index` a, the number of slots.
    fn first_slot(&self, index: u32) -> u32 {
        self.first_slots[index as usize]
    }

    /// The place of group `to` among the groups that `from` has links to.
    #[inline]
    fn offset(&self, from: u32, to: u32) -> u32 {
        match self.arrangement {
            Arrangement::Absolute if to < from => to,
            Arrangement::Absolute => to - 1,
            Arrangement::Relative => (to + self.g - from - 1) % self.g,
            Arrangement::Palmtree => (from + self.g - to - 1) % self.g,
        }
    }

    /// The group at an offset among the groups that `from` has links to.
    fn group_at(&self, from: u32, offset: u32) -> u32 {
        match self.arrangement {
            Arrangement::Absolute if offset < from => offset,
            Arrangement::Absolute => offset + 1,
            Arrangement::Relative => (from + offset + 1) % self.g,
            Arrangement::Palmtree => (from + self.g - offset - 1) % self.g,
        }
    }

    fn global_peer(&self, router: RouterId, number: u32) -> Peer {
        let (group, index) = self.place(router);
        let slot = self.first_slot(index) + number;
        if slot >= self.first_slot(index + 1) {
            return Peer::Unused;
        }
        let to = self.group_at(group, slot % (self.g - 1));
        let (peer, port) = self.global_link(to, group, slot / (self.g - 1));
        Peer::Router(self.router(to, peer), port)
    }
}

/// Maximum number of global ports of a group: they are in a table.
const MOST_GLOBAL_PORTS: u64 = 1 << 22;

/// Checks the sizes and returns the number of links between two groups.
fn check_sizes(params: &Params) -> Result<u32, Invalid> {
    let sizes = [
        ("endpoints_per_router", params.endpoints_per_router),
        ("routers_per_group", params.routers_per_group),
        ("global_links_per_router", params.global_links_per_router),
    ];
    for (key, value) in sizes {
        if value == 0 {
            return Err(Invalid::new(key, "is 0", "give 1 or more"));
        }
    }
    let [p, a, h] = sizes.map(|(_, value)| u64::from(value));
    let ports = p + a - 1 + h;
    if ports > u64::from(PortId::MAX) {
        return Err(Invalid::new(
            "",
            format!("a router would have {p} + {} + {h} = {ports} ports", a - 1),
            format!("a router can have at most {} ports", PortId::MAX),
        ));
    }
    let g = u64::from(params.groups);
    if g < 2 {
        return Err(Invalid::new(
            "groups",
            format!("is {g}, but a dragonfly has at least 2 groups"),
            format!("give from 2 to {}", a * h + 1),
        ));
    }
    if g > a * h + 1 {
        return Err(Invalid::new(
            "groups",
            format!(
                "is {g}, but the {a} · {h} global ports of a group reach {} others",
                a * h
            ),
            format!("give at most {}, or more global links", a * h + 1),
        ));
    }
    let routers = u128::from(a) * u128::from(g);
    let (group_ports, ports) = (u128::from(a * ports), routers * u128::from(ports));
    check_size("", routers * u128::from(p), ports, group_ports)?;
    if a * h > MOST_GLOBAL_PORTS {
        return Err(Invalid::new(
            "",
            format!("a group would have {a} · {h} = {} global ports", a * h),
            format!("a group can have at most {MOST_GLOBAL_PORTS}"),
        ));
    }
    let most = (a * h / (g - 1)) as u32;
    match params.links_between_groups {
        Some(links) if links == 0 || links > most => Err(Invalid::new(
            "links_between_groups",
            format!(
                "is {links}, but a group has {a} · {h} = {} global ports for {} other groups",
                a * h,
                g - 1
            ),
            format!("give from 1 to {most}"),
        )),
        Some(links) => Ok(links),
        None => Ok(most),
    }
}

fn build(section: &Section) -> Result<Arc<dyn Topology>, ConfigError> {
    let params: Params = section.parse()?;
    let dragonfly = Dragonfly::new(&params).map_err(|invalid| section.refuse(invalid))?;
    Ok(Arc::new(dragonfly))
}

/// Registry entry of the dragonfly.
pub const ENTRY: Entry<Build> = Entry {
    name: "dragonfly",
    summary: "Groups of fully connected routers with global links between all pairs of groups",
    source: "Kim et al., ISCA 2008; the networks of Jiang et al., SC15, section 4, and of McGlohon \
             et al., PMBS 2021, section IV.B",
    examples: &[
        r#"endpoints_per_router = 2, routers_per_group = 4, global_links_per_router = 2, groups = 9, terminal = { bandwidth = "100 Gbps", latency = "5 ns" }, local = { bandwidth = "100 Gbps", latency = "20 ns" }, global = { bandwidth = "100 Gbps", latency = "100 ns" }"#,
        r#"endpoints_per_router = 2, routers_per_group = 4, global_links_per_router = 2, groups = 5, arrangement = "palmtree", terminal = { bandwidth = "100 Gbps", latency = "5 ns" }, local = { bandwidth = "100 Gbps", latency = "20 ns" }, global = { bandwidth = "100 Gbps", latency = "100 ns" }"#,
    ],
    parameters: Keys::of::<Params>(),
    build,
};
