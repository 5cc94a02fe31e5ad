//! Support for several integration tests.
#![allow(dead_code)] // each test file uses a part

pub mod attack;
mod cli;
mod experiment;
mod kept;
pub mod memory;
pub mod process;
pub mod sweeping;

#[allow(unused_imports)] // each test file uses a part
pub use cli::{Cli, Ran, difference, difference_of};
#[allow(unused_imports)]
pub use experiment::{Experiment, Nobody, assert_same, run_on, run_plan, same};
#[allow(unused_imports)]
pub use kept::{go_on_from, resume_on, run_counting, run_saving, run_sharing};

use std::sync::Arc;

use weir::config::{ConfigError, Duration, Rate, Section};
use weir::failures::Seen;
use weir::model::{Bandwidth, Flight, PortId, Rng, RouterId, below, stream};
use weir::routing::{Here, Hop, Load, Queue, Routing};
use weir::topology::LinkParams;
use weir::topology::dragonfly::{Arrangement, Dragonfly, Params};
use weir::topology::{Peer, Topology};

fn link(nanoseconds: u64) -> LinkParams {
    LinkParams {
        bandwidth: Rate(Bandwidth(100_000_000_000)),
        latency: Duration(nanoseconds * 1_000),
    }
}

/// A dragonfly with p endpoints, a routers, h global links of each and g groups; other parameters
/// as usual.
pub fn params(p: u32, a: u32, h: u32, g: u32) -> Params {
    Params {
        endpoints_per_router: p,
        routers_per_group: a,
        global_links_per_router: h,
        groups: g,
        arrangement: Arrangement::Absolute,
        links_between_groups: None,
        terminal: link(5),
        local: link(50),
        global: link(1_000),
    }
}

/// The dragonfly of [`params`].
pub fn dragonfly(p: u32, a: u32, h: u32, g: u32) -> Dragonfly {
    Dragonfly::new(&params(p, a, h, g)).expect("valid parameters")
}

/// The topology of a ready file.
pub fn ready(name: &str) -> Arc<dyn Topology> {
    let path = format!("{}/topologies/{name}.toml", env!("CARGO_MANIFEST_DIR"));
    let text = std::fs::read_to_string(&path).expect(&path);
    topology(&text).expect("a valid topology")
}

/// The topology of this table of an experiment.
pub fn topology(text: &str) -> Result<Arc<dyn Topology>, ConfigError> {
    let section = Section::from_toml(text).expect("TOML");
    let entry = weir::registry::choose(&section, weir::topology::REGISTRY).expect("a kind");
    (entry.build)(&section)
}

/// A routing of dragonflies by its name in the experiment file, with these parameters.
pub fn routing(name: &str, parameters: &str, topology: &Arc<dyn Topology>) -> Box<dyn Routing> {
    let section = Section::from_toml(parameters).expect("TOML");
    let entry = weir::routing::find("dragonfly", name).expect("registered");
    (entry.build)(&section, topology).expect("a valid routing")
}

/// A place in an idle or loaded network with real chance.
pub struct Place {
    pub router: u32,
    pub in_port: u16,
    pub rng: Rng,
    /// Backlog of every port in flits.
    pub backlog: fn(u16) -> u32,
}

impl Place {
    /// Somewhere in an idle network.
    pub fn idle(seed: u64) -> Place {
        Place {
            router: 0,
            in_port: 0,
            rng: stream(seed, &[]),
            backlog: |_| 0,
        }
    }
}

impl Here for Place {
    fn router(&self) -> u32 {
        self.router
    }
    fn in_port(&self) -> u16 {
        self.in_port
    }
    fn source(&self) -> u32 {
        0
    }
    fn job(&self) -> u16 {
        0
    }
    fn pick(&mut self, n: u32) -> u32 {
        below(&mut self.rng, n)
    }
    fn backlog(&mut self, port: u16) -> u32 {
        (self.backlog)(port)
    }
    fn queue(&mut self, _: u16) -> Queue {
        unreachable!("nothing here asks for more than the backlog")
    }
    fn load(&mut self, _: Hop) -> Load {
        unreachable!("nothing here asks for virtual channels")
    }
    fn recall(&mut self, _: u32) -> u64 {
        unreachable!("nothing here keeps words")
    }
    fn remember(&mut self, _: u32, _: u64) {
        unreachable!("nothing here keeps words")
    }
    fn flows(&mut self, _: u16) -> u32 {
        0
    }

    fn circuit(&mut self) -> Option<u16> {
        None
    }

    fn keep_circuit(&mut self, _: u16) -> bool {
        false
    }

    fn max_packet(&self) -> u32 {
        24
    }

    fn links(&self) -> Seen {
        Seen::default()
    }
}

/// The routers that a packet visits and the ports by which it leaves them.
pub fn travel(
    topology: &dyn Topology,
    routing: &dyn Routing,
    ends: (u32, u32),
    place: &mut Place,
) -> Vec<(RouterId, PortId)> {
    (place.router, place.in_port) = topology.attachment(ends.0);
    let mut flight = Flight {
        destination: ends.1,
        ..Flight::default()
    };
    let mut way = vec![];
    loop {
        let hop = routing.route(&mut flight, place);
        way.push((place.router, hop.port));
        match topology.peer(place.router, hop.port) {
            Peer::Router(router, port) => (place.router, place.in_port) = (router, port),
            end => {
                assert_eq!(end, Peer::Endpoint(ends.1));
                return way;
            }
        }
    }
}
