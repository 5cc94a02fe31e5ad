//! A refused parameter: its key and the reason.

use thiserror::Error;

/// A parameter that is well formed but not allowed: named by its key, so that the caller can point
/// at its line.
#[derive(Clone, Debug, Error, PartialEq, Eq)]
#[error("{message}")]
pub struct Invalid {
    /// The key below the section that was being built, with dots (`global.latency`); empty for the
    /// whole section.
    pub key: String,
    /// The problem, with the value.
    pub message: String,
    /// The remedy.
    pub remedy: String,
}

impl Invalid {
    /// A complaint about `key`: the problem and the remedy.
    pub fn new(
        key: impl Into<String>,
        message: impl Into<String>,
        remedy: impl Into<String>,
    ) -> Self {
        Invalid {
            key: key.into(),
            message: message.into(),
            remedy: remedy.into(),
        }
    }

    /// The same about a key of a section below the one that was being built.
    #[must_use]
    pub fn below(self, section: &str) -> Self {
        Invalid {
            key: format!("{section}.{}", self.key),
            ..self
        }
    }
}
