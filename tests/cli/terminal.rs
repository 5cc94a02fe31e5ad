//! Nothing that weir prints is obeyed by a terminal.

use std::fs;
use std::path::Path;
use std::process::Command;

use serde_json::Value as Json;

use super::busy;
use weir::result::{Data, Job, Run, write};

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
