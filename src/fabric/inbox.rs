//! Packets on the wires from other domains. They stay in the mail that they came in until they arrive, so that a domain
//! reads them in one go, in the order in which they were written, and holds only those of its own routers in its pool.

use std::collections::VecDeque;

use super::post::PacketMail;
use crate::model::prefetch;

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
        match self.letters.back_mut() {
            Some(letter) => letter.push(mail),
            None => {
                let mut letter = paper.pop().unwrap_or_default();
                letter.push(mail);
                self.letters.push_back(letter);
            }
        }
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
