//! For tests of readers.

use std::io::Write;
use std::sync::Arc;

use super::{Replay, Trace, read};
use crate::config::{ConfigError, Section};
use crate::workload::tasks::Algorithms;
use crate::workload::tasks::ideal::{Ideal, job};

/// Reads a file of this content.
pub fn read_bytes(format: &str, keys: &str, content: &[u8]) -> Result<Arc<Trace>, ConfigError> {
    let mut file = tempfile::NamedTempFile::new().expect("a file");
    file.write_all(content).expect("written");
    let path = file.path().display().to_string();
    let section = format!("format = {format:?}\nfile = {path:?}\n{keys}");
    read(&Section::from_toml(&section).expect(&section))
}

/// The words of the error that a file of this content gives.
pub fn refused(format: &str, keys: &str, content: &str) -> String {
    match read_bytes(format, keys, content.as_bytes()) {
        Ok(_) => panic!("this can be read:\n{content}"),
        Err(error) => format!("{} / {}", error.message, error.remedy().unwrap_or_default()),
    }
}

/// A job that replays a trace, on a network of 1 ns and 1 ps for each byte.
pub fn replay(trace: &Arc<Trace>) -> Ideal {
    let program = Replay::new(trace.clone(), Algorithms::default());
    Ideal::new(job(Box::new(program), trace.tasks()))
}
