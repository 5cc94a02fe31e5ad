//! Routes on a HyperX that go minimally to a router and minimally on from there, in dimension order
//! both times.
//!
//! Virtual channels: 0 on the way to the intermediate router, 1 after it and on routes that go
//! straight. Dimension order is free of deadlock on either, and no packet returns from 1 to 0.

use std::sync::Arc;

use crate::routing::{Here, Hop};
use crate::topology::Topology;
use crate::topology::hyperx::HyperX;
use weir_input::{ConfigError, Section};
use weir_model::{Flight, Invalid, LinkKind, PortId, RouterId};

/// `flight.phase`: just injected, nothing decided.
pub(super) const NEW: u8 = 0;
/// `flight.phase`: straight to the destination.
pub(super) const STRAIGHT: u8 = 1;
/// `flight.phase`: to router `flight.via` first.
pub(super) const BY_ROUTER: u8 = 2;

/// Virtual channels of a link.
pub(super) fn vcs(kind: LinkKind) -> u8 {
    match kind {
        LinkKind::TERMINAL => 1,
        _ => 2,
    }
}

/// The HyperX to route in; other topologies are refused.
pub(super) fn hyperx(
    section: &Section,
    topology: &Arc<dyn Topology>,
) -> Result<HyperX, ConfigError> {
    topology.as_a::<HyperX>().cloned().ok_or_else(|| {
        section.refuse(Invalid::new(
            "algorithm",
            format!(
                "it routes in HyperX networks, and this is a {}",
                topology.describe()
            ),
            "choose a routing that is made for this topology, or a topology of kind \"hyperx\"",
        ))
    })
}

/// Maximum number of routers of a route by way of another router.
pub(super) fn most_routers(hyperx: &HyperX) -> u32 {
    1 + 2 * hyperx.grid().dimensions() as u32
}

/// The port towards another router in dimension order: any of the links to the next one.
#[inline]
pub(super) fn towards(hyperx: &HyperX, to: RouterId, here: &mut dyn Here) -> Option<PortId> {
    let (at, grid) = (here.router(), hyperx.grid());
    let d = (0..grid.dimensions()).find(|&d| grid.apart([at, to], d))?;
    Some(port_in(hyperx, d, [at, to], here))
}

/// The port that leads along dimension `d` to the coordinate of another router there: any of the
/// links.
#[inline]
pub(super) fn port_in(
    hyperx: &HyperX,
    d: usize,
    [at, to]: [RouterId; 2],
    here: &mut dyn Here,
) -> PortId {
    let [from, to] = [at, to].map(|router| hyperx.grid().coordinate(router, d));
    let (first, links) = hyperx.ports_to(d, from, to);
    match links {
        1 => first,
        some => first + here.pick(some.into()) as PortId,
    }
}

/// The next hop of a packet whose path is decided.
#[inline]
pub(super) fn follow(hyperx: &HyperX, flight: &mut Flight, here: &mut dyn Here) -> Hop {
    if flight.phase == BY_ROUTER && here.router() == flight.via {
        flight.phase = STRAIGHT;
    }
    let (to, vc) = match flight.phase {
        BY_ROUTER => (flight.via, 0),
        _ => (hyperx.router_of(flight.destination), 1),
    };
    match towards(hyperx, to, here) {
        Some(port) => Hop { port, vc },
        None => Hop {
            port: hyperx.terminal_port(flight.destination),
            vc: 0,
        },
    }
}
