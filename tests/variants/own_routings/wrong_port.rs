//! Dimension order on a torus, and at the destination's router the port of its first endpoint.

use weir::model::{Flight, LinkKind};
use weir::routing::{Here, Hop, Routing};
use weir::topology::torus::Torus;

use super::dimension_order::WithoutDateline;

pub struct WrongPort(pub WithoutDateline);

impl WrongPort {
    pub fn new(torus: Torus) -> WrongPort {
        WrongPort(WithoutDateline(torus))
    }
}

impl Routing for WrongPort {
    fn vcs(&self, kind: LinkKind) -> u8 {
        self.0.vcs(kind)
    }

    fn route(&self, flight: &mut Flight, here: &mut dyn Here) -> Hop {
        let hop = self.0.route(flight, here);
        let torus = &self.0.0;
        let port = match here.router() == torus.router_of(flight.destination) {
            true => torus.terminal_port(0),
            false => hop.port,
        };
        Hop { port, ..hop }
    }

    fn max_routers(&self) -> u32 {
        self.0.max_routers()
    }
}
