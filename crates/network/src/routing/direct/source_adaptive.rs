//! Source-adaptive choice of the virtual network: the one with the shorter queue at the source,
//! each with its order of dimensions.

use std::sync::Arc;

use super::ordered::{OrderChoice, Ordered};
use super::orders::{Orders, SeveralOrders};
use crate::routing::{Build, Here, Hop, NicRule, Routing};
use crate::topology::Topology;
use weir_input::registry::{Entry, Keys};
use weir_input::{ConfigError, Section};
use weir_model::Flight;

/// At injection, one queue that the packet may join in each virtual network is examined: its
/// backlog there and in the buffer behind the link. The smallest decides for the whole path; ties
/// are drawn (in the NIC: taken in turn).
struct SourceAdaptive;

/// The first hop, in the virtual network that it is chosen with.
fn decide(orders: &Orders, flight: &mut Flight, here: &mut dyn Here) -> Hop {
    let count = orders.count();
    let drawn = if count > 1 { here.pick(count) } else { 0 };
    let in_network = |network: u32, here: &mut dyn Here| {
        let mut flight = Flight {
            via: network,
            ..*flight
        };
        let hop = orders.draw(&mut flight, here);
        (here.load(hop).used, hop, flight)
    };
    let mut best = in_network(drawn, here);
    for number in 1..count {
        let other = in_network((drawn + number) % count, here);
        if other.0 < best.0 {
            best = other;
        }
    }
    let (_, hop, decided) = best;
    *flight = decided;
    hop
}

impl OrderChoice for SourceAdaptive {
    const AT_NIC: NicRule = NicRule::LeastUsed;
    const ADAPTIVE: bool = true;

    fn route(orders: &Orders, flight: &mut Flight, here: &mut dyn Here) -> Hop {
        match orders.chooses_here(flight, here) {
            true => decide(orders, flight, here),
            false => orders.next(flight, here),
        }
    }
}

fn build(section: &Section, topology: &Arc<dyn Topology>) -> Result<Box<dyn Routing>, ConfigError> {
    let orders = Orders::several(section, topology)?.chosen_by_queues(section)?;
    let routing: Ordered<SourceAdaptive> = Ordered::new(orders);
    Ok(Box::new(routing))
}

/// Registry entry of source-adaptive routing.
pub const ENTRY: Entry<Build> = Entry {
    name: "source_adaptive",
    summary: "Several dimensions: the order of dimensions whose first queue at the source is \
              shorter, each with separate virtual channels.",
    source: "Yebenes et al., TACO 2019, section 3.2 (SASHA)",
    examples: &["", "vcs = 8", "choose_at = \"nic\""],
    parameters: Keys::of::<SeveralOrders>(),
    build,
};
