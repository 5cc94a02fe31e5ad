//! `connections`: the connection matrices of htsim.

use std::path::Path;

use rustc_hash::{FxHashMap, FxHashSet};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::check::check;
use super::input::Lines;
use super::table::{Flow, most_tasks};
use super::{Build, Builder, Content, Coverage, Fault, Node, Places, Refusal, Scale, task};
use weir_input::registry::{Entry, Keys};
use weir_input::{Duration, Section};

keys! {
    /// `Nodes N`, `Connections M`, and a line `source->destination start T size B` for each
    /// message, which may name triggers that start it, or that its end fires.
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
    parameters: Keys::of::<Params>(),
    build,
};

/// A connection as it is written.
#[derive(Default)]
struct Connection {
    line: u64,
    /// After the start of the workload, ps.
    start: Option<u128>,
    bytes: Option<u64>,
    trigger: Option<u64>,
    send_done: Option<u64>,
    receive_done: Option<u64>,
}

/// The events at which a trigger starts the messages that name it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Fires {
    /// All of them, after this many events.
    After(u64),
    /// One of them at each event.
    Each,
}

type Triggers = FxHashMap<u64, Fires>;

/// The content of a file.
#[derive(Default)]
struct File {
    /// The number of nodes, and its line.
    nodes: Option<(u64, u64)>,
    /// The numbers of connections and triggers in its header.
    announced: [Option<u64>; 2],
    connections: Vec<((u32, u32), Connection)>,
    triggers: Triggers,
    coverage: Coverage,
}

fn build(section: &Section, path: &Path, compute: Scale) -> Result<Content, Refusal> {
    let params: Params = section.parse()?;
    let mut lines = Lines::open(path)?;
    let mut file = File::default();
    while lines.advance()? {
        let words: Vec<&str> = lines.text()?.split_whitespace().collect();
        let read = file.line(&words, lines.number(), params.unit.0);
        read.map_err(|(message, remedy)| lines.fault(message, remedy))?;
    }
    let File {
        nodes,
        announced,
        connections,
        triggers,
        mut coverage,
    } = file;
    let Some((nodes, line)) = nodes else {
        let remedy = "a connection matrix begins with `Nodes N`";
        return Err(Fault::new("it does not say its number of nodes", remedy).into());
    };
    let most = most_tasks(connections.len());
    if !(1..=most).contains(&nodes) {
        let message = format!("`Nodes {nodes}` with {} connections", connections.len());
        let remedy = format!("write 1 to {most}; connections make more nodes possible");
        return Err(Fault::at_line(line, message, remedy).into());
    }
    let there = [connections.len(), triggers.len()];
    for (what, at) in ["Connections", "Triggers"].into_iter().zip(0..) {
        let there = there[at];
        if let Some(said) = announced[at].filter(|&said| said != there as u64) {
            let message = format!("`{what} {said}`, and there are {there}");
            let remedy = "the file is not complete, or has the wrong number";
            return Err(Fault::new(message, remedy).into());
        }
    }
    let graphs = graphs(&connections, &triggers, nodes as u32, compute)?;
    for (_, connection) in &connections {
        coverage.simulated("messages", 1, connection.bytes.unwrap_or(0));
    }
    let used: FxHashSet<u64> = connections
        .iter()
        .filter_map(|(_, one)| one.trigger)
        .collect();
    let used = used.len() as u64;
    coverage.simulated("triggers", used, 0);
    let why = "they start no message";
    coverage.ignored("triggers", triggers.len() as u64 - used, 0, why);
    Ok(Content::new(graphs, coverage, lines.hash()))
}

type Wrong = (String, String);

fn short(word: &str) -> String {
    word.chars().take(40).collect()
}

fn number(word: &str) -> Result<u64, Wrong> {
    word.parse().map_err(|_| {
        (
            format!("`{}` is no number", short(word)),
            "write a whole number".into(),
        )
    })
}

/// A time in units of this many ps, rounded to a ps.
fn time(word: &str, unit: u64) -> Result<u128, Wrong> {
    if let Ok(whole) = word.parse::<u64>() {
        return Ok(u128::from(whole) * u128::from(unit));
    }
    let time: Option<f64> = word.parse().ok();
    match time.map(|time| time * unit as f64) {
        Some(ps) if (0.0..1e19).contains(&ps) => Ok(ps.round() as u128),
        _ => Err((
            format!("`{}` is no time", short(word)),
            "write a number, 0 or more".into(),
        )),
    }
}

/// The events at which a trigger of this kind fires.
fn fires(kind: &[&str]) -> Result<Fires, Wrong> {
    match kind {
        ["oneshot"] => Ok(Fires::After(1)),
        ["multishot"] => Ok(Fires::Each),
        ["barrier", "count", count] | ["barrier", count] => match number(count)? {
            0 => Err((
                "a barrier of 0 events fires before any".into(),
                "write `start` at the connections that it starts, or a count from 1 on".into(),
            )),
            events => Ok(Fires::After(events)),
        },
        other => Err((
            format!("a trigger `{}` is not known", short(&other.join(" "))),
            "`oneshot`, `multishot` and `barrier count N` are".into(),
        )),
    }
}

/// Keeps a number of the header.
fn once(place: &mut Option<u64>, number: u64) -> Result<(), Wrong> {
    match place.replace(number) {
        None => Ok(()),
        Some(before) => Err((
            format!("the number {before} was given before"),
            "write this line once".into(),
        )),
    }
}

/// `3->4`.
fn ends(pair: &str, tasks: u32) -> Result<(u32, u32), Wrong> {
    let (from, to) = pair.split_once("->").unwrap_or((pair, ""));
    Ok((task(number(from)?, tasks)?, task(number(to)?, tasks)?))
}

impl File {
    fn line(&mut self, words: &[&str], line: u64, unit: u64) -> Result<(), Wrong> {
        match words {
            [] => {}
            [comment, ..] if comment.starts_with('#') => {}
            ["Nodes", count] => {
                let mut nodes = self.nodes.map(|(nodes, _)| nodes);
                once(&mut nodes, number(count)?)?;
                self.nodes = nodes.map(|nodes| (nodes, line));
            }
            ["Connections", count] => once(&mut self.announced[0], number(count)?)?,
            ["Triggers", count] => once(&mut self.announced[1], number(count)?)?,
            ["Failures", "0"] => {}
            ["Failures" | "failure", ..] => {
                return Err((
                    "failures of links and switches are not simulated".into(),
                    "leave them out, and write `Failures 0`".into(),
                ));
            }
            ["trigger", "id", id, kind @ ..] => {
                let id = number(id)?;
                if self.triggers.insert(id, fires(kind)?).is_some() {
                    return Err((
                        format!("the trigger {id} has been described before"),
                        "give each trigger its own number".into(),
                    ));
                }
            }
            [pair, rest @ ..] if pair.contains("->") => {
                let Some((nodes, _)) = self.nodes else {
                    return Err((
                        "a connection before the number of nodes".into(),
                        "begin the file with `Nodes N`".into(),
                    ));
                };
                let tasks = u32::try_from(nodes).unwrap_or(u32::MAX);
                let ends = ends(pair, tasks)?;
                let mut connection = self.options(rest, unit)?;
                connection.line = line;
                self.connections.push((ends, connection));
            }
            [word, ..] => {
                return Err((
                    format!("`{}` is no statement", short(word)),
                    "write `Nodes N`, `Connections M`, `src->dst start T size B` or \
                     `trigger id N oneshot`"
                        .into(),
                ));
            }
        }
        Ok(())
    }

    fn options(&mut self, words: &[&str], unit: u64) -> Result<Connection, Wrong> {
        let mut connection = Connection::default();
        let mut words = words.iter().copied().peekable();
        let mut seen: Vec<&str> = Vec::new();
        while let Some(key) = words.next() {
            if seen.contains(&key) {
                return Err((format!("`{key}` is written twice"), "write it once".into()));
            }
            if key == "msg" {
                // The message's number, which may be left out.
                words.next_if(|word| word.parse::<u64>().is_ok());
                continue;
            }
            const KEYS: [&str; 7] = [
                "id",
                "start",
                "size",
                "trigger",
                "send_done_trigger",
                "recv_done_trigger",
                "prio",
            ];
            if !KEYS.contains(&key) {
                return Err((
                    format!("`{}` is not known", short(key)),
                    format!("`{}` and `msg` are", KEYS.join("`, `")),
                ));
            }
            seen.push(key);
            let Some(value) = words.next() else {
                return Err((format!("`{key}` has no value"), "write it".into()));
            };
            let within = |(message, remedy)| (format!("`{key}`: {message}"), remedy);
            if key == "start" {
                connection.start = Some(time(value, unit).map_err(within)?);
                continue;
            }
            let value = Some(number(value).map_err(within)?);
            match key {
                "size" => connection.bytes = value,
                "trigger" => connection.trigger = value,
                "send_done_trigger" => connection.send_done = value,
                "recv_done_trigger" => connection.receive_done = value,
                "prio" => self
                    .coverage
                    .ignored("priorities", 1, 0, "messages have none"),
                _ => {}
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
            (Some(_), Some(_), _) => Err((
                "a connection with `start` and with `trigger`".into(),
                "write one of them".into(),
            )),
            _ => Ok(connection),
        }
    }
}

/// The operations of the tasks while connections are added.
struct Assembly {
    builders: Vec<Builder>,
    places: Places,
    /// Number of messages of each pair so far.
    pairs: FxHashMap<(u32, u32), u32>,
    /// The task and operation that fire each trigger.
    fired: FxHashMap<u64, Vec<(u32, u32)>>,
    /// The task, operation and line that each trigger starts.
    started: FxHashMap<u64, Vec<(u32, u32, u64)>>,
}

/// Number of tags that distinguish the messages of a pair of tasks.
const TAGS: u32 = 1 << 15;

/// The operations of each task.
fn graphs(
    connections: &[((u32, u32), Connection)],
    triggers: &Triggers,
    tasks: u32,
    compute: Scale,
) -> Result<Vec<super::TaskGraph>, Fault> {
    let mut all = Assembly {
        builders: Vec::new(),
        places: Places::default(),
        pairs: FxHashMap::default(),
        fired: FxHashMap::default(),
        started: FxHashMap::default(),
    };
    all.builders.resize_with(tasks as usize, Builder::default);
    for (ends, connection) in connections {
        all.add(*ends, connection, triggers, compute)?;
    }
    all.join(triggers)?;
    let places = all.places;
    let mut graphs: Vec<_> = all.builders.into_iter().map(Builder::build).collect();
    check(&mut graphs, &|task, node| places.of(task, node))?;
    Ok(graphs)
}

impl Assembly {
    fn put(&mut self, task: u32, node: Node, line: u64) -> u32 {
        let number = self.builders[task as usize].add(node);
        self.places.set(task, number, line);
        number
    }

    /// Adds a message.
    fn add(
        &mut self,
        (from, to): (u32, u32),
        connection: &Connection,
        triggers: &Triggers,
        compute: Scale,
    ) -> Result<(), Fault> {
        let line = connection.line;
        let refuse = |(message, remedy): Wrong| Fault::at_line(line, message, remedy);
        let start = connection.start.unwrap_or(0);
        let flow = Flow {
            from,
            to,
            bytes: connection.bytes.unwrap_or(0),
            start: compute.of(start).unwrap_or(u64::MAX),
        };
        flow.check().map_err(refuse)?;
        // Each receive takes its own message, whatever the order of their starts.
        let count = self.pairs.entry((from, to)).or_default();
        let tag = *count % TAGS;
        *count += 1;
        let delay = (flow.start > 0).then(|| self.put(from, Node::delay(flow.start), line));
        let send = self.put(from, Node::send(to, flow.bytes, tag), line);
        if let Some(delay) = delay {
            self.builders[from as usize].requires(send, delay);
        }
        let receive = self.put(to, Node::receive(from, flow.bytes, tag), line);
        let known = |trigger: u64| match triggers.contains_key(&trigger) {
            true => Ok(trigger),
            false => Err(refuse((
                format!("there is no trigger {trigger}"),
                format!("write `trigger id {trigger} oneshot`"),
            ))),
        };
        let done = [
            (connection.send_done, from, send),
            (connection.receive_done, to, receive),
        ];
        for (trigger, task, node) in done {
            if let Some(trigger) = trigger {
                let fired = self.fired.entry(known(trigger)?).or_default();
                fired.push((task, node));
            }
        }
        if let Some(trigger) = connection.trigger {
            let started = self.started.entry(known(trigger)?).or_default();
            started.push((from, send, line));
        }
        Ok(())
    }

    /// Makes messages wait for the events of their triggers.
    fn join(&mut self, triggers: &Triggers) -> Result<(), Fault> {
        let started = std::mem::take(&mut self.started);
        let mut order: Vec<_> = started.into_iter().collect();
        order.sort_unstable_by_key(|(_, started)| started[0].2);
        for (trigger, started) in order {
            let fired = self.fired.remove(&trigger).unwrap_or_default();
            self.fires(trigger, triggers[&trigger], &fired, &started)?;
            let (owner, _, line) = started[0];
            let mut fired: Vec<u32> = fired.iter().map(|&(_, node)| node).collect();
            if fired.len() > 1 && started.len() > 1 {
                // An operation between them: the pairs of events and messages may be many.
                let between = self.put(owner, Node::delay(0), line);
                let builder = &mut self.builders[owner as usize];
                fired.iter().for_each(|&one| builder.requires(between, one));
                fired = vec![between];
            }
            let builder = &mut self.builders[owner as usize];
            for (_, node, _) in started {
                fired.iter().for_each(|&one| builder.requires(node, one));
            }
        }
        Ok(())
    }

    /// Refuses a trigger whose events do not tell when its messages start.
    fn fires(
        &self,
        trigger: u64,
        fires: Fires,
        fired: &[(u32, u32)],
        started: &[(u32, u32, u64)],
    ) -> Result<(), Fault> {
        let (events, messages) = (fired.len() as u64, started.len());
        let refuse =
            |message: String, remedy: &str| Err(Fault::at_line(started[0].2, message, remedy));
        let needed = match fires {
            Fires::Each if events > 1 || messages > 1 => {
                let message = format!(
                    "the trigger {trigger} starts one of {messages} messages at each of {events} \
                     events, in an order that the file does not say"
                );
                return refuse(message, "write a `oneshot` trigger for each of them");
            }
            Fires::Each => 1,
            Fires::After(events) => events,
        };
        if needed != events {
            let message = format!(
                "the trigger {trigger} fires after {needed} events, and there are {events}"
            );
            return refuse(message, "a barrier counts all connections that name it");
        }
        for &(task, _, line) in started {
            if let Some((owner, _)) = fired.iter().find(|(owner, _)| *owner != task) {
                let message = format!(
                    "the trigger {trigger} is fired by task {owner} and starts a message of task \
                     {task}, which cannot know"
                );
                let remedy = "use a `recv_done_trigger` of a message to that task";
                return Err(Fault::at_line(line, message, remedy));
            }
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests;
