//! Dimension-order routing: along each dimension to its end, in a fixed order.

use std::sync::Arc;

use super::ordered::{OrderChoice, Ordered};
use super::orders::{OneOrder, Orders};
use crate::routing::{Build, Routing};
use crate::topology::Topology;
use weir_input::registry::{Entry, Keys};
use weir_input::{ConfigError, Section};

/// One path from each endpoint to each other, except for the choice among equivalent links and
/// virtual channels. In rings, if both directions are equally long, one is drawn for each packet.
/// Virtual channels: [`super::steps`].
struct Dor;

impl OrderChoice for Dor {}

/// Builds it for a network of several dimensions.
pub(super) fn build(
    section: &Section,
    topology: &Arc<dyn Topology>,
) -> Result<Box<dyn Routing>, ConfigError> {
    let routing: Ordered<Dor> = Ordered::new(Orders::one(section, topology)?);
    Ok(Box::new(routing))
}

/// Registry entry of dimension-order routing.
pub const ENTRY: Entry<Build> = Entry {
    name: "dor",
    summary: "Tori, meshes, HyperX: along each dimension to its end, in a fixed order; datelines \
              or bubbles on rings.",
    source: "Dally and Seitz, \"Deadlock-free message routing in multiprocessor interconnection \
             networks\", 1987; the classes of BookSim2",
    examples: &["", "vcs = 4"],
    parameters: Keys::of::<OneOrder>(),
    build,
};
