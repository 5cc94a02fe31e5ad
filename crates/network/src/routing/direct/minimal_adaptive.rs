//! Minimal adaptive routing: at each router along any dimension that brings a packet nearer, with
//! dimension order as its escape.

use std::sync::Arc;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::rings::{classes, crosses};
use super::steps::not_for;
use crate::routing::{Build, Here, Hop, Routing};
use crate::topology::Topology;
use crate::topology::torus::{Heading, Torus};
use weir_input::registry::{Entry, Keys};
use weir_input::{ConfigError, Section};
use weir_model::{Flight, Invalid, LinkKind, PortId, RouterId};

/// Parameters of minimal adaptive routing.
#[derive(Clone, Debug, Deserialize, Serialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct Params {
    /// Adaptive virtual channels of each link, on which every shortest way is allowed; 1 or more.
    /// The escape's are additional: 2 on a torus and 1 on a mesh.
    pub adaptive_vcs: u8,
}

impl Default for Params {
    fn default() -> Self {
        Params { adaptive_vcs: 1 }
    }
}

/// Minimal adaptive routing on tori and meshes.
///
/// Two links are drawn among the links that bring the packet nearer; the packet takes the one with
/// less backlog, on an adaptive virtual channel. While it waits it takes any of them that it can,
/// and last the escape. The escape follows x, then y, and so on, on the first virtual channel
/// before the dateline of a ring and on the second behind it (Dally and Seitz). From an escape a
/// packet may return to adaptive channels.
struct MinimalAdaptive {
    torus: Torus,
    adaptive: u8,
}

impl MinimalAdaptive {
    fn escapes(&self) -> u8 {
        classes(&self.torus)
    }

    /// The links that bring a packet nearer: the first port of each direction, and the number of
    /// links.
    fn nearer(&self, at: RouterId, to: RouterId, mut each: impl FnMut(PortId, PortId)) {
        let grid = self.torus.grid();
        for d in 0..grid.dimensions() {
            let (from, to) = (grid.coordinate(at, d), grid.coordinate(to, d));
            if from == to {
                continue;
            }
            let (up, down) = self.torus.ways_round(d, from, to);
            for (nearer, heading) in [(up, Heading::Up), (down, Heading::Down)] {
                if nearer {
                    let (port, links) = self.torus.ports_to(d, heading);
                    each(port, links);
                }
            }
        }
    }

    /// One of these links, by its number among all of them.
    fn link(&self, at: RouterId, to: RouterId, number: u32) -> PortId {
        let (mut left, mut found) = (number, 0);
        self.nearer(at, to, |port, links| {
            if left < u32::from(links) {
                (found, left) = (port + left as PortId, u32::MAX);
            } else if left != u32::MAX {
                left -= u32::from(links);
            }
        });
        found
    }

    /// The hop in dimension order; None at the destination's router.
    fn escape(&self, at: RouterId, to: RouterId) -> Option<Hop> {
        let grid = self.torus.grid();
        let mut dimensions = 0..grid.dimensions();
        let d = dimensions.find(|&d| grid.apart([at, to], d))?;
        let (from, to) = (grid.coordinate(at, d), grid.coordinate(to, d));
        let heading = match self.torus.ways_round(d, from, to) {
            (true, _) => Heading::Up,
            _ => Heading::Down,
        };
        let ring = self.torus.is_ring(d);
        Some(Hop {
            port: self.torus.ports_to(d, heading).0,
            vc: u8::from(ring && !crosses(heading, from, to)),
        })
    }

    fn hop(&self, port: PortId, number: u8) -> Hop {
        Hop {
            port,
            vc: self.escapes() + number,
        }
    }
}

impl Routing for MinimalAdaptive {
    fn vcs(&self, kind: LinkKind) -> u8 {
        match kind {
            LinkKind::TERMINAL => 1,
            _ => self.escapes() + self.adaptive,
        }
    }

    fn route(&self, flight: &mut Flight, here: &mut dyn Here) -> Hop {
        let (at, to) = (here.router(), self.torus.router_of(flight.destination));
        let mut count = 0;
        self.nearer(at, to, |_, links| count += u32::from(links));
        let port = match count {
            0 => {
                let port = self.torus.terminal_port(flight.destination);
                return Hop { port, vc: 0 };
            }
            1 => self.link(at, to, 0),
            _ => {
                let one = here.pick(count);
                let other = (one + 1 + here.pick(count - 1)) % count;
                let ports = [one, other].map(|number| self.link(at, to, number));
                let backlogs = ports.map(|port| here.backlog(port));
                ports[usize::from(backlogs[1] < backlogs[0])]
            }
        };
        // While it waits the packet takes any adaptive channel; the destination determines the
        // first.
        let number = flight.destination % u32::from(self.adaptive);
        self.hop(port, number as u8)
    }

    fn is_adaptive(&self) -> bool {
        true
    }

    fn has_alternatives(&self) -> bool {
        true
    }

    fn alternatives(&self, flight: &Flight, first: Hop, here: &mut dyn Here, ways: &mut Vec<Hop>) {
        let (at, to) = (here.router(), self.torus.router_of(flight.destination));
        self.nearer(at, to, |port, links| {
            let ports = port..port + links;
            let hops = ports.flat_map(|port| (0..self.adaptive).map(move |one| (port, one)));
            let hops = hops.map(|(port, number)| self.hop(port, number));
            ways.extend(hops.filter(|&hop| hop != first));
        });
        ways.extend(self.escape(at, to));
    }

    fn max_routers(&self) -> u32 {
        self.torus.diameter_routers()
    }
}

fn build(section: &Section, topology: &Arc<dyn Topology>) -> Result<Box<dyn Routing>, ConfigError> {
    let Params { adaptive_vcs } = section.parse()?;
    let torus = topology
        .as_a::<Torus>()
        .ok_or_else(|| not_for(section, topology, "tori and meshes"))?;
    // The escape has at most two.
    if !(1..=250).contains(&adaptive_vcs) {
        return Err(section.refuse(Invalid::new(
            "adaptive_vcs",
            format!("{adaptive_vcs} adaptive virtual channels"),
            "give from 1 to 250, or choose the routing \"dor\"",
        )));
    }
    Ok(Box::new(MinimalAdaptive {
        torus: torus.clone(),
        adaptive: adaptive_vcs,
    }))
}

/// Registry entry of minimal adaptive routing.
pub const ENTRY: Entry<Build> = Entry {
    name: "minimal_adaptive",
    summary: "Tori and meshes: any dimension that brings a packet nearer, by the queues; dimension \
              order as an escape.",
    source: "Duato, \"A new theory of deadlock-free adaptive routing in wormhole networks\", IEEE \
             Trans. Parallel Distrib. Syst. 4(12), 1993; and 7(8), 1996",
    examples: &["", "adaptive_vcs = 2"],
    parameters: Keys::of::<Params>(),
    build,
};
