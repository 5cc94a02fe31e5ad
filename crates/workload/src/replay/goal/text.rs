//! The text form, a line at a time.

use std::path::Path;

use rustc_hash::FxHashMap;

use super::super::graph::{ANY, MOST_OPERATIONS};
use super::super::input::{Fault, Lines};
use super::super::{Builder, Content, Node, Scale, TaskGraph, task};
use super::Counts;
use super::head::Head;
use super::words::{Words, Wrong, bytes, expect, number, shown, without_comments, wrong};
use weir_model::Time;

/// Reads a file; `unit` is that of `calc`, ps.
///
/// # Errors
/// The first error found.
pub fn read(path: &Path, unit: Time, compute: Scale) -> Result<Content, Fault> {
    let mut reader = Reader::new(unit, compute);
    let mut lines = Lines::open(path)?;
    while lines.advance()? {
        reader.line(&lines)?;
    }
    reader.end(lines)
}

/// Position of an operation.
pub fn place(path: &Path, task: u32, node: u32) -> String {
    let find = || -> Result<u64, Fault> {
        let mut reader = Reader::new(1, Scale::default());
        let mut lines = Lines::open(path)?;
        while lines.advance()? {
            reader.line(&lines)?;
            // The block of its rank is still open, or was closed on this line.
            let open = reader.block.as_ref().filter(|block| block.rank == task);
            let count = match open {
                Some(block) => block.builder.count(),
                None => reader
                    .graphs
                    .get(&task)
                    .map_or(0, |graph| graph.nodes.len()),
            };
            if count > node as usize {
                break;
            }
        }
        Ok(lines.number())
    };
    find().map_or(String::new(), |line| format!("line {line}"))
}

struct Reader {
    unit: Time,
    compute: Scale,
    ranks: Option<u32>,
    graphs: FxHashMap<u32, TaskGraph>,
    block: Option<Block>,
    /// Labels of the block; kept to reuse their memory.
    labels: FxHashMap<Box<[u8]>, u32>,
    /// True within `/* */`.
    comment: bool,
    /// The line without comments, if it has some.
    plain: Vec<u8>,
    counts: Counts,
    /// Lines before `num_ranks` that list what the schedule lacks.
    head: Head,
}

/// The operations of a rank.
struct Block {
    rank: u32,
    line: u64,
    builder: Builder,
}

impl Reader {
    fn new(unit: Time, compute: Scale) -> Reader {
        Reader {
            unit,
            compute,
            ranks: None,
            graphs: FxHashMap::default(),
            block: None,
            labels: FxHashMap::default(),
            comment: false,
            plain: Vec::new(),
            counts: Counts::default(),
            head: Head::default(),
        }
    }

    fn line(&mut self, lines: &Lines) -> Result<(), Fault> {
        if self.ranks.is_none() && !self.comment {
            let said = self.head.line(lines.bytes());
            said.map_err(|(message, remedy)| lines.fault(message, remedy))?;
        }
        let mut plain = std::mem::take(&mut self.plain);
        let line = match self.comment || lines.bytes().contains(&b'/') {
            true => {
                without_comments(lines.bytes(), &mut self.comment, &mut plain);
                &plain
            }
            false => lines.bytes(),
        };
        let outcome = self.statements(line, lines.number());
        self.plain = plain;
        outcome.map_err(|(message, remedy)| lines.fault(message, remedy))
    }

    fn statements(&mut self, line: &[u8], number: u64) -> Result<(), Wrong> {
        let mut words = Words { rest: line };
        while let Some(word) = words.next() {
            if self.block.is_some() {
                self.in_block(word, &mut words)?;
            } else {
                self.outside(word, &mut words, number)?;
            }
        }
        Ok(())
    }

    fn outside(&mut self, word: &[u8], words: &mut Words, line: u64) -> Result<(), Wrong> {
        match (word, self.ranks) {
            (b"num_ranks", None) => match number(words.next(), "number of ranks")? {
                count if (1..u64::from(u32::MAX)).contains(&count) => {
                    self.ranks = Some(count as u32);
                    Ok(())
                }
                count => wrong(format!("{count} ranks"), "write 1 or more"),
            },
            (b"num_ranks", Some(_)) => wrong("`num_ranks` stands here again", "remove it"),
            (b"rank", Some(ranks)) => {
                let rank = task(number(words.next(), "rank")?, ranks)?;
                expect(words.next(), "{")?;
                if self.graphs.contains_key(&rank) {
                    return wrong(
                        format!("rank {rank} has a block already"),
                        "write one block for each rank",
                    );
                }
                self.labels.clear();
                self.block = Some(Block {
                    rank,
                    line,
                    builder: Builder::default(),
                });
                Ok(())
            }
            (_, None) => wrong(
                format!("{} stands before `num_ranks`", shown(word)),
                "a GOAL text begins with `num_ranks N`",
            ),
            (_, Some(_)) => wrong(
                format!("{} stands outside of a rank", shown(word)),
                "write `rank R {`, statements on lines of their own, and `}`",
            ),
        }
    }

    fn in_block<'a>(&mut self, word: &'a [u8], words: &mut Words<'a>) -> Result<(), Wrong> {
        if word == b"}" {
            if let Some(block) = self.block.take() {
                self.graphs.insert(block.rank, block.builder.build());
            }
            return Ok(());
        }
        match (word, words.peek()) {
            (label, Some(b":")) => {
                words.next();
                let node = self.operation(words.next(), words)?;
                self.label(label, node)
            }
            (b"send" | b"recv" | b"calc", _) => {
                self.operation(Some(word), words)?;
                Ok(())
            }
            (_, Some(kind @ (b"requires" | b"irequires"))) => {
                words.next();
                self.dependency(word, kind == b"requires", words.next())
            }
            _ => wrong(
                format!("{} is no statement", shown(word)),
                "write `send`, `recv`, `calc`, `a requires b` or `a irequires b`",
            ),
        }
    }

    fn label(&mut self, label: &[u8], node: u32) -> Result<(), Wrong> {
        let good = |byte: &u8| byte.is_ascii_alphanumeric() || *byte == b'_';
        if !label.first().is_some_and(u8::is_ascii_alphabetic) || !label.iter().all(good) {
            return wrong(
                format!("{} is no label", shown(label)),
                "write a letter, then letters, digits and `_`",
            );
        }
        match self.labels.insert(label.into(), node) {
            None => Ok(()),
            Some(_) => wrong(
                format!("the label {} is given twice in this rank", shown(label)),
                "give each operation a different label",
            ),
        }
    }

    fn dependency(&mut self, after: &[u8], end: bool, before: Option<&[u8]>) -> Result<(), Wrong> {
        let find = |label: &[u8]| match self.labels.get(label) {
            Some(&node) => Ok(node),
            None => wrong(
                format!("there is no label {} above in this rank", shown(label)),
                "name an operation of this rank that stands above",
            ),
        };
        let Some(before) = before else {
            return wrong("the line ends where a label should be", "write it");
        };
        let (after, before) = (find(after)?, find(before)?);
        let Some(block) = &mut self.block else {
            return Ok(());
        };
        if end {
            self.counts.requires += 1;
            block.builder.requires(after, before);
        } else {
            self.counts.irequires += 1;
            block.builder.requires_start(after, before);
        }
        Ok(())
    }

    /// Reads an operation, without its label; returns its number.
    fn operation(&mut self, kind: Option<&[u8]>, words: &mut Words) -> Result<u32, Wrong> {
        let node = match kind {
            Some(b"send") => {
                let (bytes, peer) = (bytes(words)?, self.peer("to", words)?);
                let Some(peer) = peer else {
                    return wrong("a send to any task", "name the task");
                };
                self.counts.send(bytes);
                Node::send(peer, bytes, 0)
            }
            Some(b"recv") => {
                let (bytes, peer) = (bytes(words)?, self.peer("from", words)?);
                self.counts.receive(bytes);
                Node::receive(peer.unwrap_or(ANY), bytes, 0)
            }
            Some(b"calc") => {
                let count = number(words.next(), "computation")?;
                let time = u128::from(count) * u128::from(self.unit);
                let Some(time) = self.compute.of(time) else {
                    return wrong(
                        format!("a computation of {count} is longer than can be simulated"),
                        "at most 1,000,000 s are: look at `unit` and `compute`",
                    );
                };
                self.counts.compute(time);
                Node::compute(time)
            }
            Some(other) => {
                return wrong(
                    format!("{} is no operation", shown(other)),
                    "write `send`, `recv` or `calc`",
                );
            }
            None => return wrong("a label without an operation", "write the operation"),
        };
        let node = self.options(node, words)?;
        match &mut self.block {
            Some(block) if block.builder.count() < MOST_OPERATIONS => Ok(block.builder.add(node)),
            _ => wrong(
                "the rank has too many operations",
                format!("at most {MOST_OPERATIONS} are possible"),
            ),
        }
    }

    /// `to 3`, `from -1`: None for any.
    fn peer(&self, word: &str, words: &mut Words) -> Result<Option<u32>, Wrong> {
        expect(words.next(), word)?;
        if words.peek() == Some(&b"-1"[..]) {
            words.next();
            return Ok(None);
        }
        let peer = number(words.next(), "task")?;
        Ok(Some(task(peer, self.ranks.unwrap_or(0))?))
    }

    /// `tag T`, `cpu C`, `nic K`, in this order.
    fn options(&mut self, mut node: Node, words: &mut Words) -> Result<Node, Wrong> {
        let receive = node.kind == super::super::Kind::Receive;
        if node.kind != super::super::Kind::Compute && words.peek() == Some(&b"tag"[..]) {
            words.next();
            if receive && words.peek() == Some(&b"-1"[..]) {
                words.next();
                node.tag = ANY;
            } else {
                node.tag = match number(words.next(), "tag")? {
                    tag if tag < u64::from(ANY) => tag as u32,
                    tag => {
                        let message = format!("the tag {tag} is beyond {}", ANY - 1);
                        return wrong(message, "write a smaller one");
                    }
                };
            }
        }
        if words.peek() == Some(&b"cpu"[..]) {
            words.next();
            node.cpu = match number(words.next(), "processor")? {
                cpu if cpu < 256 => cpu as u8,
                cpu => return wrong(format!("there is no processor {cpu}"), "write 0 to 255"),
            };
        }
        if node.kind != super::super::Kind::Compute && words.peek() == Some(&b"nic"[..]) {
            words.next();
            self.counts.nics += u64::from(number(words.next(), "NIC")? > 0);
        }
        match words.peek() {
            None | Some(b"}") => Ok(node),
            Some(word) => wrong(
                format!("{} is too much here", shown(word)),
                "after an operation come `tag`, `cpu` and `nic`, in this order, and then the next \
                 line",
            ),
        }
    }

    fn end(mut self, lines: Lines) -> Result<Content, Fault> {
        if self.comment {
            return Err(lines.fault("a comment does not end", "write `*/`"));
        }
        if let Some(block) = &self.block {
            let message = format!("the file ends within rank {}", block.rank);
            let remedy = "the file is not complete: it should end with `}`";
            return Err(Fault::at_line(block.line, message, remedy));
        }
        let Some(ranks) = self.ranks else {
            return Err(Fault::new(
                "there is no `num_ranks`",
                "a GOAL text begins with `num_ranks N`",
            ));
        };
        let mut graphs = Vec::new();
        for rank in 0..ranks {
            let Some(graph) = self.graphs.remove(&rank) else {
                let message = format!("there is no rank {rank}, and `num_ranks` is {ranks}");
                return Err(lines.fault(
                    message,
                    "the file is not complete; a rank that does nothing has a block, too: `rank R \
                     { }`",
                ));
            };
            graphs.push(graph);
        }
        let mut coverage = self.counts.coverage();
        self.head.add_to(&mut coverage);
        Ok(Content::new(graphs, coverage, lines.hash()))
    }
}
