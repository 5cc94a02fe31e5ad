//! The commands: one file each.

pub mod list;
pub mod schema;
