//! The process of a task: a procedure that never changes, over a state that can be saved.

use std::fmt;

use serde::Serialize;
use serde::de::DeserializeOwned;

use super::messages::Messages;
use super::{Iteration, Job, Label, Peer, Tag, Waiting, Wire};
use crate::timeline::Timeline;
use weir_model::Time;
use weir_model::codec::{self, CodecError};
use weir_model::table::Word;

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
            .start_send(self.job, to, bytes, tag, label, self.wire);
    }

    /// Starts to receive. True if that is complete at once.
    pub fn receive(&mut self, from: Option<Peer>, tag: Option<Tag>, label: Label) -> bool {
        self.messages
            .start_receive(self.job, from, tag, label, self.wire)
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
