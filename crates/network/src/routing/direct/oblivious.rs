//! Oblivious choice of the virtual network: the packets of a source take the networks in turn, each
//! with its order of dimensions.

use std::sync::Arc;

use super::orders::{Orders, SeveralOrders};
use crate::routing::{Build, Here, Hop, NicChoice, NicRule, Routing};
use crate::topology::Topology;
use weir_input::registry::{Entry, Keys};
use weir_input::{ConfigError, Section};
use weir_model::{Flight, LinkKind, PortId, RouterId};

/// The virtual network of a packet is the one after that of the previous packet from the same
/// endpoint. The turn is kept at the endpoint's router or in its NIC, or follows from the number of
/// the message.
struct Oblivious(Orders);

impl Routing for Oblivious {
    fn vcs(&self, kind: LinkKind) -> u8 {
        self.0.steps.vcs(kind)
    }

    fn orders(&self) -> &[Box<[usize]>] {
        self.0.all()
    }

    fn choice_at_nic(&self) -> Option<NicChoice> {
        self.0.at_nic(NicRule::InTurn)
    }

    fn words(&self, router: RouterId) -> u32 {
        match self.choice_at_nic() {
            Some(_) => 0,
            // One for each endpoint, and one for control packets made by the router itself, which
            // come in by a port behind all others.
            None => self.0.steps.terminals(router) + 1,
        }
    }

    fn route(&self, flight: &mut Flight, here: &mut dyn Here) -> Hop {
        if self.0.chooses_here(flight, here) {
            let word = u32::from(here.in_port()).min(self.0.steps.terminals(here.router()));
            let turn = here.recall(word);
            flight.via = turn as u32;
            here.remember(word, (turn + 1) % u64::from(self.0.count()));
        }
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

fn build(section: &Section, topology: &Arc<dyn Topology>) -> Result<Box<dyn Routing>, ConfigError> {
    Ok(Box::new(Oblivious(Orders::several(section, topology)?)))
}

/// Registry entry of oblivious routing.
pub const ENTRY: Entry<Build> = Entry {
    name: "oblivious",
    summary: "Several dimensions: the packets of a source take turns in the orders of dimensions, each with virtual channels of its own.",
    source: "Yebenes et al., TACO 2019, section 3.2 (OSHA); O1TURN of Seo et al., ISCA 2005, with a turn in place of chance",
    examples: &[
        "",
        "vcs = 8",
        "choose_at = \"nic\"",
        "choose_at = \"generation\"",
    ],
    parameters: Keys::of::<SeveralOrders>(),
    build,
};
