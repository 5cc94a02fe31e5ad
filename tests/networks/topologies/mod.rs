//! Every existing topology, with random parameters: as a graph it agrees with its own description.

mod graph;
mod graph_loads;
mod graph_ways;
mod layouts;

use std::collections::VecDeque;

use proptest::prelude::*;
use proptest::test_runner::TestRunner;
use weir::catalog::catalog;
use weir::model::{LinkKind, NEVER};
use weir::nodes::Nodes;
use weir::partition::Partition;
use weir::topology::dragonfly::Dragonfly;
use weir::topology::{Links, Peer, Topology, search_links};

use crate::networks::routings::network;
use crate::variants::attack::draw::{Draw, FEW};

/// Networks of each kind.
const CASES: u32 = 40;

/// Routers on a shortest route from one to every other.
fn distances(topology: &dyn Topology, start: u32) -> Vec<u32> {
    let mut routers = vec![u32::MAX; topology.routers() as usize];
    routers[start as usize] = 1;
    let mut queue = VecDeque::from([start]);
    while let Some(router) = queue.pop_front() {
        for port in 0..topology.ports(router) {
            if let Peer::Router(next, _) = topology.peer(router, port)
                && routers[next as usize] == u32::MAX
            {
                routers[next as usize] = routers[router as usize] + 1;
                queue.push_back(next);
            }
        }
    }
    routers
}

/// Each peer's peer, both ends of one link, and each endpoint once.
fn check_ports(topology: &dyn Topology) -> Result<(), TestCaseError> {
    let mut endpoints = vec![0; topology.endpoints() as usize];
    for router in 0..topology.routers() {
        for port in 0..topology.ports(router) {
            let link = topology.link(router, port);
            match topology.peer(router, port) {
                Peer::Router(other, there) => {
                    prop_assert_ne!(other, router);
                    prop_assert_eq!(topology.peer(other, there), Peer::Router(router, port));
                    prop_assert_eq!(topology.link(other, there), link);
                    prop_assert_ne!(link.kind, LinkKind::TERMINAL);
                }
                Peer::Endpoint(endpoint) => {
                    prop_assert_eq!(topology.attachment(endpoint), (router, port));
                    prop_assert_eq!(link.kind, LinkKind::TERMINAL);
                    endpoints[endpoint as usize] += 1;
                }
                Peer::Unused => {}
            }
        }
    }
    prop_assert!(endpoints.iter().all(|&times| times == 1));
    Ok(())
}

/// The formulae against a count of everything.
fn check_counts(topology: &dyn Topology) -> Result<(), TestCaseError> {
    let sorted = |mut links: Vec<Links>| {
        links.sort_by_key(|links| (links.link.kind, links.link.latency));
        links
    };
    prop_assert_eq!(sorted(topology.links()), sorted(search_links(topology)));
    let ports = (0..topology.routers()).map(|router| u64::from(topology.ports(router)));
    prop_assert_eq!(topology.all_ports(), ports.sum::<u64>());
    Ok(())
}

/// Domains are a partition, and every router knows its place there.
fn check_domains(topology: &dyn Topology) -> Result<(), TestCaseError> {
    let mut seen = 0;
    let partition = Partition::new(topology, Nodes::SINGLE);
    prop_assert_eq!(partition.domains(), topology.domains());
    for domain in 0..topology.domains() {
        let routers = partition.routers(domain);
        prop_assert!(!routers.is_empty() && routers.is_sorted());
        for (index, &router) in routers.iter().enumerate() {
            prop_assert_eq!(topology.domain_of(router), domain);
            prop_assert_eq!(partition.domain_of(router), domain);
            prop_assert_eq!(partition.local_index(router), index as u32);
        }
        seen += routers.len();
    }
    prop_assert_eq!(seen, topology.routers() as usize);
    let groups: Vec<u32> = (0..topology.routers())
        .map(|router| topology.group_of(router))
        .collect();
    prop_assert!(groups.iter().all(|&group| group < topology.groups()));
    let mut lookahead = NEVER;
    for (router, port) in (0..topology.routers())
        .flat_map(|router| (0..topology.ports(router)).map(move |port| (router, port)))
    {
        if let Peer::Router(other, _) = topology.peer(router, port)
            && topology.domain_of(other) != topology.domain_of(router)
        {
            lookahead = lookahead.min(topology.link(router, port).latency);
        }
    }
    prop_assert_eq!(partition.lookahead(), lookahead);
    Ok(())
}

/// Names of kinds exist for everything that has one, and no two routers are at the same place.
fn check_names(topology: &dyn Topology) -> Result<(), TestCaseError> {
    let mut places = Vec::new();
    for router in 0..topology.routers() {
        prop_assert!(topology.router_kind(router).index() < topology.router_kinds().len());
        for port in 0..topology.ports(router) {
            let kind = topology.link(router, port).kind;
            prop_assert!(kind.index() < topology.link_kinds().len());
        }
        let place = topology.coordinates(router);
        prop_assert_eq!(place.len(), topology.axes().len());
        places.push(place);
    }
    places.sort_unstable();
    places.dedup();
    prop_assert!(topology.axes().is_empty() || places.len() == topology.routers() as usize);
    Ok(())
}

/// The lengths of shortest routes in a plane against a search; no way leads out of one. A
/// dragonfly's are over one global link at most: tests/networks/dragonfly/mod.rs.
fn check_distances(topology: &dyn Topology) -> Result<(), TestCaseError> {
    if topology.as_a::<Dragonfly>().is_some() {
        return Ok(());
    }
    let mut farthest = 0;
    for a in 0..topology.endpoints() {
        let found = distances(topology, topology.attachment(a).0);
        for b in 0..topology.endpoints() {
            let found = found[topology.attachment(b).0 as usize];
            if topology.plane_of(a) != topology.plane_of(b) {
                prop_assert_eq!(found, u32::MAX, "{} to {}, in another plane", a, b);
                continue;
            }
            let routers = topology.minimal_routers(a, b);
            prop_assert_eq!(routers, found, "{} to {}", a, b);
            farthest = farthest.max(routers);
        }
    }
    prop_assert_eq!(topology.diameter_routers(), farthest);
    Ok(())
}

#[test]
fn every_topology_is_the_graph_that_it_says() {
    for kind in &catalog().topologies.variants {
        let mut runner = TestRunner::new(ProptestConfig {
            source_file: Some(file!()),
            ..ProptestConfig::with_cases(CASES)
        });
        let sound = runner.run(&any::<u64>(), |seed| {
            let mut draw = Draw::new(seed);
            draw.integers(FEW);
            let network = (0..20_000).find_map(|_| network(&mut draw, kind));
            let network = network.unwrap_or_else(|| panic!("no small {} is drawn", kind.name));
            let checks = [
                check_ports,
                check_counts,
                check_domains,
                check_names,
                check_distances,
            ];
            for check in checks {
                check(&*network).map_err(|error| {
                    TestCaseError::fail(format!("{}: {error}", network.describe()))
                })?;
            }
            Ok(())
        });
        sound.unwrap_or_else(|e| panic!("{}: {e}", kind.name));
    }
}
