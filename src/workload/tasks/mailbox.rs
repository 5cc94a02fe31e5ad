use std::collections::VecDeque;

use super::op::COLLECTIVE_TAG;
use super::{Envelope, EnvelopeKind, Label, Peer, Tag};

/// A receive that waits for its message.
#[derive(Clone, Copy, Debug)]
struct Posted {
    from: Option<Peer>,
    tag: Option<Tag>,
    label: Label,
}

impl Posted {
    fn takes(&self, from: Peer, tag: Tag) -> bool {
        let source = self.from.is_none_or(|wanted| wanted == from);
        source
            && self
                .tag
                .map_or(tag < COLLECTIVE_TAG, |wanted| wanted == tag)
    }
}

/// A message that has come: an eager one or a request.
#[derive(Clone, Copy, Debug)]
pub(super) struct Arrival {
    pub from: Peer,
    pub envelope: Envelope,
}

/// What a task has asked for and what has come: matches messages with receives by source and tag, both in order.
///
/// Messages from one task to another may overtake each other in the network. They are put back in the order in which
/// they were sent before they are matched.
#[derive(Clone, Debug, Default)]
pub(super) struct Mailbox {
    posted: VecDeque<Posted>,
    /// Came before anybody asked.
    unexpected: VecDeque<Arrival>,
    /// Came before another of the same sender that was sent before.
    early: Vec<Arrival>,
    /// Leave is given: from whom, the request's number, the receive.
    contents: Vec<(Peer, u32, Label)>,
}

impl Mailbox {
    /// A receive is posted. Returns the message, if it is there already.
    pub fn post(&mut self, from: Option<Peer>, tag: Option<Tag>, label: Label) -> Option<Arrival> {
        let posted = Posted { from, tag, label };
        let takes = |one: &Arrival| posted.takes(one.from, one.envelope.tag);
        match self.unexpected.iter().position(takes) {
            Some(at) => self.unexpected.remove(at),
            None => {
                self.posted.push_back(posted);
                None
            }
        }
    }

    /// A message has come whose turn it is. Returns the receive that takes it.
    pub fn take(&mut self, arrival: Arrival) -> Option<Label> {
        let takes = |one: &Posted| one.takes(arrival.from, arrival.envelope.tag);
        match self.posted.iter().position(takes) {
            Some(at) => self.posted.remove(at).map(|posted| posted.label),
            None => {
                self.unexpected.push_back(arrival);
                None
            }
        }
    }

    /// Keeps a message that came too early.
    pub fn keep(&mut self, arrival: Arrival) {
        self.early.push(arrival);
    }

    /// The message of this number that came too early, if it did.
    pub fn early(&mut self, from: Peer, number: u32) -> Option<Arrival> {
        let at = self
            .early
            .iter()
            .position(|one| one.from == from && one.envelope.number == number)?;
        Some(self.early.swap_remove(at))
    }

    /// The content of a long message will come.
    pub fn expect(&mut self, from: Peer, number: u32, label: Label) {
        self.contents.push((from, number, label));
    }

    /// The content of a long message is here. Returns its receive.
    pub fn content(&mut self, from: Peer, number: u32) -> Option<Label> {
        let at = self
            .contents
            .iter()
            .position(|&(peer, one, _)| (peer, one) == (from, number))?;
        Some(self.contents.swap_remove(at).2)
    }

    /// Messages that nobody has asked for: whole ones, and requests.
    pub fn unclaimed(&self) -> (usize, usize) {
        let all = || self.unexpected.iter().chain(&self.early);
        let requests = all().filter(|one| one.envelope.kind == EnvelopeKind::Request);
        let requests = requests.count();
        (all().count() - requests, requests)
    }

    /// Bytes of memory held.
    pub fn memory_bytes(&self) -> usize {
        self.posted.capacity() * size_of::<Posted>()
            + (self.unexpected.capacity() + self.early.capacity()) * size_of::<Arrival>()
            + self.contents.capacity() * size_of::<(Peer, u32, Label)>()
    }
}
