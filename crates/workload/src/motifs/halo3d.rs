//! `halo3d`: halo exchange over the faces, one dimension after the other.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::grid::Grid;
use super::{Build, compute, length};
use crate::tasks::{Motif, Script};
use weir_input::registry::{Entry, Keys};
use weir_input::{ConfigError, Duration, Section};
use weir_model::Time;

/// Halo3D: tasks on a grid of three dimensions that is not periodic, x the fastest. An iteration: a
/// computation; then in each dimension receives from both sides, blocking sends to both (the lower
/// one first), a wait for each receive and time to copy; then an allreduce of 8 bytes.
#[derive(Clone, Debug, Deserialize, Serialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
struct Params {
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
    /// Time of the computation; by default what `flops_per_cell` and `flops` say.
    #[serde(skip_serializing_if = "Option::is_none")]
    compute: Option<Duration>,
    /// Operations for each value of each cell.
    flops_per_cell: f64,
    /// Operations per second.
    flops: f64,
    /// Time of copying after each dimension.
    copy: Duration,
    /// True if an allreduce ends an iteration.
    reduce: bool,
}

impl Default for Params {
    fn default() -> Self {
        Params {
            grid: None,
            cells: [100; 3],
            fields: 1,
            width: 8,
            iterations: 1,
            compute: None,
            flops_per_cell: 26.0,
            flops: 1e10,
            copy: Duration(0),
            reduce: true,
        }
    }
}

pub const ENTRY: Entry<Build> = Entry {
    name: "halo3d",
    summary: "Halo exchange over the 6 faces of a three-dimensional grid, one dimension after the other.",
    source: "SST Ember (Halo3D)",
    examples: &[r#"cells = [20, 20, 20], compute = "2 us""#],
    parameters: Keys::of::<Params>(),
    build,
};

fn build(section: &Section, tasks: u32) -> Result<Box<dyn Motif>, ConfigError> {
    let params: Params = section.parse()?;
    let grid = Grid::new(section, "grid", params.grid, tasks, false)?;
    let cell = u64::from(params.fields) * u64::from(params.width);
    for [a, b] in [[0, 1], [1, 2], [2, 0]].map(|pair| pair.map(|d| u64::from(params.cells[d]))) {
        // The largest messages are faces.
        length(section, "cells", u128::from(a * b) * u128::from(cell))?;
    }
    let cells = params.cells.map(f64::from);
    let work = cells[0] * cells[1] * cells[2] * f64::from(params.fields) * params.flops_per_cell;
    let time = compute::time(params.compute, work, params.flops, "flops");
    Ok(Box::new(Halo3d {
        grid,
        cells: params.cells.map(u64::from),
        cell,
        iterations: params.iterations,
        compute: time.map_err(|invalid| section.refuse(invalid))?,
        copy: params.copy.0,
        reduce: params.reduce,
    }))
}

struct Halo3d {
    grid: Grid<3>,
    cells: [u64; 3],
    /// Bytes of a cell.
    cell: u64,
    iterations: u32,
    compute: Time,
    copy: Time,
    reduce: bool,
}

impl Motif for Halo3d {
    fn part(&self, part: u32, script: &mut Script) -> bool {
        if part >= self.iterations {
            return false;
        }
        let place = self.grid.place(script.task());
        script.compute(self.compute);
        for d in 0..3 {
            let face = self.cell * self.cells[(d + 1) % 3] * self.cells[(d + 2) % 3];
            let sides = [-1, 1].map(|by| {
                let mut away = [0; 3];
                away[d] = by;
                self.grid.at(place, away)
            });
            let peers = sides.into_iter().flatten();
            let receives: Vec<u32> = peers.clone().map(|from| script.irecv(from, 0)).collect();
            peers.for_each(|to| script.send(to, face, 0));
            receives.into_iter().for_each(|label| script.wait(label));
            script.compute(self.copy);
        }
        if self.reduce {
            script.allreduce(8);
        }
        true
    }
}

#[cfg(test)]
mod tests {
    use super::super::testing::{ops, run, words};

    #[test]
    fn the_middle_of_a_grid() {
        let task = 1 + 3 + 9;
        let words = words(&ops(
            "halo3d",
            "cells = [1, 2, 3]\ncopy = \"5 ns\"",
            task,
            27,
        ));
        let dimension = |low: u32, high: u32, bytes: u32| {
            [
                format!("Irecv<{low}"),
                format!("Irecv<{high}"),
                format!("Send>{low}={bytes}"),
                format!("Send>{high}={bytes}"),
                "Wait*1".into(),
                "Wait*1".into(),
                "Compute=5000".into(),
            ]
        };
        // 6 cells of 26 operations at 1e10 per second.
        assert_eq!(words[0], "Compute=15600");
        assert_eq!(words[1..8], dimension(12, 14, 48));
        assert_eq!(words[8..15], dimension(10, 16, 24));
        assert_eq!(words[15..22], dimension(4, 22, 16));
        assert_eq!(words[22..], ["Allreduce=8"]);
    }

    #[test]
    fn all_tasks_finish() {
        run("halo3d", "iterations = 2\ncells = [40, 40, 4]", 30);
    }
}
