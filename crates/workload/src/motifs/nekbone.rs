//! `nekbone`: conjugate gradients of a spectral element code.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::grid::Grid;
use super::nearest_neighbor::around;
use super::{Build, length};
use crate::tasks::{Motif, Script};
use weir_input::registry::{Entry, Keys};
use weir_input::{ConfigError, Section};
use weir_model::Invalid;

/// Nekbone: tasks on a grid of three dimensions that is not periodic, x the fastest. An exchange
/// goes to all up to 26 neighbours: with n points along an edge, 8 n² bytes over a face, 8 n over
/// an edge and 8 over a corner. For each of the sizes: two exchanges, a solution by conjugate
/// gradients, a barrier, another solution. A solution is an allreduce, then in each iteration an
/// allreduce, an exchange and two allreduces, of 8 bytes each.
///
/// An exchange waits for what it receives; what it sends is waited for at the end of the iteration.
#[derive(Clone, Debug, Deserialize, Serialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
struct Params {
    /// Tasks along x, y and z; the most even grid by default.
    #[serde(skip_serializing_if = "Option::is_none")]
    grid: Option<[u32; 3]>,
    /// Points along an edge of a task's part, for each size of the problem.
    points: Vec<u32>,
    /// Iterations of a solution.
    iterations: u32,
}

impl Default for Params {
    fn default() -> Self {
        Params {
            grid: None,
            points: vec![105, 144],
            iterations: 100,
        }
    }
}

pub const ENTRY: Entry<Build> = Entry {
    name: "nekbone",
    summary: "Conjugate gradients: exchanges with up to 26 neighbours and allreduces.",
    source: "SWM (nekbone)",
    examples: &[r#"points = [3, 5], iterations = 3"#],
    parameters: Keys::of::<Params>(),
    build,
};

fn build(section: &Section, tasks: u32) -> Result<Box<dyn Motif>, ConfigError> {
    let params: Params = section.parse()?;
    // A face has 8 bytes for each of its points.
    for &points in &params.points {
        let face = u128::from(points) * u128::from(points);
        length(section, "points", 8 * face)?;
    }
    let rounds = 2 * (u64::from(params.iterations) + 2);
    if params.points.is_empty() || rounds * params.points.len() as u64 > u64::from(u32::MAX) {
        return Err(section.refuse(Invalid::new(
            "points",
            format!(
                "{} sizes of {} iterations cannot be run",
                params.points.len(),
                params.iterations
            ),
            "name one or more sizes, and fewer iterations in all",
        )));
    }
    Ok(Box::new(Nekbone {
        grid: Grid::new(section, "grid", params.grid, tasks, false)?,
        points: params.points,
        iterations: params.iterations,
    }))
}

struct Nekbone {
    grid: Grid<3>,
    points: Vec<u32>,
    iterations: u32,
}

impl Motif for Nekbone {
    /// For each size, parts 0 and 1 are the first exchanges. Each solution is its first allreduce
    /// (after the barrier, if it is the second) and its iterations.
    fn part(&self, part: u32, script: &mut Script) -> bool {
        let solution = self.iterations + 1;
        let of_a_size = self.parts_of_a_size();
        let Some(&points) = self.points.get((part / of_a_size) as usize) else {
            return false;
        };
        let part = part % of_a_size;
        if part < 2 {
            self.exchange(u64::from(points), script);
            return true;
        }
        match (part - 2) % solution {
            0 => {
                if part > 2 {
                    script.barrier();
                }
                script.allreduce(8);
            }
            _ => {
                script.allreduce(8);
                self.exchange(u64::from(points), script);
                script.allreduce(8);
                script.allreduce(8);
            }
        }
        true
    }

    /// An iteration is one size of the problem.
    fn begins_iteration(&self, part: u32) -> bool {
        part.is_multiple_of(self.parts_of_a_size())
    }
}

impl Nekbone {
    fn parts_of_a_size(&self) -> u32 {
        2 + 2 * (self.iterations + 1)
    }

    fn exchange(&self, points: u64, script: &mut Script) {
        let place = self.grid.place(script.task());
        let peers = around().filter_map(|away| {
            let across = away.iter().filter(|&&d| d != 0).count();
            let bytes = 8 * [1, points * points, points, 1][across];
            Some((self.grid.at(place, away)?, bytes))
        });
        let peers: Vec<(u32, u64)> = peers.collect();
        let mark = script.mark();
        for &(from, _) in &peers {
            script.irecv(from, 0);
        }
        let receives = script.since(mark);
        for &(to, bytes) in &peers {
            script.isend(to, bytes, 0);
        }
        script.wait_all(receives);
    }
}

#[cfg(test)]
mod tests {
    use super::super::testing::{ops, run, words};

    #[test]
    fn a_corner_and_the_middle_of_13_cubed() {
        let corner = words(&ops("nekbone", "", 0, 2_197));
        assert_eq!(
            corner[..15],
            [
                "Irecv<1",
                "Irecv<13",
                "Irecv<14",
                "Irecv<169",
                "Irecv<170",
                "Irecv<182",
                "Irecv<183",
                "Isend>1=88200",
                "Isend>13=88200",
                "Isend>14=840",
                "Isend>169=88200",
                "Isend>170=840",
                "Isend>182=840",
                "Isend>183=8",
                "Wait*7",
            ]
        );
        let middle = ops("nekbone", "", 6 + 6 * 13 + 6 * 169, 2_197);
        let count =
            |words: &[String], what: &str| words.iter().filter(|w| w.starts_with(what)).count();
        let middle = words(&middle);
        // Two exchanges and two solutions of 100 iterations for each of two sizes.
        assert_eq!(count(&middle, "Isend"), 2 * 202 * 26);
        assert_eq!(count(&middle, "Allreduce"), 2 * 2 * (1 + 300));
        assert_eq!(count(&middle, "Barrier"), 2);
        let second = |bytes: u64| {
            middle
                .iter()
                .filter(|w| w.ends_with(&format!("={bytes}")))
                .count()
        };
        assert_eq!((second(165_888), second(1_152)), (202 * 6, 202 * 12));
    }

    #[test]
    fn it_comes_to_its_end() {
        let run = run(
            "nekbone",
            "grid = [2, 3, 2]\npoints = [3]\niterations = 2",
            12,
        );
        assert!(run.sent_by(0).iter().any(|sent| sent.1 == 72));
    }
}
