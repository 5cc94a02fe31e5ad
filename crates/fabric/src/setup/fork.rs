//! The parts of a state with which a run goes on from another one.

use weir_model::Time;

/// The parts of a saved state with which another run goes on. All others are as that run begins.
#[derive(Clone, Debug)]
pub struct Fork {
    /// Simulated time of the state, ps.
    pub at: Time,
    /// True for each workload of that run whose sources and tasks go on. Sources of others start
    /// at `at`, or later if the workload does.
    pub carried: Vec<bool>,
    /// True if the state of the congestion control scheme goes on.
    pub scheme: bool,
    /// Seed of that run.
    pub seed: u64,
}
