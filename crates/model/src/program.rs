//! Versions of the program and of the simulated model, and the exit codes.

/// Version of the package.
pub const VERSION: &str = env!("CARGO_PKG_VERSION");

/// Raised by every change to weir that changes the results of an experiment that could be run
/// before. A sweep's directory keeps points of different versions apart.
pub const MODEL_VERSION: u32 = 25;

/// Exit codes of the process (contract). One that a signal ended has 128 and its number.
pub mod exit {
    /// The run or a point failed.
    pub const FAILED: u8 = 1;
    /// Bad input.
    pub const BAD_INPUT: u8 = 2;
    /// A claim does not hold, or is undecided.
    pub const CLAIM_FAILED: u8 = 3;
    /// Packets in flight can never move again, or an application waits for ever.
    pub const STALLED: u8 = 4;
    /// Stopped; the same command goes on from there.
    pub const RESUMABLE: u8 = 85;
}
