//! Dimension-order routing: first along x, then along y. Of the two virtual channels of each link a packet takes the first
//! before it has gone round the end of a ring, and the second if it has, or will not (Dally and Seitz, 1987).

use weir::model::{Flight, LinkKind};
use weir::routing::{Here, Hop, Routing};

use super::torus::{TERMINAL, Torus};

pub struct DimensionOrder {
    pub torus: Torus,
    /// Without it everything goes by the first virtual channel.
    pub dateline: bool,
}

impl Routing for DimensionOrder {
    fn vcs(&self, kind: LinkKind) -> u8 {
        match kind {
            LinkKind::TERMINAL => 1,
            _ => 2,
        }
    }

    fn route(&self, flight: &mut Flight, here: &mut dyn Here) -> Hop {
        let step = |dimension| {
            self.torus
                .step(here.router(), flight.destination, dimension)
        };
        match step(0).or_else(|| step(1)) {
            None => Hop {
                port: TERMINAL,
                vc: 0,
            },
            Some(step) => Hop {
                port: step.port,
                vc: u8::from(self.dateline && !step.wraps),
            },
        }
    }

    fn max_routers(&self) -> u32 {
        1 + self.torus.columns / 2 + self.torus.rows / 2
    }
}
