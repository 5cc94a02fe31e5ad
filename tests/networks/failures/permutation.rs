//! htsim's permutation over a fat tree with slow links: the time that they need, and that adaptive
//! routing needs less.

use std::fs;
use std::path::Path;

use weir::result::Data;

use super::{NS, failing};
use crate::support::Experiment;

/// The permutation of htsim, whose job file it is, over its fat tree of 1,024 endpoints: `slow`
/// links go down to the first router above the leaves of the first pod.
fn permutation(routing: &str, slow: bool) -> Data {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR"));
    let job = fs::read_to_string(folder.join("jobs/failures/htsim-1024.toml")).expect("a job file");
    let mut table: toml::Table = job.parse().expect("TOML");
    let experiment = [
        "topology", "routing", "router", "nic", "failure", "workload", "run",
    ];
    table.retain(|key, _| experiment.contains(&key));
    let matrix = folder.join(MATRIX).display().to_string();
    let tree = Experiment::of(table)
        .routing(routing)
        .with("trace.file", matrix);
    match slow {
        true => tree.run().data,
        false => failing(&tree, "failure = []").run().data,
    }
}

const MATRIX: &str = "tests/traces/permutation.cm";

#[test]
fn sprayed_packets_need_the_time_of_the_slow_links() {
    // Flows into the first pod, of 64 endpoints, from others.
    let matrix = Path::new(env!("CARGO_MANIFEST_DIR")).join(MATRIX);
    let matrix = fs::read_to_string(matrix).expect("the matrix");
    let ends = matrix
        .lines()
        .filter_map(|line| line.split_once(' ')?.0.split_once("->"));
    let pod = |endpoint: &str| endpoint.parse::<u32>().expect("a number") / 64;
    assert_eq!(
        ends.filter(|(from, to)| pod(from) > 0 && pod(to) == 0)
            .count(),
        57
    );
    let data = permutation("random_up", true);
    let failures = data.failures.as_ref().expect("slow links");
    assert_eq!(failures.router.len(), 8);
    let ports = &data.ports;
    let rows = (0..8).map(|row| {
        let place = (failures.router[row], failures.port[row]);
        let mut rows = 0..ports.router.len();
        let port = rows.find(|&row| (ports.router[row], ports.port[row]) == place);
        port.expect("a port")
    });
    let rows: Vec<usize> = rows.collect();
    // 4,150 B at 25 Gbps.
    for &row in &rows {
        assert_eq!(ports.busy_ps[row], ports.packets[row] * 1_328 * NS);
    }
    // An eighth of 57 · 490 packets, with a standard deviation of 55: five of it.
    let packets: u64 = rows.iter().map(|&row| ports.packets[row]).sum();
    assert!(packets.abs_diff(57 * 490 / 8) < 275, "{packets}");
    // Nothing is dropped: the run ends when the slowest link has carried all of its packets. Three
    // links come before it and two after it, and at first and at the end packets do not come all
    // the time: 2% more.
    let longest = rows
        .iter()
        .map(|&row| ports.busy_ps[row])
        .max()
        .expect("eight links");
    let end = data.summary.simulated_ps;
    assert!(
        (longest..longest / 50 * 51).contains(&end),
        "{longest} of {end} ps"
    );
}

#[test]
fn adaptive_routing_avoids_slow_links() {
    let time = |routing, slow| permutation(routing, slow).summary.simulated_ps as f64;
    let ratio = |routing| time(routing, true) / time(routing, false);
    let (random, adaptive) = (ratio("random_up"), ratio("adaptive_up"));
    assert!(
        adaptive < 0.8 * random,
        "{adaptive} and {random} times as long"
    );
}
