//! Dimension-order routing: along each dimension to its end, in a fixed order.

use std::sync::Arc;

use super::orders::{OneOrder, Orders};
use crate::routing::{Build, Here, Hop, Routing};
use crate::topology::Topology;
use weir_input::registry::{Entry, Keys};
use weir_input::{ConfigError, Section};
use weir_model::{Flight, LinkKind, PortId, RouterId};

/// One path from each endpoint to each other, except for the choice among equivalent links and
/// virtual channels. In rings, if both directions are equally long, one is drawn for each packet.
/// Virtual channels: [`super::steps`].
struct Dor(Orders);

impl Routing for Dor {
    fn vcs(&self, kind: LinkKind) -> u8 {
        self.0.steps.vcs(kind)
    }

    fn orders(&self) -> &[Box<[usize]>] {
        self.0.all()
    }

    fn route(&self, flight: &mut Flight, here: &mut dyn Here) -> Hop {
        self.0.next(flight, here)
    }

    fn is_adaptive(&self) -> bool {
        self.0.steps.has_spares()
    }

    fn has_alternatives(&self) -> bool {
        self.0.steps.has_spares()
    }

    fn alternatives(&self, flight: &Flight, first: Hop, here: &mut dyn Here, ways: &mut Vec<Hop>) {
        self.0.others(flight, first, here, ways);
    }

    fn keeps_bubbles(&self) -> bool {
        self.0.steps.keeps_bubbles()
    }

    fn onward(&self, _: RouterId, in_port: PortId) -> Option<PortId> {
        self.0.steps.onward(in_port)
    }

    fn max_routers(&self) -> u32 {
        self.0.steps.max_routers()
    }
}

/// Builds it for a network of several dimensions.
pub(super) fn build(
    section: &Section,
    topology: &Arc<dyn Topology>,
) -> Result<Box<dyn Routing>, ConfigError> {
    Ok(Box::new(Dor(Orders::one(section, topology)?)))
}

/// Registry entry of dimension-order routing.
pub const ENTRY: Entry<Build> = Entry {
    name: "dor",
    summary: "Tori, meshes, HyperX: along each dimension to its end, in a fixed order; datelines or bubbles on rings.",
    source: "Dally and Seitz, \"Deadlock-free message routing in multiprocessor interconnection networks\", 1987; the classes of BookSim2",
    examples: &["", "vcs = 4"],
    parameters: Keys::of::<OneOrder>(),
    build,
};
