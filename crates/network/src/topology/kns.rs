//! The k-ary n-direct s-indirect network (KNS): kⁿ nodes in n dimensions. The k nodes of a line are
//! joined by an indirect network of s stages, a single switch if s is 1.
//!
//! Peñaranda, Gómez Requena, Gómez, López and Duato, "The k-ary n-direct s-indirect family of
//! topologies for large-scale interconnection networks", J. Supercomput. 72(3), 2016; Yébenes et
//! al., TACO 16(2), 2019, section 2.1.
//!
//! # Nodes
//!
//! The interface of a node has a port in each dimension and forwards packets from one to another. A
//! node therefore consists of an endpoint and a router of kind `nic` with one terminal port and n
//! ports into the lines. Routers of kind `line` are the switches. The forwarding time and the
//! buffers of a NIC are those of `[router.nic]`; the `terminal` link is inside the node.
//!
//! # Numbers
//!
//! Nodes are numbered as the places of a [`Grid`]; the NIC of endpoint e is router e. The switches
//! of lines follow: those of all lines of x, then of y, and so on, each line's in the order of its
//! tree. In a NIC, port 0 is the terminal and port 1 + d leads into the line of dimension d. For
//! s > 1 a line is a d-ary s-tree with dˢ = k ([`super::kary_ntree`]), whose endpoints are the
//! nodes of the line.
//!
//! # Domains
//!
//! A domain is a slab of the last dimension with the lines inside it. The lines of the last
//! dimension, which join the slabs, are assigned to them in turn.

use std::any::Any;
use std::sync::Arc;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::grid::{Grid, GridLinks, MOST_DIMENSIONS};
use super::tree::Tree;
use super::{Build, Link, LinkParams, Links, Peer, Topology, check_size, kary_ntree};
use weir_input::registry::{Entry, Keys};
use weir_input::{ConfigError, Section};
use weir_model::{EndpointId, Invalid, KindName, LinkKind, PortId, RouterId, RouterKind};

/// Parameters of the k-ary n-direct s-indirect network. A domain is a slab of the last dimension.
#[derive(Clone, Debug, Deserialize, Serialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Params {
    /// Nodes of a line, 2 or more.
    pub k: u32,
    /// Dimensions, from 1 to 16.
    pub n: u32,
    /// Stages of a line. 1 (default): a switch of k ports. More: a fat tree of s levels of
    /// switches, of which k is the s-th power of their ports down.
    #[serde(default = "super::grid::one")]
    pub s: u32,
    /// The link inside a node, between the endpoint and the ports of its interface.
    pub terminal: LinkParams,
    /// The links between nodes and lines, in every dimension without a separate table.
    pub link: LinkParams,
    /// The links between nodes and lines of dimension x.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub x: Option<LinkParams>,
    /// The links between nodes and lines of dimension y.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub y: Option<LinkParams>,
    /// The links between nodes and lines of dimension z.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub z: Option<LinkParams>,
    /// The links between the switches of a line, if `s` is more than 1. Default: as `link`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub inner: Option<LinkParams>,
}

/// Role of a router of a KNS network.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Place {
    /// The interface of the node of this number.
    Nic(EndpointId),
    /// A switch of a line.
    Switch {
        /// The dimension of the line.
        d: usize,
        /// The number of the line in its dimension.
        line: u32,
        /// The switch among those of the line: a router of [`Kns::line`].
        switch: RouterId,
    },
}

/// A k-ary n-direct s-indirect network.
#[derive(Clone, Debug)]
pub struct Kns {
    grid: Grid,
    /// The network of each line.
    line: Tree,
    /// Lines of each dimension.
    lines: u32,
    terminal: Link,
    links: Arc<[Link]>,
    inner: Link,
    kinds: Arc<[KindName]>,
    axes: Arc<[KindName]>,
}

impl Kns {
    /// Switches of lines.
    pub const LINE: RouterKind = RouterKind(0);
    /// Interfaces of nodes.
    pub const NIC: RouterKind = RouterKind(1);

    /// Builds the network, or names the invalid parameter and the remedy.
    pub fn new(params: &Params) -> Result<Kns, Invalid> {
        let n = params.n as usize;
        if !(1..=MOST_DIMENSIONS).contains(&n) {
            let remedy = format!("give from 1 to {MOST_DIMENSIONS}");
            return Err(Invalid::new("n", format!("{n} dimensions"), remedy));
        }
        let line = line(params)?;
        let grid = Grid::new(&vec![params.k; n], "k")?;
        let lines = grid.lines(0);
        let switches =
            u128::from(grid.dimensions() as u32) * u128::from(lines) * u128::from(line.routers());
        let nodes = u128::from(grid.places());
        if nodes + switches > u128::from(u32::MAX) {
            let what = "the network has more switches than can be numbered";
            return Err(Invalid::new("n", what, "choose a smaller network"));
        }
        let nic_ports = nodes * (1 + grid.dimensions() as u128);
        let ports = nic_ports
            + u128::from(grid.dimensions() as u32)
                * u128::from(lines)
                * u128::from(line.all_ports());
        check_size("n", nodes, ports, ports.div_ceil(params.k.into()))?;
        let (terminal, links) = GridLinks {
            terminal: params.terminal,
            link: params.link,
            own: [params.x, params.y, params.z],
        }
        .check(&grid)?;
        let kind = LinkKind(grid.dimensions() as u8 + 1);
        let (given, name) = match params.inner {
            Some(given) => (given, "inner"),
            None => (params.link, "link"),
        };
        let inner = given.check(kind, name)?;
        let mut kinds = grid.link_kinds().to_vec();
        if line.levels() > 1 {
            kinds.push("inner".into());
        } else if params.inner.is_some() {
            let what = "a line of one switch has no links between switches";
            return Err(Invalid::new(
                "inner",
                what,
                "leave it out, or write s = 2 or more",
            ));
        }
        let mut axes = grid.axes().to_vec();
        axes.extend(["dimension".into(), "switch".into()]);
        Ok(Kns {
            grid,
            line,
            lines,
            terminal,
            links: links.into(),
            inner,
            kinds: kinds.into(),
            axes: axes.into(),
        })
    }

    /// The grid of nodes.
    #[inline]
    pub fn grid(&self) -> &Grid {
        &self.grid
    }

    /// The network of a line: its endpoints are the nodes of the line, by their coordinates.
    #[inline]
    pub fn line(&self) -> &Tree {
        &self.line
    }

    /// Role of a router.
    #[inline]
    pub fn place(&self, router: RouterId) -> Place {
        let nodes = self.grid.places();
        if router < nodes {
            return Place::Nic(router);
        }
        let (line, switch) = match self.line.routers() {
            1 => (router - nodes, 0),
            switches => ((router - nodes) / switches, (router - nodes) % switches),
        };
        let d = line / self.lines;
        Place::Switch {
            d: d as usize,
            line: line - d * self.lines,
            switch,
        }
    }

    /// The port of a NIC that leads into its line of dimension `d`.
    #[inline]
    pub fn port_into(d: usize) -> PortId {
        1 + d as PortId
    }

    fn switch(&self, d: usize, line: u32, switch: RouterId) -> RouterId {
        self.grid.places() + (d as u32 * self.lines + line) * self.line.routers() + switch
    }

    /// Number of lines in a slab, for each dimension but the last.
    fn lines_in_slab(&self) -> u32 {
        self.lines / self.grid.slabs()
    }

    fn last(&self) -> usize {
        self.grid.dimensions() - 1
    }
}

/// The network of a line.
fn line(params: &Params) -> Result<Tree, Invalid> {
    let (k, s) = (params.k, params.s);
    if k < 2 {
        return Err(Invalid::new(
            "k",
            format!("lines of {k} nodes"),
            "give 2 or more",
        ));
    }
    let power = |base: u32| base.checked_pow(s);
    if s == 0 {
        return Err(Invalid::new("s", "is 0", "give 1 or more"));
    }
    if k > u32::from(PortId::MAX) {
        let what = format!("lines of {k} nodes");
        return Err(Invalid::new(
            "k",
            what,
            format!("give at most {}", PortId::MAX),
        ));
    }
    let base = (2..=k)
        .take_while(|&base| power(base).is_some_and(|power| power <= k))
        .last();
    let Some(base) = base.filter(|&base| power(base) == Some(k)) else {
        return Err(Invalid::new(
            "s",
            format!(
                "{k} nodes cannot be joined by a fat tree of {s} stages: {k} is no power of that \
                 degree"
            ),
            "give s = 1, or a k that is another number to the power of s, such as 16 for s = 2",
        ));
    };
    kary_ntree::tree(&kary_ntree::Params {
        k: base,
        n: s,
        terminal: params.link,
        local: Some(params.link),
        global: Some(params.link),
        horizontal_width: 0,
        horizontal: None,
    })
}

impl Topology for Kns {
    fn endpoints(&self) -> u32 {
        self.grid.places()
    }

    fn routers(&self) -> u32 {
        self.switch(self.grid.dimensions(), 0, 0)
    }

    fn ports(&self, router: RouterId) -> PortId {
        match self.place(router) {
            Place::Nic(_) => Kns::port_into(self.grid.dimensions()),
            Place::Switch { switch, .. } => self.line.ports(switch),
        }
    }

    fn peer(&self, router: RouterId, port: PortId) -> Peer {
        match self.place(router) {
            Place::Nic(node) if port == 0 => Peer::Endpoint(node),
            Place::Nic(node) => {
                let d = usize::from(port) - 1;
                let (switch, there) = self.line.attachment(self.grid.coordinate(node, d));
                Peer::Router(self.switch(d, self.grid.line(node, d), switch), there)
            }
            Place::Switch { d, line, switch } => match self.line.peer(switch, port) {
                Peer::Endpoint(at) => {
                    Peer::Router(self.grid.on_line(d, line, at), Kns::port_into(d))
                }
                Peer::Router(other, there) => Peer::Router(self.switch(d, line, other), there),
                Peer::Unused => Peer::Unused,
            },
        }
    }

    fn link(&self, router: RouterId, port: PortId) -> Link {
        match self.place(router) {
            Place::Nic(_) if port == 0 => self.terminal,
            Place::Nic(_) => self.links[usize::from(port) - 1],
            Place::Switch { d, switch, .. } => match self.line.link(switch, port).kind {
                LinkKind::TERMINAL => self.links[d],
                _ => self.inner,
            },
        }
    }

    fn link_kinds(&self) -> &[KindName] {
        &self.kinds
    }

    fn router_kinds(&self) -> &[KindName] {
        const KINDS: &[KindName] = &[KindName::Borrowed("line"), KindName::Borrowed("nic")];
        KINDS
    }

    fn router_kind(&self, router: RouterId) -> RouterKind {
        match self.place(router) {
            Place::Nic(_) => Kns::NIC,
            Place::Switch { .. } => Kns::LINE,
        }
    }

    fn links(&self) -> Vec<Links> {
        let nodes = u64::from(self.grid.places());
        let lines = u64::from(self.lines);
        let inner = self
            .line
            .links()
            .into_iter()
            .skip(1)
            .map(|links| links.count);
        let inner = inner.sum::<u64>() * lines;
        let mut all = vec![(self.terminal, nodes)];
        all.extend(self.links.iter().map(|&link| (link, nodes)));
        all.push((self.inner, inner * self.grid.dimensions() as u64));
        Links::of(all)
    }

    fn all_ports(&self) -> u64 {
        let dimensions = self.grid.dimensions() as u64;
        let nics = u64::from(self.grid.places()) * (1 + dimensions);
        nics + dimensions * u64::from(self.lines) * self.line.all_ports()
    }

    fn attachment(&self, endpoint: EndpointId) -> (RouterId, PortId) {
        (endpoint, 0)
    }

    fn groups(&self) -> u32 {
        self.grid.slabs()
    }

    fn group_of(&self, router: RouterId) -> u32 {
        match self.place(router) {
            Place::Nic(node) => self.grid.slab(node),
            Place::Switch { d, line, .. } if d == self.last() => line % self.grid.slabs(),
            Place::Switch { line, .. } => line / self.lines_in_slab(),
        }
    }

    fn axes(&self) -> &[KindName] {
        &self.axes
    }

    /// A line has the coordinates of its first node.
    fn coordinates(&self, router: RouterId) -> Vec<u32> {
        let (node, dimension, switch) = match self.place(router) {
            Place::Nic(node) => (node, 0, 0),
            Place::Switch { d, line, switch } => {
                (self.grid.on_line(d, line, 0), d as u32 + 1, switch)
            }
        };
        self.grid
            .coordinates(node)
            .chain([dimension, switch])
            .collect()
    }

    /// Between two dimensions a packet goes through a NIC.
    fn minimal_routers(&self, a: EndpointId, b: EndpointId) -> u32 {
        let ways = (0..self.grid.dimensions()).map(|d| {
            let ends = [a, b].map(|node| self.grid.coordinate(node, d));
            match ends[0] == ends[1] {
                true => 0,
                false => 1 + self.line.minimal_routers(ends[0], ends[1]),
            }
        });
        1 + ways.sum::<u32>()
    }

    fn diameter_routers(&self) -> u32 {
        1 + self.grid.dimensions() as u32 * (1 + self.line.diameter_routers())
    }

    fn describe(&self) -> String {
        let of = match self.line.levels() {
            1 => format!("a switch of {} ports", self.grid.slabs()),
            levels => format!(
                "a fat tree of {} switches on {levels} levels",
                self.line.routers()
            ),
        };
        format!(
            "kns: {}-ary {}-direct {}-indirect ({} endpoints, {} switches), each line {of}",
            self.grid.slabs(),
            self.grid.dimensions(),
            self.line.levels(),
            self.endpoints(),
            self.routers() - self.endpoints(),
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
    let kns = Kns::new(&section.parse()?).map_err(|invalid| section.refuse(invalid))?;
    Ok(Arc::new(kns))
}

/// Registry entry of the k-ary n-direct s-indirect network.
pub const ENTRY: Entry<Build> = Entry {
    name: "kns",
    summary: "k-ary n-direct s-indirect: nodes in n dimensions, each line of k joined by a switch \
              (or a fat tree of s stages); nodes forward between dimensions.",
    source: "Penaranda et al., J. Supercomput. 72(3), 2016; Yebenes et al., TACO 2019, section 2.1",
    examples: &[
        r#"k = 4, n = 2, terminal = { bandwidth = "100 Gbps", latency = "1 ns" }, link = { bandwidth = "100 Gbps", latency = "20 ns" }"#,
        r#"k = 4, n = 2, s = 2, terminal = { bandwidth = "100 Gbps", latency = "1 ns" }, link = { bandwidth = "100 Gbps", latency = "20 ns" }, inner = { bandwidth = "100 Gbps", latency = "10 ns" }"#,
    ],
    parameters: Keys::of::<Params>(),
    build,
};
