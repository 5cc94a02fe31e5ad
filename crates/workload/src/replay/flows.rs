//! `flows`: a list of messages with their times, as CSV.

use std::num::IntErrorKind;
use std::path::Path;

use csv::{DeserializeErrorKind, StringRecord};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::input::Input;
use super::table::{Flow, content, tasks};
use super::{Build, Content, Coverage, Fault, Refusal, Scale, nanosecond};
use weir_input::registry::{Entry, Keys};
use weir_input::{BadRow, Duration, Rows, Section};

keys! {
    /// A CSV file with a line of names, `source,destination,bytes,start`, in any order, and a line
    /// for each message. `start` may be left out.
    struct Params {
        /// The unit of `start`.
        #[serde(default = "nanosecond")]
        unit: Duration,
        /// Number of tasks; one more than the highest in the file by default.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        tasks: Option<u32>,
    }
}

pub const ENTRY: Entry<Build> = Entry {
    name: "flows",
    summary: "A list of messages as CSV: source, destination, bytes, start.",
    source: "the flow lists of ns-3 and htsim, as a table",
    examples: &[r#"file = "flows.csv""#],
    parameters: Keys::of::<Params>(),
    build,
};

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Row {
    source: u32,
    destination: u32,
    bytes: u64,
    #[serde(default)]
    start: f64,
}

fn build(section: &Section, path: &Path, compute: Scale) -> Result<Content, Refusal> {
    let params: Params = section.parse()?;
    let input = Input::open(path)?;
    let mut rows = Rows::new(input, true);
    let (line, names) = rows.names().map_err(damaged)?;
    check_names(&names).map_err(|message| damaged(BadRow { line, message }))?;
    let (mut flows, mut highest) = (Vec::new(), None);
    while let Some((line, row)) = rows.advance().map_err(damaged)? {
        let row: Row = row
            .deserialize(Some(&names))
            .map_err(|error| damaged(mistyped(line, &error)))?;
        let refuse = |(message, remedy): (String, String)| Fault::at_line(line, message, remedy);
        let ps = row.start * params.unit.0 as f64;
        if ps.is_nan() || ps < 0.0 {
            let message = format!("{} is no time", row.start);
            return Err(refuse((message, "write 0 or more".into())).into());
        }
        let start = compute.of(ps.round() as u128).unwrap_or(u64::MAX);
        let flow = Flow {
            from: row.source,
            to: row.destination,
            bytes: row.bytes,
            start,
        };
        flow.check().map_err(refuse)?;
        highest = highest.max(Some(u64::from(flow.from.max(flow.to))));
        if flows.len() as u32 == u32::MAX - 1 {
            return Err(refuse(("there are too many lines".into(), String::new())).into());
        }
        flows.push(flow);
    }
    let tasks = tasks(highest, params.tasks, flows.len())?;
    let hash = rows.into_inner().hash();
    Ok(content(&flows, tasks, Coverage::default(), hash))
}

/// Each name is one of a row's, once, and none is missing that has to be there.
fn check_names(names: &StringRecord) -> Result<(), String> {
    const NEEDED: [&str; 3] = ["source", "destination", "bytes"];
    for (at, name) in names.iter().enumerate() {
        if !NEEDED.contains(&name) && name != "start" {
            return Err(format!("there is no column {name:?}"));
        }
        if names.iter().take(at).any(|own| own == name) {
            return Err(format!("there are two columns {name:?}"));
        }
    }
    let missing = NEEDED
        .iter()
        .find(|name| names.iter().all(|own| own != **name));
    missing.map_or(Ok(()), |name| {
        Err(format!("the column {name:?} is missing"))
    })
}

fn damaged(bad: BadRow) -> Fault {
    let remedy =
        "write a line of names, `source,destination,bytes,start`, and whole numbers below it";
    Fault::at_line(bad.line, bad.message, remedy)
}

/// A row whose values are no numbers.
fn mistyped(line: u64, error: &csv::Error) -> BadRow {
    let message = match error.kind() {
        csv::ErrorKind::Deserialize { err, .. } => {
            let column = err
                .field()
                .map_or(String::new(), |field| format!("column {}: ", field + 1));
            match err.kind() {
                DeserializeErrorKind::ParseInt(why) => match why.kind() {
                    IntErrorKind::PosOverflow => format!("{column}{why}"),
                    _ => format!("{column}this is no whole number of 0 or more"),
                },
                kind => format!("{column}{kind}"),
            }
        }
        _ => error.to_string(),
    };
    BadRow { line, message }
}

#[cfg(test)]
mod tests {
    use super::super::testing::{read_bytes, refused, replay};
    use weir_model::NS;

    #[test]
    fn messages_leave_at_their_times() {
        let text =
            "source, destination, bytes, start\n2,0,70,10\n0,1,50,3.5\n0,1,60,3.5\n0,0,5,0\n";
        let trace = read_bytes("flows", "tasks = 4\n", text.as_bytes()).unwrap();
        assert_eq!(trace.tasks(), 4);
        assert_eq!(
            trace.coverage.to_string(),
            "4 messages of 185 bytes in all, 1 messages that stay within a task of 5 bytes"
        );
        let run = replay(&trace).finish();
        let sent: Vec<_> = run
            .messages
            .iter()
            .map(|sent| (sent.at, sent.from, sent.bytes))
            .collect();
        assert_eq!(
            sent,
            [(0, 0, 5), (3_500, 0, 50), (3_500, 0, 60), (10 * NS, 2, 70)]
        );
        let trace = read_bytes("flows", "unit = \"1 us\"\n", text.as_bytes()).unwrap();
        assert_eq!(replay(&trace).finish().messages[3].at, 10_000 * NS);
    }

    #[test]
    fn tasks_without_flows_take_no_memory() {
        let text = "source,destination,bytes\n0,2,5\n";
        let few = read_bytes("flows", "", text.as_bytes()).unwrap();
        let many = read_bytes("flows", "tasks = 4294967295\n", text.as_bytes()).unwrap();
        assert_eq!((few.tasks(), many.tasks()), (3, u32::MAX));
        assert_eq!(few.memory_bytes(), many.memory_bytes());
        assert_eq!(many.graph(u32::MAX - 1).nodes.len(), 0);
        let five = read_bytes("flows", "tasks = 5\n", text.as_bytes()).unwrap();
        let run = replay(&five).finish();
        assert_eq!(run.messages.len(), 1);
        assert_eq!(run.tasks[4].finished(), Some(0));
    }

    #[test]
    fn a_wrong_name_is_in_the_line_of_names() {
        for (names, said) in [
            ("source,target,bytes", "there is no column \"target\""),
            (
                "source,destination,bytes,bytes",
                "there are two columns \"bytes\"",
            ),
            (
                "source,destination,start",
                "the column \"bytes\" is missing",
            ),
        ] {
            let text = format!("# a list\n{names}\n# of two\n\n0,1,5\n");
            let found = refused("flows", "", &text);
            assert!(found.contains("line 2") && found.contains(said), "{found}");
        }
        let marked = "\u{feff}source,destination,bytes\n0,1,5\n";
        assert!(read_bytes("flows", "", marked.as_bytes()).is_ok());
    }

    #[test]
    fn what_is_wrong_is_refused_with_its_line() {
        for (text, keys, parts) in [
            (
                "source,destination,bytes\n0,1,5\n0,x,5\n",
                "",
                ["line 3", "column 2", "no whole number"],
            ),
            (
                "source,destination,bytes\n0,1,5\n0,1\n",
                "",
                ["line 3", "fields", "names"],
            ),
            (
                "source,target,bytes\n0,1,5\n",
                "",
                ["line 1", "target", "names"],
            ),
            (
                "source,destination,bytes,start\n0,1,5,-1\n",
                "",
                ["line 2", "-1 is no time", "0 or more"],
            ),
            (
                "source,destination,bytes,start\r\n0,1,5,0\r\n0,1,5,-1",
                "",
                ["line 3", "-1 is no time", "0 or more"],
            ),
            (
                "source,destination,bytes,start\n0,1,5,1e18\n",
                "",
                ["line 2", "later than can be simulated", "`unit`"],
            ),
            (
                "source,destination,bytes\n0,7,5\n",
                "tasks = 4\n",
                ["a task 7", "there are 4", "more `tasks`"],
            ),
            (
                "source,destination,bytes\n0,4000000000,5\n",
                "",
                ["a task 4000000000", "1 lines only", "write `tasks`"],
            ),
            (
                "source,destination,bytes\n0,4000000000,5\n",
                "tasks = 4294967295\n",
                ["a task 4000000000", "1 lines only", "from 0 on"],
            ),
            (
                "source,destination,bytes\n0,1,-5\n",
                "",
                ["line 2", "column 3", "no whole number"],
            ),
            (
                "source,destination,bytes\n",
                "",
                ["no task", "with tasks", ""],
            ),
        ] {
            let said = refused("flows", keys, text);
            for part in parts {
                assert!(said.contains(part), "{text:?}: {said:?} lacks {part:?}");
            }
        }
    }
}
