//! `ptrans`: a matrix that is spread over a grid of tasks is transposed.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::grid::Grid;
use super::{Build, length};
use crate::tasks::{Motif, Script};
use weir_input::registry::{Entry, Keys};
use weir_input::{ConfigError, Duration, Section};
use weir_model::{Invalid, Time, gcd};

/// The parallel transposition of HPCC, A = Aᵀ + C: a square matrix of numbers of 8 bytes lies
/// block-cyclically on a grid of P rows and Q columns of tasks, task p Q + q in row p and column q.
/// Its element (i, j) belongs to the task in row i mod P and column j mod Q, and goes to that of
/// (j, i). Task (p, q) therefore sends a message to each other task (p', q') with p' = q and q' = p
/// modulo the greatest common divisor of P and Q. On a square grid it sends to its mirror image
/// alone, and tasks of the diagonal send nothing. Receive and send are started in pairs, then all
/// are waited for; the sum takes `compute`; a barrier ends the iteration, as between two
/// measurements of HPCC.
#[derive(Clone, Debug, Deserialize, Serialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
struct Params {
    /// Tasks along the columns and along the rows, [Q, P]; the most even grid by default.
    #[serde(skip_serializing_if = "Option::is_none")]
    grid: Option<[u32; 2]>,
    /// Rows of the matrix, a multiple of the least common multiple of P and Q.
    order: u64,
    /// Number of transpositions.
    iterations: u32,
    /// Time of the sum, after each transposition.
    compute: Duration,
}

impl Default for Params {
    fn default() -> Self {
        Params {
            grid: None,
            order: 5_040,
            iterations: 1,
            compute: Duration(0),
        }
    }
}

pub const ENTRY: Entry<Build> = Entry {
    name: "ptrans",
    summary: "A matrix on a grid of tasks is transposed: each task exchanges its part with its \
              mirror image.",
    source: "HPCC's PTRANS, after Choi, Dongarra, Walker, \"Parallel matrix transpose algorithms \
             on distributed memory concurrent computers\", Parallel Computing 21, 1995; Yebenes et \
             al., TACO 2019, section 5.1 (traces of 576 tasks; their sizes are not public)",
    examples: &["order = 720"],
    parameters: Keys::of::<Params>(),
    build,
};

fn build(section: &Section, tasks: u32) -> Result<Box<dyn Motif>, ConfigError> {
    let params: Params = section.parse()?;
    let grid = Grid::new(section, "grid", params.grid, tasks, false)?;
    let [columns, rows] = grid.size;
    let common = gcd(rows, columns);
    let least = u64::from(rows) * u64::from(columns / common);
    if params.order == 0 || !params.order.is_multiple_of(least) {
        return Err(section.refuse(Invalid::new(
            "order",
            format!(
                "a matrix of {} rows on {rows} rows and {columns} columns of tasks",
                params.order
            ),
            format!("write a multiple of {least}"),
        )));
    }
    let side = u128::from(params.order / least);
    Ok(Box::new(Ptrans {
        columns,
        rows,
        common,
        iterations: params.iterations,
        bytes: length(section, "order", side.saturating_mul(8 * side))?,
        compute: params.compute.0,
    }))
}

struct Ptrans {
    columns: u32,
    rows: u32,
    /// The greatest common divisor of both.
    common: u32,
    iterations: u32,
    /// From one task to another.
    bytes: u64,
    compute: Time,
}

impl Ptrans {
    /// The tasks whose elements belong to `task` after the transposition, which are also the tasks
    /// that it sends to.
    fn partners(&self, task: u32) -> impl Iterator<Item = u32> + '_ {
        let (row, column) = (task / self.columns, task % self.columns);
        let rows = (column % self.common..self.rows).step_by(self.common as usize);
        let columns = (row % self.common..self.columns).step_by(self.common as usize);
        let all = rows.flat_map(move |row| columns.clone().map(move |column| (row, column)));
        all.map(|(row, column)| row * self.columns + column)
            .filter(move |&other| other != task)
    }
}

impl Motif for Ptrans {
    fn part(&self, part: u32, script: &mut Script) -> bool {
        if part >= self.iterations {
            return false;
        }
        let mark = script.mark();
        for partner in self.partners(script.task()) {
            script.irecv(partner, 0);
            script.isend(partner, self.bytes, 0);
        }
        script.wait_all(script.since(mark));
        script.compute(self.compute);
        script.barrier();
        true
    }
}

#[cfg(test)]
mod tests {
    use super::super::testing::{ops, refusal, run, words};

    #[test]
    fn on_a_square_grid_tasks_exchange_with_their_mirror_image() {
        // 576 tasks as 24 x 24: task 25 q + … (1, 3) is 27, and (3, 1) is 73. 2400 / 24 = 100 rows:
        // 80,000 bytes.
        let words = words(&ops("ptrans", "order = 2400", 27, 576));
        assert_eq!(words[..3], ["Irecv<73", "Isend>73=80000", "Wait*2"]);
        let run = run("ptrans", "order = 2400", 576);
        // Messages of the barrier have no length.
        let of = |task| {
            let sent = run.sent_by(task);
            sent.iter().map(|one| one.1).sum::<u64>()
        };
        for row in 0..24 {
            assert_eq!(of(row * 25), 0, "the diagonal");
        }
        assert_eq!((0..576).map(of).sum::<u64>(), 552 * 80_000);
    }

    #[test]
    fn on_other_grids_every_element_goes_where_it_belongs() {
        // 4 rows and 6 columns; the least common multiple is 12.
        let run = run("ptrans", "grid = [6, 4]\norder = 24", 24);
        let mut wanted = vec![vec![0u64; 24]; 24];
        for i in 0..24 {
            for j in 0..24 {
                let owner = |i: usize, j: usize| i % 4 * 6 + j % 6;
                let (from, to) = (owner(i, j), owner(j, i));
                wanted[from][to] += if from == to { 0 } else { 8 };
            }
        }
        for (task, wanted) in (0..).zip(&wanted) {
            let mut sent = vec![0; 24];
            for one in run.sent_by(task) {
                sent[one.0 as usize] += one.1;
            }
            assert_eq!(&sent, wanted, "{task}");
        }
    }

    #[test]
    fn a_matrix_that_does_not_fit_the_grid_is_refused() {
        let words = refusal("ptrans", "grid = [6, 4]\norder = 30", 24);
        assert!(words.contains("write a multiple of 12"), "{words}");
        assert!(refusal("ptrans", "order = 0", 4).contains("multiple of 2"));
        let longest = format!("order = {}", i64::MAX);
        assert!(refusal("ptrans", &longest, 1).contains("a message would have"));
    }
}
