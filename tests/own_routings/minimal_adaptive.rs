//! Minimal adaptive routing with an escape: on the third virtual channel a packet goes along x or y, where there is more room,
//! and where there is none it may always go on in dimension order by the first two (Duato's protocol).

use weir::model::{Flight, LinkKind};
use weir::routing::{Here, Hop, Routing};

use super::dimension_order::DimensionOrder;
use super::torus::Torus;

/// The virtual channel on which every shortest way is allowed.
const ADAPTIVE: u8 = 2;

pub struct MinimalAdaptive {
    pub torus: Torus,
    /// Without it packets wait for the adaptive channels alone.
    pub escape: bool,
}

impl MinimalAdaptive {
    fn ways(&self, flight: &Flight, here: &dyn Here) -> Vec<Hop> {
        let step = |dimension| {
            self.torus
                .step(here.router(), flight.destination, dimension)
        };
        let hop = |port| Hop { port, vc: ADAPTIVE };
        let steps = [0, 1].into_iter().filter_map(step);
        steps.map(|step| hop(step.port)).collect()
    }

    fn order(&self) -> DimensionOrder {
        DimensionOrder {
            torus: self.torus,
            dateline: true,
        }
    }
}

impl Routing for MinimalAdaptive {
    fn vcs(&self, kind: LinkKind) -> u8 {
        match kind {
            LinkKind::TERMINAL => 1,
            _ => 3,
        }
    }

    fn route(&self, flight: &mut Flight, here: &mut dyn Here) -> Hop {
        let mut best: Option<(u32, Hop)> = None;
        for hop in self.ways(flight, here) {
            let free = here.load(hop).free;
            if best.is_none_or(|(most, _)| free > most) {
                best = Some((free, hop));
            }
        }
        match best {
            Some((_, hop)) => hop,
            None => self.order().route(flight, here),
        }
    }

    fn max_routers(&self) -> u32 {
        1 + self.torus.columns / 2 + self.torus.rows / 2
    }

    fn has_alternatives(&self) -> bool {
        true
    }

    fn alternatives(&self, flight: &Flight, first: Hop, here: &mut dyn Here, ways: &mut Vec<Hop>) {
        let others = self.ways(flight, here);
        ways.extend(others.iter().filter(|&&hop| hop != first));
        if self.escape && !others.is_empty() {
            ways.push(self.order().route(&mut { *flight }, here));
        }
    }

    /// How many links the packet took on the adaptive channel, for a test to see.
    fn take(&self, flight: &mut Flight, _: u32, hop: Hop) {
        flight.steps += u8::from(hop.vc == ADAPTIVE);
    }
}
