//! All shortest ways: at each router a packet takes one of the links that lead nearer to its
//! destination.
//!
//! The virtual channel of a link is the number of links that the packet has taken before it. A
//! packet only ever waits for a channel of a higher number, so nothing waits for itself, on any
//! graph: the network needs one channel for each link of its longest shortest way (Günther,
//! "Prevention of deadlocks in packet-switched data transport systems", IEEE Transactions on
//! Communications 29(4), 1981). Control packets are routed like data.

use std::sync::Arc;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::routing::measure::least_loaded;
use crate::routing::{Build, Here, Hop, Routing};
use crate::topology::graph::Graph;
use crate::topology::{Peer, Topology};
use weir_input::registry::{Entry, Keys};
use weir_input::{ConfigError, Section};
use weir_model::{Flight, Invalid, LinkKind, PortId, RouterId, below, stream};

/// Most links of a shortest way: one virtual channel for each.
const MOST_LINKS: u32 = 64;

/// Parameters of the routing.
#[derive(Clone, Debug, Default, Deserialize, Serialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Params {
    /// Which of several links a packet takes.
    #[serde(default)]
    pub choose: Choose,
}

/// Choice among links that lead nearer.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Deserialize, Serialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Choose {
    /// Each is as likely as the others.
    #[default]
    Random,
    /// One with the least backlog; of equal ones the first from a random one on.
    Adaptive,
    /// One drawn from the source, the destination and the job: all packets of a flow take one way.
    Flow,
}

/// Shortest ways in one graph.
struct Shortest {
    graph: Graph,
    choose: Choose,
    vcs: u8,
}

impl Shortest {
    /// The ports of a router that lead nearer to another one.
    fn nearer(&self, router: RouterId, to: RouterId) -> Vec<PortId> {
        let distances = self.graph.distances(to);
        let own = distances[router as usize];
        let leads = |&port: &PortId| match self.graph.peer(router, port) {
            Peer::Router(other, _) => distances[other as usize] < own,
            Peer::Endpoint(_) | Peer::Unused => false,
        };
        (0..self.graph.ports(router)).filter(leads).collect()
    }
}

/// A number below `count`, the same for all packets of a flow at a router.
fn by_flow(flight: &Flight, here: &dyn Here, count: usize) -> usize {
    let name = [
        here.source(),
        flight.destination,
        here.job().into(),
        here.router(),
    ];
    below(&mut stream(0, &name.map(u64::from)), count as u32) as usize
}

impl Routing for Shortest {
    fn vcs(&self, kind: LinkKind) -> u8 {
        match kind {
            LinkKind::TERMINAL => 1,
            _ => self.vcs,
        }
    }

    fn route(&self, flight: &mut Flight, here: &mut dyn Here) -> Hop {
        let (there, port) = self.graph.attachment(flight.destination);
        let router = here.router();
        if router == there {
            return Hop { port, vc: 0 };
        }
        let ports = self.nearer(router, there);
        let port = match self.choose {
            Choose::Random => ports[here.pick(ports.len() as u32) as usize],
            Choose::Flow => ports[by_flow(flight, here, ports.len())],
            Choose::Adaptive => least_loaded(ports.len(), |at| ports[at], here),
        };
        let vc = flight.steps;
        flight.steps += 1;
        Hop { port, vc }
    }

    fn max_routers(&self) -> u32 {
        self.graph.diameter_routers()
    }

    fn is_adaptive(&self) -> bool {
        self.choose == Choose::Adaptive
    }

    fn one_way(&self) -> bool {
        self.choose == Choose::Flow
    }
}

fn build(section: &Section, topology: &Arc<dyn Topology>) -> Result<Box<dyn Routing>, ConfigError> {
    let Params { choose } = section.parse()?;
    let refuse =
        |what: String, remedy: &str| Err(section.refuse(Invalid::new("algorithm", what, remedy)));
    let Some(graph) = topology.as_a::<Graph>().cloned() else {
        return refuse(
            format!(
                "\"shortest\" routes in graphs only, and this is a {}",
                topology.describe()
            ),
            "choose an algorithm that is made for this topology",
        );
    };
    let links = graph.diameter_routers() - 1;
    if links > MOST_LINKS {
        return refuse(
            format!("a shortest way has up to {links} links, and each needs a virtual channel"),
            "give links that shorten the ways: at most 64 are possible",
        );
    }
    Ok(Box::new(Shortest {
        graph,
        choose,
        vcs: links.max(1) as u8,
    }))
}

/// Registry entry of shortest ways.
pub const ENTRY: Entry<Build> = Entry {
    name: "shortest",
    summary: "Graphs: any of the shortest ways, at random, by load or by flow; a virtual channel \
              for each link of a way.",
    source: "Günther, \"Prevention of deadlocks in packet-switched data transport systems\", 1981",
    examples: &["", "choose = \"adaptive\"", "choose = \"flow\""],
    parameters: Keys::of::<Params>(),
    build,
};
