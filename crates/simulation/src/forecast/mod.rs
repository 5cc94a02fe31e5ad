//! Forecast of the cost of a run, before it runs.
//!
//! [`Work`] is the work of an experiment, from its numbers and its programs: nothing is simulated
//! and nothing is built. [`Forecast`] gives the cost of that, from the cost of the beginning of the
//! run (`simulation::Trial`). [`Scaling`] is the time on several ranks and threads. There is
//! no clock here.

mod course;
mod extrapolate;
mod flow;
mod scaling;
mod volume;
mod work;

pub use course::Course;
pub use extrapolate::{ASSUMED_RATE, Basis, Forecast};
pub use flow::{Amount, Flow};
pub use scaling::{Scaling, Workers};
pub use volume::Volume;
pub use work::{Records, Work};
