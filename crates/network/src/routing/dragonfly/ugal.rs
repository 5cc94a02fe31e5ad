//! UGAL-L on a dragonfly: minimal or Valiant, chosen at the source by the queues there.

use std::sync::Arc;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::paths::{
    BY_GROUP, BY_ROUTER, Margin, NEW, Paths, STRAIGHT, Spot, Way, at_second_router_of_source_group,
};
use super::weight::Weight;
use crate::failures::Outages;
use crate::routing::{Build, Here, Hop, Measure, Routing};
use crate::topology::{Topology, dragonfly::Dragonfly};
use weir_input::registry::{Entry, Keys};
use weir_input::{Allowance, ConfigError, Section, Size};
use weir_model::{Flight, Invalid, LinkKind, PortId, RouterId};

/// Parameters of UGAL-L. A packet goes minimally if
/// measure(minimal) · weight(minimal) ≤ (measure(Valiant) + bias) · weight(Valiant) + threshold.
#[derive(Clone, Debug, Deserialize, Serialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct Params {
    /// Measure by which ports are compared. BookSim2: "credits"; merlin of SST: "output_queue".
    pub measure: Measure,
    /// Factor of a path's measure. "hops": links between routers on the path. A number: factor of
    /// the Valiant path, against 1 for the minimal one. BookSim2 and merlin: 2.
    pub weight: Weight,
    /// Number of random Valiant paths, 1 to 64; the best is compared with the minimal path.
    /// BookSim2 and merlin: 1.
    pub candidates: u32,
    /// Flits or packets added once, whatever the lengths of the paths. BookSim2: 30 flits, merlin:
    /// 50.
    pub threshold: Allowance,
    /// Flits or packets by which the queue of the minimal path may exceed that of a Valiant path of
    /// equal length.
    pub bias: Allowance,
    /// Intermediate target of Valiant paths. "group": the router of entry into a random group
    /// (merlin). "router": a random router. "endpoint": the router of a random endpoint (BookSim2).
    pub via: Via,
    /// Groups among which it is drawn. "third": all but those of source and destination (merlin).
    /// "all": every group (BookSim2); a path through the source's group is the minimal one.
    pub draw: Groups,
    /// Paths inside a group. "adaptive": also through a third router (merlin). "minimal": only the
    /// direct link (BookSim2).
    pub inside: Inside,
    /// Virtual channels on the way to an intermediate target. "shared": counted from the start of a
    /// path, minimal or not (merlin). "separate": not those of other packets (BookSim2).
    pub vcs: Channels,
    /// Compare the same two paths again at the second router of the source's group, if links of
    /// that router lead to both groups (merlin). Otherwise the first choice holds. Only with
    /// vcs = "shared".
    pub again: bool,
}

/// Intermediate target of Valiant paths.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize, Serialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Via {
    /// A group.
    Group,
    /// A router.
    Router,
    /// An endpoint's router.
    Endpoint,
}

/// Groups among which it is drawn.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize, Serialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Groups {
    /// All but those of source and destination.
    Third,
    /// All groups.
    All,
}

/// Paths inside a group.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize, Serialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Inside {
    /// Also through a third router, as between groups.
    Adaptive,
    /// Only the direct link.
    Minimal,
}

/// Virtual channels of minimal packets.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize, Serialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Channels {
    /// The first ones, shared with other packets.
    Shared,
    /// The channels of the last part of Valiant paths.
    Separate,
}

impl Default for Params {
    fn default() -> Self {
        Params {
            measure: Measure::Backlog,
            weight: Weight::Hops,
            candidates: 2,
            threshold: Allowance(Size::Flits(0)),
            bias: Allowance(Size::Flits(0)),
            via: Via::Group,
            draw: Groups::Third,
            inside: Inside::Adaptive,
            vcs: Channels::Shared,
            again: false,
        }
    }
}

/// Maximum number of candidates. A router rarely has more ways to choose among than ports, and
/// every path is drawn for every packet.
const MOST_CANDIDATES: u32 = 64;

/// UGAL-L on a dragonfly.
///
/// The router where a packet is injected compares one minimal path (over a random link, if several
/// join the two groups) with random Valiant paths. The choice holds for the whole path, unless the
/// next router may compare the two again. The load of a path is the measure of its first port here,
/// times the number of its links between routers or a given weight.
///
/// Paths by way of a group, and their virtual channels, are those of `minimal` and `valiant`,
/// inside a group too. Paths by way of a router have two local hops in the intermediate group, and
/// one more local channel. With separate channels, BookSim2 gives both local hops before the
/// intermediate router the same channel; packets of three groups can then wait for each other in a
/// cycle. Here the second hop therefore has a separate channel ([`Paths::hop_apart`]).
struct Ugal {
    paths: Paths,
    params: Params,
    threshold: Margin,
    bias: Margin,
    /// Virtual channels of local links.
    locals: u8,
}

/// `flight.via` of a minimal packet that has no other path.
const NOWHERE: u32 = u32::MAX;

/// A drawn Valiant path.
struct Detour {
    phase: u8,
    via: u32,
    port: PortId,
    /// (measure + bias) · weight.
    load: u64,
}

impl Ugal {
    fn dragonfly(&self) -> &Dragonfly {
        self.paths.dragonfly()
    }

    /// Decides on the path of the packet and returns its first port.
    fn decide(&self, flight: &mut Flight, here: &mut dyn Here) -> PortId {
        let at = self.paths.spot(here);
        let to = self.dragonfly().router_of(flight.destination);
        let minimal = self.paths.to_endpoint(at, flight.destination, true, here);
        flight.phase = STRAIGHT;
        let group = self.dragonfly().group_of(to);
        let joined = self.paths.joins(at.group, group, here.links());
        if !joined && flight.is_control() {
            return self.around(flight, here);
        }
        if flight.is_control() || at.router == to {
            return minimal.port;
        }
        if self.params.inside == Inside::Minimal && at.group == group {
            return minimal.port;
        }
        let mut best: Option<Detour> = None;
        for _ in 0..self.params.candidates {
            if let Some(detour) = self.draw(at, to, flight, here)
                && best.as_ref().is_none_or(|best| detour.load < best.load)
            {
                best = Some(detour);
            }
        }
        let Some(best) = best else {
            flight.via = NOWHERE;
            return match joined {
                true => minimal.port,
                false => self.around(flight, here),
            };
        };
        if !joined {
            (flight.phase, flight.via) = (best.phase, best.via);
            return best.port;
        }
        self.choose((minimal, best), (at, to), flight, here)
    }

    /// The first port of the less loaded of two paths, one of which is minimal.
    fn choose(
        &self,
        (minimal, other): (Way, Detour),
        (at, to): (Spot, RouterId),
        flight: &mut Flight,
        here: &mut dyn Here,
    ) -> PortId {
        let weight = match self.params.weight {
            Weight::Hops => self.paths.straight_hops(at.router, to, minimal.link),
            Weight::Times(_) => 1,
        };
        flight.via = other.via;
        flight.phase = STRAIGHT;
        let load = self.measure(flight, minimal.port, here) * u64::from(weight);
        if load <= other.load.saturating_add(self.threshold.flits(here)) {
            return minimal.port;
        }
        flight.phase = other.phase;
        other.port
    }

    /// The next port of a packet that is at the second router of its source's group. If links of
    /// this router lead to the groups of both paths, it is decided again.
    fn choose_again(&self, flight: &mut Flight, here: &mut dyn Here) -> PortId {
        let at = self.paths.spot(here);
        let to = self.dragonfly().router_of(flight.destination);
        let group = self.dragonfly().group_of(to);
        if flight.is_control() || flight.via == NOWHERE || group == at.group {
            return self.paths.follow(flight, here);
        }
        let phase = match (flight.phase, self.params.via) {
            (STRAIGHT, Via::Group) => BY_GROUP,
            (STRAIGHT, Via::Router | Via::Endpoint) => BY_ROUTER,
            (phase, _) => phase,
        };
        let third = self.group_by(phase, flight.via);
        let joins = |other| self.paths.joins(at.group, other, here.links());
        if !joins(group) || !joins(third) {
            return self.paths.follow(flight, here);
        }
        let minimal = self.paths.to_endpoint(at, flight.destination, false, here);
        let other = self.detour((phase, flight.via), (at, to), flight, false, here);
        let leaves = |port| self.dragonfly().is_global(port);
        if !leaves(minimal.port) || !leaves(other.port) {
            return self.paths.follow(flight, here);
        }
        self.choose((minimal, other), (at, to), flight, here)
    }

    /// The first port of a packet to a group to which no link is left.
    fn around(&self, flight: &mut Flight, here: &mut dyn Here) -> PortId {
        self.paths.go_straight(flight, here);
        self.paths.follow(flight, here)
    }

    /// Load of the first port of a path whose phase `flight` has, by the measure.
    fn measure(&self, flight: &Flight, port: PortId, here: &mut dyn Here) -> u64 {
        let hop = self.hop(&mut { *flight }, port, here);
        self.params.measure.of(hop, here).into()
    }

    /// One random Valiant path; None if it is the minimal one, or the network is too small to have
    /// one.
    fn draw(&self, at: Spot, to: RouterId, flight: &Flight, here: &mut dyn Here) -> Option<Detour> {
        let target = self.draw_via(at, to, here)?;
        Some(self.detour(target, (at, to), flight, true, here))
    }

    /// A Valiant path from here by way of an intermediate target. `choose`: over any link of this
    /// group; otherwise over one of this router, if it has one.
    fn detour(
        &self,
        (phase, via): (u8, u32),
        (at, to): (Spot, RouterId),
        flight: &Flight,
        choose: bool,
        here: &mut dyn Here,
    ) -> Detour {
        let (way, hops) = if phase == BY_GROUP {
            let way = self.paths.to_group(at, via, choose, here);
            (way, self.paths.hops_by_group(at.router, via, way.link, to))
        } else {
            let way = self.paths.to_router(at, via, choose, here);
            (way, self.paths.hops_by_router(at.router, via, way.link, to))
        };
        let weight = match self.params.weight {
            Weight::Hops => hops,
            Weight::Times(times) => times,
        };
        let flight = Flight {
            phase,
            via,
            ..*flight
        };
        let queue = self.measure(&flight, way.port, here);
        let queue = queue.saturating_add(self.bias.flits(here));
        Detour {
            phase,
            via,
            port: way.port,
            load: queue.saturating_mul(weight.into()),
        }
    }

    /// A random intermediate target, as phase and place.
    fn draw_via(&self, at: Spot, to: RouterId, here: &mut dyn Here) -> Option<(u8, u32)> {
        let dragonfly = self.dragonfly();
        let group = dragonfly.group_of(to);
        if at.group == group {
            let via = self.paths.third_router(at.router, to, here)?;
            return Some((BY_ROUTER, via));
        }
        let Params { via, draw, .. } = self.params;
        let (phase, via) = match (via, draw) {
            (Via::Group, Groups::Third) => {
                (BY_GROUP, self.paths.third_group(at.group, group, here)?)
            }
            (Via::Group, Groups::All) => (BY_GROUP, here.pick(dragonfly.groups())),
            (Via::Router, Groups::All) => (BY_ROUTER, here.pick(dragonfly.routers())),
            (Via::Endpoint, Groups::All) => {
                let endpoint = here.pick(dragonfly.endpoints());
                (BY_ROUTER, dragonfly.router_of(endpoint))
            }
            // All routers of a group have the same number of endpoints.
            (Via::Router | Via::Endpoint, Groups::Third) => {
                let third = self.paths.third_group(at.group, group, here)?;
                let index = here.pick(dragonfly.routers_per_group());
                (BY_ROUTER, dragonfly.router(third, index))
            }
        };
        let via_group = self.group_by(phase, via);
        let seen = here.links();
        let leads =
            self.paths.joins(at.group, via_group, seen) && self.paths.joins(via_group, group, seen);
        (via_group != at.group && leads).then_some((phase, via))
    }

    /// The group of an intermediate target, given as phase and place.
    fn group_by(&self, phase: u8, via: u32) -> u32 {
        match phase {
            BY_GROUP => via,
            _ => self.dragonfly().group_of(via),
        }
    }

    /// The hop by `port`, counted in `flight`.
    fn hop(&self, flight: &mut Flight, port: PortId, here: &dyn Here) -> Hop {
        match self.params.vcs {
            Channels::Shared => self.paths.hop(flight, port),
            Channels::Separate => self.paths.hop_apart(flight, port, self.locals, here),
        }
    }
}

impl Routing for Ugal {
    fn vcs(&self, kind: LinkKind) -> u8 {
        match kind {
            LinkKind::TERMINAL => 1,
            Dragonfly::LOCAL => self.locals,
            _ => 2,
        }
    }

    fn route(&self, flight: &mut Flight, here: &mut dyn Here) -> Hop {
        let port = if flight.phase == NEW {
            self.decide(flight, here)
        } else if self.params.again && at_second_router_of_source_group(flight) {
            self.choose_again(flight, here)
        } else {
            self.paths.follow(flight, here)
        };
        self.hop(flight, port, here)
    }

    fn is_adaptive(&self) -> bool {
        true
    }

    fn max_routers(&self) -> u32 {
        let dragonfly = self.dragonfly();
        let by_router = self.params.via != Via::Group;
        // By way of a router of the destination's group.
        let two = dragonfly.groups() == 2 && dragonfly.routers_per_group() > 1;
        match two && by_router && self.params.draw == Groups::All {
            true => 5,
            false => self.paths.most_routers(2, 2 + u32::from(by_router)),
        }
    }

    fn heed(&mut self, outages: &Arc<Outages>) {
        self.paths.heed(outages);
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
    if params.again && params.vcs == Channels::Separate {
        return Err(section.refuse(Invalid::new(
            "again",
            "packets that change their minds would go back to lower virtual channels",
            "remove it, or write vcs = \"shared\"",
        )));
    }
    // Two local hops in the intermediate group, or one.
    let (first, locals) = match params.via {
        Via::Group => ([0, 1, 2], 3),
        Via::Router | Via::Endpoint => ([0, 1, 3], 4),
    };
    Ok(Box::new(Ugal {
        paths: Paths::new(section, topology, first)?,
        threshold: Margin::new(section, "threshold", params.threshold)?,
        bias: Margin::new(section, "bias", params.bias)?,
        locals,
        params,
    }))
}

/// Registry entry of UGAL-L.
pub const ENTRY: Entry<Build> = Entry {
    name: "ugal",
    summary: "Dragonfly: minimal or Valiant, whichever queue at the source's router is shorter for \
              its path length",
    source: "UGAL-L of Kim et al., ISCA 2008, section 4.1; the routing of SST in McGlohon et al., \
             section IV.B; BookSim2, src/networks/dragonfly.cpp; SST, merlin/topology/dragonfly.cc",
    examples: &[
        "",
        "measure = \"credits\", weight = 2, candidates = 1, threshold = \"30 flits\", via = \
         \"endpoint\", draw = \"all\", inside = \"minimal\", vcs = \"separate\"",
        "measure = \"output_queue\", weight = 2, candidates = 1, threshold = \"50 flits\"",
        "measure = \"output_queue\", candidates = 1, again = true",
        "again = true, via = \"endpoint\"",
        "via = \"router\", vcs = \"separate\"",
    ],
    parameters: Keys::of::<Params>(),
    build,
};
