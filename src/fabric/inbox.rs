//! Packets on the wires from other domains. They stay in the mail that they came in until they arrive, so that a domain
//! reads them in one go, in the order in which they were written, and holds only those of its own routers in its pool.

use std::collections::VecDeque;

use super::domain::FabricDomain;
use super::event::EventKind;
use super::post::PacketMail;
use super::state::InIndex;
use crate::congestion::Scheme;
use crate::model::{PacketIndex, prefetch};

/// The packets on one wire from another domain, in order of arrival.
#[derive(Debug, Default)]
pub struct Inbox {
    /// Mail, none of it empty.
    letters: VecDeque<Vec<PacketMail>>,
    /// How many packets of the first letter have arrived.
    read: usize,
}

/// How far ahead of the packet that arrives mail is fetched into the cache: no cache holds all mail of a window, and
/// the hardware does not follow as many letters at once as a domain has neighbours.
const AHEAD: usize = 2;

/// Packets for which a letter has room at least.
const SHORT: usize = 16;

/// Letters that have been read: their memory is used again.
pub type Paper = Vec<Vec<PacketMail>>;

impl Inbox {
    /// The packet that arrives next.
    #[inline]
    pub fn first(&self) -> Option<&PacketMail> {
        self.letters.front()?.get(self.read)
    }

    /// Takes the packet that arrives next.
    #[inline]
    pub fn pop(&mut self, paper: &mut Paper) -> Option<PacketMail> {
        let letter = self.letters.front()?;
        let mail = *letter.get(self.read)?;
        self.read += 1;
        if let Some(soon) = letter.get(self.read + AHEAD) {
            prefetch(soon);
        }
        if self.read == letter.len() {
            self.read = 0;
            if let Some(mut letter) = self.letters.pop_front() {
                letter.clear();
                paper.push(letter);
            }
        }
        Some(mail)
    }

    /// Adds a packet.
    pub fn push(&mut self, mail: PacketMail, paper: &mut Paper) {
        // No letter grows: it would never be read to its end where packets keep coming.
        if let Some(letter) = self.letters.back_mut()
            && letter.len() < letter.capacity()
        {
            letter.push(mail);
            return;
        }
        let mut letter = paper.pop().unwrap_or_default();
        letter.reserve(SHORT);
        letter.push(mail);
        self.letters.push_back(letter);
    }

    /// Adds a whole letter, and leaves an empty one for it.
    pub fn take(&mut self, mail: &mut Vec<PacketMail>, paper: &mut Paper) {
        let empty = paper.pop().unwrap_or_default();
        self.letters.push_back(std::mem::replace(mail, empty));
    }

    /// Number of packets.
    pub fn len(&self) -> usize {
        self.letters.iter().map(Vec::len).sum::<usize>() - self.read
    }

    /// Bytes of memory held.
    pub fn memory_bytes(&self) -> usize {
        let letters = self.letters.iter().map(Vec::capacity);
        letters.sum::<usize>() * size_of::<PacketMail>()
    }
}

impl<S: Scheme> FabricDomain<S> {
    /// Takes in packets that are on wires from a neighbouring domain.
    pub(super) fn take_packets(&mut self, neighbour: usize, mail: &mut Vec<PacketMail>) {
        let Some((input, inbox)) = self.entrances[neighbour] else {
            return self.take_into_pool(mail);
        };
        let Some(first) = mail.first() else {
            return;
        };
        let inbox = &mut self.inboxes[inbox as usize];
        let (head, waiting) = (first.packet.head, inbox.first().is_some());
        if mail.len() < SHORT {
            for one in mail.drain(..) {
                inbox.push(one, &mut self.paper);
            }
        } else {
            inbox.take(mail, &mut self.paper);
        }
        if !waiting {
            self.schedule(EventKind::Arrive, input, head);
        }
    }

    fn take_into_pool(&mut self, mail: &[PacketMail]) {
        for one in mail {
            let index = self.pool.insert(one.packet, one.origin);
            let input = self.flat_port(one.router, one.port);
            self.inputs[input as usize].wire.push(&mut self.pool, index);
            self.schedule(EventKind::Arrive, input, one.packet.head);
        }
    }

    /// Takes the packet that arrives on a wire with an inbox. Of all that are on such a wire only the first has an event.
    pub(super) fn next_of_inbox(&mut self, inbox: u32, input: InIndex) -> Option<PacketIndex> {
        let inbox = &mut self.inboxes[inbox as usize];
        let mail = inbox.pop(&mut self.paper)?;
        if let Some(next) = inbox.first() {
            let time = next.packet.head;
            self.schedule(EventKind::Arrive, input, time);
        }
        Some(self.pool.insert(mail.packet, mail.origin))
    }
}
