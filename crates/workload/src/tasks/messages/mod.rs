//! The messages of a task: envelopes and protocols, requests for sends and receives, and the
//! mailbox of arrivals.

pub(crate) mod envelope;
mod mailbox;
pub(crate) mod protocol;
pub(crate) mod queues;
pub(super) mod requests;
mod wire;

use serde::{Deserialize, Serialize};

use super::{
    Completes, Envelope, EnvelopeKind, Label, Labels, Peer, RendezvousCompletes, Tag, Waiting,
};
use mailbox::{Arrival, Mailbox};
pub use protocol::Exchange;
use queues::{Queues, entry_bytes};
use requests::{Request, Requests};
use weir_model::codec::SavedMap;
pub use wire::{Trouble, Wire};

/// The messages of a task: sends by the eager or the rendezvous protocol, arrivals, and posted
/// receives.
#[derive(Debug, Deserialize, Serialize)]
pub struct Messages {
    number: Peer,
    pub(super) requests: Requests,
    mailbox: Mailbox,
    /// Sends that are not complete, by receiver and number.
    sends: Queues<(Peer, u32), Leaving>,
    /// Numbers of messages to and from each peer.
    peers: SavedMap<Peer, Numbers>,
    trouble: Option<Trouble>,
}

/// Bytes that a task holds: in lists, and in tables.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Entries {
    /// Lists, which grow by doubling.
    pub lists: usize,
    /// Tables: bytes per entry.
    pub tables: usize,
}

/// Memory for each task that a task has ever sent to or received from.
pub const OF_A_PEER: Entries = Entries {
    lists: 0,
    tables: size_of::<(Peer, Numbers)>(),
};

/// Memory for each send that is not complete.
pub const OF_A_SEND: Entries = Entries {
    lists: SENDS[0],
    tables: SENDS[1] + Requests::ENTRY,
};

/// Memory for each receive that is not complete.
pub const OF_A_RECEIVE: Entries = Entries {
    lists: Mailbox::POSTED[0],
    tables: Mailbox::POSTED[1] + Requests::ENTRY,
};

const SENDS: [usize; 2] = entry_bytes::<(Peer, u32), Leaving>();

/// A send that is not complete.
#[derive(Clone, Copy, Debug, Deserialize, Serialize)]
struct Leaving {
    label: Label,
    bytes: u64,
}

#[derive(Clone, Copy, Debug, Default, Deserialize, Serialize)]
struct Numbers {
    /// Number of the next message to the peer.
    next: u32,
    /// Number of the message from the peer whose turn is next.
    expected: u32,
}

impl Messages {
    pub(super) fn new(number: Peer) -> Messages {
        Messages {
            number,
            requests: Requests::default(),
            mailbox: Mailbox::default(),
            sends: Queues::default(),
            peers: SavedMap::default(),
            trouble: None,
        }
    }

    /// True if messages read from a file can be those of this task.
    pub(super) fn fit(&self, tasks: u32, number: Peer) -> bool {
        self.number == number && self.mailbox.fits(tasks)
    }

    /// The number of their task.
    pub fn task(&self) -> Peer {
        self.number
    }

    /// Reason why the run must end, if any.
    pub(super) fn trouble(&self) -> Option<Trouble> {
        self.trouble
    }

    /// Number of messages that arrived and were not received: whole ones, and requests for long
    /// ones.
    pub(super) fn unclaimed(&self) -> (usize, usize) {
        self.mailbox.unclaimed()
    }

    /// Ends the run.
    pub fn stop(&mut self, trouble: Trouble) {
        self.trouble = Some(trouble);
    }

    /// Obstacles of the task, if it waits for these operations.
    pub fn waiting(&self, labels: Labels) -> Waiting {
        Waiting::new(self.number, &self.requests.open(labels))
    }

    /// Forgets an operation that is complete.
    pub fn forget(&mut self, label: Label) {
        self.requests.forget(label);
    }

    /// Bytes of memory held, besides itself.
    pub(super) fn memory_bytes(&self) -> usize {
        self.mailbox.memory_bytes()
            + self.requests.memory_bytes()
            + self.sends.memory_bytes()
            + self.peers.capacity() * size_of::<(Peer, Numbers)>()
    }

    /// Handles the departure of a message. Returns the send that is complete now.
    pub(super) fn sent(
        &mut self,
        exchange: &Exchange,
        to: Peer,
        envelope: Envelope,
    ) -> Option<Label> {
        let completes = match envelope.kind {
            EnvelopeKind::Eager => true,
            EnvelopeKind::Data => {
                exchange.protocol.rendezvous_completes == RendezvousCompletes::Sent
            }
            EnvelopeKind::Request | EnvelopeKind::Clear | EnvelopeKind::Received => false,
        };
        match completes {
            true => self.complete_send(to, envelope.number),
            false => None,
        }
    }

    /// Completes a send, if it was not complete.
    fn complete_send(&mut self, to: Peer, number: u32) -> Option<Label> {
        let label = self.sends.pop((to, number))?.label;
        self.requests.set(label, Request::Done);
        Some(label)
    }

    /// Handles the arrival of a message. `complete` is called for the receives and sends that are
    /// complete now.
    pub(super) fn arrived(
        &mut self,
        exchange: &Exchange,
        from: Peer,
        envelope: Envelope,
        wire: &mut dyn Wire,
        complete: &mut dyn FnMut(&mut Messages, Label),
    ) {
        match envelope.kind {
            EnvelopeKind::Eager | EnvelopeKind::Request => {
                self.in_turn(exchange, from, envelope, wire, complete);
            }
            EnvelopeKind::Clear => {
                if let Some(leaving) = self.sends.first((from, envelope.number)) {
                    let data = Envelope {
                        kind: EnvelopeKind::Data,
                        ..envelope
                    };
                    let length = exchange.protocol.with_header(leaving.bytes);
                    let delay = exchange.delay(self.number, from, data, 0);
                    wire.send(from, length, data, delay);
                }
            }
            EnvelopeKind::Data => {
                if let Some(label) = self.mailbox.content(from, envelope.number) {
                    self.requests.set(label, Request::Done);
                    complete(self, label);
                }
                if exchange.protocol.rendezvous_completes == RendezvousCompletes::Received {
                    let notice = Envelope {
                        kind: EnvelopeKind::Received,
                        ..envelope
                    };
                    let length = exchange.protocol.control_bytes;
                    let delay = exchange.delay(self.number, from, notice, 0);
                    wire.send(from, length, notice, delay);
                }
            }
            EnvelopeKind::Received => {
                if let Some(label) = self.complete_send(from, envelope.number) {
                    complete(self, label);
                }
            }
        }
    }

    /// Matches a message, and messages that arrived before it but were sent after it.
    fn in_turn(
        &mut self,
        exchange: &Exchange,
        from: Peer,
        envelope: Envelope,
        wire: &mut dyn Wire,
        complete: &mut dyn FnMut(&mut Messages, Label),
    ) {
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
            if let Some(label) = self.mailbox.take(arrival)
                && self.matched(exchange, arrival, label, wire)
            {
                complete(self, label);
            }
            self.peers.entry(from).or_default().expected = next;
            match self.mailbox.early(from, next) {
                Some(early) => arrival = early,
                None => return,
            }
        }
    }

    /// Handles the match of a message and its receive. True if the receive is complete.
    fn matched(
        &mut self,
        exchange: &Exchange,
        arrival: Arrival,
        label: Label,
        wire: &mut dyn Wire,
    ) -> bool {
        let Arrival { from, envelope } = arrival;
        if envelope.kind == EnvelopeKind::Eager {
            self.requests.set(label, Request::Done);
            return true;
        }
        self.requests.set(label, Request::Content { from });
        self.mailbox.expect(from, envelope.number, label);
        let clear = Envelope {
            kind: EnvelopeKind::Clear,
            ..envelope
        };
        let delay = exchange.delay(self.number, from, clear, 0);
        wire.send(from, exchange.protocol.control_bytes, clear, delay);
        false
    }

    pub(super) fn start_send(
        &mut self,
        exchange: &Exchange,
        to: Peer,
        bytes: u64,
        tag: Tag,
        label: Label,
        wire: &mut dyn Wire,
    ) {
        let numbers = self.peers.entry(to).or_default();
        let number = numbers.next;
        numbers.next = Envelope::next(number);
        let eager = bytes < exchange.protocol.rendezvous_from;
        let envelope = Envelope {
            kind: match eager {
                true => EnvelopeKind::Eager,
                false => EnvelopeKind::Request,
            },
            tag,
            number,
        };
        let copied = if eager { bytes } else { 0 };
        let delay = exchange.delay(self.number, to, envelope, copied);
        let length = if eager {
            exchange.protocol.with_header(bytes)
        } else {
            exchange.protocol.control_bytes
        };
        wire.send(to, length, envelope, delay);
        if eager && exchange.protocol.completes == Completes::Copied {
            wire.copied(to, length, envelope, delay);
        }
        self.sends.push((to, number), Leaving { label, bytes });
        let request = match eager {
            true => Request::Send { to },
            false => Request::LongSend { to },
        };
        let new = self.requests.add(label, request);
        debug_assert!(new, "task {}: label {label} is used twice", self.number);
    }

    /// True if the receive is complete at once.
    pub(super) fn start_receive(
        &mut self,
        exchange: &Exchange,
        from: Option<Peer>,
        tag: Option<Tag>,
        label: Label,
        wire: &mut dyn Wire,
    ) -> bool {
        let new = self.requests.add(label, Request::Receive { from, tag });
        debug_assert!(new, "task {}: label {label} is used twice", self.number);
        match self.mailbox.post(from, tag, label) {
            Some(arrival) => self.matched(exchange, arrival, label, wire),
            None => false,
        }
    }
}
