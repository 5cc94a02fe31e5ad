//! Queueing schemes: that none can deadlock under any routing, and what they do for a flow that shares links with a hot one.

use std::sync::Arc;

use weir::config::Section;
use weir::queueing::refined::Refined;
use weir::queueing::{self, Queueing};
use weir::routing::analysis::Walker;
use weir::routing::{self, Routing};
use weir::topology::{self, Topology};

/// A small network of every kind.
const NETWORKS: [&str; 4] = [
    "kind = \"dragonfly\"\nendpoints_per_router = 1\nrouters_per_group = 3\nglobal_links_per_router = 1\ngroups = 4",
    "kind = \"dragonfly\"\nendpoints_per_router = 2\nrouters_per_group = 2\nglobal_links_per_router = 2\ngroups = 3",
    "kind = \"kary_ntree\"\nk = 2\nn = 3",
    "kind = \"folded_clos\"\nradix = 4\nlevels = 2",
];

const LINKS: &str = "bandwidth = \"100 Gbps\", latency = \"10 ns\"";

/// The network of a text, which gets links of every kind that it can have.
fn network(text: &str) -> Arc<dyn Topology> {
    let kinds: &[&str] = match text.contains("dragonfly") {
        true => &["terminal", "local", "global"],
        _ if text.contains("n = 3") => &["terminal", "local", "global"],
        false => &["terminal", "global"],
    };
    let links = kinds.iter().map(|kind| format!("\n{kind} = {{ {LINKS} }}"));
    let section = Section::from_toml(&format!("{text}{}", links.collect::<String>()));
    let section = section.expect("TOML");
    let entry = weir::registry::choose(&section, topology::REGISTRY).expect("a kind");
    (entry.build)(&section).unwrap_or_else(|error| panic!("{}", error.render(false)))
}

/// The routings that are made for a kind of network.
fn routings(kind: &str, network: &Arc<dyn Topology>) -> Vec<(&'static str, Box<dyn Routing>)> {
    let all = routing::variants().into_iter();
    let built = all.filter(|one| one.is_for(kind)).map(|one| {
        let section = Section::from_toml(&format!("algorithm = \"{}\"", one.name)).expect("TOML");
        let entry = routing::find(kind, one.name).expect("an entry");
        let built = (entry.build)(&section, network);
        (
            one.name,
            built.unwrap_or_else(|error| panic!("{}", error.render(false))),
        )
    });
    built.collect()
}

/// Every queueing scheme, by its name.
fn schemes(network: &Arc<dyn Topology>) -> Vec<(&'static str, Box<dyn Queueing>)> {
    let built = queueing::REGISTRY.iter().map(|entry| {
        let section = Section::from_toml(&format!("scheme = \"{}\"", entry.name)).expect("TOML");
        let built = (entry.build)(&section, network);
        (
            entry.name,
            built.unwrap_or_else(|error| panic!("{}", error.render(false))),
        )
    });
    built.collect()
}

#[test]
fn no_scheme_can_deadlock_under_any_routing() {
    let mut walked = std::collections::BTreeSet::new();
    for text in NETWORKS {
        let network = network(text);
        let kind = Section::from_toml(text).expect("TOML");
        let kind = kind.kind().expect("a kind");
        for (name, routing) in routings(kind, &network) {
            for (scheme, queueing) in schemes(&network) {
                let refined = Refined {
                    topology: &*network,
                    routing: &*routing,
                    queueing: &*queueing,
                };
                let mut walker = Walker::new(&*network, &refined);
                let context = format!("{scheme} under {name} on {}", network.describe());
                let walk = walker.walk_all();
                walk.unwrap_or_else(|fault| panic!("{context}: {fault}"));
                assert_eq!(walker.cycle(), None, "{context}");
                walked.insert((kind.to_string(), name));
            }
        }
    }
    for entry in topology::REGISTRY {
        for routing in routing::variants()
            .iter()
            .filter(|one| one.is_for(entry.name))
        {
            let pair = (entry.name.to_string(), routing.name);
            assert!(walked.contains(&pair), "{pair:?} is not walked");
        }
    }
}
