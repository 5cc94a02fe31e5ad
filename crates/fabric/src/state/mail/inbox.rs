//! Packets on the wires from other domains.
//! They stay in the mail that they came in until they arrive. So a domain reads them sequentially,
//! in the order in which they were written, and its pool holds only packets of its routers.

use serde::{Deserialize, Serialize};
use std::collections::VecDeque;

use crate::state::InIndex;
use crate::state::mail::post::{PacketMail, SHORT, room};
use weir_slots::prefetch;

/// Packets on their way from a neighbouring domain, in order of arrival, if they all come by one
/// wire.
#[derive(Debug, Default, Serialize, Deserialize)]
pub struct Inbox {
    /// The input at the end of that wire. None: there are several, and packets go to the pool at
    /// once. (Mail would have to be sorted, which takes longer.)
    pub entrance: Option<InIndex>,
    /// Mail, none of it empty.
    letters: VecDeque<Vec<PacketMail>>,
    /// Number of packets of the first letter that have arrived.
    read: usize,
}

/// Packets ahead of the arriving one for which mail is fetched into the cache.
/// No cache holds all mail of a window, and the hardware does not follow as many streams at once as
/// a domain has neighbours.
const AHEAD: usize = 2;

/// Letters that have been read: their memory is used again.
pub type SpareLetters = Vec<Vec<PacketMail>>;

impl Inbox {
    /// Nothing under way.
    pub fn new(entrance: Option<InIndex>) -> Self {
        Inbox {
            entrance,
            ..Inbox::default()
        }
    }

    /// The packet that arrives next.
    #[inline]
    pub fn first(&self) -> Option<&PacketMail> {
        self.letters.front()?.get(self.read)
    }

    /// Takes the packet that arrives next, and returns the result of `take` on it, which saves a
    /// copy.
    #[inline(always)]
    pub fn pop<R>(
        &mut self,
        spare: &mut SpareLetters,
        take: impl FnOnce(&PacketMail) -> R,
    ) -> Option<R> {
        let letter = self.letters.front()?;
        let taken = take(letter.get(self.read)?);
        self.read += 1;
        if let Some(soon) = letter.get(self.read + AHEAD) {
            prefetch(soon);
        }
        if self.read == letter.len() {
            self.read = 0;
            if let Some(mut letter) = self.letters.pop_front() {
                letter.clear();
                spare.push(letter);
            }
        }
        Some(taken)
    }

    /// Adds a packet.
    pub fn push(&mut self, mail: PacketMail, spare: &mut SpareLetters) {
        // No letter grows: it would never be read to its end if packets keep coming.
        let mut before = 0;
        if let Some(letter) = self.letters.back_mut() {
            if letter.len() < letter.capacity() {
                letter.push(mail);
                return;
            }
            before = letter.len().min(SHORT / 2);
        }
        let mut letter = spare.pop().unwrap_or_default();
        letter.reserve_exact(room(before));
        letter.push(mail);
        self.add(letter);
    }

    /// Adds a whole letter, and leaves an empty one for it.
    pub fn take(&mut self, mail: &mut Vec<PacketMail>, spare: &mut SpareLetters) {
        let empty = spare.pop().unwrap_or_default();
        self.add(std::mem::replace(mail, empty));
    }

    fn add(&mut self, letter: Vec<PacketMail>) {
        // Most inboxes of a large network never have more than one.
        if self.letters.capacity() == 0 {
            self.letters.reserve_exact(1);
        }
        self.letters.push_back(letter);
    }

    /// The packets that are on their way, in order of arrival.
    pub fn packets(&self) -> impl Iterator<Item = &PacketMail> {
        self.letters.iter().flatten().skip(self.read)
    }

    /// True if no more packets of the first letter have arrived than it has.
    pub fn is_sound(&self) -> bool {
        let first = self.letters.front().map_or(1, Vec::len);
        self.read < first && self.letters.iter().all(|letter| !letter.is_empty())
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

#[cfg(test)]
mod tests {
    use super::*;
    use bytemuck::Zeroable;
    use proptest::prelude::*;

    fn letter(heads: std::ops::Range<u64>) -> Vec<PacketMail> {
        let mail = |head| {
            let mut mail = PacketMail::zeroed();
            mail.packet.head = head;
            mail
        };
        heads.map(mail).collect()
    }

    proptest! {
        #[test]
        fn packets_arrive_in_the_order_in_which_they_were_sent(
            steps in prop::collection::vec((1u64..40, any::<bool>(), 0usize..60), 1..40),
        ) {
            let (mut inbox, mut spare) = (Inbox::default(), SpareLetters::new());
            let (mut sent, mut arrived) = (0, 0);
            for (count, whole, pops) in steps {
                let mut mail = letter(sent..sent + count);
                sent += count;
                if whole {
                    inbox.take(&mut mail, &mut spare);
                    prop_assert!(mail.is_empty());
                } else {
                    mail.into_iter().for_each(|one| inbox.push(one, &mut spare));
                }
                for _ in 0..pops {
                    let next = inbox.first().map(|mail| mail.packet.head);
                    let got = inbox.pop(&mut spare, |mail| mail.packet.head);
                    prop_assert_eq!(got, next);
                    prop_assert_eq!(got, (arrived < sent).then_some(arrived));
                    arrived += u64::from(got.is_some());
                }
                prop_assert_eq!(inbox.len() as u64, sent - arrived);
            }
        }
    }

    #[test]
    fn a_wire_that_is_never_empty_takes_no_more_memory_with_time() {
        let (mut inbox, mut spare) = (Inbox::default(), SpareLetters::new());
        let mut most = [0; 2];
        let rounds = if cfg!(miri) { 60 } else { 2_000 };
        for round in 0..rounds {
            let mut mail = letter(round * 20..round * 20 + 20);
            if round % 3 == 0 {
                inbox.take(&mut mail, &mut spare);
            } else {
                mail.into_iter().for_each(|one| inbox.push(one, &mut spare));
            }
            let keep = 7;
            while inbox.len() > keep {
                inbox.pop(&mut spare, |_| ());
            }
            let spare: usize = spare.iter().map(Vec::capacity).sum();
            let held = inbox.memory_bytes() / size_of::<PacketMail>() + spare;
            let half = usize::from(round >= rounds / 2);
            most[half] = most[half].max(held);
        }
        assert!(most[1] <= most[0], "{most:?}");
        assert!(most[1] < 200, "{most:?} packets");
    }
}
