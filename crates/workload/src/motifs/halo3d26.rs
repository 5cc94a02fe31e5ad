//! `halo3d26`: halo exchange with faces, edges and corners.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::grid::Grid;
use super::{Build, compute, length};
use crate::tasks::{Motif, Script};
use weir_input::registry::{Entry, Keys};
use weir_input::{ConfigError, Duration, Section};
use weir_model::Time;

/// Halo3D26: tasks on a grid of three dimensions that is not periodic, x the fastest. An iteration:
/// a computation, receives from all up to 26 neighbours (6 faces, 12 edges, 8 corners), sends to
/// them in the same order, one wait for all, and an allreduce of 8 bytes.
///
/// (The allreduce is in the motif's documentation and in the paper; the public code of Ember leaves
/// it out.)
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
    /// Time of copying after the exchange.
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
            flops: 1e9,
            copy: Duration(0),
            reduce: true,
        }
    }
}

pub const ENTRY: Entry<Build> = Entry {
    name: "halo3d26",
    summary: "Halo exchange with the 26 neighbours on a three-dimensional grid, then an allreduce.",
    source: "SST Ember (Halo3D26); McGlohon et al., section IV",
    examples: &[r#"cells = [6, 6, 6], compute = "2 us", iterations = 2"#],
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
    Ok(Box::new(Halo3d26 {
        grid,
        cells: params.cells.map(u64::from),
        cell,
        iterations: params.iterations,
        compute: time.map_err(|invalid| section.refuse(invalid))?,
        copy: params.copy.0,
        reduce: params.reduce,
    }))
}

struct Halo3d26 {
    grid: Grid<3>,
    cells: [u64; 3],
    /// Bytes of a cell.
    cell: u64,
    iterations: u32,
    compute: Time,
    copy: Time,
    reduce: bool,
}

/// The directions to the neighbours in Ember's order: faces, edges, corners.
const WAYS: [[i32; 3]; 26] = [
    [-1, 0, 0],
    [1, 0, 0],
    [0, -1, 0],
    [0, 1, 0],
    [0, 0, -1],
    [0, 0, 1],
    [-1, -1, 0],
    [0, -1, -1],
    [1, -1, 0],
    [0, -1, 1],
    [-1, 0, 1],
    [1, 0, 1],
    [-1, 0, -1],
    [1, 0, -1],
    [-1, 1, 0],
    [0, 1, 1],
    [1, 1, 0],
    [0, 1, -1],
    [-1, -1, 1],
    [1, -1, 1],
    [-1, -1, -1],
    [1, -1, -1],
    [-1, 1, 1],
    [1, 1, 1],
    [-1, 1, -1],
    [1, 1, -1],
];

impl Motif for Halo3d26 {
    fn part(&self, part: u32, script: &mut Script) -> bool {
        if part >= self.iterations {
            return false;
        }
        let place = self.grid.place(script.task());
        let peers = WAYS.iter().filter_map(|&away| {
            // The cells that touch the neighbour: those along the dimensions in which the neighbour
            // has the same coordinate.
            let beside = (0..3).filter(|&d| away[d] == 0).map(|d| self.cells[d]);
            let bytes = self.cell * beside.product::<u64>();
            Some((self.grid.at(place, away)?, bytes))
        });
        let peers: Vec<(u32, u64)> = peers.collect();
        script.compute(self.compute);
        let mark = script.mark();
        for &(from, _) in &peers {
            script.irecv(from, 0);
        }
        for &(to, bytes) in &peers {
            script.isend(to, bytes, 0);
        }
        script.wait_all(script.since(mark));
        script.compute(self.copy);
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
    fn the_middle_of_12_cubed() {
        let task = 5 + 5 * 12 + 5 * 144;
        let words = words(&ops("halo3d26", "cells = [10, 20, 30]", task, 1_728));
        assert_eq!(words.len(), 1 + 26 + 26 + 2);
        // 6,000 cells of 26 operations at 1e9 per second.
        assert_eq!(words[0], "Compute=156000000");
        assert_eq!(
            words[1..3],
            [format!("Irecv<{}", task - 1), format!("Irecv<{}", task + 1)]
        );
        // Faces of 20·30, 10·30 and 10·20 cells of 8 bytes.
        let faces: Vec<&str> = words[27..33]
            .iter()
            .map(|w| w.split('=').nth(1).unwrap())
            .collect();
        assert_eq!(faces, ["4800", "4800", "2400", "2400", "1600", "1600"]);
        let edges: Vec<&str> = words[33..45]
            .iter()
            .map(|w| w.split('=').nth(1).unwrap())
            .collect();
        assert_eq!(
            edges,
            [
                "240", "80", "240", "80", "160", "160", "160", "160", "240", "80", "240", "80"
            ]
        );
        assert!(words[45..53].iter().all(|w| w.ends_with("=8")));
        assert_eq!(words[53..], ["Wait*52", "Allreduce=8"]);
    }

    #[test]
    fn what_8000_tasks_send() {
        // The published size: 100³ cells of 8 bytes; a corner has three faces, three edges and a
        // corner.
        let words = words(&ops("halo3d26", "compute = \"0 ns\"", 0, 8_000));
        assert_eq!(
            words[7..14],
            [
                "Isend>1=80000",
                "Isend>20=80000",
                "Isend>400=80000",
                "Isend>401=800",
                "Isend>420=800",
                "Isend>21=800",
                "Isend>421=8",
            ]
        );
    }

    #[test]
    fn all_tasks_finish() {
        run("halo3d26", "iterations = 3\ncells = [4, 4, 4]", 30);
    }
}
