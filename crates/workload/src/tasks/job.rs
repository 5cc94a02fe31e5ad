//! A job: the program of an application on some tasks, and the processes that carry it out.
//!
//! A process is a procedure that never changes, over a state that can be saved.

use std::fmt;

use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};

use super::messages::{Exchange, Messages, Wire};
use super::{Algorithms, Label, Pace, Peer, Script, Tag, Waiting};
use crate::timeline::{Limits, Timeline};
use weir_model::Time;
use weir_model::codec::{self, CodecError};
use weir_model::table::Word;

/// The program of an application's tasks.
///
/// The program of a task is a sequence of parts. A part is a pure function of the task and of the
/// part's number: its operations can be generated again from the number. At its end a part waits
/// for all operations that it started and did not wait for.
pub trait Motif: Send + Sync {
    /// Writes part `part` (from 0) of the program of `script.task()`; false if the program has
    /// fewer parts (then nothing is written). A part may be empty.
    fn part(&self, part: u32, script: &mut Script) -> bool;

    /// Draws the random choices that all tasks share, from a seed of the run and the workload.
    /// Called once, before all other methods.
    fn draw(&mut self, seed: u64) {
        let _ = seed;
    }

    /// Bytes of what was drawn, or 0 if that is little.
    fn shared_bytes(&self) -> usize {
        0
    }

    /// True if an iteration begins with this part; by default with each part. For records only.
    fn begins_iteration(&self, part: u32) -> bool {
        let _ = part;
        true
    }

    /// True if the time of the iteration that begins with this part counts; false during warm-up.
    /// For records only.
    fn counts(&self, part: u32) -> bool {
        let _ = part;
        true
    }

    /// The process that carries out the work of a task. None: it performs one operation after the
    /// other, part by part ([`super::Sequence`]). A process with another order still has parts, for
    /// counting operations.
    fn process(&self, task: Peer) -> Option<Box<dyn Process>> {
        let _ = task;
        None
    }

    /// Bytes that the process of a task holds; None: those of the longest of its parts.
    fn process_bytes(&self, task: Peer) -> Option<usize> {
        let _ = task;
        None
    }
}

/// A job: a motif on some tasks. The same for all domains.
pub struct Job {
    /// The program.
    pub motif: Box<dyn Motif>,
    /// Number of tasks.
    pub tasks: u32,
    /// Number of repetitions of the program, one after the other.
    pub repetitions: u32,
    /// True if tasks record the begin and end of their iterations.
    pub iterations: bool,
    /// Selection of what the timelines of tasks keep, if they have one.
    pub timeline: Option<Limits>,
    /// Rules of its messages.
    pub exchange: Exchange,
    /// Algorithms of collective operations.
    pub algorithms: Algorithms,
    /// The speed at which its tasks compute.
    pub pace: Pace,
}

/// An iteration of one task.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize, Serialize)]
pub struct Iteration {
    /// Begin, ps.
    pub begin: Time,
    /// Time at which all its operations were complete, ps; None if they are not.
    pub end: Option<Time>,
    /// True if the task had nothing to do in it.
    pub idle: bool,
    /// True if its time counts: a motif may warm up.
    pub counts: bool,
}

/// The way to carry out the work of a task: a program ([`super::Sequence`]), or a graph of
/// operations that wait for each other ([`crate::replay`]).
///
/// The type that implements it never changes; all mutable data is in [`Procedure::State`]. A task
/// calls it after every event.
pub trait Procedure: fmt::Debug + Send + 'static {
    /// The state of a task, as plain data.
    type State: fmt::Debug + Serialize + DeserializeOwned + Send;

    /// The state before the start.
    fn start(&self) -> Self::State;

    /// True if a state read from a file can belong to this task of a job: each number used as an
    /// index or an address is valid.
    fn fits(&self, state: &Self::State, job: &Job, task: Peer) -> bool;

    /// Does all that can be done now. True when no work is left, ever.
    fn proceed(&self, state: &mut Self::State, calls: &mut Calls) -> bool;

    /// A timer that it set ([`Calls::wake`]) has expired.
    fn woken(&self, state: &mut Self::State, now: Time);

    /// An operation that it started is complete.
    fn completed(&self, state: &mut Self::State, label: Label, messages: &mut Messages);

    /// Obstacles to its progress; None if it proceeds by itself.
    fn waiting(&self, state: &Self::State, messages: &Messages) -> Option<Waiting>;

    /// Total computation time, ps. (A computation under way counts in full.)
    fn computed(&self, state: &Self::State) -> Time;

    /// Its iterations so far, if the job records them.
    fn iterations<'a>(&self, state: &'a Self::State) -> &'a [Iteration];

    /// Bytes of memory held.
    fn memory_bytes(&self, state: &Self::State) -> usize;

    /// A process that follows this procedure from its start.
    fn into_process(self) -> Box<dyn Process>
    where
        Self: Sized,
    {
        let state = self.start();
        Box::new(Followed {
            procedure: self,
            state,
        })
    }
}

/// A procedure with the state of one task.
#[derive(Debug)]
struct Followed<P: Procedure> {
    procedure: P,
    state: P::State,
}

/// A [`Procedure`] with the state of one task, of whatever kind.
pub trait Process: fmt::Debug + Send {
    /// The state as bytes.
    ///
    /// # Errors
    ///
    /// If the state cannot be written.
    fn save(&self) -> Result<Vec<u8>, CodecError>;

    /// Resumes from a state that was saved by the process of the same task of the same job.
    ///
    /// # Errors
    ///
    /// If the bytes are not such a state. The present state is kept then.
    fn load(&mut self, bytes: &[u8], job: &Job, task: Peer) -> Result<(), CodecError>;

    /// See [`Procedure::proceed`].
    fn proceed(&mut self, calls: &mut Calls) -> bool;

    /// See [`Procedure::woken`].
    fn woken(&mut self, now: Time);

    /// See [`Procedure::completed`].
    fn completed(&mut self, label: Label, messages: &mut Messages);

    /// See [`Procedure::waiting`].
    fn waiting(&self, messages: &Messages) -> Option<Waiting>;

    /// See [`Procedure::computed`].
    fn computed(&self) -> Time;

    /// See [`Procedure::iterations`].
    fn iterations(&self) -> &[Iteration];

    /// See [`Procedure::memory_bytes`].
    fn memory_bytes(&self) -> usize;
}

impl<P: Procedure> Process for Followed<P> {
    fn save(&self) -> Result<Vec<u8>, CodecError> {
        codec::encode(&self.state)
    }

    fn load(&mut self, bytes: &[u8], job: &Job, task: Peer) -> Result<(), CodecError> {
        let state = codec::decode(bytes)?;
        if !self.procedure.fits(&state, job, task) {
            return Err(CodecError::new(format!(
                "no state of task {task} of this job"
            )));
        }
        self.state = state;
        Ok(())
    }

    fn proceed(&mut self, calls: &mut Calls) -> bool {
        self.procedure.proceed(&mut self.state, calls)
    }

    fn woken(&mut self, now: Time) {
        self.procedure.woken(&mut self.state, now);
    }

    fn completed(&mut self, label: Label, messages: &mut Messages) {
        self.procedure.completed(&mut self.state, label, messages);
    }

    fn waiting(&self, messages: &Messages) -> Option<Waiting> {
        self.procedure.waiting(&self.state, messages)
    }

    fn computed(&self) -> Time {
        self.procedure.computed(&self.state)
    }

    fn iterations(&self) -> &[Iteration] {
        self.procedure.iterations(&self.state)
    }

    fn memory_bytes(&self) -> usize {
        self.procedure.memory_bytes(&self.state)
    }
}

/// Requests that a process can make.
pub struct Calls<'a> {
    /// The job of its task.
    pub job: &'a Job,
    /// The messages of its task.
    pub messages: &'a mut Messages,
    /// The present time, ps.
    pub now: Time,
    pub(super) wire: &'a mut dyn Wire,
    pub(super) timeline: Option<&'a mut Timeline>,
}

impl Calls<'_> {
    /// Starts to send.
    pub fn send(&mut self, to: Peer, bytes: u64, tag: Tag, label: Label) {
        self.messages
            .start_send(&self.job.exchange, to, bytes, tag, label, self.wire);
    }

    /// Starts to receive. True if that is complete at once.
    pub fn receive(&mut self, from: Option<Peer>, tag: Option<Tag>, label: Label) -> bool {
        self.messages
            .start_receive(&self.job.exchange, from, tag, label, self.wire)
    }

    /// The time that a computation takes that begins now on a processor of the task, and takes
    /// `time` ps by its program.
    pub fn paced(&self, cpu: u8, time: Time) -> Time {
        let task = self.messages.task();
        self.job.pace.time((task, cpu), self.now, time)
    }

    /// Takes note that the task does nothing but this from now on, for its timeline.
    pub fn begin(&mut self, activity: Word) {
        if let Some(timeline) = &mut self.timeline {
            timeline.begin(activity, self.now);
        }
    }

    /// Calls [`Procedure::woken`] after `delay` ps.
    pub fn wake(&mut self, delay: Time) {
        self.wire.wake(delay);
    }
}
