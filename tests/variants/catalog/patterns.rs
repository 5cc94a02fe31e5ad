//! A pattern whose defaults are written out, as the resolved experiment has them, sends the same
//! messages.

use std::path::Path;

use weir::catalog::catalog;
use weir::config::Experiment;
use weir::model::{EndpointId, stream};
use weir::workload::patterns::{Members, Pattern};

/// 64 endpoints in 4 groups of 4 routers.
const NETWORK: &str = r#"
    [topology]
    kind = "dragonfly"
    endpoints_per_router = 4
    routers_per_group = 4
    global_links_per_router = 1
    groups = 4
    terminal = { bandwidth = "100 Gbps", latency = "5 ns" }
    local = { bandwidth = "100 Gbps", latency = "50 ns" }
    global = { bandwidth = "100 Gbps", latency = "1 us" }
    [routing]
    algorithm = "minimal"
    [run]
    until = "1 us"
    [[workload]]
    load = 0.1
    message = "1 flit"
"#;

/// More parameters than the examples of the catalog have.
const LISTS: [(&str, &str); 3] = [
    ("hotspot", "source_list = [1, 2], destination_list = [3]"),
    (
        "hot_background",
        r#"hot = 3, source_list = [1, 2], from = "1 us", to = "2 us""#,
    ),
    ("hot_background", r#"sources = "all""#),
];

fn load(text: &str) -> Experiment {
    Experiment::from_text("test", text, Path::new(""), &[], &catalog())
        .unwrap_or_else(|error| panic!("{error}\n{text}"))
}

/// The destinations of ten messages of each endpoint.
fn destinations(pattern: &dyn Pattern, endpoints: &[EndpointId]) -> Vec<Option<EndpointId>> {
    let mut all = Vec::new();
    for &source in endpoints {
        let mut rng = stream(3, &[u64::from(source)]);
        all.extend((0..10).map(|n| pattern.destination(source, n * 200_000, &mut rng)));
    }
    all
}

fn sent(experiment: &Experiment) -> Vec<Option<EndpointId>> {
    let chosen = &experiment.topology;
    let topology = (chosen.variant.build)(chosen).expect("a network");
    let endpoints: Vec<EndpointId> = (0..64).collect();
    let members = Members {
        endpoints: &endpoints,
        topology: &topology,
        seed: 3,
        load: 0.5,
    };
    let open = experiment.workloads[0].pattern().expect("open-loop");
    let pattern = (open.pattern.variant.build)(&open.pattern, &members).expect("good");
    destinations(&*pattern, &endpoints)
}

#[test]
fn defaults_that_are_written_out_change_nothing() {
    let registry = catalog().patterns.variants;
    let examples = registry.iter().flat_map(|variant| {
        let examples = variant.examples.iter();
        examples.map(|example| (variant.name, *example))
    });
    let mut count = 0;
    for (name, parameters) in examples.chain(LISTS) {
        let comma = if parameters.is_empty() { "" } else { ", " };
        let pattern = format!("pattern = {{ kind = {name:?}{comma}{parameters} }}");
        let given = load(&format!("{NETWORK}{pattern}"));
        let resolved = load(&given.resolved);
        assert_eq!(given.resolved, resolved.resolved);
        assert_eq!(sent(&given), sent(&resolved), "{name}: {}", given.resolved);
        count += 1;
    }
    assert!(count > LISTS.len(), "no pattern has an example");
}
