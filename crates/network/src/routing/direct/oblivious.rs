//! Oblivious choice of the virtual network: the packets of a source take the networks in turn, each
//! with its order of dimensions.

use std::sync::Arc;

use super::ordered::{OrderChoice, Ordered};
use super::orders::{Orders, SeveralOrders};
use crate::routing::{Build, Here, Hop, Routing};
use crate::topology::Topology;
use weir_input::registry::{Entry, Keys};
use weir_input::{ConfigError, Section};
use weir_model::{Flight, RouterId};

/// The virtual network of a packet is the one after that of the previous packet from the same
/// endpoint; control packets, which might come after each data packet, have turns among themselves.
/// The turn is kept at the endpoint's router or in its NIC, or follows from the number of the
/// message.
struct Oblivious;

impl OrderChoice for Oblivious {
    fn words(orders: &Orders, router: RouterId) -> u32 {
        match orders.at_nic(Self::AT_NIC) {
            Some(_) => 0,
            // Two for each endpoint, the second for its control packets, and two for control packets
            // of the router itself, which come in by a port behind all others.
            None => 2 * (orders.steps.terminals(router) + 1),
        }
    }

    fn route(orders: &Orders, flight: &mut Flight, here: &mut dyn Here) -> Hop {
        if orders.chooses_here(flight, here) {
            let place = u32::from(here.in_port()).min(orders.steps.terminals(here.router()));
            let word = 2 * place + u32::from(flight.is_control());
            let turn = here.recall(word);
            flight.via = turn as u32;
            here.remember(word, (turn + 1) % u64::from(orders.count()));
        }
        orders.next(flight, here)
    }
}

fn build(section: &Section, topology: &Arc<dyn Topology>) -> Result<Box<dyn Routing>, ConfigError> {
    let routing: Ordered<Oblivious> = Ordered::new(Orders::several(section, topology)?);
    Ok(Box::new(routing))
}

/// Registry entry of oblivious routing.
pub const ENTRY: Entry<Build> = Entry {
    name: "oblivious",
    summary: "Several dimensions: the packets of a source take turns in the orders of dimensions, \
              each with separate virtual channels.",
    source: "Yebenes et al., TACO 2019, section 3.2 (OSHA); O1TURN of Seo et al., ISCA 2005, with \
             turns instead of chance",
    examples: &[
        "",
        "vcs = 8",
        "choose_at = \"nic\"",
        "choose_at = \"generation\"",
        "choose_at = \"strict\"",
    ],
    parameters: Keys::of::<SeveralOrders>(),
    build,
};
