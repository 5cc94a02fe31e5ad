//! Runs that are stopped, killed, saved and gone on with.

mod checkpoints;
mod interrupted;
mod saved_states;
