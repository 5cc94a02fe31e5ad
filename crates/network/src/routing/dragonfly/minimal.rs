//! Minimal routing on a dragonfly: local, global, local.

use std::sync::Arc;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::paths::{NEW, Paths, STRAIGHT};
use crate::failures::Outages;
use crate::routing::{Build, Here, Hop, Routing};
use crate::topology::Topology;
use crate::topology::dragonfly::Dragonfly;
use weir_input::registry::{Entry, Keys};
use weir_input::{ConfigError, Section};
use weir_model::{Flight, LinkKind};

/// Minimal routing has no parameters.
#[derive(Clone, Debug, Deserialize, Serialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Params {}

/// Minimal routing: to the router of the source's group that has a link to the destination's group,
/// over that link, to the destination's router.
///
/// If several links join the two groups, one of them is drawn at random for each packet. A packet
/// may therefore take a link other than the nearest; it visits at most four routers.
///
/// Virtual channels: local 0 in the source's group, local 1 after the global link, global 0. Where
/// links may be down, and a packet passes a third group: the channels of `valiant`.
struct Minimal {
    paths: Paths,
}

impl Routing for Minimal {
    fn vcs(&self, kind: LinkKind) -> u8 {
        match kind {
            LinkKind::TERMINAL => 1,
            Dragonfly::LOCAL => 2 + u8::from(self.paths.heeds()),
            _ => 1 + u8::from(self.paths.heeds()),
        }
    }

    fn route(&self, flight: &mut Flight, here: &mut dyn Here) -> Hop {
        if flight.phase == NEW {
            self.paths.go_straight(flight, here);
        }
        let port = match flight.phase {
            STRAIGHT => self.paths.straight(flight, here),
            _ => self.paths.follow(flight, here),
        };
        self.paths.hop(flight, port)
    }

    fn max_routers(&self) -> u32 {
        match self.paths.heeds() {
            true => self.paths.most_routers(2, 2),
            false => 2 * self.paths.dragonfly().routers_per_group().min(2),
        }
    }

    fn heed(&mut self, outages: &Arc<Outages>) {
        self.paths.heed(outages);
    }
}

fn build(section: &Section, topology: &Arc<dyn Topology>) -> Result<Box<dyn Routing>, ConfigError> {
    let Params {} = section.parse()?;
    let paths = Paths::new(section, topology, [0, 1, 2])?;
    Ok(Box::new(Minimal { paths }))
}

/// Registry entry of minimal routing.
pub const ENTRY: Entry<Build> = Entry {
    name: "minimal",
    summary: "Dragonfly: local, global, local, over a random one of the links between the two \
              groups",
    source: "Kim et al., ISCA 2008, section 4.1",
    examples: &[""],
    parameters: Keys::of::<Params>(),
    build,
};
