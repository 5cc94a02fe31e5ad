//! Studies: a job file is an experiment with axes, figures and claims.
//!
//! `file` has the keys as they are written; `Study` is a checked job file, `Point` one of its runs.
//! `Metric` is a number of a result, `Table` the numbers of all points, `Claim` a statement about
//! them. `SweepDir` knows the layout of the directory, `sweep` runs the missing points.

#![cfg_attr(not(test), deny(clippy::print_stdout, clippy::print_stderr))]

mod alone;
mod axis;
mod cell;
mod claim;
pub mod compare;
mod criterion;
mod dir;
mod expand;
mod figure;
mod file;
mod grid;
mod job_file;
mod metric;
mod needs;
mod point;
mod selection;
pub mod slurm;
pub mod sweep;
mod table;
#[cfg(test)]
mod tests;
pub mod tune;
mod verdict;

pub use axis::{Axis, AxisValue, quantity};
pub use cell::cell;
pub use claim::Claim;
pub use criterion::Criterion;
pub use dir::{PointDir, Reason, Setup, State, StateName, Status, SweepDir, about};
pub use expand::{Brief, Checked, Points};
pub use figure::{Figure, FigureX, FigureY, Mark, Ratio, heat_time};
pub use file::{Along, FigureKind, Interval, Options, Scale, SeedsBy, Slope, schemas};
pub use job_file::Study;
pub use metric::Metric;
pub use point::{Point, Role};
pub use selection::Selection;
pub use table::{Row, Table};
pub use verdict::{Seeds, Verdict};
pub use weir_input::registry::range::ScaleKind;
