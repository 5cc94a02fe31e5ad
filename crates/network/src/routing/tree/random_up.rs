//! Random ascent: at each router on the way up every up port is as likely as the others.
//!
//! The routes are minimal: a packet turns around at the first router that is above its destination.
//! Packets of one source and destination may overtake each other. Control packets are routed like
//! data.

use std::sync::Arc;

use super::ascent::Ascent;
use super::{NoParams, VCS, tree};
use crate::failures::Outages;
use crate::routing::{Build, Here, Hop, Routing};
use crate::topology::Topology;
use crate::topology::tree::Step;
use weir_input::registry::{Entry, Keys};
use weir_input::{ConfigError, Section};
use weir_model::{Flight, LinkKind, PortId};

/// Random ascent in one tree.
struct RandomUp(Ascent);

impl Routing for RandomUp {
    fn vcs(&self, _: LinkKind) -> u8 {
        VCS
    }

    fn route(&self, flight: &mut Flight, here: &mut dyn Here) -> Hop {
        let port = match self.0.step(flight.destination, here) {
            Step::Down(port) => port,
            Step::Up { ports, .. } => match self.0.open(flight.destination, here) {
                None => ports.start + here.pick(ports.len() as u32) as PortId,
                Some(open) => open[here.pick(open.len() as u32) as usize],
            },
        };
        Hop { port, vc: 0 }
    }

    fn max_routers(&self) -> u32 {
        self.0.tree().diameter_routers()
    }

    fn heed(&mut self, outages: &Arc<Outages>) {
        self.0.heed(outages);
    }
}

fn build(section: &Section, topology: &Arc<dyn Topology>) -> Result<Box<dyn Routing>, ConfigError> {
    Ok(Box::new(RandomUp(tree(section, topology, ENTRY.name)?)))
}

/// Registry entry of random ascent.
pub const ENTRY: Entry<Build> = Entry {
    name: "random_up",
    summary: "Fat trees: a random up port at each router, up to a nearest common ancestor.",
    source: "Valiant's randomised routing, kept to minimal routes",
    examples: &[""],
    parameters: Keys::of::<NoParams>(),
    build,
};
