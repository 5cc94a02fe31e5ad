//! `vef`: VEF traces of the tools of UCLM and UPV.

mod collective;
mod header;
#[cfg(test)]
mod tests;
mod write;

use std::path::Path;
use std::sync::Arc;

use rustc_hash::FxHashMap;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

pub use write::write;

use super::check::check;
use super::graph::What;
use super::input::Lines;
use super::table::most_tasks;
use super::{
    Build, Builder, Content, Coverage, Fault, Node, Part, Places, Refusal, Scale, nanosecond, task,
};
use crate::tasks::Peer;
use collective::{Operation, Written, meaning};
use header::{Header, Wrong, communicator, header, number, size};
use weir_input::registry::{Entry, Keys};
use weir_input::{Duration, Section};
use weir_model::Time;

keys! {
    /// Messages and collective operations that start at a time, or a time after the task has sent
    /// or received a message or has finished its part in a collective operation.
    struct Params {
        /// The unit of all times. (The format's is 1 ns.)
        #[serde(default = "nanosecond")]
        unit: Duration,
    }
}

pub const ENTRY: Entry<Build> = Entry {
    name: "vef",
    summary: "VEF: messages and collectives that start a time after others are sent, received or \
              finished.",
    source: "VEF-TraceLib (Andujar et al., HPCC 2015)",
    examples: &[r#"file = "run.vef""#],
    parameters: Keys::of::<Params>(),
    build,
};

/// Number of tags that distinguish the messages of a pair of tasks.
const TAGS: u32 = 1 << 15;

fn build(section: &Section, path: &Path, compute: Scale) -> Result<Content, Refusal> {
    let params: Params = section.parse()?;
    let mut lines = Lines::open(path)?;
    // The header may be wrong; a record has at least 16 bytes.
    let records = std::fs::metadata(path).map_or(0, |about| about.len() / 16);
    let most = most_tasks(usize::try_from(records).unwrap_or(usize::MAX));
    let mut reader = Reader::begin(&mut lines, most, params.unit.0, compute)?;
    while lines.advance()? {
        reader.line(&lines)?;
    }
    let (mut content, places) = reader.end(lines)?;
    check(&mut content.graphs, &|task, node| places.of(task, node))?;
    Ok(content)
}

/// An operation and its start.
struct Record {
    line: u64,
    after: After,
    delay: Time,
    /// The task that starts it, and the operation.
    task: Peer,
    node: u32,
}

#[derive(Clone, Copy)]
enum After {
    Nothing,
    Sent(u64),
    Received(u64),
    Collective(u64),
}

/// The two ends of a message.
struct Ends {
    from: Peer,
    send: u32,
    to: Peer,
    receive: u32,
}

struct Reader {
    header: Header,
    unit: Time,
    compute: Scale,
    groups: Vec<Arc<[Peer]>>,
    builders: Vec<Builder>,
    records: Vec<Record>,
    messages: FxHashMap<u64, Ends>,
    /// Number of messages of each pair so far.
    pairs: FxHashMap<(Peer, Peer), u32>,
    operations: FxHashMap<u64, Operation>,
    /// In the order of the file.
    order: Vec<u64>,
    coverage: Coverage,
    places: Places,
}

impl Reader {
    fn begin(lines: &mut Lines, most: u64, unit: Time, compute: Scale) -> Result<Reader, Fault> {
        let mut coverage = Coverage::default();
        lines.advance()?;
        let header = header(lines.text()?, &mut coverage)
            .map_err(|(message, remedy)| lines.fault(message, remedy))?;
        if header.tasks == 0 || u64::from(header.tasks) > most {
            let message = format!("{} tasks with {} messages", header.tasks, header.messages);
            return Err(lines.fault(message, "the header is wrong"));
        }
        let mut groups = Vec::new();
        for _ in 0..header.communicators {
            if !lines.advance()? {
                let message = format!(
                    "the file ends before its {} communicators",
                    header.communicators
                );
                return Err(lines.fault(message, "the file is not complete"));
            }
            let group = communicator(lines.text()?, groups.len(), header.tasks);
            groups.push(group.map_err(|(message, remedy)| lines.fault(message, remedy))?);
        }
        let mut builders = Vec::new();
        builders.resize_with(header.tasks as usize, Builder::default);
        Ok(Reader {
            header,
            unit,
            compute,
            groups,
            builders,
            records: Vec::new(),
            messages: FxHashMap::default(),
            pairs: FxHashMap::default(),
            operations: FxHashMap::default(),
            order: Vec::new(),
            coverage,
            places: Places::default(),
        })
    }

    fn line(&mut self, lines: &Lines) -> Result<(), Fault> {
        let words: Vec<&str> = lines.text()?.split_whitespace().collect();
        let done = match words.as_slice() {
            [] => Ok(()),
            [id, communicator, op, task, send, receive, dep @ ..] if id.starts_with('G') => self
                .part(
                    lines.number(),
                    [&id[1..], communicator, op, task, send, receive],
                    dep,
                ),
            [id, from, to, bytes, dep @ ..] => {
                self.message(lines.number(), [id, from, to, bytes], dep)
            }
            _ => Err((
                "this is no record".into(),
                "write `ID src dst bytes Dep time IDdep` or `GID comm op task send recv Dep time \
                 IDdep`"
                    .into(),
            )),
        };
        done.map_err(|(message, remedy)| lines.fault(message, remedy))
    }

    /// `Dep time IDdep`.
    fn after(&self, words: &[&str]) -> Result<(After, Time), Wrong> {
        let [dep, time, id] = words else {
            return Err((
                "a record ends with `Dep time IDdep`".into(),
                "write these three, and nothing behind them".into(),
            ));
        };
        let id = || number(id.trim_start_matches('G'));
        let after = match *dep {
            "0" => After::Nothing,
            "1" => After::Sent(id()?),
            "2" => After::Received(id()?),
            "3" => After::Collective(id()?),
            dep => {
                let dep: String = dep.chars().take(40).collect();
                return Err((
                    format!("`{dep}` is no kind of dependency"),
                    "write 0 (none), 1 (sent), 2 (received) or 3 (collective finished)".into(),
                ));
            }
        };
        let time = u128::from(number(time)?) * u128::from(self.unit);
        match self.compute.of(time) {
            Some(time) => Ok((after, time)),
            None => Err((
                "the time is longer than can be simulated".into(),
                "at most 1,000,000 s are possible: look at `unit`".into(),
            )),
        }
    }

    fn message(&mut self, line: u64, words: [&&str; 4], dep: &[&str]) -> Result<(), Wrong> {
        let [id, from, to, bytes] = words;
        let id = number(id)?;
        let (from, to) = (
            task(number(from)?, self.header.tasks)?,
            task(number(to)?, self.header.tasks)?,
        );
        let bytes = size(bytes)?;
        let (after, delay) = self.after(dep)?;
        let count = self.pairs.entry((from, to)).or_default();
        let tag = *count % TAGS;
        *count += 1;
        let send = self.builders[from as usize].add(Node::send(to, bytes, tag));
        let receive = self.builders[to as usize].add(Node::receive(from, bytes, tag));
        self.places.set(from, send, line);
        self.places.set(to, receive, line);
        let ends = Ends {
            from,
            send,
            to,
            receive,
        };
        if self.messages.insert(id, ends).is_some() {
            return Err((
                format!("there is a message {id} already"),
                "give each message a different number".into(),
            ));
        }
        self.records.push(Record {
            line,
            after,
            delay,
            task: from,
            node: send,
        });
        self.coverage.simulated("messages", 1, bytes);
        Ok(())
    }

    fn part(&mut self, line: u64, words: [&str; 6], dep: &[&str]) -> Result<(), Wrong> {
        let [id, communicator, op, own, send, receive] = words;
        let (id, op) = (number(id)?, number(op)?);
        let communicator = number(communicator.trim_start_matches('C'))?;
        let own = task(number(own)?, self.header.tasks)?;
        let (send, receive) = (size(send)?, size(receive)?);
        let (after, delay) = self.after(dep)?;
        let order = &mut self.order;
        let operation = self.operations.entry(id).or_insert_with(|| {
            order.push(id);
            Operation {
                line,
                communicator,
                op,
                parts: Vec::new(),
            }
        });
        if (operation.op, operation.communicator) != (op, communicator) {
            return Err((
                format!("G{id} is another operation on line {}", operation.line),
                "all parts of an operation have its communicator and kind".into(),
            ));
        }
        operation.parts.push(Written {
            line,
            task: own,
            send,
            receive,
            record: self.records.len(),
        });
        self.records.push(Record {
            line,
            after,
            delay,
            task: own,
            node: 0,
        });
        Ok(())
    }

    fn end(mut self, lines: Lines) -> Result<(Content, Places), Fault> {
        let counts = [
            ("messages", self.header.messages, self.messages.len() as u64),
            (
                "collective operations",
                self.header.collectives,
                self.order.len() as u64,
            ),
        ];
        for (what, said, there) in counts {
            if said != there {
                let message = format!("the header says {said} {what}, and there are {there}");
                return Err(
                    lines.fault(message, "the file is not complete, or its header is wrong")
                );
            }
        }
        // The parts of each operation, for the operations that wait for them.
        let mut finished: FxHashMap<(u64, Peer), u32> = FxHashMap::default();
        for (number, id) in std::mem::take(&mut self.order).into_iter().enumerate() {
            self.operation(number as u64, id, &mut finished)?;
        }
        for record in std::mem::take(&mut self.records) {
            self.dependency(&record, &finished)?;
        }
        let graphs = self.builders.into_iter().map(Builder::build).collect();
        let content = Content::new(graphs, self.coverage, lines.hash());
        Ok((content, self.places))
    }

    /// Turns the parts of a collective operation into operations of their tasks.
    fn operation(
        &mut self,
        number: u64,
        id: u64,
        finished: &mut FxHashMap<(u64, Peer), u32>,
    ) -> Result<(), Fault> {
        let Some(operation) = self.operations.remove(&id) else {
            return Ok(());
        };
        let refuse =
            |message: String, remedy: &str| Err(Fault::at_line(operation.line, message, remedy));
        let Some(members) = self.groups.get(operation.communicator as usize).cloned() else {
            let message = format!("there is no communicator C{}", operation.communicator);
            return refuse(message, "name one of those below the header");
        };
        if operation.parts.len() != members.len() {
            let message = format!(
                "G{id} has {} parts, and its communicator {} tasks",
                operation.parts.len(),
                members.len()
            );
            return refuse(message, "write a line for each task");
        }
        let meaning = meaning(&operation)
            .map_err(|(line, message, remedy)| Fault::at_line(line, message, remedy))?;
        let places: FxHashMap<Peer, u32> = members.iter().copied().zip(0..).collect();
        let place = |task: Peer| {
            places.get(&task).copied().ok_or_else(|| {
                let communicator = operation.communicator;
                let message = format!("task {task} is not in communicator C{communicator}");
                Fault::at_line(operation.line, message, "only its tasks take part")
            })
        };
        let (what, bytes) = meaning.what(&operation.parts, &members, place)?;
        for part in &operation.parts {
            let own = Part {
                what: what.clone(),
                place: place(part.task)?,
                members: members.clone(),
                number: number as u32,
            };
            let node = self.builders[part.task as usize].add_collective(own);
            if finished.insert((id, part.task), node).is_some() {
                let message = format!("task {} takes part in G{id} twice", part.task);
                return refuse(message, "write a line for each task");
            }
            let record = &mut self.records[part.record];
            record.node = node;
            self.places.set(part.task, node, record.line);
        }
        let coverage = &mut self.coverage;
        coverage.simulated("collective operations", 1, 0);
        coverage.simulated("parts in them", operation.parts.len() as u64, bytes);
        if matches!(what, What::Vector(_)) {
            coverage.simulated("of those with sizes for each task", 1, 0);
        }
        Ok(())
    }

    /// Makes a record wait for the one that it names, and then for a time.
    fn dependency(
        &mut self,
        record: &Record,
        finished: &FxHashMap<(u64, Peer), u32>,
    ) -> Result<(), Fault> {
        let own = record.task;
        let message = |id: u64| self.messages.get(&id);
        let (before, what) = match record.after {
            After::Nothing => (None, String::new()),
            After::Sent(id) => (
                message(id)
                    .filter(|ends| ends.from == own)
                    .map(|ends| ends.send),
                format!("task {own} sends no message {id}"),
            ),
            After::Received(id) => (
                message(id)
                    .filter(|ends| ends.to == own)
                    .map(|ends| ends.receive),
                format!("task {own} receives no message {id}"),
            ),
            After::Collective(id) => (
                finished.get(&(id, own)).copied(),
                format!("task {own} has no part in G{id}"),
            ),
        };
        if before.is_none() && !what.is_empty() {
            let remedy = "a record waits for what its own task sends, receives or takes part in";
            return Err(Fault::at_line(record.line, what, remedy));
        }
        let builder = &mut self.builders[own as usize];
        let first = match record.delay {
            0 => record.node,
            delay => {
                let wait = builder.add(Node::delay(delay));
                self.places.set(own, wait, record.line);
                builder.requires(record.node, wait);
                wait
            }
        };
        if let Some(before) = before {
            builder.requires(first, before);
            self.coverage.simulated("dependencies", 1, 0);
        }
        Ok(())
    }
}
