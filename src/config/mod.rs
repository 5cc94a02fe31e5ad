//! The experiment file: TOML text in, typed and validated values out. Every error names file, line, value and remedy.

mod error;
mod section;
mod units;

pub use error::ConfigError;
pub use section::Section;
pub use units::{Duration, Rate, Size};
