//! D-mod-k: one fixed route to each destination, which spreads destinations evenly over the routers
//! of a fat tree.
//!
//! Zahavi, "Fat-trees routing and node ordering providing contention free traffic for MPI global
//! collectives", 2011. On level l, counted from 1, a packet on its way up takes up port
//! ⌊destination / (w₁ ⋯ w_l)⌋ mod w_{l+1}. Where routers have as many ports up as down, every
//! link down from a top router then carries the packets for one destination only. Routes depend on
//! neither chance nor load: packets of one source and destination stay in order.

use std::sync::Arc;

use super::ascent::Ascent;
use super::{NoParams, VCS, tree};
use crate::failures::Outages;
use crate::routing::{Build, Here, Hop, Routing};
use crate::topology::Topology;
use crate::topology::tree::Step;
use weir_input::registry::{Entry, Keys};
use weir_input::{ConfigError, Section};
use weir_model::{Flight, LinkKind};

/// D-mod-k in one tree.
struct DModK(Ascent);

impl Routing for DModK {
    fn vcs(&self, _: LinkKind) -> u8 {
        VCS
    }

    fn route(&self, flight: &mut Flight, here: &mut dyn Here) -> Hop {
        let port = match self.0.step(flight.destination, here) {
            Step::Down(port) => port,
            Step::Up { fixed, .. } => self.0.fixed(fixed, flight.destination, here),
        };
        Hop { port, vc: 0 }
    }

    fn one_way(&self) -> bool {
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
    Ok(Box::new(DModK(tree(section, topology, ENTRY.name)?)))
}

/// Registry entry of D-mod-k.
pub const ENTRY: Entry<Build> = Entry {
    name: "dmodk",
    summary: "Fat trees: the way up is fixed by the destination, spread evenly over the up ports.",
    source: "Zahavi, 2011 (D-mod-k); the static routing of InfiniBand fat trees",
    examples: &[""],
    parameters: Keys::of::<NoParams>(),
    build,
};
