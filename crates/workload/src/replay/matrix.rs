//! `matrix`: a communication matrix, bytes for each pair of tasks, as CSV.

use std::path::Path;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::input::Input;
use super::{Build, Builder, Content, Coverage, Fault, Node, Refusal, Scale};
use weir_input::registry::{Entry, Keys};
use weir_input::{BadRow, Rows, Section};
use weir_model::{Invalid, LONGEST_MESSAGE};

keys! {
    /// A CSV file with a line for each source and in it a number for each destination: bytes.
    /// Nothing, 0 and `-` are no message. `repetitions` of the workload sends all of it again and
    /// again.
    struct Params {
        /// Order of a task's messages. "at_once": all at the beginning. "phases": in phase k to the
        /// task k places after it, when its sends and receives of the phase before are complete.
        #[serde(default)]
        order: Order,
    }
}

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Deserialize, Serialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
enum Order {
    #[default]
    AtOnce,
    Phases,
}

pub const ENTRY: Entry<Build> = Entry {
    name: "matrix",
    summary: "A communication matrix as CSV: bytes for each pair, all at once or in phases.",
    source: "communication matrices of profilers (mpiP, IPM, Darshan)",
    examples: &[
        r#"file = "matrix.csv""#,
        r#"file = "matrix.csv", order = "phases""#,
    ],
    parameters: Keys::of::<Params>(),
    build,
};

fn build(section: &Section, path: &Path, compute: Scale) -> Result<Content, Refusal> {
    let params: Params = section.parse()?;
    if compute != Scale::default() {
        let remedy = "leave `compute` out";
        let invalid = Invalid::new("compute", "a matrix has no computation", remedy);
        return Err(section.refuse(invalid).into());
    }
    let (rows, hash) = rows(path)?;
    let tasks = rows.len();
    let mut coverage = Coverage::default();
    let mut builders: Vec<Builder> = Vec::new();
    builders.resize_with(tasks, Builder::default);
    let own: Vec<u64> = (0..tasks).map(|task| rows[task][task]).collect();
    let kept = own.iter().filter(|&&bytes| bytes > 0).count();
    let bytes = own.iter().fold(0u64, |sum, &own| sum.saturating_add(own));
    // Operations of each task in the previous phase.
    let mut before: Vec<Vec<u32>> = vec![Vec::new(); tasks];
    for phase in 1..tasks {
        let mut now: Vec<Vec<u32>> = vec![Vec::new(); tasks];
        for from in 0..tasks {
            let to = (from + phase) % tasks;
            let bytes = rows[from][to];
            if bytes == 0 {
                continue;
            }
            coverage.simulated("messages", 1, bytes);
            now[to].push(builders[to].add(Node::receive(from as u32, bytes, 0)));
            now[from].push(builders[from].add(Node::send(to as u32, bytes, 0)));
        }
        if params.order == Order::Phases {
            for (task, now) in now
                .into_iter()
                .enumerate()
                .filter(|(_, now)| !now.is_empty())
            {
                for &after in &now {
                    before[task]
                        .iter()
                        .for_each(|&one| builders[task].requires(after, one));
                }
                before[task] = now;
            }
        }
    }
    coverage.ignored(
        "messages of tasks to themselves",
        kept as u64,
        bytes,
        "they meet no network",
    );
    let graphs = builders.into_iter().map(Builder::build).collect();
    Ok(Content::new(graphs, coverage, hash))
}

/// The matrix, and the hash of the file.
fn rows(path: &Path) -> Result<(Vec<Vec<u64>>, String), Fault> {
    let mut read = Rows::new(Input::open(path)?, false);
    let mut rows: Vec<Vec<u64>> = Vec::new();
    let damaged = |bad: BadRow| {
        let remedy = "write a line for each task, with as many numbers as there are lines";
        Fault::at_line(bad.line, bad.message, remedy)
    };
    while let Some((line, record)) = read.advance().map_err(damaged)? {
        let mut row = Vec::with_capacity(record.len());
        for (field, column) in record.iter().zip(1..) {
            let bytes = match field {
                "" | "-" => Some(0),
                field => field.parse().ok(),
            };
            match bytes.filter(|&bytes| bytes <= LONGEST_MESSAGE / 8) {
                Some(bytes) => row.push(bytes),
                None => {
                    let field: String = field.chars().take(40).collect();
                    let message = format!("column {column}: {field:?} is no number of bytes");
                    let remedy = "write a whole number; a matrix has no names of tasks";
                    return Err(Fault::at_line(line, message, remedy));
                }
            }
        }
        rows.push(row);
    }
    let (count, columns) = (rows.len(), rows.first().map_or(0, Vec::len));
    if count != columns {
        return Err(Fault::new(
            format!("it has {count} lines of {columns} numbers"),
            "write as many lines as numbers in a line: one for each task",
        ));
    }
    Ok((rows, read.into_inner().hash()))
}

#[cfg(test)]
mod tests {
    use super::super::testing::{read_bytes, refused, replay};
    use weir_model::NS;

    const MATRIX: &str = "9, 100, 200\n-,0,50\n10,,0\n";

    #[test]
    fn everything_at_once_or_in_phases() {
        let trace = read_bytes("matrix", "", MATRIX.as_bytes()).unwrap();
        let run = replay(&trace).finish();
        assert_eq!(run.sent_by(0), [(1, 100, 0), (2, 200, 0)]);
        assert!(run.messages.iter().all(|sent| sent.at == 0));
        assert_eq!(
            trace.coverage.to_string(),
            "4 messages of 360 bytes in all, 1 messages of tasks to themselves of 9 bytes \
             (ignored: they meet no network)"
        );
        let trace = read_bytes("matrix", "order = \"phases\"\n", MATRIX.as_bytes()).unwrap();
        let run = replay(&trace).finish();
        // Task 0 has sent 100 bytes after 100 ps, and has 10 bytes of task 2 after 10 ps and the
        // wire.
        let second = run.messages.iter().find(|sent| sent.bytes == 200).unwrap();
        assert_eq!(second.at, 10 + NS);
    }

    #[test]
    fn what_is_wrong_is_refused_with_its_place() {
        for (text, keys, parts) in [
            ("0,1\n1,0\n1,1\n", "", ["3 lines of 2", "one for each task"]),
            ("0,1\n1\n", "", ["line 2", "with as many numbers"]),
            ("a,b\n0,1\n", "", ["line 1: column 1: \"a\"", "no names"]),
            (
                "0,-1\n0,1\n",
                "",
                ["line 1: column 2: \"-1\"", "whole number"],
            ),
            (
                "0,1\n1,0\n",
                "compute = \"x 2\"\n",
                ["no computation", "leave"],
            ),
        ] {
            let said = refused("matrix", keys, text);
            for part in parts {
                assert!(said.contains(part), "{text:?}: {said:?} lacks {part:?}");
            }
        }
    }
}
