//! UGAL-L on a graph: a shortest way or Valiant's, chosen at the source by the queues there.

use std::sync::Arc;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::valiant::{BY_ROUTER, NEW, STRAIGHT, follow};
use super::ways::{Choose, Ways};
use crate::routing::dragonfly::Margin;
use crate::routing::measure::third;
use crate::routing::{Build, Here, Hop, Routing};
use crate::topology::Topology;
use weir_input::registry::{Entry, Keys};
use weir_input::{Allowance, ConfigError, Section, Size};
use weir_model::{Flight, LinkKind, PortId};

/// Parameters of UGAL-L. A packet takes a shortest way if
/// backlog(shortest) · links(shortest) ≤ (backlog(Valiant) + bias) · links(Valiant) + threshold.
#[derive(Clone, Debug, Deserialize, Serialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct Params {
    /// Which of several links a packet takes that lead nearer.
    pub choose: Choose,
    /// Flits or packets added once, whatever the lengths of the routes.
    pub threshold: Allowance,
    /// Flits or packets by which the queue of a shortest way may exceed that of a Valiant route of
    /// equal length.
    pub bias: Allowance,
}

impl Default for Params {
    fn default() -> Self {
        Params {
            choose: Choose::default(),
            threshold: Allowance(Size::Flits(0)),
            bias: Allowance(Size::Flits(0)),
        }
    }
}

/// The router where a packet is injected compares a shortest way with one by way of a random
/// router; the choice holds for the whole path. The load of a route is the backlog of its first
/// port here, times the number of its links between routers.
struct Ugal {
    ways: Ways,
    threshold: Margin,
    bias: Margin,
}

impl Ugal {
    /// Decides on the path of a packet. Returns the first port, unless it is at its destination's
    /// router.
    fn decide(&self, flight: &mut Flight, here: &mut dyn Here) -> Option<PortId> {
        let graph = &self.ways.graph;
        let (at, (to, _)) = (here.router(), graph.attachment(flight.destination));
        flight.phase = STRAIGHT;
        let shortest = self.ways.towards(to, flight, here)?;
        // From a router without endpoints it may be farther to others than there are channels.
        if flight.is_control() || !graph.is_home(at) {
            return Some(shortest);
        }
        let Some(via) = third(graph.routers(), at, to, here) else {
            return Some(shortest);
        };
        let Some(port) = self.ways.towards(via, flight, here) else {
            return Some(shortest);
        };
        let links = |from: weir_model::RouterId, to| u64::from(graph.distances(to)[from as usize]);
        let queue = u64::from(here.backlog(port)).saturating_add(self.bias.flits(here));
        let load = queue.saturating_mul(links(at, via) + links(via, to));
        let straight = u64::from(here.backlog(shortest)) * links(at, to);
        if straight <= load.saturating_add(self.threshold.flits(here)) {
            return Some(shortest);
        }
        flight.phase = BY_ROUTER;
        flight.via = via;
        Some(port)
    }
}

impl Routing for Ugal {
    fn vcs(&self, kind: LinkKind) -> u8 {
        match kind {
            LinkKind::TERMINAL => 1,
            _ => self.ways.vcs,
        }
    }

    fn route(&self, flight: &mut Flight, here: &mut dyn Here) -> Hop {
        let port = match flight.phase {
            NEW => self.decide(flight, here),
            _ => follow(&self.ways, flight, here),
        };
        self.ways.hop(port, flight)
    }

    fn is_adaptive(&self) -> bool {
        true
    }

    fn max_routers(&self) -> u32 {
        self.ways.max_routers()
    }
}

fn build(section: &Section, topology: &Arc<dyn Topology>) -> Result<Box<dyn Routing>, ConfigError> {
    let params: Params = section.parse()?;
    Ok(Box::new(Ugal {
        ways: Ways::new(section, topology, params.choose, |graph| 2 * graph.reach())?,
        threshold: Margin::new(section, "threshold", params.threshold)?,
        bias: Margin::new(section, "bias", params.bias)?,
    }))
}

/// Registry entry of UGAL-L.
pub const ENTRY: Entry<Build> = Entry {
    name: "ugal",
    summary: "Graphs: a shortest way or Valiant's, whichever queue at the source's router is \
              shorter for its route's length.",
    source: "Singh, \"Load-balanced routing in interconnection networks\", 2005",
    examples: &["", "choose = \"adaptive\", threshold = \"1 packets\""],
    parameters: Keys::of::<Params>(),
    build,
};
