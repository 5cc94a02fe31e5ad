//! The description of the program for shells and manuals, and the names they complete.

pub mod completions;
pub mod names;
mod sections;
