//! Presentation of a result.

#![cfg_attr(not(test), deny(clippy::print_stdout, clippy::print_stderr))]

pub mod compare;
#[cfg(feature = "figures")]
pub mod draw;
#[cfg(not(feature = "figures"))]
#[path = "page/undrawn.rs"]
pub mod draw;
pub mod explanation;
pub mod figure;
pub mod format;
pub mod page;
pub mod parameters;
pub mod rows;
pub mod run;
pub mod summary;
pub mod sweep;

pub use page::write;
pub use rows::held;
pub use run::{congestion, page as run_page};
pub use summary::json as summary_json;
