//! Progressive adaptive routing on a dragonfly, with 6 local and 2 global virtual channels.

use std::sync::Arc;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::paths::{
    BY_ROUTER, Margin, NEW, Paths, STRAIGHT, at_second_router_of_source_group, at_source,
};
use crate::config::{Allowance, ConfigError, Section, Size};
use crate::model::{Flight, LinkKind, PortId};
use crate::registry::Entry;
use crate::routing::{Build, Here, Hop, Measure, Routing};
use crate::topology::Topology;
use crate::topology::dragonfly::Dragonfly;

/// Parameters of progressive adaptive routing. A packet goes minimally if
/// measure(minimal) ≤ weight · measure(nonminimal) + bias.
#[derive(Clone, Debug, Deserialize, Serialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct Params {
    /// What ports are compared by; default "backlog". CODES has "occupancy".
    pub measure: Measure,
    /// What the nonminimal path's counts for; default 2, because that path is about twice as long.
    pub weight: u32,
    /// In flits or packets, default "4 packets": how much longer the queue of the minimal path may be.
    pub bias: Allowance,
}

impl Default for Params {
    fn default() -> Self {
        Params {
            measure: Measure::Backlog,
            weight: 2,
            bias: Allowance(Size::Packets(4)),
        }
    }
}

/// At the source's router a random router in a third group is drawn. The packet goes minimally if the queue for the
/// minimal path is short enough, otherwise minimally to that router and on from there. A minimal packet
/// that is still in its source's group at its second router takes the same test there once more, with
/// another random router. Traffic inside a group, control packets, and all packets where there are only two groups
/// go minimally.
///
/// Virtual channels (PAR-6/2): the longest route is l l g l l g l l, and its local hops have the channels 0 to 5 in
/// this order, its global hops 0 and 1. A route that is shorter in one group skips the rest of that group's channels.
/// This way of deciding never makes the second local hop in the last group, for which channel 5 is there.
struct Par {
    paths: Paths,
    measure: Measure,
    weight: u32,
    bias: Margin,
}

impl Par {
    /// Decides between the minimal and one nonminimal path and returns the next port.
    fn decide(&self, flight: &mut Flight, here: &mut dyn Here) -> PortId {
        let dragonfly = self.paths.dragonfly();
        // At the second router the minimal path is out by one of its own links.
        let choose = at_source(flight);
        flight.phase = STRAIGHT;
        let at = self.paths.spot(here);
        let minimal = self.paths.to_endpoint(at, flight.destination, choose, here);
        let group = self.paths.group_of(flight.destination);
        if flight.is_control() || at.group == group {
            return minimal.port;
        }
        let Some(third) = self.paths.third_group(at.group, group, here) else {
            return minimal.port;
        };
        let via = dragonfly.router(third, here.pick(dragonfly.routers_per_group()));
        let nonminimal = self.paths.to_group(at, third, true, here);
        let limit = self.load(flight, nonminimal.port, here) * u64::from(self.weight);
        let limit = limit.saturating_add(self.bias.flits(here));
        if self.load(flight, minimal.port, here) <= limit {
            return minimal.port;
        }
        flight.phase = BY_ROUTER;
        flight.via = via;
        nonminimal.port
    }
}

impl Par {
    /// How much is on its way out by a port.
    fn load(&self, flight: &Flight, port: PortId, here: &mut dyn Here) -> u64 {
        let hop = self.paths.hop(&mut { *flight }, port);
        self.measure.of(hop, here).into()
    }
}

impl Routing for Par {
    fn vcs(&self, kind: LinkKind) -> u8 {
        match kind {
            LinkKind::TERMINAL => 1,
            Dragonfly::LOCAL => 6,
            _ => 2,
        }
    }

    fn route(&self, flight: &mut Flight, here: &mut dyn Here) -> Hop {
        let again = flight.phase == STRAIGHT && at_second_router_of_source_group(flight);
        let port = if flight.phase == NEW || again {
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
        self.paths.most_routers(3, 3)
    }
}

fn build(section: &Section, topology: &Arc<dyn Topology>) -> Result<Box<dyn Routing>, ConfigError> {
    let params: Params = section.parse()?;
    Ok(Box::new(Par {
        paths: Paths::new(section, topology, [0, 2, 4])?,
        measure: params.measure,
        weight: params.weight,
        bias: Margin::new(section, "bias", params.bias)?,
    }))
}

/// The registry's line about progressive adaptive routing.
pub const ENTRY: Entry<Build> = Entry {
    name: "par",
    summary: "Dragonfly: minimal or nonminimal by the queues at the source's router, and once more at the next",
    source: "PAR-6/2 of García et al., ICPP 2013, as used in Jiang et al., SC15, section 4; PAR of Jiang, Kim and Dally, \
             ISCA 2009",
    examples: &["", "measure = \"occupancy\", bias = \"0 flits\""],
    parameters: || schemars::schema_for!(Params),
    build,
};
