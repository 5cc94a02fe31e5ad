use crate::model::{NEVER, Time};

/// Flits of credit on their way back.
#[derive(Clone, Copy, Debug, Default)]
struct Coming {
    /// They can be used from this time on.
    time: Time,
    flits: u32,
}

/// The credits of one buffer at the far end of a link.
///
/// Those that are on their way back stand in a ring with their times, which the port looks at when it needs to: a credit
/// costs no event of its own. A ring is one piece of memory that is written and read in order.
#[derive(Clone, Debug)]
pub struct Credit {
    /// Flits that may be sent now.
    pub available: u32,
    /// Flits of the buffer.
    pub capacity: u32,
    /// The place of what comes first, before it is wrapped around.
    head: u32,
    /// How many are coming.
    count: u32,
    /// In order of time. Its length is a power of two, or 0 until the first credit comes.
    ring: Box<[Coming]>,
}

impl Credit {
    /// All credits of a buffer of `capacity` flits at home.
    pub fn new(capacity: u32) -> Self {
        Credit {
            available: capacity,
            capacity,
            head: 0,
            count: 0,
            ring: Box::default(),
        }
    }

    /// The place in the ring of the credit that is `nth` to come.
    #[inline]
    fn place(&self, nth: u32) -> usize {
        self.head.wrapping_add(nth) as usize & self.ring.len().wrapping_sub(1)
    }

    /// Takes up what has come back by `now`.
    #[inline]
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
    }

    /// What is on its way, in order of time.
    fn coming(&self) -> impl DoubleEndedIterator<Item = Coming> + '_ {
        (0..self.count).map(|nth| self.ring[self.place(nth)])
    }

    /// When enough is back for `flits`, as far as is known; [`NEVER`] if not enough is on its way.
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

    /// Sends `flits` back, to be usable from `time` on. The ring holds no more than the buffer has flits, however long
    /// nobody looks at it.
    #[inline]
    pub fn give(&mut self, time: Time, flits: u32) {
        let new = Coming { time, flits };
        if self.count > 0 && self.ring[self.place(self.count - 1)].time >= time {
            self.give_early(new);
        } else {
            self.append(new);
        }
    }

    #[inline]
    fn append(&mut self, last: Coming) {
        if self.count as usize == self.ring.len() {
            self.grow();
        }
        let place = self.place(self.count);
        self.ring[place] = last;
        self.count += 1;
    }

    /// A credit that is not due after the last one: packets leave by different ways through the crossbar.
    #[inline(never)]
    fn give_early(&mut self, new: Coming) {
        let earlier = self.coming().filter(|other| other.time < new.time).count() as u32;
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

    #[cold]
    #[inline(never)]
    fn grow(&mut self) {
        let length = (2 * self.ring.len()).max(4);
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

    proptest! {
        #[test]
        fn credits_come_home_in_time_order(
            gives in prop::collection::vec((1u64..1_000, 1u32..20), 1..60),
            looks in prop::collection::vec(0u64..1_100, 1..20),
        ) {
            let total: u32 = gives.iter().map(|give| give.1).sum();
            let mut credit = Credit::new(total);
            credit.available = 0;
            for &(time, flits) in &gives {
                credit.give(time, flits);
            }
            prop_assert!(credit.is_home());
            let mut looks = looks;
            looks.sort_unstable();
            for now in looks {
                let due: u32 = gives.iter().filter(|give| give.0 <= now).map(|give| give.1).sum();
                credit.collect(now);
                prop_assert_eq!(credit.available, due);
                let next = gives.iter().map(|give| give.0).filter(|&time| time > now).min();
                prop_assert_eq!(credit.enough_at(due + 1), next.unwrap_or(NEVER));
            }
        }
    }
}
