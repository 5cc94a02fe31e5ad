//! `fft3d`: a three-dimensional Fourier transform, forth and back.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::Build;
use crate::tasks::{Group, Motif, Script};
use weir_input::registry::{Entry, Keys};
use weir_input::{ConfigError, Section};
use weir_model::{Invalid, LONGEST_MESSAGE, Time};

/// FFT3D: tasks in rows and columns transform a cube of real numbers, forth and back. Forth: a
/// computation, an alltoall in each column (tasks with consecutive numbers), a computation, an
/// alltoall in each row, a computation, a barrier. Back: the same with the rows first. Parts are as
/// even as integers allow, so messages differ in size; each step of an alltoall shifts by one place
/// more.
#[derive(Clone, Debug, Deserialize, Serialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
struct Params {
    /// Numbers along an edge of the cube.
    points: u32,
    /// Tasks in a column; must divide the number of tasks. By default the divisor that is nearest
    /// to its root from below.
    #[serde(skip_serializing_if = "Option::is_none")]
    rows: Option<u32>,
    /// Repetitions.
    iterations: u32,
    /// Time of a computation for each number of a task, ns.
    ns_per_point: f64,
    /// Factors of the three computations forth.
    forth: [f64; 3],
    /// Factors of the three computations back. (The last one counts twice.)
    back: [f64; 3],
}

impl Default for Params {
    fn default() -> Self {
        Params {
            points: 100,
            rows: None,
            iterations: 1,
            ns_per_point: 1.0,
            forth: [1.0; 3],
            back: [1.0; 3],
        }
    }
}

/// Maximum number of points along an edge: 16 bytes for each of 2¹⁶ · 2¹⁷ · 2¹⁷ are still a message
/// of valid length.
const MOST_POINTS: u32 = 1 << 17;
const _: () = assert!(
    16 * ((MOST_POINTS as u64 / 2 + 1) * MOST_POINTS as u64 * MOST_POINTS as u64)
        < LONGEST_MESSAGE / 8
);

pub const ENTRY: Entry<Build> = Entry {
    name: "fft3d",
    summary: "A three-dimensional Fourier transform: alltoalls in columns and rows.",
    source: "SST Ember (FFT3D)",
    examples: &[r#"points = 24, ns_per_point = 0.01"#],
    parameters: Keys::of::<Params>(),
    build,
};

fn build(section: &Section, tasks: u32) -> Result<Box<dyn Motif>, ConfigError> {
    let params: Params = section.parse()?;
    let refuse = |key: &str, message: String, remedy: &str| {
        Err(section.refuse(Invalid::new(key, message, remedy)))
    };
    let divisors = super::grid::divisors(tasks);
    let root = f64::from(tasks).sqrt() as u32;
    let nearest = divisors.iter().rev().find(|&&n| n <= root.max(1));
    let rows = params.rows.or(nearest.copied()).unwrap_or(1);
    if !divisors.contains(&rows) {
        let message = format!("{tasks} tasks cannot stand in columns of {rows}");
        return refuse("rows", message, "write a divisor of the number of tasks");
    }
    // All products of three parts of the cube are then valid message lengths.
    if params.points > MOST_POINTS {
        let message = format!(
            "a cube of {} points along an edge is too large",
            params.points
        );
        let remedy = format!("write at most {MOST_POINTS}");
        return refuse("points", message, &remedy);
    }
    let columns = tasks / rows;
    let share = u64::from(params.points) * u64::from(params.points) / u64::from(tasks.max(1));
    let cost = params.ns_per_point * f64::from(params.points) * share as f64 * 1_000.0;
    let times = [params.forth, params.back].concat();
    let times = times.iter().enumerate().map(|(at, factor)| {
        let time = cost * factor * if at == 5 { 2.0 } else { 1.0 };
        (0.0..1e18).contains(&time).then_some(time.round() as Time)
    });
    let Some(times) = times.collect::<Option<Vec<Time>>>() else {
        let message = "a computation would take no time that can be simulated".to_string();
        return refuse(
            "ns_per_point",
            message,
            "write a time and factors of 0 or more",
        );
    };
    Ok(Box::new(Fft3d {
        points: params.points,
        rows,
        columns,
        iterations: params.iterations,
        times,
    }))
}

struct Fft3d {
    points: u32,
    rows: u32,
    columns: u32,
    iterations: u32,
    /// Times of the six computations.
    times: Vec<Time>,
}

/// Length of part `at` of `points` that are divided as evenly as possible; the first parts have one
/// more.
fn part_of(points: u32, parts: u32, at: u32) -> u64 {
    u64::from(points / parts) + u64::from(at < points % parts)
}

impl Motif for Fft3d {
    /// An iteration has two parts: forth and back.
    fn part(&self, part: u32, script: &mut Script) -> bool {
        if part / 2 >= self.iterations {
            return false;
        }
        let (row, column) = (script.task() % self.rows, script.task() / self.rows);
        let in_column = Group {
            first: column * self.rows,
            stride: 1,
            count: self.rows,
        };
        let in_row = Group {
            first: row,
            stride: self.rows,
            count: self.columns,
        };
        // The transform of real numbers has half of the complex numbers, and one more.
        let half = |at| part_of(self.points / 2 + 1, self.rows, at);
        let (by_row, by_column) = (
            |at| part_of(self.points, self.rows, at),
            |at| part_of(self.points, self.columns, at),
        );
        let complex = 2 * 8;
        let forth = |to| complex * half(to) * by_row(row) * by_column(column);
        let turned = |to| complex * half(row) * by_column(to) * by_column(column);
        let back = |to| complex * half(row) * by_row(to) * by_column(column);
        let times = &self.times[if part.is_multiple_of(2) { 0..3 } else { 3..6 }];
        script.compute(times[0]);
        if part.is_multiple_of(2) {
            alltoall(script, in_column, forth);
            script.compute(times[1]);
            alltoall(script, in_row, turned);
        } else {
            alltoall(script, in_row, turned);
            script.compute(times[1]);
            alltoall(script, in_column, back);
        }
        script.compute(times[2]);
        script.barrier();
        true
    }

    fn begins_iteration(&self, part: u32) -> bool {
        part.is_multiple_of(2)
    }
}

/// An alltoall of messages whose size depends on the receiver.
fn alltoall(script: &mut Script, group: Group, bytes: impl Fn(u32) -> u64) {
    let Some(me) = group.place(script.task()) else {
        return;
    };
    for away in 1..group.count {
        let to = (me + away) % group.count;
        let from = (me + group.count - away) % group.count;
        script.sendrecv(group.member(to), bytes(to), group.member(from), 0);
    }
}

#[cfg(test)]
mod tests {
    use super::super::testing::{ops, refusal, run, words};

    #[test]
    fn columns_first_then_rows() {
        // 2 in a column, 3 in a row; 6 of 10 / 2 + 1 complex numbers as 3 and 3, 10 as 5 and 5 and
        // as 4, 3 and 3.
        let words = words(&ops("fft3d", "points = 10\nrows = 2", 3, 6));
        let compute = format!("Compute={}", 10 * (100 / 6) * 1_000);
        let twice = format!("Compute={}", 2 * 10 * (100 / 6) * 1_000);
        let forth = [
            compute.as_str(),
            "Irecv<2",
            "Send>2=720",
            "Wait*1",
            &compute,
            "Irecv<1",
            "Send>5=432",
            "Wait*1",
            "Irecv<5",
            "Send>1=576",
            "Wait*1",
            &compute,
            "Barrier=0",
        ];
        let back = [
            compute.as_str(),
            "Irecv<1",
            "Send>5=432",
            "Wait*1",
            "Irecv<5",
            "Send>1=576",
            "Wait*1",
            &compute,
            "Irecv<2",
            "Send>2=720",
            "Wait*1",
            &twice,
            "Barrier=0",
        ];
        assert_eq!(words, [forth, back].concat());
    }

    #[test]
    fn all_tasks_finish() {
        run("fft3d", "points = 20\niterations = 2", 12);
        assert!(refusal("fft3d", "rows = 5", 12).contains("columns of 5"));
    }
}
