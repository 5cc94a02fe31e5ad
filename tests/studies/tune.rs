//! `weir tune` finds good values of a scheme's parameters: within its budget, the same again when
//! it is resumed, on the sweep's machinery. Errors in a search are reported before anything runs.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Output};

use serde_json::Value;
use tempfile::TempDir;

use weir::catalog::catalog;
use weir::registry::range::Range;

/// Eight sources at full rate for one endpoint, and a victim on their path. A step of the delay
/// that is too small leaves the victim no more than a full buffer does; one that is too large
/// leaves the hot endpoint idle.
const FILE: &str = r#"
title = "incast"

[topology]
kind = "dragonfly"
endpoints_per_router = 2
routers_per_group = 4
global_links_per_router = 2
groups = 3
terminal = { bandwidth = "100 Gbps", latency = "5 ns" }
local = { bandwidth = "100 Gbps", latency = "10 ns" }
global = { bandwidth = "100 Gbps", latency = "100 ns" }

[routing]
algorithm = "minimal"

[nic]
acknowledge = true

[congestion]
scheme = "ecn"

[[workload]]
name = "hot"
endpoints = "0..9"
pattern = { kind = "hotspot", sources = 8, destinations = 1 }
load = 0.5
message = "24 flits"
start = "4 us"

[[workload]]
name = "cold"
endpoints = "9..24"
pattern = { kind = "uniform" }
load = 0.3
message = "24 flits"

[run]
until = "12 us"

[output]
bin = "400 ns"

[[criterion]]
name = "victims"
metric = "series.job.cold.delivered_bytes.effectiveness @ 4 us..12 us"
best = 1.0
worst = 0.5

[[criterion]]
name = "hot"
metric = "series.job.hot.delivered_bytes.mean @ 6 us..12 us"
of = "without control"
best = 1.0
worst = 0.0

[tune]
parameters = ["increment", { key = "decrement_timer", from = "24 ns", to = "2.4 us" }]
runs = 16
grid = 3

[[tune.mark]]
label = "Jiang et al."
preset = "jiang2015"

[[tune.reference]]
label = "without control"
set = { congestion = { scheme = "none" } }
"#;

struct Search {
    folder: TempDir,
}

impl Search {
    fn new(text: &str) -> Search {
        let folder = TempDir::new().expect("a directory");
        fs::write(folder.path().join("job.toml"), text).expect("a file");
        Search { folder }
    }

    fn out(&self) -> PathBuf {
        self.folder.path().join("out")
    }

    fn weir(&self, arguments: &[&str]) -> Output {
        let mut command = Command::new(env!("CARGO_BIN_EXE_weir"));
        let command = command.args(arguments).current_dir(self.folder.path());
        command.output().expect("weir runs")
    }

    fn tune(&self, more: &[&str]) -> Output {
        self.weir(&[&["tune", "job.toml", "--out", "out", "-j", "2"], more].concat())
    }

    fn json(&self) -> Value {
        let output = self.tune(&["--json", "--quiet"]);
        let text = String::from_utf8_lossy(&output.stdout).into_owned();
        let error = String::from_utf8_lossy(&output.stderr);
        assert_eq!(output.status.code(), Some(0), "{error}");
        serde_json::from_str(&text).unwrap_or_else(|wrong| panic!("{wrong}: {text}"))
    }
}

fn points(out: &Path) -> usize {
    let points = fs::read_dir(out.join("points")).map(|entries| entries.count());
    points.unwrap_or(0)
}

#[test]
fn a_search_keeps_its_budget_and_what_it_finds_can_be_pasted() {
    let search = Search::new(FILE);
    let found = search.json();
    let settings = found["settings"].as_array().expect("a list");
    let score = |setting: &Value| setting["score"].as_f64().expect("a score");
    // The grid, the mark, the file's own setting; then neighbours of the best.
    assert!(
        settings.len() > 11 && settings.len() <= 15,
        "{}",
        settings.len()
    );
    assert_eq!(points(&search.out()), settings.len());
    assert_eq!(points(&search.out().join("references")), 1);
    assert!(
        settings
            .windows(2)
            .all(|pair| score(&pair[0]) >= score(&pair[1]))
    );
    assert!(
        score(&settings[0]) > score(settings.last().expect("some")),
        "all are alike"
    );
    // The score is the mean of two grades, from 0.5 to 1 and from 0 to 1.
    for setting in settings {
        let number = |key: &str| setting["criteria"][key].as_f64().expect(key);
        let victims = ((number("victims") - 0.5) / 0.5).clamp(0.0, 1.0);
        let expected = (victims + number("hot").clamp(0.0, 1.0)) / 2.0;
        assert!((score(setting) - expected).abs() < 1e-9, "{setting}");
    }
    let mark = settings
        .iter()
        .find(|one| one["mark"] == "Jiang et al.")
        .expect("the mark");
    assert_eq!(mark["values"]["increment"], "24 ns");
    let best = fs::read_to_string(search.out().join("best.toml")).expect("the best");
    assert_eq!(found["best"], best);
    let increment = settings[0]["values"]["increment"].as_str().expect("a text");
    assert!(
        best.contains(&format!("increment = \"{increment}\"")),
        "{best}"
    );
    let pasted = FILE.split("[[criterion]]").next().expect("the experiment");
    let pasted = pasted.replace("title = \"incast\"", "");
    let pasted = pasted.replace("[congestion]\nscheme = \"ecn\"\n", &best);
    fs::write(search.folder.path().join("best.toml"), pasted).expect("a file");
    let checked = search.weir(&["check", "best.toml", "--no-calibration"]);
    assert!(
        checked.status.success(),
        "{}",
        String::from_utf8_lossy(&checked.stderr)
    );
}

#[test]
fn a_search_goes_on_where_sweeps_have_run_its_points() {
    let text = FILE.replace("runs = 16\ngrid = 3", "runs = 6\ngrid = 2");
    let whole = Search::new(&text);
    let found = whole.json();
    let stages = Search::new(&text);
    let said = |output: &Output| String::from_utf8_lossy(&output.stdout).into_owned();
    let planned = stages.tune(&["--plan", "--quiet"]);
    assert!(
        said(&planned).contains("1 of 1 points"),
        "{}",
        said(&planned)
    );
    assert_eq!(points(&stages.out()), 0, "nothing runs");
    let run = stages.weir(&[
        "sweep",
        "run",
        "out/references/job.toml",
        "--out",
        "out/references",
        "-q",
    ]);
    assert!(run.status.success());
    let planned = stages.tune(&["--plan", "--quiet"]);
    assert!(
        said(&planned).contains("are to be run"),
        "{}",
        said(&planned)
    );
    let run = stages.weir(&["sweep", "run", "out/job.toml", "--out", "out", "-q"]);
    assert!(run.status.success());
    assert_eq!(stages.json()["settings"], found["settings"]);
    let table = |search: &Search| fs::read(search.out().join("table.csv")).expect("a table");
    assert_eq!(table(&stages), table(&whole));
    // The map, with its mark.
    let page = stages.weir(&["report", "out"]);
    assert!(
        page.status.success(),
        "{}",
        String::from_utf8_lossy(&page.stderr)
    );
    let drawn = fs::read_to_string(stages.out().join("figures/score.svg")).expect("a map");
    assert!(drawn.contains("Jiang et al."), "the mark is in the map");
}

/// A run, a study, another search and the search's own file are not written over.
#[test]
fn a_search_keeps_to_its_own_directory() {
    let search = Search::new(FILE);
    let folder = search.folder.path();
    let out = search.out();
    fs::create_dir(&out).expect("a folder");
    for (name, text) in [
        ("result.h5", "a result"),
        ("job.toml", "title = \"a study\""),
        (
            "job.toml",
            "# Written by `weir tune`: all.\ntitle = \"another: ecn tuned\"",
        ),
    ] {
        fs::write(out.join(name), text).expect("a file");
        let told = search.tune(&[]);
        assert_eq!(told.status.code(), Some(2));
        assert_eq!(fs::read_to_string(out.join(name)).expect("reads"), text);
        assert!(!out.join("references").exists(), "nothing has run");
        fs::remove_file(out.join(name)).expect("removes");
    }
    let own = search.weir(&["tune", "job.toml", "--out", "."]);
    assert_eq!(own.status.code(), Some(2));
    let text = fs::read_to_string(folder.join("job.toml")).expect("reads");
    assert_eq!(text, FILE);
}

/// The exit code is that of a sweep.
#[test]
fn points_of_a_search_that_fail_are_told() {
    let search = Search::new(FILE);
    search.json();
    let points = fs::read_dir(search.out().join("points")).expect("points");
    let point = points.flatten().next().expect("a point").path();
    fs::remove_file(point.join("result.h5")).expect("removes");
    let status = point.join("status.toml");
    let done = fs::read_to_string(&status).expect("a status");
    let failed = done.replace(
        "state = \"done\"",
        "state = \"failed\"\nreason = \"stalled\"",
    );
    assert_ne!(failed, done);
    fs::write(&status, failed).expect("writes");
    let told = search.tune(&["--quiet"]);
    assert_eq!(told.status.code(), Some(1), "{told:?}");
    let words = String::from_utf8_lossy(&told.stderr).into_owned();
    assert!(words.contains("points failed"), "{words}");
}

/// A search with this text is refused with these words, and nothing is run.
fn check_refused(text: &str, part: &str) {
    let search = Search::new(text);
    let output = search.tune(&["--quiet"]);
    let error = String::from_utf8_lossy(&output.stderr);
    let flat: Vec<&str> = error.split_whitespace().collect();
    assert_eq!(output.status.code(), Some(2), "{part}: {error}");
    assert!(flat.join(" ").contains(part), "{part}: {error}");
    let references = search.out().join("references");
    assert_eq!(points(&search.out()) + points(&references), 0, "{part}");
}

#[test]
fn a_criterion_measures_what_is_recorded() {
    let metric = "metric = \"series.job.hot.delivered_bytes.mean @ 6 us..12 us\"";
    let text = FILE.replace(metric, "metric = \"occupancy.max\"");
    check_refused(&text, "\"occupancy.max\" has nothing to show");
    check_refused(&text, "--> job.toml:");
    let late = FILE.replace("6 us..12 us", "20 us..22 us");
    check_refused(&late, "has nothing to show");
}

#[test]
fn what_is_wrong_with_a_search_is_said_before_anything_runs() {
    let scheme = |text: &str| FILE.replace("scheme = \"ecn\"", text);
    let tune = |text: &str| {
        FILE.replace(
            "parameters = [\"increment\", {",
            &format!("parameters = [{text}, {{"),
        )
    };
    let at = FILE.find("[[tune.mark]]").expect("a mark");
    let cases = [
        (scheme("scheme = \"none\""), "has no parameters to search"),
        (tune("\"incremnt\""), "did you mean `increment`?"),
        (tune("\"buffer\""), "`buffer` declares no range"),
        (
            tune("\"decrement_timer\""),
            "`decrement_timer` is given twice",
        ),
        (
            tune("{ key = \"increment\", from = \"1 us\", to = \"1 ns\" }"),
            "the range from 1 us to 1 ns is empty",
        ),
        (FILE.replace("grid = 3", "grid = 1"), "this makes no grid"),
        (
            tune("{ key = \"increment\", from = 3 }"),
            "expected a length of time",
        ),
        (
            tune("{ key = \"increment\", from = \"0 ns\" }"),
            "do not lead away from 0",
        ),
        (
            FILE.replace("runs = 16", "runs = 4"),
            "4 runs are not enough for a grid",
        ),
        (
            FILE.replace("runs = 16", "map = [\"increment\", \"increment\"]"),
            "a map lies over two parameters",
        ),
        (
            FILE.replace("preset = \"jiang2015\"", "preset = \"jiang\""),
            "did you mean \"jiang2015\"?",
        ),
        (
            FILE.replace("preset = \"jiang2015\"", "set = { threshold = 0.2 }"),
            "none of the parameters that are searched",
        ),
        (
            FILE.replace("of = \"without control\"", "of = \"elsewhere\""),
            "there is no metric",
        ),
        (
            FILE.replace("4 us..12 us", "0 us..12 us"),
            "compares the time of congestion with the time before it",
        ),
        (
            format!("{}[[axis]]\nname = \"x\"\n", &FILE[..at]),
            "has none of these",
        ),
    ];
    for (text, part) in cases {
        check_refused(&text, part);
    }
    let swept = Search::new(FILE).weir(&["sweep", "plan", "job.toml"]);
    assert_eq!(swept.status.code(), Some(2));
    assert!(String::from_utf8_lossy(&swept.stderr).contains("weir tune FILE"));
}

/// Whoever adds a scheme says of each number how far it may be moved, or why it is not to be.
#[test]
fn every_number_of_every_scheme_declares_a_range() {
    for scheme in &catalog().schemes.variants {
        let schema = (scheme.parameters.schema)().to_value();
        let ranges = scheme.ranges();
        for (key, parameter) in schema["properties"].as_object().into_iter().flatten() {
            let text = parameter.to_string();
            let quantity = ["TimeSpan", "Duration", "Size\"", "Allowance"];
            let number = text.contains("\"integer\"") || text.contains("\"number\"");
            let list = key == "table" || key == "buffer" || key == "mtu";
            if !list && (number || quantity.iter().any(|name| text.contains(name))) {
                let range = ranges.iter().find(|(own, _)| own == key);
                assert!(range.is_some(), "{}.{key} declares no range", scheme.name);
            }
        }
        for (key, range) in ranges {
            if let Range::Numbers { from, to, .. } = range {
                assert!(
                    from < to && from >= 0.0,
                    "{}.{key}: {from} to {to}",
                    scheme.name
                );
            }
        }
    }
}
