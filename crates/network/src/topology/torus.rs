//! The torus, a k-ary n-cube with a separate size for each dimension: every line of routers is a
//! ring, except in open dimensions. The mesh ([`super::mesh`]) has no rings.
//!
//! Dally and Seitz, "The torus routing chip", Distributed Computing 1, 1986; Dally and Towles,
//! "Principles and Practices of Interconnection Networks", 2004, chapter 5.
//!
//! Routers are numbered as the places of a [`Grid`]; endpoint e is at router ⌊e / p⌋. The ports of
//! a router are its p terminals, and then for each dimension those to the next router, one for each
//! link, and those to the one before.

use std::any::Any;
use std::sync::Arc;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::blocks::Blocks;
use super::grid::{
    Grid, GridParams, check_grid_size, check_ports, one, order_letters, parse_letters,
};
use super::{Build, Link, LinkParams, Links, Peer, Topology, count};
use weir_input::registry::{Entry, Keys};
use weir_input::{ConfigError, Section};
use weir_model::{Divisor, DomainId, EndpointId, Invalid, KindName, PortId, RouterId, Time};

/// Parameters of the torus. A group is a slab: the routers with the same coordinate in the longest
/// dimension. A domain is a block: there are as many blocks as slabs, or more in a large network.
#[derive(Clone, Debug, Deserialize, Serialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Params {
    /// Routers in each dimension, x first; each 2 or more. 1 to 16 dimensions.
    pub sizes: Vec<u32>,
    /// Endpoints at each router, 1 or more.
    #[serde(default = "one")]
    pub endpoints_per_router: u32,
    /// Links between two neighbours, for each dimension. Default: 1 in each.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub links_between_routers: Option<Vec<u32>>,
    /// Lengths of the links of a ring. "equal": all have the given latency. "folded": every other
    /// router on the way there, the rest on the way back; all links have twice the given latency,
    /// except the two at the turns. "straight": routers in a row; the link that closes a ring of k
    /// routers has k - 1 times the given latency.
    #[serde(default)]
    pub layout: Layout,
    /// Dimensions whose lines are not closed to rings, by their letters, such as "zw": x, y, z, w,
    /// v, u, t … in the order of `sizes`. Default: none.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub open: Option<String>,
    /// The links between endpoints and routers.
    pub terminal: LinkParams,
    /// The links between routers, in every dimension without a separate table.
    pub link: LinkParams,
    /// The links of dimension x.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub x: Option<LinkParams>,
    /// The links of dimension y.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub y: Option<LinkParams>,
    /// The links of dimension z.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub z: Option<LinkParams>,
}

/// Arrangement of the routers of a ring, which determines the lengths of its links.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Deserialize, Serialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum Layout {
    /// All links have the given latency.
    #[default]
    Equal,
    /// Every other router of the ring on the way there, the rest on the way back: all links have
    /// twice the given latency, except the two at the turns.
    Folded,
    /// In a row: the link that closes a ring of k routers has k - 1 times the given latency.
    Straight,
}

/// One direction of one dimension.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Heading {
    /// To the router with the next coordinate; from the last one to the first.
    Up,
    /// To the one before.
    Down,
}

/// The ports and links of one dimension.
#[derive(Clone, Copy, Debug)]
struct Rail {
    /// The first port up.
    first: PortId,
    /// Links between two neighbours.
    links: PortId,
    link: Link,
    /// True if the lines are rings.
    ring: bool,
}

/// A torus, a mesh, or a network with rings in some dimensions.
#[derive(Clone, Debug)]
pub struct Torus {
    name: &'static str,
    grid: Grid,
    by_p: Divisor,
    layout: Layout,
    terminal: Link,
    rails: Arc<[Rail]>,
    ports: PortId,
    blocks: Blocks,
}

impl Torus {
    /// Builds the torus, or names the invalid parameter and the remedy.
    pub fn new(params: &Params) -> Result<Torus, Invalid> {
        let grid = GridParams {
            sizes: params.sizes.clone(),
            endpoints_per_router: params.endpoints_per_router,
            links_between_routers: params.links_between_routers.clone(),
            terminal: params.terminal,
            link: params.link,
            x: params.x,
            y: params.y,
            z: params.z,
        };
        let open = params.open.as_deref().unwrap_or_default();
        let open = parse_letters(open, &grid.check()?.0, "open")?;
        if open.len() == grid.sizes.len() {
            return Err(Invalid::new(
                "open",
                "no line is a ring",
                "write kind = \"mesh\", or leave out a dimension",
            ));
        }
        Torus::of("torus", |d| !open.contains(&d), params.layout, &grid)
    }

    /// Builds a network whose lines are rings in some dimensions.
    pub(super) fn of(
        name: &'static str,
        is_ring: impl Fn(usize) -> bool,
        layout: Layout,
        params: &GridParams,
    ) -> Result<Torus, Invalid> {
        let (grid, counts) = params.check()?;
        let p = params.endpoints_per_router;
        let ports = u64::from(p)
            + counts
                .iter()
                .map(|&links| 2 * u64::from(links))
                .sum::<u64>();
        check_ports(ports)?;
        check_grid_size(&grid, p, ports)?;
        let (terminal, links) = params.links().check(&grid)?;
        let mut first = p as PortId;
        let rails = counts.iter().zip(links).enumerate();
        let rails = rails.map(|(d, (&count, link))| {
            let rail = Rail {
                first,
                links: count as PortId,
                link,
                ring: is_ring(d),
            };
            first += 2 * rail.links;
            rail
        });
        let rails: Arc<[Rail]> = rails.collect();
        // Windows are as short as the shortest link between domains.
        let least = rails[grid.longest()].link.latency;
        let blocks = Blocks::new(&grid, ports, |d| rails[d].link.latency >= least);
        let torus = Torus {
            name,
            by_p: Divisor::new(p),
            layout,
            terminal,
            rails,
            blocks,
            ports: ports as PortId,
            grid,
        };
        torus.check_lengths()?;
        Ok(torus)
    }

    /// Refuses links whose latency overflows a time.
    fn check_lengths(&self) -> Result<(), Invalid> {
        for (d, rail) in self.rails.iter().enumerate() {
            let longest = u128::from(rail.link.latency) * u128::from(self.grid.size(d));
            if self.layout != Layout::Equal && longest > u128::from(weir_model::LATEST) {
                return Err(Invalid::new(
                    "layout",
                    format!("the longest links would have a latency of {longest} ps"),
                    "give a shorter latency",
                ));
            }
        }
        Ok(())
    }

    /// The grid of routers.
    #[inline]
    pub fn grid(&self) -> &Grid {
        &self.grid
    }

    /// True if the lines of dimension `d` are rings.
    #[inline]
    pub fn is_ring(&self, d: usize) -> bool {
        self.rails[d].ring
    }

    /// True if the lines of some dimension are rings.
    pub fn has_rings(&self) -> bool {
        self.rails.iter().any(|rail| rail.ring)
    }

    /// Endpoints of each router.
    pub fn endpoints_per_router(&self) -> u32 {
        self.by_p.get()
    }

    /// The router that `endpoint` is attached to.
    #[inline]
    pub fn router_of(&self, endpoint: EndpointId) -> RouterId {
        self.by_p.divide(endpoint)
    }

    /// The port of its router that `endpoint` is attached to.
    #[inline]
    pub fn terminal_port(&self, endpoint: EndpointId) -> PortId {
        self.by_p.rest(endpoint) as PortId
    }

    /// The ports of dimension `d` that lead this way: the first one, and their number.
    #[inline]
    pub fn ports_to(&self, d: usize, heading: Heading) -> (PortId, PortId) {
        let rail = &self.rails[d];
        match heading {
            Heading::Up => (rail.first, rail.links),
            Heading::Down => (rail.first + rail.links, rail.links),
        }
    }

    /// The dimension of a port to another router, and its heading.
    fn dimension_of(&self, port: PortId) -> (usize, Heading) {
        let d = self.rails.partition_point(|rail| rail.first <= port) - 1;
        let down = port >= self.rails[d].first + self.rails[d].links;
        (d, if down { Heading::Down } else { Heading::Up })
    }

    /// Links of a shortest way in dimension `d` from one coordinate to another.
    #[inline]
    pub fn distance(&self, d: usize, from: u32, to: u32) -> u32 {
        let apart = from.abs_diff(to);
        match self.is_ring(d) {
            true => apart.min(self.grid.size(d) - apart),
            false => apart,
        }
    }

    /// Two flags: going up, and going down, is a shortest way from one coordinate of dimension `d`
    /// to another one.
    #[inline]
    pub fn ways_round(&self, d: usize, from: u32, to: u32) -> (bool, bool) {
        if !self.is_ring(d) {
            return (to > from, to < from);
        }
        let size = self.grid.size(d);
        let up = if to >= from {
            to - from
        } else {
            to + size - from
        };
        (2 * up <= size, 2 * up >= size)
    }

    /// Maximum number of links of a shortest way in dimension `d`.
    pub fn longest_way(&self, d: usize) -> u32 {
        match self.is_ring(d) {
            true => self.grid.size(d) / 2,
            false => self.grid.size(d) - 1,
        }
    }

    /// The latency of the links of dimension `d` up from a coordinate.
    fn latency(&self, d: usize, from: u32) -> Time {
        let (size, latency) = (self.grid.size(d), self.rails[d].link.latency);
        let closes = from == size - 1;
        match self.layout {
            _ if !self.is_ring(d) => latency,
            Layout::Equal => latency,
            Layout::Folded if closes || from == (size - 1) / 2 => latency,
            Layout::Folded => 2 * latency,
            Layout::Straight if closes => u64::from(size - 1) * latency,
            Layout::Straight => latency,
        }
    }
}

impl Topology for Torus {
    fn endpoints(&self) -> u32 {
        self.routers() * self.by_p.get()
    }

    fn routers(&self) -> u32 {
        self.grid.places()
    }

    fn ports(&self, _: RouterId) -> PortId {
        self.ports
    }

    fn peer(&self, router: RouterId, port: PortId) -> Peer {
        let p = self.by_p.get();
        if u32::from(port) < p {
            return Peer::Endpoint(router * p + u32::from(port));
        }
        let (d, heading) = self.dimension_of(port);
        let (at, size) = (self.grid.coordinate(router, d), self.grid.size(d));
        let (next, end, there) = match heading {
            Heading::Up => ((at + 1) % size, at == size - 1, port + self.rails[d].links),
            Heading::Down => ((at + size - 1) % size, at == 0, port - self.rails[d].links),
        };
        if end && !self.is_ring(d) {
            return Peer::Unused;
        }
        Peer::Router(self.grid.moved(router, d, next), there)
    }

    fn link(&self, router: RouterId, port: PortId) -> Link {
        if u32::from(port) < self.by_p.get() {
            return self.terminal;
        }
        let (d, heading) = self.dimension_of(port);
        let (at, size) = (self.grid.coordinate(router, d), self.grid.size(d));
        let from = match heading {
            Heading::Up => at,
            Heading::Down => (at + size - 1) % size,
        };
        Link {
            latency: self.latency(d, from),
            ..self.rails[d].link
        }
    }

    fn link_kinds(&self) -> &[KindName] {
        self.grid.link_kinds()
    }

    fn links(&self) -> Vec<Links> {
        let mut all = vec![(self.terminal, u64::from(self.endpoints()))];
        for (d, rail) in self.rails.iter().enumerate() {
            let alike = u64::from(self.grid.lines(d)) * u64::from(rail.links);
            let links = self.grid.size(d) - u32::from(!rail.ring);
            let mut latencies: Vec<Time> = (0..links).map(|from| self.latency(d, from)).collect();
            latencies.sort_unstable();
            for same in latencies.chunk_by(|a, b| a == b) {
                let link = Link {
                    latency: same[0],
                    ..rail.link
                };
                all.push((link, alike * same.len() as u64));
            }
        }
        Links::of(all)
    }

    fn all_ports(&self) -> u64 {
        u64::from(self.routers()) * u64::from(self.ports)
    }

    fn attachment(&self, endpoint: EndpointId) -> (RouterId, PortId) {
        (self.router_of(endpoint), self.terminal_port(endpoint))
    }

    fn groups(&self) -> u32 {
        self.grid.slabs()
    }

    fn group_of(&self, router: RouterId) -> u32 {
        self.grid.slab(router)
    }

    fn domains(&self) -> u32 {
        self.blocks.count()
    }

    fn domain_of(&self, router: RouterId) -> DomainId {
        self.blocks.of(&self.grid, router)
    }

    fn minimal_routers(&self, a: EndpointId, b: EndpointId) -> u32 {
        let (a, b) = (self.router_of(a), self.router_of(b));
        let ways = (0..self.grid.dimensions()).map(|d| {
            let ends = [a, b].map(|router| self.grid.coordinate(router, d));
            self.distance(d, ends[0], ends[1])
        });
        1 + ways.sum::<u32>()
    }

    fn diameter_routers(&self) -> u32 {
        let ways = (0..self.grid.dimensions()).map(|d| self.longest_way(d));
        1 + ways.sum::<u32>()
    }

    fn describe(&self) -> String {
        let links: Vec<String> = self
            .rails
            .iter()
            .map(|rail| rail.links.to_string())
            .collect();
        let links = match self.rails.iter().all(|rail| rail.links == 1) {
            true => String::new(),
            false => format!(
                ", {} links between two routers in each dimension",
                links.join(", ")
            ),
        };
        let layout = match self.layout {
            Layout::Equal => "",
            Layout::Folded => ", folded",
            Layout::Straight => ", laid out straight",
        };
        let open = (0..self.rails.len()).filter(|&d| !self.is_ring(d));
        let open = match open.collect::<Vec<_>>() {
            open if open.is_empty() || !self.has_rings() => String::new(),
            open => format!(", open in {}", order_letters(&open)),
        };
        format!(
            "{}: {} routers with {} each ({}, {}){links}{layout}{open}",
            self.name,
            self.grid.describe(),
            count(self.by_p.get(), "endpoint"),
            count(self.endpoints(), "endpoint"),
            count(self.routers(), "router"),
        )
    }

    fn as_grid(&self) -> Option<&Grid> {
        Some(&self.grid)
    }

    fn as_any(&self) -> Option<&dyn Any> {
        Some(self)
    }
}

fn build(section: &Section) -> Result<Arc<dyn Topology>, ConfigError> {
    let torus = Torus::new(&section.parse()?).map_err(|invalid| section.refuse(invalid))?;
    Ok(Arc::new(torus))
}

/// Registry entry of the torus.
pub const ENTRY: Entry<Build> = Entry {
    name: "torus",
    summary: "Routers in any number of dimensions; their lines are rings, or only those of some \
              dimensions.",
    source: "Dally and Seitz, 1986; Dally and Towles, \"Principles and Practices of \
             Interconnection Networks\", chapter 5",
    examples: &[
        r#"sizes = [4, 3], endpoints_per_router = 2, terminal = { bandwidth = "100 Gbps", latency = "5 ns" }, link = { bandwidth = "100 Gbps", latency = "20 ns" }"#,
        r#"sizes = [2, 3, 3], links_between_routers = [1, 2, 1], layout = "folded", terminal = { bandwidth = "100 Gbps", latency = "5 ns" }, link = { bandwidth = "100 Gbps", latency = "20 ns" }, y = { bandwidth = "50 Gbps", latency = "30 ns" }"#,
        "sizes = [4, 2, 3], open = \"y\", \
         terminal = { bandwidth = \"100 Gbps\", latency = \"5 ns\" }, \
         link = { bandwidth = \"100 Gbps\", latency = \"20 ns\" }",
    ],
    parameters: Keys::of::<Params>(),
    build,
};
