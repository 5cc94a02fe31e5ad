//! `chakra`: execution traces of MLCommons' Chakra.

mod groups;
mod node;
#[cfg(test)]
mod tests;
mod wire;

use std::cmp::Reverse;
use std::collections::BinaryHeap;
use std::io::{BufReader, Read};
use std::path::Path;

use rustc_hash::FxHashMap;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use sha2::Sha256;

use super::check::check;
use super::files::rank_files;
use super::graph::{ANY, MOST_OPERATIONS};
use super::input::{Fault, Input, hexadecimal};
use super::mpi::length;
use super::operations::{Call, Operations};
use super::{Build, Builder, Content, Coverage, Places, Refusal, Scale, signed_task};
use crate::tasks::Peer;
use crate::tasks::collectives::Kind as CollectiveKind;
use groups::Groups;
use node::{Kind, Node};
use weir_input::Section;
use weir_input::registry::{Entry, Keys};
use weir_model::{Invalid, US};
use wire::damaged;

keys! {
    /// The operations of each NPU of a training run, as a graph: computation, sends, receives and
    /// collective operations. There is a file for each NPU; `file` is that of number 0: the last 0
    /// in its name stands for the number.
    struct Params {
        /// Members of communicators, as in ASTRA-sim: a JSON file, `{ "1": [0, 1], … }`, relative
        /// to the trace. Traces may also list them.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        groups: Option<String>,
    }
}

pub const ENTRY: Entry<Build> = Entry {
    name: "chakra",
    summary: "Chakra execution traces: computation and communication of each NPU as a graph.",
    source: "MLCommons Chakra (Sridharan et al., 2023); ASTRA-sim",
    examples: &[r#"file = "allreduce.0.et""#],
    parameters: Keys::of::<Params>(),
    build,
};

/// Processors: for operations on the host, computation on the accelerator, and communication on it.
const CPUS: [u8; 3] = [0, 1, 2];

fn build(section: &Section, path: &Path, compute: Scale) -> Result<Content, Refusal> {
    let params: Params = section.parse()?;
    let files = rank_files(path)?;
    let tasks = files.len() as u32;
    let mut reader = Reader {
        tasks,
        compute,
        operations: Operations::default(),
        groups: Groups::new(tasks),
        builders: Vec::new(),
        places: Places::of_bytes(),
        coverage: Coverage::default(),
    };
    let mut hash = Sha256::default();
    if let Some(file) = &params.groups {
        let file = path.parent().unwrap_or(Path::new("")).join(file);
        hash = reader.groups.file(&file, hash).map_err(|fault| {
            let message = format!("{}: {}", fault.place, fault.message);
            section.refuse(Invalid::new("groups", message, fault.remedy))
        })?;
    }
    for (path, own) in files.iter().zip(0..) {
        let name = path.file_name().unwrap_or_default().to_string_lossy();
        reader.places.files.push(name.clone().into_owned());
        reader.builders.push(Builder::default());
        let read = reader.file(path, own, hash);
        hash = read.map_err(|fault| fault.within(&name))?;
    }
    let places = &reader.places;
    reader
        .operations
        .finish(&mut reader.builders, &mut reader.coverage, places)?;
    let mut graphs: Vec<_> = reader.builders.into_iter().map(Builder::build).collect();
    check(&mut graphs, &|task, node| places.of(task, node))?;
    Ok(Content::new(graphs, reader.coverage, hexadecimal(hash)))
}

struct Reader {
    tasks: u32,
    compute: Scale,
    operations: Operations,
    groups: Groups,
    builders: Vec<Builder>,
    places: Places,
    coverage: Coverage,
}

/// Maximum length of a message of a file, bytes.
const LONGEST: u64 = 64 << 20;

/// A file as messages, each preceded by its length.
struct Messages {
    reader: BufReader<Input>,
    at: u64,
    buffer: Vec<u8>,
}

impl Messages {
    /// The next message, and its first byte. None at the end of the file.
    fn next(&mut self) -> Result<Option<(&[u8], u64)>, Fault> {
        let begin = self.at;
        let (mut length, mut place) = (0u64, 0);
        loop {
            let mut byte = [0];
            match self.reader.read(&mut byte) {
                Ok(0) if place == 0 => return Ok(None),
                Ok(0) => return Err(damaged(begin, "the file ends within a length")),
                Ok(_) => {}
                Err(e) => return Err(damaged(begin, &format!("it cannot be read: {e}"))),
            }
            self.at += 1;
            length |= u64::from(byte[0] & 0x7f) << (7 * place);
            place += 1;
            if byte[0] < 0x80 {
                break;
            }
            if place == 5 {
                return Err(damaged(begin, "this is no length of a message"));
            }
        }
        if length > LONGEST {
            return Err(damaged(begin, &format!("a message of {length} bytes")));
        }
        let first = self.at;
        self.buffer.clear();
        let mut limited = (&mut self.reader).take(length);
        let read = limited.read_to_end(&mut self.buffer);
        read.map_err(|e| damaged(first, &format!("it cannot be read: {e}")))?;
        if self.buffer.len() as u64 != length {
            let message = format!(
                "the file ends after {} of {length} bytes of a message",
                self.buffer.len()
            );
            return Err(damaged(first, &message));
        }
        self.at += length;
        Ok(Some((&self.buffer, first)))
    }
}

/// The operations of a file by the names of their nodes, the operations that wait for each name,
/// and the parts in collective operations.
#[derive(Default)]
struct Names {
    nodes: FxHashMap<u64, u32>,
    /// The names by operation.
    ids: Vec<u64>,
    after: Vec<(u32, u64)>,
    parts: FxHashMap<u32, Unnumbered>,
}

/// A part in an operation of a group, until its place among the task's parts is known.
struct Unnumbered {
    at: u64,
    group: usize,
    call: Call,
}

impl Names {
    /// The operations in the order in which ASTRA-sim would issue them if none took time: an
    /// operation after the operations that it waits for, otherwise by the numbers of the nodes.
    /// Operations that wait for themselves are last.
    fn order(&self) -> Vec<u32> {
        let (ids, count) = (&self.ids, self.ids.len());
        let mut left = vec![0u32; count];
        let mut after = vec![Vec::new(); count];
        for &(operation, id) in &self.after {
            if let Some(&before) = self.nodes.get(&id) {
                left[operation as usize] += 1;
                after[before as usize].push(operation);
            }
        }
        let all = 0..count as u32;
        let free = all.clone().filter(|&one| left[one as usize] == 0);
        let mut ready: BinaryHeap<_> = free.map(|one| Reverse((ids[one as usize], one))).collect();
        let mut order = Vec::with_capacity(count);
        while let Some(Reverse((_, operation))) = ready.pop() {
            order.push(operation);
            for &one in &after[operation as usize] {
                left[one as usize] -= 1;
                if left[one as usize] == 0 {
                    ready.push(Reverse((ids[one as usize], one)));
                }
            }
        }
        order.extend(all.filter(|&one| left[one as usize] > 0));
        order
    }
}

impl Reader {
    fn file(&mut self, path: &Path, own: Peer, hash: Sha256) -> Result<Sha256, Fault> {
        let mut messages = Messages {
            reader: BufReader::new(Input::open_after(path, hash)?),
            at: 0,
            buffer: Vec::new(),
        };
        // The first message describes the trace; it has the same form as the others, and is not
        // needed.
        let Some((first, at)) = messages.next()? else {
            return Err(Fault::new("it is empty", "give a Chakra trace"));
        };
        let mut first = wire::Message::new(first, at);
        while first.field()?.is_some() {}
        let mut names = Names::default();
        while let Some((bytes, at)) = messages.next()? {
            let node = Node::read(bytes, at)?;
            let operation = self.node(own, &node, &mut names.parts)?;
            if names.nodes.insert(node.id, operation).is_some() {
                let message = format!("there is a node {} already", node.id);
                return Err(damaged(at, &message));
            }
            names.ids.push(node.id);
            let after = node.after.iter().map(|&id| (operation, id));
            names.after.extend(after);
        }
        self.number(own, &mut names)?;
        let builder = &mut self.builders[own as usize];
        for (operation, id) in names.after {
            match names.nodes.get(&id) {
                Some(&before) => {
                    self.coverage.simulated("dependencies", 1, 0);
                    builder.requires(operation, before);
                }
                None => {
                    let why = "they are on nodes that the file lacks";
                    self.coverage.ignored("dependencies", 1, 0, why);
                }
            }
        }
        Ok(messages.reader.into_inner().hasher())
    }

    /// Numbers the parts of a task in the operations of each group.
    fn number(&mut self, own: Peer, names: &mut Names) -> Result<(), Fault> {
        if names.parts.is_empty() {
            return Ok(());
        }
        let builder = &mut self.builders[own as usize];
        for operation in names.order() {
            let Some(Unnumbered { at, group, call }) = names.parts.remove(&operation) else {
                continue;
            };
            let put = |part| {
                builder.set_collective(operation, part);
                operation
            };
            let put = self.operations.put(put, own, group, call, &self.places);
            put.map_err(|(message, remedy)| Fault {
                place: format!("byte {at}"),
                message,
                remedy,
            })?;
        }
        Ok(())
    }

    /// The operation of a node; its part in a collective operation is added to `parts`.
    fn node(
        &mut self,
        own: Peer,
        node: &Node,
        parts: &mut FxHashMap<u32, Unnumbered>,
    ) -> Result<u32, Fault> {
        if self.builders[own as usize].count() >= MOST_OPERATIONS {
            return Err(damaged(node.at, "there are too many nodes"));
        }
        let kind = node.kind()?;
        // Nodes that call a kernel have no size; the kernel has.
        let calls = kind == Kind::Collective && node.number("comm_size").is_none();
        let on_host = node.number("is_cpu_op").unwrap_or(1) != 0;
        let refuse = |(message, remedy): (String, String)| Fault {
            place: format!("byte {}", node.at),
            message,
            remedy,
        };
        let one = match kind {
            Kind::Compute => {
                let time = self.timed("computations", node)?;
                let cpu = if on_host { CPUS[0] } else { CPUS[1] };
                super::Node::compute(time).on(cpu)
            }
            Kind::Collective if calls => {
                let time = self.duration(node)?;
                let name = "calls of collective operations";
                self.coverage.timed(name, 1, time);
                super::Node::compute(time).on(CPUS[0])
            }
            Kind::Memory => super::Node::delay(self.timed("operations on memory", node)?),
            Kind::Metadata | Kind::Invalid => {
                if let Some(values) = &node.values {
                    self.groups.inline(values);
                }
                self.coverage.simulated("nodes without work", 1, 0);
                super::Node::delay(0)
            }
            Kind::Send => {
                let to = signed_task(node.need("comm_dst")? as i64, self.tasks).map_err(refuse)?;
                let (bytes, tag) = self.message(node).map_err(refuse)?;
                self.coverage.simulated("sends", 1, bytes);
                super::Node::send(to, bytes, tag).on(CPUS[2])
            }
            Kind::Receive => {
                let from =
                    signed_task(node.need("comm_src")? as i64, self.tasks).map_err(refuse)?;
                let (bytes, tag) = self.message(node).map_err(refuse)?;
                self.coverage.simulated("receives", 1, bytes);
                super::Node::receive(from, bytes, tag).on(CPUS[2])
            }
            Kind::Collective => {
                let operation = self.collective(own, node, parts)?;
                self.places.set(own, operation, node.at);
                return Ok(operation);
            }
        };
        let operation = self.builders[own as usize].add(one);
        self.places.set(own, operation, node.at);
        Ok(operation)
    }

    /// The duration of a node of this kind, which the trace may lack.
    fn timed(&mut self, kind: &'static str, node: &Node) -> Result<u64, Fault> {
        let time = self.duration(node)?;
        match node.duration {
            0 => {
                let why = "the trace does not say how long they take";
                self.coverage.ignored(kind, 1, 0, why);
            }
            _ => self.coverage.timed(kind, 1, time),
        }
        Ok(time)
    }

    fn duration(&self, node: &Node) -> Result<u64, Fault> {
        let time = u128::from(node.duration) * u128::from(US);
        self.compute.of(time).ok_or_else(|| Fault {
            place: format!("byte {}", node.at),
            message: format!("node {} takes {} us", node.id, node.duration),
            remedy: "at most 1,000,000 s can be simulated: look at `compute`".into(),
        })
    }

    /// Bytes and tag.
    fn message(&mut self, node: &Node) -> Result<(u64, u32), (String, String)> {
        let bytes = match node.number("comm_size") {
            Some(size) => bytes(node, size)?,
            None => {
                let why = "nodes lack `comm_size`, and their messages are empty";
                self.coverage.ignored("sizes of messages", 1, 0, why);
                0
            }
        };
        let tag = node.number("comm_tag").unwrap_or(0);
        match u32::try_from(tag).ok().filter(|&tag| tag != ANY) {
            Some(tag) => Ok((bytes, tag)),
            None => Err((
                format!("the tag {} is none", tag as i64),
                "write 0 to 4294967294".into(),
            )),
        }
    }

    fn collective(
        &mut self,
        own: Peer,
        node: &Node,
        parts: &mut FxHashMap<u32, Unnumbered>,
    ) -> Result<u32, Fault> {
        let refuse = |(message, remedy): (String, String)| Fault {
            place: format!("byte {}", node.at),
            message,
            remedy,
        };
        let name = ["pg_name", "comm_group"]
            .into_iter()
            .find_map(|key| node.text(key))
            .filter(|name| !name.is_empty());
        let group = self
            .groups
            .find(name.as_deref(), &mut self.operations)
            .map_err(refuse)?;
        let tasks = self.operations.members(group).len() as u64;
        let size = bytes(node, node.need("comm_size")?).map_err(refuse)?;
        let root = ["comm_root", "root_rank", "root"];
        let root = root.into_iter().find_map(|key| node.number(key));
        let root = || signed_task(root.unwrap_or(0) as i64, tasks as u32).map_err(refuse);
        // Sizes are interpreted as in ASTRA-sim: for an alltoall and a reduce-scatter, the size is
        // all that a task has.
        let (kind, root, bytes) = match node.need("comm_type")? {
            0 => (CollectiveKind::Allreduce, 0, size),
            1 => (CollectiveKind::Reduce, root()?, size),
            2 => (CollectiveKind::Allgather, 0, size),
            3 => (CollectiveKind::Gather, root()?, size),
            4 => (CollectiveKind::Scatter, root()?, size),
            5 => (CollectiveKind::Bcast, root()?, size),
            6 => (CollectiveKind::Alltoall, 0, size.div_ceil(tasks)),
            7 | 8 => (CollectiveKind::ReduceScatter, 0, size.div_ceil(tasks)),
            9 => (CollectiveKind::Barrier, 0, 0),
            kind => {
                let message = format!("node {} is of collective type {kind}", node.id);
                return Err(refuse((message, "0 to 9 are known".into())));
            }
        };
        if tasks == 1 {
            let name = "collective operations of a single task";
            self.coverage.simulated(name, 1, 0);
        }
        if node.dimensions {
            let why = "every collective operation uses the whole network";
            self.coverage.ignored("choices of dimensions", 1, 0, why);
        }
        let builder = &mut self.builders[own as usize];
        let members = self.operations.members(group);
        let later = super::Part::new(CollectiveKind::Barrier, members, 0, 0, 0, 0);
        let operation = builder.add_collective(later);
        let call = Call::Plain { kind, root, bytes };
        let at = node.at;
        parts.insert(operation, Unnumbered { at, group, call });
        builder.put_on(operation, CPUS[2]);
        Ok(operation)
    }
}

/// A size that can be simulated. Attributes are signed.
fn bytes(node: &Node, size: u64) -> Result<u64, (String, String)> {
    match size as i64 {
        negative @ ..0 => Err((
            format!("node {} has {negative} bytes", node.id),
            "write 0 or more".into(),
        )),
        _ => length(u128::from(size)),
    }
}
