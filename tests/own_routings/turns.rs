//! Every other packet of a source goes along x first, the others along y: O1TURN (Seo et al., ISCA 2005) with a pointer that
//! goes round in place of chance. Either half has virtual channels of its own.

use weir::model::{Flight, LinkKind, RouterId};
use weir::routing::{Here, Hop, Routing};

use super::torus::{TERMINAL, Torus};

pub struct Turns(pub Torus);

/// `flight.phase`: along x first, or along y.
const X_FIRST: u8 = 1;
const Y_FIRST: u8 = 2;

impl Routing for Turns {
    fn vcs(&self, kind: LinkKind) -> u8 {
        match kind {
            LinkKind::TERMINAL => 1,
            _ => 4,
        }
    }

    fn words(&self, _: RouterId) -> u32 {
        1
    }

    fn route(&self, flight: &mut Flight, here: &mut dyn Here) -> Hop {
        if flight.phase == 0 {
            let turn = here.recall(0);
            here.remember(0, 1 - turn);
            flight.phase = if turn == 0 { X_FIRST } else { Y_FIRST };
        }
        let dimensions = match flight.phase {
            X_FIRST => [0, 1],
            _ => [1, 0],
        };
        let step = |dimension| self.0.step(here.router(), flight.destination, dimension);
        match dimensions.into_iter().find_map(step) {
            None => Hop {
                port: TERMINAL,
                vc: 0,
            },
            Some(step) => Hop {
                port: step.port,
                vc: 2 * (flight.phase - 1) + u8::from(!step.wraps),
            },
        }
    }

    fn max_routers(&self) -> u32 {
        1 + self.0.columns / 2 + self.0.rows / 2
    }
}
