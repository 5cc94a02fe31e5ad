//! `halo3d`: halo exchange over the faces, one dimension after the other.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::Build;
use super::halo::{Cells, Halo};
use crate::tasks::{Motif, Script};
use weir_input::registry::{Entry, Keys};
use weir_input::{ConfigError, Section};

/// Halo3D: tasks on a grid of three dimensions that is not periodic, x the fastest. An iteration: a
/// computation; then in each dimension receives from both sides, blocking sends to both (the lower
/// one first), a wait for each receive and time to copy; then an allreduce of 8 bytes.
#[derive(Clone, Debug, Default, Deserialize, Serialize, JsonSchema)]
struct Params(Cells<10>);

pub const ENTRY: Entry<Build> = Entry {
    name: "halo3d",
    summary: "Halo exchange over the 6 faces of a three-dimensional grid, one dimension after the \
              other.",
    source: "SST Ember (Halo3D)",
    examples: &[r#"cells = [20, 20, 20], compute = "2 us""#],
    parameters: Keys::of::<Params>(),
    build,
};

fn build(section: &Section, tasks: u32) -> Result<Box<dyn Motif>, ConfigError> {
    let Params(cells) = section.parse()?;
    Ok(Box::new(Halo3d(cells.halo(section, tasks)?)))
}

struct Halo3d(Halo);

impl Motif for Halo3d {
    fn part(&self, part: u32, script: &mut Script) -> bool {
        if part >= self.0.iterations {
            return false;
        }
        let place = self.0.grid.place(script.task());
        script.compute(self.0.compute);
        for d in 0..3 {
            let face = self.0.cell * self.0.cells[(d + 1) % 3] * self.0.cells[(d + 2) % 3];
            let sides = [-1, 1].map(|by| {
                let mut away = [0; 3];
                away[d] = by;
                self.0.grid.at(place, away)
            });
            let peers = sides.into_iter().flatten();
            let receives: Vec<u32> = peers.clone().map(|from| script.irecv(from, 0)).collect();
            peers.for_each(|to| script.send(to, face, 0));
            receives.into_iter().for_each(|label| script.wait(label));
            script.compute(self.0.copy);
        }
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
