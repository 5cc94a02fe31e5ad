//! Refusals and remarks of compared runs, which results of this version cannot bring about.

use std::path::PathBuf;

use super::{Bounds, Comparison, NumberChange, RunResult, compare_runs};
use weir_result::{Stored, read, sample, schema, write};

/// Runs named `a`, `b`, … with the sample's numbers and changes. Their files are removed again.
fn runs(changes: &[fn(&mut Stored)]) -> Result<Comparison, String> {
    let dir = tempfile::tempdir().expect("a directory");
    let path = dir.path().join(schema::FILE);
    write(
        &path,
        &sample::data(),
        &sample::run(),
        sample::EXPERIMENT,
        42,
    )
    .expect("writes");
    let stored = read(&path).expect("reads");
    let run = |(at, change): (usize, &fn(&mut Stored))| {
        let mut stored = stored.clone();
        change(&mut stored);
        RunResult {
            name: ["a", "b", "c"][at].into(),
            file: path.clone(),
            stored,
        }
    };
    let runs: Vec<RunResult> = changes.iter().enumerate().map(run).collect();
    compare_runs(&runs).map_err(|error| error.render(false))
}

fn same(_: &mut Stored) {}

fn find<'a>(comparison: &'a Comparison, metric: &str) -> &'a NumberChange {
    let mut numbers = comparison.numbers.iter();
    let found = numbers.find(|number| number.metric == metric);
    found.unwrap_or_else(|| panic!("no {metric}"))
}

#[test]
fn other_models_are_refused() {
    let error = runs(&[same, |run| run.header.model_version = Some(3)]).expect_err("refused");
    let own = weir_simulation::MODEL_VERSION;
    let says = format!("a (A) and b (B) are of the model versions {own} and 3");
    assert!(error.contains(&says), "{error}");
    let error = runs(&[same, |run| run.header.model_version = None]).expect_err("refused");
    assert!(error.contains("and unknown"), "{error}");
}

#[test]
fn a_run_that_stopped_early_is_refused_unless_the_other_ended_then() {
    let early = |run: &mut Stored| {
        run.header.complete = false;
        run.digest.summary.simulated_ps = 7_000_500;
    };
    let error = runs(&[same, early]).expect_err("refused");
    assert!(error.contains("b stopped early, at 7000.5 ns"), "{error}");
    assert!(error.contains("run.until=\"7000.5 ns\""), "{error}");
    let error = runs(&[early, same]).expect_err("refused");
    assert!(error.contains("a stopped early"), "{error}");
    let both = runs(&[early, early]).expect("the same length");
    assert!(both.remarks[0].contains("stopped early"), "{both:?}");
}

#[test]
fn runs_that_have_nothing_in_common_are_refused() {
    let other = |run: &mut Stored| {
        for job in &mut run.digest.jobs {
            job.name.push_str("-2");
        }
    };
    let larger = |run: &mut Stored| run.digest.summary.endpoints += 1;
    assert!(runs(&[same, other]).is_ok() && runs(&[same, larger]).is_ok());
    let both = |run: &mut Stored| {
        for job in &mut run.digest.jobs {
            job.name.push_str("-2");
        }
        run.digest.summary.endpoints += 1;
    };
    let error = runs(&[same, both]).expect_err("refused");
    assert!(error.contains("no job in common"), "{error}");
    assert!(error.contains("the same `name`"), "{error}");
}

#[test]
fn a_percentile_that_is_only_bounded_has_bounds_and_so_has_its_difference() {
    let earlier = |run: &mut Stored| {
        let (_, stats) = (run.digest.latency.iter_mut())
            .find(|(class, _)| class == "message")
            .expect("a class");
        *stats = weir_result::Stats::default();
        stats.samples = 10;
        for shape in [&mut stats.at_least, &mut stats.at_most] {
            shape.p99_ps = 1e6;
        }
    };
    // The sample misses 500 of 2,500 messages, with ages of 2.25 us: its p99 is a lower bound.
    let comparison = runs(&[same, earlier]).expect("compares");
    let number = find(&comparison, "latency.message.p99");
    let bound = number.values[0].expect("a bound");
    assert!(bound.least > 2_200.0, "{bound:?}");
    assert_eq!(bound.most, f64::INFINITY);
    assert_eq!(number.values[1], Some(Bounds::known(1_000.0)));
    let change = number.changes[0].expect("a difference").absolute;
    assert_eq!(change.least, f64::NEG_INFINITY);
    assert_eq!(change.most, 1_000.0 - bound.least);
    let missing = find(&comparison, "latency.message.missing");
    assert_eq!(missing.values[0], Some(Bounds::known(500.0)));
}

#[test]
fn notes_that_one_has_are_told() {
    let fewer = |run: &mut Stored| {
        run.digest.notes.remove(0);
    };
    let comparison = runs(&[same, fewer, same]).expect("compares");
    let notes: Vec<&Vec<usize>> = comparison.notes.iter().map(|note| &note.inputs).collect();
    assert_eq!(notes, [&vec![0, 2]]);
}

#[test]
fn a_file_that_is_gone_is_an_error() {
    let dir = tempfile::tempdir().expect("a directory");
    let path = dir.path().join(schema::FILE);
    write(
        &path,
        &sample::data(),
        &sample::run(),
        sample::EXPERIMENT,
        42,
    )
    .expect("writes");
    let run = |file: PathBuf| RunResult {
        name: "a".into(),
        file,
        stored: read(&path).expect("reads"),
    };
    let gone = dir.path().join("gone.h5");
    let error = compare_runs(&[run(path.clone()), run(gone)]).expect_err("no file");
    assert!(error.message.contains("gone.h5"), "{}", error.message);
    assert!(compare_runs(&[]).is_err());
}
