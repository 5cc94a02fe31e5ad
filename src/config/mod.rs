//! The experiment file: TOML text in, typed and validated values out. Every error names file, line, value and remedy.

mod deserialize;
mod error;
mod nearest;
mod section;
mod tree;
mod units;

pub use error::ConfigError;
pub(crate) use nearest::suggest;
pub use section::Section;
pub use units::{Duration, Rate, Size};
