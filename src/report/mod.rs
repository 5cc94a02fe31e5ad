//! What people see of a result.

pub mod format;
pub mod summary;
