//! The event queue of one domain: a timing wheel for the near future and a heap for the far one.

use std::cmp::Reverse;
use std::collections::BinaryHeap;

use crate::model::{NEVER, Time};

/// Buckets of the wheel.
const BUCKETS: usize = 4096;
const WORDS: usize = BUCKETS / 64;

/// What an event is: a number that orders it among simultaneous events. Made of its content by the domain.
pub type EventKey = u32;

/// A queue of events in order of `(time, key)`.
///
/// An event is eight bytes: its offset in its bucket and its key. A bucket is sorted when its turn comes; the
/// memory of emptied buckets is used again by the next ones, so that what is pending stays in the cache.
#[derive(Debug)]
pub struct EventQueue {
    shift: u32,
    buckets: Vec<Vec<u64>>,
    occupied: [u64; WORDS],
    spare: Vec<Vec<u64>>,
    /// The bucket being emptied, latest first.
    current: Vec<u64>,
    /// Number (time >> shift) of that bucket.
    now: u64,
    far: BinaryHeap<Reverse<(Time, EventKey)>>,
    far_from: Time,
    pending: usize,
}

impl EventQueue {
    /// A queue whose wheel covers at least `horizon` ps; later events are allowed but cost more.
    pub fn new(horizon: Time) -> Self {
        let needed = horizon / BUCKETS as u64 + 1;
        EventQueue {
            shift: needed.next_power_of_two().trailing_zeros().clamp(6, 31),
            buckets: vec![Vec::new(); BUCKETS],
            occupied: [0; WORDS],
            spare: Vec::new(),
            current: Vec::new(),
            now: 0,
            far: BinaryHeap::new(),
            far_from: NEVER,
            pending: 0,
        }
    }

    /// Number of events waiting.
    pub fn len(&self) -> usize {
        self.pending
    }

    /// True if nothing is waiting.
    pub fn is_empty(&self) -> bool {
        self.pending == 0
    }

    /// Adds an event. `time` must not lie before the event taken last.
    #[inline]
    pub fn push(&mut self, time: Time, key: EventKey) {
        self.pending += 1;
        let bucket = time >> self.shift;
        let event = self.pack(time, key);
        let ahead = bucket.wrapping_sub(self.now);
        if ahead == 0 {
            let place = self.current.partition_point(|&other| other > event);
            self.current.insert(place, event);
        } else if ahead < BUCKETS as u64 {
            self.push_near(bucket, event);
        } else {
            debug_assert!(bucket > self.now, "an event in the past");
            self.far_from = self.far_from.min(time);
            self.far.push(Reverse((time, key)));
        }
    }

    #[inline]
    fn pack(&self, time: Time, key: EventKey) -> u64 {
        let offset = time & ((1 << self.shift) - 1);
        (offset << 32) | u64::from(key)
    }

    #[inline]
    fn push_near(&mut self, bucket: u64, event: u64) {
        let slot = bucket as usize & (BUCKETS - 1);
        let list = &mut self.buckets[slot];
        if list.capacity() == 0
            && let Some(spare) = self.spare.pop()
        {
            *list = spare;
        }
        list.push(event);
        self.occupied[slot >> 6] |= 1 << (slot & 63);
    }

    /// The number of the next occupied bucket after the current one.
    fn next_bucket(&self) -> Option<u64> {
        let from = (self.now as usize + 1) & (BUCKETS - 1);
        let mut word = from >> 6;
        let mut bits = self.occupied[word] & (u64::MAX << (from & 63));
        for _ in 0..=WORDS {
            if bits != 0 {
                let slot = (word << 6) + bits.trailing_zeros() as usize;
                let ahead = (slot.wrapping_sub(self.now as usize)) & (BUCKETS - 1);
                return Some(self.now + ahead as u64);
            }
            word = (word + 1) & (WORDS - 1);
            bits = self.occupied[word];
        }
        None
    }

    /// The time of the next event; [`NEVER`] if there is none.
    pub fn next_time(&self) -> Time {
        if let Some(&event) = self.current.last() {
            return (self.now << self.shift) + (event >> 32);
        }
        let near = self.next_bucket().map_or(NEVER, |bucket| {
            let list = &self.buckets[bucket as usize & (BUCKETS - 1)];
            let first = list.iter().min().map_or(0, |event| event >> 32);
            (bucket << self.shift) + first
        });
        near.min(self.far_from)
    }

    /// Takes the next event if it lies before `limit`.
    #[inline]
    pub fn pop_before(&mut self, limit: Time) -> Option<(Time, EventKey)> {
        loop {
            if let Some(&event) = self.current.last() {
                let time = (self.now << self.shift) + (event >> 32);
                if time >= limit {
                    return None;
                }
                self.current.pop();
                self.pending -= 1;
                return Some((time, event as u32));
            }
            if !self.load(limit) {
                return None;
            }
        }
    }

    /// Makes the next occupied bucket the current one, if it begins before `limit`.
    fn load(&mut self, limit: Time) -> bool {
        let near = self.next_bucket();
        let far = (self.far_from != NEVER).then_some(self.far_from >> self.shift);
        let Some(bucket) = near.into_iter().chain(far).min() else {
            return false;
        };
        if bucket << self.shift >= limit {
            return false;
        }
        self.now = bucket;
        let slot = bucket as usize & (BUCKETS - 1);
        let empty = std::mem::take(&mut self.current);
        if empty.capacity() > 0 {
            self.spare.push(empty);
        }
        self.current = std::mem::take(&mut self.buckets[slot]);
        self.occupied[slot >> 6] &= !(1 << (slot & 63));
        self.bring_near();
        self.current.sort_unstable_by(|a, b| b.cmp(a));
        true
    }

    /// Moves far events that the wheel covers by now into it.
    fn bring_near(&mut self) {
        let end = (self.now + BUCKETS as u64) << self.shift;
        while self.far_from < end {
            let Some(Reverse((time, key))) = self.far.pop() else {
                break;
            };
            let event = self.pack(time, key);
            let bucket = time >> self.shift;
            if bucket == self.now {
                self.current.push(event);
            } else {
                self.push_near(bucket, event);
            }
            self.far_from = self.far.peek().map_or(NEVER, |Reverse((time, _))| *time);
        }
    }

    /// Bytes of memory held.
    pub fn memory_bytes(&self) -> usize {
        let lists = self.buckets.iter().chain(&self.spare).map(Vec::capacity);
        (lists.sum::<usize>() + self.current.capacity()) * 8
            + self.buckets.capacity() * size_of::<Vec<u64>>()
            + self.far.capacity() * 16
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    /// Pushes and windows in any order give what a sorted list gives.
    fn check(horizon: Time, delays: &[(Time, u32)], window: Time) {
        let mut queue = EventQueue::new(horizon);
        let mut reference = Vec::new();
        let mut got = Vec::new();
        let (first, later) = delays.split_at(delays.len() / 2);
        for &(delay, key) in first {
            queue.push(delay, key);
            reference.push((delay, key));
        }
        let mut later = later.iter();
        let mut limit = window;
        while !queue.is_empty() {
            while let Some((time, key)) = queue.pop_before(limit) {
                got.push((time, key));
                if let Some(&(delay, key)) = later.next() {
                    queue.push(time + delay, key);
                    reference.push((time + delay, key));
                }
            }
            let next = queue.next_time();
            assert!(next >= limit);
            // Something arrives at the window's end, before what is pending.
            if let Some(&(delay, key)) = later.next() {
                queue.push(limit + delay % window, key);
                reference.push((limit + delay % window, key));
            }
            limit += window;
        }
        let times: Vec<Time> = got.iter().map(|event| event.0).collect();
        assert!(times.is_sorted());
        got.sort_unstable();
        reference.sort_unstable();
        assert_eq!(got, reference);
    }

    proptest! {
        #[test]
        fn behaves_like_a_sorted_list(
            delays in prop::collection::vec((0u64..5_000_000, 0u32..50), 1..400),
            horizon in 1_000u64..3_000_000,
            window in 1u64..2_000_000,
        ) {
            check(horizon, &delays, window.max(20_000));
        }
    }

    #[test]
    fn simultaneous_events_come_in_order_of_their_keys() {
        let mut queue = EventQueue::new(1_000);
        for key in [5, 3, 9, 1] {
            queue.push(100, key);
        }
        let keys: Vec<u32> = std::iter::from_fn(|| queue.pop_before(NEVER))
            .map(|e| e.1)
            .collect();
        assert_eq!(keys, [1, 3, 5, 9]);
    }
}
