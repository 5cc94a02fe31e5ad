//! `milc`: lattice quantum chromodynamics on a four-dimensional periodic grid.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::grid::Grid;
use super::{Build, bytes};
use crate::tasks::{Motif, Script};
use weir_input::registry::{Entry, Keys};
use weir_input::{ConfigError, Duration, Section, Size};
use weir_model::Time;

/// MILC: tasks on a periodic grid of four dimensions, the first the fastest. In an iteration,
/// twice: receives from and sends to both neighbours in each dimension (the lower one first), a
/// computation, and waiting for the sends, then for the receives. Two allreduces of 8 bytes end it.
#[derive(Clone, Debug, Deserialize, Serialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
struct Params {
    /// Tasks along each dimension; the most even grid by default.
    #[serde(skip_serializing_if = "Option::is_none")]
    grid: Option<[u32; 4]>,
    /// Repetitions.
    iterations: u32,
    /// Each message. Published: 6,144, 31,104, 98,304, 497,664 or 1,572,864 bytes (1.5 L³).
    bytes: Size,
    /// Time between sending and waiting.
    compute: Duration,
}

impl Default for Params {
    fn default() -> Self {
        Params {
            grid: None,
            iterations: 1,
            bytes: Size::Bits(8 * 497_664),
            compute: Duration(25_000),
        }
    }
}

pub const ENTRY: Entry<Build> = Entry {
    name: "milc",
    summary: "Exchanges with 8 neighbours on a four-dimensional torus, then allreduces.",
    source: "SWM (milc); McGlohon et al., section IV",
    examples: &[r#"bytes = "1 KiB", iterations = 2"#],
    parameters: Keys::of::<Params>(),
    build,
};

fn build(section: &Section, tasks: u32) -> Result<Box<dyn Motif>, ConfigError> {
    let params: Params = section.parse()?;
    Ok(Box::new(Milc {
        grid: Grid::new(section, "grid", params.grid, tasks, true)?,
        iterations: params.iterations,
        bytes: bytes(section, "bytes", params.bytes)?,
        compute: params.compute.0,
    }))
}

struct Milc {
    grid: Grid<4>,
    iterations: u32,
    bytes: u64,
    compute: Time,
}

impl Motif for Milc {
    fn part(&self, part: u32, script: &mut Script) -> bool {
        if part >= self.iterations {
            return false;
        }
        let place = self.grid.place(script.task());
        let away = |d: usize, by: i32| {
            let mut away = [0; 4];
            away[d] = by;
            away
        };
        let ways = (0..4).flat_map(|d| [away(d, -1), away(d, 1)]);
        let neighbours: Vec<u32> = ways.filter_map(|away| self.grid.at(place, away)).collect();
        for _ in 0..2 {
            let mark = script.mark();
            for &from in &neighbours {
                script.irecv(from, 0);
            }
            let receives = script.since(mark);
            let mark = script.mark();
            for &to in &neighbours {
                script.isend(to, self.bytes, 0);
            }
            let sends = script.since(mark);
            script.compute(self.compute);
            script.wait_all(sends);
            script.wait_all(receives);
        }
        script.allreduce(8);
        script.allreduce(8);
        true
    }
}

#[cfg(test)]
mod tests {
    use super::super::testing::{ops, refusal, run, words};

    #[test]
    fn the_neighbours_of_task_0_of_625() {
        let words = words(&ops("milc", "", 0, 625));
        let half = [
            "Irecv<4",
            "Irecv<1",
            "Irecv<20",
            "Irecv<5",
            "Irecv<100",
            "Irecv<25",
            "Irecv<500",
            "Irecv<125",
            "Isend>4=497664",
            "Isend>1=497664",
            "Isend>20=497664",
            "Isend>5=497664",
            "Isend>100=497664",
            "Isend>25=497664",
            "Isend>500=497664",
            "Isend>125=497664",
            "Compute=25000",
            "Wait*8",
            "Wait*8",
        ];
        assert_eq!(words[..19], half);
        assert_eq!(words[19..38], half);
        assert_eq!(words[38..], ["Allreduce=8", "Allreduce=8"]);
    }

    #[test]
    fn it_runs_also_where_both_neighbours_are_one() {
        let run = run(
            "milc",
            "grid = [2, 3, 1, 2]\niterations = 2\nbytes = \"6144 B\"",
            12,
        );
        let long = run.sent_by(7).into_iter().filter(|sent| sent.1 == 6_144);
        assert_eq!(long.count(), 2 * 2 * 8);
    }

    #[test]
    fn a_grid_must_fit() {
        let words = refusal("milc", "grid = [5, 5, 5, 4]", 625);
        assert!(
            words.contains("500 tasks") && words.contains("[5, 5, 5, 5]"),
            "{words}"
        );
    }
}
