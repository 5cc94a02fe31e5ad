//! What a run will take, before it runs.
//!
//! [`Work`] is what an experiment is to do, from its numbers and its programs: nothing is simulated
//! and nothing is built. [`Forecast`] says what that takes, from what the beginning of the run has
//! taken (`simulation::Trial`). There is no clock here.

mod course;
mod extrapolate;
mod flow;
mod volume;
mod work;

pub use course::Course;
pub use extrapolate::{ASSUMED_RATE, Basis, Forecast};
pub use flow::{Amount, Flow};
pub use volume::Volume;
pub use work::{Records, Work};
