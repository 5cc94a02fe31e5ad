//! `weir inspect`: content of a result file.

use std::borrow::Cow;
use std::path::Path;

use crate::cli::process::failure::Failure;
use weir_report::format::{simulated, whole, wrap};
use weir_report::{run_page, summary, summary_json};
use weir_result::out_dir::{self, UnderWay};
use weir_result::{Entry, Stored, TraceError, read, read_header, schema};
use weir_simulation::checkpoint;
use weir_study::SweepDir;

/// Widest line.
const WIDTH: usize = 80;

/// Content of a result: who wrote it, whether it is complete, its summary, and its groups with
/// their columns and lengths.
///
/// `path` is a result or a directory that holds a `result.h5`. With `experiment` it is the
/// experiment instead, with every default filled in: TOML that can be run again.
///
/// # Errors
/// As for [`weir_result::read`].
pub fn inspect(path: &Path, experiment: bool) -> Result<String, TraceError> {
    let kept = checkpoint_line(path);
    if let (false, Some(far)) = (experiment, under_way(path)) {
        return Ok(format!("{}\n{kept}", far.words()));
    }
    let path = &*file_of(path);
    if experiment {
        let mut text = read_header(path)?.experiment;
        if !text.ends_with('\n') {
            text.push('\n');
        }
        return Ok(text);
    }
    let stored = read(path)?;
    Ok(describe(path, &stored) + &kept)
}

/// The summary of a result as JSON, as `weir run --json` prints it.
///
/// # Errors
/// As for [`weir_result::read`].
pub fn json(path: &Path) -> Result<String, TraceError> {
    let mut value = match under_way(path) {
        Some(far) => {
            serde_json::json!({ "running": far.holder.is_some(), "progress": far.progress })
        }
        None => {
            let stored = read(&file_of(path))?;
            summary_json::json(&stored.digest, &stored.run)
        }
    };
    if let Some((until, _)) = checkpoint::list(path).first() {
        value["checkpoint_ps"] = (*until).into();
    }
    Ok(format!("{value:#}\n"))
}

/// Progress of the run of a directory without a result. None if there is a result, or no run.
fn under_way(path: &Path) -> Option<UnderWay> {
    if !path.is_dir() || path.join(schema::FILE).exists() {
        return None;
    }
    let killed = || {
        let (until, _) = checkpoint::list(path).into_iter().next()?;
        Some(UnderWay {
            dir: path.to_path_buf(),
            holder: None,
            progress: Some(format!("it came to {} at least", simulated(until))),
        })
    };
    out_dir::under_way(path).or_else(killed)
}

/// The newest checkpoint in a directory, as a line; nothing if there is none.
fn checkpoint_line(path: &Path) -> String {
    let newest = checkpoint::list(path).into_iter().next();
    newest.map_or(String::new(), |(until, folder)| {
        format!(
            "{}: a checkpoint at {}; `weir run --resume {}` goes on from there\n",
            folder.display(),
            simulated(until),
            path.display()
        )
    })
}

/// The result that a path names: itself, or that of a directory.
pub(super) fn file_of(path: &Path) -> Cow<'_, Path> {
    match path.is_dir() {
        true => path.join(schema::FILE).into(),
        false => path.into(),
    }
}

/// Says so if a directory holds a sweep, which has many results.
pub(in crate::cli) fn refuse_sweep(dir: &Path) -> Result<(), Failure> {
    if !SweepDir::new(dir).job().is_file() {
        return Ok(());
    }
    Err(Failure::bad_input(format!(
        "error: {} holds a sweep\n  help: name one of its points: the directory of a run that holds a result.h5",
        dir.display()
    )))
}

fn describe(path: &Path, stored: &Stored) -> String {
    let header = &stored.header;
    let state = match (header.complete, &stored.run.stopped) {
        (true, _) => "complete".to_string(),
        (false, Some(why)) => format!("not complete: {why}"),
        (false, None) => "not complete".to_string(),
    };
    let command = stored.run.command.iter();
    let command: String = command.map(|line| format!("command {line}\n")).collect();
    let mut text = format!(
        "{}\n\
         weir {}, {}\n\
         schema {}, seed {}, scheme {}\n\
         started {}, MPI: {}, HDF5 {}\n\
         {command}{state}\n\n",
        path.display(),
        header.weir_version,
        run_page::program(header, &stored.run),
        header.schema_version,
        header.seed,
        stored.scheme,
        stored.run.started,
        stored.run.mpi_version.lines().next().unwrap_or("none"),
        stored.run.hdf5_version,
    );
    text.push_str(&summary::table(
        "",
        &header.experiment,
        &stored.digest,
        &stored.run,
    ));
    text.push_str("\ngroups\n");
    for group in stored.datasets.chunk_by(|a, b| split(a).0 == split(b).0) {
        text.push_str(&columns_of(group));
    }
    text
}

fn split(entry: &Entry) -> (&str, &str) {
    entry.path.rsplit_once('/').unwrap_or(("", &entry.path))
}

/// A group: its path, the length of its columns, and their names.
fn columns_of(group: &[Entry]) -> String {
    let path = group.first().map_or("", |entry| split(entry).0);
    let rows = group.first().and_then(|entry| entry.shape.first());
    let rows = rows.map_or("a single value".to_string(), |&rows| match rows {
        1 => "1 row".to_string(),
        rows => format!("{} rows", whole(rows as u64)),
    });
    let names: Vec<_> = group.iter().map(column).collect();
    let mut text = format!("  {path}  {rows}\n");
    for line in wrap(&names.join(", "), WIDTH - 6, "") {
        text.push_str(&format!("      {line}\n"));
    }
    text
}

/// A column; with the width of a row if it is a table.
fn column(entry: &Entry) -> String {
    let (_, name) = split(entry);
    match entry.shape.get(1..) {
        None | Some([]) => name.to_string(),
        Some(more) => {
            let more: Vec<_> = more.iter().map(|&n| whole(n as u64)).collect();
            format!("{name} (x {})", more.join(" x "))
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use weir_result::{Run, sample, write};

    fn written(run: &Run) -> tempfile::TempDir {
        let dir = tempfile::tempdir().expect("a temporary directory");
        let path = dir.path().join(schema::FILE);
        write(&path, &sample::data(), run, sample::EXPERIMENT, 42).expect("writes");
        dir
    }

    #[test]
    fn a_file_is_described() {
        let dir = written(&sample::run());
        let path = dir.path().join(schema::FILE);
        let text = inspect(&path, false).expect("reads");
        let (_, rest) = text.split_once('\n').expect("lines");
        let rest = rest.replace(env!("CARGO_PKG_VERSION"), "VERSION");
        let (major, minor, micro) = hdf5::library_version();
        insta::assert_snapshot!(
            rest.replace(&format!("HDF5 {major}.{minor}.{micro}"), "HDF5 VERSION")
        );
        assert_eq!(
            inspect(dir.path(), false).expect("a directory will do"),
            text
        );
        assert!(
            text.lines().skip(1).all(|line| line.chars().count() <= 80),
            "{text}"
        );
    }

    #[test]
    fn a_stopped_run_is_told() {
        let run = Run {
            stopped: Some("max_wall".into()),
            ..sample::run()
        };
        let text = inspect(written(&run).path(), false).expect("reads");
        assert!(text.contains("not complete: max_wall"), "{text}");
    }

    #[test]
    fn a_run_that_goes_on_says_how_far_it_is() {
        let dir = tempfile::tempdir().expect("a temporary directory");
        let out = out_dir::prepare(dir.path(), sample::EXPERIMENT, false).expect("free");
        let said = || inspect(dir.path(), false).expect("a run");
        assert!(said().contains("a run goes on (process ") && said().contains("just begun"));
        let far = "42 %, 42.0 us of 100 us simulated";
        weir_result::replace(&out.progress(), far.as_bytes()).expect("writes");
        assert!(said().ends_with(&format!("{far}\n")), "{}", said());
        assert!(
            json(dir.path())
                .expect("a run")
                .contains("\"running\": true")
        );
        // A run that was killed leaves no more than that.
        let progress = out.progress();
        drop(out);
        assert!(inspect(dir.path(), false).is_err(), "it has tidied up");
        std::fs::write(progress, far).expect("writes");
        assert!(said().contains("ended without a result"), "{}", said());
    }

    #[test]
    fn the_experiment_comes_out_as_it_went_in() {
        let dir = written(&sample::run());
        assert_eq!(
            inspect(dir.path(), true).expect("reads"),
            sample::EXPERIMENT
        );
    }

    #[test]
    fn a_directory_without_a_result_is_an_error_that_names_the_file() {
        let dir = tempfile::tempdir().expect("a temporary directory");
        for experiment in [false, true] {
            let error = inspect(dir.path(), experiment).expect_err("nothing there");
            assert!(
                error.to_string().contains("result.h5: No such file"),
                "{error}"
            );
        }
    }
}
