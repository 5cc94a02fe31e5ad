//! Refusals that all formats share.

use std::path::Path;

use crate::cli::process::failure::Failure;
use weir_input::{ConfigError, suggest};

/// Refuses the input.
pub fn wrong_with(message: impl Into<String>, remedy: impl Into<String>) -> Failure {
    Failure::wrong(&ConfigError::new(message, remedy))
}

/// The file cannot be written.
pub fn not_written(path: &Path, error: &std::io::Error) -> Failure {
    Failure::failed(format!(
        "error: {} cannot be written: {error}\n  help: name a file in a directory that exists and \
         can be written",
        path.display()
    ))
}

/// Refuses a name that is none of a run's jobs.
///
/// # Errors
/// If it is none.
pub fn check_job(name: &str, known: &[&str]) -> Result<(), Failure> {
    match known.contains(&name) {
        true => Ok(()),
        false => Err(wrong_with(
            format!("there is no job {name:?}"),
            suggest(name, "jobs", known, '"'),
        )),
    }
}
