//! Any network, from a list of its links.
//!
//! The ports of a router are its endpoints, in the order of their numbers, and then its links in
//! the order of the list. Distances are those of a breadth-first search, in a table with a byte for
//! each router and each router with endpoints, whose rows are made when something first asks for
//! them. There is no table of pairs of endpoints.

mod distances;
mod edges;
mod parts;

use std::any::Any;
use std::collections::BTreeMap;
use std::sync::Arc;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::{Build, Link, LinkParams, Peer, Topology, check_size};
use distances::Distances;
use edges::{Edge, Edges, Like, MOST_PORTS, too_many_ports};
use weir_input::registry::{Entry, Keys};
use weir_input::{ConfigError, Section};
use weir_model::{DomainId, EndpointId, Invalid, KindName, LinkKind, PortId, RouterId};

/// Maximum number of routers: each has a byte for every router with endpoints.
pub(super) const MOST_ROUTERS: usize = 16_384;
/// The number of no router.
const NO_ROUTER: RouterId = RouterId::MAX;

/// Parameters of a graph.
#[derive(Clone, Debug, Deserialize, Serialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Params {
    /// The links, as a table in CSV. Its first line is `from,to` and any of `kind`, `bandwidth`,
    /// `latency` and `links` (their number, 1 by default). Each other line is a link, with the
    /// names of its ends. A link of kind `terminal` is from an endpoint to its router; all others
    /// join two routers. If the names of all routers, or of all endpoints, are the whole numbers
    /// from 0 on, perhaps after one and the same word (`r0`, `r1`), these are their numbers; others
    /// are counted as they appear.
    pub links: LinkTable,
    /// Endpoints at each router, 1 or more, if the table has none. Default: 1.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub endpoints_per_router: Option<u32>,
    /// The links between endpoints and routers.
    pub terminal: LinkParams,
    /// The links that name no kind.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub link: Option<LinkParams>,
    /// The links of other kinds, by the name of the kind.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub kinds: BTreeMap<String, LinkParams>,
}

/// The text of a table of links.
#[derive(Clone, Debug, Deserialize, Serialize, JsonSchema)]
#[serde(transparent)]
pub struct LinkTable(pub String);

/// One port.
#[derive(Clone, Copy, Debug)]
struct Port {
    peer: Peer,
    link: Link,
}

/// Links between two routers.
#[derive(Clone, Copy, Debug)]
pub struct Cable {
    /// Their ends.
    pub ends: [RouterId; 2],
    /// The place of their kind among those of the layout.
    pub kind: usize,
    /// Their number, 1 or more.
    pub links: u32,
}

/// A network for [`Graph::laid_out`].
#[derive(Clone, Debug)]
pub struct GraphLayout {
    /// Its description, for people.
    pub about: String,
    /// The kinds of links, the first for endpoints.
    pub kinds: Vec<(KindName, Link)>,
    /// Number of routers.
    pub routers: u32,
    /// The router of each endpoint.
    pub homes: Vec<RouterId>,
    /// The links between routers.
    pub cables: Vec<Cable>,
    /// The group of each router, each group from 0 on with some; None: parts of the graph.
    pub groups: Option<Vec<u32>>,
}

/// A network from a list of links.
#[derive(Clone)]
pub struct Graph {
    /// Its description, if it is not called a graph.
    about: Option<Arc<str>>,
    kinds: Arc<[KindName]>,
    /// The ports of all routers, one router after the other.
    ports: Arc<[Port]>,
    /// The router behind each port, or [`NO_ROUTER`].
    behind: Arc<[RouterId]>,
    /// The first port of each router, and the end.
    starts: Arc<[usize]>,
    attachments: Arc<[(RouterId, PortId)]>,
    distances: Arc<Distances>,
    diameter: u32,
    reach: u32,
    homes: Arc<[RouterId]>,
    names: Arc<[String]>,
    endpoint_names: Arc<[String]>,
    parts: Arc<[DomainId]>,
    count: u32,
}

impl Graph {
    /// Builds the network, or names the invalid parameter and the remedy.
    pub fn new(params: &Params) -> Result<Graph, Invalid> {
        let edges = Edges::read(&params.links.0)?;
        let routers = edges.routers.len();
        if routers == 0 || routers > MOST_ROUTERS {
            return Err(Invalid::new(
                "links",
                format!("the table has {routers} routers"),
                format!("give from 1 to {MOST_ROUTERS}"),
            ));
        }
        let of_kind = links_of_kinds(params, &edges)?;
        let endpoints = endpoints(params, &edges)?;
        Graph::wired(edges, &of_kind, &endpoints, None)
    }

    /// A network that other code has laid out.
    ///
    /// # Errors
    /// As for [`Graph::new`]; they name no key.
    pub fn laid_out(layout: GraphLayout) -> Result<Graph, Invalid> {
        let like = |kind| Like {
            kind,
            bandwidth: None,
            latency: None,
        };
        let of_kind: Vec<Link> = layout.kinds.iter().map(|(_, link)| *link).collect();
        let edges = Edges {
            kinds: layout.kinds.into_iter().map(|(name, _)| name).collect(),
            routers: (0..layout.routers)
                .map(|router| format!("r{router}"))
                .collect(),
            endpoints: Vec::new(),
            endpoint_names: Vec::new(),
            edges: (layout.cables.iter())
                .map(|wire| Edge {
                    ends: wire.ends,
                    like: like(wire.kind),
                    links: wire.links,
                })
                .collect(),
        };
        let homes = layout.homes.iter().map(|&router| (router, like(0)));
        let homes: Vec<(RouterId, Like)> = homes.collect();
        let graph = Graph::wired(edges, &of_kind, &homes, layout.groups);
        let graph = graph.map_err(|invalid| Invalid {
            key: String::new(),
            ..invalid
        })?;
        Ok(Graph {
            about: Some(layout.about.into()),
            ..graph
        })
    }

    fn wired(
        edges: Edges,
        of_kind: &[Link],
        endpoints: &[(RouterId, Like)],
        groups: Option<Vec<u32>>,
    ) -> Result<Graph, Invalid> {
        let link = |like: &Like| Link {
            bandwidth: like.bandwidth.unwrap_or(of_kind[like.kind].bandwidth),
            latency: like.latency.unwrap_or(of_kind[like.kind].latency),
            ..of_kind[like.kind]
        };
        let routers = edges.routers.len();
        let mut ports: Vec<Vec<Port>> = vec![Vec::new(); routers];
        let mut attachments = Vec::with_capacity(endpoints.len());
        for (number, (router, like)) in endpoints.iter().enumerate() {
            let own = &mut ports[*router as usize];
            if own.len() == MOST_PORTS {
                return Err(too_many_ports(&edges, *router));
            }
            attachments.push((*router, own.len() as PortId));
            own.push(Port {
                peer: Peer::Endpoint(number as EndpointId),
                link: link(like),
            });
        }
        for edge in &edges.edges {
            let [a, b] = edge.ends;
            let all = ports[a as usize].len().max(ports[b as usize].len()) + edge.links as usize;
            if all > MOST_PORTS {
                let larger = ports[a as usize].len() >= ports[b as usize].len();
                return Err(too_many_ports(&edges, if larger { a } else { b }));
            }
            for _ in 0..edge.links {
                let [at_a, at_b] = [a, b].map(|end| ports[end as usize].len() as PortId);
                let link = link(&edge.like);
                let peer = |router, port| Port {
                    peer: Peer::Router(router, port),
                    link,
                };
                ports[a as usize].push(peer(b, at_b));
                ports[b as usize].push(peer(a, at_a));
            }
        }
        Graph::of(edges, ports, attachments, groups)
    }

    fn of(
        edges: Edges,
        ports: Vec<Vec<Port>>,
        attachments: Vec<(RouterId, PortId)>,
        groups: Option<Vec<u32>>,
    ) -> Result<Graph, Invalid> {
        let all: u128 = ports.iter().map(|own| own.len() as u128).sum();
        check_size("links", attachments.len() as u128, all, all)?;
        let mut starts = vec![0];
        starts.extend(ports.iter().scan(0, |end, own| {
            *end += own.len();
            Some(*end)
        }));
        let links = |router: RouterId| {
            let linked = |port: &Port| Some((port.peer.router()?, port.link.latency));
            ports[router as usize].iter().filter_map(linked)
        };
        let distances = Distances::new(ports.len(), |router| links(router).map(|(other, _)| other));
        let first = attachments[0].0;
        if let Some(lost) = distances
            .to(first)
            .iter()
            .position(|&far| far == distances::FAR)
        {
            let [a, b] = [first as usize, lost].map(|router| &edges.routers[router]);
            return Err(Invalid::new(
                "links",
                format!("no way of 254 links or fewer leads from router {b:?} to router {a:?}"),
                "add the links that join them, or remove the part that is left over",
            ));
        }
        let mut homes: Vec<RouterId> = attachments.iter().map(|&(router, _)| router).collect();
        homes.sort_unstable();
        homes.dedup();
        let [diameter, reach] = distances.longest(&homes);
        let weights: Vec<usize> = ports.iter().map(Vec::len).collect();
        let parts = groups.unwrap_or_else(|| parts::divide(&weights, links));
        let count = parts.iter().max().map_or(1, |last| last + 1);
        Ok(Graph {
            about: None,
            kinds: edges.kinds.into(),
            behind: ports
                .iter()
                .flatten()
                .map(|port| port.peer.router().unwrap_or(NO_ROUTER))
                .collect(),
            ports: ports.into_iter().flatten().collect(),
            starts: starts.into(),
            attachments: attachments.into(),
            distances: distances.into(),
            diameter,
            reach,
            homes: homes.into(),
            names: edges.routers.into(),
            endpoint_names: edges.endpoint_names.into(),
            parts: parts.into(),
            count,
        })
    }

    fn own(&self, router: RouterId) -> &[Port] {
        let at = router as usize;
        &self.ports[self.starts[at]..self.starts[at + 1]]
    }

    /// The number of a port among those of the whole graph, below [`Topology::all_ports`].
    pub fn port_number(&self, router: RouterId, port: PortId) -> u32 {
        // A network of 2³² ports is refused.
        (self.starts[router as usize] + usize::from(port)) as u32
    }

    /// The links of a router to others: the ports, and the routers behind them.
    #[inline]
    pub fn neighbours(
        &self,
        router: RouterId,
    ) -> impl Iterator<Item = (PortId, RouterId)> + Clone + use<'_> {
        let at = router as usize;
        let behind = &self.behind[self.starts[at]..self.starts[at + 1]];
        let links = (0..).zip(behind.iter().copied());
        links.filter(|&(_, other)| other != NO_ROUTER)
    }

    /// The routers with endpoints.
    pub fn homes(&self) -> &[RouterId] {
        &self.homes
    }

    /// True if a router has endpoints.
    pub fn is_home(&self, router: RouterId) -> bool {
        self.homes.binary_search(&router).is_ok()
    }

    /// The names of the routers.
    pub fn names(&self) -> &[String] {
        &self.names
    }

    /// The longest distance of any router to one with endpoints, in links.
    pub fn reach(&self) -> u32 {
        self.reach
    }

    /// The distance of each router to one, in links.
    pub fn distances(&self, to: RouterId) -> &[u8] {
        self.distances.to(to)
    }
}

/// The link of each kind of the table.
fn links_of_kinds(params: &Params, edges: &Edges) -> Result<Vec<Link>, Invalid> {
    let own = |(number, name): (usize, &KindName)| {
        let kind = LinkKind(number as u8);
        let (given, key) = match &**name {
            weir_model::TERMINAL => (Some(params.terminal), "terminal".to_string()),
            "link" => (params.link, "link".to_string()),
            other => (params.kinds.get(other).copied(), format!("kinds.{other}")),
        };
        let Some(given) = given else {
            return Err(Invalid::new(
                "links",
                format!("links of kind {name:?} have no bandwidth and latency"),
                format!("add {key} = {{ bandwidth = \"…\", latency = \"…\" }}"),
            ));
        };
        given.check(kind, &key)
    };
    let usual = [weir_model::TERMINAL, "link"];
    let mut given = params.kinds.keys();
    if let Some(name) = given.find(|name| usual.contains(&name.as_str())) {
        return Err(Invalid::new(
            format!("kinds.{name}"),
            format!("links of kind {name:?} have a key of their own"),
            format!("write {name} = {{ bandwidth = \"…\", latency = \"…\" }}"),
        ));
    }
    let unused = params
        .kinds
        .keys()
        .find(|name| !edges.kinds.iter().any(|kind| *kind == **name));
    if let Some(name) = unused {
        return Err(Invalid::new(
            format!("kinds.{name}"),
            "no link of the table is of this kind",
            "remove it, or name it in the column `kind`",
        ));
    }
    edges.kinds.iter().enumerate().map(own).collect()
}

/// The router of each endpoint, and its link.
fn endpoints(params: &Params, edges: &Edges) -> Result<Vec<(RouterId, Like)>, Invalid> {
    let listed = edges.endpoints.iter();
    let listed: Vec<_> = listed.map(|one| (one.router, one.like.clone())).collect();
    match (params.endpoints_per_router, listed.is_empty()) {
        (None, false) => Ok(listed),
        (Some(_), false) => Err(Invalid::new(
            "endpoints_per_router",
            "the table names endpoints",
            "remove it, or the rows of kind `terminal`",
        )),
        (Some(0), true) => Err(Invalid::new(
            "endpoints_per_router",
            "is 0",
            "give 1 or more",
        )),
        (Some(count), true) if count as usize > MOST_PORTS => Err(Invalid::new(
            "endpoints_per_router",
            format!("a router has at most {MOST_PORTS} ports"),
            "give fewer",
        )),
        (count, true) => {
            let usual = Like {
                kind: 0,
                bandwidth: None,
                latency: None,
            };
            let each = count.unwrap_or(1);
            let all = edges.routers.len() as u128 * u128::from(each);
            check_size("endpoints_per_router", all, 0, 0)?;
            let routers = 0..edges.routers.len() as RouterId;
            let own = routers.flat_map(|router| (0..each).map(move |_| router));
            Ok(own.map(|router| (router, usual.clone())).collect())
        }
    }
}

impl Topology for Graph {
    fn endpoints(&self) -> u32 {
        self.attachments.len() as u32
    }

    fn routers(&self) -> u32 {
        self.starts.len() as u32 - 1
    }

    fn ports(&self, router: RouterId) -> PortId {
        self.own(router).len() as PortId
    }

    fn peer(&self, router: RouterId, port: PortId) -> Peer {
        self.own(router)[usize::from(port)].peer
    }

    fn link(&self, router: RouterId, port: PortId) -> Link {
        self.own(router)[usize::from(port)].link
    }

    fn link_kinds(&self) -> &[KindName] {
        &self.kinds
    }

    fn all_ports(&self) -> u64 {
        self.ports.len() as u64
    }

    fn attachment(&self, endpoint: EndpointId) -> (RouterId, PortId) {
        self.attachments[endpoint as usize]
    }

    fn endpoint_names(&self) -> &[String] {
        &self.endpoint_names
    }

    fn groups(&self) -> u32 {
        self.count
    }

    fn group_of(&self, router: RouterId) -> u32 {
        self.parts[router as usize]
    }

    fn minimal_routers(&self, a: EndpointId, b: EndpointId) -> u32 {
        let [(a, _), (b, _)] = [a, b].map(|endpoint| self.attachment(endpoint));
        1 + u32::from(self.distances(b)[a as usize])
    }

    fn diameter_routers(&self) -> u32 {
        1 + self.diameter
    }

    fn describe(&self) -> String {
        let links = self.ports.len() - self.attachments.len();
        format!(
            "{}: {} endpoints, {} routers, {} links between them, {} at most on a shortest way",
            self.about.as_deref().unwrap_or("graph"),
            self.attachments.len(),
            self.routers(),
            links / 2,
            self.diameter,
        )
    }

    fn as_any(&self) -> Option<&dyn Any> {
        Some(self)
    }
}

fn build(section: &Section) -> Result<Arc<dyn Topology>, ConfigError> {
    let graph = Graph::new(&section.parse()?).map_err(|invalid| section.refuse(invalid))?;
    Ok(Arc::new(graph))
}

/// Registry entry of graphs.
pub const ENTRY: Entry<Build> = Entry {
    name: "graph",
    summary: "Any network, from a list of its links.",
    source: "as `anynet` of BookSim2 and `anytopo` of SST merlin",
    examples: &[
        r#"links = "from,to\n0,1\n1,2\n2,3\n3,0\n0,2", endpoints_per_router = 4, terminal = { bandwidth = "100 Gbps", latency = "5 ns" }, link = { bandwidth = "100 Gbps", latency = "20 ns" }"#,
        r#"links = "from,to,kind,latency,links\nleft,right,trunk,,2\nleft,middle,trunk,50 ns,\nmiddle,right,trunk,,", endpoints_per_router = 6, terminal = { bandwidth = "100 Gbps", latency = "5 ns" }, kinds = { trunk = { bandwidth = "200 Gbps", latency = "20 ns" } }"#,
    ],
    parameters: Keys::of::<Params>(),
    build,
};
