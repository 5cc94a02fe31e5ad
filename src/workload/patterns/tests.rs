//! What all patterns have in common.

use std::path::Path;

use proptest::prelude::*;

use super::testing::{Grouped, build};
use super::*;
use crate::catalog::catalog;
use crate::config::Experiment;
use crate::model::stream;
use crate::registry::Variant;
use crate::workload::open::draw;

/// Every pattern with its defaults where they suit small networks, and more.
const SUBJECTS: &[(&str, &str)] = &[
    ("uniform", ""),
    ("hotspot", "sources = 3\ndestinations = 2"),
    (
        "hot_background",
        "sources = 1\nhot_fraction = 0.5\nto = \"1 us\"",
    ),
    ("hot_background", "share = 0.5"),
    ("permutation", ""),
    ("permutation", "count = 3"),
    ("bit_complement", ""),
    ("transpose", ""),
    ("tornado", ""),
    ("worst_case", ""),
    ("wc_hot", "destinations = 2"),
    ("wc_hot", "choice = \"first\""),
    ("neighbor_group", ""),
    ("zipf", ""),
    ("zipf", "s = 3.0"),
    ("fixed_pairs", ""),
    ("fixed_pairs", "bidirectional = true"),
];

#[test]
fn every_pattern_is_a_subject_of_these_tests_and_documented() {
    for entry in REGISTRY {
        assert!(
            SUBJECTS.iter().any(|(name, _)| *name == entry.name),
            "{}",
            entry.name
        );
        assert_eq!(
            REGISTRY
                .iter()
                .filter(|other| other.name == entry.name)
                .count(),
            1
        );
        assert!(
            entry.summary.ends_with('.') && !entry.source.is_empty(),
            "{}",
            entry.name
        );
        let schema = serde_json::to_value((entry.parameters)()).unwrap();
        assert!(schema["description"].is_string(), "{}", entry.name);
        for (key, field) in schema["properties"].as_object().into_iter().flatten() {
            assert!(field["description"].is_string(), "{}.{key}", entry.name);
        }
    }
}

#[test]
fn the_section_names_the_pattern() {
    let topology = Grouped::network(1, 4, 1);
    let members = Members {
        endpoints: &[0, 1, 2, 3],
        topology: &topology,
        seed: 1,
        load: 0.5,
    };
    let named = |text: &str| super::build(&Section::from_toml(text).unwrap(), &members);
    assert!(named("kind = \"tornado\"").is_ok());
    let words = format!("{:?}", named("kind = \"tornada\"").err().unwrap());
    assert!(words.contains("tornado"), "{words}");
    assert!(named("").is_err());
    assert!(named("kind = \"tornado\"\nspeed = 3").is_err());
}

#[test]
fn all_patterns_work_on_a_whole_network() {
    let topology = Grouped::network(4, 4, 4);
    let all: Vec<EndpointId> = (0..64).collect();
    for (name, parameters) in SUBJECTS {
        let built = build(name, parameters, &all, &topology, 1);
        assert!(built.is_ok(), "{name}: {:?}", built.err());
    }
}

/// The text of an experiment with one workload of this pattern.
fn experiment(name: &str, parameters: &str) -> String {
    format!(
        "[topology]\nkind = \"here\"\n[routing]\nalgorithm = \"here\"\n[run]\nuntil = \"1 us\"\n\
         [[workload]]\nload = 0.1\nmessage = \"1 flit\"\n[workload.pattern]\nkind = \"{name}\"\n{parameters}\n"
    )
}

#[test]
fn a_pattern_with_its_defaults_written_out_is_the_same_pattern() {
    let here = Variant {
        name: "here",
        summary: "",
        source: "",
        examples: &[""],
        topologies: &[],
        parameters: || schemars::schema_for!(std::collections::BTreeMap<String, u32>),
    };
    let mut catalog = catalog();
    catalog.topologies.variants = vec![here];
    catalog.routings.variants = vec![here];
    let topology = Grouped::network(4, 4, 4);
    let all: Vec<EndpointId> = (0..64).collect();
    let members = Members {
        endpoints: &all,
        topology: &topology,
        seed: 3,
        load: 0.5,
    };
    let lists = [
        ("hotspot", "source_list = [1, 2]\ndestination_list = [3]"),
        (
            "hot_background",
            "hot = 3\nsource_list = [1, 2]\nfrom = \"1 us\"\nto = \"2 us\"",
        ),
        ("hot_background", "sources = \"all\""),
    ];
    for (name, parameters) in SUBJECTS.iter().chain(&lists) {
        let load = |text: &str| {
            Experiment::from_text("test", text, Path::new(""), &[], &catalog)
                .unwrap_or_else(|error| panic!("{name}: {error}\n{text}"))
        };
        let given = load(&experiment(name, parameters));
        let resolved = load(&given.resolved);
        assert_eq!(given.resolved, resolved.resolved);
        let of = |experiment: &Experiment| {
            let pattern = super::build(
                &experiment.workloads[0].pattern().unwrap().pattern,
                &members,
            )
            .unwrap();
            record(&*pattern, &all, 3)
        };
        assert_eq!(of(&given), of(&resolved), "{name}: {}", given.resolved);
    }
}

/// What `pattern` does with ten messages of each member.
fn record(pattern: &dyn Pattern, endpoints: &[EndpointId], seed: u64) -> Vec<Option<EndpointId>> {
    let mut record = Vec::new();
    for &source in endpoints {
        let mut rng = stream(seed, &[u64::from(source)]);
        record.extend((0..10).map(|n| pattern.destination(source, n * 200_000, &mut rng)));
    }
    record
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(64))]

    #[test]
    fn messages_go_to_other_members_and_to_receivers_only(
        (groups, routers, per_router) in (1u32..6, 1u32..5, 1u32..5),
        left_out in 0usize..20,
        shuffled: bool,
        seed: u64,
    ) {
        let topology = Grouped::network(groups, routers, per_router);
        let mut endpoints: Vec<EndpointId> = (0..topology.endpoints()).collect();
        if shuffled {
            draw::shuffle(&mut endpoints, &mut stream(seed, &[1]));
        }
        endpoints.truncate(endpoints.len().saturating_sub(left_out));
        for (name, parameters) in SUBJECTS {
            // A pattern may refuse these members; it must not accept them and then go wrong.
            let Ok(pattern) = build(name, parameters, &endpoints, &topology, seed) else {
                continue;
            };
            let receivers = pattern.receivers().unwrap_or_else(|| endpoints.clone());
            prop_assert!(!receivers.is_empty(), "{}", name);
            prop_assert!(receivers.iter().all(|one| endpoints.contains(one)), "{}", name);
            let record = record(&*pattern, &endpoints, seed);
            for (&source, destinations) in endpoints.iter().zip(record.chunks(10)) {
                for destination in destinations {
                    prop_assert_eq!(destination.is_some(), pattern.sends(source), "{}", name);
                    if let Some(to) = destination {
                        prop_assert!(receivers.contains(to), "{}: {} to {}", name, source, to);
                        prop_assert_ne!(*to, source, "{}", name);
                    }
                }
            }
            prop_assert!(endpoints.iter().any(|&one| pattern.sends(one)), "{}", name);
        }
    }

    #[test]
    fn the_same_seed_gives_the_same_traffic(seed: u64) {
        let topology = Grouped::network(4, 4, 4);
        let endpoints: Vec<EndpointId> = (0..64).collect();
        for (name, parameters) in SUBJECTS {
            let once = || {
                let pattern = build(name, parameters, &endpoints, &topology, seed).unwrap();
                record(&*pattern, &endpoints, seed)
            };
            prop_assert_eq!(once(), once(), "{}", name);
        }
    }
}
