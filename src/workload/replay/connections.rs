//! `connections`: the connection matrices of htsim.

use std::path::Path;

use rustc_hash::FxHashMap;
use schemars::{JsonSchema, schema_for};
use serde::{Deserialize, Serialize};

use super::input::Lines;
use super::table::{Flow, most_tasks};
use super::{Build, Builder, Content, Coverage, Fault, Node, Refusal, Scale, task};
use crate::config::{Duration, Section};
use crate::registry::Entry;

keys! {
    /// `Nodes N`, `Connections M`, and a line `source->destination start T size B` for each message, which may name triggers that
    /// start it, or that its end fires.
    struct Params {
        /// The unit of `start`. (Old versions of htsim have other ones.)
        #[serde(default = "picosecond")]
        unit: Duration,
    }
}

fn picosecond() -> Duration {
    Duration(1)
}

pub const ENTRY: Entry<Build> = Entry {
    name: "connections",
    summary: "A connection matrix of htsim: messages with their times, or started by the ends of others.",
    source: "htsim (Raiciu et al.; Ultra Ethernet Consortium)",
    examples: &[r#"file = "perm.cm""#],
    parameters: || schema_for!(Params),
    build,
};

/// A connection as it is written.
#[derive(Default)]
struct Connection {
    line: u64,
    start: Option<u64>,
    bytes: Option<u64>,
    trigger: Option<u64>,
    send_done: Option<u64>,
    receive_done: Option<u64>,
}

/// The number of events that fire a trigger, and its line.
type Triggers = FxHashMap<u64, (u64, u64)>;

fn build(section: &Section, path: &Path, compute: Scale) -> Result<Content, Refusal> {
    let params: Params = section.parse()?;
    let mut lines = Lines::open(path)?;
    let (mut nodes, mut announced) = (None, None);
    let (mut connections, mut triggers) = (Vec::new(), Triggers::default());
    let mut coverage = Coverage::default();
    while lines.advance()? {
        let words: Vec<&str> = lines.text()?.split_whitespace().collect();
        let refuse = |(message, remedy): (String, String)| lines.fault(message, remedy);
        match words.as_slice() {
            [] => {}
            [comment, ..] if comment.starts_with('#') => {}
            ["Nodes", count] => nodes = Some(number(count).map_err(refuse)?),
            ["Connections", count] => announced = Some(number(count).map_err(refuse)?),
            ["Triggers", _] | ["Failures", "0"] => {}
            ["trigger", "id", id, kind @ ..] => {
                let events = events(kind).map_err(refuse)?;
                triggers.insert(number(id).map_err(refuse)?, (events, lines.number()));
            }
            [pair, rest @ ..] if pair.contains("->") => {
                let tasks = u32::try_from(nodes.unwrap_or(0)).unwrap_or(u32::MAX);
                let ends = ends(pair, tasks).map_err(refuse)?;
                let mut connection = options(rest, &mut coverage).map_err(refuse)?;
                connection.line = lines.number();
                connections.push((ends, connection));
            }
            [word, ..] => {
                let word: String = word.chars().take(40).collect();
                let remedy = "write `Nodes N`, `Connections M`, `src->dst start T size B` or `trigger id N oneshot`";
                return Err(lines
                    .fault(format!("`{word}` is no statement"), remedy)
                    .into());
            }
        }
    }
    let Some(nodes) = nodes.filter(|nodes| (1..=most_tasks(connections.len())).contains(nodes))
    else {
        let remedy = "a connection matrix begins with `Nodes N`";
        return Err(Fault::new("there is no number of nodes that can be simulated", remedy).into());
    };
    if announced.is_some_and(|count| count != connections.len() as u64) {
        let (count, there) = (announced.unwrap_or(0), connections.len());
        let message = format!("`Connections {count}`, and there are {there}");
        return Err(
            Fault::new(message, "the file is not complete, or has the wrong number").into(),
        );
    }
    let graphs = graphs(
        &connections,
        &triggers,
        nodes as u32,
        params.unit.0,
        compute,
    )?;
    for (_, connection) in &connections {
        coverage.simulated("messages", 1, connection.bytes.unwrap_or(0));
    }
    coverage.simulated("triggers", triggers.len() as u64, 0);
    Ok(Content {
        graphs,
        coverage,
        sha256: lines.hash(),
    })
}

type Wrong = (String, String);

fn number(word: &str) -> Result<u64, Wrong> {
    word.parse().map_err(|_| {
        let word: String = word.chars().take(40).collect();
        (
            format!("`{word}` is no number"),
            "write a whole number".into(),
        )
    })
}

/// After how many events a trigger fires.
fn events(kind: &[&str]) -> Result<u64, Wrong> {
    match kind {
        ["oneshot"] => Ok(1),
        ["barrier", "count", count] | ["barrier", count] => number(count),
        other => Err((
            format!("a trigger `{}` is not known", other.join(" ")),
            "`oneshot` and `barrier count N` are".into(),
        )),
    }
}

/// `3->4`.
fn ends(pair: &str, tasks: u32) -> Result<(u32, u32), Wrong> {
    let (from, to) = pair.split_once("->").unwrap_or((pair, ""));
    Ok((task(number(from)?, tasks)?, task(number(to)?, tasks)?))
}

fn options(words: &[&str], coverage: &mut Coverage) -> Result<Connection, Wrong> {
    let mut connection = Connection::default();
    for pair in words.chunks(2) {
        let [key, value] = pair else {
            let message = format!("`{}` has no value", pair.join(" "));
            return Err((message, "write it".into()));
        };
        let value = Some(number(value)?);
        match *key {
            "start" => connection.start = value,
            "size" => connection.bytes = value,
            "trigger" => connection.trigger = value,
            "send_done_trigger" => connection.send_done = value,
            "recv_done_trigger" => connection.receive_done = value,
            "id" => {}
            "prio" => coverage.ignored("priorities", 1, 0, "messages have none"),
            key => {
                let key: String = key.chars().take(40).collect();
                let remedy = "`id`, `start`, `size`, `trigger`, `send_done_trigger`, `recv_done_trigger` and `prio` are";
                return Err((format!("`{key}` is not known"), remedy.into()));
            }
        }
    }
    match (connection.start, connection.trigger, connection.bytes) {
        (_, _, None) => Err((
            "a connection without `size` never ends".into(),
            "write `size` and the bytes".into(),
        )),
        (None, None, _) => Err((
            "it is not said when the connection starts".into(),
            "write `start T` or `trigger N`".into(),
        )),
        _ => Ok(connection),
    }
}

/// What each task does.
fn graphs(
    connections: &[((u32, u32), Connection)],
    triggers: &Triggers,
    tasks: u32,
    unit: u64,
    compute: Scale,
) -> Result<Vec<super::TaskGraph>, Fault> {
    let mut builders: Vec<Builder> = Vec::new();
    builders.resize_with(tasks as usize, Builder::default);
    // Who fires a trigger: task and operation.
    let mut fired: FxHashMap<u64, Vec<(u32, u32)>> = FxHashMap::default();
    let mut waiting = Vec::new();
    for &((from, to), ref connection) in connections {
        let start = u128::from(connection.start.unwrap_or(0)) * u128::from(unit);
        let flow = Flow {
            from,
            to,
            bytes: connection.bytes.unwrap_or(0),
            start: compute.of(start).unwrap_or(u64::MAX),
        };
        flow.check()
            .map_err(|(message, remedy)| Fault::at_line(connection.line, message, remedy))?;
        let delay = (flow.start > 0).then(|| builders[from as usize].add(Node::delay(flow.start)));
        let send = builders[from as usize].add(Node::send(to, flow.bytes, 0));
        let first = delay.unwrap_or(send);
        if let Some(delay) = delay {
            builders[from as usize].requires(send, delay);
        }
        let receive = builders[to as usize].add(Node::receive(from, flow.bytes, 0));
        if let Some(trigger) = connection.send_done {
            fired.entry(trigger).or_default().push((from, send));
        }
        if let Some(trigger) = connection.receive_done {
            fired.entry(trigger).or_default().push((to, receive));
        }
        if let Some(trigger) = connection.trigger {
            waiting.push((trigger, from, first, connection.line));
        }
    }
    for (trigger, task, node, line) in waiting {
        let refuse = |message: String, remedy: &str| Err(Fault::at_line(line, message, remedy));
        let events = fired.get(&trigger).map_or(0, Vec::len) as u64;
        match triggers.get(&trigger) {
            None => {
                let message = format!("there is no trigger {trigger}");
                return refuse(message, "write `trigger id N oneshot`");
            }
            Some(&(needed, _)) if needed != events => {
                let message = format!(
                    "the trigger {trigger} fires after {needed} events, and there are {events}"
                );
                return refuse(message, "a barrier counts all connections that name it");
            }
            Some(_) => {}
        }
        for &(owner, before) in &fired[&trigger] {
            if owner != task {
                let message = format!(
                    "the trigger {trigger} is fired by task {owner} and starts a message of task {task}, which cannot know"
                );
                return refuse(
                    message,
                    "use a `recv_done_trigger` of a message to that task",
                );
            }
            builders[task as usize].requires(node, before);
        }
    }
    let graphs: Vec<_> = builders.into_iter().map(Builder::build).collect();
    match graphs
        .iter()
        .zip(0..)
        .find(|(graph, _)| graph.cycle().is_some())
    {
        None => Ok(graphs),
        Some((_, task)) => Err(Fault::new(
            format!("messages of task {task} wait for each other over their triggers"),
            "remove one of the triggers",
        )),
    }
}

#[cfg(test)]
mod tests {
    use super::super::testing::{read_bytes, refused, replay};
    use crate::model::NS;

    const MATRIX: &str = "Nodes 4\nConnections 3\n0->1 id 1 start 500 size 100 recv_done_trigger 7\n\
        1->2 trigger 7 size 200 prio 3\n3->2 start 0 size 300\ntrigger id 7 oneshot\n";

    #[test]
    fn connections_start_at_their_times_and_by_triggers() {
        let trace = read_bytes("connections", "", MATRIX.as_bytes()).unwrap();
        let run = replay(&trace).finish();
        let mut sent: Vec<_> = run
            .messages
            .iter()
            .map(|sent| (sent.from, sent.at))
            .collect();
        sent.sort_unstable();
        assert_eq!(sent, [(0, 500), (1, 500 + 100 + NS), (3, 0)]);
        assert_eq!(
            trace.coverage.to_string(),
            "1 priorities (ignored: messages have none), 3 messages of 600 bytes in all, 1 triggers"
        );
    }

    #[test]
    fn what_is_wrong_is_refused_with_its_line() {
        for (from, to, parts) in [
            ("0->1", "0->9", ["line 3", "no task 9", "from 0 to 3"]),
            ("0->1", "0=>1", ["line 3", "no statement", "src->dst"]),
            (
                "Connections 3",
                "Connections 4",
                ["Connections 4", "there are 3", "not complete"],
            ),
            ("Nodes 4\n", "", ["line 2", "no task 0 among 0", ""]),
            ("size 300", "", ["line 5", "never ends", "`size`"]),
            (
                "start 0 ",
                "",
                ["line 5", "when the connection starts", "`trigger N`"],
            ),
            (
                "trigger 7 size",
                "trigger 8 size",
                ["line 4", "no trigger 8", "oneshot"],
            ),
            (
                "recv_done",
                "send_done",
                ["line 4", "fired by task 0", "recv_done_trigger"],
            ),
            (
                "oneshot",
                "barrier count 2",
                ["line 4", "2 events, and there are 1", "barrier counts"],
            ),
            (
                "oneshot",
                "multishot",
                ["line 6", "`multishot` is not known", "barrier count"],
            ),
            (
                "prio 3",
                "color 3",
                ["line 4", "`color` is not known", "`prio`"],
            ),
            (
                "prio 3",
                "prio",
                ["line 4", "`prio` has no value", "write it"],
            ),
        ] {
            assert!(MATRIX.contains(from));
            let said = refused("connections", "", &MATRIX.replacen(from, to, 1));
            for part in parts {
                assert!(said.contains(part), "{to:?}: {said:?} lacks {part:?}");
            }
        }
    }
}
