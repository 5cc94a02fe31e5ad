//! The credits of a buffer.

use serde::ser::SerializeSeq;
use serde::{Deserialize, Deserializer, Serialize, Serializer};
use weir_model::{NEVER, Time};
use weir_slots::prefetch;

/// Flits of credit on their way back.
#[derive(Clone, Copy, Debug, Default, Serialize, Deserialize)]
struct Coming {
    /// They can be used from this time on.
    time: Time,
    flits: u32,
}

/// The credits of one buffer at the far end of a link.
///
/// Credits on their way back are kept in a ring with their times. The port reads the ring when it
/// needs more credits than it has, or when the ring is full. So a credit costs no separate event,
/// and is mostly collected together with many others. A ring is one piece of memory that is written
/// and read in order.
#[derive(Clone, Debug)]
pub struct Credit {
    /// Flits that may be sent, without credits returned since the last check.
    pub available: u32,
    /// Flits of the buffer.
    pub capacity: u32,
    /// The place of the first returning credit, before it is wrapped around.
    head: u32,
    /// Number of returning credits.
    count: u32,
    /// Time when the last returning credit comes.
    /// Kept here as well, so that a write at the end of the ring need not wait until that end is in
    /// the cache.
    last: Time,
    /// In order of time. Its length is a power of two, or 0 until the first credit comes.
    ring: Box<[Coming]>,
}

/// The credits on their way, in order of time: the rest of the ring is not saved.
struct OnTheWay<'a>(&'a Credit);

impl Serialize for OnTheWay<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let mut list = serializer.serialize_seq(Some(self.0.count as usize))?;
        for coming in self.0.coming() {
            list.serialize_element(&coming)?;
        }
        list.end()
    }
}

impl Serialize for Credit {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        (self.available, self.capacity, self.last, OnTheWay(self)).serialize(serializer)
    }
}

impl<'de> Deserialize<'de> for Credit {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Credit, D::Error> {
        let (available, capacity, last, mut ring): (u32, u32, Time, Vec<Coming>) =
            Deserialize::deserialize(deserializer)?;
        // A list in memory is shorter than 2³².
        let count = ring.len() as u32;
        if count > 0 {
            ring.resize(ring.len().next_power_of_two(), Coming::default());
        }
        Ok(Credit {
            available,
            capacity,
            head: 0,
            count,
            last,
            ring: ring.into(),
        })
    }
}

impl Credit {
    /// True if one that was read from a file can be of a buffer of this size.
    pub fn fits(&self, fresh: &Credit) -> bool {
        self.capacity == fresh.capacity
    }

    /// All credits of a buffer of `capacity` flits at home.
    pub fn new(capacity: u32) -> Self {
        Credit {
            available: capacity,
            capacity,
            head: 0,
            count: 0,
            last: 0,
            ring: Box::default(),
        }
    }

    /// The place in the ring of the credit that is `nth` to come.
    #[inline]
    fn place(&self, nth: u32) -> usize {
        self.head.wrapping_add(nth) as usize & self.ring.len().wrapping_sub(1)
    }

    /// Begins to fetch the place where the next one is written into the cache.
    #[inline]
    pub fn prefetch(&self) {
        if let Some(place) = self.ring.get(self.place(self.count)) {
            prefetch(place);
        }
    }

    /// True if `flits` flits may be sent.
    #[inline]
    pub fn has(&mut self, flits: u32, now: Time) -> bool {
        if self.available < flits {
            self.collect(now);
        }
        self.available >= flits
    }

    /// Collects the credits that have come back by `now`.
    pub fn collect(&mut self, now: Time) {
        while self.count > 0 {
            let first = self.ring[self.place(0)];
            if first.time > now {
                break;
            }
            self.available += first.flits;
            self.head = self.head.wrapping_add(1);
            self.count -= 1;
        }
        if self.count == 0 {
            // If few credits are under way at a time, the same few places are reused and stay in
            // the cache.
            self.head = 0;
        }
    }

    /// Credits on their way, in order of time.
    fn coming(&self) -> impl DoubleEndedIterator<Item = Coming> + '_ {
        (0..self.count).map(|nth| self.ring[self.place(nth)])
    }

    /// Time when the first credit comes after `now`, as far as is known; [`NEVER`] if none is on
    /// its way.
    pub fn next_after(&mut self, now: Time) -> Time {
        self.collect(now);
        match self.count {
            0 => NEVER,
            _ => self.ring[self.place(0)].time,
        }
    }

    /// Time when enough credits are back for `flits`, as far as is known; [`NEVER`] if not enough
    /// are on their way.
    pub fn enough_at(&self, flits: u32) -> Time {
        let mut sum = self.available;
        for next in self.coming() {
            sum += next.flits;
            if sum >= flits {
                return next.time;
            }
        }
        NEVER
    }

    /// Sends `flits` back, to be usable from `time` on. It is `now` or a little later.
    #[inline]
    pub fn give(&mut self, time: Time, flits: u32, now: Time) {
        if self.count as usize == self.ring.len() {
            self.make_room(now);
        }
        let new = Coming { time, flits };
        if self.count > 0 && self.last >= time {
            self.give_early(new);
        } else {
            self.last = time;
            self.append(new);
        }
    }

    /// There is room.
    #[inline]
    fn append(&mut self, last: Coming) {
        let place = self.place(self.count);
        self.ring[place] = last;
        self.count += 1;
    }

    /// Adds a credit that is not due after the last one: packets cross the router by different
    /// paths.
    #[inline(never)]
    fn give_early(&mut self, new: Coming) {
        let later = self
            .coming()
            .rev()
            .take_while(|other| other.time >= new.time);
        let earlier = self.count - later.count() as u32;
        let place = self.place(earlier);
        if self.ring[place].time == new.time {
            self.ring[place].flits += new.flits;
            return;
        }
        let mut moved = new;
        for nth in earlier..self.count {
            let place = self.place(nth);
            moved = std::mem::replace(&mut self.ring[place], moved);
        }
        self.append(moved);
    }

    /// Collects returned credits, and makes the ring longer if they are less than half of it.
    #[inline(never)]
    fn make_room(&mut self, now: Time) {
        self.collect(now);
        if 2 * (self.count as usize) < self.ring.len() {
            return;
        }
        let length = (2 * self.ring.len()).max(1);
        let rest = std::iter::repeat(Coming::default());
        self.ring = self.coming().chain(rest).take(length).collect();
        self.head = 0;
    }

    /// True when every credit is home, or will be without anything else happening.
    pub fn is_home(&self) -> bool {
        self.available + self.on_the_way() == self.capacity
    }

    /// Flits of credit that are still on their way back.
    pub fn on_the_way(&self) -> u32 {
        self.coming().map(|next| next.flits).sum()
    }

    /// Bytes of memory held for credits on their way.
    pub fn memory_bytes(&self) -> usize {
        self.ring.len() * size_of::<Coming>()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    /// All credits of a buffer under way.
    fn away(total: u32) -> Credit {
        Credit {
            available: 0,
            ..Credit::new(total)
        }
    }

    proptest! {
        #[test]
        fn credits_come_home_in_time_order(
            gives in prop::collection::vec((1u64..1_000, 1u32..20), 1..60),
            looks in prop::collection::vec(0u64..1_100, 1..20),
        ) {
            let total: u32 = gives.iter().map(|give| give.1).sum();
            let mut credit = away(total);
            for &(time, flits) in &gives {
                credit.give(time, flits, 0);
            }
            prop_assert!(credit.is_home());
            let mut looks = looks;
            looks.sort_unstable();
            for now in looks {
                let due: u32 = gives.iter().filter(|give| give.0 <= now).map(|give| give.1).sum();
                prop_assert!(credit.has(due, now));
                prop_assert!(!credit.has(due + 1, now));
                prop_assert_eq!(credit.available, due);
                let next = gives.iter().map(|give| give.0).filter(|&time| time > now).min();
                prop_assert_eq!(credit.enough_at(due + 1), next.unwrap_or(NEVER));
                prop_assert_eq!(credit.next_after(now), next.unwrap_or(NEVER));
            }
        }
    }

    #[test]
    fn a_ring_is_not_much_longer_than_what_is_under_way() {
        let mut credit = away(10_000);
        let mut most = 0;
        for now in 0..10_000 {
            credit.give(now + 50, 1, now);
            most = most.max(credit.memory_bytes() / size_of::<Coming>());
        }
        assert!((50..=128).contains(&most), "{most}");
        assert!(credit.has(10_000, 10_050) && credit.is_home());
    }
}
