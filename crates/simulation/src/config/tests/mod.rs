//! The experiment file as a whole, against a catalogue of made-up variants.

mod good;
mod jobs;
mod presets;
mod refused;

use std::path::Path;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::Experiment;
use crate::config::Catalog;
use weir_input::registry::{Family, Keys, Variant};
use weir_input::{ConfigError, Duration, Rate, Size};
use weir_network::{queueing, routing, topology};
use weir_workload::{motifs, patterns};

/// Parameters of the made-up topology: something of every kind.
#[derive(Clone, Debug, Deserialize, Serialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct Ring {
    /// Routers of the ring.
    routers: u32,
    /// Links between routers.
    #[serde(default)]
    wire: Wire,
    /// How much the links slow down per year.
    #[serde(default = "ageing")]
    ageing: f64,
    /// A chord across the ring, if any.
    chord: Option<Wire>,
    /// Memory of a router.
    #[serde(default = "memory")]
    memory: Size,
}

#[derive(Clone, Debug, Deserialize, Serialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
struct Wire {
    latency: Duration,
    bandwidth: Rate,
}

impl Default for Wire {
    fn default() -> Self {
        Wire {
            latency: Duration(50_000),
            bandwidth: "100 Gbps".parse().expect("a bandwidth"),
        }
    }
}

fn ageing() -> f64 {
    0.0
}

fn memory() -> Size {
    Size::Bits(8 << 20)
}

#[derive(Clone, Deserialize, Serialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct Nothing {}

#[derive(Clone, Deserialize, Serialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct Shift {
    /// By how many endpoints.
    #[serde(default)]
    by: u32,
    /// A length of time or a word.
    #[serde(default)]
    every: Option<Duration>,
}

fn variant<F>(name: &'static str, parameters: Keys, build: F) -> Variant<F> {
    Variant {
        name,
        summary: "Made up.",
        source: "This test.",
        examples: &[""],
        topologies: &[],
        parameters,
        build,
    }
}

/// A routing.
fn for_topology(
    name: &'static str,
    topologies: &'static [&'static str],
    parameters: Keys,
) -> Variant<routing::Build> {
    Variant {
        topologies,
        ..variant(name, parameters, |_, _| unreachable!())
    }
}

fn family<F>(
    name: &'static str,
    section: &'static str,
    key: &'static str,
    variants: Vec<Variant<F>>,
) -> Family<F> {
    Family {
        name,
        one: name,
        section,
        key,
        variants,
    }
}

fn catalog() -> Catalog {
    let (nothing, shift) = (Keys::of::<Nothing>(), Keys::of::<Shift>());
    let topology = |name, keys| variant::<topology::Build>(name, keys, |_| unreachable!());
    let queueing = |name| variant::<queueing::Build>(name, nothing, |_, _| unreachable!());
    let scheme = |name| variant::<weir_congestion::Build>(name, nothing, |_, _| unreachable!());
    let pattern = |name, keys| variant::<patterns::Build>(name, keys, |_, _| unreachable!());
    let motif = |name, keys| variant::<motifs::Build>(name, keys, |_, _| unreachable!());
    Catalog {
        topologies: family(
            "topologies",
            "[topology]",
            "kind",
            vec![
                topology("ring", Keys::of::<Ring>()),
                topology("star", nothing),
            ],
        ),
        routings: family(
            "routings",
            "[routing]",
            "algorithm",
            vec![
                for_topology("minimal", &["ring"], nothing),
                for_topology("valiant", &["ring"], nothing),
                for_topology("minimal", &["star"], shift),
                for_topology("up", &["star"], nothing),
            ],
        ),
        queueing: family(
            "queueing",
            "[queueing]",
            "scheme",
            vec![queueing("single"), queueing("voq_sw")],
        ),
        schemes: family(
            "schemes",
            "[congestion]",
            "scheme",
            vec![scheme("none"), scheme("ecn")],
        ),
        patterns: family(
            "patterns",
            "[[workload]]",
            "pattern.kind",
            vec![pattern("uniform", nothing), pattern("shift", shift)],
        ),
        motifs: family(
            "motifs",
            "[[workload]]",
            "motif.kind",
            vec![motif("barrier", nothing), motif("pump", shift)],
        ),
        traces: family(
            "traces",
            "[[workload]]",
            "trace.format",
            weir_workload::replay::REGISTRY
                .iter()
                .map(weir_input::registry::Entry::variant)
                .collect(),
        ),
        ready: &[
            (
                "ring-12",
                "# Twelve in a ring.\nkind = \"ring\"\nrouters = 12\n",
            ),
            ("ring-bad", "kind = \"ring\"\n\nrooters = 12\n"),
            ("ring-typed", "kind = \"ring\"\nrouters = \"12\"\n"),
        ],
        ready_workloads: &[(
            "pump-8",
            "# Eight pumps.\ntasks = 8\nmotif = { kind = \"pump\", by = 3 }\nmpi = { preset = \"codes\" }\n",
        )],
        presets: &[
            (
                "far",
                "# A far shift.\n[routing]\nalgorithm = \"minimal\"\n[routing.minimal]\nby = 7\n[router]\nspeedup = 3.0\nlatency = \"7 ns\"\n",
            ),
            (
                "near",
                "[routing.minimal]\nby = 2\n[routing.valiant]\nfar = true\n[nic]\norder = \"fifo\"\n",
            ),
            ("wrong", "[router]\n\nspeed = 2.0\n"),
        ],
    }
}

/// The least that an experiment needs. Lines are counted on in the tests: add at the end only.
const LEAST: &str = "\
[topology]
kind = \"ring\"
routers = 12

[routing]
algorithm = \"minimal\"

[[workload]]
load = 0.4
message = \"4 flits\"
pattern = { kind = \"uniform\" }

[run]
until = \"500 us\"
";

fn load(text: &str, sets: &[&str]) -> Result<Experiment, ConfigError> {
    let sets: Vec<String> = sets.iter().map(|s| s.to_string()).collect();
    Experiment::from_text("jobs/demo.toml", text, Path::new("jobs"), &sets, &catalog())
}
