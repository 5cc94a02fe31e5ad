//! Assembles a run: experiment → network and domains → engine → results.

#![cfg_attr(not(test), deny(clippy::print_stdout, clippy::print_stderr))]

mod assemble;
pub mod catalog;
mod collect;
pub mod config;
mod error;
pub mod forecast;
mod machine;
mod notes;
mod plan;
mod run;
mod warnings;

pub use collect::cost::{area_mm2, buffer_bytes};
pub use collect::{Facts, counts_as_nothing, scheme_numbers};
pub use error::RunError;
pub use machine::{CpuClock, host, memory_bytes};
pub use notes::is_much;
pub use plan::{Plan, Warning};
pub use run::{
    Log, Means, Observer, Outcome, Sample, SavedState, Trial, checkpoint, fork, run, run_with,
    trial,
};
pub use warnings::{credit_shares, offered};

pub use weir_model::program::MODEL_VERSION;
