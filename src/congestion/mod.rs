//! Congestion-control schemes. One file per scheme.

mod none;

use crate::config::{ConfigError, Section};
use crate::registry::Entry;

/// Checks the section of a scheme and builds it.
pub type Build = fn(&Section) -> Result<(), ConfigError>;

/// All schemes.
pub const REGISTRY: &[Entry<Build>] = &[none::ENTRY];
