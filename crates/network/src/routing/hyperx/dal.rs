//! Dimensionally adaptive, load-balanced routing on a HyperX: each hop is minimal in its dimension
//! or deroutes in it, at most once per dimension.

use std::sync::Arc;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::detour::{hyperx, most_routers, port_in, vcs};
use crate::routing::{Build, Here, Hop, Routing};
use crate::topology::Topology;
use crate::topology::hyperx::HyperX;
use weir_input::registry::{Entry, Keys};
use weir_input::{ConfigError, Section};
use weir_model::{Flight, LinkKind, PortId, RouterId};

/// DAL has no parameters.
#[derive(Clone, Debug, Deserialize, Serialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Params {}

/// The virtual channel of the escape, which uses dimension order.
const ESCAPE: u8 = 0;
/// The virtual channel of all other hops.
const ADAPTIVE: u8 = 1;

/// Dimensionally adaptive, load-balanced routing (DAL).
///
/// For every dimension in which a packet has not arrived, the router considers the link to the
/// destination's coordinate. It also considers a link to a random other coordinate, if the packet
/// has not been derouted in that dimension yet (`flight.via` has a bit for each). It takes the link
/// with the least product of backlog and remaining links; ties go to minimal links, then to the
/// first. While a packet waits it takes any minimal link that it can, and last the escape. Control
/// packets stay on minimal routes.
struct Dal(HyperX);

impl Dal {
    /// The dimensions in which two routers differ.
    fn apart(&self, at: RouterId, to: RouterId) -> impl Iterator<Item = usize> + '_ {
        let grid = self.0.grid();
        (0..grid.dimensions()).filter(move |&d| grid.apart([at, to], d))
    }

    /// A nonminimal link in a dimension, to a random coordinate that neither router has.
    fn detour(&self, d: usize, [at, to]: [RouterId; 2], here: &mut dyn Here) -> Option<PortId> {
        let grid = self.0.grid();
        let others = grid.size(d).checked_sub(2).filter(|&others| others > 0)?;
        let [from, there] = [at, to].map(|router| grid.coordinate(router, d));
        let mut drawn = here.pick(others);
        for taken in [from.min(there), from.max(there)] {
            drawn += u32::from(drawn >= taken);
        }
        Some(port_in(&self.0, d, [at, grid.moved(at, d, drawn)], here))
    }
}

impl Routing for Dal {
    fn vcs(&self, kind: LinkKind) -> u8 {
        vcs(kind)
    }

    fn route(&self, flight: &mut Flight, here: &mut dyn Here) -> Hop {
        let ends @ [at, to] = [here.router(), self.0.router_of(flight.destination)];
        let hops = u64::from(self.0.distance(at, to));
        let mut best: Option<(u64, PortId)> = None;
        let mut consider = |port, hops, here: &mut dyn Here| {
            let load = u64::from(here.backlog(port)) * hops;
            if best.is_none_or(|(least, _)| load < least) {
                best = Some((load, port));
            }
        };
        for d in self.apart(at, to) {
            let port = port_in(&self.0, d, ends, here);
            consider(port, hops, here);
        }
        for d in self.apart(at, to) {
            if !flight.is_control()
                && flight.via & 1 << d == 0
                && let Some(port) = self.detour(d, ends, here)
            {
                consider(port, hops + 1, here);
            }
        }
        match best {
            Some((_, port)) => Hop { port, vc: ADAPTIVE },
            None => Hop {
                port: self.0.terminal_port(flight.destination),
                vc: 0,
            },
        }
    }

    fn is_adaptive(&self) -> bool {
        true
    }

    fn has_alternatives(&self) -> bool {
        true
    }

    fn alternatives(&self, flight: &Flight, first: Hop, here: &mut dyn Here, ways: &mut Vec<Hop>) {
        let (at, to) = (here.router(), self.0.router_of(flight.destination));
        let grid = self.0.grid();
        let ports = |d| {
            self.0
                .ports_to(d, grid.coordinate(at, d), grid.coordinate(to, d))
        };
        for d in self.apart(at, to) {
            let (port, links) = ports(d);
            let hops = (port..port + links).map(|port| Hop { port, vc: ADAPTIVE });
            ways.extend(hops.filter(|&hop| hop != first));
        }
        let escape = self.apart(at, to).next();
        ways.extend(escape.map(|d| Hop {
            port: ports(d).0,
            vc: ESCAPE,
        }));
    }

    fn take(&self, flight: &mut Flight, router: RouterId, hop: Hop) {
        let Some(d) = self.0.dimension_of(hop.port) else {
            return;
        };
        let grid = self.0.grid();
        let to = self.0.router_of(flight.destination);
        let [from, there] = [router, to].map(|router| grid.coordinate(router, d));
        let (port, links) = match from == there {
            true => (0, 0),
            false => self.0.ports_to(d, from, there),
        };
        if !(port..port + links).contains(&hop.port) {
            flight.via |= 1 << d;
        }
    }

    fn max_routers(&self) -> u32 {
        most_routers(&self.0)
    }
}

fn build(section: &Section, topology: &Arc<dyn Topology>) -> Result<Box<dyn Routing>, ConfigError> {
    let Params {} = section.parse()?;
    Ok(Box::new(Dal(hyperx(section, topology)?)))
}

/// Registry entry of DAL.
pub const ENTRY: Entry<Build> = Entry {
    name: "dal",
    summary: "HyperX: at each router any dimension, straight on or once out of the way, by the \
              queues; dimension order as an escape.",
    source: "DAL of Ahn et al., SC 2009, section 3.3; the escape after Duato, 1996",
    examples: &[""],
    parameters: Keys::of::<Params>(),
    build,
};
