//! Assembles a run: experiment → network and domains → engine → results.

mod assemble;
mod bubbles;
mod collect;
mod critical_path;
mod error;
mod flows;
mod hang;
mod limits;
mod machine;
mod notes;
mod parameters;
mod plan;
mod run;
mod trial;
mod warnings;
mod watchman;
mod windows;

pub use assemble::{BuildQueueing, BuildRouting, BuildScheme, Own};
pub use collect::cost::{area_mm2, buffer_bytes};
pub use collect::{Facts, counts_as_nothing, scheme_numbers};
pub use critical_path::Log;
pub use error::RunError;
pub use machine::{CpuClock, now};
pub use notes::is_much;
pub use plan::{Plan, Warning};
pub use run::{Observer, Outcome, run};
pub use trial::{Sample, Trial, trial};

pub use crate::model::program::MODEL_VERSION;
