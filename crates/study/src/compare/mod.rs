//! Comparison of runs, and of sweeps, with the first of them.

mod bounds;
mod comparison;
mod keys;
mod places;
mod runs;
mod sweeps;
#[cfg(test)]
mod tests;

pub use bounds::Bounds;
pub use comparison::{
    Change, Compared, Comparison, Identical, KeyChange, NoteChange, NumberChange, PointAlone,
};
pub use runs::{RunResult, compare_runs};
pub use sweeps::{SweepResult, compare_sweeps};
