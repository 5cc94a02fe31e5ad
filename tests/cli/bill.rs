//! `weir check --bill` counts the parts of a network and what they carry.

use serde_json::Value as Json;

use crate::support::{Cli, Experiment};

const ARGUMENTS: [&str; 4] = ["check", "experiment.toml", "--no-calibration", "--bill"];

const FRONTIER: &str = r#"
[topology]
file = "frontier"
[routing]
algorithm = "shortest"
[[workload]]
name = "u"
pattern = { kind = "uniform" }
load = 0.1
message = "4 KiB"
[run]
until = "1 us"
"#;

fn bill(text: &str, more: &[&str]) -> Json {
    let arguments = [&ARGUMENTS[..], &["--json"], more].concat();
    let ran = Cli::weir(text, &arguments);
    let json: Json = serde_json::from_str(&ran.succeeds().stdout).expect("JSON");
    json["bill"].clone()
}

/// 74 groups of 128 nodes with 4 NICs, 4 links between each pair: half of the machine talks to the
/// other by 37 × 37 × 4 links of 25 GB/s, 137 TB/s.
#[test]
fn frontier_has_its_published_links_and_the_bisection_of_arithmetic() {
    let bill = bill(FRONTIER, &["--price", "router=50", "--price", "global=2"]);
    let global = bill["links"].as_array().expect("links").iter();
    let global = global.filter(|class| class["kind"] == "global");
    let count: u64 = global
        .map(|class| class["count"].as_u64().expect("a count"))
        .sum();
    assert_eq!(count, 74 * 73 / 2 * 4);
    let bytes = bill["halves"]["bandwidth_bps"]
        .as_u64()
        .expect("a bandwidth")
        / 8;
    assert_eq!(bytes, 37 * 37 * 4 * 25_000_000_000);
    assert_eq!(bill["cost"], 50.0 * (74.0 * 32.0) + 2.0 * 10_804.0);
}

#[test]
fn prices_of_other_parts_are_refused() {
    let text = Experiment::dragonfly(2, 4, 2)
        .uniform(0.1)
        .until("1 us")
        .text();
    let check = |price: &str| Cli::weir(&text, &[&ARGUMENTS[..], &["--price", price]].concat());
    let shown = check("router=50").succeeds();
    assert!(
        shown.stdout.contains("# cost       1,800 at these prices"),
        "{}",
        shown.stdout
    );
    assert!(
        shown.stdout.contains("36 routers of 7 ports"),
        "{}",
        shown.stdout
    );
    let twice = ["--price", "router=1", "--price", "router=2"];
    let twice = Cli::weir(&text, &[&ARGUMENTS[..], &twice].concat()).go();
    assert_eq!(twice.code, Some(2), "{}", twice.stderr);
    for (price, word) in [
        (
            "copper=1",
            "name one of its kinds: router, terminal, local, global",
        ),
        ("router=-1", "a number of 0 or more"),
        ("router", "router=50"),
    ] {
        let refused = check(price).go();
        assert_eq!(refused.code, Some(2), "{}", refused.stdout);
        assert!(refused.stderr.contains(word), "{}", refused.stderr);
    }
}
