//! A network for tests: every endpoint sends at a fixed rate, one message after the other in the
//! order of the calls, and the wire takes a fixed time. It records the messages sent. [`ops`] and
//! [`words`] show a program without a network.

use std::cmp::Reverse;
use std::collections::BinaryHeap;

use super::{Algorithms, Envelope, EnvelopeKind, Exchange, Job, Motif, MpiPreset, Op};
use super::{Pace, Peer, Protocol, Script, Task, Wire};
use weir_model::Time;

/// A message on its way.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Sent {
    /// Its source.
    pub from: Peer,
    /// Its destination.
    pub to: Peer,
    /// Its length.
    pub bytes: u64,
    /// Its kind, tag and numbers.
    pub envelope: Envelope,
    /// Time at which it was handed over, ps.
    pub at: Time,
}

#[derive(Clone, Copy, Debug)]
enum Event {
    Wake(Peer),
    Out(Sent),
    Left(Sent),
    Arrive(Sent),
    Copied(Sent),
}

/// Code to run between two events.
type Between = Box<dyn FnMut(&Job, &mut [Task])>;

/// A run of one job.
pub struct Ideal {
    /// The job that runs.
    pub job: Job,
    /// Its tasks, by number.
    pub tasks: Vec<Task>,
    /// All messages, in the order of sending; requests and answers of the protocol included.
    pub messages: Vec<Sent>,
    /// Time of the last event, ps.
    pub now: Time,
    /// Latency of the wire, ps.
    pub latency: Time,
    /// Time per byte, ps.
    pub per_byte: Time,
    /// Addition to the latency of a message, by its number in the order of sending: lets messages
    /// overtake.
    pub jitter: fn(u64) -> Time,
    /// Called after each event.
    pub between: Between,
    free: Vec<Time>,
    events: BinaryHeap<Reverse<(Time, u64)>>,
    content: std::collections::HashMap<u64, Event>,
    count: u64,
}

struct Line<'a> {
    ideal: &'a mut Queue,
    from: Peer,
    now: Time,
}

#[derive(Default)]
struct Queue {
    new: Vec<(Time, Event)>,
}

impl Wire for Line<'_> {
    fn send(&mut self, to: Peer, bytes: u64, envelope: Envelope, delay: Time) {
        let at = self.now + delay;
        let sent = Sent {
            from: self.from,
            to,
            bytes,
            envelope,
            at,
        };
        self.ideal.new.push((at, Event::Out(sent)));
    }
    fn wake(&mut self, delay: Time) {
        self.ideal
            .new
            .push((self.now + delay, Event::Wake(self.from)));
    }
    fn copied(&mut self, to: Peer, bytes: u64, envelope: Envelope, delay: Time) {
        let at = self.now + delay;
        let sent = Sent {
            from: self.from,
            to,
            bytes,
            envelope,
            at,
        };
        self.ideal.new.push((at, Event::Copied(sent)));
    }
}

/// A motif that is a function.
pub struct Program<F>(pub F);

impl<F: Fn(u32, &mut Script) -> bool + Send + Sync> Motif for Program<F> {
    fn part(&self, part: u32, script: &mut Script) -> bool {
        (self.0)(part, script)
    }
}

/// A program of a single part.
pub fn once(program: impl Fn(&mut Script) + Send + Sync + 'static) -> Box<dyn Motif> {
    Box::new(Program(move |part, script: &mut Script| {
        if part == 0 {
            program(script);
        }
        part == 0
    }))
}

/// A job with the plain protocol and the default algorithms.
pub fn job(motif: Box<dyn Motif>, tasks: u32) -> Job {
    Job {
        motif,
        tasks,
        repetitions: 1,
        iterations: false,
        timeline: None,
        exchange: Exchange {
            protocol: MpiPreset::Plain.protocol(),
            seed: 1,
        },
        algorithms: Algorithms::default(),
        pace: Pace::default(),
    }
}

impl Ideal {
    /// 1 ns of latency and 1 ps for each byte.
    pub fn new(job: Job) -> Ideal {
        Ideal {
            tasks: (0..job.tasks).map(|task| Task::new(&job, task)).collect(),
            free: vec![0; job.tasks as usize],
            job,
            messages: Vec::new(),
            now: 0,
            latency: 1_000,
            per_byte: 1,
            jitter: |_| 0,
            between: Box::new(|_, _| ()),
            events: BinaryHeap::new(),
            content: Default::default(),
            count: 0,
        }
    }

    /// With another protocol.
    pub fn with(mut self, protocol: Protocol) -> Ideal {
        self.job.exchange.protocol = protocol;
        self
    }

    /// Runs until there are no more events.
    pub fn run(mut self) -> Ideal {
        let mut queue = Queue::default();
        for task in &mut self.tasks {
            let mut line = Line {
                ideal: &mut queue,
                from: task.number(),
                now: 0,
            };
            task.start(&self.job, 0, &mut line);
        }
        self.schedule(&mut queue);
        while let Some(Reverse((now, number))) = self.events.pop() {
            self.now = now;
            let event = self.content.remove(&number).expect("scheduled");
            self.process(event, &mut queue);
            self.schedule(&mut queue);
            (self.between)(&self.job, &mut self.tasks);
        }
        self
    }

    /// Runs, and expects that every task finishes and every message is received.
    pub fn finish(self) -> Ideal {
        let ideal = self.run();
        for task in &ideal.tasks {
            if let Some(waiting) = task.waiting() {
                panic!("{waiting}");
            }
            assert!(task.finished().is_some(), "task {}", task.number());
            assert_eq!(task.unclaimed(), (0, 0), "task {}", task.number());
        }
        ideal
    }

    fn schedule(&mut self, queue: &mut Queue) {
        for (time, event) in queue.new.drain(..) {
            self.events.push(Reverse((time, self.count)));
            self.content.insert(self.count, event);
            self.count += 1;
        }
    }

    fn process(&mut self, event: Event, queue: &mut Queue) {
        let (now, job) = (self.now, &self.job);
        let mut call = |task: Peer, then: &mut dyn FnMut(&mut Task, &mut Line)| {
            let mut line = Line {
                ideal: queue,
                from: task,
                now,
            };
            then(&mut self.tasks[task as usize], &mut line);
        };
        match event {
            Event::Wake(task) => call(task, &mut |task, line| task.wake(job, now, line)),
            Event::Out(sent) => {
                let free = &mut self.free[sent.from as usize];
                *free = (*free).max(now) + sent.bytes * self.per_byte;
                let left = *free;
                let late = (self.jitter)(self.messages.len() as u64);
                self.messages.push(sent);
                queue.new.push((left, Event::Left(sent)));
                let there = left + self.latency + late;
                queue.new.push((there, Event::Arrive(sent)));
            }
            Event::Left(sent) | Event::Copied(sent) => call(sent.from, &mut |task, line| {
                task.sent(job, sent.to, sent.envelope, now, line)
            }),
            Event::Arrive(sent) => call(sent.to, &mut |task, line| {
                task.arrived(job, sent.from, sent.envelope, now, line)
            }),
        }
    }

    /// Messages of a task, without requests and answers: destination, bytes, tag; in the order of
    /// the calls.
    pub fn sent_by(&self, task: Peer) -> Vec<(Peer, u64, u32)> {
        let own = self.messages.iter().filter(|sent| sent.from == task);
        let payload = own
            .filter(|sent| matches!(sent.envelope.kind, EnvelopeKind::Eager | EnvelopeKind::Data));
        payload
            .map(|sent| (sent.to, sent.bytes, sent.envelope.tag))
            .collect()
    }
}

/// All operations of a task, in the order of its program; collective operations are not expanded.
pub fn ops(motif: &dyn Motif, task: Peer, tasks: u32) -> Vec<Op> {
    let mut all = Vec::new();
    for part in 0.. {
        let mut ops = Vec::new();
        let more = motif.part(part, &mut Script::new(&mut ops, task, tasks));
        if !more {
            break;
        }
        all.append(&mut ops);
    }
    all
}

/// A program as text, one word per operation: `Irecv<3`, `Isend>3=160`, `Send>3=160`, `Recv<3`,
/// `Wait*8`, `Compute=25000`, `Allreduce=8`.
pub fn words(ops: &[Op]) -> Vec<String> {
    let source = |from: &Option<Peer>| from.map_or("any".to_string(), |from| from.to_string());
    let word = |op: &Op| match op {
        Op::Compute(time) => format!("Compute={time}"),
        Op::Send { to, bytes, .. } => format!("Send>{to}={bytes}"),
        Op::Isend { to, bytes, .. } => format!("Isend>{to}={bytes}"),
        Op::Recv { from, .. } => format!("Recv<{}", source(from)),
        Op::Irecv { from, .. } => format!("Irecv<{}", source(from)),
        Op::WaitAll(labels) => format!("Wait*{}", labels.count()),
        Op::WaitAny(labels) => format!("Any*{}", labels.count()),
        Op::Collective(one) => format!("{:?}={}", one.kind, one.bytes),
    };
    ops.iter().map(word).collect()
}
