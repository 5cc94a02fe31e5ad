//! One shortest way for each pair of routers, in layers: a packet stays in one virtual channel, and
//! the ways in a channel could not wait for each other in a circle (LASH).
//!
//! The ways are taken one after the other, and each goes into the first layer that it does not
//! close a circle in. Which of several shortest ways a pair takes depends on the numbers of the two
//! routers alone.

use std::sync::Arc;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::acyclic::Acyclic;
use super::next_ports::NextPorts;
use super::ways::{arrived, graph, nearer};
use crate::routing::{Build, Here, Hop, Routing};
use crate::topology::Topology;
use crate::topology::graph::Graph;
use weir_input::registry::{Entry, Keys};
use weir_input::{ConfigError, Section};
use weir_model::{Flight, Invalid, LinkKind, PortId, RouterId};

/// Pairs of a router and a destination's router at most: there is a byte for each, and a search.
const MOST_PAIRS: usize = 1 << 19;

/// Parameters of the routing.
#[derive(Clone, Debug, Default, Deserialize, Serialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Params {
    /// Layers at most, from 1 to 64. Default: 16. As many virtual channels are there as are needed.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub most: Option<u8>,
}

/// Ways in layers in one graph.
struct Layered {
    next: NextPorts,
    /// The layer of each way, by its place. (Routers without endpoints may send control packets.)
    layers: Box<[u8]>,
    count: u8,
}

impl Layered {
    fn new(graph: Graph, most: u8) -> Result<Layered, Invalid> {
        let pairs = graph.routers() as usize * graph.homes().len();
        if pairs > MOST_PAIRS {
            return Err(Invalid::new(
                "algorithm",
                format!("{pairs} pairs of routers are more than layers are found for"),
                format!("choose updown or shortest: the limit is {MOST_PAIRS}"),
            ));
        }
        let mut own = Layered {
            layers: vec![0; pairs].into(),
            next: NextPorts::new(graph, one_of),
            count: 1,
        };
        own.divide(most)?;
        Ok(own)
    }

    /// Puts every way into a layer.
    fn divide(&mut self, most: u8) -> Result<(), Invalid> {
        let graph = &self.next.graph;
        let channels = graph.all_ports() as usize;
        let mut orders: Vec<Acyclic> = Vec::new();
        for from in 0..graph.routers() {
            for to in 0..graph.homes().len() {
                let way = self.way(from, to);
                let mut layer = 0;
                loop {
                    if layer == orders.len() {
                        if layer == usize::from(most) {
                            return Err(Invalid::new(
                                "most",
                                format!("{most} layers are not enough"),
                                "allow more, or choose updown",
                            ));
                        }
                        orders.push(Acyclic::new(channels));
                    }
                    if fits(&mut orders[layer], &way) {
                        break;
                    }
                    layer += 1;
                }
                self.layers[self.next.place(from, to)] = layer as u8;
            }
        }
        self.count = orders.len().max(1) as u8;
        Ok(())
    }

    /// The links of a way, as numbers of ports of the whole graph.
    fn way(&self, from: RouterId, to: usize) -> Vec<u32> {
        let (mut router, end) = (from, self.next.graph.homes()[to]);
        let mut way = Vec::new();
        while router != end {
            let (port, next) = self.next.after(router, to);
            way.push(self.next.graph.port_number(router, port));
            router = next;
        }
        way
    }
}

/// One of the ports on a shortest way.
fn one_of(graph: &Graph, router: RouterId, to: RouterId) -> PortId {
    let ports: Vec<PortId> = nearer(graph, router, to).collect();
    let place = (router as usize + to as usize) % ports.len().max(1);
    ports.get(place).copied().unwrap_or_default()
}

/// Adds a way to a layer, if that closes no circle.
fn fits(order: &mut Acyclic, way: &[u32]) -> bool {
    let mut added: Vec<[u32; 2]> = Vec::new();
    for pair in way.windows(2) {
        if order.has(pair[0], pair[1]) {
            continue;
        }
        if !order.add(pair[0], pair[1]) {
            for [from, to] in added {
                order.undo(from, to);
            }
            return false;
        }
        added.push([pair[0], pair[1]]);
    }
    true
}

impl Routing for Layered {
    fn vcs(&self, kind: LinkKind) -> u8 {
        match kind {
            LinkKind::TERMINAL => 1,
            _ => self.count,
        }
    }

    fn route(&self, flight: &mut Flight, here: &mut dyn Here) -> Hop {
        let Some(home) = self.next.home_ahead(flight, here) else {
            return arrived(&self.next.graph, flight);
        };
        if flight.steps == 0 {
            flight.phase = self.layers[self.next.place(here.router(), home)];
        }
        flight.steps += 1;
        Hop {
            port: self.next.port(here.router(), home),
            vc: flight.phase,
        }
    }

    fn max_routers(&self) -> u32 {
        self.next.graph.diameter_routers()
    }

    fn one_way(&self) -> bool {
        true
    }
}

fn build(section: &Section, topology: &Arc<dyn Topology>) -> Result<Box<dyn Routing>, ConfigError> {
    let Params { most } = section.parse()?;
    let most = most.unwrap_or(16);
    if !(1..=64).contains(&most) {
        let invalid = Invalid::new("most", format!("is {most}"), "give from 1 to 64");
        return Err(section.refuse(invalid));
    }
    let graph = graph(section, topology)?;
    let layered = Layered::new(graph, most).map_err(|invalid| section.refuse(invalid))?;
    Ok(Box::new(layered))
}

/// Registry entry of layered routing.
pub const ENTRY: Entry<Build> = Entry {
    name: "layered",
    summary: "Graphs: one shortest way for each pair of routers, in one of several virtual \
              channels, each of which is free of circles.",
    source: "Skeie, Lysne, Theiss, \"Layered shortest path (LASH) routing in irregular system area \
             networks\", IPDPS 2002",
    examples: &["", "most = 4"],
    parameters: Keys::of::<Params>(),
    build,
};
