//! Everything that an experiment file may name, in one place: the registries of all rooms.

use std::path::Path;

use crate::config::{Catalog, Experiment, PRESETS, READY, READY_WORKLOADS};
use weir_congestion as congestion;
use weir_input::ConfigError;
use weir_input::registry::{Entry, Family};
use weir_network::{queueing, routing, topology};
use weir_workload::{motifs, patterns, replay};

/// All variants of all registries.
pub fn catalog() -> Catalog {
    Catalog {
        topologies: Family {
            name: "topologies",
            one: "topology",
            section: "[topology]",
            key: "kind",
            variants: topology::REGISTRY.iter().map(Entry::variant).collect(),
        },
        routings: Family {
            name: "routings",
            one: "routing",
            section: "[routing]",
            key: "algorithm",
            variants: routing::variants(),
        },
        queueing: Family {
            name: "queueing",
            one: "queueing scheme",
            section: "[queueing]",
            key: "scheme",
            variants: queueing::REGISTRY.iter().map(Entry::variant).collect(),
        },
        schemes: Family {
            name: "schemes",
            one: "scheme",
            section: "[congestion]",
            key: "scheme",
            variants: congestion::REGISTRY.iter().map(Entry::variant).collect(),
        },
        patterns: Family {
            name: "patterns",
            one: "pattern",
            section: "[[workload]]",
            key: "pattern.kind",
            variants: patterns::REGISTRY.iter().map(Entry::variant).collect(),
        },
        motifs: Family {
            name: "motifs",
            one: "motif",
            section: "[[workload]]",
            key: "motif.kind",
            variants: motifs::REGISTRY.iter().map(Entry::variant).collect(),
        },
        traces: Family {
            name: "traces",
            one: "format",
            section: "[[workload]]",
            key: "trace.format",
            variants: replay::REGISTRY.iter().map(Entry::variant).collect(),
        },
        ready: READY,
        ready_workloads: READY_WORKLOADS,
        presets: PRESETS,
    }
}

impl Experiment {
    /// Reads, completes and checks an experiment file. `sets` are the values of `--set`:
    /// `key.path=value`.
    ///
    /// # Errors
    /// The first thing that is wrong, with its file, line, value and remedy.
    pub fn load(path: &Path, sets: &[String]) -> Result<Experiment, ConfigError> {
        Experiment::load_with(path, sets, &catalog())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::collections::HashSet;
    use weir_input::Section;
    use weir_input::registry::choose;

    #[test]
    fn names_are_unique_and_documented() {
        for family in catalog().families() {
            let mut names = HashSet::new();
            for variant in &family.variants {
                let topologies = match variant.topologies {
                    [] => &[""],
                    some => some,
                };
                for topology in topologies {
                    let new = names.insert((variant.name, *topology));
                    assert!(new, "{} {topology} is given twice", variant.name);
                }
                assert!(!variant.summary.is_empty() && !variant.source.is_empty());
                let schema = (variant.parameters.schema)().to_value();
                let parameters = schema["properties"].as_object().into_iter().flatten();
                for (key, parameter) in parameters {
                    let documented = parameter["description"].is_string();
                    assert!(documented, "{} {}: {key}", family.one, variant.name);
                }
            }
        }
    }

    #[test]
    fn routings_are_for_topologies_that_there_are_and_every_topology_has_one() {
        let catalog = catalog();
        let kinds: Vec<&str> = catalog.topologies.variants.iter().map(|v| v.name).collect();
        for routing in &catalog.routings.variants {
            let known = routing.topologies.iter().all(|kind| kinds.contains(kind));
            assert!(known, "{}: {:?}", routing.name, routing.topologies);
        }
        for kind in kinds {
            assert!(catalog.routings_of(kind).count() > 0, "{kind}");
        }
    }

    #[test]
    fn every_ready_network_can_be_built() {
        for (name, text) in READY {
            let section = Section::from_toml(text).expect(name);
            let topology = choose(&section, topology::REGISTRY)
                .and_then(|entry| (entry.build)(&section))
                .unwrap_or_else(|e| panic!("{name}: {}", e.render(false)));
            assert!(topology.endpoints() > 0, "{name}");
        }
    }
}
