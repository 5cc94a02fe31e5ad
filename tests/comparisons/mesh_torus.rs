//! The 8 x 8 mesh and torus with packets of 4 flits against BookSim2's curves in
//! `tests/reference/`. The whole comparison, and why the last rows differ:
//! docs/results/reference-mesh-torus.md.

use std::path::Path;

use crate::comparisons::dragonfly::{booksim, check};
use crate::support::run_plan;
use weir::catalog::catalog;
use weir::config::Experiment;
use weir::simulation::Plan;

const JOB: &str = "jobs/reference/booksim-mesh-torus.toml";
const MESH: &str = include_str!("../reference/mesh88_dor_uniform_p4.csv");
const TORUS: &str = include_str!("../reference/torus88_dor_uniform_p4.csv");

/// Mean packet latency with and without the time in the source, ns, and accepted load, of a shorter
/// window.
fn weir_at(network: &[&str], load: f64) -> [f64; 3] {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR"));
    let text = std::fs::read_to_string(folder.join(JOB)).expect(JOB);
    // The experiment alone, without the axes and figures that follow.
    let text = text.split("\n[[axis]]").next().expect("an experiment");
    let text = text.replace("seeds = 3\n", "");
    let text = text.lines().filter(|line| !line.starts_with("title"));
    let text: Vec<&str> = text.collect();
    let window = [
        "run.warmup=\"1 us\"",
        "run.measure=\"2 us\"",
        "run.until=\"5 us\"",
    ];
    let load = format!("workload.0.load={load}");
    let sets = network.iter().chain(&window).copied().chain([&*load]);
    let sets: Vec<String> = sets.map(String::from).collect();
    let experiment = Experiment::from_text(JOB, &text.join("\n"), folder, &sets, &catalog())
        .unwrap_or_else(|error| panic!("{}", error.render(false)));
    let plan =
        Plan::new(&experiment, None).unwrap_or_else(|error| panic!("{}", error.render(false)));
    let data = run_plan(&plan).expect("a good end").data;
    let mean = |class: &str| {
        let found = data.latency.iter().find(|(name, _)| name == class);
        found.expect("a class").1.arrived.mean() / 1e3
    };
    [mean("message"), mean("network"), data.summary.accepted_load]
}

#[test]
fn the_curves_of_booksim() {
    for load in [0.1, 0.3] {
        let mesh = weir_at(&[], load);
        check(
            &format!("mesh, load {load}"),
            mesh,
            booksim(MESH, load),
            0.05,
        );
        let torus = ["topology.kind=torus", "topology.link.latency=\"2 ns\""];
        let torus = weir_at(&torus, load);
        check(
            &format!("torus, load {load}"),
            torus,
            booksim(TORUS, load),
            0.05,
        );
    }
}
