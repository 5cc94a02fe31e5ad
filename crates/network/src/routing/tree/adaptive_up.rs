//! Adaptive ascent: at each router on the way up, the up port with the least backlog.
//!
//! Ties are broken at random: the ports are examined in turn from a random one, and a later one is
//! taken only if its backlog is smaller. (Of several equal ports, one that follows a run of worse
//! ports is therefore a little likelier.) The routes are minimal. Packets of one source and
//! destination may overtake each other, except control packets: these take the path of `dmodk`, so
//! that their order is kept and they need no state.

use std::sync::Arc;

use super::ascent::Ascent;
use super::{NoParams, VCS, tree};
use crate::failures::Outages;
use crate::routing::measure::least_loaded;
use crate::routing::{Build, Here, Hop, Routing};
use crate::topology::Topology;
use crate::topology::tree::Step;
use weir_input::registry::{Entry, Keys};
use weir_input::{ConfigError, Section};
use weir_model::{Flight, LinkKind, PortId};

/// Adaptive ascent in one tree.
struct AdaptiveUp(Ascent);

impl Routing for AdaptiveUp {
    fn vcs(&self, _: LinkKind) -> u8 {
        VCS
    }

    fn route(&self, flight: &mut Flight, here: &mut dyn Here) -> Hop {
        let port = match self.0.step(flight.destination, here) {
            Step::Down(port) => port,
            Step::Up { fixed, .. } if flight.is_control() => {
                self.0.fixed(fixed, flight.destination, here)
            }
            Step::Up { ports, .. } => match self.0.open(flight.destination, here) {
                None => least_loaded(ports.len(), |at| ports.start + at as PortId, here),
                Some(open) => least_loaded(open.len(), |at| open[at], here),
            },
        };
        Hop { port, vc: 0 }
    }

    fn is_adaptive(&self) -> bool {
        true
    }

    fn max_routers(&self) -> u32 {
        self.0.tree().diameter_routers()
    }

    fn heed(&mut self, outages: &Arc<Outages>) {
        self.0.heed(outages);
    }
}

fn build(section: &Section, topology: &Arc<dyn Topology>) -> Result<Box<dyn Routing>, ConfigError> {
    Ok(Box::new(AdaptiveUp(tree(section, topology, ENTRY.name)?)))
}

/// Registry entry of adaptive ascent.
pub const ENTRY: Entry<Build> = Entry {
    name: "adaptive_up",
    summary: "Fat trees: the up port with the least backlog at each router, up to a nearest common \
              ancestor.",
    source: "the adaptive ascent that Birk and Zdornov, section 4.2, compares static routing with",
    examples: &[""],
    parameters: Keys::of::<NoParams>(),
    build,
};
