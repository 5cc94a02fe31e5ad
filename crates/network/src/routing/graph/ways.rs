//! Shortest ways in a graph, and what its routings share.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use std::sync::Arc;

use crate::routing::measure::least_loaded;
use crate::routing::{Here, Hop};
use crate::topology::Topology;
use crate::topology::graph::Graph;
use weir_input::{ConfigError, Section};
use weir_model::{Flight, Invalid, PortId, RouterId, below, stream};

/// Most links of a way: one virtual channel for each.
pub const MOST_LINKS: u32 = 64;

/// Choice among links that lead nearer.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Deserialize, Serialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Choose {
    /// Each is as likely as the others.
    #[default]
    Random,
    /// One with the least backlog; of equal ones the first from a random one on.
    Adaptive,
    /// One drawn from the source, the destination and the job: all packets of a flow take one way
    /// from a router to another.
    Flow,
}

impl Choose {
    /// One of some ports, of which there is at least one.
    #[inline]
    pub fn of(
        self,
        mut ports: impl Iterator<Item = PortId> + Clone,
        flight: &Flight,
        here: &mut dyn Here,
    ) -> PortId {
        let count = ports.clone().count();
        let place = match self {
            Choose::Random => here.pick(count as u32) as usize,
            Choose::Flow => by_flow(flight, here, count),
            Choose::Adaptive => {
                let ports: Vec<PortId> = ports.collect();
                return least_loaded(count, |at| ports[at], here);
            }
        };
        ports.nth(place).unwrap_or(PortId::MAX)
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

/// Shortest ways in one graph. The virtual channel of a link is the number of links taken before.
pub struct Ways {
    /// The graph.
    pub graph: Graph,
    choose: Choose,
    /// Virtual channels of a link between routers.
    pub vcs: u8,
}

impl Ways {
    /// For ways with as many links as `longest` says. Other topologies, and graphs with too long
    /// ways, are refused.
    pub fn new(
        section: &Section,
        topology: &Arc<dyn Topology>,
        choose: Choose,
        longest: fn(&Graph) -> u32,
    ) -> Result<Ways, ConfigError> {
        let graph = graph(section, topology)?;
        let links = longest(&graph);
        if links > MOST_LINKS {
            return Err(section.refuse(Invalid::new(
                "algorithm",
                format!("a way has up to {links} links, and each needs a virtual channel"),
                format!("at most {MOST_LINKS} are possible: choose updown, or shorten the ways"),
            )));
        }
        Ok(Ways {
            graph,
            choose,
            vcs: links.max(1) as u8,
        })
    }

    /// The port towards a router by a shortest way; None at that router.
    pub fn towards(&self, to: RouterId, flight: &Flight, here: &mut dyn Here) -> Option<PortId> {
        let router = here.router();
        if router == to {
            return None;
        }
        let ports = nearer(&self.graph, router, to);
        Some(self.choose.of(ports, flight, here))
    }

    /// The hop by a port, or to the destination's endpoint.
    pub fn hop(&self, port: Option<PortId>, flight: &mut Flight) -> Hop {
        let Some(port) = port else {
            return arrived(&self.graph, flight);
        };
        let vc = flight.steps;
        flight.steps += 1;
        Hop { port, vc }
    }

    /// Maximum number of routers of a way.
    pub fn max_routers(&self) -> u32 {
        1 + u32::from(self.vcs)
    }

    /// True if the choice depends on load.
    pub fn is_adaptive(&self) -> bool {
        self.choose == Choose::Adaptive
    }

    /// True if all packets of a flow take one shortest way.
    pub fn one_way(&self) -> bool {
        self.choose == Choose::Flow
    }
}

/// The hop to a packet's endpoint, at its router.
pub fn arrived(graph: &Graph, flight: &Flight) -> Hop {
    let (_, port) = graph.attachment(flight.destination);
    Hop { port, vc: 0 }
}

/// The graph to route in; other topologies are refused.
pub fn graph(section: &Section, topology: &Arc<dyn Topology>) -> Result<Graph, ConfigError> {
    topology.as_a::<Graph>().cloned().ok_or_else(|| {
        let what = format!("it routes in graphs, and this is a {}", topology.describe());
        let remedy = "choose an algorithm that is made for this topology";
        section.refuse(Invalid::new("algorithm", what, remedy))
    })
}

/// The ports of a router that lead nearer to another one.
#[inline]
pub fn nearer(
    graph: &Graph,
    router: RouterId,
    to: RouterId,
) -> impl Iterator<Item = PortId> + Clone + use<'_> {
    let distances = graph.distances(to);
    let own = distances[router as usize];
    let links = graph.neighbours(router);
    links
        .filter(move |&(_, other)| distances[other as usize] < own)
        .map(|(port, _)| port)
}
