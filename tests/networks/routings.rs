//! Every topology that there is, with every routing that is made for it: no route fails to arrive,
//! and none can deadlock.

use std::sync::Arc;

use proptest::prelude::*;
use proptest::test_runner::TestRunner;
use toml::Table;
use weir::catalog::catalog;
use weir::config::Section;
use weir::registry::Variant;
use weir::routing::{self, Routing, analysis::Walker};
use weir::topology::{self, Topology};

use crate::variants::attack::draw::{Draw, FEW};

/// Networks for each routing.
const CASES: u32 = 12;
/// Most endpoints: all paths between all pairs are walked.
const ENDPOINTS: u32 = 40;
/// An adaptive routing is asked with every port idle and busy.
const PORTS: u16 = 10;
/// And so at every router by every port.
const ALL_PORTS: u64 = 120;
/// Decision sequences that are tried on one network: most take a hundredth of that, a few would
/// take minutes.
pub const TRIES: u64 = 2_000_000;
/// Networks of a kind that a routing may refuse before one suits it.
const MOST_REFUSED: u32 = 30;

/// The section of a variant with parameters by chance.
fn section<F>(draw: &mut Draw, variant: &Variant<F>, percent: usize) -> Option<Section> {
    let schema = (variant.parameters.schema)().to_value();
    let mut table: Table = draw.table(&schema, percent)?;
    let candidates = schema["properties"].get("candidates").is_some();
    if candidates && (table.contains_key("via") || table.contains_key("draw")) {
        // Every place that a path could use is a choice, and candidates multiply them.
        table.insert("candidates".into(), 1.into());
    }
    let text = toml::to_string(&table).expect("TOML");
    Some(Section::from_toml(&text).expect("TOML"))
}

/// A small network of a kind; None if the parameters that were drawn make none.
pub fn network(draw: &mut Draw, kind: &Variant<topology::Build>) -> Option<Arc<dyn Topology>> {
    let network = (kind.build)(&section(draw, kind, 40)?).ok()?;
    let small = (2..=ENDPOINTS).contains(&network.endpoints())
        && network.routers() <= 3 * ENDPOINTS
        && network.all_ports() <= ALL_PORTS
        && (0..network.routers()).all(|router| network.ports(router) <= PORTS);
    small.then_some(network)
}

/// A small network of a kind with a routing, with parameters by chance.
pub fn pair(
    draw: &mut Draw,
    kind: &Variant<topology::Build>,
    variant: &Variant<routing::Build>,
) -> (Arc<dyn Topology>, Box<dyn Routing>) {
    // A routing may be for some networks of a kind only, such as meshes of two dimensions.
    let pair = (0..MOST_REFUSED).find_map(|_| {
        let small = (0..20_000).find_map(|_| network(draw, kind));
        let network = small.unwrap_or_else(|| panic!("no small {} is drawn", kind.name));
        let made = (0..1_000).find_map(|_| {
            let section = section(draw, variant, 40)?;
            (variant.build)(&section, &network).ok()
        })?;
        Some((network, made))
    });
    pair.unwrap_or_else(|| panic!("{} refuses all", variant.name))
}

fn is_sound(
    kind: &Variant<topology::Build>,
    variant: &Variant<routing::Build>,
    seed: u64,
) -> Result<(), TestCaseError> {
    let mut draw = Draw::new(seed);
    draw.integers(FEW);
    let (network, made) = pair(&mut draw, kind, variant);
    let context = format!("{} on {}", variant.name, network.describe());
    let mut walker = Walker::new(&*network, &*made).at_most(TRIES);
    let walked = walker.walk_all();
    if walked.as_ref().is_err_and(|fault| fault.is_too_large()) {
        // Many draws of one decision multiply; another network is drawn. Too many of these are a
        // failure of their own.
        return Err(TestCaseError::reject("too many ways to decide"));
    }
    prop_assert!(walked.is_ok(), "{context}: {walked:?}");
    prop_assert_eq!(walker.cycle(), None, "{}", context);
    Ok(())
}

#[test]
fn every_routing_of_every_topology_arrives_and_cannot_deadlock() {
    let catalog = catalog();
    for kind in &catalog.topologies.variants {
        for variant in catalog.routings_of(kind.name) {
            let mut runner = TestRunner::new(ProptestConfig {
                source_file: Some(file!()),
                max_global_rejects: 4 * CASES,
                ..ProptestConfig::with_cases(CASES)
            });
            let sound = runner.run(&any::<u64>(), |seed| is_sound(kind, variant, seed));
            sound.unwrap_or_else(|e| panic!("{} on {}: {e}", variant.name, kind.name));
        }
    }
}
