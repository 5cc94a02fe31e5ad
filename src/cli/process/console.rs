//! All output of weir passes here, and nothing in it is obeyed by a terminal: texts of others
//! (files, results, names of files, arguments) may hold escape sequences.

use std::fmt::Display;
use std::io::{ErrorKind, Write};

use crate::cli::process::failure::Failure;
use weir_input::ConfigError;
use weir_model::visible;
use weir_simulation::Warning;

/// Says something on standard error.
pub fn tell(text: impl Display) {
    put(&visible(&text.to_string()));
}

/// Prints an error or a warning about an input, in colour on a terminal.
pub fn tell_error(error: &ConfigError) {
    put(&error.render_for_stderr());
}

/// Prints the warnings of an experiment.
pub fn tell_warnings(warnings: &[Warning]) {
    warnings
        .iter()
        .for_each(|warning| tell_error(&warning.shown));
}

/// Says why a command has failed.
pub fn tell_failure(failure: &Failure) {
    put(&failure.message);
}

/// Errors of a closed standard error are ignored.
fn put(text: &str) {
    let _ = writeln!(std::io::stderr(), "{text}");
}

/// Writes to standard output.
pub fn write_out(text: &str) -> Result<(), Failure> {
    written(std::io::stdout().write_all(visible(text).as_bytes()))
}

/// The failure to write to standard output; a reader that has gone away (`| head`) is no error.
pub fn written(outcome: std::io::Result<()>) -> Result<(), Failure> {
    match outcome.and_then(|()| std::io::stdout().flush()) {
        Err(error) if error.kind() != ErrorKind::BrokenPipe => {
            Err(Failure::failed(format!("error: standard output: {error}")))
        }
        _ => Ok(()),
    }
}
