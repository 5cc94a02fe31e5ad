//! Finds deadlocks: operations of different tasks that wait for each other in a cycle.
//!
//! All tasks are carried out at once, without times. An operation that waits for nothing starts. A
//! receive is complete when the number of messages sent to it reaches its place among the receives
//! of its source and tag. A part in a collective operation is complete when the parts have begun
//! that it needs under every algorithm. Sends are complete at once, which is more than a run grants
//! to long ones. Operations that are left in the end can therefore never finish in any run.
//!
//! If the order of receives is open (receives of any source or tag, or two of the same that may be
//! posted in either order), the best order is assumed; such a deadlock is found by the run.

use rustc_hash::{FxHashMap, FxHashSet};

use super::graph::{ANY, Kind, Needs, Node, TaskGraph};
use super::input::Fault;
use crate::tasks::{Peer, Queues};

/// The channel of receives that are complete as soon as they are posted.
const OPEN: u32 = u32::MAX;

/// Maximum effort for checking if the order of receives is open.
const EFFORT: u64 = 1 << 28;

/// A task and its operation.
type Owner = (Peer, u32);

/// Refuses a deadlock. `channels` has a number for each send and receive: those with the same
/// number are matched in order. The numbers of other operations are ignored.
///
/// # Errors
/// If operations can never finish: the cycle.
pub fn check(
    graphs: &[TaskGraph],
    channels: Vec<Vec<u32>>,
    place: &dyn Fn(Peer, u32) -> String,
) -> Result<(), Fault> {
    let mut run = Run::new(graphs, channels);
    run.go();
    while run.open_some() {
        run.go();
    }
    match run.stuck() {
        None => Ok(()),
        Some(first) => Err(run.circle(first, place)),
    }
}

#[derive(Clone, Copy, Debug, Default)]
struct Channel {
    sent: u32,
    taken: u32,
}

/// A collective operation under way.
#[derive(Debug, Default)]
struct Together {
    begun: u32,
    /// Places that have begun while some task waits.
    there: FxHashSet<u32>,
    waiting: Vec<Owner>,
}

struct Run<'a> {
    graphs: &'a [TaskGraph],
    channels: Vec<Vec<u32>>,
    states: Vec<Channel>,
    /// Waiting receives, by channel.
    receives: Queues<u32, Owner>,
    /// Collective operations, by number.
    together: FxHashMap<u32, Together>,
    /// Number of operations that each operation waits for; `DONE` when it is complete.
    left: Vec<Vec<u32>>,
    ready: Vec<Owner>,
    effort: u64,
}

/// Marks a complete operation.
const DONE: u32 = u32::MAX;

impl<'a> Run<'a> {
    fn new(graphs: &'a [TaskGraph], channels: Vec<Vec<u32>>) -> Run<'a> {
        let known = |&channel: &u32| channel != OPEN;
        let highest = channels.iter().flatten().copied().filter(known).max();
        let left: Vec<Vec<u32>> = graphs.iter().map(TaskGraph::degrees).collect();
        let mut ready = Vec::new();
        for (left, task) in left.iter().zip(0..) {
            let free = left.iter().zip(0..).filter(|(left, _)| **left == 0);
            ready.extend(free.map(|(_, node)| (task, node)));
        }
        Run {
            graphs,
            channels,
            states: vec![Channel::default(); highest.map_or(0, |highest| highest as usize + 1)],
            receives: Queues::default(),
            together: FxHashMap::default(),
            left,
            ready,
            effort: 0,
        }
    }

    fn node(&self, (task, node): Owner) -> &'a Node {
        &self.graphs[task as usize].nodes[node as usize]
    }

    fn channel(&self, (task, node): Owner) -> u32 {
        let channels = self.channels.get(task as usize);
        let channel = channels.and_then(|channels| channels.get(node as usize));
        channel.copied().unwrap_or(OPEN)
    }

    fn go(&mut self) {
        while let Some(owner) = self.ready.pop() {
            self.start(owner);
        }
    }

    /// Releases the operations that wait for the start or the end of this one.
    fn release(&mut self, (task, node): Owner, started: bool) {
        let (left, ready) = (&mut self.left[task as usize], &mut self.ready);
        self.graphs[task as usize].dependents(node, |after, start| {
            if start == started {
                let left = &mut left[after as usize];
                *left -= 1;
                if *left == 0 {
                    ready.push((task, after));
                }
            }
        });
    }

    fn finish(&mut self, owner: Owner) {
        self.left[owner.0 as usize][owner.1 as usize] = DONE;
        self.release(owner, false);
    }

    fn start(&mut self, owner: Owner) {
        self.release(owner, true);
        let channel = self.channel(owner);
        match self.node(owner).kind {
            Kind::Compute | Kind::Delay => self.finish(owner),
            Kind::Send => {
                self.finish(owner);
                if channel != OPEN {
                    self.states[channel as usize].sent += 1;
                    self.take(channel);
                }
            }
            Kind::Receive if channel == OPEN => self.finish(owner),
            Kind::Receive => {
                self.receives.push(channel, owner);
                self.take(channel);
            }
            Kind::Collective => self.take_part(owner),
        }
    }

    /// Completes the first waiting receive of a channel if there is a message for it.
    fn take(&mut self, channel: u32) {
        let state = &mut self.states[channel as usize];
        if state.sent > state.taken
            && let Some(owner) = self.receives.pop(channel)
        {
            state.taken += 1;
            self.finish(owner);
        }
    }

    fn take_part(&mut self, owner: Owner) {
        let part = self.graphs[owner.0 as usize].part(self.node(owner));
        let state = self.together.entry(part.number).or_default();
        state.begun += 1;
        state.there.insert(part.place);
        state.waiting.push(owner);
        let all = state.begun as usize == part.members.len();
        let graphs = self.graphs;
        let over = |&(task, node): &Owner| {
            let graph = &graphs[task as usize];
            match graph.part(&graph.nodes[node as usize]).needs() {
                Needs::Nobody => true,
                Needs::One(place) => state.there.contains(&place),
                Needs::All => all,
            }
        };
        let (over, waiting) = std::mem::take(&mut state.waiting)
            .into_iter()
            .partition::<Vec<_>, _>(over);
        state.waiting = waiting;
        if all {
            self.together.remove(&part.number);
        }
        for owner in over {
            self.finish(owner);
        }
    }

    /// Completes receives that could have been matched in another order. False if there are none.
    fn open_some(&mut self) -> bool {
        let mut channels: Vec<(u32, Peer)> = self
            .receives
            .firsts()
            .map(|(channel, owner)| (channel, owner.0))
            .collect();
        channels.sort_unstable();
        let mut opened = false;
        for (channel, task) in channels {
            if self.is_ordered(channel, task) {
                continue;
            }
            opened = true;
            for one in &mut self.channels[task as usize] {
                if *one == channel {
                    *one = OPEN;
                }
            }
            while let Some(owner) = self.receives.pop(channel) {
                self.finish(owner);
            }
        }
        opened
    }

    /// True if the receives of a channel are posted in the same order in all runs: each after the
    /// start of the previous one.
    fn is_ordered(&mut self, channel: u32, task: Peer) -> bool {
        let graph = &self.graphs[task as usize];
        self.effort += (graph.nodes.len() + graph.dependencies()) as u64;
        if self.effort > EFFORT {
            return false;
        }
        // Maximum number of receives of the channel on a path to each operation, including itself.
        let mut before = vec![0u32; graph.nodes.len()];
        let mut left = graph.degrees();
        let mut ready: Vec<u32> = (0..graph.nodes.len() as u32)
            .filter(|&node| left[node as usize] == 0)
            .collect();
        let (mut count, mut longest) = (0, 0);
        while let Some(node) = ready.pop() {
            let at = node as usize;
            if self.channels[task as usize][at] == channel && graph.nodes[at].kind == Kind::Receive
            {
                count += 1;
                before[at] += 1;
                longest = longest.max(before[at]);
            }
            let own = before[at];
            graph.dependents(node, |after, _| {
                let after = after as usize;
                before[after] = before[after].max(own);
                left[after] -= 1;
                if left[after] == 0 {
                    ready.push(after as u32);
                }
            });
        }
        // All are on one path.
        longest == count
    }

    /// An operation that is not complete.
    fn stuck(&self) -> Option<Owner> {
        let waits = |owner: &Owner| self.left[owner.0 as usize][owner.1 as usize] == 0;
        for (left, task) in self.left.iter().zip(0..) {
            let mut nodes = (0..left.len() as u32).map(|node| (task, node));
            if let Some(owner) = nodes.find(waits) {
                return Some(owner);
            }
        }
        None
    }

    /// Follows the waiting operations until one appears again.
    fn circle(&self, first: Owner, place: &dyn Fn(Peer, u32) -> String) -> Fault {
        let mut way: Vec<Owner> = vec![first];
        let from = loop {
            let Some(next) = self.way_on(way[way.len() - 1]) else {
                break 0;
            };
            if let Some(at) = way.iter().position(|&one| one == next) {
                break at;
            }
            way.push(next);
        };
        let circle = &way[from..];
        let words: Vec<String> = circle
            .iter()
            .take(MOST)
            .map(|&owner| self.words(owner, place))
            .collect();
        let more = match circle.len().saturating_sub(MOST) {
            0 => String::new(),
            more => format!(", and {more} more"),
        };
        Fault {
            place: place(circle[0].0, circle[0].1),
            message: format!("a deadlock: {}{more}", words.join(", ")),
            remedy: "these wait for each other: send before, or receive in the background".into(),
        }
    }

    fn words(&self, owner: Owner, place: &dyn Fn(Peer, u32) -> String) -> String {
        let node = self.node(owner);
        let place = match place(owner.0, owner.1) {
            place if place.is_empty() => String::new(),
            place => format!(" ({place})"),
        };
        let (task, peer) = (owner.0, node.peer);
        match node.kind {
            Kind::Collective => {
                let graph = &self.graphs[task as usize];
                let number = graph.part(node).number;
                format!("task {task} waits in collective operation {number}{place}")
            }
            _ => format!("task {task} waits for a message from task {peer}{place}"),
        }
    }

    /// An operation that has begun and is not complete, and that keeps an operation that this one
    /// waits for from beginning.
    fn way_on(&self, owner: Owner) -> Option<Owner> {
        let node = self.node(owner);
        let graph = &self.graphs[owner.0 as usize];
        let idle = |one: Owner| ![0, DONE].contains(&self.left[one.0 as usize][one.1 as usize]);
        let missing = if node.kind == Kind::Collective {
            let part = graph.part(node);
            let absent = |&&task: &&Peer| {
                let graph = &self.graphs[task as usize];
                let parts = graph.nodes.iter().zip(0..);
                let own = |(one, at): (&Node, u32)| {
                    let mine =
                        one.kind == Kind::Collective && graph.part(one).number == part.number;
                    mine && idle((task, at))
                };
                parts.into_iter().any(own)
            };
            let task = *part.members.iter().find(absent)?;
            let graph = &self.graphs[task as usize];
            let at = graph.nodes.iter().position(|one| {
                one.kind == Kind::Collective && graph.part(one).number == part.number
            })?;
            (task, at as u32)
        } else {
            let channel = self.channel(owner);
            let task = node.peer;
            let own = self.channels.get(task as usize)?.iter().zip(0..);
            let mut sends = own.filter(|&(&one, _)| one == channel);
            let (_, at) = sends
                .find(|&(_, at)| idle((task, at)) && self.node((task, at)).kind == Kind::Send)?;
            (task, at)
        };
        self.back(missing)
    }

    /// An operation that has begun and is not complete, among all that this one waits for in its
    /// own task.
    fn back(&self, (task, node): Owner) -> Option<Owner> {
        let graph = &self.graphs[task as usize];
        let left = &self.left[task as usize];
        let mut before: FxHashMap<u32, Vec<u32>> = FxHashMap::default();
        for one in (0..graph.nodes.len() as u32).filter(|&one| left[one as usize] != DONE) {
            graph.dependents(one, |after, start| {
                // An operation that has begun does not hold back operations that wait for its
                // start.
                if !(start && left[one as usize] == 0) {
                    before.entry(after).or_default().push(one);
                }
            });
        }
        let (mut seen, mut open) = (FxHashSet::default(), vec![node]);
        while let Some(one) = open.pop() {
            if left[one as usize] == 0 {
                return Some((task, one));
            }
            let more = before.get(&one).into_iter().flatten();
            open.extend(more.copied().filter(|&one| seen.insert(one)));
        }
        None
    }
}

/// Maximum number of operations of a cycle that the error names.
const MOST: usize = 6;

/// The channels of the receives and sends of all tasks, assigned from the messages to each task and
/// its receives, in the order of source and tag. `sends` and `receives` of a task have equal
/// numbers for each source and tag.
#[derive(Debug)]
pub struct Channels {
    of: Vec<Vec<u32>>,
    next: u32,
}

impl Channels {
    /// Channels of these tasks; all open.
    pub fn new(graphs: &[TaskGraph]) -> Channels {
        let open = |graph: &TaskGraph| match graph.nodes.iter().any(|one| one.kind == Kind::Receive)
            || graph.nodes.iter().any(|one| one.kind == Kind::Send)
        {
            true => vec![OPEN; graph.nodes.len()],
            false => Vec::new(),
        };
        Channels {
            of: graphs.iter().map(open).collect(),
            next: 0,
        }
    }

    /// Assigns the channels of the messages to a task and of its receives. Both are sorted by
    /// source and tag: (source, tag, owner).
    pub fn add(&mut self, sends: &[(Peer, u32, Owner)], receives: &[(Peer, u32, Owner)]) {
        let any = |end: &(Peer, u32, Owner)| end.0 == ANY || end.1 == ANY;
        if receives.iter().any(any) {
            return;
        }
        let mut last = None;
        for (send, receive) in sends.iter().zip(receives) {
            let key = Some((send.0, send.1));
            if last.is_some() && last != key {
                self.next += 1;
            }
            last = key;
            for &(_, _, (task, node)) in [send, receive] {
                self.of[task as usize][node as usize] = self.next;
            }
        }
        self.next += u32::from(last.is_some());
    }

    /// The channels by task and operation.
    pub fn of(self) -> Vec<Vec<u32>> {
        self.of
    }
}
