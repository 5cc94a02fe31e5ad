//! Versions of the program and of the simulated model.

/// Version of the package.
pub const VERSION: &str = env!("CARGO_PKG_VERSION");

/// Raised by every change to weir that changes the results of an experiment that could be run
/// before. A sweep's directory keeps points of different versions apart.
pub const MODEL_VERSION: u32 = 19;
