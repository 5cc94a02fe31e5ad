//! A task: its process and its messages.

use super::job::{Calls, Job, Procedure, Process};
use super::messages::Messages;
use super::{Envelope, Iteration, Peer, Sequence, Trouble, Waiting, Wire};
use crate::timeline::{Ending, Interval, LeftOut, Timeline};
use weir_model::Time;
use weir_model::codec::{self, CodecError};

/// One task of a job: its process and its messages.
#[derive(Debug)]
pub struct Task {
    messages: Messages,
    process: Box<dyn Process>,
    started: Option<Time>,
    finished: Option<Time>,
    /// Rare, and larger than the rest.
    timeline: Option<Box<Timeline>>,
}

impl Task {
    /// A task before its start.
    pub fn new(job: &Job, number: Peer) -> Task {
        Task {
            messages: Messages::new(number),
            process: (job.motif.process(number)).unwrap_or_else(|| Sequence.into_process()),
            started: None,
            finished: None,
            timeline: job.timeline.map(|limits| Box::new(Timeline::new(limits))),
        }
    }

    /// The task as bytes.
    ///
    /// # Errors
    ///
    /// If its state cannot be written.
    pub fn save(&self) -> Result<Vec<u8>, CodecError> {
        let times = (self.started, self.finished);
        codec::encode(&(&self.messages, self.process.save()?, times, &self.timeline))
    }

    /// Loads a saved task; `number` is its number in the job.
    ///
    /// # Errors
    ///
    /// If the bytes are not such a task.
    pub fn load(job: &Job, number: Peer, bytes: &[u8]) -> Result<Task, CodecError> {
        let mut task = Task::new(job, number);
        let process: Vec<u8>;
        let timeline: Option<Box<Timeline>>;
        (
            task.messages,
            process,
            (task.started, task.finished),
            timeline,
        ) = codec::decode(bytes)?;
        let fits = match (&timeline, job.timeline) {
            (Some(timeline), Some(limits)) => timeline.fits(limits),
            (own, limits) => own.is_none() && limits.is_none(),
        };
        if !fits || !task.messages.fit(job.tasks, number) {
            return Err(CodecError::new(format!(
                "no messages of task {number} of this job"
            )));
        }
        task.timeline = timeline;
        task.process.load(&process, job, number)?;
        Ok(task)
    }

    /// Its number in the job.
    pub fn number(&self) -> Peer {
        self.messages.task()
    }

    /// Reason why the run must end, if any.
    pub fn trouble(&self) -> Option<Trouble> {
        self.messages.trouble()
    }

    /// Time at which it finished, ps; None if it has not.
    pub fn finished(&self) -> Option<Time> {
        self.finished
    }

    /// Time from its start to its end during which it did not compute, ps; None before its end.
    pub fn communicated(&self) -> Option<Time> {
        Some(self.finished? - self.started? - self.process.computed())
    }

    /// The same, or up to `now` before its end; None before its start. (A computation under way
    /// counts in full.)
    pub fn communicated_until(&self, now: Time) -> Option<Time> {
        let end = self.finished.unwrap_or(now);
        let spent = end.saturating_sub(self.started?);
        Some(spent.saturating_sub(self.process.computed()))
    }

    /// The number of the first iteration that it may still begin. None if it begins no more: it has
    /// finished, or its process has no iterations.
    pub fn next_iteration(&self) -> Option<u64> {
        let begun = self.process.iterations().len() as u64;
        // A process with iterations begins the first one when it starts.
        (self.finished.is_none() && (self.started.is_none() || begun > 0)).then_some(begun)
    }

    /// Its iterations so far, if the job records them.
    pub fn iterations(&self) -> &[Iteration] {
        self.process.iterations()
    }

    /// Number of messages that arrived and were not received: whole ones, and requests for long
    /// ones.
    pub fn unclaimed(&self) -> (usize, usize) {
        self.messages.unclaimed()
    }

    /// Obstacles to its progress; None if it proceeds by itself or has finished.
    pub fn waiting(&self) -> Option<Waiting> {
        match self.finished {
            Some(_) => None,
            None => self.process.waiting(&self.messages),
        }
    }

    /// Takes note of the event that it is told of next, for its timeline.
    pub fn event(&mut self, event: Ending) {
        if let Some(timeline) = &mut self.timeline {
            timeline.event(event);
        }
    }

    /// The intervals in which it computed and waited until `end`, and the ones that were left out.
    /// None if it has no timeline.
    pub fn intervals(&self, end: Time) -> Option<(Vec<Interval>, LeftOut)> {
        Some(self.timeline.as_ref()?.rows(end))
    }

    /// Bytes of memory held.
    pub fn memory_bytes(&self) -> usize {
        let timeline = self.timeline.as_ref().map_or(0, |own| own.memory_bytes());
        size_of::<Task>() + self.process.memory_bytes() + self.messages.memory_bytes() + timeline
    }

    /// Starts its work.
    pub fn start(&mut self, job: &Job, now: Time, wire: &mut dyn Wire) {
        self.started = Some(now);
        self.proceed(job, now, wire);
    }

    /// A timer that it waited for has expired.
    pub fn wake(&mut self, job: &Job, now: Time, wire: &mut dyn Wire) {
        self.process.woken(now);
        self.proceed(job, now, wire);
    }

    /// One of its messages has left.
    pub fn sent(
        &mut self,
        job: &Job,
        to: Peer,
        envelope: Envelope,
        now: Time,
        wire: &mut dyn Wire,
    ) {
        if let Some(label) = self.messages.sent(&job.exchange, to, envelope) {
            self.process.completed(label, &mut self.messages);
            self.proceed(job, now, wire);
        }
    }

    /// A message for it has arrived.
    pub fn arrived(
        &mut self,
        job: &Job,
        from: Peer,
        envelope: Envelope,
        now: Time,
        wire: &mut dyn Wire,
    ) {
        let process = &mut self.process;
        let mut complete = |messages: &mut Messages, label| process.completed(label, messages);
        self.messages
            .arrived(&job.exchange, from, envelope, wire, &mut complete);
        self.proceed(job, now, wire);
    }

    fn proceed(&mut self, job: &Job, now: Time, wire: &mut dyn Wire) {
        if self.finished.is_some() {
            return;
        }
        let mut calls = Calls {
            job,
            messages: &mut self.messages,
            now,
            wire,
            timeline: self.timeline.as_deref_mut(),
        };
        if self.process.proceed(&mut calls) {
            self.finished = Some(now);
            if let Some(timeline) = &mut self.timeline {
                timeline.finish(now);
            }
        }
    }
}
