//! Adaptive ascent: at each router on the way up, the up port with the least backlog.
//!
//! Ties are broken at random: the ports are examined in turn from a random one, and a later one is
//! taken only if its backlog is smaller. (Of several equal ports, one that follows a run of worse
//! ports is therefore a little likelier.) The routes are minimal. Packets of one source and
//! destination may overtake each other, except control packets: these take the path of `dmodk`, so
//! that their order is kept and they need no state.

use std::ops::Range;
use std::sync::Arc;

use super::{NoParams, VCS, tree};
use crate::routing::{Build, Here, Hop, Routing};
use crate::topology::Topology;
use crate::topology::tree::{Step, Tree};
use weir_input::registry::{Entry, Keys};
use weir_input::{ConfigError, Section};
use weir_model::{Flight, LinkKind, PortId};

/// Adaptive ascent in one tree.
struct AdaptiveUp(Tree);

impl Routing for AdaptiveUp {
    fn vcs(&self, _: LinkKind) -> u8 {
        VCS
    }

    fn route(&self, flight: &mut Flight, here: &mut dyn Here) -> Hop {
        let port = match self.0.step(here.router(), flight.destination) {
            Step::Down(port) => port,
            Step::Up { fixed, .. } if flight.is_control() => fixed,
            Step::Up { ports, .. } => least_loaded(ports, here),
        };
        Hop { port, vc: 0 }
    }

    fn is_adaptive(&self) -> bool {
        true
    }

    fn max_routers(&self) -> u32 {
        self.0.diameter_routers()
    }
}

/// The port with the least backlog of a nonempty range; the first such port from a random one on.
fn least_loaded(ports: Range<PortId>, here: &mut dyn Here) -> PortId {
    let first = ports.start + here.pick(ports.len() as u32) as PortId;
    let mut best = first;
    let mut least = here.backlog(first);
    for port in (first + 1..ports.end).chain(ports.start..first) {
        // No port can be better than one without backlog.
        if least == 0 {
            break;
        }
        let backlog = here.backlog(port);
        if backlog < least {
            (best, least) = (port, backlog);
        }
    }
    best
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
