//! Valiant's randomized routing on a dragonfly: by way of a random group.

use std::sync::Arc;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::paths::{BY_GROUP, BY_ROUTER, NEW, Paths};
use crate::failures::Outages;
use crate::routing::{Build, Here, Hop, Routing};
use crate::topology::Topology;
use crate::topology::dragonfly::Dragonfly;
use weir_input::registry::{Entry, Keys};
use weir_input::{ConfigError, Section};
use weir_model::{Flight, LinkKind};

/// Valiant routing has no parameters.
#[derive(Clone, Debug, Deserialize, Serialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Params {}

/// Valiant routing: minimally to a random third group, and minimally on from the router at which
/// the packet enters it.
///
/// With two groups there is no third, and packets go straight.
///
/// Kim et al. randomize over groups and say nothing about traffic inside one. A group is a full
/// mesh, so the same idea is applied to its routers here. Such a packet passes a random router of
/// the group that is neither the source's nor the destination's, if there is one. Control packets,
/// and packets between endpoints of one router, go straight.
///
/// Virtual channels: local 0, 1 and 2 after 0, 1 and 2 global links (the second local hop inside
/// one group: local 1), global 0 and 1.
struct Valiant {
    paths: Paths,
}

impl Valiant {
    fn decide(&self, flight: &mut Flight, here: &mut dyn Here) {
        self.paths.go_straight(flight, here);
        let at = self.paths.spot(here);
        let to = self.paths.dragonfly().router_of(flight.destination);
        if flight.is_control() || at.router == to {
            return;
        }
        let group = self.paths.dragonfly().group_of(to);
        let (phase, via) = if at.group == group {
            (BY_ROUTER, self.paths.third_router(at.router, to, here))
        } else {
            (BY_GROUP, self.paths.third_group(at.group, group, here))
        };
        if let Some(via) = via {
            flight.phase = phase;
            flight.via = via;
        }
    }
}

impl Routing for Valiant {
    fn vcs(&self, kind: LinkKind) -> u8 {
        match kind {
            LinkKind::TERMINAL => 1,
            Dragonfly::LOCAL => 3,
            _ => 2,
        }
    }

    fn route(&self, flight: &mut Flight, here: &mut dyn Here) -> Hop {
        if flight.phase == NEW {
            self.decide(flight, here);
        }
        let port = self.paths.follow(flight, here);
        self.paths.hop(flight, port)
    }

    fn max_routers(&self) -> u32 {
        self.paths.most_routers(2, 2)
    }

    fn heed(&mut self, outages: &Arc<Outages>) {
        self.paths.heed(outages);
    }
}

fn build(section: &Section, topology: &Arc<dyn Topology>) -> Result<Box<dyn Routing>, ConfigError> {
    let Params {} = section.parse()?;
    let paths = Paths::new(section, topology, [0, 1, 2])?;
    Ok(Box::new(Valiant { paths }))
}

/// Registry entry of Valiant routing.
pub const ENTRY: Entry<Build> = Entry {
    name: "valiant",
    summary: "Dragonfly: minimally to a random third group, minimally on from there",
    source: "Kim et al., ISCA 2008, section 4.1, after Valiant and Brebner, STOC 1981",
    examples: &[""],
    parameters: Keys::of::<Params>(),
    build,
};
