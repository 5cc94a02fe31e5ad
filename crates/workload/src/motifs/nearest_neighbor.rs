//! `nearest_neighbor`: the 26 neighbours on a periodic grid.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::grid::Grid;
use super::{Build, bytes};
use crate::tasks::{Motif, Script};
use weir_input::registry::{Entry, Keys};
use weir_input::{ConfigError, Duration, Section, Size};
use weir_model::Time;

/// Tasks on a periodic grid of three dimensions exchange one message with each of the 26 around
/// them: receive and send are started in pairs, then all are waited for.
#[derive(Clone, Debug, Deserialize, Serialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
struct Params {
    /// Tasks along x, y and z, x the fastest; the most even grid by default.
    #[serde(skip_serializing_if = "Option::is_none")]
    grid: Option<[u32; 3]>,
    /// Repetitions.
    iterations: u32,
    /// Each message.
    bytes: Size,
    /// Time before each iteration.
    compute: Duration,
}

impl Default for Params {
    fn default() -> Self {
        Params {
            grid: None,
            iterations: 1,
            bytes: Size::Bits(8 * 32_768),
            compute: Duration(0),
        }
    }
}

pub const ENTRY: Entry<Build> = Entry {
    name: "nearest_neighbor",
    summary: "One message to each of the 26 neighbours on a three-dimensional torus.",
    source: "SWM (nearest neighbor)",
    examples: &[r#"bytes = "12 kB""#],
    parameters: Keys::of::<Params>(),
    build,
};

fn build(section: &Section, tasks: u32) -> Result<Box<dyn Motif>, ConfigError> {
    let params: Params = section.parse()?;
    Ok(Box::new(NearestNeighbor {
        grid: Grid::new(section, "grid", params.grid, tasks, true)?,
        iterations: params.iterations,
        bytes: bytes(section, "bytes", params.bytes)?,
        compute: params.compute.0,
    }))
}

/// The directions to the 26 cells around one, x the fastest.
pub(super) fn around() -> impl Iterator<Item = [i32; 3]> {
    let all = (-1..=1).flat_map(|z| (-1..=1).flat_map(move |y| (-1..=1).map(move |x| [x, y, z])));
    all.filter(|away| *away != [0, 0, 0])
}

struct NearestNeighbor {
    grid: Grid<3>,
    iterations: u32,
    bytes: u64,
    compute: Time,
}

impl Motif for NearestNeighbor {
    fn part(&self, part: u32, script: &mut Script) -> bool {
        if part >= self.iterations {
            return false;
        }
        script.compute(self.compute);
        let place = self.grid.place(script.task());
        let mark = script.mark();
        for peer in around().filter_map(|away| self.grid.at(place, away)) {
            script.irecv(peer, 0);
            script.isend(peer, self.bytes, 0);
        }
        script.wait_all(script.since(mark));
        true
    }
}

#[cfg(test)]
mod tests {
    use super::super::testing::{ops, run, words};

    #[test]
    fn twenty_six_pairs_and_one_wait() {
        let words = words(&ops("nearest_neighbor", "", 0, 4_096));
        assert_eq!(words.len(), 53);
        assert_eq!(words[..2], ["Irecv<4095", "Isend>4095=32768"]);
        assert_eq!(words[50..], ["Irecv<273", "Isend>273=32768", "Wait*52"]);
    }

    #[test]
    fn everybody_gets_26() {
        let run = run(
            "nearest_neighbor",
            "grid = [3, 4, 5]\nbytes = \"100 B\"",
            60,
        );
        let mut got = vec![0; 60];
        for task in 0..60 {
            run.sent_by(task)
                .iter()
                .for_each(|sent| got[sent.0 as usize] += 1);
        }
        assert_eq!(got, vec![26; 60]);
    }
}
