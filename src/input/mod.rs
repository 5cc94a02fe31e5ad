//! TOML text and what becomes of it: a tree that keeps the place of every key and value, typed
//! values with units, and errors that name file, line, value and remedy. Knows no section of the
//! experiment file and no variant.

pub(crate) mod deserialize;
mod elsewhere;
pub(crate) mod error;
mod nearest;
pub(crate) mod printable;
pub(crate) mod section;
pub(crate) mod tree;
mod units;
mod words;

pub(crate) use elsewhere::Elsewhere;
pub use error::ConfigError;
pub(crate) use nearest::{nearest, suggest};
pub use section::Section;
pub use units::{Allowance, Duration, Rate, Size, TimeSpan};
pub use words::{Buffer, OutputQueue, Speedup, Until};
