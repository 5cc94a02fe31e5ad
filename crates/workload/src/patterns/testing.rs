//! A network for tests of patterns, and counts of their destinations.

use std::sync::Arc;

use super::{Members, Pattern, REGISTRY};
use weir_input::registry;
use weir_input::{ConfigError, Section};
use weir_model::{Bandwidth, EndpointId, KindName, LinkKind, PortId, RouterId, Time};
use weir_network::topology::{Link, Peer, Topology};

/// A network for patterns: endpoints on routers in groups. It has no links between routers.
pub struct Grouped {
    groups: u32,
    routers: u32,
    endpoints: u32,
}

impl Grouped {
    /// `groups` of `routers` with `endpoints` each, all numbered in order.
    pub fn network(groups: u32, routers: u32, endpoints: u32) -> Arc<dyn Topology> {
        Arc::new(Grouped {
            groups,
            routers,
            endpoints,
        })
    }
}

impl Topology for Grouped {
    fn endpoints(&self) -> u32 {
        self.groups * self.routers * self.endpoints
    }
    fn routers(&self) -> u32 {
        self.groups * self.routers
    }
    fn ports(&self, _: RouterId) -> PortId {
        self.endpoints as PortId
    }
    fn peer(&self, router: RouterId, port: PortId) -> Peer {
        Peer::Endpoint(router * self.endpoints + u32::from(port))
    }
    fn link(&self, _: RouterId, _: PortId) -> Link {
        let bandwidth = Bandwidth(100_000_000_000);
        Link {
            kind: LinkKind::TERMINAL,
            bandwidth,
            latency: 1,
        }
    }
    fn link_kinds(&self) -> &[KindName] {
        const NAMES: &[KindName] = &[KindName::Borrowed("terminal")];
        NAMES
    }
    fn attachment(&self, endpoint: EndpointId) -> (RouterId, PortId) {
        (
            endpoint / self.endpoints,
            (endpoint % self.endpoints) as PortId,
        )
    }
    fn group_of(&self, router: RouterId) -> u32 {
        router / self.routers
    }
    fn groups(&self) -> u32 {
        self.groups
    }
    fn minimal_routers(&self, _: EndpointId, _: EndpointId) -> u32 {
        1
    }
    fn diameter_routers(&self) -> u32 {
        1
    }
    fn describe(&self) -> String {
        "groups for tests".into()
    }
}

/// Builds a pattern as a run does, for a load of 0.5.
pub fn build(
    name: &str,
    parameters: &str,
    endpoints: &[EndpointId],
    topology: &Arc<dyn Topology>,
    seed: u64,
) -> Result<Box<dyn Pattern>, ConfigError> {
    build_at(0.5, name, parameters, endpoints, topology, seed)
}

fn build_at(
    load: f64,
    name: &str,
    parameters: &str,
    endpoints: &[EndpointId],
    topology: &Arc<dyn Topology>,
    seed: u64,
) -> Result<Box<dyn Pattern>, ConfigError> {
    let entry = registry::find(REGISTRY, name).expect("a registered pattern");
    let section = Section::from_toml(parameters).expect("parameters of a test");
    (entry.build)(
        &section,
        &Members {
            endpoints,
            topology,
            seed,
            load,
        },
    )
}

/// Builds a pattern for all endpoints of one group, whose load is 0.5.
pub fn flat(name: &str, parameters: &str, count: u32, seed: u64) -> Box<dyn Pattern> {
    loaded(name, parameters, count, seed, 0.5)
}

/// The same at another load.
pub fn loaded(name: &str, parameters: &str, count: u32, seed: u64, load: f64) -> Box<dyn Pattern> {
    let endpoints: Vec<EndpointId> = (0..count).collect();
    build_at(
        load,
        name,
        parameters,
        &endpoints,
        &Grouped::network(1, count, 1),
        seed,
    )
    .unwrap()
}

/// The text of the error with which a pattern refuses its parameters.
pub fn refusal(
    name: &str,
    parameters: &str,
    endpoints: &[EndpointId],
    topology: &Arc<dyn Topology>,
) -> String {
    match build(name, parameters, endpoints, topology, 1) {
        Ok(_) => panic!("{name} accepts {parameters:?}"),
        Err(error) => format!("{error:?} {error}"),
    }
}

/// Destinations of `messages` messages of `source` at time 0: the number to each endpoint up to
/// `endpoints`.
pub fn tally(
    pattern: &dyn Pattern,
    source: EndpointId,
    endpoints: u32,
    messages: u32,
    now: Time,
) -> Vec<u32> {
    let mut rng = weir_model::stream(99, &[u64::from(source)]);
    let mut counts = vec![0; endpoints as usize];
    for _ in 0..messages {
        let to = pattern
            .destination(source, now, &mut rng)
            .expect("a destination");
        counts[to as usize] += 1;
    }
    counts
}

/// True if `count` of `trials` is within four standard deviations of its expectation.
pub fn plausible(count: u32, trials: u32, chance: f64) -> bool {
    let expected = f64::from(trials) * chance;
    let sigma = (expected * (1.0 - chance)).sqrt();
    (f64::from(count) - expected).abs() <= 4.0 * sigma
}
