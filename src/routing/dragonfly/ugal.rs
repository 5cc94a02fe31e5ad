//! UGAL-L on a dragonfly: minimal or Valiant, chosen at the source by the queues there.

use std::sync::Arc;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::paths::{BY_GROUP, BY_ROUTER, Margin, NEW, Paths, STRAIGHT, Spot, Way};
use crate::config::{Allowance, ConfigError, Section, Size};
use crate::model::{Flight, Invalid, LinkKind, PortId, RouterId};
use crate::registry::Entry;
use crate::routing::{Build, Here, Hop, Routing};
use crate::topology::{Topology, dragonfly::Dragonfly};

/// Parameters of UGAL-L. A packet goes minimally if
/// backlog(minimal) · hops(minimal) ≤ (backlog(Valiant) + bias) · hops(Valiant) + threshold.
#[derive(Clone, Debug, Deserialize, Serialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct Params {
    /// How many random Valiant paths are drawn, the best of which is compared with the minimal one: from 1 to 64,
    /// default 2.
    pub candidates: u32,
    /// In flits or packets, default "0 flits": added once, whatever the lengths of the paths.
    pub threshold: Allowance,
    /// In flits or packets, default "0 flits": how much longer than on the Valiant path the queue of the minimal path
    /// may be if both were equally long.
    pub bias: Allowance,
}

impl Default for Params {
    fn default() -> Self {
        Params {
            candidates: 2,
            threshold: Allowance(Size::Flits(0)),
            bias: Allowance(Size::Flits(0)),
        }
    }
}

/// A router has no more ways to choose among than ports, mostly, and every path is drawn for every packet.
const MOST_CANDIDATES: u32 = 64;

/// The router where a packet is injected compares one minimal path (over a random link, where several join
/// the two groups) with random Valiant paths, and the choice stands for the whole way. The load of a path is the
/// backlog of its first port here, times the number of its links between routers.
///
/// Paths and virtual channels are those of `minimal` and `valiant`, inside a group too.
struct Ugal {
    paths: Paths,
    candidates: u32,
    threshold: Margin,
    bias: Margin,
}

/// A Valiant path that was drawn.
struct Detour {
    phase: u8,
    via: u32,
    port: PortId,
    /// (backlog + bias) · hops.
    load: u64,
}

impl Ugal {
    fn dragonfly(&self) -> &Dragonfly {
        self.paths.dragonfly()
    }

    /// Decides how the packet goes and returns its first port.
    fn decide(&self, flight: &mut Flight, here: &mut dyn Here) -> PortId {
        let at = self.paths.spot(here);
        let to = self.dragonfly().router_of(flight.destination);
        let minimal = self.paths.to_endpoint(at, flight.destination, true, here);
        flight.phase = STRAIGHT;
        if flight.is_control() || at.router == to {
            return minimal.port;
        }
        let mut best: Option<Detour> = None;
        for _ in 0..self.candidates {
            match self.draw(at, to, here) {
                Some(detour) if best.as_ref().is_none_or(|best| detour.load < best.load) => {
                    best = Some(detour);
                }
                Some(_) => {}
                None => break,
            }
        }
        let Some(best) = best else {
            return minimal.port;
        };
        let hops = self.paths.straight_hops(at.router, to, minimal.link);
        let load = u64::from(here.backlog(minimal.port)) * u64::from(hops);
        if load <= best.load.saturating_add(self.threshold.flits(here)) {
            return minimal.port;
        }
        flight.phase = best.phase;
        flight.via = best.via;
        best.port
    }

    /// One random Valiant path; None if the network is too small to have one.
    fn draw(&self, at: Spot, to: RouterId, here: &mut dyn Here) -> Option<Detour> {
        let group = self.dragonfly().group_of(to);
        let (phase, via, way, hops) = if at.group == group {
            let via = self.paths.third_router(at.router, to, here)?;
            let way = self.paths.to_router(at, via, true, here);
            (BY_ROUTER, via, way, 2)
        } else {
            let via = self.paths.third_group(at.group, group, here)?;
            let way = self.paths.to_group(at, via, true, here);
            let hops = self.paths.hops_by_group(at.router, via, way.link, to);
            (BY_GROUP, via, way, hops)
        };
        let Way { port, .. } = way;
        let queue = u64::from(here.backlog(port)).saturating_add(self.bias.flits(here));
        Some(Detour {
            phase,
            via,
            port,
            load: queue.saturating_mul(hops.into()),
        })
    }
}

impl Routing for Ugal {
    fn vcs(&self, kind: LinkKind) -> u8 {
        match kind {
            LinkKind::TERMINAL => 1,
            Dragonfly::LOCAL => 3,
            _ => 2,
        }
    }

    fn route(&self, flight: &mut Flight, here: &mut dyn Here) -> Hop {
        let port = if flight.phase == NEW {
            self.decide(flight, here)
        } else {
            self.paths.follow(flight, here)
        };
        self.paths.hop(flight, port)
    }

    fn is_adaptive(&self) -> bool {
        true
    }

    fn max_routers(&self) -> u32 {
        self.paths.most_routers(2, 2)
    }
}

fn build(section: &Section, topology: &Arc<dyn Topology>) -> Result<Box<dyn Routing>, ConfigError> {
    let params: Params = section.parse()?;
    if params.candidates == 0 {
        return Err(section.refuse(Invalid::new(
            "candidates",
            "is 0",
            "give 1 or more, or choose the routing \"minimal\"",
        )));
    }
    if params.candidates > MOST_CANDIDATES {
        return Err(section.refuse(Invalid::new(
            "candidates",
            format!("{} paths for every packet", params.candidates),
            format!("give at most {MOST_CANDIDATES}"),
        )));
    }
    Ok(Box::new(Ugal {
        paths: Paths::new(section, topology, 1)?,
        candidates: params.candidates,
        threshold: Margin::new(section, "threshold", params.threshold)?,
        bias: Margin::new(section, "bias", params.bias)?,
    }))
}

/// The registry's line about UGAL-L.
pub const ENTRY: Entry<Build> = Entry {
    name: "ugal",
    summary: "Dragonfly: minimal or Valiant, whichever queue at the source's router is shorter for its path length",
    source: "UGAL-L of Kim et al., ISCA 2008, section 4.1; the routing of SST in McGlohon et al., section IV.B",
    examples: &[""],
    parameters: || schemars::schema_for!(Params),
    build,
};
