//! One shortest way for each router and destination, or the ways of a forwarding table.
//!
//! At each router a packet takes the link to one neighbour, which its destination's router decides:
//! the one with the lowest number of those nearer to it, unless the table says another. If no ways
//! could wait for each other in a circle, there is one virtual channel; otherwise the channel is
//! the number of links taken before (as in `shortest`).

use std::collections::{HashMap, HashSet};
use std::sync::Arc;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::acyclic::Acyclic;
use super::next_ports::NextPorts;
use super::ways::{MOST_LINKS, arrived, graph, nearer};
use crate::routing::{Build, Here, Hop, Routing};
use crate::topology::Topology;
use crate::topology::graph::Graph;
use weir_input::registry::{Entry, Keys};
use weir_input::{BadRow, ConfigError, Rows, Section};
use weir_model::{Flight, Invalid, LinkKind, PortId, RouterId};

/// The key of the table, which errors name.
const KEY: &str = "ways";
/// Its columns.
const COLUMNS: &str = "at,to,next";

/// Parameters of the routing.
#[derive(Clone, Debug, Default, Deserialize, Serialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Params {
    /// A forwarding table in CSV, whose first line is `at,to,next`: at router `at`, packets for
    /// endpoints of router `to` take the first link to router `next`. Names are those of the
    /// topology's table. Default: the neighbour with the lowest number on a shortest way, which is
    /// also taken where the table says nothing.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub ways: Option<WayTable>,
}

/// The text of a forwarding table.
#[derive(Clone, Debug, Deserialize, Serialize, JsonSchema)]
#[serde(transparent)]
pub struct WayTable(pub String);

/// A forwarding table.
struct Forwarding {
    next: NextPorts,
    /// Links of the longest way.
    longest: u32,
    /// True if the channel is the number of links taken before.
    by_steps: bool,
}

impl Forwarding {
    fn new(graph: Graph, ways: Option<&str>) -> Result<Forwarding, Invalid> {
        let mut table = Forwarding {
            next: NextPorts::new(graph, lowest),
            longest: 0,
            by_steps: false,
        };
        if let Some(ways) = ways {
            table.read(ways)?;
        }
        table.longest = table.walk()?;
        table.by_steps = !table.is_free_of_circles();
        if table.by_steps && table.longest > MOST_LINKS {
            return Err(Invalid::new(
                KEY,
                format!(
                    "a way has {} links, and each needs a virtual channel",
                    table.longest
                ),
                format!("give ways of at most {MOST_LINKS} links"),
            ));
        }
        Ok(table)
    }

    /// Takes over the rows of a table.
    fn read(&mut self, text: &str) -> Result<(), Invalid> {
        let graph = self.next.graph.clone();
        let names: HashMap<&str, RouterId> =
            graph.names().iter().map(String::as_str).zip(0..).collect();
        let bad = |bad: BadRow| wrong(bad.line, bad.message);
        let mut rows = Rows::new(text.as_bytes(), true);
        let (line, head) = rows.names().map_err(bad)?;
        if head.iter().collect::<Vec<_>>().join(",") != COLUMNS {
            return Err(wrong(line, "the first line is another".into()));
        }
        let mut said = HashSet::new();
        while let Some((line, record)) = rows.advance().map_err(bad)? {
            let mut routers = [0; 3];
            for (router, name) in routers.iter_mut().zip(&record) {
                let known = names.get(name).copied();
                *router =
                    known.ok_or_else(|| wrong(line, format!("there is no router {name:?}")))?;
            }
            let [router, to, next] = routers;
            let mut links = graph.neighbours(router);
            let (port, _) = links.find(|&(_, other)| other == next).ok_or_else(|| {
                let [router, next] = [&record[0], &record[2]];
                wrong(
                    line,
                    format!("no link leads from router {router:?} to {next:?}"),
                )
            })?;
            let home = self
                .next
                .home(to)
                .ok_or_else(|| wrong(line, format!("router {:?} has no endpoints", &record[1])))?;
            if router == to {
                let name = &record[0];
                return Err(wrong(line, format!("router {name:?} is at its own end")));
            }
            if !said.insert((router, home)) {
                let [router, to] = [&record[0], &record[1]];
                let what = format!("the way from router {router:?} to {to:?} is there twice");
                return Err(wrong(line, what));
            }
            self.next.set(router, home, port);
        }
        Ok(())
    }

    /// Follows the ways of all routers, since each may have a packet to send back. Returns the
    /// links of the longest, or the one that leads round and round.
    fn walk(&self) -> Result<u32, Invalid> {
        let graph = &self.next.graph;
        let (homes, count) = (graph.homes(), graph.routers());
        let mut longest = 0;
        for (home, &to) in homes.iter().enumerate() {
            for from in 0..count {
                let (mut router, mut links) = (from, 0);
                while router != to {
                    router = self.next.after(router, home).1;
                    links += 1;
                    if links > count {
                        let [from, to] = [from, to].map(|at| &graph.names()[at as usize]);
                        return Err(Invalid::new(
                            KEY,
                            format!("the way from router {from:?} to router {to:?} has no end"),
                            "lead it there",
                        ));
                    }
                }
                longest = longest.max(links);
            }
        }
        Ok(longest)
    }

    /// True if no packets in one virtual channel could wait for each other in a circle.
    fn is_free_of_circles(&self) -> bool {
        let graph = &self.next.graph;
        let number = |router, port| graph.port_number(router, port);
        let mut order = Acyclic::new(graph.all_ports() as usize);
        for (home, &to) in graph.homes().iter().enumerate() {
            for router in 0..graph.routers() {
                let (port, next) = self.next.after(router, home);
                if router == to || next == to {
                    continue;
                }
                let (on, _) = self.next.after(next, home);
                if !order.add(number(router, port), number(next, on)) {
                    return false;
                }
            }
        }
        true
    }
}

/// The port to the lowest-numbered neighbour on a shortest way.
fn lowest(graph: &Graph, router: RouterId, to: RouterId) -> PortId {
    let number = |&port: &PortId| graph.peer(router, port).router().unwrap_or(RouterId::MAX);
    let ports = nearer(graph, router, to);
    ports.min_by_key(number).unwrap_or_default()
}

fn wrong(line: u64, what: String) -> Invalid {
    let remedy = format!("the first line is {COLUMNS}, the others name routers");
    Invalid::new(KEY, format!("line {line} of the table: {what}"), remedy)
}

impl Routing for Forwarding {
    fn vcs(&self, kind: LinkKind) -> u8 {
        match kind {
            LinkKind::TERMINAL => 1,
            _ if self.by_steps => self.longest.max(1) as u8,
            _ => 1,
        }
    }

    fn route(&self, flight: &mut Flight, here: &mut dyn Here) -> Hop {
        let Some(home) = self.next.home_ahead(flight, here) else {
            return arrived(&self.next.graph, flight);
        };
        let port = self.next.port(here.router(), home);
        let vc = if self.by_steps { flight.steps } else { 0 };
        flight.steps += 1;
        Hop { port, vc }
    }

    fn max_routers(&self) -> u32 {
        1 + self.longest
    }

    fn one_way(&self) -> bool {
        true
    }
}

fn build(section: &Section, topology: &Arc<dyn Topology>) -> Result<Box<dyn Routing>, ConfigError> {
    let Params { ways } = section.parse()?;
    let graph = graph(section, topology)?;
    let ways = ways.as_ref().map(|table| table.0.as_str());
    let table = Forwarding::new(graph, ways).map_err(|invalid| section.refuse(invalid))?;
    Ok(Box::new(table))
}

/// Registry entry of forwarding tables.
pub const ENTRY: Entry<Build> = Entry {
    name: "table",
    summary: "Graphs: one way for each pair of routers, the ways of a forwarding table; one \
              virtual channel if they are free of circles, otherwise one for each link of a way.",
    source: "as the forwarding tables of InfiniBand; Dally and Seitz, IEEE TC 36(5), 1987",
    examples: &["", "ways = \"at,to,next\\n\""],
    parameters: Keys::of::<Params>(),
    build,
};
