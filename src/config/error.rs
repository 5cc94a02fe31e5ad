use thiserror::Error;

/// Something in the input that cannot be used.
#[derive(Debug, Error)]
#[error("{message}")]
pub struct ConfigError {
    pub message: String,
}
