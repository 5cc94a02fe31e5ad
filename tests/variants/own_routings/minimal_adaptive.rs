//! Minimal adaptive routing on a torus without an escape: packets wait for the links that bring
//! them nearer, and for nothing else.

use weir::model::{Flight, LinkKind};
use weir::routing::{Here, Hop, Routing};
use weir::topology::Topology;
use weir::topology::torus::Torus;

use super::dimension_order::ports;

pub struct WithoutEscape(pub Torus);

impl WithoutEscape {
    fn ways(&self, flight: &Flight, here: &dyn Here) -> Vec<Hop> {
        let hop = |port| Hop { port, vc: 0 };
        ports(&self.0, flight, here).into_iter().map(hop).collect()
    }
}

impl Routing for WithoutEscape {
    fn vcs(&self, _: LinkKind) -> u8 {
        1
    }

    fn route(&self, flight: &mut Flight, here: &mut dyn Here) -> Hop {
        let ways = self.ways(flight, here);
        let best = ways.into_iter().max_by_key(|&hop| here.load(hop).free);
        best.unwrap_or(Hop {
            port: self.0.terminal_port(flight.destination),
            vc: 0,
        })
    }

    fn max_routers(&self) -> u32 {
        self.0.diameter_routers()
    }

    fn has_alternatives(&self) -> bool {
        true
    }

    fn alternatives(&self, flight: &Flight, first: Hop, here: &mut dyn Here, ways: &mut Vec<Hop>) {
        ways.extend(
            self.ways(flight, here)
                .into_iter()
                .filter(|&hop| hop != first),
        );
    }

    /// Number of links that the packet took, for a test to see.
    fn take(&self, flight: &mut Flight, _: u32, _: Hop) {
        flight.steps += 1;
    }
}
