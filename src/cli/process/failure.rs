//! A failed command: its message and its exit code.

use weir_input::ConfigError;
use weir_model::program::exit::{BAD_INPUT, FAILED};
use weir_model::visible;

/// A failure that has to be told to the user: the message and the exit code.
#[derive(Debug)]
pub struct Failure {
    /// Printed once, on standard error: it holds nothing that a terminal would obey but its own
    /// colours.
    pub(in crate::cli) message: String,
    /// Exit code of the process.
    pub code: u8,
}

impl Failure {
    /// The input cannot be used.
    pub fn bad_input(message: impl Into<String>) -> Failure {
        Failure::with_code(message, BAD_INPUT)
    }

    /// The same, with its place.
    pub fn wrong(error: &ConfigError) -> Failure {
        Failure {
            message: error.render_for_stderr(),
            code: BAD_INPUT,
        }
    }

    /// The run failed.
    pub fn failed(message: impl Into<String>) -> Failure {
        Failure::with_code(message, FAILED)
    }

    /// Any other.
    pub fn with_code(message: impl Into<String>, code: u8) -> Failure {
        let message = visible(&message.into()).into_owned();
        Failure { message, code }
    }
}
