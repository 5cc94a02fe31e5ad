//! The binary form: a table of the begin and end of each rank's block, then the blocks. Numbers
//! have the byte order of the machine that wrote the file, here little-endian.

use std::io::Read;
use std::path::Path;

use super::super::graph::{ANY, MOST_OPERATIONS};
use super::super::input::{Fault, Input};
use super::super::{Builder, Content, Node, Scale, TaskGraph};
use super::Counts;
use weir_model::{LONGEST_MESSAGE, Time};

/// The first eight bytes of a file.
pub const MAGIC: [u8; 8] = 4_223u64.to_le_bytes();

/// Bytes before the offsets of the header begin to count: the magic number.
const BEFORE: u64 = 8;

/// Bytes of a node.
const NODE: usize = 39;

/// Reads a file; `unit` is that of computations, ps. Also returns the offset of each rank's first
/// node, bytes.
///
/// # Errors
/// The first error found.
pub fn read(path: &Path, unit: Time, compute: Scale) -> Result<(Content, Vec<u64>), Fault> {
    let mut source = Source {
        left: std::fs::metadata(path).map_or(0, |about| about.len()),
        input: Input::open(path)?,
        at: 0,
    };
    source.take(BEFORE)?;
    let header = source.take(6)?;
    let mut fields = Fields::new(&header, BEFORE);
    let (ranks, cpus) = (fields.u32(), u32::from(fields.u8()) + 1);
    if u64::from(ranks) > source.left / 16 {
        let message = format!("a table of {ranks} ranks does not fit into the file");
        return Err(at(BEFORE, message));
    }
    let blocks = blocks(&source.take(u64::from(ranks) * 16)?, source.at, ranks)?;
    let mut reader = Reader {
        ranks,
        cpus,
        unit,
        compute,
        counts: Counts::default(),
    };
    let mut graphs: Vec<TaskGraph> = Vec::new();
    graphs.resize_with(ranks as usize, TaskGraph::default);
    let mut firsts = vec![0; ranks as usize];
    for Block { rank, from, to } in blocks {
        if from != source.at {
            let message = format!(
                "the block of rank {rank} should begin here, and its table says byte {from}"
            );
            return Err(at(source.at, message));
        }
        let bytes = source.take(to - from)?;
        let (graph, first) = reader.block(&bytes, from)?;
        graphs[rank as usize] = graph;
        firsts[rank as usize] = first;
    }
    if source.left > 0 {
        let message = format!("{} bytes behind the last rank", source.left);
        return Err(at(source.at, message));
    }
    let content = Content::new(graphs, reader.counts.coverage(), source.input.hash());
    Ok((content, firsts))
}

/// Position of an operation, if the first of its rank is at this byte.
pub fn place(firsts: &[u64], task: u32, node: u32) -> String {
    let first = firsts.get(task as usize).copied().unwrap_or(0);
    format!("byte {}", first + NODE as u64 * u64::from(node))
}

fn at(byte: u64, message: impl Into<String>) -> Fault {
    Fault {
        place: format!("byte {byte}"),
        message: message.into(),
        remedy: "the file is damaged or not complete; write it again".into(),
    }
}

/// A file from its beginning to its end. Reads never go beyond its length.
struct Source {
    input: Input,
    /// Offset of the next byte.
    at: u64,
    left: u64,
}

impl Source {
    fn take(&mut self, count: u64) -> Result<Vec<u8>, Fault> {
        if count > self.left {
            let message = format!(
                "the file ends after {} bytes, within what should have {count}",
                self.left
            );
            return Err(at(self.at, message));
        }
        let mut bytes = vec![0; count as usize];
        let read = self.input.read_exact(&mut bytes);
        read.map_err(|e| at(self.at, format!("it cannot be read: {e}")))?;
        self.at += count;
        self.left -= count;
        Ok(bytes)
    }
}

struct Block {
    rank: u32,
    from: u64,
    to: u64,
}

/// The blocks in the order of the file, from the table that begins at `start`.
fn blocks(table: &[u8], end: u64, ranks: u32) -> Result<Vec<Block>, Fault> {
    let start = end - table.len() as u64;
    let mut fields = Fields::new(table, start);
    let mut blocks = Vec::with_capacity(ranks as usize);
    for rank in 0..ranks {
        let byte = fields.at();
        let (from, to) = (fields.u64(), fields.u64());
        let (Some(from), Some(to)) = (from.checked_add(BEFORE), to.checked_add(BEFORE)) else {
            return Err(at(byte, format!("rank {rank} is nowhere in the file")));
        };
        if from > to {
            return Err(at(byte, format!("rank {rank} ends before it begins")));
        }
        blocks.push(Block { rank, from, to });
    }
    blocks.sort_by_key(|block| block.from);
    Ok(blocks)
}

/// Fields one after the other. (The caller ensures that there are enough of them.)
struct Fields<'a> {
    rest: &'a [u8],
    /// Offset of the byte after the last one.
    end: u64,
}

impl<'a> Fields<'a> {
    fn new(bytes: &'a [u8], at: u64) -> Fields<'a> {
        Fields {
            rest: bytes,
            end: at + bytes.len() as u64,
        }
    }

    fn at(&self) -> u64 {
        self.end - self.rest.len() as u64
    }

    fn next<const N: usize>(&mut self) -> [u8; N] {
        match self.rest.split_first_chunk::<N>() {
            Some((first, rest)) => {
                self.rest = rest;
                *first
            }
            None => [0; N],
        }
    }

    fn u8(&mut self) -> u8 {
        self.next::<1>()[0]
    }

    fn u32(&mut self) -> u32 {
        u32::from_le_bytes(self.next())
    }

    fn u64(&mut self) -> u64 {
        u64::from_le_bytes(self.next())
    }
}

struct Reader {
    ranks: u32,
    cpus: u32,
    unit: Time,
    compute: Scale,
    counts: Counts,
}

/// A node's dependents: their number, and their begin in the appendix.
type Dependents = (u32, u32);

impl Reader {
    /// A rank's operations, and the byte of its first node.
    fn block(&mut self, bytes: &[u8], start: u64) -> Result<(TaskGraph, u64), Fault> {
        let mut fields = Fields::new(bytes, start);
        if bytes.len() < 8 {
            return Err(at(start, "a rank has 8 bytes at least"));
        }
        let (count, roots) = (fields.u32() as usize, fields.u32() as usize);
        // No overflow: the sum is below 2⁶⁴.
        let first = 8 + 4 * roots as u64;
        let nodes = first + (NODE * count) as u64;
        if nodes > bytes.len() as u64 || count >= MOST_OPERATIONS {
            let message = format!(
                "{count} operations and {roots} first ones do not fit into {} bytes",
                bytes.len()
            );
            return Err(at(start, message));
        }
        for _ in 0..roots {
            let byte = fields.at();
            let root = fields.u32();
            if root as usize >= count {
                let message = format!("operation {root} among {count} is a first one");
                return Err(at(byte, message));
            }
        }
        let appendix = &bytes[nodes as usize..];
        let mut builder = Builder::default();
        let mut waits = Vec::with_capacity(count);
        let mut dependents = Vec::with_capacity(count);
        for _ in 0..count {
            let byte = fields.at();
            waits.push(fields.u32());
            let node = self.node(&mut fields).map_err(|what| at(byte, what))?;
            builder.add(node);
            let ends: Dependents = (fields.u32(), fields.u32());
            let starts: Dependents = (fields.u32(), fields.u32());
            dependents.push((ends, starts));
        }
        self.depend(&mut builder, &dependents, appendix, start + nodes)?;
        let graph = builder.build();
        for ((said, there), number) in waits.iter().zip(graph.degrees()).zip(0u64..) {
            if *said != there {
                let byte = start + first + NODE as u64 * number;
                let message = format!(
                    "an operation waits for {said} others, and {there} say that it waits for them"
                );
                return Err(at(byte, message));
            }
        }
        Ok((graph, start + first))
    }

    fn depend(
        &mut self,
        builder: &mut Builder,
        dependents: &[(Dependents, Dependents)],
        appendix: &[u8],
        start: u64,
    ) -> Result<(), Fault> {
        let entries = appendix.len() / 4;
        let mut named = 0;
        for (&(ends, starts), before) in dependents.iter().zip(0u32..) {
            for ((count, index), by_start) in [(ends, false), (starts, true)] {
                let (from, to) = (index as usize, index as usize + count as usize);
                if count > 0 && to > entries {
                    let message = format!(
                        "operation {before} names {count} others from place {index} of a list of \
                         {entries}"
                    );
                    return Err(at(start, message));
                }
                named += count as usize;
                if named > entries {
                    return Err(at(start, "operations name places of the list twice"));
                }
                for place in from..to {
                    let mut field = Fields::new(&appendix[4 * place..4 * place + 4], 0);
                    let after = field.u32();
                    if after as usize >= dependents.len() {
                        let byte = start + 4 * place as u64;
                        let message = format!(
                            "operation {after} among {} waits for operation {before}",
                            dependents.len()
                        );
                        return Err(at(byte, message));
                    }
                    if by_start {
                        self.counts.irequires += 1;
                        builder.requires_start(after, before);
                    } else {
                        self.counts.requires += 1;
                        builder.requires(after, before);
                    }
                }
            }
        }
        // Each place of the list is named once: otherwise a short list could represent many
        // dependencies.
        if named != entries || !appendix.len().is_multiple_of(4) {
            let message = format!(
                "a list of {} bytes, of which operations name {named} places",
                appendix.len()
            );
            return Err(at(start, message));
        }
        Ok(())
    }

    /// An operation without its dependencies.
    fn node(&mut self, fields: &mut Fields) -> Result<Node, String> {
        let kind = fields.u8();
        let (peer, size, tag) = (fields.u32(), fields.u64(), fields.u32());
        let (cpu, nic) = (fields.u8(), fields.u8());
        if u32::from(cpu) >= self.cpus {
            return Err(format!(
                "processor {cpu}, and the file says that it uses {}",
                self.cpus
            ));
        }
        let known = |peer: u32| match peer < self.ranks {
            true => Ok(peer),
            false => Err(format!("there is no task {peer} among {}", self.ranks)),
        };
        if kind != 3 && size > LONGEST_MESSAGE / 8 {
            return Err(format!("a message of {size} bytes is too long"));
        }
        let node = match kind {
            1 if tag == ANY => return Err("a message without a tag".into()),
            1 => {
                self.counts.send(size);
                Node::send(known(peer)?, size, tag)
            }
            2 => {
                self.counts.receive(size);
                let from = if peer == ANY { ANY } else { known(peer)? };
                Node::receive(from, size, tag)
            }
            3 => {
                let time = u128::from(size) * u128::from(self.unit);
                let time = self.compute.of(time).ok_or_else(|| {
                    format!("a computation of {size} is longer than can be simulated")
                })?;
                self.counts.compute(time);
                Node::compute(time)
            }
            kind => return Err(format!("there is no kind {kind} of operations")),
        };
        self.counts.nics += u64::from(kind != 3 && nic > 0);
        Ok(node.on(cpu))
    }
}
