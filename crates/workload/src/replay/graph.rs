//! Operations of a task of a trace, as a graph of dependencies.

use std::sync::{Arc, Mutex};

use crate::tasks::collectives::Kind as CollectiveKind;
use crate::tasks::{Algorithms, Collective, Group, Op, Peer, Vector, VectorKind};
use weir_model::Time;

/// Any task, or any tag.
pub const ANY: u32 = u32::MAX;

/// Limit of operations of a task.
pub const MOST_OPERATIONS: usize = (1 << 31) - 2;

/// Marks a dependent that waits for the start, not the end.
const AFTER_START: u32 = 1 << 31;

/// Kind of an operation.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(u8)]
pub enum Kind {
    /// Sends `amount` bytes to `peer`.
    Send,
    /// Receives from `peer`, which may be `ANY`.
    Receive,
    /// Keeps its processor for `amount` ps.
    Compute,
    /// Lets `amount` ps pass.
    Delay,
    /// Takes part in a collective operation; `amount` is its place in [`TaskGraph::collectives`].
    Collective,
}

/// An operation. (24 bytes: traces have millions.)
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Node {
    /// Bytes, ps or a number, depending on [`Kind`].
    pub amount: u64,
    /// The other task.
    pub peer: Peer,
    /// The tag; may be `ANY` for a receive.
    pub tag: u32,
    /// Its kind.
    pub kind: Kind,
    /// The processor that starts it.
    pub cpu: u8,
}

impl Node {
    /// A send of `bytes`.
    pub fn send(to: Peer, bytes: u64, tag: u32) -> Node {
        Node {
            amount: bytes,
            peer: to,
            tag,
            kind: Kind::Send,
            cpu: 0,
        }
    }

    /// A receive of `bytes`; `from` and `tag` may be `ANY`.
    pub fn receive(from: Peer, bytes: u64, tag: u32) -> Node {
        Node {
            kind: Kind::Receive,
            ..Node::send(from, bytes, tag)
        }
    }

    /// A computation of `time` ps.
    pub fn compute(time: Time) -> Node {
        Node {
            kind: Kind::Compute,
            ..Node::send(0, time, 0)
        }
    }

    /// A time of `time` ps that keeps no processor.
    pub fn delay(time: Time) -> Node {
        Node {
            kind: Kind::Delay,
            ..Node::send(0, time, 0)
        }
    }

    /// The same on another processor.
    pub fn on(self, cpu: u8) -> Node {
        Node { cpu, ..self }
    }
}

/// A part in a collective operation of a group.
#[derive(Clone, Debug)]
pub struct Part {
    /// The operation; its tasks are places in `members`.
    pub what: What,
    /// The place of this task.
    pub place: u32,
    /// The tasks of the group, by their places.
    pub members: Arc<[Peer]>,
    /// The number of the operation among all of the trace.
    pub number: u32,
}

/// A collective operation.
#[derive(Clone, Debug)]
pub enum What {
    /// All tasks have the same number of bytes.
    Plain(Collective),
    /// Tasks have different numbers of bytes.
    Vector(Vector),
}

/// The tasks whose parts must have begun before a part can end.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Needs {
    /// No task, or not always.
    Nobody,
    /// The task at this place.
    One(u32),
    /// All tasks.
    All,
}

impl Part {
    /// A part of the task at `place` of `members`; `number` is that of the operation among all of
    /// the trace.
    pub fn new(
        kind: CollectiveKind,
        members: &Arc<[Peer]>,
        place: u32,
        root: u32,
        bytes: u64,
        number: u32,
    ) -> Part {
        let collective = Collective {
            kind,
            group: Group::all(members.len() as u32),
            root,
            bytes,
        };
        Part {
            what: What::Plain(collective),
            place,
            members: members.clone(),
            number,
        }
    }

    /// Writes the operations of step `step` to `ops`. False if there are fewer steps.
    pub fn step(&self, algorithms: &Algorithms, step: u32, ops: &mut Vec<Op>) -> bool {
        let before = ops.len();
        let more = match &self.what {
            What::Plain(collective) => collective.step(algorithms, self.place, step, ops),
            What::Vector(vector) => vector.step(algorithms, self.place, step, ops),
        };
        // Distinguishes the messages of simultaneous operations.
        let own = |tag| Op::collective_tag(u64::from(self.number), tag);
        for op in &mut ops[before..] {
            match op {
                Op::Send { to, tag, .. } | Op::Isend { to, tag, .. } => {
                    *to = self.members[*to as usize];
                    *tag = own(*tag);
                }
                Op::Recv { from, tag } | Op::Irecv { from, tag, .. } => {
                    *from = from.map(|place| self.members[place as usize]);
                    *tag = tag.map(own);
                }
                _ => {}
            }
        }
        more
    }

    /// The names of the operation and of the algorithm.
    pub fn names(&self, algorithms: &Algorithms) -> (&'static str, &'static str) {
        match &self.what {
            What::Plain(collective) => (collective.kind.name(), collective.algorithm(algorithms)),
            What::Vector(vector) => (vector.kind.name(), vector.algorithm(algorithms)),
        }
    }

    /// The tasks whose begin its end needs, under every algorithm.
    pub fn needs(&self) -> Needs {
        if self.members.len() < 2 {
            return Needs::Nobody;
        }
        match &self.what {
            What::Plain(collective) => {
                let root = collective.root == self.place;
                match collective.kind {
                    CollectiveKind::Bcast | CollectiveKind::Scatter if root => Needs::Nobody,
                    CollectiveKind::Bcast | CollectiveKind::Scatter => Needs::One(collective.root),
                    CollectiveKind::Reduce | CollectiveKind::Gather if root => Needs::All,
                    CollectiveKind::Reduce | CollectiveKind::Gather | CollectiveKind::Scan => {
                        Needs::Nobody
                    }
                    _ => Needs::All,
                }
            }
            What::Vector(vector) => self.vector_needs(vector),
        }
    }

    /// A task that gets no bytes gets no message.
    fn vector_needs(&self, vector: &Vector) -> Needs {
        let place = self.place as usize;
        let others = |bytes: &[u64]| {
            let mut others = bytes.iter().enumerate().filter(|&(at, _)| at != place);
            match others.all(|(_, &bytes)| bytes > 0) {
                true => Needs::All,
                false => Needs::Nobody,
            }
        };
        match vector.kind {
            VectorKind::Gatherv if vector.root == self.place => others(&vector.bytes),
            VectorKind::Scatterv if vector.root != self.place && vector.bytes[place] > 0 => {
                Needs::One(vector.root)
            }
            VectorKind::Gatherv | VectorKind::Scatterv => Needs::Nobody,
            VectorKind::Allgatherv => Needs::All,
            VectorKind::ReduceScatter if vector.bytes[place] > 0 => Needs::All,
            VectorKind::ReduceScatter => Needs::Nobody,
            VectorKind::Alltoallv => others(&vector.receives),
        }
    }
}

/// The operations of one task.
#[derive(Debug, Default)]
pub struct TaskGraph {
    /// The operations.
    pub nodes: Vec<Node>,
    /// Its parts in collective operations.
    pub collectives: Vec<Part>,
    /// Processors.
    pub cpus: u16,
    /// Begin and end of an operation's dependents in `waiting`, by operation.
    first: Vec<u32>,
    waiting: Vec<u32>,
    /// The tags of the file by the tags of the nodes, if they differ.
    pub tags: Vec<u32>,
}

impl TaskGraph {
    /// The part in a collective operation of a node.
    pub fn part(&self, node: &Node) -> &Part {
        &self.collectives[node.amount as usize]
    }

    /// Calls `each` for the operations that wait for an operation: for its start (true) or its end.
    pub fn dependents(&self, node: u32, mut each: impl FnMut(u32, bool)) {
        let (from, to) = (self.first[node as usize], self.first[node as usize + 1]);
        for &one in &self.waiting[from as usize..to as usize] {
            each(one & !AFTER_START, one & AFTER_START > 0);
        }
    }

    /// Number of operations that each operation waits for.
    pub fn degrees(&self) -> Vec<u32> {
        let mut degrees = vec![0; self.nodes.len()];
        for one in &self.waiting {
            degrees[(one & !AFTER_START) as usize] += 1;
        }
        degrees
    }

    /// Number of dependencies.
    pub fn dependencies(&self) -> usize {
        self.waiting.len()
    }

    /// An operation that waits for itself, directly or over others; None if none does.
    pub fn cycle(&self) -> Option<u32> {
        let mut left = self.degrees();
        let mut ready: Vec<u32> = (0..self.nodes.len() as u32)
            .filter(|&node| left[node as usize] == 0)
            .collect();
        let mut done = 0;
        while let Some(node) = ready.pop() {
            done += 1;
            self.dependents(node, |after, _| {
                left[after as usize] -= 1;
                if left[after as usize] == 0 {
                    ready.push(after);
                }
            });
        }
        if done == self.nodes.len() {
            return None;
        }
        // Operations that wait only for a cycle are left as well: go back from one until an
        // operation appears again.
        let mut before = vec![u32::MAX; self.nodes.len()];
        for node in (0..self.nodes.len() as u32).filter(|&node| left[node as usize] > 0) {
            self.dependents(node, |after, _| before[after as usize] = node);
        }
        let mut at = left.iter().position(|&left| left > 0)? as u32;
        for _ in 0..self.nodes.len() {
            at = before[at as usize];
        }
        Some(at)
    }

    /// Bytes of memory held.
    pub fn memory_bytes(&self) -> usize {
        self.nodes.capacity() * size_of::<Node>()
            + (self.first.capacity() + self.waiting.capacity() + self.tags.capacity()) * 4
            + self.collectives.capacity() * size_of::<Part>()
    }
}

/// Makes the operations of a task.
pub type Make = Box<dyn Fn(Peer) -> TaskGraph + Send + Sync>;

/// The graphs of the tasks of a trace.
pub enum Graphs {
    /// By task; tasks after the last of them do nothing.
    Read(Vec<Arc<TaskGraph>>, Arc<TaskGraph>),
    /// Made whenever a task needs its own, for this number of tasks that do the same with
    /// different ones. The last one made is kept: its operations are often asked for in pieces.
    Made(u32, Make, Mutex<Option<(Peer, Arc<TaskGraph>)>>),
}

impl Graphs {
    /// The graph of a task.
    pub fn of(&self, task: Peer) -> Arc<TaskGraph> {
        match self {
            Graphs::Read(graphs, idle) => graphs.get(task as usize).unwrap_or(idle).clone(),
            Graphs::Made(tasks, make, last) => {
                let mut last = last.lock().unwrap_or_else(|poisoned| poisoned.into_inner());
                if let Some((_, graph)) = last.as_ref().filter(|(own, _)| *own == task) {
                    return graph.clone();
                }
                let graph = Arc::new(match task < *tasks {
                    true => make(task),
                    false => Builder::default().build(),
                });
                *last = Some((task, graph.clone()));
                graph
            }
        }
    }

    /// Number of tasks that have operations, at most.
    pub fn count(&self) -> u32 {
        match self {
            Graphs::Read(graphs, _) => graphs.len() as u32,
            Graphs::Made(tasks, ..) => *tasks,
        }
    }

    /// Bytes of memory of all, with additional ones for each operation.
    pub fn memory_bytes(&self, each: usize) -> u64 {
        let of = |graph: &TaskGraph| (graph.memory_bytes() + each * graph.nodes.len()) as u64;
        match self {
            Graphs::Read(graphs, _) => graphs.iter().map(|graph| of(graph)).sum(),
            Graphs::Made(tasks, ..) => of(&self.of(0)) * u64::from(*tasks),
        }
    }
}

/// Collects the operations of a task.
#[derive(Debug, Default)]
pub struct Builder {
    nodes: Vec<Node>,
    collectives: Vec<Part>,
    /// Dependencies: before and after.
    pairs: Vec<(u32, u32)>,
}

impl Builder {
    /// Adds an operation and returns its number. At most `MOST_OPERATIONS`.
    pub fn add(&mut self, node: Node) -> u32 {
        self.nodes.push(node);
        self.nodes.len() as u32 - 1
    }

    /// Adds a part in a collective operation.
    pub fn add_collective(&mut self, part: Part) -> u32 {
        let place = self.collectives.len() as u64;
        self.collectives.push(part);
        self.add(Node {
            kind: Kind::Collective,
            ..Node::send(0, place, 0)
        })
    }

    /// An operation that was added before.
    pub fn node(&self, node: u32) -> Node {
        self.nodes[node as usize]
    }

    /// Makes an operation that was added before one without work.
    pub fn empty(&mut self, node: u32) {
        self.nodes[node as usize] = Node::delay(0);
    }

    /// Sets a part in a collective operation that was added before.
    pub fn set_collective(&mut self, node: u32, part: Part) {
        let place = self.nodes[node as usize].amount;
        self.collectives[place as usize] = part;
    }

    /// Sets the processor that starts an operation.
    pub fn put_on(&mut self, node: u32, cpu: u8) {
        self.nodes[node as usize].cpu = cpu;
    }

    /// Number of operations.
    pub fn count(&self) -> usize {
        self.nodes.len()
    }

    /// Makes `after` wait until `before` is complete.
    pub fn requires(&mut self, after: u32, before: u32) {
        self.pairs.push((before, after));
    }

    /// Makes `after` wait until `before` has started.
    pub fn requires_start(&mut self, after: u32, before: u32) {
        self.pairs.push((before, after | AFTER_START));
    }

    /// The graph. Operations that wait for the same one start in the order in which their
    /// dependencies were added.
    pub fn build(mut self) -> TaskGraph {
        let mut first = vec![0u32; self.nodes.len() + 1];
        for &(before, _) in &self.pairs {
            first[before as usize + 1] += 1;
        }
        for at in 1..first.len() {
            first[at] += first[at - 1];
        }
        let mut next = first.clone();
        let mut waiting = vec![0; self.pairs.len()];
        for &(before, after) in &self.pairs {
            let place = &mut next[before as usize];
            waiting[*place as usize] = after;
            *place += 1;
        }
        self.nodes.shrink_to_fit();
        let cpus = self.nodes.iter().map(|node| u16::from(node.cpu) + 1).max();
        TaskGraph {
            nodes: self.nodes,
            collectives: self.collectives,
            cpus: cpus.unwrap_or(1),
            first,
            waiting,
            tags: Vec::new(),
        }
    }
}
