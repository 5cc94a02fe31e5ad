//! Common properties of all patterns.

use proptest::prelude::*;

use super::testing::{Grouped, build};
use super::*;
use crate::open::draw;
use weir_input::registry;
use weir_model::stream;

/// Every pattern with its defaults if they suit small networks, and more.
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
        let schema = serde_json::to_value((entry.parameters.schema)()).unwrap();
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
    let named = |text: &str| {
        let section = Section::from_toml(text).unwrap();
        (registry::choose(&section, REGISTRY)?.build)(&section, &members)
    };
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

/// Destinations of ten messages of each member under `pattern`.
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
            // A pattern may refuse these members; it must not accept them and fail later.
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
