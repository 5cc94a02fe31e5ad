//! Assembles a run: experiment → network and domains → engine → results.

mod assemble;
mod attribution;
mod bubbles;
mod collect;
mod cost;
mod critical_path;
mod error;
mod flows;
mod fluid;
mod hang;
mod jobs;
mod limits;
mod machine;
mod notes;
mod parameters;
mod phases;
mod rows;
mod run;
mod trial;
mod warnings;
mod watchman;
mod windows;

pub use assemble::{BuildQueueing, BuildRouting, BuildScheme, Own, Plan};
pub use collect::{Facts, counts_as_nothing, scheme_numbers};
pub use cost::{area_mm2, buffer_bytes};
pub use critical_path::Log;
pub use error::RunError;
pub use machine::{CpuClock, now};
pub use notes::is_much;
pub use run::{Observer, Outcome, run};
pub use trial::{Sample, Trial, trial};
pub use warnings::Warning;

pub use crate::model::program::MODEL_VERSION;
