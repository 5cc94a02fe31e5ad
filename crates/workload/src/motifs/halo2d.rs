//! `halo2d`: halo exchange on a plane with blocking sends and receives.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::grid::Grid;
use super::{Build, bytes};
use crate::tasks::{Motif, Peer, Script};
use weir_input::registry::{Entry, Keys};
use weir_input::{ConfigError, Duration, Section, Size};
use weir_model::Time;

/// Halo2D: tasks on a grid of two dimensions that is not periodic, x the fastest. An iteration: a
/// computation; east and west; time to copy; north and south. All sends and receives block: the
/// even columns (rows) receive first and begin in the east (north), the odd ones send first and
/// begin on the other side.
#[derive(Clone, Debug, Deserialize, Serialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
struct Params {
    /// Tasks along x and y; the most even grid by default.
    #[serde(skip_serializing_if = "Option::is_none")]
    grid: Option<[u32; 2]>,
    /// Repetitions.
    iterations: u32,
    /// Messages to the east and the west.
    bytes_x: Size,
    /// Messages to the north and the south.
    bytes_y: Size,
    /// Time of the computation.
    compute: Duration,
    /// Time of copying between the two dimensions.
    copy: Duration,
}

impl Default for Params {
    fn default() -> Self {
        Params {
            grid: None,
            iterations: 10,
            bytes_x: Size::Bits(8 * 128),
            bytes_y: Size::Bits(8 * 128),
            compute: Duration(10_000),
            copy: Duration(5_000),
        }
    }
}

pub const ENTRY: Entry<Build> = Entry {
    name: "halo2d",
    summary: "Halo exchange on a two-dimensional grid with blocking sends and receives.",
    source: "SST Ember (Halo2D)",
    examples: &[""],
    parameters: Keys::of::<Params>(),
    build,
};

fn build(section: &Section, tasks: u32) -> Result<Box<dyn Motif>, ConfigError> {
    let params: Params = section.parse()?;
    Ok(Box::new(Halo2d {
        grid: Grid::new(section, "grid", params.grid, tasks, false)?,
        iterations: params.iterations,
        bytes: [
            bytes(section, "bytes_x", params.bytes_x)?,
            bytes(section, "bytes_y", params.bytes_y)?,
        ],
        compute: params.compute.0,
        copy: params.copy.0,
    }))
}

struct Halo2d {
    grid: Grid<2>,
    iterations: u32,
    bytes: [u64; 2],
    compute: Time,
    copy: Time,
}

impl Motif for Halo2d {
    fn part(&self, part: u32, script: &mut Script) -> bool {
        if part >= self.iterations {
            return false;
        }
        let place = self.grid.place(script.task());
        let at = |x, y| self.grid.at(place, [x, y]);
        script.compute(self.compute);
        // Even tasks begin in the east and in the north (the rows before), odd ones on the other
        // side.
        exchange(
            script,
            place[0].is_multiple_of(2),
            [at(1, 0), at(-1, 0)],
            self.bytes[0],
        );
        script.compute(self.copy);
        exchange(
            script,
            place[1].is_multiple_of(2),
            [at(0, -1), at(0, 1)],
            self.bytes[1],
        );
        true
    }
}

fn exchange(script: &mut Script, even: bool, sides: [Option<Peer>; 2], bytes: u64) {
    let order = if even { [0, 1] } else { [1, 0] };
    for peer in order.into_iter().filter_map(|side| sides[side]) {
        if even {
            script.recv(peer, 0);
            script.send(peer, bytes, 0);
        } else {
            script.send(peer, bytes, 0);
            script.recv(peer, 0);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::super::testing::{ops, run, words};

    #[test]
    fn even_and_odd_take_turns() {
        let at = |task| {
            words(&ops(
                "halo2d",
                "iterations = 1\nbytes_y = \"64 B\"",
                task,
                9,
            ))
        };
        assert_eq!(
            at(4),
            [
                "Compute=10000",
                "Send>3=128",
                "Recv<3",
                "Send>5=128",
                "Recv<5",
                "Compute=5000",
                "Send>7=64",
                "Recv<7",
                "Send>1=64",
                "Recv<1",
            ]
        );
        assert_eq!(
            at(0),
            [
                "Compute=10000",
                "Recv<1",
                "Send>1=128",
                "Compute=5000",
                "Recv<3",
                "Send>3=64"
            ]
        );
    }

    #[test]
    fn nobody_waits_for_ever() {
        run("halo2d", "bytes_x = \"1 MiB\"", 35);
    }
}
