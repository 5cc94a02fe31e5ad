//! The shared half of the halo exchanges on a three-dimensional grid of tasks.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::grid::Grid;
use super::{compute, length};
use weir_input::{ConfigError, Duration, Section};
use weir_model::Time;

/// The parameters, with a default number of 10^9 operations per second.
#[derive(Clone, Debug, Deserialize, Serialize, JsonSchema)]
#[serde(deny_unknown_fields, default, bound = "")]
#[schemars(inline)]
pub(super) struct Cells<const GIGAFLOPS: u32> {
    /// Tasks along x, y and z; the most even grid by default.
    #[serde(skip_serializing_if = "Option::is_none")]
    grid: Option<[u32; 3]>,
    /// Cells of a task along x, y and z.
    cells: [u32; 3],
    /// Values in a cell.
    fields: u32,
    /// Bytes of a value.
    width: u32,
    /// Repetitions.
    iterations: u32,
    /// Time of the computation; by default what `flops_per_cell` and `flops` say, which are left
    /// out otherwise.
    #[serde(skip_serializing_if = "Option::is_none")]
    compute: Option<Duration>,
    /// Operations for each value of each cell.
    flops_per_cell: f64,
    /// Operations per second.
    flops: f64,
    /// Time of copying after each wait for receives: after each dimension of `halo3d`, after the
    /// exchange of `halo3d26`.
    copy: Duration,
    /// True if an allreduce ends an iteration.
    reduce: bool,
}

impl<const GIGAFLOPS: u32> Default for Cells<GIGAFLOPS> {
    fn default() -> Self {
        Cells {
            grid: None,
            cells: [100; 3],
            fields: 1,
            width: 8,
            iterations: 1,
            compute: None,
            flops_per_cell: 26.0,
            flops: f64::from(GIGAFLOPS) * 1e9,
            copy: Duration(0),
            reduce: true,
        }
    }
}

/// A halo exchange, checked.
pub(super) struct Halo {
    pub grid: Grid<3>,
    pub cells: [u64; 3],
    /// Bytes of a cell.
    pub cell: u64,
    pub iterations: u32,
    pub compute: Time,
    pub copy: Time,
    pub reduce: bool,
}

impl<const GIGAFLOPS: u32> Cells<GIGAFLOPS> {
    /// The exchange that a section describes, on a grid that is not periodic.
    ///
    /// # Errors
    /// If the grid does not have `tasks` places, or a message or a time is too long.
    pub fn halo(self, section: &Section, tasks: u32) -> Result<Halo, ConfigError> {
        let usual = Self::default();
        let rates = |one: &Self| [one.flops_per_cell, one.flops];
        compute::one_of_both(section, self.compute, rates(&self), rates(&usual))?;
        let grid = Grid::new(section, "grid", self.grid, tasks, false)?;
        let cell = u64::from(self.fields) * u64::from(self.width);
        for [a, b] in [[0, 1], [1, 2], [2, 0]].map(|pair| pair.map(|d| u64::from(self.cells[d]))) {
            // The largest messages are faces.
            length(section, "cells", u128::from(a * b) * u128::from(cell))?;
        }
        let cells = self.cells.map(f64::from);
        let work = cells[0] * cells[1] * cells[2] * f64::from(self.fields) * self.flops_per_cell;
        let time = compute::time(self.compute, work, self.flops, "flops");
        Ok(Halo {
            grid,
            cells: self.cells.map(u64::from),
            cell,
            iterations: self.iterations,
            compute: time.map_err(|invalid| section.refuse(invalid))?,
            copy: self.copy.0,
            reduce: self.reduce,
        })
    }
}
