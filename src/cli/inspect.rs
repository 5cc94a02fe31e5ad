//! `weir inspect`: what a result file holds.

use std::path::Path;

use crate::report::format::{shorten, whole};
use crate::report::summary;
use crate::trace::{Entry, Stored, TraceError, read, read_header, schema};

/// Columns for the paths of datasets.
const PATH: usize = 52;

/// What a result holds: who wrote it, whether it is complete, its summary and its datasets with their lengths.
///
/// `path` is a result or a directory that holds a `result.h5`. With `experiment` it is the experiment instead, with
/// every default filled in: TOML that can be run again.
///
/// # Errors
/// As for [`crate::trace::read`].
pub fn inspect(path: &Path, experiment: bool) -> Result<String, TraceError> {
    let inside = path.join(schema::FILE);
    let path = if path.is_dir() { &inside } else { path };
    if experiment {
        let mut text = read_header(path)?.experiment;
        if !text.ends_with('\n') {
            text.push('\n');
        }
        return Ok(text);
    }
    let stored = read(path)?;
    Ok(describe(path, &stored))
}

fn describe(path: &Path, stored: &Stored) -> String {
    let header = &stored.header;
    let state = match (header.complete, &stored.run.stopped) {
        (true, _) => "complete".to_string(),
        (false, Some(why)) => format!("not complete: {why}"),
        (false, None) => "not complete".to_string(),
    };
    let mut text = format!(
        "{}\n\
         weir {}, schema {}, seed {}, scheme {}\n\
         started {}, MPI: {}, HDF5 {}\n\
         {state}\n\n",
        path.display(),
        header.weir_version,
        header.schema_version,
        header.seed,
        stored.scheme,
        stored.run.started,
        stored.run.mpi_version.lines().next().unwrap_or("none"),
        stored.hdf5_version,
    );
    text.push_str(&summary::table("", &stored.digest, &stored.run));
    text.push_str("\ndatasets\n");
    for entry in &stored.datasets {
        text.push_str(&line(entry));
    }
    text
}

fn line(entry: &Entry) -> String {
    let shape: Vec<_> = entry.shape.iter().map(|&n| whole(n as u64)).collect();
    let path = shorten(&entry.path, PATH);
    let shape = shape.join(" x ");
    format!("  {path:<PATH$} {shape:>20}\n")
}
