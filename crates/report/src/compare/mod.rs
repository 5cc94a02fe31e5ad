//! A comparison as text, JSON and a page.

mod figures;
mod json;
mod page;
mod tables;
mod text;

pub use figures::{of_runs, of_sweeps};
pub use json::json;
pub use page::page;
pub use text::text;
