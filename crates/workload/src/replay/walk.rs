//! The process of a task that carries out a graph of operations.

mod collective;

use std::cmp::Reverse;
use std::collections::{BinaryHeap, VecDeque};
use std::sync::Arc;

use serde::{Deserialize, Serialize};

use super::graph::{ANY, Kind, TaskGraph};
use crate::tasks::{
    Calls, Iteration, Job, Label, Labels, Messages, Obstacle, Op, Peer, Procedure, Waiting,
};
use crate::timeline::{CALL, COMPUTE, DELAY, WAIT, collective};
use weir_model::Time;
use weir_model::codec::SavedMap;
use weir_model::table::Word;

/// Carries out the graph of a task, repeated as its job requires.
///
/// An operation that waits for nothing any more is started by its processor, in the order of
/// arrival. A computation keeps its processor until it ends; the start of a message keeps it for
/// the time given by the protocol.
#[derive(Debug)]
pub struct Walk {
    graph: Arc<TaskGraph>,
}

/// The operations of a graph that are complete, and those under way.
#[derive(Debug, Deserialize, Serialize)]
pub struct WalkState {
    repetition: u32,
    /// Number of operations that each operation waits for.
    left: Vec<u32>,
    /// Operations that are not complete.
    open: usize,
    /// Operations that wait for nothing, to be given to their processors.
    ready: VecDeque<u32>,
    cpus: Vec<Cpu>,
    timers: BinaryHeap<Reverse<(Time, u64, Due)>>,
    next_timer: u64,
    /// Times at which it will be woken.
    wakes: BinaryHeap<Reverse<Time>>,
    /// Messages that are complete.
    complete: VecDeque<Label>,
    /// Timers that have expired.
    over: VecDeque<Due>,
    /// Collective operations under way.
    running: Vec<Option<Running>>,
    /// The collective operation that a message belongs to, and its label there.
    owners: SavedMap<Label, (usize, Label)>,
    next_label: Label,
    computed: Time,
    /// Time until which some processor computes.
    computes_until: Time,
    iterations: Vec<Iteration>,
}

#[derive(Clone, Debug, Default, Deserialize, Serialize)]
struct Cpu {
    busy: bool,
    queue: VecDeque<u32>,
}

/// Purpose of a timer.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Deserialize, Serialize)]
enum Due {
    /// Completes an operation.
    Node(u32),
    /// Completes a computation and frees its processor.
    Computed(u32),
    /// Frees a processor.
    Cpu(u8),
    /// Continues a collective operation.
    Collective(usize),
}

/// A collective operation under way.
#[derive(Debug, Deserialize, Serialize)]
struct Running {
    node: u32,
    step: u32,
    ops: Vec<Op>,
    next: usize,
    /// Its messages that are not complete.
    open: u32,
    /// Those of them that it waits for.
    awaited: u32,
    held: Held,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize, Serialize)]
enum Held {
    No,
    /// Until a timer expires.
    Busy,
    /// Until this message is complete.
    One(Label),
    /// Until its messages with these labels are complete.
    Labels(Labels),
}

impl Walk {
    /// A walk through this graph.
    pub fn new(graph: Arc<TaskGraph>) -> Walk {
        Walk { graph }
    }

    /// Bytes for carrying out a graph, besides the graph: for each operation the number of
    /// operations it waits for.
    pub fn bytes(graph: &TaskGraph) -> usize {
        size_of::<Walk>()
            + size_of::<WalkState>()
            + usize::from(graph.cpus) * size_of::<Cpu>()
            + graph.nodes.len() * size_of::<u32>()
    }
}

impl Running {
    /// True if its operations are those of its last step.
    fn fits(&self, graph: &TaskGraph, job: &Job) -> bool {
        let node = graph.nodes.get(self.node as usize);
        let Some(node) = node.filter(|node| node.kind == Kind::Collective) else {
            return false;
        };
        let mut ops = Vec::new();
        if let Some(last) = self.step.checked_sub(1) {
            graph.part(node).step(&job.algorithms, last, &mut ops);
        }
        self.ops.is_empty() || self.ops == ops
    }
}

impl WalkState {
    /// True if the state can be one of this graph.
    fn fits(&self, graph: &TaskGraph, job: &Job) -> bool {
        let is_node = |node: &u32| (*node as usize) < graph.nodes.len();
        let is_due = |due: &Due| match due {
            Due::Node(node) | Due::Computed(node) => is_node(node),
            Due::Cpu(cpu) => u16::from(*cpu) < graph.cpus,
            Due::Collective(_) => true,
        };
        let timed = self.timers.iter().map(|Reverse((_, _, due))| due);
        let queued = self.cpus.iter().flat_map(|cpu| &cpu.queue);
        let idle = self.timers.is_empty()
            && [self.over.len(), self.complete.len(), self.ready.len()] == [0; 3]
            && self.cpus.iter().all(|cpu| cpu.queue.is_empty());
        // Before the first repetition and after the last one the table is empty.
        (self.left.len() == graph.nodes.len() || self.left.is_empty() && idle)
            && self.cpus.len() == usize::from(graph.cpus)
            && self.ready.iter().chain(queued).all(is_node)
            && timed.chain(&self.over).all(is_due)
            && (self.running.iter().flatten()).all(|one| one.fits(graph, job))
    }

    /// Begins the next repetition of the graph. False if all repetitions are done.
    fn begin(&mut self, graph: &TaskGraph, calls: &Calls) -> bool {
        if let Some(last) = self.iterations.last_mut() {
            last.end.get_or_insert(calls.now);
        }
        if self.repetition >= calls.job.repetitions || graph.nodes.is_empty() {
            self.left = Vec::new();
            return false;
        }
        self.repetition += 1;
        if calls.job.iterations {
            self.iterations.push(Iteration {
                begin: calls.now,
                end: None,
                idle: false,
                counts: true,
            });
        }
        self.left = graph.degrees();
        self.open = self.left.len();
        let ready = self.left.iter().zip(0..).filter(|(left, _)| **left == 0);
        self.ready.extend(ready.map(|(_, node)| node));
        true
    }

    /// Releases an operation's dependents from one dependency.
    fn release(&mut self, graph: &TaskGraph, node: u32, started: bool) {
        let WalkState { left, ready, .. } = self;
        graph.dependents(node, |after, start| {
            if start == started {
                let left = &mut left[after as usize];
                *left -= 1;
                if *left == 0 {
                    ready.push_back(after);
                }
            }
        });
    }

    fn finish(&mut self, graph: &TaskGraph, node: u32) {
        self.open -= 1;
        self.release(graph, node, false);
    }

    fn time(&mut self, at: Time, due: Due) {
        self.timers.push(Reverse((at, self.next_timer, due)));
        self.next_timer += 1;
    }

    /// Gives an operation to its processor.
    fn come(&mut self, graph: &TaskGraph, node: u32, calls: &mut Calls) {
        let one = graph.nodes[node as usize];
        let cpu = &mut self.cpus[usize::from(one.cpu)];
        if cpu.busy && one.kind != Kind::Delay {
            cpu.queue.push_back(node);
        } else {
            self.start(graph, node, calls);
        }
    }

    /// Frees a processor, which starts its queued operations.
    fn free(&mut self, graph: &TaskGraph, cpu: u8, calls: &mut Calls) {
        self.cpus[usize::from(cpu)].busy = false;
        while let cpu = &mut self.cpus[usize::from(cpu)]
            && !cpu.busy
            && let Some(node) = cpu.queue.pop_front()
        {
            self.start(graph, node, calls);
        }
    }

    fn start(&mut self, graph: &TaskGraph, node: u32, calls: &mut Calls) {
        let one = graph.nodes[node as usize];
        self.release(graph, node, true);
        match one.kind {
            Kind::Compute if one.amount > 0 => {
                let until = calls.now + calls.paced(one.cpu, one.amount);
                self.computed += until - self.computes_until.clamp(calls.now, until);
                self.computes_until = self.computes_until.max(until);
                self.cpus[usize::from(one.cpu)].busy = true;
                self.time(until, Due::Computed(node));
            }
            Kind::Delay if one.amount > 0 => self.time(calls.now + one.amount, Due::Node(node)),
            Kind::Compute | Kind::Delay => self.finish(graph, node),
            Kind::Send => {
                calls.send(one.peer, one.amount, one.tag, node);
                self.call(one.cpu, calls);
            }
            Kind::Receive => {
                let some = |number: u32| (number != ANY).then_some(number);
                if calls.receive(some(one.peer), some(one.tag), node) {
                    self.complete.push_back(node);
                }
                self.call(one.cpu, calls);
            }
            Kind::Collective => {
                let running = Some(Running {
                    node,
                    step: 0,
                    ops: Vec::new(),
                    next: 0,
                    open: 0,
                    awaited: 0,
                    held: Held::No,
                });
                let free = self.running.iter().position(Option::is_none);
                let slot = free.unwrap_or(self.running.len());
                match free {
                    Some(slot) => self.running[slot] = running,
                    None => self.running.push(running),
                }
                self.go_on(graph, slot, calls);
            }
        }
    }

    /// Keeps the processor for the start of a message.
    fn call(&mut self, cpu: u8, calls: &Calls) {
        let time = calls.job.exchange.protocol.per_call;
        if time > 0 {
            self.cpus[usize::from(cpu)].busy = true;
            self.time(calls.now + time, Due::Cpu(cpu));
        }
    }

    /// Handles the completion of a message.
    fn message_complete(&mut self, graph: &TaskGraph, label: Label, calls: &mut Calls) {
        calls.messages.forget(label);
        let Some((slot, own)) = self.owners.remove(&label) else {
            // Any other label comes from a damaged file.
            if (label as usize) < graph.nodes.len() {
                self.finish(graph, label);
            }
            return;
        };
        if let Some(Some(running)) = self.running.get_mut(slot) {
            running.open = running.open.saturating_sub(1);
            match running.held {
                Held::One(one) if one == label => running.held = Held::No,
                Held::Labels(labels) if labels.contains(own) => {
                    running.awaited = running.awaited.saturating_sub(1);
                }
                _ => {}
            }
            self.go_on(graph, slot, calls);
        }
    }

    fn time_over(&mut self, graph: &TaskGraph, due: Due, calls: &mut Calls) {
        match due {
            Due::Node(node) => self.finish(graph, node),
            Due::Computed(node) => {
                self.finish(graph, node);
                self.free(graph, graph.nodes[node as usize].cpu, calls);
            }
            Due::Cpu(cpu) => self.free(graph, cpu, calls),
            Due::Collective(slot) => {
                if let Some(Some(running)) = self.running.get_mut(slot) {
                    running.held = Held::No;
                    self.go_on(graph, slot, calls);
                }
            }
        }
    }

    /// Does one thing that can be done now. False if there is none.
    fn one(&mut self, graph: &TaskGraph, calls: &mut Calls) -> bool {
        if let Some(due) = self.over.pop_front() {
            self.time_over(graph, due, calls);
        } else if let Some(label) = self.complete.pop_front() {
            self.message_complete(graph, label, calls);
        } else if let Some(node) = self.ready.pop_front() {
            self.come(graph, node, calls);
        } else {
            return false;
        }
        true
    }
}

impl WalkState {
    /// Present activity of the task: it computes if one of its processors does.
    fn activity(&self, graph: &TaskGraph, calls: &Calls) -> Word {
        if self.computes_until > calls.now {
            return COMPUTE;
        }
        let running: Vec<&Running> = self.running.iter().flatten().collect();
        let open = calls.messages.waiting(Labels::ALL).count;
        if let [one] = running[..]
            && open == self.owners.len()
        {
            let part = graph.part(&graph.nodes[one.node as usize]);
            return collective(part.names(&calls.job.algorithms).0);
        }
        let called = |Reverse((_, _, due)): &Reverse<(Time, u64, Due)>| matches!(due, Due::Cpu(_));
        match self.timers.is_empty() {
            true => WAIT,
            false if self.timers.iter().any(called) => CALL,
            false => DELAY,
        }
    }
}

impl Procedure for Walk {
    type State = WalkState;

    fn start(&self) -> WalkState {
        WalkState {
            repetition: 0,
            left: Vec::new(),
            open: 0,
            ready: VecDeque::new(),
            cpus: vec![Cpu::default(); usize::from(self.graph.cpus)],
            timers: BinaryHeap::new(),
            next_timer: 0,
            wakes: BinaryHeap::new(),
            complete: VecDeque::new(),
            over: VecDeque::new(),
            running: Vec::new(),
            owners: SavedMap::default(),
            next_label: 0,
            computed: 0,
            computes_until: 0,
            iterations: Vec::new(),
        }
    }

    fn fits(&self, state: &WalkState, job: &Job, _task: Peer) -> bool {
        state.fits(&self.graph, job)
    }

    fn proceed(&self, state: &mut WalkState, calls: &mut Calls) -> bool {
        let mut moved = false;
        loop {
            while state.one(&self.graph, calls) {
                moved = true;
            }
            if state.open > 0 {
                break;
            }
            // Processors may still be kept by the starts of messages that are complete.
            if state.timers.is_empty() && !state.begin(&self.graph, calls) {
                return true;
            }
            if state.ready.is_empty() {
                break;
            }
        }
        if let Some(&Reverse((next, ..))) = state.timers.peek()
            && state.wakes.peek().is_none_or(|&Reverse(wake)| next < wake)
        {
            state.wakes.push(Reverse(next));
            calls.wake(next - calls.now);
        }
        if moved && calls.job.timeline.is_some() {
            calls.begin(state.activity(&self.graph, calls));
        }
        false
    }

    fn woken(&self, state: &mut WalkState, now: Time) {
        state.wakes.pop();
        while let Some(&Reverse((at, _, due))) = state.timers.peek()
            && at <= now
        {
            state.timers.pop();
            state.over.push_back(due);
        }
    }

    fn completed(&self, state: &mut WalkState, label: Label, _messages: &mut Messages) {
        state.complete.push_back(label);
    }

    fn waiting(&self, state: &WalkState, messages: &Messages) -> Option<Waiting> {
        if !state.timers.is_empty() {
            return None;
        }
        let mut waiting = messages.waiting(Labels::ALL);
        for obstacle in &mut waiting.obstacles {
            if let Obstacle::Message { tag: Some(tag), .. } = obstacle
                && let Some(&own) = self.graph.tags.get(*tag as usize)
            {
                *tag = own;
            }
        }
        Some(waiting)
    }

    fn computed(&self, state: &WalkState) -> Time {
        state.computed
    }

    fn iterations<'a>(&self, state: &'a WalkState) -> &'a [Iteration] {
        &state.iterations
    }

    fn memory_bytes(&self, state: &WalkState) -> usize {
        let queues: usize = state.cpus.iter().map(|cpu| cpu.queue.capacity()).sum();
        size_of::<Walk>()
            + size_of::<WalkState>()
            + state.left.capacity() * size_of::<u32>()
            + (queues + state.ready.capacity() + state.complete.capacity()) * size_of::<u32>()
            + state.timers.capacity() * size_of::<(Time, u64, Due)>()
            + state.cpus.capacity() * size_of::<Cpu>()
            + state.iterations.capacity() * size_of::<Iteration>()
    }
}
