//! Events beyond the wheel.

use std::collections::BTreeMap;

use weir_model::{NEVER, Time};

use super::EventKey;

/// Events of the far future, by the part of it that they are in. Unlike in a heap, to add one and
/// to take it takes the same time however many there are (signals that are all on their way for a
/// millisecond).
#[derive(Debug)]
pub(super) struct Far {
    /// A part is 2^shift ps.
    shift: u32,
    parts: BTreeMap<u64, Part>,
    /// Time of the first event; [`NEVER`] if there is none.
    first: Time,
    /// End of the part that it is in.
    end: Time,
}

#[derive(Debug)]
struct Part {
    first: Time,
    events: Vec<(Time, EventKey)>,
}

impl Far {
    pub fn new(shift: u32) -> Self {
        Far {
            shift,
            parts: BTreeMap::new(),
            first: NEVER,
            end: NEVER,
        }
    }

    /// The time of the first event; [`NEVER`] if there is none.
    #[inline]
    pub fn first(&self) -> Time {
        self.first
    }

    pub fn push(&mut self, time: Time, key: EventKey) {
        let part = self.parts.entry(time >> self.shift);
        let part = part.or_insert_with(|| Part {
            first: NEVER,
            events: Vec::new(),
        });
        part.first = part.first.min(time);
        part.events.push((time, key));
        if time < self.first {
            self.look();
        }
    }

    /// Takes the events of the first part, in no order, if that ends by `end`.
    #[inline]
    pub fn take_until(&mut self, end: Time) -> Option<Vec<(Time, EventKey)>> {
        if self.end > end {
            return None;
        }
        let part = self.parts.pop_first();
        self.look();
        part.map(|(_, part)| part.events)
    }

    /// Looks where the first event is.
    fn look(&mut self) {
        let first = self.parts.first_key_value();
        (self.first, self.end) = first.map_or((NEVER, NEVER), |(number, part)| {
            (part.first, (number + 1).saturating_mul(1 << self.shift))
        });
    }

    /// All events, in no order.
    pub fn events(&self) -> impl Iterator<Item = (Time, EventKey)> + '_ {
        self.parts
            .values()
            .flat_map(|part| part.events.iter().copied())
    }

    /// Bytes of memory held.
    pub fn memory_bytes(&self) -> usize {
        let events = self.parts.values().map(|part| part.events.capacity());
        events.sum::<usize>() * size_of::<(Time, EventKey)>()
            + self.parts.len() * size_of::<(u64, Part)>()
    }
}
