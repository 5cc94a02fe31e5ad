use std::fmt;

use super::messages::Messages;
use super::{Iteration, Job, Label, Peer, Tag, Waiting, Wire};
use weir_model::Time;

/// What a task does: carries out a program ([`super::Sequence`]), or a graph of operations that wait for each other
/// ([`crate::replay`]). A task asks it to go on whenever something has happened.
pub trait Process: fmt::Debug + Send {
    /// Does all that can be done now. True when nothing is left to do, ever.
    fn proceed(&mut self, calls: &mut Calls) -> bool;

    /// A time that it asked for ([`Calls::wake`]) is over.
    fn woken(&mut self, now: Time);

    /// An operation that it started is complete.
    fn completed(&mut self, label: Label, messages: &mut Messages);

    /// What keeps it from going on; None if it goes on by itself.
    fn waiting(&self, messages: &Messages) -> Option<Waiting>;

    /// How long it has computed, ps. (A computation that goes on counts whole.)
    fn computed(&self) -> Time;

    /// Its iterations so far, if the job has them written down.
    fn iterations(&self) -> &[Iteration];

    /// Bytes of memory held, besides itself.
    fn memory_bytes(&self) -> usize;
}

/// What a process can ask for.
pub struct Calls<'a> {
    /// The job of its task.
    pub job: &'a Job,
    /// The messages of its task.
    pub messages: &'a mut Messages,
    /// The time.
    pub now: Time,
    pub(super) wire: &'a mut dyn Wire,
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

    /// After `delay` ps, [`Process::woken`] is called.
    pub fn wake(&mut self, delay: Time) {
        self.wire.wake(delay);
    }
}
