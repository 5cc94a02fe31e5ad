//! Studies: a job file is an experiment with axes, figures and claims.
//!
//! `job_file::keys` has the keys as they are written; `Study` is a checked job file, `Point` one of
//! its runs. `Metric` is a number of a result, `Table` the numbers of all points, `Claim` a
//! statement about them. `SweepDir` knows the layout of the directory, `sweep` runs the missing
//! points.

#![cfg_attr(not(test), deny(clippy::print_stdout, clippy::print_stderr))]

pub mod compare;
mod dir;
mod job_file;
mod metric;
mod outcome;
mod points;
pub mod slurm;
mod statistics;
pub mod sweep;
#[cfg(test)]
mod tests;
pub mod tune;

pub use dir::{PointDir, Reason, Setup, State, StateName, Status, SweepDir, about};
pub use job_file::Study;
pub use job_file::axis::{Axis, AxisValue};
pub use job_file::bound::quantity;
pub use job_file::claim::Claim;
pub use job_file::criterion::Criterion;
pub use job_file::figure::{Figure, FigureX, FigureY, Mark, Ratio, heat_time};
pub use job_file::keys::{Along, FigureKind, Interval, Options, Scale, SeedsBy, Slope, schemas};
pub use job_file::selection::Selection;
pub use metric::Metric;
pub use outcome::cell::cell;
pub use outcome::table::{Row, Table};
pub use outcome::verdict::{Count, Verdict};
pub use points::expand::{Brief, Checked, Points};
pub use points::{Point, Role};
pub use statistics::mean_interval;
pub use weir_input::registry::range::ScaleKind;
