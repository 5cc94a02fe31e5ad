//! Up*/down* routing: all shortest ways that first go up, and then down.
//!
//! A router is higher if it is nearer to a root, and of two at one distance the one with the lower
//! number is. No link leads up for a packet that has gone down, so nothing waits for itself, on any
//! graph and with one virtual channel (Schroeder et al., "Autonet: a high-speed, self-configuring
//! local area network using point-to-point links", IEEE JSAC 9(8), 1991).

use std::collections::VecDeque;
use std::sync::{Arc, OnceLock};

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::ways::{Choose, arrived, graph};
use crate::routing::{Build, Here, Hop, Routing};
use crate::topology::graph::Graph;
use crate::topology::{Peer, Topology};
use weir_input::registry::{Entry, Keys};
use weir_input::{ConfigError, Section};
use weir_model::{Flight, Invalid, LinkKind, PortId, RouterId};

/// No way leads there.
const FAR: u8 = u8::MAX;
/// `flight.phase`: it has gone down.
const DOWN: u8 = 1;

/// Parameters of the routing.
#[derive(Clone, Debug, Default, Deserialize, Serialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Params {
    /// The roots, by their numbers. Default: the routers that are farthest from any with endpoints,
    /// such as the top of a tree, if all endpoints reach each other then; otherwise router 0.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub roots: Option<Vec<RouterId>>,
    /// Which of several links a packet takes.
    #[serde(default)]
    pub choose: Choose,
}

/// Distances of all routers to one, in links.
struct Legs {
    /// For packets that may still go up.
    any: Box<[u8]>,
    /// For packets that have gone down.
    down: Box<[u8]>,
}

/// Up*/down* in one graph.
struct UpDown {
    graph: Graph,
    choose: Choose,
    /// The distance of each router from the nearest root.
    levels: Box<[u32]>,
    legs: Box<[OnceLock<Legs>]>,
    longest: u32,
}

impl UpDown {
    /// With these roots. Also the first two routers with endpoints of which one does not reach the
    /// other.
    fn new(graph: Graph, choose: Choose, roots: &[RouterId]) -> Result<UpDown, [RouterId; 2]> {
        let levels = levels(&graph, roots.iter().copied());
        let legs = (0..graph.routers()).map(|_| OnceLock::new()).collect();
        let mut own = UpDown {
            graph,
            choose,
            levels,
            legs,
            longest: 0,
        };
        let homes: Vec<RouterId> = own.graph.homes().to_vec();
        for &to in &homes {
            let any = &own.legs(to).any;
            if let Some(&from) = homes.iter().find(|&&from| any[from as usize] == FAR) {
                return Err([from, to]);
            }
            let longest = homes.iter().map(|&from| any[from as usize]).max();
            own.longest = own.longest.max(longest.unwrap_or(0).into());
        }
        Ok(own)
    }

    /// True if a link from one router to another leads up.
    fn is_up(&self, from: RouterId, to: RouterId) -> bool {
        let rank = |router: RouterId| (self.levels[router as usize], router);
        rank(to) < rank(from)
    }

    fn legs(&self, to: RouterId) -> &Legs {
        self.legs[to as usize].get_or_init(|| {
            let count = self.graph.routers() as usize;
            let [mut any, mut down] = [vec![FAR; count], vec![FAR; count]];
            [any[to as usize], down[to as usize]] = [0, 0];
            // Backwards from the destination: a state is a router and whether it was come to by a
            // link up from it.
            let mut queue = VecDeque::from([(to, true), (to, false)]);
            while let Some((router, climbs)) = queue.pop_front() {
                let next = if climbs {
                    any[router as usize]
                } else {
                    down[router as usize]
                };
                let next = next.saturating_add(1);
                if next == FAR {
                    break;
                }
                for (_, other) in self.graph.neighbours(router) {
                    // From the other router here: up before anything, down before what goes down.
                    let up = self.is_up(other, router);
                    if up && climbs && any[other as usize] == FAR {
                        any[other as usize] = next;
                        queue.push_back((other, true));
                    }
                    if !up && !climbs {
                        if down[other as usize] == FAR {
                            down[other as usize] = next;
                            queue.push_back((other, false));
                        }
                        if any[other as usize] == FAR {
                            any[other as usize] = next;
                            queue.push_back((other, true));
                        }
                    }
                }
            }
            Legs {
                any: any.into(),
                down: down.into(),
            }
        })
    }
}

/// The distance of each router from the nearest of some.
fn levels(graph: &Graph, roots: impl Iterator<Item = RouterId>) -> Box<[u32]> {
    let mut levels = vec![u32::MAX; graph.routers() as usize];
    let mut queue: VecDeque<RouterId> = roots.collect();
    queue.iter().for_each(|&root| levels[root as usize] = 0);
    while let Some(router) = queue.pop_front() {
        for (_, other) in graph.neighbours(router) {
            if levels[other as usize] == u32::MAX {
                levels[other as usize] = levels[router as usize] + 1;
                queue.push_back(other);
            }
        }
    }
    levels.into()
}

impl Routing for UpDown {
    fn vcs(&self, _: LinkKind) -> u8 {
        1
    }

    fn route(&self, flight: &mut Flight, here: &mut dyn Here) -> Hop {
        let (to, _) = self.graph.attachment(flight.destination);
        let router = here.router();
        if router == to {
            return arrived(&self.graph, flight);
        }
        let Legs { any, down } = self.legs(to);
        let climbs = flight.phase != DOWN;
        let own = if climbs { any } else { down }[router as usize];
        let leads = |&(_, other): &(PortId, RouterId)| match self.is_up(router, other) {
            true => climbs && any[other as usize] < own,
            false => down[other as usize] < own,
        };
        let ports = self.graph.neighbours(router).filter(leads);
        let ports = ports.map(|(port, _)| port);
        let port = self.choose.of(ports, flight, here);
        if let Peer::Router(other, _) = self.graph.peer(router, port)
            && !self.is_up(router, other)
        {
            flight.phase = DOWN;
        }
        Hop { port, vc: 0 }
    }

    fn max_routers(&self) -> u32 {
        1 + self.longest
    }

    fn is_adaptive(&self) -> bool {
        self.choose == Choose::Adaptive
    }

    fn one_way(&self) -> bool {
        self.choose == Choose::Flow
    }
}

fn build(section: &Section, topology: &Arc<dyn Topology>) -> Result<Box<dyn Routing>, ConfigError> {
    let Params { roots, choose } = section.parse()?;
    let graph = graph(section, topology)?;
    let refuse = |what: String, remedy: String| section.refuse(Invalid::new("roots", what, remedy));
    let made = match &roots {
        None => {
            let far = levels(&graph, graph.homes().iter().copied());
            let most = far.iter().copied().max().unwrap_or(0);
            let top = (0..graph.routers()).filter(|&router| far[router as usize] == most);
            let top: Vec<RouterId> = if most == 0 { vec![0] } else { top.collect() };
            UpDown::new(graph.clone(), choose, &top).or_else(|_| UpDown::new(graph, choose, &[0]))
        }
        Some(roots) => {
            let wrong = roots.iter().find(|&&root| root >= graph.routers());
            if let Some(wrong) = wrong {
                let most = graph.routers() - 1;
                let remedy = format!("give numbers from 0 to {most}");
                return Err(refuse(format!("there is no router {wrong}"), remedy));
            }
            if roots.is_empty() {
                return Err(refuse(
                    "is empty".into(),
                    "name a router, or leave it out".into(),
                ));
            }
            UpDown::new(graph, choose, roots)
        }
    };
    let made = made.map_err(|[from, to]| {
        refuse(
            format!("no way up and then down leads from router {from} to router {to}"),
            "give one root: then there is one between any two".into(),
        )
    })?;
    Ok(Box::new(made))
}

/// Registry entry of up*/down* routing.
pub const ENTRY: Entry<Build> = Entry {
    name: "updown",
    summary: "Graphs: the shortest ways that first go up, towards a root, and then down; one \
              virtual channel.",
    source: "Schroeder et al., \"Autonet\", IEEE JSAC 9(8), 1991",
    examples: &[
        "",
        "choose = \"adaptive\"",
        "roots = [1], choose = \"flow\"",
    ],
    parameters: Keys::of::<Params>(),
    build,
};
