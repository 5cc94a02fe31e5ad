//! Runs that are stopped, killed, saved and gone on with.

mod checkpoints;
mod crashes;
mod interrupted;
mod machine;
mod saved_states;
