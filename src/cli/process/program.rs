//! The identity of this program: its version, the commit that it was built from, and its features.

pub use weir_model::program::{MODEL_VERSION, VERSION};

/// Commit of the sources, `+` after it if they were changed since; `unknown` if the build did not
/// know. `WEIR_COMMIT` in the environment of the build names it if there is no git.
pub const COMMIT: &str = env!("WEIR_COMMIT");

/// Cargo features of the build that change what the program can do, separated by commas; `none` if
/// there are none.
pub const FEATURES: &str = match (cfg!(feature = "mpi"), cfg!(feature = "figures")) {
    (true, true) => "mpi, figures",
    (true, false) => "mpi",
    (false, true) => "figures",
    (false, false) => "none",
};

/// This program in one line: states of another build mean something else.
pub fn build() -> String {
    format!("weir {VERSION}, commit {COMMIT}")
}
