//! `weir compare`: differences are those of arithmetic and of the tables, and comparisons that
//! would mislead are refused.

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use serde_json::Value;
use tempfile::TempDir;

use crate::support::sweeping::{JOB, Ran, Sweep};
use crate::support::{self, Experiment};

/// `weir compare` with these arguments.
fn compare<P: AsRef<Path>>(paths: &[P], more: &[&str]) -> Ran {
    let mut command = Command::new(env!("CARGO_BIN_EXE_weir"));
    command.arg("compare").args(paths.iter().map(AsRef::as_ref));
    Ran::of(command.args(more).output().expect("it can be started"))
}

fn json<P: AsRef<Path>>(paths: &[P]) -> Value {
    let ran = compare(paths, &["--json"]).expect(0);
    serde_json::from_str(&ran.stdout).unwrap_or_else(|error| panic!("{error}: {ran:?}"))
}

/// The numbers called `metric`.
fn numbers<'a>(all: &'a Value, metric: &str) -> Vec<&'a Value> {
    let numbers = all["numbers"].as_array().expect("a list").iter();
    let found: Vec<&Value> = numbers.filter(|one| one["metric"] == metric).collect();
    assert!(!found.is_empty(), "no {metric}");
    found
}

/// The absolute difference of B in a number that exists once.
fn difference(all: &Value, metric: &str) -> f64 {
    let change = &numbers(all, metric)[0]["differences"]["B"];
    change["absolute"]
        .as_f64()
        .unwrap_or_else(|| panic!("{change}"))
}

/// One source that sends regularly to an endpoint of its router, over two terminal links.
fn lone(terminal: &str) -> Experiment {
    Experiment::dragonfly(5, 2, 1)
        .latencies(terminal, "20 ns", "100 ns")
        .traffic("hotspot", 0.1)
        .with("name", "one")
        .with("endpoints", vec![0, 1])
        .with("pattern.source_list", vec![0])
        .with("pattern.destination_list", vec![1])
        .with("injection", "periodic")
        .to_completion("5 us")
}

fn ran(experiment: &Experiment) -> support::Ran {
    experiment.cli().succeeds()
}

#[test]
fn a_longer_link_costs_what_it_is_longer() {
    let (short, long) = (ran(&lone("5 ns")), ran(&lone("7 ns")));
    let outs = [short.out(), long.out()];
    let all = json(&outs);
    // Each packet passes two terminal links.
    for class in ["network", "message", "job.one.message"] {
        for number in ["mean", "max"] {
            let metric = format!("latency.{class}.{number}");
            assert!((difference(&all, &metric) - 4.0).abs() < 1e-9, "{metric}");
            let number = numbers(&all, &metric)[0];
            let [a, b] = ["A", "B"].map(|input| number["values"][input].as_f64().expect("known"));
            let share = number["differences"]["B"]["relative"].as_f64();
            assert_eq!(share, Some((b - a) / a), "{metric}");
        }
    }
    assert_eq!(difference(&all, "latency.message.samples"), 0.0);
    let keys: Vec<&Value> = all["keys"].as_array().expect("a list").iter().collect();
    assert_eq!(keys.len(), 1, "{keys:?}");
    assert_eq!(keys[0]["key"], "topology.terminal.latency");
    assert_eq!(keys[0]["values"]["B"], "7 ns");
    assert_eq!(all["remarks"][0], "B has another network than A.");
    let said = compare(&outs, &[]).expect(0).stdout;
    let row = said
        .lines()
        .find(|line| line.contains("latency.message.mean [ns]"));
    let row = row.unwrap_or_else(|| panic!("{said}"));
    assert!(row.contains(" +4 ") || row.contains("+4.0000"), "{row}");
    assert!(
        !said.contains("messages_received"),
        "equal numbers are counted: {said}"
    );
    let whole = compare(&outs, &["--all"]).expect(0).stdout;
    assert!(whole.contains("summary.messages_received"), "{whole}");
}

#[test]
fn text_and_json_have_the_same_numbers() {
    let outs = [ran(&lone("5 ns")), ran(&lone("7 ns"))].map(|run| (run.out(), run));
    let outs = [&outs[0].0, &outs[1].0];
    let (all, said) = (json(&outs), compare(&outs, &["--all"]).expect(0).stdout);
    let mut seen = 0;
    for number in all["numbers"].as_array().expect("a list") {
        let name = match number["unit"].as_str().expect("a unit") {
            "" => format!("  {} ", number["metric"].as_str().expect("a name")),
            unit => format!("  {} [{unit}] ", number["metric"].as_str().expect("a name")),
        };
        let row = said.lines().find(|line| line.starts_with(&name));
        let row = row.unwrap_or_else(|| panic!("no row {name:?} in {said}"));
        let cells: Vec<&str> = row[name.len()..].split_whitespace().collect();
        let values = ["A", "B"].map(|input| &number["values"][input]);
        let change = &number["differences"]["B"]["absolute"];
        for (cell, value) in cells.iter().zip(values.into_iter().chain([change])) {
            match value.as_f64() {
                None => assert_eq!(*cell, "-", "{row}"),
                Some(value) => {
                    let shown: f64 = cell.parse().unwrap_or_else(|_| panic!("{cell} in {row}"));
                    assert!(
                        (shown - value).abs() <= 5e-5 * value.abs(),
                        "{value}: {row}"
                    );
                    seen += 1;
                }
            }
        }
    }
    assert!(seen > 100, "{seen} numbers");
}

#[test]
fn a_result_has_no_differences_to_itself() {
    let run = ran(&lone("5 ns"));
    let outs = [run.out(), run.result()];
    let said = compare(&outs, &[]).expect(0).stdout;
    assert!(said.contains("No differences: "), "{said}");
    assert!(said.contains("the same under /data"), "{said}");
    let all = json(&outs);
    assert_eq!(all["identical"][0]["same"], 1);
    let numbers = all["numbers"].as_array().expect("a list");
    assert!(numbers.iter().all(|number| number["same"] == true));
    // The same numbers of another port are not the same data.
    let twin = ran(&lone("5 ns")
        .with("pattern.destination_list", vec![0])
        .with("pattern.source_list", vec![1]));
    let all = json(&[run.out(), twin.out()]);
    assert_eq!(all["identical"][0]["same"], 0, "{}", all["keys"]);
}

#[test]
fn a_bounded_percentile_is_shown_as_a_bound() {
    let calm = ran(&lone("5 ns"));
    // Five links' worth of traffic for one: most messages are missing at the end.
    let storm = ran(&Experiment::dragonfly(5, 2, 1)
        .latencies("5 ns", "20 ns", "100 ns")
        .hotspot(5, 1, 1.0)
        .with("name", "one")
        .until("20 us"));
    let outs = [calm.out(), storm.out()];
    let all = json(&outs);
    let p99 = numbers(&all, "latency.message.p99")[0];
    assert!(p99["values"]["A"].is_f64(), "{p99}");
    assert!(p99["values"]["B"]["at_least"].is_f64(), "{p99}");
    assert!(p99["values"]["B"]["at_most"].is_null(), "{p99}");
    let change = &p99["differences"]["B"]["absolute"];
    assert!(change["at_least"].as_f64() > Some(0.0) && change["at_most"].is_null());
    let said = compare(&outs, &[]).expect(0).stdout;
    let row = said
        .lines()
        .find(|line| line.contains("latency.message.p99 "));
    assert!(
        row.is_some_and(|row| row.matches(">= ").count() == 3),
        "{said}"
    );
    assert!(said.contains("B has another workload than A."), "{said}");
}

/// A sweep that was run, and its directory.
fn swept(job: &str, more: &[&str]) -> (Sweep, PathBuf) {
    let sweep = Sweep::new(job);
    sweep
        .go("run", &[&["-j", "2", "--quiet"], more].concat())
        .expect(0);
    let out = sweep.out();
    (sweep, out)
}

/// A column of a table by load and seed.
fn column(out: &Path, name: &str) -> BTreeMap<(String, String), f64> {
    let text = fs::read_to_string(out.join("table.csv")).expect("a table");
    let rows: Vec<Vec<&str>> = text.lines().map(|line| line.split(',').collect()).collect();
    let at = |name: &str| {
        let mut head = rows[0].iter();
        head.position(|own| *own == name)
            .unwrap_or_else(|| panic!("{name}"))
    };
    let (load, seed, value) = (at("load"), at("seed"), at(name));
    let row = |row: &Vec<&str>| {
        let key = (row[load].to_string(), row[seed].to_string());
        (key, row[value].parse().expect("a number"))
    };
    rows[1..].iter().map(row).collect()
}

#[test]
fn sweeps_differ_by_the_paired_means_of_their_tables() {
    let (_a, first) = swept(JOB, &[]);
    let (_b, second) = swept(JOB, &["--set", "topology.global.latency=\"150 ns\""]);
    let all = json(&[&first, &second]);
    assert_eq!(all["of"], "sweeps");
    let own = column(&first, "latency.message.mean [ns]");
    let other = column(&second, "latency.message.mean [ns]");
    let found = numbers(&all, "latency.message.mean");
    assert_eq!(found.len(), 2, "one for each load");
    for number in found {
        let load = number["point"]["load"].as_str().expect("a label");
        let apart: Vec<f64> = (own.iter())
            .filter(|((own, _), _)| own == load)
            .map(|(key, value)| other[key] - value)
            .collect();
        assert_eq!(apart.len(), 3, "three seeds");
        let mean = apart.iter().sum::<f64>() / 3.0;
        let squares: f64 = apart.iter().map(|one| (one - mean).powi(2)).sum();
        // Student's t of two degrees of freedom, 97.5%.
        let half = 4.302_653 * (squares / 2.0 / 3.0).sqrt();
        let change = &number["differences"]["B"];
        let close = |value: &Value, expected: f64| {
            let value = value.as_f64().expect("a number");
            assert!(
                (value - expected).abs() < 1e-3 * expected.abs(),
                "{value} {expected}"
            );
        };
        close(&change["absolute"], mean);
        close(&change["interval"][0], mean - half);
        close(&change["interval"][1], mean + half);
        assert_eq!(change["pairs"], 3);
        // A hop over a global link costs 50 ns more, and most packets take one.
        assert!((25.0..60.0).contains(&mean), "{mean}");
        assert_eq!(change["excludes_zero"], true);
    }
    let said = compare(&[&first, &second], &[]).expect(0).stdout;
    assert!(
        said.contains("latency.message.mean [ns]") && said.contains("  *  "),
        "{said}"
    );
    assert!(!said.contains("latency.network.p90"), "{said}");
    let whole = compare(&[&first, &second], &["--all"]).expect(0).stdout;
    assert!(whole.contains("latency.network.p90"), "{whole}");
    let said = compare(&[&first, &first], &[]).expect(0).stdout;
    assert!(
        said.contains("No differences") && said.contains("6 of 6 pairs"),
        "{said}"
    );
}

#[test]
fn points_and_seeds_match_where_both_have_them() {
    let (_a, first) = swept(JOB, &[]);
    let other = JOB
        .replace("seeds = 3", "seeds = [3, 4]")
        .replace("[0.1, 0.4]", "[0.10, 0.3]");
    let (_b, second) = swept(&other, &[]);
    let all = json(&[&first, &second]);
    let alone = all["points_without_partner"].as_array().expect("a list");
    let alone: Vec<(&str, &str)> = (alone.iter())
        .map(|one| {
            (
                one["point"]["load"].as_str().expect("a label"),
                one["in"].as_str().expect("A"),
            )
        })
        .collect();
    assert_eq!(alone, [("0.4", "A"), ("0.3", "B")]);
    let found = numbers(&all, "summary.accepted_load");
    assert_eq!(found.len(), 1);
    // The same experiment with the only seed that both have.
    assert_eq!(found[0]["differences"]["B"]["absolute"], 0.0);
    assert_eq!(found[0]["differences"]["B"]["pairs"], 1);
    assert!(found[0]["differences"]["B"]["interval"].is_null());
    assert_eq!(all["identical"][0]["same"], 1);
    let said = compare(&[&first, &second], &[]).expect(0).stdout;
    for words in [
        "there is no confidence interval",
        "Seeds that A has and B lacks are left out: 1, 2.",
        "Seeds that B has and A lacks are left out: 4.",
        "Points without a partner",
    ] {
        assert!(said.contains(words), "{words}: {said}");
    }
}

#[test]
fn keys_are_those_of_the_points_that_are_compared() {
    let (_a, first) = swept(JOB, &[]);
    let (_b, second) = swept(JOB, &["--set", "nic.max_packet=\"12 flits\""]);
    let (_c, third) = swept(&JOB.replace("[0.1, 0.4]", "[0.1]"), &[]);
    let all = json(&[&first, &second, &third]);
    let remarks = all["remarks"].to_string();
    assert!(!remarks.contains("another workload"), "{remarks}");
    let keys = all["keys"].as_array().expect("a list");
    let keys: Vec<&str> = keys.iter().filter_map(|key| key["key"].as_str()).collect();
    assert_eq!(keys, ["axis load", "nic.max_packet"]);
}

/// The study with these values on its axis, and one seed.
fn named(values: &str) -> String {
    let unnamed = "name = \"load\"\nkey = \"workload.0.load\"\nvalues = [0.1, 0.4]";
    assert!(JOB.contains(unnamed));
    let axis = format!("name = \"burst\"\nvalues = [{values}]");
    JOB.replace(unnamed, &axis)
        .replace("seeds = 3", "seeds = 1")
}

fn at_load(name: &str, load: f64) -> String {
    format!("{{ label = \"{name}\", \"workload.0.load\" = {load} }}")
}

#[test]
fn keys_are_compared_point_by_point() {
    let [weak, strong] = [at_load("weak", 0.1), at_load("strong", 0.4)];
    let (_a, first) = swept(&named(&format!("{weak}, {strong}")), &[]);
    let (_b, turned) = swept(&named(&format!("{strong}, {weak}")), &[]);
    let all = json(&[&first, &turned]);
    assert!(
        !all["remarks"].to_string().contains("another workload"),
        "{all}"
    );
    let keys = all["keys"].as_array().expect("a list");
    assert_eq!(keys.len(), 1, "the axis has another order: {keys:?}");
    let [weak, strong] = [at_load("weak", 0.4), at_load("strong", 0.1)];
    let (_c, swapped) = swept(&named(&format!("{weak}, {strong}")), &[]);
    let all = json(&[&first, &turned, &swapped]);
    let remarks = all["remarks"].to_string();
    assert!(
        remarks.contains("C has another workload than A."),
        "{remarks}"
    );
    let keys = all["keys"].as_array().expect("a list");
    let load = keys
        .iter()
        .find(|key| key["key"] == "workload.uniform.load");
    let values = &load.expect("the load differs")["values"];
    let expected = serde_json::json!({ "A": "0.1, 0.4", "B": "0.1, 0.4", "C": "0.4, 0.1" });
    assert_eq!(*values, expected);
}

#[test]
fn metrics_that_one_study_lacks_are_named() {
    let metrics = "metrics = [\"ports.global.busy_share\"]";
    let (_a, first) = swept(&format!("{metrics}\n{JOB}"), &[]);
    let (_b, second) = swept(JOB, &[]);
    let said = compare(&[&first, &second], &[]).expect(0).stdout;
    let words = "Metrics that B lacks are left out: ports.global.busy_share.";
    assert!(said.contains(words), "{said}");
    let said = compare(&[&second, &first], &[]).expect(0).stdout;
    assert!(!said.contains("are left out"), "{said}");
}

#[test]
fn an_axis_with_one_value_in_each_may_differ() {
    let scheme = |name: &str| {
        let axis = "\n[[axis]]\nname = \"scheme\"\nkey = \"congestion.scheme\"\n";
        JOB.replace("seeds = 3", "seeds = 2") + axis + &format!("values = [\"{name}\"]\n")
    };
    let (_a, none) = swept(&scheme("none"), &[]);
    let (_b, ecn) = swept(&scheme("ecn"), &[]);
    let all = json(&[&none, &ecn]);
    assert_eq!(numbers(&all, "summary.accepted_load").len(), 2);
    assert_eq!(
        all["points_without_partner"].as_array().map(Vec::len),
        Some(0)
    );
    let remarks = all["remarks"].to_string();
    assert!(remarks.contains("(scheme: none and ecn)"), "{remarks}");
    // Sweeps with different axes have no partners.
    let (_c, plain) = swept(&JOB.replace("seeds = 3", "seeds = 2"), &[]);
    let refused = compare(&[&none, &plain], &[]).expect(2).stderr;
    assert!(
        refused.contains("different axes (load, scheme and load)"),
        "{refused}"
    );
}

/// Of applications loads say nothing: all is sent and received.
#[test]
fn communication_times_are_shown() {
    let job = "
        topology = { file = \"dragonfly-72\" }
        routing = { algorithm = \"minimal\" }
        run = { until = \"completion\" }
        [[workload]]
        name = \"solver\"
        motif = { kind = \"allreduce\", iterations = 2 }
        tasks = 16
    ";
    let (_a, one) = swept(job, &[]);
    let (_b, other) = swept(job, &["--set", "router.latency=\"300 ns\""]);
    let ran = compare(&[&one, &other], &[]).expect(0);
    assert!(ran.stdout.contains("jobs.solver.communication"), "{ran:?}");
}

#[test]
fn what_would_mislead_is_refused() {
    let run = ran(&lone("5 ns"));
    let (_a, sweep) = swept(&JOB.replace("seeds = 3", "seeds = 1"), &[]);
    let (_b, seed) = swept(&JOB.replace("seeds = 3", "seeds = [7]"), &[]);
    let load = JOB.replace("[0.1, 0.4]", "[0.2, 0.3]");
    let (_c, load) = swept(&load.replace("seeds = 3", "seeds = 1"), &[]);
    let folder = TempDir::new().expect("a directory");
    let refused = |paths: &[&Path], words: &str| {
        let ran = compare(paths, &[]).expect(2);
        assert!(ran.stdout.is_empty(), "{ran:?}");
        assert!(ran.stderr.contains(words), "{words}: {}", ran.stderr);
        assert!(!ran.stderr.contains("panicked"), "{}", ran.stderr);
    };
    let out = run.out();
    refused(&[&out, &sweep], "is a sweep and");
    refused(&[&sweep, &seed], "no seed in common (1 and 7)");
    refused(&[&sweep, &load], "no point in common");
    refused(&[&out, folder.path()], "holds neither a run nor a sweep");
    refused(&[&out, &folder.path().join("gone")], "gone");
    refused(&[&out], "2 values required");
    let fresh = folder.path().join("fresh");
    fs::create_dir(&fresh).expect("a directory");
    for name in ["job.toml", "sweep.toml"] {
        fs::copy(sweep.join(name), fresh.join(name)).expect("a copy");
    }
    refused(&[&sweep, &fresh], "has no point with a result");
    let mut bytes = fs::read(run.result()).expect("a result");
    let middle = bytes.len() / 2;
    bytes[middle] ^= 1;
    let damaged = folder.path().join("result.h5");
    fs::write(&damaged, bytes).expect("a file");
    refused(&[&out, &damaged], "is damaged");
    let ran = compare(&[&out, &out], &["--report", out.to_str().expect("UTF-8")]).expect(2);
    assert!(ran.stderr.contains("name another directory"), "{ran:?}");
    assert!(!out.join("report.html").exists());
}

#[test]
fn a_page_has_the_tables_and_figures() {
    let outs = [ran(&lone("5 ns")), ran(&lone("7 ns"))].map(|run| (run.out(), run));
    let folder = TempDir::new().expect("a directory");
    let page = folder.path().join("page");
    let to = page.to_str().expect("UTF-8");
    let said = compare(&[&outs[0].0, &outs[1].0], &["--report", to]).expect(0);
    assert!(
        said.stdout.ends_with("page/report.html\n"),
        "{}",
        said.stdout
    );
    let html = fs::read_to_string(page.join("report.html")).expect("a page");
    for words in [
        "topology.terminal.latency",
        "latency.message.mean [ns]",
        "B has another network",
    ] {
        assert!(html.contains(words), "{words}");
    }
    for figure in ["differences", "latency"] {
        assert!(html.contains(&format!("figure-{figure}")), "{figure}");
        assert!(page.join(format!("figures/{figure}.png")).is_file());
    }
    // The dot of the mean is the relative difference.
    let all = json(&[&outs[0].0, &outs[1].0]);
    let mean = numbers(&all, "latency.message.mean")[0];
    let share = mean["differences"]["B"]["relative"]
        .as_f64()
        .expect("known");
    let csv = fs::read_to_string(page.join("figures/differences.csv")).expect("numbers");
    let row = csv.lines().find(|line| line.starts_with("message mean,"));
    let row: Vec<&str> = row.unwrap_or_else(|| panic!("{csv}")).split(',').collect();
    assert!((row[2].parse::<f64>().expect("a number") - share * 100.0).abs() < 1e-9);
}
