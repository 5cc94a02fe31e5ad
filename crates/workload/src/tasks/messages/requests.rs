//! Nonblocking operations that a task has not waited for.

use serde::{Deserialize, Serialize};

use crate::tasks::{Label, Labels, Peer, Tag};
use weir_model::codec::SavedMap;

/// State of a nonblocking operation.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize, Serialize)]
pub(in crate::tasks) enum Request {
    /// A message that has not arrived.
    Receive {
        from: Option<Peer>,
        tag: Option<Tag>,
    },
    /// The content of a long message that may be sent.
    Content { from: Peer },
    /// A short message leaves.
    Send { to: Peer },
    /// A long message waits for its grant, or leaves.
    LongSend { to: Peer },
    /// Nothing: it is complete.
    Done,
}

/// The operations of a task that are not waited for yet.
#[derive(Clone, Debug, Default, Deserialize, Serialize)]
pub(in crate::tasks) struct Requests {
    live: SavedMap<Label, Request>,
}

impl Requests {
    /// Bytes of an entry.
    pub const ENTRY: usize = size_of::<(Label, Request)>();

    /// Adds an operation. False if one with that label exists.
    pub fn add(&mut self, label: Label, request: Request) -> bool {
        self.live.insert(label, request).is_none()
    }

    /// Changes the state of an operation.
    pub fn set(&mut self, label: Label, request: Request) {
        if let Some(entry) = self.live.get_mut(&label) {
            *entry = request;
        }
    }

    /// Forgets an operation.
    pub fn forget(&mut self, label: Label) {
        self.live.remove(&label);
    }

    /// Bytes of memory held.
    pub fn memory_bytes(&self) -> usize {
        self.live.capacity() * size_of::<(Label, Request)>()
    }

    /// Forgets the complete operations among `labels`; returns the number of the others.
    pub fn settle(&mut self, labels: Labels) -> u32 {
        if self.live.is_empty() {
            return 0;
        }
        let mut left = 0;
        if (labels.count() as usize) < self.live.len() {
            for label in labels.first..labels.end {
                match self.live.get(&label) {
                    Some(Request::Done) => _ = self.live.remove(&label),
                    Some(_) => left += 1,
                    None => {}
                }
            }
            return left;
        }
        self.live.retain(|&label, request| {
            let keep = !labels.contains(label) || *request != Request::Done;
            left += u32::from(keep && labels.contains(label));
            keep
        });
        left
    }

    /// Forgets the first of `labels` that is complete. True if there is one, or no operation to
    /// wait for.
    pub fn settle_one(&mut self, labels: Labels) -> bool {
        let mine = |&(&label, _): &(&Label, &Request)| labels.contains(label);
        let done = self
            .live
            .iter()
            .filter(mine)
            .filter(|(_, request)| **request == Request::Done)
            .map(|(&label, _)| label)
            .min();
        match done {
            Some(label) => _ = self.live.remove(&label),
            None => return !self.live.iter().any(|entry| mine(&entry)),
        }
        true
    }

    /// Incomplete operations among `labels`, in the order of their labels.
    pub fn open(&self, labels: Labels) -> Vec<(Label, Request)> {
        let mut open: Vec<(Label, Request)> = self
            .live
            .iter()
            .map(|(&label, &request)| (label, request))
            .filter(|&(label, request)| labels.contains(label) && request != Request::Done)
            .collect();
        open.sort_unstable_by_key(|&(label, _)| label);
        open
    }

    /// True if there are none.
    pub fn is_empty(&self) -> bool {
        self.live.is_empty()
    }
}
