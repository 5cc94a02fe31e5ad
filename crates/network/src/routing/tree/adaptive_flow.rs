//! Adaptive flow routing: each flow gets a path when it starts, by the number of flows on the
//! links, and keeps it.
//!
//! Birk and Zdornov, "Improving communication-phase completion times in HPC clusters through
//! congestion mitigation", SYSTOR 2009, section 4. Every destination has a *default port* at every
//! router: the one of `dmodk`. A packet that sets a flow up compares it with the *alternate ports*
//! by the number of flows on their links. If an alternate is better, the router stores it for the
//! flow in the cache of the input (`cache` flows at most). If none is, or the cache is full, the
//! flow takes the default port and nothing is stored. All packets of the flow follow; a last
//! control packet removes the entries. Control packets of other kinds take default ports.
//!
//! On the way up the alternates are all up ports (section 4.2). On the way down, which begins at
//! the first router that is above the destination, they are the horizontal ports of one direction.
//! At its first router on a level a flow chooses the side with more routers of the logical node,
//! and it never turns back. A route goes up, then level by level along one direction and down: that
//! is an order of all channels, so one virtual channel is enough.
//!
//! Ties: the default port has precedence over the alternates; among equal alternates one is drawn.
//! (The paper leaves that open.)

use std::ops::Range;
use std::sync::Arc;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::{VCS, tree_of};
use crate::routing::{Build, Circuits, Here, Hop, Routing};
use crate::topology::Topology;
use crate::topology::tree::{Step, Tree};
use weir_input::registry::{Entry, Keys};
use weir_input::{ConfigError, Section};
use weir_model::{Flight, Invalid, LinkKind, PortId};

/// Maximum number of routers of a route: they are counted in a byte.
const MOST_ROUTERS: u32 = 255;

/// Parameters of adaptive flow routing.
#[derive(Clone, Debug, Default, Deserialize, Serialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
struct Params {
    /// Flows for which an input port can keep another port than the default one. Default: any
    /// number.
    #[serde(skip_serializing_if = "Option::is_none")]
    cache: Option<u32>,
    /// Maximum horizontal hops of a flow on one level. Default: to the end of the logical node, or
    /// up to a route of 255 routers.
    #[serde(skip_serializing_if = "Option::is_none")]
    horizontal_hops: Option<u32>,
}

struct AdaptiveFlow {
    tree: Tree,
    cache: u32,
    /// Horizontal hops on one level.
    hops: u32,
}

impl AdaptiveFlow {
    /// The default port of a destination, and the alternates.
    fn ports(&self, flight: &Flight, here: &dyn Here) -> (PortId, Range<PortId>) {
        let router = here.router();
        match self.tree.step(router, flight.destination) {
            Step::Up { ports, fixed } => (fixed, ports),
            Step::Down(port) if u32::from(flight.steps) >= self.hops => (port, 0..0),
            Step::Down(port) => {
                let side = self.tree.sideways(router);
                // A flow that came from the left continues to the right.
                let right = match here.in_port() {
                    from if side.left.contains(&from) => true,
                    from if side.right.contains(&from) => false,
                    _ => 2 * side.place < side.routers - 1,
                };
                (port, if right { side.right } else { side.left })
            }
        }
    }

    /// The port of a flow that is being set up.
    fn choose(&self, flight: &Flight, here: &mut dyn Here) -> PortId {
        let (default, alternates) = self.ports(flight, here);
        let others = alternates.filter(|&port| port != default);
        let mut least = here.flows(default);
        let mut best: Vec<PortId> = Vec::new();
        for port in others {
            let flows = here.flows(port);
            if flows < least {
                best.clear();
                least = flows;
                best.push(port);
            } else if flows == least && !best.is_empty() {
                best.push(port);
            }
        }
        let chosen = match best.len() {
            0 => return default,
            1 => best[0],
            several => best[here.pick(several as u32) as usize],
        };
        match here.keep_circuit(chosen) {
            true => chosen,
            false => default,
        }
    }
}

impl Routing for AdaptiveFlow {
    fn vcs(&self, _: LinkKind) -> u8 {
        VCS
    }

    fn route(&self, flight: &mut Flight, here: &mut dyn Here) -> Hop {
        let side = self.tree.sideways(here.router());
        let sideways = |port| (side.left.start..side.right.end).contains(&port);
        let kept = flight.goes_by_circuits().then(|| here.circuit()).flatten();
        // A port that is left from another route of the flow may lead too far.
        let kept = kept.filter(|&port| u32::from(flight.steps) < self.hops || !sideways(port));
        let port = match kept {
            Some(port) => port,
            None if flight.is_setup() => self.choose(flight, here),
            None => self.ports(flight, here).0,
        };
        flight.steps = if sideways(port) { flight.steps + 1 } else { 0 };
        Hop { port, vc: 0 }
    }

    fn circuits(&self) -> Option<Circuits> {
        Some(Circuits { cache: self.cache })
    }

    fn max_routers(&self) -> u32 {
        self.tree.diameter_routers() + self.tree.horizontal_levels() * self.hops
    }
}

fn build(section: &Section, topology: &Arc<dyn Topology>) -> Result<Box<dyn Routing>, ConfigError> {
    let params: Params = section.parse()?;
    let tree = tree_of(section, topology, ENTRY.name)?;
    let levels = tree.horizontal_levels();
    let longest = tree.longest_row() - 1;
    let most = match levels {
        0 => 0,
        levels => (MOST_ROUTERS.saturating_sub(tree.diameter_routers()) / levels).min(longest),
    };
    let hops = params.horizontal_hops.unwrap_or(most).min(longest);
    if hops > most {
        return Err(section.refuse(Invalid::new(
            "horizontal_hops",
            format!(
                "routes with {hops} horizontal hops on a level visit more than {MOST_ROUTERS} \
                     routers"
            ),
            format!("write at most {most}"),
        )));
    }
    let cache = params.cache.unwrap_or(u32::MAX);
    Ok(Box::new(AdaptiveFlow { tree, cache, hops }))
}

/// Registry entry of adaptive flow routing.
pub const ENTRY: Entry<Build> = Entry {
    name: "adaptive_flow",
    summary: "Fat trees: each flow gets a way by the flows on the links when it begins, horizontal \
              links included.",
    source: "Birk and Zdornov, SYSTOR 2009, section 4",
    examples: &["", "cache = 2", "horizontal_hops = 1"],
    parameters: Keys::of::<Params>(),
    build,
};
