//! Reports of `weir report` on a run and on a sweep.

use std::fs;
use std::path::Path;
use std::process::Command;

use crate::support::Experiment;
use crate::support::sweeping::{JOB, Sweep};
use tempfile::TempDir;

/// The report of a directory: the exit code, and the output.
fn report(dir: &Path) -> (Option<i32>, String) {
    let weir = env!("CARGO_BIN_EXE_weir");
    let output = Command::new(weir).arg("report").arg(dir).output();
    let output = output.expect("it can be started");
    let text = String::from_utf8_lossy(&output.stdout).into_owned();
    (
        output.status.code(),
        text + &String::from_utf8_lossy(&output.stderr),
    )
}

/// Checks that a page and the three files of each of these figures exist, and no partial file.
fn complete(dir: &Path, figures: &[&str]) -> String {
    let html = fs::read_to_string(dir.join("report.html")).expect("a page");
    for figure in figures {
        assert!(
            html.contains(&format!("<figure id=\"figure-{figure}\">")),
            "{figure}"
        );
        let file = |ending: &str| {
            fs::read(dir.join(format!("figures/{figure}.{ending}"))).expect("a file")
        };
        assert!(file("svg").starts_with(b"<svg "), "{figure}");
        assert_eq!(&file("png")[1..4], b"PNG");
        let lines = String::from_utf8(file("csv"))
            .expect("text")
            .lines()
            .count();
        assert!(lines > 1, "{figure} has no data");
    }
    assert_eq!(html.matches("<figure ").count(), figures.len());
    assert_eq!(html.matches("<script").count(), 1, "it sorts tables");
    for word in ["<script src", "http://", "https://", "NaN<", "url("] {
        let own = html.replace("http://www.w3.org/2000/svg", "");
        assert!(!own.contains(word), "{word}");
    }
    let left = fs::read_dir(dir.join("figures")).expect("a folder");
    let names: Vec<_> = left
        .map(|entry| entry.expect("an entry").file_name())
        .collect();
    assert!(
        names
            .iter()
            .all(|name| !name.to_string_lossy().ends_with(".partial")),
        "{names:?}"
    );
    html
}

#[test]
fn a_run_shows_what_its_result_holds() {
    let ran = Experiment::dragonfly(2, 4, 2)
        .routing("par")
        .hotspot(6, 2, 0.4)
        .with("name", "hot")
        .with("endpoints.count", 8)
        .with("endpoints.placement", "random")
        .uniform(0.5)
        .with("name", "victims")
        .with("endpoints", "rest")
        .message("30 flits")
        .until("5 us")
        .cli()
        .set("output.bin=\"100 ns\"")
        .set("output.occupancy=\"100 ns\"")
        .succeeds();
    let out = ran.out();
    let before = fs::read(ran.result()).expect("a result");
    let (code, said) = report(&out);
    assert_eq!(
        (code, said.trim()),
        (Some(0), out.join("report.html").to_str().expect("a path"))
    );
    let figures = [
        "time",
        "latency",
        "ejection",
        "ports",
        "levels",
        "occupancy",
        "congestion",
        "congestion-tree",
    ];
    let html = complete(&out, &figures);
    assert!(
        html.contains("victims")
            && html.contains("routing par")
            && html.contains("Where congestion begins"),
        "{html}"
    );
    // Again: the same page; and the result is left alone.
    assert_eq!(report(&out).0, Some(0));
    assert_eq!(complete(&out, &figures), html);
    assert_eq!(fs::read(ran.result()).expect("a result"), before);
}

#[test]
fn a_run_of_nothing_has_a_report_too() {
    let ran = Experiment::dragonfly(2, 4, 2)
        .uniform(0.001)
        .until("2 ns")
        .cli()
        .succeeds();
    assert_eq!(report(&ran.out()).0, Some(0));
    let html = fs::read_to_string(ran.out().join("report.html")).expect("a page");
    assert!(
        html.contains("0 injected") && !html.contains("NaN"),
        "{html}"
    );
}

#[test]
fn a_sweep_shows_its_figures_its_claims_and_its_failures() {
    let folder = TempDir::new().expect("a directory");
    let out = folder.path().join("out");
    let job = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/studies/report.toml");
    let run = |points: &[&str]| {
        let mut command = Command::new(env!("CARGO_BIN_EXE_weir"));
        command
            .args(["sweep", "run", job, "-j", "2", "--quiet", "--out"])
            .arg(&out)
            .args(points);
        command.output().expect("it can be started")
    };
    // All but the last point.
    let ran = run(&["--points", "0..11"]);
    assert!(
        out.join("job.toml").is_file(),
        "{}",
        String::from_utf8_lossy(&ran.stderr)
    );
    assert_eq!(report(&out).0, Some(0));
    let figures = [
        "latency",
        "accepted",
        "over-time",
        "tail",
        "p99",
        "ejection",
        "ports",
        "occupancy",
        "detour",
        "seeds",
        "levels",
    ];
    let html = complete(&out, &figures);
    assert!(html.contains("1 of 12 points have no result"), "{html}");
    assert!(
        html.contains("routing=valiant load=0.8 seed=2 (waiting)"),
        "{html}"
    );

    run(&[]);
    assert_eq!(report(&out).0, Some(0));
    let html = complete(&out, &figures);
    assert!(
        !html.contains("have no result") && html.contains("12 points: 12 done"),
        "{html}"
    );
    assert!(html.contains("Valiant&#39;s ways are longer"), "{html}");
    // The CSV of a figure against the table: means over the seeds.
    let table = fs::read_to_string(out.join("table.csv")).expect("a table");
    let rows: Vec<Vec<&str>> = table
        .lines()
        .map(|line| line.split(',').collect())
        .collect();
    let column = |name: &str| {
        rows[0]
            .iter()
            .position(|head| *head == name)
            .unwrap_or_else(|| panic!("{name} in {:?}", rows[0]))
    };
    let metric = column("latency.job.victims.message.mean [ns]");
    let mean = |routing: &str, load: &str| {
        let own = rows[1..]
            .iter()
            .filter(|row| row[column("routing")] == routing && row[column("load")] == load);
        let values: Vec<f64> = own
            .map(|row| row[metric].parse().expect("a number"))
            .collect();
        assert_eq!(values.len(), 2);
        values.iter().sum::<f64>() / 2.0
    };
    let csv = fs::read_to_string(out.join("figures/latency.csv")).expect("a figure's data");
    let mut seen = 0;
    for line in csv.lines().skip(1) {
        let row: Vec<&str> = csv_fields(line);
        let Some(routing) = row[1].strip_suffix(", mean") else {
            continue;
        };
        assert_eq!(
            row[3].parse::<f64>().expect("a number"),
            mean(routing, row[2]),
            "{line}"
        );
        seen += 1;
    }
    assert_eq!(seen, 6);
}

/// The fields of a line whose quoted fields have no quotes inside.
fn csv_fields(line: &str) -> Vec<&str> {
    let mut fields = Vec::new();
    let mut rest = line;
    while let Some(quoted) = rest.strip_prefix('"') {
        let (field, after) = quoted.split_once('"').expect("a closing quote");
        fields.push(field);
        rest = after.strip_prefix(',').unwrap_or(after);
    }
    match rest.split_once(",\"") {
        Some((plain, quoted)) => {
            fields.extend(plain.split(','));
            let (field, after) = quoted.split_once('"').expect("a closing quote");
            fields.push(field);
            fields.extend(after.trim_start_matches(',').split(','));
        }
        None => fields.extend(rest.split(',')),
    }
    fields
}

#[test]
fn what_is_no_run_and_no_sweep_is_refused() {
    let folder = TempDir::new().expect("a directory");
    for (name, words) in [
        ("", "holds neither a run nor a sweep"),
        ("nowhere", "there is no directory"),
    ] {
        let (code, said) = report(&folder.path().join(name));
        assert_eq!(code, Some(2), "{said}");
        assert!(said.contains(words) && said.contains("--out"), "{said}");
    }
    fs::write(folder.path().join("result.h5"), "not HDF5").expect("a file");
    let (code, said) = report(folder.path());
    assert_eq!(code, Some(2), "{said}");
    assert!(
        said.contains("result.h5") && said.contains("not a result of weir"),
        "{said}"
    );
    let (code, said) = report(&folder.path().join("result.h5"));
    assert_eq!(code, Some(2), "{said}");
    assert!(said.contains("is not a directory"), "{said}");
    assert!(!folder.path().join("report.html").exists());
}

#[test]
fn a_report_that_cannot_be_written_is_an_error_with_the_path() {
    let ran = Experiment::dragonfly(2, 4, 2)
        .uniform(0.1)
        .until("1 us")
        .cli()
        .succeeds();
    fs::write(ran.out().join("figures"), "in the way").expect("a file");
    let (code, said) = report(&ran.out());
    assert_eq!(code, Some(1), "{said}");
    assert!(said.contains("figures cannot be written"), "{said}");
}

/// A study without figures and without a title: no figure comes twice, its axes say what they show,
/// and the page names no scale, as the study has none.
#[test]
fn a_plain_study_has_a_plain_page() {
    let claim = "[[claims]]\nid = \"a\"\nsays = \"It arrives.\"\nmetric = \"summary.accepted_load\"\nmin = 0.0\n";
    let sweep = Sweep::new(&(JOB.replace("seeds = 3", "") + claim));
    sweep.go("run", &[]).expect(0);
    let (code, _) = report(&sweep.out());
    assert_eq!(code, Some(0));
    let html = complete(&sweep.out(), &["accepted-load", "latency"]);
    assert!(html.contains("<h1>job: load</h1>"), "{}", &html[..2_000]);
    assert!(!html.contains("Scale:"));
    sweep.write(
        &(JOB.replace("seeds = 3", "title = \"mine\"")
            + claim
            + "[reduced]\nset = { \"run.until\" = \"2 us\" }\n"),
    );
    sweep.go("run", &[]).expect(0);
    report(&sweep.out());
    let html = sweep.read("report.html");
    assert!(html.contains("<h1>mine</h1>") && html.contains("Scale: paper."));
}

/// Beyond saturation latencies are of the messages that arrived: the page says so.
#[test]
fn a_page_names_points_whose_messages_had_not_arrived() {
    let page = |least: &str| {
        let job = JOB.replace("values = [0.1, 0.4]", &format!("values = [{least}, 0.8]"));
        let pattern = "\"hotspot\", sources = 5, destinations = 1 }";
        let sweep = Sweep::new(&job.replace("\"uniform\" }", pattern));
        sweep.go("run", &[]).expect(0);
        assert_eq!(report(&sweep.out()).0, Some(0));
        sweep.read("report.html")
    };
    let html = page("0.05");
    let says =
        "At 3 of 6 points many messages had not arrived when the run ended (the first is load=0.8";
    assert!(html.contains(says), "{}", &html[..3_000]);
}
