//! Valiant's randomized routing on a HyperX: by way of a random router.

use std::sync::Arc;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::detour::{BY_ROUTER, NEW, STRAIGHT, follow, hyperx, most_routers, vcs};
use crate::routing::measure::third;
use crate::routing::{Build, Here, Hop, Routing};
use crate::topology::Topology;
use crate::topology::hyperx::HyperX;
use weir_input::registry::{Entry, Keys};
use weir_input::{ConfigError, Section};
use weir_model::{Flight, LinkKind};

/// Valiant routing has no parameters.
#[derive(Clone, Debug, Deserialize, Serialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Params {}

/// Valiant routing: to a random router that is neither the source's nor the destination's, and on
/// from there. Control packets, and packets between endpoints of one router, go straight.
struct Valiant(HyperX);

impl Routing for Valiant {
    fn vcs(&self, kind: LinkKind) -> u8 {
        vcs(kind)
    }

    fn route(&self, flight: &mut Flight, here: &mut dyn Here) -> Hop {
        if flight.phase == NEW {
            flight.phase = STRAIGHT;
            let (at, to) = (here.router(), self.0.router_of(flight.destination));
            if !flight.is_control()
                && at != to
                && let Some(via) = third(self.0.routers(), at, to, here)
            {
                flight.phase = BY_ROUTER;
                flight.via = via;
            }
        }
        follow(&self.0, flight, here)
    }

    fn max_routers(&self) -> u32 {
        most_routers(&self.0)
    }
}

fn build(section: &Section, topology: &Arc<dyn Topology>) -> Result<Box<dyn Routing>, ConfigError> {
    let Params {} = section.parse()?;
    Ok(Box::new(Valiant(hyperx(section, topology)?)))
}

/// Registry entry of Valiant routing.
pub const ENTRY: Entry<Build> = Entry {
    name: "valiant",
    summary: "HyperX: in dimension order to a random router (neither the source's nor the \
              destination's), in dimension order on from there.",
    source: "Valiant and Brebner, STOC 1981; Ahn et al., SC 2009, section 3.3",
    examples: &[""],
    parameters: Keys::of::<Params>(),
    build,
};
