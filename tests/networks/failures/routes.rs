//! Routes around links and routers that are down: every routing on every topology reaches what can
//! be reached, by links that work, and cannot deadlock.

use std::collections::BTreeSet;
use std::sync::Arc;

use proptest::prelude::*;
use proptest::test_runner::TestRunner;
use weir::catalog::catalog;
use weir::failures::{FailureConfig, Outages, choose};
use weir::registry::Variant;
use weir::routing::{self, Detours, analysis::Walker};
use weir::topology::{self, Peer, Topology};

use crate::networks::routings::{TRIES, pair};
use crate::variants::attack::draw::{Draw, FEW};

/// Networks for each routing.
const CASES: u32 = 4;

/// Failures by chance: of links and routers, from the start, later, and for a while.
fn failures(draw: &mut Draw, topology: &dyn Topology) -> Vec<FailureConfig> {
    let links = ["fabric", "all"][draw.below(2)];
    let share = [0.05, 0.1, 0.3][draw.below(3)];
    let times = ["", "at = \"1 us\"", "at = \"2 us\"\nuntil = \"4 us\""][draw.below(3)];
    let text = format!("links = \"{links}\"\nshare = {share}\ndown = true\n{times}");
    let mut list = vec![toml::from_str(&text).expect("a failure")];
    if topology.routers() > 1 && draw.below(2) == 0 {
        let times = ["", "at = \"3 us\""][draw.below(2)];
        let text = format!("routers = \"all\"\ncount = 1\ndown = true\n{times}");
        list.push(toml::from_str(&text).expect("a failure"));
    }
    list
}

/// The routers that a router reaches by links that work.
fn reached(topology: &dyn Topology, works: &dyn Fn(u32, u16) -> bool, from: u32) -> BTreeSet<u32> {
    let (mut found, mut next) = (BTreeSet::from([from]), vec![from]);
    while let Some(router) = next.pop() {
        for port in 0..topology.ports(router) {
            if let Peer::Router(other, _) = topology.peer(router, port)
                && works(router, port)
                && found.insert(other)
            {
                next.push(other);
            }
        }
    }
    found
}

/// Walks all pairs in every state of the links.
fn walk(
    topology: &Arc<dyn Topology>,
    detours: &Detours,
    outages: &Outages,
    context: &str,
) -> Result<(), TestCaseError> {
    let mut walker = Walker::new(&**topology, detours).at_most(TRIES);
    for seen in outages.all_seen().filter(|seen| seen.known == seen.actual) {
        walker.set_links(seen);
        let state = seen.known;
        for source in 0..topology.endpoints() {
            let (router, port) = topology.attachment(source);
            let joined = |works: &dyn Fn(u32, u16) -> bool| reached(&**topology, works, router);
            let reached = joined(&|router, port| !outages.is_down(state, router, port));
            let always = joined(&|router, port| !outages.is_ever_down(router, port));
            for destination in 0..topology.endpoints() {
                let (there, last) = topology.attachment(destination);
                let connects = !outages.is_down(state, router, port)
                    && !outages.is_down(state, there, last)
                    && reached.contains(&there);
                let found = detours.connects(state, source, destination);
                // What is joined in one state only, by links that are down in another, may have no
                // way in the order that all states share.
                let sure = outages.states() == 1 || reached.is_subset(&always);
                prop_assert!(
                    found == connects || (!found && !sure),
                    "{source} to {destination}, {context}"
                );
                for control in [false, true] {
                    if !found || !sure {
                        continue;
                    }
                    let walked = walker.walk(source, destination, control);
                    if walked.as_ref().is_err_and(|fault| fault.is_too_large()) {
                        return Err(TestCaseError::reject("too many ways to decide"));
                    }
                    prop_assert!(walked.is_ok(), "{context}: {walked:?}");
                }
            }
        }
        if outages.states() == 1 {
            let mut used = walker.channels().into_iter();
            let dead = used.find(|one| outages.is_down(state, one.router, one.port));
            prop_assert_eq!(dead, None, "{}", context);
        }
    }
    prop_assert_eq!(walker.cycle(), None, "{}", context);
    Ok(())
}

fn is_sound(
    kind: &Variant<topology::Build>,
    variant: &Variant<routing::Build>,
    seed: u64,
) -> Result<(), TestCaseError> {
    let mut draw = Draw::new(seed);
    draw.integers(FEW);
    let (network, made) = pair(&mut draw, kind, variant);
    let list = failures(&mut draw, &*network);
    let context = format!("{} on {}: {list:?}", variant.name, network.describe());
    let chosen = choose(&list, &*network, seed);
    let chosen = chosen.map_err(|_| TestCaseError::reject("no such links"))?;
    let Some(outages) = Outages::new(&chosen, &*network) else {
        return Err(TestCaseError::reject("nothing is down"));
    };
    match Detours::new(made, &network, &outages) {
        Err(_) => Ok(()),
        Ok(detours) => walk(&network, &detours, &outages, &context),
    }
}

#[test]
fn every_routing_reaches_what_can_be_reached_and_cannot_deadlock() {
    let catalog = catalog();
    for kind in &catalog.topologies.variants {
        for variant in catalog.routings_of(kind.name) {
            let mut runner = TestRunner::new(ProptestConfig {
                source_file: Some(file!()),
                // Of a small network with few links often none is down.
                max_global_rejects: 40 * CASES,
                ..ProptestConfig::with_cases(CASES)
            });
            let sound = runner.run(&any::<u64>(), |seed| is_sound(kind, variant, seed));
            sound.unwrap_or_else(|e| panic!("{} on {}: {e}", variant.name, kind.name));
        }
    }
}
