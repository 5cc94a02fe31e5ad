//! `sweep3d`: wavefronts from the corners of a plane of tasks.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::grid::Grid;
use super::{Build, compute, length};
use crate::tasks::{Motif, Script};
use weir_input::registry::{Entry, Keys};
use weir_input::{ConfigError, Duration, Section};
use weir_model::{Invalid, LATEST, Time};

/// Sweep3D: tasks on a grid of two dimensions, x the fastest, each with a column of cells. A sweep
/// starts at a corner; for each block of layers a task receives from the two sides where it comes
/// from, computes, and sends to the two others; all of that blocks. Eight sweeps make an iteration:
/// twice from (0, 0), (X, 0), (X, Y) and (0, Y).
#[derive(Clone, Debug, Deserialize, Serialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
struct Params {
    /// Tasks along x and y; the most even grid by default.
    #[serde(skip_serializing_if = "Option::is_none")]
    grid: Option<[u32; 2]>,
    /// Cells of a task along x, y and z.
    cells: [u32; 3],
    /// Layers in a block; must divide the cells along z.
    block: u32,
    /// Values in a cell.
    fields: u32,
    /// Bytes of a value.
    width: u32,
    /// Repetitions.
    iterations: u32,
    /// Time for a layer of one field; by default what `flops_per_cell` and `flops` say, which are
    /// left out otherwise.
    #[serde(skip_serializing_if = "Option::is_none")]
    compute: Option<Duration>,
    /// Operations for each cell of a layer.
    flops_per_cell: f64,
    /// Operations per second.
    flops: f64,
}

impl Default for Params {
    fn default() -> Self {
        Params {
            grid: None,
            cells: [50; 3],
            block: 1,
            fields: 8,
            width: 8,
            iterations: 1,
            compute: None,
            flops_per_cell: 275.0,
            flops: 1e9,
        }
    }
}

pub const ENTRY: Entry<Build> = Entry {
    name: "sweep3d",
    summary: "Wavefronts from the corners of a two-dimensional grid.",
    source: "SST Ember (Sweep3D)",
    examples: &[r#"cells = [10, 10, 6], compute = "100 ns""#],
    parameters: Keys::of::<Params>(),
    build,
};

fn build(section: &Section, tasks: u32) -> Result<Box<dyn Motif>, ConfigError> {
    let params: Params = section.parse()?;
    let usual = Params::default();
    let rates = |one: &Params| [one.flops_per_cell, one.flops];
    compute::one_of_both(section, params.compute, rates(&params), rates(&usual))?;
    let grid = Grid::new(section, "grid", params.grid, tasks, false)?;
    let [x, y, z] = params.cells;
    if params.block == 0 || z % params.block > 0 {
        return Err(section.refuse(Invalid::new(
            "block",
            format!(
                "{z} layers cannot be divided into blocks of {}",
                params.block
            ),
            "write a divisor of the cells along z",
        )));
    }
    let work = f64::from(x) * f64::from(y) * params.flops_per_cell;
    let layer = compute::time(params.compute, work, params.flops, "flops");
    let layer = layer.map_err(|invalid| section.refuse(invalid))?;
    let blocks = z / params.block;
    if blocks > MOST_BLOCKS {
        return Err(section.refuse(Invalid::new(
            "block",
            format!(
                "{z} layers in blocks of {} are {blocks} blocks; at most {MOST_BLOCKS} are \
                     possible",
                params.block
            ),
            "write larger blocks or fewer cells along z",
        )));
    }
    let block = u64::from(params.block) * u64::from(params.fields);
    let [along_x, along_y] = [x, y].map(|cells| u64::from(cells) * u64::from(params.width));
    let side = |side| length(section, "cells", u128::from(block) * u128::from(side));
    let compute = layer.saturating_mul(block);
    if compute > LATEST {
        return Err(section.refuse(Invalid::new(
            "block",
            format!(
                "the computation of a block would take {layer} ps for each of {block} layers \
                     and fields"
            ),
            "write less work, smaller blocks or fewer fields",
        )));
    }
    Ok(Box::new(Sweep3d {
        grid,
        blocks,
        bytes: [side(along_x)?, side(along_y)?],
        sweeps: params.iterations * SWEEPS_EACH,
        compute,
    }))
}

struct Sweep3d {
    grid: Grid<2>,
    /// Blocks of layers.
    blocks: u32,
    /// Lengths of a message along x and along y.
    bytes: [u64; 2],
    sweeps: u32,
    /// Time for a block.
    compute: Time,
}

/// Directions of the sweeps, and their tags.
const SWEEPS: [([i32; 2], u32); 4] = [
    ([1, 1], 1_000),
    ([-1, 1], 2_000),
    ([-1, -1], 3_000),
    ([1, -1], 4_000),
];

/// Maximum number of blocks of a task: the operations of all of them are in memory at once.
const MOST_BLOCKS: u32 = 1 << 16;

/// Sweeps of an iteration.
const SWEEPS_EACH: u32 = 8;

impl Motif for Sweep3d {
    fn part(&self, part: u32, script: &mut Script) -> bool {
        if part >= self.sweeps {
            return false;
        }
        let ([x, y], tag) = SWEEPS[part as usize % 4];
        let place = self.grid.place(script.task());
        let from = [[-x, 0], [0, -y]].map(|away| self.grid.at(place, away));
        let to = [[x, 0], [0, y]].map(|away| self.grid.at(place, away));
        for _ in 0..self.blocks {
            from.into_iter()
                .flatten()
                .for_each(|from| script.recv(from, tag));
            script.compute(self.compute);
            for (to, bytes) in to.into_iter().zip(self.bytes) {
                if let Some(to) = to {
                    script.send(to, bytes, tag);
                }
            }
        }
        true
    }

    fn begins_iteration(&self, part: u32) -> bool {
        part.is_multiple_of(SWEEPS_EACH)
    }
}

#[cfg(test)]
mod tests {
    use super::super::testing::{ops, refusal, run, words};

    #[test]
    fn the_first_sweep_starts_at_the_first_task() {
        let parameters = "cells = [10, 20, 6]\nblock = 3";
        let first = words(&ops("sweep3d", parameters, 0, 12));
        // 200 cells of 275 operations, 3 layers, 8 fields.
        let block = ["Compute=1320000000", "Send>1=1920", "Send>3=3840"];
        assert_eq!(first[..6], block.repeat(2));
        let inner = words(&ops("sweep3d", parameters, 4, 12));
        assert_eq!(
            inner[..5],
            [
                "Recv<3",
                "Recv<1",
                "Compute=1320000000",
                "Send>5=1920",
                "Send>7=3840"
            ]
        );
        // Then from the corner at the other end of x.
        assert_eq!(
            inner[10..15],
            [
                "Recv<5",
                "Recv<1",
                "Compute=1320000000",
                "Send>3=1920",
                "Send>7=3840"
            ]
        );
        assert_eq!(inner.len(), 8 * 2 * 5);
    }

    #[test]
    fn sweeps_come_through() {
        run("sweep3d", "cells = [50, 50, 5]", 20);
    }

    #[test]
    fn blocks_must_fit() {
        assert!(refusal("sweep3d", "block = 3", 4).contains("50 layers"));
    }
}
