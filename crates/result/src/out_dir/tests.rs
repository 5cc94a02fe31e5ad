//! Tests of output directories: what is made, kept, refused and removed.

use super::*;
use crate::{Data, Run, sample, write};

const MINE: &str = "[run]\nseed = 1\n";
const OTHER: &str = "[run]\nseed = 2\n";

fn folder() -> tempfile::TempDir {
    tempfile::tempdir().expect("a temporary directory")
}

fn put(dir: &Path, experiment: &str, run: &Run) {
    let path = dir.join(schema::FILE);
    write(&path, &Data::default(), run, experiment, 1).expect("writes");
}

fn names(dir: &Path) -> Vec<String> {
    let entries = fs::read_dir(dir).expect("reads");
    let name = |entry: std::io::Result<fs::DirEntry>| {
        let name = entry.expect("an entry").file_name();
        name.into_string().expect("UTF-8")
    };
    let mut names: Vec<String> = entries.map(name).collect();
    names.sort();
    names
}

/// The same run again and again, kept or not.
fn try_again(dir: &Path, force: bool) -> Result<PathBuf, OutError> {
    prepare(dir, MINE, force)?.put(&Data::default(), &Run::default(), 1)
}

fn experiment(path: &Path) -> String {
    read_header(path).expect("reads").experiment
}

#[test]
fn a_new_directory_is_made_and_removed_if_nothing_comes_of_it() {
    let dir = folder();
    let out = dir.path().join("a/b/c");
    let ready = prepare(&out, MINE, false).expect("ready");
    assert!(out.is_dir());
    assert_eq!(names(&out), [LOCK], "no trace of the probe");
    assert_eq!(ready.result(), out.join("result.h5"));
    assert_eq!(ready.path(), out);
    drop(ready);
    assert!(names(dir.path()).is_empty());
}

#[test]
fn a_kept_directory_stays() {
    let dir = folder();
    let out = dir.path().join("a/b");
    let mut ready = prepare(&out, MINE, false).expect("ready");
    let path = ready.put(&Data::default(), &Run::default(), 1);
    assert_eq!(path.expect("writes"), out.join("result.h5"));
    drop(ready);
    assert_eq!(names(&out), ["result.h5"]);
}

#[test]
fn what_is_not_ours_is_never_removed() {
    let dir = folder();
    drop(prepare(dir.path(), MINE, false).expect("ready"));
    assert!(dir.path().is_dir(), "it was there before");
    let out = dir.path().join("a/b");
    let ready = prepare(&out, MINE, false).expect("ready");
    fs::write(dir.path().join("a/note"), "mine").expect("writes");
    drop(ready);
    assert!(!out.exists() && dir.path().join("a/note").exists());
}

#[test]
fn the_same_experiment_may_be_run_again() {
    let dir = folder();
    put(dir.path(), MINE, &Run::default());
    drop(prepare(dir.path(), MINE, false).expect("ready"));
    assert_eq!(names(dir.path()), ["result.h5"], "until it is replaced");
    try_again(dir.path(), false).expect("replaced");
}

#[test]
fn a_run_that_is_stopped_early_replaces_no_result_of_one_that_is_not() {
    let stopped = Run {
        stopped: Some("SIGINT".into()),
        ..Run::default()
    };
    for force in [false, true] {
        let dir = folder();
        let again = |run: &Run| {
            let mut ready = prepare(dir.path(), MINE, force).expect("ready");
            ready.put(&Data::default(), run, 1).expect("writes")
        };
        let result = dir.path().join(schema::FILE);
        assert_eq!(again(&stopped), result, "nothing was there");
        assert_eq!(again(&stopped), result, "it was no better");
        assert_eq!(again(&Run::default()), result);
        let other = again(&stopped);
        assert_ne!(other, result);
        assert!(!read_header(&other).expect("reads").complete);
        assert!(read_header(&result).expect("reads").complete);
        assert_eq!(again(&Run::default()), result);
    }
}

#[test]
fn a_sweep_is_no_place_for_a_result() {
    let dir = folder();
    for name in ["job.toml", "sweep.toml"] {
        fs::write(dir.path().join(name), "").expect("writes");
    }
    for force in [false, true] {
        let error = prepare(dir.path(), MINE, force).expect_err("a sweep");
        assert!(error.to_string().contains("holds a sweep"), "{error}");
    }
    assert_eq!(names(dir.path()), ["job.toml", "sweep.toml"]);
}

#[test]
fn another_experiment_is_kept_unless_forced() {
    let stopped = Run {
        stopped: Some("max_wall".into()),
        ..sample::run()
    };
    for run in [Run::default(), stopped] {
        let dir = folder();
        put(dir.path(), OTHER, &run);
        let error = prepare(dir.path(), MINE, false).expect_err("another experiment");
        let text = error.to_string();
        assert!(matches!(error, OutError::OtherExperiment { .. }), "{text}");
        assert!(text.contains("there: seed = 2, here: seed = 1"), "{text}");
        assert!(text.contains("--force"), "{text}");
        assert_eq!(names(dir.path()), ["result.h5"]);
        let path = try_again(dir.path(), true).expect("forced");
        assert_eq!(experiment(&path), MINE);
    }
}

#[test]
fn one_run_at_a_time() {
    let dir = folder();
    let out = dir.path().join("a");
    let mut first = prepare(&out, MINE, false).expect("ready");
    for force in [false, true] {
        let error = prepare(&out, OTHER, force).expect_err("another run is there");
        let text = error.to_string();
        assert!(matches!(error, OutError::Busy { .. }), "{text}");
        let who = format!("process {} on", std::process::id());
        assert!(text.contains(&who) && text.contains("--out"), "{text}");
        assert_eq!(names(&out), [LOCK]);
    }
    let path = first.put(&Data::default(), &Run::default(), 1);
    assert_eq!(experiment(&path.expect("writes")), MINE);
    drop(first);
    assert_eq!(names(&out), ["result.h5"]);
}

#[test]
fn what_has_come_while_a_run_went_on_is_kept() {
    let dir = folder();
    let result = dir.path().join(schema::FILE);
    let put_into = |force| {
        let mut ready = prepare(dir.path(), MINE, force).expect("ready");
        // By a computer that does not see the lock.
        put(dir.path(), OTHER, &Run::default());
        ready.put(&Data::default(), &Run::default(), 1)
    };
    let error = put_into(false).expect_err("overtaken");
    assert_eq!(experiment(&result), OTHER);
    let OutError::Overtaken { kept, .. } = &error else {
        panic!("{error}");
    };
    assert_eq!(experiment(kept), MINE, "no result is lost");
    let text = error.to_string();
    assert!(text.contains("there: seed = 2, here: seed = 1"), "{text}");
    assert!(text.contains(&kept.display().to_string()), "{text}");
    put_into(true).expect("forced");
    assert_eq!(experiment(&result), MINE);
}

#[test]
fn what_a_killed_run_has_left_is_removed() {
    let dir = folder();
    let mut child = std::process::Command::new("true").spawn().expect("starts");
    child.wait().expect("ends");
    let left = format!(
        ".result.h5.{}-{}-0123456789abcdef.partial",
        super::super::here(),
        child.id()
    );
    fs::write(dir.path().join(left), "half").expect("writes");
    fs::write(dir.path().join(LOCK), "pid = 1").expect("writes");
    drop(prepare(dir.path(), MINE, false).expect("ready"));
    assert!(names(dir.path()).is_empty(), "{:?}", names(dir.path()));
}

#[test]
fn a_file_that_is_no_result_is_not_overwritten() {
    let dir = folder();
    let path = dir.path().join("result.h5");
    fs::write(&path, "a diary").expect("writes");
    let error = prepare(dir.path(), MINE, false).expect_err("not ours");
    assert!(matches!(error, OutError::Unknown { .. }), "{error}");
    try_again(dir.path(), true).expect("forced");
    fs::remove_file(&path).expect("removes");
    fs::create_dir(&path).expect("creates");
    for force in [false, true] {
        let error = prepare(dir.path(), MINE, force).expect_err("a directory");
        assert!(matches!(error, OutError::Unknown { .. }), "{error}");
    }
}

#[test]
fn a_path_through_a_file_is_refused_and_nothing_is_made() {
    let dir = folder();
    let file = dir.path().join("file");
    fs::write(&file, "text").expect("writes");
    for out in [file.clone(), file.join("below"), file.join("far/below")] {
        let error = prepare(&out, MINE, false).expect_err("a file");
        assert!(
            matches!(&error, OutError::NotADirectory { path } if *path == file),
            "{error}"
        );
    }
    assert_eq!(names(dir.path()), ["file"]);
}

#[test]
fn a_place_that_cannot_be_written_is_refused() {
    // No user, not even root, makes files there.
    for out in ["/proc/weir", "/proc", "/sys/weir"] {
        let error = prepare(Path::new(out), MINE, false).expect_err(out);
        assert!(matches!(error, OutError::Unwritable { .. }), "{error}");
        assert!(error.to_string().contains("cannot write into"), "{error}");
    }
}

#[test]
fn the_first_difference_is_shown() {
    let said = |there: &str, here: &str| difference(there, here).unwrap_or_default();
    assert_eq!(said("a\nb\n", "a\nc\n"), "there: b, here: c");
    assert_eq!(said("a\n", "a\nc\n"), "there: nothing more, here: c");
    let run = |wall: &str| format!("[run]\nseed = 1\nmax_wall = \"{wall}\"\n");
    assert_eq!(
        said(&run("1 s"), &run("2 s")),
        "",
        "the clock does not matter"
    );
    assert_eq!(
        said(&run("1 s"), "[run]\nseed = 2\n"),
        "there: seed = 1, here: seed = 2"
    );
    // A table of links may have lines that look like keys.
    let links = |end: &str| format!("links = \"\"\"\nmax_wall = 1,{end}\n\"\"\"\n");
    assert_eq!(said(&links("a"), &links("a")), "");
    assert_eq!(said(&links("a"), &links("b")), "they differ within a text");
}
