//! What the program prints, and where.

mod support;

use serde_json::Value as Json;
use support::{Cli, Experiment};

fn busy() -> Experiment {
    Experiment::dragonfly(2, 4, 2)
        .routing("par")
        .hotspot(6, 2, 0.4)
        .with("name", "hot")
        .with("endpoints.count", 8)
        .with("endpoints.placement", "random")
        .uniform(0.5)
        .with("name", "victims")
        .with("endpoints", "rest")
        .message("30 flits")
        .until("10 us")
}

/// `weir` with these arguments, beside an experiment.
fn weir(arguments: &[&str]) -> Cli {
    Cli::weir(&busy().text(), arguments)
}

#[test]
fn json_is_one_object_with_the_keys_of_the_contract() {
    for ranks in [None, Some(3)] {
        let cli = busy().cli().arg("--json");
        let ran = match ranks {
            None => cli,
            Some(ranks) => cli.ranks(ranks),
        }
        .succeeds();
        let object: Json =
            serde_json::from_str(&ran.stdout).expect("one JSON object, nothing else");
        for key in [
            "simulated_ps",
            "packets_injected",
            "packets_delivered",
            "packets_dropped",
            "packets_in_flight",
            "packet_hops",
            "bytes_delivered",
            "offered_load",
            "accepted_load",
        ] {
            assert!(
                object["summary"][key].is_number(),
                "summary.{key} in {object:#}"
            );
        }
        for job in ["hot", "victims"] {
            for key in ["tasks", "start_ps", "finish_ps", "communication_ps"] {
                assert!(
                    object["jobs"][job][key].is_number(),
                    "jobs.{job}.{key} in {object:#}"
                );
            }
        }
        let classes = [
            "network",
            "message",
            "job.hot.network",
            "job.victims.message",
        ];
        for class in classes {
            for key in [
                "mean_ps", "p50_ps", "p90_ps", "p99_ps", "p999_ps", "max_ps", "samples",
            ] {
                let value = &object["latency"][class][key];
                assert!(value.is_number(), "latency.{class}.{key} in {object:#}");
            }
        }
    }
}

#[test]
fn json_says_what_the_result_says() {
    let ran = busy().cli().arg("--json").succeeds();
    let object: Json = serde_json::from_str(&ran.stdout).expect("JSON");
    let stored = weir::trace::read(&ran.result()).expect("a result");
    let summary = &stored.digest.summary;
    assert_eq!(
        object["summary"]["packets_injected"],
        summary.packets_injected
    );
    assert_eq!(object["summary"]["accepted_load"], summary.accepted_load);
    let network = stored.digest.class("network").expect("network");
    assert_eq!(
        object["latency"]["network"]["mean_ps"],
        network.arrived.mean_ps
    );
    assert_eq!(
        object["latency"]["network"]["max_ps"],
        network.arrived.max_ps
    );
}

#[test]
fn progress_and_logs_go_to_standard_error() {
    let ran = busy().cli().arg("--json").arg("-v").succeeds();
    assert!(serde_json::from_str::<Json>(&ran.stdout).is_ok());
    assert!(ran.stderr.contains("running"), "{}", ran.stderr);
}

#[test]
fn quiet_says_nothing_on_standard_error() {
    let ran = busy().cli().arg("--quiet").succeeds();
    assert_eq!(ran.stderr, "");
    assert!(ran.stdout.contains("result.h5"));
}

#[test]
fn a_run_writes_its_result_and_nothing_else() {
    let cli = busy().cli();
    let folder = cli.folder().to_path_buf();
    let names = |path: &std::path::Path| {
        let files = std::fs::read_dir(path).expect("a directory");
        let names = files.map(|file| {
            file.expect("a file")
                .file_name()
                .into_string()
                .expect("UTF-8")
        });
        let mut names: Vec<String> = names.collect();
        names.sort();
        names
    };
    let ran = cli.succeeds();
    assert_eq!(names(&folder), ["experiment.toml", "out"]);
    assert_eq!(names(&ran.out()), ["result.h5"]);
}

#[test]
fn list_names_everything_there_is() {
    let all = weir(&["list"]).succeeds();
    for family in weir::catalog::catalog().families() {
        let one = weir(&["list", family.name]).succeeds();
        for variant in &family.variants {
            assert!(all.stdout.contains(variant.name), "{}", variant.name);
            assert!(one.stdout.contains(variant.name), "{}", variant.name);
            let shown = weir(&["list", family.name, variant.name]).succeeds();
            let schema = (variant.parameters)().to_value();
            for (key, _) in schema["properties"].as_object().into_iter().flatten() {
                assert!(shown.stdout.contains(key), "{}: {key}", variant.name);
            }
        }
    }
}

#[test]
fn schema_is_json() {
    let ran = weir(&["schema"]).succeeds();
    let schema: Json = serde_json::from_str(&ran.stdout).expect("JSON");
    for section in [
        "topology",
        "routing",
        "router",
        "nic",
        "congestion",
        "workload",
        "run",
        "output",
    ] {
        assert!(schema["properties"][section].is_object(), "{section}");
    }
}

#[test]
fn inspect_tells_what_a_result_holds() {
    let cli = busy().set("output.packets", true).cli();
    let folder = cli.folder().to_path_buf();
    let ran = cli.succeeds();
    let inspect = |arguments: &[&str]| {
        let mut command = weir(&[&["inspect", "out"], arguments].concat()).command();
        let output = command.current_dir(&folder).output().expect("started");
        assert!(output.status.success());
        String::from_utf8(output.stdout).expect("UTF-8")
    };
    let text = inspect(&[]);
    for part in [
        "complete",
        "/data/packets",
        "sequence",
        "/data/ports",
        "victims",
    ] {
        assert!(text.contains(part), "{part} is not in\n{text}");
    }
    let experiment = inspect(&["--experiment"]);
    let header = weir::trace::read_header(&ran.result()).expect("a result");
    assert_eq!(experiment.trim_end(), header.experiment.trim_end());
}

#[test]
fn inspect_refuses_what_is_no_result() {
    let ran = weir(&["inspect", "experiment.toml"]).go();
    assert_eq!(ran.code, Some(2), "{}", ran.stderr);
    assert!(ran.stderr.contains("experiment.toml") && ran.stdout.is_empty());
}

#[test]
fn check_prints_an_experiment_that_gives_the_same_result() {
    let checked = Cli::check(&busy().text()).succeeds();
    assert!(
        checked.stdout.contains("# domains    9"),
        "{}",
        checked.stdout
    );
    let again = Cli::check(&checked.stdout).succeeds();
    assert_eq!(again.stdout, checked.stdout);
    let first = busy().cli().succeeds();
    let second = Cli::run(&checked.stdout).succeeds();
    assert_eq!(support::difference(&first, &second), "");
}

#[test]
fn check_leaves_nothing_behind() {
    let ran = Cli::check(&busy().text()).succeeds();
    assert!(!ran.out().exists());
}

/// One row of `/data/packets`.
struct Row {
    name: String,
    routers: usize,
    injected_ps: u64,
    delivered_ps: u64,
}

fn packets(path: &std::path::Path) -> Vec<Row> {
    let table = hdf5::File::open(path)
        .and_then(|file| file.group("data/packets"))
        .expect("packets");
    let column = |name: &str| {
        table
            .dataset(name)
            .and_then(|column| column.read_raw::<u64>())
            .expect("a column")
    };
    let (source, sequence, routers) = (column("source"), column("sequence"), column("routers"));
    let (injected, delivered) = (column("injected_ps"), column("delivered_ps"));
    let row = |at: usize| Row {
        name: format!("{}:{}", source[at], sequence[at]),
        routers: routers[at] as usize,
        injected_ps: injected[at],
        delivered_ps: delivered[at],
    };
    (0..source.len()).map(row).collect()
}

/// Picoseconds from a text in nanoseconds.
fn ps(ns: &str) -> u64 {
    let (whole, part) = ns.split_once('.').expect("three decimals");
    assert_eq!(part.len(), 3);
    format!("{whole}{part}").parse().expect("a number")
}

#[test]
fn a_watched_packet_goes_the_way_that_its_row_tells() {
    let experiment = busy().set("output.packets", true);
    let rows = packets(&experiment.cli().succeeds().result());
    assert!(rows.len() > 1_000);
    for row in rows.iter().step_by(rows.len() / 5) {
        for ranks in [1, 4] {
            let ran = experiment
                .cli()
                .ranks(ranks)
                .arg("--watch-packet")
                .arg(&row.name)
                .succeeds();
            let way: Vec<&str> = ran
                .stdout
                .lines()
                .take_while(|line| !line.is_empty())
                .collect();
            let hops = way
                .iter()
                .filter(|line| line.starts_with("router "))
                .count();
            assert_eq!(hops, row.routers, "{}", ran.stdout);
            let first: Vec<&str> = way[1].split_whitespace().collect();
            assert_eq!(first[0], "endpoint");
            assert_eq!(first[1], row.name.split(':').next().unwrap());
            assert_eq!(ps(first[6]), row.injected_ps, "{}", ran.stdout);
            let last = way.last().expect("the end");
            assert!(last.ends_with("at its endpoint"), "{last}");
            let tail = last
                .split("tail at ")
                .nth(1)
                .and_then(|rest| rest.split(' ').next());
            assert_eq!(
                ps(tail.expect("a time")),
                row.delivered_ps,
                "{}",
                ran.stdout
            );
        }
    }
}

#[test]
fn watching_changes_nothing() {
    let plain = busy().cli().succeeds();
    let watched = busy().cli().arg("--watch-packet").arg("3:1").succeeds();
    assert_eq!(support::difference(&plain, &watched), "");
}

#[test]
fn a_watched_packet_that_never_was_is_no_failure() {
    let ran = busy()
        .cli()
        .arg("--watch-packet")
        .arg("3:4000000")
        .succeeds();
    assert!(ran.stderr.contains("never injected"), "{}", ran.stderr);
}
