//! A study as job arrays of Slurm: the scripts, and the requests to Slurm.

mod queue;
mod record;
mod script;

pub use queue::{Queue, SlurmError, arguments};
pub use record::{Submission, Submitted, folders, next_folder};
pub use script::{Array, JOB_COPY, Settings, arrays, check_option};
