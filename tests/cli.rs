//! Output of the program: text and destination.

use std::fs;
use std::path::Path;
use std::process::Command;

use crate::support::{Cli, Experiment};
use serde_json::Value as Json;
use weir::result::{Data, Job, Run, write};

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

/// Alone in the network it waits nowhere: the time of an idle router is no waiting.
#[test]
fn a_packet_waits_only_where_something_is_in_its_way() {
    let waits = |experiment: &Experiment, name: &str| -> Vec<String> {
        let ran = experiment.cli().arg("--watch-packet").arg(name).succeeds();
        let way = ran.stdout.lines().skip(1);
        let way = way.take_while(|line| !line.starts_with("head at"));
        let last = way.map(|line| line.split_whitespace().last().expect("a cell").to_string());
        last.collect()
    };
    let idle = Experiment::dragonfly(2, 4, 2)
        .until("10 us")
        .job("ping_pong", 2);
    let idle = waits(&idle, "0:0");
    assert!(
        idle.len() > 1 && idle.iter().all(|cell| cell == "-"),
        "{idle:?}"
    );
    let busy = busy().set("output.packets", true);
    let rows = packets(&busy.cli().succeeds().result());
    let late = rows
        .iter()
        .max_by_key(|row| row.delivered_ps - row.injected_ps);
    let cells = waits(&busy, &late.expect("packets").name);
    assert!(cells.iter().any(|cell| cell != "-"), "{cells:?}");
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
    assert_eq!(crate::support::difference(&plain, &watched), "");
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

/// Sets the title of a terminal, clears it, turns the direction of writing.
const EVIL: &str = "\u{1b}]0;t\u{7}\u{1b}[2J\u{9b}2J\u{202e}\rx";

/// Output of `weir` in a folder; nothing of it is obeyed by a terminal.
fn says(folder: &Path, arguments: &[&str]) -> String {
    let mut command = Command::new(env!("CARGO_BIN_EXE_weir"));
    let ran = command.args(arguments).current_dir(folder).output();
    let ran = ran.expect("it can be started");
    let text = String::from_utf8_lossy(&ran.stdout) + String::from_utf8_lossy(&ran.stderr);
    let harmful = |letter: &char| {
        let control = letter.is_control() && !matches!(letter, '\n' | '\t');
        control || matches!(letter, '\u{202a}'..='\u{202e}' | '\u{2066}'..='\u{2069}')
    };
    let found: Vec<char> = text.chars().filter(harmful).collect();
    assert!(found.is_empty(), "{found:?} in {text:?} of {arguments:?}");
    text.into_owned()
}

#[test]
fn arguments_and_names_of_files_are_not_obeyed_by_a_terminal() {
    let folder = tempfile::tempdir().expect("a directory");
    let file = format!("{EVIL}.toml");
    fs::write(folder.path().join(&file), busy().until("1 us").text()).expect("a file");
    let says = |arguments: &[&str]| says(folder.path(), arguments);
    let text = says(&["check", EVIL]);
    assert!(text.contains("\\u001b]0;t\\u0007"), "{text}");
    let set = format!("run.until={EVIL}");
    let text = says(&["check", &file, "--set", &set]);
    assert!(text.contains("U+001B"), "{text}");
    let wrong = format!("{EVIL}2.toml");
    fs::write(folder.path().join(&wrong), "run = 3").expect("a file");
    assert!(says(&["check", &wrong]).contains("\\u202e"));
    assert!(says(&["check", &format!("--{EVIL}")]).contains("\\u202e"));
    assert!(says(&["list", EVIL]).contains("\\u"));
    let out = format!("out{EVIL}");
    let text = says(&["run", &file, "--out", &out]);
    assert!(text.contains("result: out\\u001b"), "{text}");
    assert!(
        says(&["run", &file, "--set", "run.until=\"2 us\"", "--out", &out]).contains("--force")
    );
    assert!(says(&["report", EVIL]).contains("no directory"));
    assert!(says(&["sweep", "plan", &file]).contains("\\u202e"));
}

#[test]
fn results_and_sweeps_of_others_are_not_obeyed_by_a_terminal() {
    let folder = tempfile::tempdir().expect("a directory");
    let says = |arguments: &[&str]| says(folder.path(), arguments);
    let data = Data {
        jobs: vec![Job {
            name: format!("job{EVIL}"),
            ..Job::default()
        }],
        ..Data::default()
    };
    let run = Run {
        started: EVIL.into(),
        mpi_version: EVIL.into(),
        commit: Some(EVIL.into()),
        features: Some(EVIL.into()),
        command: Some(EVIL.into()),
        hosts: vec![EVIL.into()],
        stopped: Some(EVIL.into()),
        ..Run::default()
    };
    let theirs = folder.path().join("theirs");
    fs::create_dir(&theirs).expect("a directory");
    write(&theirs.join("result.h5"), &data, &run, EVIL, 1).expect("a result");
    assert!(says(&["inspect", "theirs"]).contains("started \\u001b"));
    assert!(says(&["inspect", "--experiment", "theirs"]).contains("\\u001b"));
    says(&["report", "theirs"]);
    let page = fs::read_to_string(theirs.join("report.html")).expect("a page");
    assert!(page.contains("\\u001b") && !page.contains(['\u{1b}', '\u{7}', '\u{202e}']));

    fs::write(folder.path().join("job.toml"), busy().until("1 us").text()).expect("a file");
    says(&["sweep", "run", "job.toml", "--out", "sweep"]);
    let plan = says(&["sweep", "plan", "job.toml", "--out", "sweep", "--json"]);
    let plan: Json = serde_json::from_str(&plan).expect("JSON");
    let hash = plan["points"][0]["hash"].as_str().expect("a hash");
    let point = folder.path().join("sweep/points").join(hash);
    fs::remove_file(point.join("result.h5")).expect("it was there");
    let status = fs::read_to_string(point.join("status.toml")).expect("a status");
    let evil = "\\u001b[2J\\u0007\\u202e";
    let failed = format!("state = \"failed\"\nreason = \"error\"\nmessage = \"{evil}\"");
    fs::write(
        point.join("status.toml"),
        status.replace("state = \"done\"", &failed),
    )
    .expect("a status");
    let text = says(&["sweep", "status", "job.toml", "--out", "sweep"]);
    assert!(text.contains("    \\u001b[2J\\u0007\\u202e"), "{text}");
}
