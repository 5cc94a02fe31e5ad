//! Runs that are stopped, killed, saved and gone on with.

mod checkpoints;
mod crashes;
mod fork_sweeps;
mod forks;
mod interrupted;
mod machine;
mod saved_states;

use crate::support::Experiment;

/// Far longer than any test waits for.
fn endless() -> Experiment {
    Experiment::dragonfly(2, 4, 2).uniform(0.5).until("100 s")
}
