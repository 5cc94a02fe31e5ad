//! The HyperX: routers in several dimensions, each linked with all others of its line in every
//! dimension. With one dimension it is a full mesh, with two or more of equal size a flattened
//! butterfly (Kim, Dally and Abts, ISCA 2007), with sizes of 2 a hypercube.
//!
//! Ahn, Binkert, Davis, McLaren and Schreiber, "HyperX: topology, routing, and packaging of
//! efficient large-scale networks", SC 2009.
//!
//! Routers are numbered as the places of a [`Grid`]; endpoint e is at router ⌊e / p⌋. The ports of
//! a router are its p terminals, and then for each dimension those to the other routers of its
//! line, ascending, one for each link.

use std::any::Any;
use std::sync::Arc;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::grid::{Grid, GridParams, check_grid_size, check_ports};
use super::{Build, Link, Links, Peer, Topology, count};
use weir_input::registry::{Entry, Keys};
use weir_input::{ConfigError, Section};
use weir_model::{Divisor, EndpointId, Invalid, KindName, PortId, RouterId};

/// Parameters of the HyperX, in Ahn et al. S (`sizes`), T (`endpoints_per_router`) and K
/// (`links_between_routers`, for any two routers of a line). A domain is a slab: the routers with
/// the same coordinate in the longest dimension.
#[derive(Clone, Debug, Deserialize, Serialize, JsonSchema)]
pub struct Params(pub GridParams);

/// The ports and links of one dimension.
#[derive(Clone, Copy, Debug)]
struct Row {
    /// The first port.
    first: PortId,
    /// Links between each two routers.
    links: Divisor,
    link: Link,
}

/// A HyperX.
#[derive(Clone, Debug)]
pub struct HyperX {
    grid: Grid,
    by_p: Divisor,
    terminal: Link,
    rows: Arc<[Row]>,
    ports: PortId,
}

impl HyperX {
    /// Builds the network, or names the invalid parameter and the remedy.
    pub fn new(params: &Params) -> Result<HyperX, Invalid> {
        let (grid, counts) = params.0.check()?;
        let p = params.0.endpoints_per_router;
        let in_row = |(&links, size): (&u32, u32)| u64::from(links) * u64::from(size - 1);
        let ports = u64::from(p) + counts.iter().zip(grid.sizes()).map(in_row).sum::<u64>();
        check_ports(ports)?;
        check_grid_size(&grid, p, ports)?;
        let (terminal, links) = params.0.links().check(&grid)?;
        let mut first = p as PortId;
        let rows = counts.iter().zip(links).zip(grid.sizes());
        let rows = rows.map(|((&links, link), size)| {
            let row = Row {
                first,
                links: Divisor::new(links),
                link,
            };
            first += (links * (size - 1)) as PortId;
            row
        });
        Ok(HyperX {
            by_p: Divisor::new(p),
            terminal,
            rows: rows.collect(),
            ports: ports as PortId,
            grid,
        })
    }

    /// The grid of routers.
    #[inline]
    pub fn grid(&self) -> &Grid {
        &self.grid
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

    /// The ports of a router with coordinate `from` in dimension `d` that lead to the router of its
    /// line with another coordinate, `to`: the first one, and their number.
    #[inline]
    pub fn ports_to(&self, d: usize, from: u32, to: u32) -> (PortId, PortId) {
        debug_assert_ne!(from, to);
        let row = &self.rows[d];
        let links = row.links.get();
        let number = (to - u32::from(to > from)) * links;
        (row.first + number as PortId, links as PortId)
    }

    /// The dimension that a port belongs to, and its number there. None for a terminal.
    #[inline]
    fn row_of(&self, port: PortId) -> Option<(usize, u32)> {
        let d = self
            .rows
            .partition_point(|row| row.first <= port)
            .checked_sub(1)?;
        Some((d, u32::from(port - self.rows[d].first)))
    }

    /// The dimension of a port to another router; None for a terminal.
    #[inline]
    pub fn dimension_of(&self, port: PortId) -> Option<usize> {
        self.row_of(port).map(|(d, _)| d)
    }

    /// Links of a shortest way between two routers.
    #[inline]
    pub fn distance(&self, a: RouterId, b: RouterId) -> u32 {
        let dimensions = 0..self.grid.dimensions();
        dimensions.filter(|&d| self.grid.apart([a, b], d)).count() as u32
    }
}

impl Topology for HyperX {
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
        let Some((d, number)) = self.row_of(port) else {
            return Peer::Endpoint(router * self.by_p.get() + u32::from(port));
        };
        let (links, at) = (self.rows[d].links, self.grid.coordinate(router, d));
        let other = links.divide(number);
        let other = other + u32::from(other >= at);
        let (there, _) = self.ports_to(d, other, at);
        let there = there + links.rest(number) as PortId;
        Peer::Router(self.grid.moved(router, d, other), there)
    }

    fn link(&self, _: RouterId, port: PortId) -> Link {
        match self.row_of(port) {
            None => self.terminal,
            Some((d, _)) => self.rows[d].link,
        }
    }

    fn link_kinds(&self) -> &[KindName] {
        self.grid.link_kinds()
    }

    fn links(&self) -> Vec<Links> {
        let terminals = (self.terminal, u64::from(self.endpoints()));
        let rows = self.rows.iter().enumerate().map(|(d, row)| {
            let size = u64::from(self.grid.size(d));
            let of_line = size * (size - 1) / 2 * u64::from(row.links.get());
            (row.link, u64::from(self.grid.lines(d)) * of_line)
        });
        Links::of([terminals].into_iter().chain(rows))
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

    fn minimal_routers(&self, a: EndpointId, b: EndpointId) -> u32 {
        1 + self.distance(self.router_of(a), self.router_of(b))
    }

    fn diameter_routers(&self) -> u32 {
        1 + self.grid.dimensions() as u32
    }

    fn describe(&self) -> String {
        let links: Vec<String> = self
            .rows
            .iter()
            .map(|row| row.links.get().to_string())
            .collect();
        format!(
            "hyperx: {} routers with {} each ({}, {}), {} between two routers of a line",
            self.grid.describe(),
            count(self.by_p.get(), "endpoint"),
            count(self.endpoints(), "endpoint"),
            count(self.routers(), "router"),
            match &links[..] {
                all if all.iter().all(|links| links == "1") => "1 link".into(),
                all => format!("{} links", all.join(", ")),
            },
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
    let hyperx = HyperX::new(&section.parse()?).map_err(|invalid| section.refuse(invalid))?;
    Ok(Arc::new(hyperx))
}

/// Registry entry of the HyperX.
pub const ENTRY: Entry<Build> = Entry {
    name: "hyperx",
    summary: "Routers in any number of dimensions, each linked with all others of its lines \
              (flattened butterfly, full mesh, hypercube).",
    source: "Ahn et al., SC 2009",
    examples: &[
        r#"sizes = [3, 4], endpoints_per_router = 2, terminal = { bandwidth = "100 Gbps", latency = "5 ns" }, link = { bandwidth = "100 Gbps", latency = "20 ns" }"#,
        r#"sizes = [3, 2, 3], links_between_routers = [1, 2, 1], terminal = { bandwidth = "100 Gbps", latency = "5 ns" }, link = { bandwidth = "100 Gbps", latency = "20 ns" }, z = { bandwidth = "50 Gbps", latency = "50 ns" }"#,
    ],
    parameters: Keys::of::<Params>(),
    build,
};
