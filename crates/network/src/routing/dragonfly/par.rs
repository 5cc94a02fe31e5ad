//! Progressive adaptive routing on a dragonfly.

use std::sync::Arc;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::paths::{
    BY_GROUP, BY_ROUTER, Margin, NEW, Paths, STRAIGHT, Spot, at_second_router_of_source_group,
    at_source,
};
use crate::failures::Outages;
use crate::routing::{Build, Here, Hop, Measure, Routing};
use crate::topology::Topology;
use crate::topology::dragonfly::Dragonfly;
use weir_input::registry::{Entry, Keys};
use weir_input::{Allowance, ConfigError, Section, Size};
use weir_model::{Flight, LinkKind, PortId};

/// Parameters of progressive adaptive routing. A packet goes minimally if
/// measure(minimal) ≤ weight · measure(nonminimal) + bias.
#[derive(Clone, Debug, Deserialize, Serialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct Params {
    /// Measure by which ports are compared. CODES: "occupancy".
    pub measure: Measure,
    /// Factor of the nonminimal path's measure; 2 because that path is about twice as long.
    pub weight: u32,
    /// Flits or packets by which the queue of the minimal path may be longer.
    pub bias: Allowance,
    /// Intermediate target of nonminimal paths. "router": a random router of a random group
    /// (PAR-6/2). "group": the router of entry into a random group (CODES); a packet then makes at
    /// most one local hop in each group, and its second router compares with its own global link.
    pub via: Via,
}

/// Intermediate target of nonminimal paths.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize, Serialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Via {
    /// A router.
    Router,
    /// A group.
    Group,
}

impl Default for Params {
    fn default() -> Self {
        Params {
            measure: Measure::Backlog,
            weight: 2,
            bias: Allowance(Size::Packets(4)),
            via: Via::Router,
        }
    }
}

/// Progressive adaptive routing on a dragonfly.
///
/// At the source's router, a random router in a third group, or a random third group, is drawn. The
/// packet goes minimally if the queue for the minimal path is short enough, otherwise minimally to
/// that target and on from there.
///
/// A minimal packet that is still in its source's group at its second router is tested once more.
/// The target is then another random router. By way of groups it is the same group if this router
/// has a link to it, otherwise a group that the router has a link to. Traffic inside a group,
/// control packets, and all packets in networks of two groups go minimally.
///
/// Virtual channels (PAR-6/2): the longest route is l l g l l g l l. Its local hops have the
/// channels 0 to 5 in this order, its global hops 0 and 1. A route that is shorter in one group
/// skips the rest of that group's channels. This rule never makes the second local hop in the last
/// group, for which channel 5 is reserved. By way of groups the longest route is l g l g l, and its
/// local hops have the channels 0 to 2.
struct Par {
    paths: Paths,
    measure: Measure,
    weight: u32,
    bias: Margin,
    via: Via,
}

/// A nonminimal path: the phase of packets that take it, its intermediate target, and its first
/// port.
struct Detour {
    phase: u8,
    via: u32,
    port: PortId,
}

impl Par {
    /// Decides between the minimal and one nonminimal path and returns the next port.
    fn decide(&self, flight: &mut Flight, here: &mut dyn Here) -> PortId {
        // At the second router the minimal path leaves by one of the router's own links.
        let choose = at_source(flight);
        flight.phase = STRAIGHT;
        let at = self.paths.spot(here);
        let minimal = self.paths.to_endpoint(at, flight.destination, choose, here);
        let group = self.paths.group_of(flight.destination);
        let joined = self.paths.joins(at.group, group, here.links());
        if (flight.is_control() && joined) || at.group == group {
            return minimal.port;
        }
        let Some(nonminimal) = self.detour(at, group, flight, here) else {
            return minimal.port;
        };
        let limit = self.load(flight, nonminimal.port, here) * u64::from(self.weight);
        let limit = limit.saturating_add(self.bias.flits(here));
        if joined && self.load(flight, minimal.port, here) <= limit {
            if nonminimal.phase == BY_GROUP {
                // The second router compares with the same group again.
                flight.via = nonminimal.via;
            }
            return minimal.port;
        }
        flight.phase = nonminimal.phase;
        flight.via = nonminimal.via;
        nonminimal.port
    }

    /// A random nonminimal path to `group`, another group; None if there is none.
    fn detour(&self, at: Spot, group: u32, flight: &Flight, here: &mut dyn Here) -> Option<Detour> {
        let dragonfly = self.paths.dragonfly();
        if self.via == Via::Group && !at_source(flight) {
            return self.own_detour(at, group, flight.via, here);
        }
        let third = self.paths.third_group(at.group, group, here)?;
        let (phase, via) = match self.via {
            Via::Router => {
                let index = here.pick(dragonfly.routers_per_group());
                (BY_ROUTER, dragonfly.router(third, index))
            }
            Via::Group => (BY_GROUP, third),
        };
        let port = self.paths.to_group(at, third, true, here).port;
        Some(Detour { phase, via, port })
    }

    /// The same by one of this router's own links: to the group `drawn` before, if it has a link
    /// there.
    fn own_detour(&self, at: Spot, group: u32, drawn: u32, here: &mut dyn Here) -> Option<Detour> {
        let links = || self.paths.dragonfly().links_of(at.router);
        let seen = here.links();
        let leads = |to: u32| {
            let near = self.paths.joins(at.group, to, seen);
            to != group && near && self.paths.joins(to, group, seen)
        };
        let has = leads(drawn) && links().any(|(to, _)| to == drawn);
        let fits = |&(to, _): &(u32, PortId)| leads(to) && (!has || to == drawn);
        let count = links().filter(fits).count() as u32;
        if count == 0 {
            return None;
        }
        let (via, port) = links().filter(fits).nth(here.pick(count) as usize)?;
        Some(Detour {
            phase: BY_GROUP,
            via,
            port,
        })
    }

    /// Load of a port, by the measure.
    fn load(&self, flight: &Flight, port: PortId, here: &mut dyn Here) -> u64 {
        let hop = self.paths.hop(&mut { *flight }, port);
        self.measure.of(hop, here).into()
    }
}

impl Routing for Par {
    fn vcs(&self, kind: LinkKind) -> u8 {
        match kind {
            LinkKind::TERMINAL => 1,
            Dragonfly::LOCAL => match self.via {
                Via::Router => 6,
                Via::Group => 3,
            },
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
        match self.via {
            Via::Router => self.paths.most_routers(3, 3),
            Via::Group => self.paths.most_routers(2, 2),
        }
    }

    fn heed(&mut self, outages: &Arc<Outages>) {
        self.paths.heed(outages);
    }
}

fn build(section: &Section, topology: &Arc<dyn Topology>) -> Result<Box<dyn Routing>, ConfigError> {
    let params: Params = section.parse()?;
    let locals = match params.via {
        Via::Router => [0, 2, 4],
        Via::Group => [0, 1, 2],
    };
    Ok(Box::new(Par {
        paths: Paths::new(section, topology, locals)?,
        via: params.via,
        measure: params.measure,
        weight: params.weight,
        bias: Margin::new(section, "bias", params.bias)?,
    }))
}

/// Registry entry of progressive adaptive routing.
pub const ENTRY: Entry<Build> = Entry {
    name: "par",
    summary: "Dragonfly: minimal or nonminimal by the queues at the source's router, and once more \
              at the next",
    source: "PAR-6/2 of García et al., ICPP 2013, as used in Jiang et al., SC15, section 4; PAR of \
             Jiang, Kim and Dally, ISCA 2009; via = \"group\": CODES, model dragonfly-dally",
    examples: &[
        "",
        "measure = \"occupancy\", bias = \"0 flits\"",
        "via = \"group\"",
    ],
    parameters: Keys::of::<Params>(),
    build,
};
