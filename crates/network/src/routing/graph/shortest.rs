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

use super::ways::{Choose, Ways};
use crate::routing::{Build, Here, Hop, Routing};
use crate::topology::Topology;
use weir_input::registry::{Entry, Keys};
use weir_input::{ConfigError, Section};
use weir_model::{Flight, LinkKind};

/// Parameters of the routing.
#[derive(Clone, Debug, Default, Deserialize, Serialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Params {
    /// Which of several links a packet takes.
    #[serde(default)]
    pub choose: Choose,
}

/// Shortest ways in one graph.
struct Shortest(Ways);

impl Routing for Shortest {
    fn vcs(&self, kind: LinkKind) -> u8 {
        match kind {
            LinkKind::TERMINAL => 1,
            _ => self.0.vcs,
        }
    }

    fn route(&self, flight: &mut Flight, here: &mut dyn Here) -> Hop {
        let (there, _) = self.0.graph.attachment(flight.destination);
        let port = self.0.towards(there, flight, here);
        self.0.hop(port, flight)
    }

    fn max_routers(&self) -> u32 {
        self.0.max_routers()
    }

    fn is_adaptive(&self) -> bool {
        self.0.is_adaptive()
    }

    fn one_way(&self) -> bool {
        self.0.one_way()
    }
}

fn build(section: &Section, topology: &Arc<dyn Topology>) -> Result<Box<dyn Routing>, ConfigError> {
    let Params { choose } = section.parse()?;
    Ok(Box::new(Shortest(Ways::new(
        section,
        topology,
        choose,
        |graph| graph.diameter_routers() - 1,
    )?)))
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
