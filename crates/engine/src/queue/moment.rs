//! Simultaneous events, taken in the order of their keys.

use weir_model::{NEVER, Time};
use weir_slots::Slots;

/// The content of an event: a number that orders it among simultaneous events.
/// Made of its content by the domain: its upper bits are the kind of event, its lower bits the
/// place.
pub type EventKey = u32;

/// Keys up to which there is a bit for each: 8 KiB.
const MOST: usize = 1 << 16;

/// Simultaneous events, to be taken in the order of their keys: a bit for each key.
///
/// If all links are alike, most events of a domain fall on the same few moments, dozens of events
/// on each. Setting their bits and reading them off in order costs less than half of what comparing
/// events does, and mispredicts fewer branches.
#[derive(Debug)]
pub struct Moment {
    /// Bits of keys that are to be taken, except those in `bits`.
    words: Slots<u64>,
    /// A bit for each word that is not 0.
    groups: Slots<u64>,
    /// The rest of the word that is being read.
    bits: u64,
    /// Its number.
    word: usize,
    /// Events left.
    left: usize,
    /// Their time; [`NEVER`] if none are left.
    time: Time,
    mask: EventKey,
}

impl Moment {
    /// Without events, for keys below `keys`.
    pub fn new(keys: usize) -> Self {
        let words = if keys <= MOST { keys.div_ceil(64) } else { 0 };
        Moment {
            words: vec![0; words].into(),
            groups: vec![0; words.div_ceil(64)].into(),
            bits: 0,
            word: 0,
            left: 0,
            time: NEVER,
            mask: 0,
        }
    }

    /// True if it pays for `events` events.
    #[inline]
    pub fn is_for(&self, events: usize) -> bool {
        const FEW: usize = 12;
        events >= FEW.max(self.groups.len()) && !self.words.is_empty()
    }

    /// Takes in the events of a time. `keys` are theirs under `mask`, by which they are ordered;
    /// returns false, and takes nothing, if two of them are the same. There must be no events left.
    #[inline]
    pub fn fill(
        &mut self,
        time: Time,
        mask: EventKey,
        keys: impl Iterator<Item = EventKey>,
    ) -> bool {
        let (mut twice, mut count) = (0, 0);
        // Mostly there is one group.
        let (one, mut group) = (self.groups.len() == 1, 0);
        for key in keys {
            let at = key as usize / 64;
            let word = &mut self.words[at];
            let bit = 1 << (key % 64);
            twice |= *word & bit;
            *word |= bit;
            match one {
                true => group |= 1 << (at % 64),
                false => self.groups[at / 64] |= 1 << (at % 64),
            }
            count += 1;
        }
        self.groups[0] |= group;
        if twice != 0 {
            (0..self.words.len()).for_each(|word| self.words[word] = 0);
            (0..self.groups.len()).for_each(|group| self.groups[group] = 0);
            return false;
        }
        (self.left, self.time, self.mask) = (count, time, mask);
        self.read_next();
        true
    }

    /// Begins to read the first word that is not 0, of which there must be one.
    #[inline(always)]
    fn read_next(&mut self) {
        let mut group = 0;
        while self.groups[group] == 0 {
            group += 1;
        }
        let words = &mut self.groups[group];
        self.word = group * 64 + words.trailing_zeros() as usize;
        *words &= *words - 1;
        self.bits = std::mem::take(&mut self.words[self.word]);
    }

    /// The time of the events that are left, if any are.
    #[inline]
    pub fn time(&self) -> Option<Time> {
        (self.time != NEVER).then_some(self.time)
    }

    /// The events that are left, in no order.
    pub fn events(&self) -> impl Iterator<Item = (Time, EventKey)> {
        let words = self.words.iter().copied().zip(0..);
        let words = words.chain([(self.bits, self.word)]);
        let (time, mask) = (self.time, self.mask);
        let ranks = words.flat_map(|(bits, word)| {
            let set = (0..64).filter(move |bit| bits >> bit & 1 == 1);
            set.map(move |bit| (word * 64 + bit) as EventKey)
        });
        ranks.map(move |rank| (time, rank ^ mask))
    }

    /// Takes the next event if there is one and its time is before `limit`.
    #[inline]
    pub fn take_before(&mut self, limit: Time) -> Option<(Time, EventKey)> {
        let time = self.time;
        (time < limit).then(|| (time, self.take()))
    }

    /// Adds an event to the remaining ones, of which there must be at least one.
    /// Returns false, and adds nothing, if the event is already among them.
    #[inline]
    pub fn add(&mut self, key: EventKey) -> bool {
        let key = key ^ self.mask;
        let (word, bit) = (key as usize / 64, 1 << (key % 64));
        if word < self.word {
            // Events before this word have been taken: go back to it.
            if self.bits != 0 {
                self.words[self.word] = self.bits;
                self.groups[self.word / 64] |= 1 << (self.word % 64);
            }
            (self.word, self.bits) = (word, bit);
        } else {
            let bits = match word == self.word {
                true => &mut self.bits,
                false => {
                    self.groups[word / 64] |= 1 << (word % 64);
                    &mut self.words[word]
                }
            };
            if *bits & bit != 0 {
                return false;
            }
            *bits |= bit;
        }
        self.left += 1;
        true
    }

    /// Takes the next event, of which there must be one, and returns its key.
    #[inline]
    pub fn take(&mut self) -> EventKey {
        self.left -= 1;
        if self.left == 0 {
            self.time = NEVER;
        }
        if self.bits == 0 {
            self.read_next();
        }
        let key = (self.word * 64) as EventKey | self.bits.trailing_zeros();
        self.bits &= self.bits - 1;
        key ^ self.mask
    }

    /// Bytes of memory held.
    pub fn memory_bytes(&self) -> usize {
        (self.words.capacity() + self.groups.capacity()) * 8
    }
}
