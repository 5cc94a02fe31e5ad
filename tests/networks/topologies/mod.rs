//! Every existing topology, with random parameters: as a graph it agrees with its own description.

mod graph;
mod graph_loads;
mod graph_ways;
mod layouts;

use proptest::prelude::*;
use proptest::test_runner::TestRunner;
use weir::catalog::catalog;
use weir::model::NEVER;
use weir::nodes::Nodes;
use weir::partition::Partition;
use weir::topology::{Peer, Topology, analysis};

use crate::networks::routings::network;
use crate::variants::attack::draw::{Draw, FEW};

/// Networks of each kind.
const CASES: u32 = 40;

/// Every router knows its place in its domain, and the least latency between domains is known.
fn check_partition(topology: &dyn Topology) -> Result<(), TestCaseError> {
    let partition = Partition::new(topology, Nodes::SINGLE);
    prop_assert_eq!(partition.domains(), topology.domains());
    for domain in 0..topology.domains() {
        let routers = partition.routers(domain);
        prop_assert!(routers.is_sorted());
        for (index, &router) in routers.iter().enumerate() {
            prop_assert_eq!(topology.domain_of(router), domain);
            prop_assert_eq!(partition.domain_of(router), domain);
            prop_assert_eq!(partition.local_index(router), index as u32);
        }
    }
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
            let fault = |fault| TestCaseError::fail(format!("{}: {fault}", network.describe()));
            analysis::check(&*network).map_err(fault)?;
            check_partition(&*network)
        });
        sound.unwrap_or_else(|e| panic!("{}: {e}", kind.name));
    }
}
