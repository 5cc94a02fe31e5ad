//! Output of the program: text and destination.

mod bad_input;
mod bill;
mod compare;
mod import;
mod offered;
mod pages;
mod report;
mod shell;
mod terminal;
mod watch;

use crate::support::{Cli, Experiment};
use serde_json::Value as Json;

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
            let keys = [
                "tasks",
                "start_ps",
                "over",
                "finish_at_least_ps",
                "communication_at_least_ps",
            ];
            for key in keys {
                assert!(
                    object["jobs"][job][key].is_number(),
                    "jobs.{job}.{key} in {object:#}"
                );
            }
            // Traffic that the end of the run cuts off has no finish.
            for key in ["finish_ps", "communication_ps"] {
                assert!(object["jobs"][job][key].is_null(), "jobs.{job}.{key}");
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
    let stored = weir::result::read(&ran.result()).expect("a result");
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
fn more_words_say_what_was_built_and_have_no_colours_in_a_file() {
    let ran = busy().cli().arg("-v").succeeds();
    for words in ["running", "domains on 1 ranks", "events in", "routing "] {
        assert!(ran.stderr.contains(words), "{words}: {}", ran.stderr);
    }
    assert!(!ran.stderr.contains('\u{1b}'), "{}", ran.stderr);
    assert!(!ran.stderr.contains("[workload]"), "{}", ran.stderr);
    let ran = busy().cli().arg("-vv").succeeds();
    assert!(ran.stderr.contains("[[workload]]"), "{}", ran.stderr);
}

#[test]
fn quiet_does_not_hide_warnings() {
    let alone = Experiment::dragonfly(2, 4, 2)
        .until("10 us")
        .job("lammps", 1);
    let ran = alone.cli().arg("--quiet").succeeds();
    assert!(ran.stderr.contains("sends nothing"), "{}", ran.stderr);
    assert!(!ran.stderr.contains("packet-hops"), "{}", ran.stderr);
}

#[test]
fn the_communication_time_of_applications_has_its_line() {
    let both = Experiment::dragonfly(2, 4, 2)
        .until("50 us")
        .job("allreduce", 8)
        .with("name", "md");
    let ran = both.cli().succeeds();
    let line = ran
        .stdout
        .lines()
        .find(|line| line.starts_with("comm. time"));
    assert!(line.expect(&ran.stdout).contains("md "), "{}", ran.stdout);
    assert!(!busy().cli().succeeds().stdout.contains("comm. time"));
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
            let schema = (variant.parameters.schema)().to_value();
            for (key, _) in schema["properties"].as_object().into_iter().flatten() {
                assert!(shown.stdout.contains(key), "{}: {key}", variant.name);
            }
        }
    }
}

#[test]
fn other_commands_say_in_json_what_they_say() {
    let ran = busy().cli().arg("--json").arg("--seed").arg("7").succeeds();
    let object: Json = serde_json::from_str(&ran.stdout).expect("JSON");
    let inspected = Cli::weir(
        "",
        &["inspect", &ran.result().display().to_string(), "--json"],
    );
    let inspected: Json = serde_json::from_str(&inspected.succeeds().stdout).expect("JSON");
    assert_eq!(inspected["summary"], object["summary"]);

    let text = busy().text();
    let checked = Cli::check(&text)
        .arg("--json")
        .arg("--seed")
        .arg("7")
        .succeeds();
    let checked: Json = serde_json::from_str(&checked.stdout).expect("JSON");
    assert!(checked["endpoints"].as_u64().expect("endpoints") > 0);
    let experiment = checked["experiment"].as_str().expect("TOML");
    assert!(experiment.contains("seed = 7"), "{experiment}");

    let list = Cli::weir("", &["list", "--json"]).succeeds();
    let list: Json = serde_json::from_str(&list.stdout).expect("JSON");
    assert!(list["topologies"]["variants"][0]["name"].is_string());
}

#[test]
fn a_time_on_the_clock_is_no_way_to_write_other_keys() {
    let ran = Cli::check(&busy().text())
        .arg("--max-wall")
        .arg("1 s\"\nseed = 3")
        .go();
    assert_eq!(ran.code, Some(2), "{}", ran.stderr);
    assert!(ran.stderr.contains("run.max_wall"), "{}", ran.stderr);
}

#[test]
fn more_ranks_than_domains_are_refused_before_a_forecast() {
    let asked = ["check", "experiment.toml", "--ranks", "4000000000"];
    let refused = Cli::weir(&busy().text(), &asked).go();
    assert_eq!(refused.code, Some(2), "{}", refused.stderr);
    assert!(
        refused.stderr.contains("give at most"),
        "{}",
        refused.stderr
    );
}

#[test]
fn options_that_say_nothing_or_two_things_are_refused() {
    for (options, words) in [
        (vec!["--fork-at", "1 us"], "nothing changes then"),
        (
            vec!["--seed", "5", "--set", "run.seed=6"],
            "give the same key",
        ),
        (
            vec!["--max-wall", "1 s", "--set", "run.max_wall=\"2 s\""],
            "give the same key",
        ),
    ] {
        let arguments = options.iter();
        let refused = arguments.fold(busy().cli(), |cli, one| cli.arg(one)).go();
        assert_eq!(refused.code, Some(2), "{options:?}: {}", refused.stderr);
        assert!(refused.stderr.contains(words), "{}", refused.stderr);
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
    let header = weir::result::read_header(&ran.result()).expect("a result");
    assert_eq!(experiment.trim_end(), header.experiment.trim_end());
}

#[test]
fn inspect_refuses_what_is_no_result() {
    let ran = weir(&["inspect", "experiment.toml"]).go();
    assert_eq!(ran.code, Some(2), "{}", ran.stderr);
    assert!(ran.stderr.contains("experiment.toml") && ran.stdout.is_empty());
}

#[test]
fn what_is_asked_of_a_sweep_is_asked_of_its_points() {
    let folder = tempfile::tempdir().expect("a temporary directory");
    std::fs::write(folder.path().join("job.toml"), "").expect("writes");
    let path = folder.path().to_str().expect("UTF-8");
    for command in ["inspect", "explain"] {
        let ran = weir(&[command, path]).go();
        assert_eq!(ran.code, Some(2), "{command}: {}", ran.stderr);
        assert!(
            ran.stderr.contains("name one of its points"),
            "{}",
            ran.stderr
        );
    }
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
    assert_eq!(crate::support::difference(&first, &second), "");
}

#[test]
fn check_leaves_nothing_behind() {
    let ran = Cli::check(&busy().text()).succeeds();
    assert!(!ran.out().exists());
}
