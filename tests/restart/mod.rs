//! Runs that are stopped, killed, saved and gone on with.

mod checkpoints;
mod interrupted;
mod machine;
mod saved_states;
