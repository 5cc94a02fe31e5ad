//! Against CODES: `tests/reference/codes`. The applications themselves take seconds of an optimised
//! build: jobs/reference/codes-1056.toml, whose claims have CODES' times in them, and
//! docs/results/reference-applications.md.

use std::path::Path;

use crate::support::run_plan;
use weir::catalog::catalog;
use weir::config::Experiment;
use weir::simulation::Plan;

const JOBS: &str = include_str!("../reference/codes/jobs.csv");

/// A column of a job of a run, ns.
fn codes(run: &str, job: &str, column: &str) -> f64 {
    let mut lines = JOBS.lines().map(|line| line.split(',').collect::<Vec<_>>());
    let names = lines.next().expect("names");
    let cell = |row: &[&str], name: &str| -> String {
        let at = names.iter().position(|&other| other == name);
        row[at.expect("a column")].to_string()
    };
    let row = lines.find(|row| cell(row, "run_id") == run && cell(row, "job") == job);
    let row = row.expect("a row");
    cell(&row, column).parse().expect("a number")
}

/// The time of one packet alone, ns.
fn lone(bytes: u32, from: u32, to: u32) -> f64 {
    let text = format!(
        r#"
        [topology]
        file = "dragonfly-1056"
        arrangement = "relative"
        terminal = {{ bandwidth = "25 GiB/s", latency = "10 ns" }}
        local = {{ bandwidth = "25 GiB/s", latency = "30 ns" }}
        global = {{ bandwidth = "25 GiB/s", latency = "100 ns" }}

        [routing]
        algorithm = "minimal"

        [router]
        flit = "8 B"
        latency = "90 ns"
        switching = "store_and_forward"

        [nic]
        max_packet = "4096 B"
        acknowledge = false

        [[workload]]
        pattern = {{ kind = "fixed_pairs" }}
        endpoints = [{from}, {to}]
        load = 0.01
        injection = "periodic"
        message = "{bytes} B"
        stop = "{stop} ps"

        [run]
        until = "completion"
        "#,
        // A period: a hundred times the serialization time of the message.
        stop = u64::from(bytes) * 800 * 1_000_000_000_000 / (25 << 33),
    );
    let folder = Path::new(env!("CARGO_MANIFEST_DIR"));
    let experiment = Experiment::from_text("lone.toml", &text, folder, &[], &catalog())
        .unwrap_or_else(|error| panic!("{}", error.render(false)));
    let plan =
        Plan::new(&experiment, None).unwrap_or_else(|error| panic!("{}", error.render(false)));
    let data = run_plan(&plan).expect("a good end").data;
    let (_, latency) = &data.latency[0];
    assert_eq!(data.summary.packets_delivered, 1);
    latency.arrived.mean() / 1e3
}

#[test]
fn the_shortest_packets_take_the_same_time_to_a_tenth_of_a_nanosecond() {
    let near = |ours: f64, theirs: f64| assert!((ours - theirs).abs() <= 0.05, "{ours} {theirs}");
    let least = |run, job| codes(run, job, "lat_min_ns");
    // 8 bytes between two endpoints of a router: collective operations of LAMMPS.
    near(lone(8, 0, 1), least("lammps512_min", "lammps512"));
    // A request of 64 bytes to an endpoint of the same router, and by a local link.
    near(lone(64, 0, 1), least("incast100_min", "incast100"));
    near(lone(64, 0, 4), least("fp256_min", "fixedpairs256"));
}
