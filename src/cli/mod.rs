//! The commands.

pub mod inspect;
pub mod progress;
