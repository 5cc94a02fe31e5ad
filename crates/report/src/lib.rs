//! Presentation of a result.

#![cfg_attr(not(test), deny(clippy::print_stdout, clippy::print_stderr))]

mod bands;
pub mod compare;
pub mod congestion;
#[cfg(feature = "figures")]
pub mod draw;
#[cfg(not(feature = "figures"))]
#[path = "page/undrawn.rs"]
pub mod draw;
pub mod explanation;
pub mod figure;
pub mod format;
pub mod held;
mod levels;
pub mod page;
pub mod parameters;
pub mod rows;
pub mod run;
pub mod run_page;
pub mod summary;
pub mod summary_json;
pub mod sweep;
pub mod write;
