//! Input of users. TOML text and its parsed forms: a tree that keeps the place of every key and
//! value, typed values with units, and errors that name file, line, value and remedy. CSV tables
//! with their lines. Knows no section of the experiment file and no variant.

#![cfg_attr(not(test), deny(clippy::print_stdout, clippy::print_stderr))]

pub mod deserialize;
mod elsewhere;
pub mod error;
mod given;
pub mod registry;
pub mod schema;
pub mod section;
mod text;
pub mod tree;
mod units;

pub use elsewhere::Elsewhere;
pub use error::ConfigError;
pub use given::Given;
pub use section::Section;
pub use text::rows::{BadRow, Rows};
pub use text::{nearest, printable, suggest};
pub use units::words::{Buffer, OutputQueue, Speedup, Until};
pub use units::{Allowance, Duration, Rate, Size, TimeSpan};
