//! Matching of receives and messages by source and tag.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

use super::queues::{Queues, entry_bytes};
use crate::tasks::program::op::COLLECTIVE_TAG;
use crate::tasks::{Envelope, EnvelopeKind, Label, Peer, Tag};

/// Source and tag of a receive.
type Wanted = (Option<Peer>, Option<Tag>);

/// A receive that waits for its message, with its place in the order of posting.
#[derive(Clone, Copy, Debug, Deserialize, Serialize)]
struct Posted {
    label: Label,
    order: u64,
}

/// A message that has arrived: an eager one or a request.
#[derive(Clone, Copy, Debug, Deserialize, Serialize)]
pub(super) struct Arrival {
    pub from: Peer,
    pub envelope: Envelope,
}

/// Posted receives and arrived messages of a task, matched by source and tag, both in order.
///
/// Messages from one task to another may overtake each other in the network. They are put back into
/// the order of sending before they are matched. Messages that wait for a receive are in queues by
/// source and tag, so that a receive that names both finds its message at once, whatever else has
/// arrived. Waiting receives are kept in the same way. A receive of any source or any tag searches
/// the messages in the order of arrival until one fits.
#[derive(Clone, Debug, Default, Deserialize, Serialize)]
pub(super) struct Mailbox {
    posted: Queues<Wanted, Posted>,
    /// Number of receives in `posted` that take any source or any tag.
    wild: usize,
    /// Messages that arrived before their receive was posted, by source and tag; with the place in
    /// the order of arrivals.
    unexpected: Queues<(Peer, Tag), (Arrival, u64)>,
    /// The same in the order of arrival, after a receive has asked for any source or any tag.
    arrivals: Option<BTreeMap<u64, (Peer, Tag)>>,
    /// Messages that overtook an earlier one of the same sender: by sender and number.
    early: Queues<(Peer, u32), Arrival>,
    /// Receives whose content may be sent, by sender and the request's number.
    contents: Queues<(Peer, u32), Label>,
    /// Number of receives posted and messages arrived.
    order: u64,
}

impl Mailbox {
    /// Bytes of a waiting receive.
    pub const POSTED: [usize; 2] = entry_bytes::<Wanted, Posted>();

    /// Posts a receive. Returns the message, if it has arrived already.
    pub fn post(&mut self, from: Option<Peer>, tag: Option<Tag>, label: Label) -> Option<Arrival> {
        if let Some(queue) = self.waiting((from, tag))
            && let Some((arrival, order)) = self.unexpected.pop(queue)
        {
            if let Some(arrivals) = &mut self.arrivals {
                arrivals.remove(&order);
            }
            return Some(arrival);
        }
        self.order += 1;
        let order = self.order;
        self.wild += usize::from(from.is_none() || tag.is_none());
        self.posted.push((from, tag), Posted { label, order });
        None
    }

    /// The queue of the message that a receive takes.
    fn waiting(&mut self, wanted: Wanted) -> Option<(Peer, Tag)> {
        if self.unexpected.len() == 0 {
            return None;
        }
        if let (Some(from), Some(tag)) = wanted {
            let queue = (from, tag);
            return self.unexpected.first(queue).map(|_| queue);
        }
        let (from, tag) = wanted;
        let fits = |&&(source, given): &&(Peer, Tag)| {
            from.is_none_or(|from| from == source)
                && tag.map_or(given < COLLECTIVE_TAG, |tag| tag == given)
        };
        let unexpected = &self.unexpected;
        let arrivals = self.arrivals.get_or_insert_with(|| {
            let key = |(one, order): (Arrival, u64)| (order, (one.from, one.envelope.tag));
            unexpected.values().map(key).collect()
        });
        arrivals.values().find(fits).copied()
    }

    /// Delivers a message whose turn it is. Returns the receive that takes it.
    pub fn take(&mut self, arrival: Arrival) -> Option<Label> {
        let (from, tag) = (arrival.from, arrival.envelope.tag);
        if let Some(wanted) = self.receive_of(from, tag)
            && let Some(posted) = self.posted.pop(wanted)
        {
            self.wild -= usize::from(wanted.0.is_none() || wanted.1.is_none());
            return Some(posted.label);
        }
        self.order += 1;
        self.unexpected.push((from, tag), (arrival, self.order));
        if let Some(arrivals) = &mut self.arrivals {
            arrivals.insert(self.order, (from, tag));
        }
        None
    }

    /// Source and tag of the receive that takes a message: the first of all that match.
    fn receive_of(&self, from: Peer, tag: Tag) -> Option<Wanted> {
        let exact = (Some(from), Some(tag));
        if self.wild == 0 {
            return self.posted.first(exact).map(|_| exact);
        }
        let any_tag = tag < COLLECTIVE_TAG;
        let wanted = [
            Some(exact),
            Some((None, Some(tag))),
            any_tag.then_some((Some(from), None)),
            any_tag.then_some((None, None)),
        ];
        let there = wanted.into_iter().flatten().filter_map(|wanted| {
            let posted = self.posted.first(wanted)?;
            Some((posted.order, wanted))
        });
        there
            .min_by_key(|&(order, _)| order)
            .map(|(_, wanted)| wanted)
    }

    /// Keeps a message that came too early.
    pub fn keep(&mut self, arrival: Arrival) {
        let key = (arrival.from, arrival.envelope.number);
        self.early.push(key, arrival);
    }

    /// The message of this number that came too early, if it did.
    pub fn early(&mut self, from: Peer, number: u32) -> Option<Arrival> {
        self.early.pop((from, number))
    }

    /// Registers the receive of a long message's content.
    pub fn expect(&mut self, from: Peer, number: u32, label: Label) {
        self.contents.push((from, number), label);
    }

    /// Delivers the content of a long message. Returns its receive.
    pub fn content(&mut self, from: Peer, number: u32) -> Option<Label> {
        self.contents.pop((from, number))
    }

    /// True if all arrivals are from tasks of a job of this size.
    pub fn fits(&self, tasks: u32) -> bool {
        let unexpected = self.unexpected.values().map(|(arrival, _)| arrival);
        unexpected
            .chain(self.early.values())
            .all(|one| one.from < tasks)
    }

    /// Number of messages without a receive: whole ones, and requests.
    pub fn unclaimed(&self) -> (usize, usize) {
        let unexpected = self.unexpected.values().map(|(arrival, _)| arrival);
        let all = unexpected.chain(self.early.values());
        let requests = all.filter(|one| one.envelope.kind == EnvelopeKind::Request);
        let requests = requests.count();
        (
            self.unexpected.len() + self.early.len() - requests,
            requests,
        )
    }

    /// Bytes of memory held.
    pub fn memory_bytes(&self) -> usize {
        self.posted.memory_bytes()
            + self.unexpected.memory_bytes()
            + self.early.memory_bytes()
            + self.contents.memory_bytes()
            + self.arrivals.as_ref().map_or(0, BTreeMap::len) * size_of::<(u64, Peer, Tag)>()
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    /// A mailbox that searches linearly.
    #[derive(Default)]
    struct Plain {
        posted: Vec<(Wanted, Label)>,
        unexpected: Vec<Arrival>,
    }

    fn takes((from, tag): Wanted, one: &Arrival) -> bool {
        let given = one.envelope.tag;
        from.is_none_or(|from| from == one.from)
            && tag.map_or(given < COLLECTIVE_TAG, |tag| tag == given)
    }

    impl Plain {
        fn post(&mut self, wanted: Wanted, label: Label) -> Option<u32> {
            let at = self.unexpected.iter().position(|one| takes(wanted, one));
            match at {
                Some(at) => Some(self.unexpected.remove(at).envelope.number),
                None => {
                    self.posted.push((wanted, label));
                    None
                }
            }
        }

        fn take(&mut self, arrival: Arrival) -> Option<Label> {
            let at = self.posted.iter().position(|one| takes(one.0, &arrival));
            match at {
                Some(at) => Some(self.posted.remove(at).1),
                None => {
                    self.unexpected.push(arrival);
                    None
                }
            }
        }
    }

    proptest! {
        /// Queues match the same messages as a linear search in order.
        #[test]
        fn the_first_that_fits_is_taken(
            acts in prop::collection::vec((any::<bool>(), 0..4u32, 0..5u32), 0..120),
        ) {
            let (mut mailbox, mut plain) = (Mailbox::default(), Plain::default());
            for (number, (post, from, tag)) in (0..).zip(acts) {
                if post {
                    // The last value of each means any.
                    let from = (from < 3).then_some(from);
                    let tag = (tag < 4).then_some(if tag == 3 { COLLECTIVE_TAG } else { tag });
                    let got = mailbox.post(from, tag, number).map(|one| one.envelope.number);
                    prop_assert_eq!(got, plain.post((from, tag), number));
                } else {
                    let tag = if tag >= 3 { COLLECTIVE_TAG } else { tag };
                    let kind = EnvelopeKind::Eager;
                    let envelope = Envelope { kind, tag, number };
                    let arrival = Arrival { from, envelope };
                    prop_assert_eq!(mailbox.take(arrival), plain.take(arrival));
                }
                prop_assert_eq!(mailbox.unclaimed(), (plain.unexpected.len(), 0));
            }
        }
    }
}
