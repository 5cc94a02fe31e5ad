//! Dimension order on a torus without a dateline: all packets use one virtual channel, also round
//! the end of a ring.

use weir::model::{Flight, LinkKind};
use weir::routing::{Here, Hop, Routing};
use weir::topology::Topology;
use weir::topology::torus::{Heading, Torus};

pub struct WithoutDateline(pub Torus);

impl Routing for WithoutDateline {
    fn vcs(&self, _: LinkKind) -> u8 {
        1
    }

    fn route(&self, flight: &mut Flight, here: &mut dyn Here) -> Hop {
        let port = ports(&self.0, flight, here).first().copied();
        Hop {
            port: port.unwrap_or(self.0.terminal_port(flight.destination)),
            vc: 0,
        }
    }

    fn max_routers(&self) -> u32 {
        self.0.diameter_routers()
    }
}

/// The ports that lead nearer, one for each dimension; up, where both ways round are as long.
pub fn ports(torus: &Torus, flight: &Flight, here: &dyn Here) -> Vec<u16> {
    let grid = torus.grid();
    let ends = [here.router(), torus.router_of(flight.destination)];
    let step = |d| {
        let [from, to] = ends.map(|router| grid.coordinate(router, d));
        let heading = match torus.ways_round(d, from, to) {
            _ if from == to => return None,
            (true, _) => Heading::Up,
            _ => Heading::Down,
        };
        Some(torus.ports_to(d, heading).0)
    };
    (0..grid.dimensions()).filter_map(step).collect()
}
