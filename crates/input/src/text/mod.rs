//! Text that users write and read.

mod nearest;
pub mod printable;
pub mod rows;

pub use nearest::{nearest, suggest};
