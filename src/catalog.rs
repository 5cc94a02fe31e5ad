//! Everything that an experiment file may name, in one place: the registries of all rooms.

use std::path::Path;

use crate::config::{ConfigError, Experiment, READY};
use crate::registry::{Catalog, Entry, Family, Variant};
use crate::{routing, topology, workload::patterns};

/// Schemes that need no code of their own.
const NO_SCHEME: Variant = Variant {
    name: "none",
    summary: "No congestion control: every packet goes as soon as there is room for it.",
    source: "The baseline of every comparison.",
    parameters: || schemars::schema_for!(NoParameters),
};

/// No parameters.
#[derive(schemars::JsonSchema)]
#[serde(deny_unknown_fields)]
struct NoParameters {}

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
            variants: routing::REGISTRY.iter().map(Entry::variant).collect(),
        },
        schemes: Family {
            name: "schemes",
            one: "scheme",
            section: "[congestion]",
            key: "scheme",
            variants: vec![NO_SCHEME],
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
            variants: Vec::new(),
        },
        ready: READY,
    }
}

impl Experiment {
    /// Reads, completes and checks an experiment file. `sets` are the values of `--set`: `key.path=value`.
    ///
    /// # Errors
    /// The first thing that is wrong, with its file, line, value and remedy.
    pub fn load(path: &Path, sets: &[String]) -> Result<Experiment, ConfigError> {
        Experiment::load_with(path, sets, &catalog())
    }
}
