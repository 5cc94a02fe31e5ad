//! UGAL-L on a HyperX: minimal or Valiant, chosen at the source by the queues there.

use std::sync::Arc;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::detour::{BY_ROUTER, NEW, STRAIGHT, follow, hyperx, most_routers, towards, vcs};
use crate::routing::dragonfly::Margin;
use crate::routing::measure::third;
use crate::routing::{Build, Here, Hop, Routing};
use crate::topology::Topology;
use crate::topology::hyperx::HyperX;
use weir_input::registry::{Entry, Keys};
use weir_input::{Allowance, ConfigError, Section, Size};
use weir_model::{Flight, LinkKind, PortId};

/// Parameters of UGAL-L. A packet goes minimally if
/// backlog(minimal) · hops(minimal) ≤ (backlog(Valiant) + bias) · hops(Valiant) + threshold.
#[derive(Clone, Debug, Deserialize, Serialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct Params {
    /// Flits or packets added once, whatever the lengths of the routes.
    pub threshold: Allowance,
    /// Flits or packets by which the queue of the minimal route may exceed that of a Valiant route
    /// of equal length.
    pub bias: Allowance,
}

impl Default for Params {
    fn default() -> Self {
        Params {
            threshold: Allowance(Size::Flits(0)),
            bias: Allowance(Size::Flits(0)),
        }
    }
}

/// UGAL-L on a HyperX.
///
/// The router where a packet is injected compares the minimal route with one by way of a random
/// router; the choice holds for the whole path. The load of a route is the backlog of its first
/// port here, times the number of its links between routers.
struct Ugal {
    hyperx: HyperX,
    threshold: Margin,
    bias: Margin,
}

impl Ugal {
    /// Decides on the path of a packet. Returns the first port, unless it is at its destination's
    /// router.
    fn decide(&self, flight: &mut Flight, here: &mut dyn Here) -> Option<PortId> {
        let (at, to) = (here.router(), self.hyperx.router_of(flight.destination));
        flight.phase = STRAIGHT;
        let minimal = towards(&self.hyperx, to, here)?;
        if flight.is_control() {
            return Some(minimal);
        }
        let Some(via) = third(self.hyperx.routers(), at, to, here) else {
            return Some(minimal);
        };
        let Some(port) = towards(&self.hyperx, via, here) else {
            return Some(minimal);
        };
        let hops = self.hyperx.distance(at, via) + self.hyperx.distance(via, to);
        let queue = u64::from(here.backlog(port)).saturating_add(self.bias.flits(here));
        let load = queue.saturating_mul(hops.into());
        let hops = self.hyperx.distance(at, to);
        let straight = u64::from(here.backlog(minimal)) * u64::from(hops);
        if straight <= load.saturating_add(self.threshold.flits(here)) {
            return Some(minimal);
        }
        flight.phase = BY_ROUTER;
        flight.via = via;
        Some(port)
    }
}

impl Routing for Ugal {
    fn vcs(&self, kind: LinkKind) -> u8 {
        vcs(kind)
    }

    fn route(&self, flight: &mut Flight, here: &mut dyn Here) -> Hop {
        if flight.phase == NEW
            && let Some(port) = self.decide(flight, here)
        {
            return Hop {
                port,
                vc: u8::from(flight.phase == STRAIGHT),
            };
        }
        follow(&self.hyperx, flight, here)
    }

    fn is_adaptive(&self) -> bool {
        true
    }

    fn max_routers(&self) -> u32 {
        most_routers(&self.hyperx)
    }
}

fn build(section: &Section, topology: &Arc<dyn Topology>) -> Result<Box<dyn Routing>, ConfigError> {
    let params: Params = section.parse()?;
    Ok(Box::new(Ugal {
        hyperx: hyperx(section, topology)?,
        threshold: Margin::new(section, "threshold", params.threshold)?,
        bias: Margin::new(section, "bias", params.bias)?,
    }))
}

/// Registry entry of UGAL-L.
pub const ENTRY: Entry<Build> = Entry {
    name: "ugal",
    summary: "HyperX: minimal or Valiant, whichever queue at the source's router is shorter for \
              its route's length.",
    source: "Singh, \"Load-balanced routing in interconnection networks\", 2005; Ahn et al., SC \
             2009, section 3.3",
    examples: &["", "threshold = \"1 packets\""],
    parameters: Keys::of::<Params>(),
    build,
};
