//! Valiant's randomized routing on a graph: by a shortest way to a random router, and by a shortest
//! way on from there. The virtual channel is the number of links taken before.

use std::sync::Arc;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::ways::{Choose, Ways};
use crate::routing::measure::third;
use crate::routing::{Build, Here, Hop, Routing};
use crate::topology::Topology;
use weir_input::registry::{Entry, Keys};
use weir_input::{ConfigError, Section};
use weir_model::{Flight, LinkKind, PortId};

/// `flight.phase`: just injected, nothing decided.
pub(super) const NEW: u8 = 0;
/// `flight.phase`: straight to the destination.
pub(super) const STRAIGHT: u8 = 1;
/// `flight.phase`: to router `flight.via` first.
pub(super) const BY_ROUTER: u8 = 2;

/// Parameters of the routing.
#[derive(Clone, Debug, Default, Deserialize, Serialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Params {
    /// Which of several links a packet takes that lead nearer.
    #[serde(default)]
    pub choose: Choose,
}

/// To a random router that is neither the source's nor the destination's, and on from there.
/// Control packets, packets between endpoints of one router, and those of routers without
/// endpoints, which may be farther from others, go straight.
struct Valiant(Ways);

/// The next port of a packet whose path is decided; None at its destination's router.
pub(super) fn follow(ways: &Ways, flight: &mut Flight, here: &mut dyn Here) -> Option<PortId> {
    if flight.phase == BY_ROUTER && here.router() == flight.via {
        flight.phase = STRAIGHT;
    }
    let to = match flight.phase {
        BY_ROUTER => flight.via,
        _ => ways.graph.attachment(flight.destination).0,
    };
    ways.towards(to, flight, here)
}

impl Routing for Valiant {
    fn vcs(&self, kind: LinkKind) -> u8 {
        match kind {
            LinkKind::TERMINAL => 1,
            _ => self.0.vcs,
        }
    }

    fn route(&self, flight: &mut Flight, here: &mut dyn Here) -> Hop {
        if flight.phase == NEW {
            flight.phase = STRAIGHT;
            let (at, (to, _)) = (here.router(), self.0.graph.attachment(flight.destination));
            if !flight.is_control()
                && at != to
                && self.0.graph.is_home(at)
                && let Some(via) = third(self.0.graph.routers(), at, to, here)
            {
                flight.phase = BY_ROUTER;
                flight.via = via;
            }
        }
        let port = follow(&self.0, flight, here);
        self.0.hop(port, flight)
    }

    fn is_adaptive(&self) -> bool {
        self.0.is_adaptive()
    }

    fn max_routers(&self) -> u32 {
        self.0.max_routers()
    }
}

fn build(section: &Section, topology: &Arc<dyn Topology>) -> Result<Box<dyn Routing>, ConfigError> {
    let Params { choose } = section.parse()?;
    Ok(Box::new(Valiant(Ways::new(
        section,
        topology,
        choose,
        |graph| 2 * graph.reach(),
    )?)))
}

/// Registry entry of Valiant routing.
pub const ENTRY: Entry<Build> = Entry {
    name: "valiant",
    summary: "Graphs: by a shortest way to a random router (neither the source's nor the \
              destination's), by a shortest way on from there.",
    source: "Valiant and Brebner, STOC 1981",
    examples: &["", "choose = \"flow\""],
    parameters: Keys::of::<Params>(),
    build,
};
