//! Source-adaptive choice of the virtual network: the one with the shorter queue at the source,
//! each with its order of dimensions.

use std::sync::Arc;

use super::orders::{Orders, SeveralOrders};
use crate::routing::{Build, Here, Hop, NicChoice, NicRule, Routing};
use crate::topology::Topology;
use weir_input::registry::{Entry, Keys};
use weir_input::{ConfigError, Section};
use weir_model::{Flight, LinkKind, PortId, RouterId};

/// At injection, one queue that the packet may join in each virtual network is examined: its
/// backlog there and in the buffer behind the link. The smallest decides for the whole path; ties
/// are drawn (in the NIC: taken in turn).
struct SourceAdaptive(Orders);

impl SourceAdaptive {
    fn decide(&self, flight: &mut Flight, here: &mut dyn Here) -> Hop {
        let count = self.0.count();
        let drawn = if count > 1 { here.pick(count) } else { 0 };
        let in_network = |network: u32, here: &mut dyn Here| {
            let mut flight = Flight {
                via: network,
                ..*flight
            };
            let hop = self.0.draw(&mut flight, here);
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
}

impl Routing for SourceAdaptive {
    fn vcs(&self, kind: LinkKind) -> u8 {
        self.0.steps.vcs(kind)
    }

    fn orders(&self) -> &[Box<[usize]>] {
        self.0.all()
    }

    fn choice_at_nic(&self) -> Option<NicChoice> {
        self.0.at_nic(NicRule::LeastUsed)
    }

    fn route(&self, flight: &mut Flight, here: &mut dyn Here) -> Hop {
        match self.0.chooses_here(flight, here) {
            true => self.decide(flight, here),
            false => self.0.next(flight, here),
        }
    }

    fn is_adaptive(&self) -> bool {
        self.choice_at_nic().is_none() || self.0.steps.has_spares()
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
    let orders = Orders::several(section, topology)?.chosen_when_sent(section)?;
    Ok(Box::new(SourceAdaptive(orders)))
}

/// Registry entry of source-adaptive routing.
pub const ENTRY: Entry<Build> = Entry {
    name: "source_adaptive",
    summary: "Several dimensions: the order of dimensions whose first queue at the source is shorter, each with virtual channels of its own.",
    source: "Yebenes et al., TACO 2019, section 3.2 (SASHA)",
    examples: &["", "vcs = 8", "choose_at = \"nic\""],
    parameters: Keys::of::<SeveralOrders>(),
    build,
};
