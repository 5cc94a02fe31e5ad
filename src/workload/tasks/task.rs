use rustc_hash::FxHashMap;

use super::hang::Waiting;
use super::mailbox::{Arrival, Mailbox};
use super::op::{BLOCKING, Labels};
use super::requests::{Request, Requests};
use super::{Completes, Envelope, EnvelopeKind, Job, Label, Op, Peer, Script, Tag};
use crate::model::{NEVER, Time};

/// Where the messages and the times of a task go. Whoever implements it calls the task back: [`Task::arrived`] at the
/// receiver when the whole message is there, [`Task::sent`] at the sender when its content is not needed any more (its
/// last bit has left, or all of it is acknowledged), [`Task::wake`] when a time is over.
pub trait Wire {
    /// After `delay` ps, hands a message to the network.
    fn send(&mut self, to: Peer, bytes: u64, envelope: Envelope, delay: Time);
    /// After `delay` ps, calls [`Task::wake`]. A task waits for one such time at most.
    fn wake(&mut self, delay: Time);
    /// After `delay` ps, calls [`Task::sent`] for a message that has been copied.
    fn copied(&mut self, to: Peer, envelope: Envelope, delay: Time);
}

/// One task of a job: how far its program is, and what it has asked for.
#[derive(Clone, Debug)]
pub struct Task {
    number: Peer,
    state: State,
    repetition: u32,
    /// The part whose operations are in `ops`, or the next one if there are none.
    part: u32,
    ops: Vec<Op>,
    next: u32,
    /// The collective operation that is going on: its next step, and the operations of the one before.
    step: u32,
    step_ops: Vec<Op>,
    step_next: u32,
    requests: Requests,
    mailbox: Mailbox,
    /// Sends that are not complete: to whom, number, name, bytes.
    sends: Vec<Leaving>,
    /// Numbers of messages to and from each peer.
    peers: FxHashMap<Peer, Numbers>,
    /// If the job wants them written down.
    iterations: Vec<Iteration>,
    /// Parts and repetitions begun at a time, and that time.
    begun: (Time, u32),
    trouble: Option<Trouble>,
    /// No longer than the run and one computation.
    computed: Time,
    started: Option<Time>,
    finished: Option<Time>,
}

/// So many parts or repetitions may follow each other in no time.
const MOST_AT_ONCE: u32 = 1_000_000;

/// Why a task cannot go on.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Trouble {
    /// Its program takes no time, and does not end.
    Idle,
    /// Messages from a task have overtaken each other by more than their numbers can tell.
    Overtaken(Peer),
}

/// An iteration of one task.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Iteration {
    /// When it began, ps.
    pub begin: Time,
    /// When everything in it was done, ps; None if it is not.
    pub end: Option<Time>,
    /// Whether the task had nothing to do in it.
    pub idle: bool,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum State {
    /// Not started, or between two operations.
    Ready,
    /// A time has to pass.
    Busy,
    /// All of these have to be complete; so many are not.
    All(Labels, u32),
    /// One of these has to be complete.
    Any(Labels),
    /// The program is over.
    Finished,
}

#[derive(Clone, Copy, Debug)]
struct Leaving {
    to: Peer,
    number: u32,
    label: Label,
    bytes: u64,
}

#[derive(Clone, Copy, Debug, Default)]
struct Numbers {
    /// Of the next message to the peer.
    next: u32,
    /// Of the message from the peer whose turn is next.
    expected: u32,
}

impl Task {
    /// A task before its start.
    pub fn new(number: Peer) -> Task {
        Task {
            number,
            state: State::Ready,
            repetition: 0,
            part: 0,
            ops: Vec::new(),
            next: 0,
            step: 0,
            step_ops: Vec::new(),
            step_next: 0,
            requests: Requests::default(),
            mailbox: Mailbox::default(),
            sends: Vec::new(),
            peers: FxHashMap::default(),
            iterations: Vec::new(),
            begun: (NEVER, 0),
            trouble: None,
            computed: 0,
            started: None,
            finished: None,
        }
    }

    /// Its number in the job.
    pub fn number(&self) -> Peer {
        self.number
    }

    /// Why the run has to end, if it has to.
    pub fn trouble(&self) -> Option<Trouble> {
        self.trouble
    }

    /// When its program was over, ps; None if it is not.
    pub fn finished(&self) -> Option<Time> {
        self.finished
    }

    /// Time from its start to its end that it did not compute, ps; None before its end.
    pub fn communicated(&self) -> Option<Time> {
        Some(self.finished? - self.started? - self.computed)
    }

    /// The same, or up to `now` if it is not at its end; None before its start. (A computation that goes on counts
    /// whole.)
    pub fn communicated_until(&self, now: Time) -> Option<Time> {
        let end = self.finished.unwrap_or(now);
        let spent = end.saturating_sub(self.started?);
        Some(spent.saturating_sub(self.computed))
    }

    /// Its iterations so far, if the job has them written down.
    pub fn iterations(&self) -> &[Iteration] {
        &self.iterations
    }

    /// Messages that came and that nobody received: whole ones, and requests for long ones.
    pub fn unclaimed(&self) -> (usize, usize) {
        self.mailbox.unclaimed()
    }

    /// What keeps it from going on; None if it goes on by itself or is over.
    pub fn waiting(&self) -> Option<Waiting> {
        let labels = match self.state {
            State::All(labels, _) | State::Any(labels) => labels,
            State::Ready | State::Busy | State::Finished => return None,
        };
        Some(Waiting::new(self.number, &self.requests.open(labels)))
    }

    /// Bytes of memory held.
    pub fn memory_bytes(&self) -> usize {
        size_of::<Task>()
            + (self.ops.capacity() + self.step_ops.capacity()) * size_of::<Op>()
            + self.mailbox.memory_bytes()
            + self.sends.capacity() * size_of::<Leaving>()
            + self.peers.capacity() * size_of::<(Peer, Numbers)>()
            + self.iterations.capacity() * size_of::<Iteration>()
    }

    /// Begins its program.
    pub fn start(&mut self, job: &Job, now: Time, wire: &mut impl Wire) {
        self.started = Some(now);
        self.proceed(job, now, wire);
    }

    /// The time that it had to wait is over.
    pub fn wake(&mut self, job: &Job, now: Time, wire: &mut impl Wire) {
        debug_assert_eq!(self.state, State::Busy);
        self.state = State::Ready;
        self.proceed(job, now, wire);
    }

    /// A message of its own has left.
    pub fn sent(
        &mut self,
        job: &Job,
        to: Peer,
        envelope: Envelope,
        now: Time,
        wire: &mut impl Wire,
    ) {
        let complete = match envelope.kind {
            EnvelopeKind::Eager | EnvelopeKind::Data => self.leaving(to, envelope.number),
            EnvelopeKind::Request | EnvelopeKind::Clear => None,
        };
        if let Some(at) = complete {
            let label = self.sends.swap_remove(at).label;
            self.complete(label);
            self.proceed(job, now, wire);
        }
    }

    /// A message for it is here.
    pub fn arrived(
        &mut self,
        job: &Job,
        from: Peer,
        envelope: Envelope,
        now: Time,
        wire: &mut impl Wire,
    ) {
        match envelope.kind {
            EnvelopeKind::Eager | EnvelopeKind::Request => self.in_turn(job, from, envelope, wire),
            EnvelopeKind::Clear => {
                if let Some(at) = self.leaving(from, envelope.number) {
                    let data = Envelope {
                        kind: EnvelopeKind::Data,
                        ..envelope
                    };
                    wire.send(from, self.sends[at].bytes, data, job.delay(0, false));
                }
            }
            EnvelopeKind::Data => {
                if let Some(label) = self.mailbox.content(from, envelope.number) {
                    self.complete(label);
                }
            }
        }
        self.proceed(job, now, wire);
    }

    /// Matches a message, and those that came before it but were sent after it.
    fn in_turn(&mut self, job: &Job, from: Peer, envelope: Envelope, wire: &mut impl Wire) {
        let mut arrival = Arrival { from, envelope };
        let expected = self.peers.entry(from).or_default().expected;
        if envelope.number != expected {
            if Envelope::ahead(envelope.number, expected) > Envelope::MOST_AHEAD {
                self.trouble = Some(Trouble::Overtaken(from));
            }
            self.mailbox.keep(arrival);
            return;
        }
        loop {
            let next = Envelope::next(arrival.envelope.number);
            if let Some(label) = self.mailbox.take(arrival) {
                self.matched(job, arrival, label, wire);
            }
            self.peers.entry(from).or_default().expected = next;
            match self.mailbox.early(from, next) {
                Some(early) => arrival = early,
                None => return,
            }
        }
    }

    /// A message has met its receive.
    fn matched(&mut self, job: &Job, arrival: Arrival, label: Label, wire: &mut impl Wire) {
        let Arrival { from, envelope } = arrival;
        if envelope.kind == EnvelopeKind::Eager {
            self.complete(label);
            return;
        }
        self.requests.set(label, Request::Content { from });
        self.mailbox.expect(from, envelope.number, label);
        let clear = Envelope {
            kind: EnvelopeKind::Clear,
            ..envelope
        };
        wire.send(from, job.protocol.control_bytes, clear, job.delay(0, false));
    }

    fn leaving(&self, to: Peer, number: u32) -> Option<usize> {
        self.sends
            .iter()
            .position(|one| (one.to, one.number) == (to, number))
    }

    /// An operation in the background is complete.
    fn complete(&mut self, label: Label) {
        self.requests.set(label, Request::Done);
        if let State::All(labels, left) = &mut self.state
            && labels.contains(label)
        {
            *left -= 1;
        }
    }

    /// Does one operation after the other until one has to wait.
    fn proceed(&mut self, job: &Job, now: Time, wire: &mut impl Wire) {
        while self.may_go_on() {
            match self.next_op(job, now) {
                Some(op) => self.perform(job, op, wire),
                None if self.requests.is_empty() => {
                    self.state = State::Finished;
                    self.finished = Some(now);
                }
                None => self.wait_all(Labels::ALL),
            }
        }
    }

    fn may_go_on(&mut self) -> bool {
        match self.state {
            State::Ready => true,
            State::Busy | State::Finished => false,
            State::All(_, left) if left > 0 => false,
            State::All(labels, _) => {
                self.requests.settle(labels);
                self.state = State::Ready;
                true
            }
            State::Any(labels) => {
                let one = self.requests.settle_one(labels);
                if one {
                    self.state = State::Ready;
                }
                one
            }
        }
    }

    /// The next operation of its program; None at the end of the program, or of a part after which something is left
    /// to be waited for.
    fn next_op(&mut self, job: &Job, now: Time) -> Option<Op> {
        loop {
            if let Some(&op) = self.step_ops.get(self.step_next as usize) {
                self.step_next += 1;
                return Some(op);
            }
            match self.ops.get(self.next as usize).copied() {
                Some(Op::Collective(collective)) => {
                    self.step_ops.clear();
                    self.step_next = 0;
                    let (number, step) = (self.number, self.step);
                    self.step += 1;
                    if !collective.step(&job.algorithms, number, step, &mut self.step_ops) {
                        self.step = 0;
                        self.next += 1;
                    }
                }
                Some(op) => {
                    self.next += 1;
                    return Some(op);
                }
                None if !self.requests.is_empty() || !self.next_part(job, now) => return None,
                None => {}
            }
        }
    }

    /// Has the next part of the program written. False if it is over.
    fn next_part(&mut self, job: &Job, now: Time) -> bool {
        self.ops.clear();
        self.next = 0;
        while self.repetition < job.repetitions {
            if !self.takes_time(now) {
                break;
            }
            let mut script = Script::new(&mut self.ops, self.number, job.tasks);
            if job.motif.part(self.part, &mut script) {
                if job.iterations {
                    self.note_part(job.motif.begins_iteration(self.part), now);
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

    /// Whether the program has not gone on for too long in no time.
    fn takes_time(&mut self, now: Time) -> bool {
        if self.begun.0 != now {
            self.begun = (now, 0);
        }
        self.begun.1 += 1;
        if self.begun.1 > MOST_AT_ONCE {
            self.trouble = Some(Trouble::Idle);
        }
        self.begun.1 <= MOST_AT_ONCE
    }

    /// A part begins, and perhaps an iteration with it.
    fn note_part(&mut self, begins: bool, now: Time) {
        if begins {
            self.end_iteration(now);
            self.iterations.push(Iteration {
                begin: now,
                end: None,
                idle: true,
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

    fn perform(&mut self, job: &Job, op: Op, wire: &mut impl Wire) {
        match op {
            Op::Compute(time) => {
                self.computed += time;
                self.busy(time, wire);
            }
            Op::Send { to, bytes, tag } => {
                self.start_send(job, to, bytes, tag, BLOCKING, wire);
                self.wait_all(Labels::one(BLOCKING));
            }
            Op::Isend {
                to,
                bytes,
                tag,
                label,
            } => {
                self.start_send(job, to, bytes, tag, label, wire);
                self.busy(job.protocol.per_call, wire);
            }
            Op::Recv { from, tag } => {
                self.start_receive(job, from, tag, BLOCKING, wire);
                self.wait_all(Labels::one(BLOCKING));
            }
            Op::Irecv { from, tag, label } => {
                self.start_receive(job, from, tag, label, wire);
                self.busy(job.protocol.per_call, wire);
            }
            Op::WaitAll(labels) => self.wait_all(labels),
            Op::WaitAny(labels) => self.state = State::Any(labels),
            // Steps of collective operations have no others inside.
            Op::Collective(_) => {}
        }
    }

    fn busy(&mut self, time: Time, wire: &mut impl Wire) {
        if time > 0 {
            self.state = State::Busy;
            wire.wake(time);
        }
    }

    fn wait_all(&mut self, labels: Labels) {
        let left = self.requests.settle(labels);
        if left > 0 {
            self.state = State::All(labels, left);
        }
    }

    fn start_send(
        &mut self,
        job: &Job,
        to: Peer,
        bytes: u64,
        tag: Tag,
        label: Label,
        wire: &mut impl Wire,
    ) {
        let numbers = self.peers.entry(to).or_default();
        let number = numbers.next;
        numbers.next = Envelope::next(number);
        let eager = bytes < job.protocol.rendezvous_from;
        let envelope = Envelope {
            kind: match eager {
                true => EnvelopeKind::Eager,
                false => EnvelopeKind::Request,
            },
            tag,
            number,
        };
        let delay = job.delay(bytes, eager);
        let length = if eager {
            bytes
        } else {
            job.protocol.control_bytes
        };
        wire.send(to, length, envelope, delay);
        if eager && job.protocol.completes == Completes::Copied {
            wire.copied(to, envelope, delay);
        }
        self.sends.push(Leaving {
            to,
            number,
            label,
            bytes,
        });
        let request = match eager {
            true => Request::Send { to },
            false => Request::LongSend { to },
        };
        let new = self.requests.add(label, request);
        debug_assert!(new, "task {}: label {label} is used twice", self.number);
    }

    fn start_receive(
        &mut self,
        job: &Job,
        from: Option<Peer>,
        tag: Option<Tag>,
        label: Label,
        wire: &mut impl Wire,
    ) {
        let new = self.requests.add(label, Request::Receive { from, tag });
        debug_assert!(new, "task {}: label {label} is used twice", self.number);
        if let Some(arrival) = self.mailbox.post(from, tag, label) {
            self.matched(job, arrival, label, wire);
        }
    }
}
