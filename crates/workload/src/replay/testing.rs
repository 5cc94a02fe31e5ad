//! For tests of readers.

use std::sync::Arc;

pub use super::attempt as read_files;
use super::attempt;
use super::{Replay, Trace};
use crate::tasks::Algorithms;
use crate::tasks::ideal::{Ideal, job};
use weir_input::ConfigError;

/// Reads a file of this content.
pub fn read_bytes(format: &str, keys: &str, content: &[u8]) -> Result<Arc<Trace>, ConfigError> {
    attempt(format, keys, &[("trace-0", content)])
}

/// The text of the error for a file of this content.
pub fn refused(format: &str, keys: &str, content: &str) -> String {
    words(read_bytes(format, keys, content.as_bytes()), content)
}

/// The text of the error for these files.
pub fn refused_files(format: &str, keys: &str, files: &[(&str, &[u8])]) -> String {
    words(attempt(format, keys, files), "these files")
}

fn words(read: Result<Arc<Trace>, ConfigError>, what: &str) -> String {
    match read {
        Ok(_) => panic!("this can be read:\n{what}"),
        Err(error) => format!("{} / {}", error.message, error.remedy().unwrap_or_default()),
    }
}

/// A job that replays a trace, on a network of 1 ns and 1 ps for each byte.
pub fn replay(trace: &Arc<Trace>) -> Ideal {
    let program = Replay::new(trace.clone(), Algorithms::default());
    Ideal::new(job(Box::new(program), trace.tasks()))
}
