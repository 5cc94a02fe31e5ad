//! `halo3d26`: halo exchange with faces, edges and corners.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::Build;
use super::halo::{Cells, Halo};
use crate::tasks::{Motif, Script};
use weir_input::registry::{Entry, Keys};
use weir_input::{ConfigError, Section};

/// Halo3D26: tasks on a grid of three dimensions that is not periodic, x the fastest. An iteration:
/// a computation, receives from all up to 26 neighbours (6 faces, 12 edges, 8 corners), sends to
/// them in the same order, one wait for all, and an allreduce of 8 bytes.
///
/// (The allreduce is in the motif's documentation and in the paper; the public code of Ember leaves
/// it out.)
#[derive(Clone, Debug, Default, Deserialize, Serialize, JsonSchema)]
struct Params(Cells<1>);

pub const ENTRY: Entry<Build> = Entry {
    name: "halo3d26",
    summary: "Halo exchange with the 26 neighbours on a three-dimensional grid, then an allreduce.",
    source: "SST Ember (Halo3D26); McGlohon et al., section IV",
    examples: &[r#"cells = [6, 6, 6], compute = "2 us", iterations = 2"#],
    parameters: Keys::of::<Params>(),
    build,
};

fn build(section: &Section, tasks: u32) -> Result<Box<dyn Motif>, ConfigError> {
    let Params(cells) = section.parse()?;
    Ok(Box::new(Halo3d26(cells.halo(section, tasks)?)))
}

struct Halo3d26(Halo);

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
        if part >= self.0.iterations {
            return false;
        }
        let place = self.0.grid.place(script.task());
        let peers = WAYS.iter().filter_map(|&away| {
            // The cells that touch the neighbour: along the dimensions in which it is beside this
            // one.
            let beside = (0..3).filter(|&d| away[d] == 0).map(|d| self.0.cells[d]);
            let bytes = self.0.cell * beside.product::<u64>();
            Some((self.0.grid.at(place, away)?, bytes))
        });
        let peers: Vec<(u32, u64)> = peers.collect();
        script.compute(self.0.compute);
        let mark = script.mark();
        for &(from, _) in &peers {
            script.irecv(from, 0);
        }
        for &(to, bytes) in &peers {
            script.isend(to, bytes, 0);
        }
        script.wait_all(script.since(mark));
        script.compute(self.0.copy);
        if self.0.reduce {
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
