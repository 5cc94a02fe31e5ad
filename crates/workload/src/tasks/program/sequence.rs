//! Carries out the program of a motif on one task.

use serde::{Deserialize, Serialize};

use super::op::{BLOCKING, Labels};
use crate::tasks::collectives::Kind;
use crate::tasks::messages::Messages;
use crate::tasks::{Calls, Iteration, Job, Label, Op, Peer, Procedure, Script, Trouble, Waiting};
use crate::timeline::{CALL, COMPUTE, RECEIVE, SEND, WAIT_ALL, WAIT_ANY, collective};
use weir_model::table::Word;
use weir_model::{NEVER, Time};

/// Carries out the program of the job's motif, one operation after the other.
#[derive(Debug)]
pub struct Sequence;

/// The place that a task has reached in its program.
#[derive(Debug, Deserialize, Serialize)]
pub struct SequenceState {
    state: State,
    repetition: u32,
    /// The part whose operations are in `ops`, or the next one if there are none.
    part: u32,
    ops: Vec<Op>,
    next: u32,
    /// The collective operation under way: its next step, and the operations of the previous one.
    step: u32,
    step_ops: Vec<Op>,
    step_next: u32,
    /// The collective operation that the present operation is a step of.
    within: Option<Kind>,
    /// The iterations, if the job records them.
    iterations: Vec<Iteration>,
    /// Time, and number of parts and repetitions begun at that time.
    begun: (Time, u32),
    /// At most the length of the run and one computation.
    computed: Time,
}

/// Maximum number of parts or repetitions that may follow each other without time passing.
const MOST_AT_ONCE: u32 = 1_000_000;

#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize, Serialize)]
enum State {
    /// Not started, or between two operations.
    Ready,
    /// Waits for a time.
    Busy,
    /// Waits for all of these; the number of incomplete ones.
    All(Labels, u32),
    /// Waits for one of these.
    Any(Labels),
    /// The program has ended.
    Finished,
}

impl SequenceState {
    /// Before the start.
    fn new() -> SequenceState {
        SequenceState {
            state: State::Ready,
            repetition: 0,
            part: 0,
            ops: Vec::new(),
            next: 0,
            step: 0,
            step_ops: Vec::new(),
            step_next: 0,
            within: None,
            iterations: Vec::new(),
            begun: (NEVER, 0),
            computed: 0,
        }
    }

    fn may_go_on(&mut self, messages: &mut Messages) -> bool {
        match self.state {
            State::Ready => true,
            State::Busy | State::Finished => false,
            State::All(_, left) if left > 0 => false,
            State::All(labels, _) => {
                messages.requests.settle(labels);
                self.state = State::Ready;
                true
            }
            State::Any(labels) => {
                let one = messages.requests.settle_one(labels);
                if one {
                    self.state = State::Ready;
                }
                one
            }
        }
    }

    /// The next operation of its program; None at the end of the program, or of a part with
    /// operations to wait for.
    fn next_op(&mut self, calls: &mut Calls) -> Option<Op> {
        let job = calls.job;
        loop {
            if let Some(&op) = self.step_ops.get(self.step_next as usize) {
                self.step_next += 1;
                return Some(op);
            }
            match self.ops.get(self.next as usize).copied() {
                Some(Op::Collective(collective)) => {
                    self.within = Some(collective.kind);
                    self.step_ops.clear();
                    self.step_next = 0;
                    let (number, step) = (calls.messages.task(), self.step);
                    self.step += 1;
                    if !collective.step(&job.algorithms, number, step, &mut self.step_ops) {
                        self.step = 0;
                        self.next += 1;
                    }
                }
                Some(op) => {
                    self.within = None;
                    self.next += 1;
                    return Some(op);
                }
                None if !calls.messages.requests.is_empty() || !self.next_part(calls) => {
                    return None;
                }
                None => {}
            }
        }
    }

    /// Gets the next part of the program. False if the program has ended.
    fn next_part(&mut self, calls: &mut Calls) -> bool {
        let (job, now) = (calls.job, calls.now);
        self.ops.clear();
        self.next = 0;
        while self.repetition < job.repetitions {
            if !self.takes_time(calls) {
                break;
            }
            let task = calls.messages.task();
            let mut script = Script::new(&mut self.ops, task, job.tasks);
            if job.motif.part(self.part, &mut script) {
                if job.iterations {
                    let begins = job.motif.begins_iteration(self.part);
                    self.note_part(begins.then(|| job.motif.counts(self.part)), now);
                }
                self.part += 1;
                return true;
            }
            self.part = 0;
            self.repetition += 1;
        }
        self.end_iteration(now);
        self.ops.shrink_to_fit();
        false
    }

    /// True if the program has not gone on for too long without time passing.
    fn takes_time(&mut self, calls: &mut Calls) -> bool {
        let now = calls.now;
        if self.begun.0 != now {
            self.begun = (now, 0);
        }
        self.begun.1 += 1;
        if self.begun.1 > MOST_AT_ONCE {
            calls.messages.stop(Trouble::Idle);
        }
        self.begun.1 <= MOST_AT_ONCE
    }

    /// Records the begin of a part, and of an iteration if one begins with it; `begins`: true if
    /// its time counts.
    fn note_part(&mut self, begins: Option<bool>, now: Time) {
        if let Some(counts) = begins {
            self.end_iteration(now);
            self.iterations.push(Iteration {
                begin: now,
                end: None,
                idle: true,
                counts,
            });
        }
        if let Some(iteration) = self.iterations.last_mut() {
            iteration.idle &= self.ops.is_empty();
        }
    }

    fn end_iteration(&mut self, now: Time) {
        if let Some(iteration) = self.iterations.last_mut() {
            iteration.end.get_or_insert(now);
        }
    }

    fn perform(&mut self, op: Op, calls: &mut Calls) {
        match op {
            Op::Compute(time) => {
                let time = calls.paced(0, time);
                self.computed += time;
                self.busy(COMPUTE, time, calls);
            }
            Op::Send { to, bytes, tag } => {
                calls.send(to, bytes, tag, BLOCKING);
                self.wait_all(SEND, Labels::one(BLOCKING), calls);
            }
            Op::Isend {
                to,
                bytes,
                tag,
                label,
            } => {
                calls.send(to, bytes, tag, label);
                self.busy(CALL, calls.job.exchange.protocol.per_call, calls);
            }
            Op::Recv { from, tag } => {
                calls.receive(from, tag, BLOCKING);
                self.wait_all(RECEIVE, Labels::one(BLOCKING), calls);
            }
            Op::Irecv { from, tag, label } => {
                calls.receive(from, tag, label);
                self.busy(CALL, calls.job.exchange.protocol.per_call, calls);
            }
            Op::WaitAll(labels) => self.wait_all(WAIT_ALL, labels, calls),
            Op::WaitAny(labels) => {
                self.state = State::Any(labels);
                self.begin(WAIT_ANY, calls);
            }
            // Steps of collective operations contain no collective operations.
            Op::Collective(_) => {}
        }
    }

    /// Takes note of the present activity; steps of a collective operation have its name.
    fn begin(&self, activity: Word, calls: &mut Calls) {
        if calls.job.timeline.is_some() {
            calls.begin(self.within.map_or(activity, |kind| collective(kind.name())));
        }
    }

    fn busy(&mut self, activity: Word, time: Time, calls: &mut Calls) {
        if time > 0 {
            self.state = State::Busy;
            calls.wake(time);
            self.begin(activity, calls);
        }
    }

    fn wait_all(&mut self, activity: Word, labels: Labels, calls: &mut Calls) {
        let left = calls.messages.requests.settle(labels);
        if left > 0 {
            self.state = State::All(labels, left);
            self.begin(activity, calls);
        }
    }

    /// Carries out operations until one has to wait.
    fn proceed(&mut self, calls: &mut Calls) -> bool {
        while self.may_go_on(calls.messages) {
            match self.next_op(calls) {
                Some(op) => self.perform(op, calls),
                None if calls.messages.requests.is_empty() => {
                    self.state = State::Finished;
                    return true;
                }
                None => {
                    self.within = None;
                    self.wait_all(WAIT_ALL, Labels::ALL, calls);
                }
            }
        }
        false
    }

    /// True if its operations are those of its part and of its step.
    fn fits(&self, job: &Job, task: Peer) -> bool {
        let (mut ops, mut step_ops) = (Vec::new(), Vec::new());
        if let Some(part) = self.part.checked_sub(1) {
            let mut script = Script::new(&mut ops, task, job.tasks);
            job.motif.part(part, &mut script);
        }
        if let Some(step) = self.step.checked_sub(1)
            && let Some(Op::Collective(collective)) = ops.get(self.next as usize)
        {
            collective.step(&job.algorithms, task, step, &mut step_ops);
        }
        (&self.ops, &self.step_ops) == (&ops, &step_ops)
    }
}

impl Procedure for Sequence {
    type State = SequenceState;

    fn start(&self) -> SequenceState {
        SequenceState::new()
    }

    fn fits(&self, state: &SequenceState, job: &Job, task: Peer) -> bool {
        state.fits(job, task)
    }

    fn proceed(&self, state: &mut SequenceState, calls: &mut Calls) -> bool {
        state.proceed(calls)
    }

    fn woken(&self, state: &mut SequenceState, _now: Time) {
        debug_assert_eq!(state.state, State::Busy);
        state.state = State::Ready;
    }

    fn completed(&self, state: &mut SequenceState, label: Label, _messages: &mut Messages) {
        if let State::All(labels, left) = &mut state.state
            && labels.contains(label)
        {
            *left -= 1;
        }
    }

    fn waiting(&self, state: &SequenceState, messages: &Messages) -> Option<Waiting> {
        let labels = match state.state {
            State::All(labels, _) | State::Any(labels) => labels,
            State::Ready | State::Busy | State::Finished => return None,
        };
        Some(messages.waiting(labels))
    }

    fn computed(&self, state: &SequenceState) -> Time {
        state.computed
    }

    fn iterations<'a>(&self, state: &'a SequenceState) -> &'a [Iteration] {
        &state.iterations
    }

    fn memory_bytes(&self, state: &SequenceState) -> usize {
        size_of::<SequenceState>()
            + (state.ops.capacity() + state.step_ops.capacity()) * size_of::<Op>()
            + state.iterations.capacity() * size_of::<Iteration>()
    }
}
