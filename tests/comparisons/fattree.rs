//! A 4-ary 3-tree with four virtual channels against BookSim2's curve in `tests/reference/`, and
//! against the small flit-level simulator in `tests/reference/flit/src/tree.rs`. The whole
//! comparison, and why the last rows differ: docs/results/reference-fattree.md.

use std::path::Path;

use crate::comparisons::dragonfly::booksim;
use crate::support::run_plan;
use weir::catalog::catalog;
use weir::config::Experiment;
use weir::simulation::Plan;
use weir_flit::tree::{Details, Network};

const JOB: &str = "jobs/reference/booksim-fattree.toml";
const CURVE: &str = include_str!("../reference/fattree_k4n3_nca_uniform_p1.csv");
/// Cycles of warm-up, then as many measured.
const WINDOW: u64 = 1_500;

const BOOKSIM: Details = Details {
    rounds: 1,
    gap: true,
};
const IDEAL: Details = Details {
    rounds: 8,
    gap: false,
};

/// Mean packet latency, ns, and accepted load.
fn weir_at(load: f64) -> [f64; 2] {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR"));
    let text = std::fs::read_to_string(folder.join(JOB)).expect(JOB);
    // The experiment alone, without the axes and figures that follow.
    let text = text.split("\n[[axis]]").next().expect("an experiment");
    let study = |line: &&str| !line.starts_with("title") && !line.starts_with("seeds");
    let text: Vec<&str> = text.lines().filter(study).collect();
    let sets = [
        format!("workload.0.load={load}"),
        format!("run.warmup=\"{WINDOW} ns\""),
        format!("run.measure=\"{WINDOW} ns\""),
        format!("run.until=\"{} ns\"", 2 * WINDOW + 500),
    ];
    let experiment = Experiment::from_text(JOB, &text.join("\n"), folder, &sets, &catalog())
        .unwrap_or_else(|error| panic!("{}", error.render(false)));
    let plan =
        Plan::new(&experiment, None).unwrap_or_else(|error| panic!("{}", error.render(false)));
    let data = run_plan(&plan).expect("a good end").data;
    let found = data.latency.iter().find(|(name, _)| name == "message");
    let latency = found.expect("a class").1.arrived.mean() / 1e3;
    [latency, data.summary.accepted_load]
}

fn booksim_at(load: f64) -> [f64; 2] {
    let [latency, _, accepted] = booksim(CURVE, load);
    [latency, accepted]
}

fn flits_at(load: f64, details: Details) -> [f64; 2] {
    let measured = Network::new(load, 1, details, WINDOW).run();
    [measured.packet_latency, measured.accepted]
}

/// Latencies agree to a part of `most`, and accepted loads to 2%: how many packets are generated in
/// a short window is chance.
fn check(what: &str, got: [f64; 2], expected: [f64; 2], most: f64) {
    for ((got, expected), most) in got.into_iter().zip(expected).zip([most, 0.02]) {
        let off = got / expected - 1.0;
        assert!(off.abs() < most, "{what}: {got}, expected {expected}");
    }
}

#[test]
fn four_virtual_channels_have_the_curve_of_booksim_up_to_half_of_saturation() {
    check("load 0.3", weir_at(0.3), booksim_at(0.3), 0.015);
    // Beyond that they differ, because its allocators lose cycles.
    let [[weir, _], [booksim, _]] = [weir_at(0.6), booksim_at(0.6)];
    assert!(weir < 0.9 * booksim, "{weir}, {booksim}");
}

#[test]
fn an_ideal_allocator_is_what_makes_the_difference() {
    for load in [0.3, 0.6] {
        let (booksim, weir) = (flits_at(load, BOOKSIM), flits_at(load, IDEAL));
        check("as BookSim2 has it", booksim, booksim_at(load), 0.03);
        check("without its allocators", weir, weir_at(load), 0.02);
    }
}
