//! The identity of this program: its version, the commit that it was built from, and its features.

/// Version of the package.
pub const VERSION: &str = env!("CARGO_PKG_VERSION");

/// Commit of the sources, `+` after it if they were changed since; `unknown` if the build did not know. `WEIR_COMMIT` in
/// the environment of the build names it where there is no git.
pub const COMMIT: &str = env!("WEIR_COMMIT");

/// Raised by every change to weir that changes the results of an experiment that could be run before. A sweep's
/// directory keeps points of different versions apart.
pub const MODEL_VERSION: u32 = 12;

/// Cargo features of the build that change what the program can do, separated by commas; `none` if there are none.
pub const FEATURES: &str = if cfg!(feature = "mpi") { "mpi" } else { "none" };
