//! A job that the run cuts off has no finish: its times are missing, with lower bounds, in the
//! summary, the file, JSON, the report, metrics and claims.

use std::fs;

use serde_json::Value;
use weir::result::{Job, read};

use super::estimates::after;
use crate::support::sweeping::Sweep;
use crate::support::{Cli, Experiment};

/// The same without a cap.
fn uncapped() -> Experiment {
    let mut table: toml::Table = two_milliseconds().text().parse().expect("TOML");
    let run = table.get_mut("run").and_then(toml::Value::as_table_mut);
    run.expect("a table").remove("at_most");
    Experiment::of(table)
}

/// Two tasks on one router: each computes for 1 ms twice, with a message of 8 bytes between them.
fn two_milliseconds() -> Experiment {
    let phases = r#"[
        { compute = "1 ms" },
        { send = [{ to = "1", bytes = "8 B", when = "task == 0" }], receive = [{ from = "0", when = "task == 1" }] },
        { compute = "1 ms" },
    ]"#;
    let motif: toml::Table = format!("kind = \"script\"\nphases = {}", phases.replace('\n', " "))
        .parse()
        .expect("TOML");
    Experiment::clos(4, 1)
        .job("script", 2)
        .with("name", "t")
        .with("motif", motif)
        .set("run.at_most", "500 us")
        .until("completion")
}

fn job(experiment: &Experiment, name: &str) -> Job {
    let data = experiment.run().data;
    let found = data.jobs.into_iter().find(|job| job.name == name);
    found.expect("a job")
}

#[test]
fn every_end_of_a_run_cuts_a_job_off() {
    let ends = [two_milliseconds(), uncapped().until("500 us")];
    for experiment in ends {
        let job = job(&experiment, "t");
        assert!(job.is_cut_off());
        assert_eq!(job.finish(), 500_000_000);
        assert_eq!(job.tasks.task_finish_ps, [0, 0]);
    }
    let whole = job(&two_milliseconds().set("run.at_most", "1 s"), "t");
    assert!(!whole.is_cut_off() && whole.finish() > 2_000_000_000);
    assert!(
        whole
            .tasks
            .task_finish_ps
            .iter()
            .all(|&finish| finish > 2_000_000_000)
    );
}

#[test]
fn what_is_missing_is_told_of_everywhere() {
    let ran = two_milliseconds().cli().succeeds();
    let says = "t was not over when the run ended: 2 of its 2 tasks were not done";
    let words: Vec<&str> = ran.stdout.split_whitespace().collect();
    let text = words.join(" ");
    assert!(
        text.contains(says) && text.contains("comm. time t >0 ps"),
        "{text}"
    );
    let stored = read(&ran.result()).expect("a result");
    let job = &stored.digest.jobs[0];
    assert!(job.is_cut_off());
    assert_eq!(job.finish(), 500_000_000);
    let file = hdf5::File::open(ran.result()).expect("a file");
    let group = file.group("data/jobs/t").expect("a group");
    let number = |name: &str| -> u64 {
        let attribute = group.attr(name).expect(name);
        attribute.read_scalar().expect("a number")
    };
    assert_eq!(
        (
            number("over"),
            number("finish_ps"),
            number("communication_ps")
        ),
        (0, 0, 0)
    );
    assert_eq!(number("finish_at_least_ps"), 500_000_000);
    let column = |name: &str| {
        group
            .dataset(name)
            .expect(name)
            .read_raw::<u64>()
            .expect("numbers")
    };
    assert_eq!(column("task_finish_ps"), [0, 0]);
    assert_eq!(column("task_communication_ps"), [0, 0]);
    let page = Cli::weir("", &["report", &ran.out().display().to_string()]).succeeds();
    assert!(page.code == Some(0));
    let html = fs::read_to_string(ran.out().join("report.html")).expect("a page");
    assert!(html.contains("t was not over when the run ended"), "{html}");
    let json = Cli::run(&two_milliseconds().text())
        .arg("--json")
        .succeeds();
    let json: Value = serde_json::from_str(&json.stdout).expect("JSON");
    let job = &json["jobs"]["t"];
    assert!(
        job["finish_ps"].is_null() && job["communication_ps"].is_null(),
        "{job}"
    );
    assert_eq!(
        (&job["over"], &job["finish_at_least_ps"]),
        (&0.into(), &500_000_000u64.into())
    );
    let kinds: Vec<_> = json["notes"]
        .as_array()
        .expect("notes")
        .iter()
        .map(|note| &note["kind"])
        .collect();
    assert!(kinds.contains(&&Value::from("unfinished")), "{kinds:?}");
}

/// Traffic is over when its stop is past and all that it sent has arrived.
#[test]
fn traffic_is_over_when_nothing_of_it_is_left() {
    let traffic = |stop: &str| {
        let base = Experiment::clos(4, 1).uniform(0.5).until("20 us");
        job(&base.with("stop", stop).with("name", "u"), "u")
    };
    let past = traffic("10 us");
    assert!(
        !past.is_cut_off() && (9_000_000..12_000_000).contains(&past.finish()),
        "{past:?}"
    );
    // Something is still under way at the end.
    let cut = traffic("20 us");
    assert!(cut.is_cut_off() && cut.finish() == 20_000_000, "{cut:?}");
}

/// With two tasks, the second begins its iteration later than the run ends: the iteration is not
/// over, though all that began it have ended it.
#[test]
fn an_iteration_that_some_tasks_have_not_begun_is_not_over() {
    // Task 0 is done with iteration 0 at once, task 1 computes for 1 us in each.
    let motif: toml::Table = "kind = \"script\"\nrounds = 3\n\
        phases = [{ compute = \"1 us\", when = \"task == 1\" }, { compute = \"1 ns\", when = \"task == 0\" }]"
        .parse()
        .expect("TOML");
    let rows = |until: &str| {
        let experiment = Experiment::clos(4, 1)
            .job("script", 2)
            .with("motif", motif.clone());
        let data = experiment
            .set("output.iterations", true)
            .until(until)
            .run()
            .data;
        let table = data.iterations.expect("recorded");
        table.tasks.into_iter().zip(table.ended).collect::<Vec<_>>()
    };
    assert_eq!(rows("1500 ns"), [(2, 2), (2, 1), (2, 1)]);
    assert_eq!(rows("4 us"), [(2, 2), (2, 2), (2, 2)]);
}

/// The slowdown of a job beside an incast under two bounds of the simulated time: known, or
/// missing. Alone it takes 20 us, beside it more than 100.
const STUDY: &str = r#"
topology = { file = "dragonfly-72" }
routing = { algorithm = "minimal" }
run = { until = "completion", at_most = "100 us" }
metrics = ["slowdown.victim", "jobs.victim.communication", "jobs.victim.finish"]
[[workload]]
name = "victim"
tasks = 16
placement = "random"
motif = { kind = "allreduce", iterations = 4, bytes = "128 KiB" }
[[workload]]
name = "storm"
endpoints = "rest"
background = true
repetitions = 1000
motif = { kind = "incast", iterations = 1, bytes = "256 KiB" }
[[axis]]
name = "bound"
key = "run.at_most"
values = ["100 us", "20 ms"]
[[claims]]
id = "cut"
says = "Under the short bound nothing is known."
metric = "slowdown.victim"
where = { bound = "100 us" }
max = 1.5
[[claims]]
id = "whole"
says = "The incast slows the job down."
metric = "slowdown.victim"
where = { bound = "20 ms" }
min = 2
"#;

/// The columns of a study's table whose headers begin with these names, row by row.
fn columns<const N: usize>(sweep: &Sweep, names: [&str; N]) -> Vec<[String; N]> {
    let mut table = csv::Reader::from_path(sweep.out().join("table.csv")).expect("a table");
    let head = table.headers().expect("a header").clone();
    let at = names.map(|name| {
        head.iter()
            .position(|own| own.starts_with(name))
            .expect(name)
    });
    let rows = table.records().map(|row| row.expect("a row"));
    rows.map(|row| at.map(|column| row[column].to_string()))
        .collect()
}

#[test]
fn metrics_of_a_job_that_is_cut_off_are_missing_and_claims_undecided() {
    let sweep = Sweep::new(STUDY);
    assert_eq!(sweep.go("run", &[]).code, Some(3));
    let names = [
        "slowdown.victim",
        "jobs.victim.communication",
        "jobs.victim.finish",
    ];
    let rows = columns(&sweep, names);
    assert_eq!(rows[0], ["", "", ""]);
    assert!(
        rows[1][0].parse::<f64>().expect("a number") > 5.0,
        "{rows:?}"
    );
    let claims = sweep.json("claims");
    assert!(claims[0]["holds"].is_null(), "{claims}");
    assert_eq!(claims[1]["holds"], true, "{claims}");
    let csv = sweep.read("claims.csv");
    let says = "slowdown.victim is missing at bound=100 us";
    assert!(csv.contains(",undecided,") && csv.contains(says), "{csv}");
}

/// A window that ends after a run that cut its jobs off is not whole.
#[test]
fn a_window_beyond_the_end_of_a_cut_run_is_missing() {
    let windows = ["50 us..100 us", "50 us..150 us"];
    let metrics = windows.map(|window| format!("series.job.storm.delivered_bytes.mean @ {window}"));
    let study = STUDY.replace(
        "metrics = [",
        &format!("metrics = [{:?}, {:?}, ", metrics[0], metrics[1]),
    );
    let study = study.replace("\"20 ms\"]", "\"160 us\"]");
    let sweep = Sweep::new(study.split("[[claims]]").next().expect("text"));
    assert_eq!(sweep.go("run", &[]).code, Some(0));
    let rows = columns(&sweep, [&metrics[0], &metrics[1]]);
    let known: Vec<_> = rows
        .iter()
        .map(|row| row.clone().map(|cell| !cell.is_empty()))
        .collect();
    assert_eq!(known, [[true, false], [true, true]]);
}

/// `run.at_most` is a limit: a run whose applications are done before it ends with them.
#[test]
fn a_limit_of_the_time_does_not_lengthen_a_run() {
    let whole = || Experiment::dragonfly(2, 4, 2).applications();
    let summary = whole().run().data.summary;
    let foretold = |at_most: &str| {
        let limited = whole().set("run.at_most", at_most);
        let forecast = after(&limited, summary.packet_hops / 5);
        (forecast.end, forecast.packet_hops)
    };
    let forecast = after(&whole(), summary.packet_hops / 5);
    assert_eq!(foretold("1 s"), (forecast.end, forecast.packet_hops));
    let half = summary.simulated_ps / 2_000;
    let (end, hops) = foretold(&format!("{half} ns"));
    assert_eq!(end, half as f64 * 1e3);
    assert!(hops < 0.8 * forecast.packet_hops, "{hops} of {forecast:?}");
}
