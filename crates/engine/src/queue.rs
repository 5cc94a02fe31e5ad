//! The event queue of one domain: a timing wheel for the near future, and what is beyond it.

mod far;
mod moment;

use weir_model::{NEVER, Time};
use weir_slots::Slots;

use far::Far;
pub use moment::EventKey;
use moment::Moment;

/// Buckets of the wheel.
const BUCKETS: usize = 8192;
/// Buckets of least length in a part of the far future: half of the wheel, so that a part fits into
/// it when its turn comes.
const PART: usize = BUCKETS / 2;
const WORDS: usize = BUCKETS / 64;

/// Events in one chunk: with its header a chunk fills two cache lines, of which few events touch
/// one.
const CHUNK: usize = 15;

/// No chunk.
const NONE: u32 = u32::MAX;

/// Most bits of an event's offset in its bucket: 32 less than the event.
const LONGEST: u32 = 31;

/// Number of buckets after which their length is checked again.
const PERIOD: u32 = 1 << 8;

/// Events of a bucket in the mean below which buckets are made twice as long, and beyond which half
/// as long.
const FEW: u32 = 6;
const MANY: u32 = 8 * FEW;

/// Buckets are at most 2^DOUBLINGS times as long as at first.
/// A bucket in which little happens must not be so long that all later events would fall into it.
const DOUBLINGS: u32 = 7;

/// Some events of one bucket.
#[derive(Clone, Copy, Debug)]
#[repr(C, align(64))]
struct Chunk {
    /// Events in this chunk.
    used: u32,
    /// The bucket's next chunk; all but its first are full.
    next: u32,
    events: [u64; CHUNK],
}

/// A queue of events in order of time.
/// Simultaneous events are ordered by kind, then by place under a mask that depends on the time
/// only. So the order is a function of the events, but favours no place in the long run. (With a
/// plain order, of two outputs that want the same input at the same time the one with the lower
/// number would win every time.)
///
/// An event is eight bytes: its offset in its bucket and its key. A bucket is a list of chunks, and
/// is sorted when its turn comes. Freed chunks are used again at once, so that the queue touches no
/// more memory than the pending events take. The length of buckets adapts to the load: with less
/// than a few events in each, every event would be in a separate part of the cache, and the next
/// events would not be known ([`EventQueue::upcoming`]).
#[derive(Debug)]
pub struct EventQueue {
    /// A bucket is 2^shift ps.
    shift: u32,
    /// Its minimum: the wheel must cover the horizon that it was made for.
    least: u32,
    /// Buckets that were emptied since their length was checked, and events in them.
    emptied: u32,
    taken: u32,
    /// A bucket was begun since that was asked last.
    begun: bool,
    /// First chunk of every bucket.
    buckets: Box<[u32; BUCKETS]>,
    occupied: Box<[u64; WORDS]>,
    chunks: Slots<Chunk>,
    free: u32,
    /// The bucket being emptied, latest first.
    current: Vec<u64>,
    /// Number (time >> shift) of that bucket.
    now: u64,
    far: Far,
    /// The next events of the bucket being emptied, if those are many simultaneous ones; events in
    /// `current` are later.
    moment: Moment,
    places: EventKey,
}

impl EventQueue {
    /// A queue whose wheel covers at least half of `horizon` ps, or all of it; later events are
    /// allowed but cost more. All keys are below `keys`, and `places` is a bit mask of the part of
    /// a key that says where the event happens.
    pub fn new(horizon: Time, keys: usize, places: EventKey) -> Self {
        let length = (horizon / BUCKETS as u64).max(1);
        let shift = length.ilog2().clamp(6, LONGEST);
        EventQueue {
            shift,
            least: shift,
            emptied: 0,
            taken: 0,
            begun: false,
            buckets: Box::new([NONE; BUCKETS]),
            occupied: Box::new([0; WORDS]),
            chunks: Slots::default(),
            free: NONE,
            current: Vec::new(),
            now: 0,
            far: Far::new(shift + PART.ilog2()),
            moment: Moment::new(keys),
            places,
        }
    }

    /// Adds an event. `time` must not lie before the event taken last.
    #[inline]
    pub fn push(&mut self, time: Time, key: EventKey) {
        let bucket = time >> self.shift;
        // In the wheel, but not in the bucket that is being emptied.
        if bucket.wrapping_sub(self.now).wrapping_sub(1) < BUCKETS as u64 - 1 {
            self.push_near(bucket, self.pack(time, key));
        } else {
            self.push_rarely(time, key);
        }
    }

    #[inline]
    fn pack(&self, time: Time, key: EventKey) -> u64 {
        let offset = time & ((1 << self.shift) - 1);
        (offset << 32) | u64::from(key)
    }

    /// Mask by which the keys of events at some time differ from their order.
    #[inline]
    fn mask(&self, time: Time) -> EventKey {
        (time.wrapping_mul(0x9E37_79B9_7F4A_7C15) >> 36) as EventKey & self.places
    }

    /// An event's place in the order of its bucket.
    #[inline]
    fn rank(&self, event: u64) -> u64 {
        let time = (self.now << self.shift) + (event >> 32);
        event ^ u64::from(self.mask(time))
    }

    /// Into the bucket that is being emptied, or the far future.
    #[cold]
    #[inline(never)]
    fn push_rarely(&mut self, time: Time, key: EventKey) {
        let bucket = time >> self.shift;
        if bucket == self.now {
            if let Some(next) = self.moment.time()
                && time <= next
            {
                if time == next && self.moment.add(key) {
                    return;
                }
                self.leave_moment();
            }
            let event = self.pack(time, key);
            let place = self.place_of(self.rank(event));
            self.current.insert(place, event);
            self.taken = self.taken.saturating_add(1);
        } else {
            debug_assert!(bucket > self.now, "an event in the past");
            self.far.push(time, key);
        }
    }

    /// Number of events of the current bucket that are due after one of rank `rank`.
    /// Events pushed into that bucket are mostly due soon, so the search begins at its end; but
    /// there may be thousands before them (routers that work in time steps), so it takes longer and
    /// longer steps.
    #[inline]
    fn place_of(&self, rank: u64) -> usize {
        let (len, is_later) = (self.current.len(), |&other: &u64| self.rank(other) > rank);
        let mut reach = 1;
        while reach < len && !is_later(&self.current[len - reach]) {
            reach *= 2;
        }
        let from = len.saturating_sub(reach);
        from + self.current[from..].partition_point(is_later)
    }

    /// Goes on with the rest of a moment as with any other events.
    fn leave_moment(&mut self) {
        let later = self.current.len();
        while let Some(time) = self.moment.time() {
            let key = self.moment.take();
            let event = self.pack(time, key);
            self.current.push(event);
        }
        self.current[later..].reverse();
    }

    #[inline]
    fn push_near(&mut self, bucket: u64, event: u64) {
        let slot = bucket as usize & (BUCKETS - 1);
        let head = self.buckets[slot];
        if head != NONE {
            let chunk = &mut self.chunks[head as usize];
            if (chunk.used as usize) < CHUNK {
                chunk.events[chunk.used as usize] = event;
                chunk.used += 1;
                return;
            }
        }
        self.add_chunk(slot, head, event);
    }

    #[cold]
    #[inline(never)]
    fn add_chunk(&mut self, slot: usize, next: u32, event: u64) {
        let at = self.free;
        if at == NONE {
            assert!(
                self.chunks.len() < NONE as usize,
                "2³² pieces of the event queue"
            );
            self.buckets[slot] = self.chunks.len() as u32;
            let mut events = [0; CHUNK];
            events[0] = event;
            self.chunks.push(Chunk {
                events,
                used: 1,
                next,
            });
        } else {
            let chunk = &mut self.chunks[at as usize];
            self.free = chunk.next;
            chunk.events[0] = event;
            chunk.used = 1;
            chunk.next = next;
            self.buckets[slot] = at;
        }
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
        if let Some(time) = self.moment.time() {
            return time;
        }
        if let Some(&event) = self.current.last() {
            return (self.now << self.shift) + (event >> 32);
        }
        let near = self.next_bucket().map_or(NEVER, |bucket| {
            let first = self.events_of(bucket).min().map_or(0, |event| event >> 32);
            (bucket << self.shift) + first
        });
        near.min(self.far.first())
    }

    /// All events that have not been taken, in no order.
    pub fn pending(&self) -> Vec<(Time, EventKey)> {
        let start = self.passed();
        let current = self.current.iter();
        let current = current.map(|&event| (start + (event >> 32), event as EventKey));
        let first = self.now + 1;
        let near = (first..first + BUCKETS as u64 - 1).flat_map(|bucket| {
            let start = bucket << self.shift;
            let events = self.events_of(bucket);
            events.map(move |event| (start + (event >> 32), event as EventKey))
        });
        let all = current.chain(near).chain(self.far.events());
        all.chain(self.moment.events()).collect()
    }

    fn events_of(&self, bucket: u64) -> impl Iterator<Item = u64> + '_ {
        let first = self.buckets[bucket as usize & (BUCKETS - 1)];
        let chunks = std::iter::successors(self.chunks.get(first as usize), |chunk| {
            self.chunks.get(chunk.next as usize)
        });
        chunks.flat_map(|chunk| chunk.events[..chunk.used as usize].iter().copied())
    }

    /// A time that lies not after the event taken last, nor long before it.
    #[inline]
    pub fn passed(&self) -> Time {
        self.now << self.shift
    }

    /// The key of the event that is `nth` after the next one, if that is about to come.
    #[inline]
    pub fn upcoming(&self, nth: usize) -> Option<EventKey> {
        let place = self.current.len().checked_sub(nth + 1)?;
        self.current.get(place).map(|&event| event as EventKey)
    }

    /// True if [`EventQueue::upcoming`] has new answers for all events since the last call.
    #[inline]
    pub fn has_begun(&mut self) -> bool {
        std::mem::take(&mut self.begun)
    }

    /// Takes the next event if it lies before `limit`.
    #[inline]
    pub fn pop_before(&mut self, limit: Time) -> Option<(Time, EventKey)> {
        loop {
            if let Some(next) = self.moment.take_before(limit) {
                return Some(next);
            }
            if self.moment.time().is_some() {
                return None;
            }
            if let Some(&event) = self.current.last() {
                let time = (self.now << self.shift) + (event >> 32);
                if time >= limit {
                    return None;
                }
                self.current.pop();
                return Some((time, event as u32));
            }
            if !self.load(limit) {
                return None;
            }
        }
    }

    /// Makes the next occupied bucket the current one, if it begins before `limit`.
    fn load(&mut self, limit: Time) -> bool {
        if self.emptied >= PERIOD || self.taken > PERIOD * MANY {
            self.fit();
            if !self.current.is_empty() {
                return true;
            }
        }
        let near = self.next_bucket();
        let far = self.far.first();
        let far = (far != NEVER).then_some(far >> self.shift);
        let Some(bucket) = near.into_iter().chain(far).min() else {
            return false;
        };
        if bucket << self.shift >= limit {
            return false;
        }
        self.empty(bucket);
        self.bring_near();
        self.begun = true;
        self.emptied += 1;
        self.taken = self.taken.saturating_add(self.current.len() as u32);
        self.order();
        true
    }

    /// Makes a bucket the current one, and puts its events, in no order, into `current`.
    #[inline(always)]
    fn empty(&mut self, bucket: u64) {
        self.now = bucket;
        let slot = bucket as usize & (BUCKETS - 1);
        let mut at = std::mem::replace(&mut self.buckets[slot], NONE);
        self.occupied[slot >> 6] &= !(1 << (slot & 63));
        while at != NONE {
            let chunk = &mut self.chunks[at as usize];
            // A whole chunk is copied faster than a part of it.
            let len = self.current.len() + chunk.used as usize;
            self.current.extend_from_slice(&chunk.events);
            self.current.truncate(len);
            let next = std::mem::replace(&mut chunk.next, self.free);
            self.free = at;
            at = next;
        }
    }

    /// Makes buckets longer or shorter if the emptied ones held too few events or too many.
    /// The order of events does not depend on that.
    #[cold]
    fn fit(&mut self) {
        let mean = self.taken / self.emptied.max(1);
        (self.emptied, self.taken) = (0, 0);
        let longest = LONGEST.min(self.least + DOUBLINGS);
        let shift = match mean {
            0..FEW => longest.min(self.shift + 1),
            FEW..=MANY => self.shift,
            // Soon, since to put an event into a bucket that is being emptied takes time in
            // proportion to those before it.
            _ => self
                .least
                .max(self.shift.saturating_sub((mean / MANY).ilog2() + 1)),
        };
        if shift != self.shift {
            self.rebuild(shift);
        }
    }

    /// Goes on with buckets of another length. The bucket that was emptied last must be empty;
    /// events that have become part of it are in `current` then.
    fn rebuild(&mut self, shift: u32) {
        let passed = self.passed();
        let mut events = Vec::new();
        while let Some(bucket) = self.next_bucket() {
            self.empty(bucket);
            let start = self.passed();
            let here = self.current.drain(..);
            events.extend(here.map(|event| (start + (event >> 32), event as EventKey)));
        }
        self.now = passed >> shift;
        self.shift = shift;
        for (time, key) in events {
            self.push(time, key);
        }
    }

    /// Puts the events of the bucket that is to be emptied in order.
    fn order(&mut self) {
        if self.moment.is_for(self.current.len()) {
            let first = self.current[0];
            let apart = self.current.iter().map(|event| event ^ first);
            if apart.fold(0, |all, bits| all | bits) >> 32 == 0 {
                let time = (self.now << self.shift) + (first >> 32);
                let mask = self.mask(time);
                let ranks = self.current.iter().map(|&event| event as EventKey ^ mask);
                if self.moment.fill(time, mask, ranks) {
                    self.current.clear();
                    return;
                }
            }
        }
        let mut current = std::mem::take(&mut self.current);
        current
            .iter_mut()
            .for_each(|event| *event = self.rank(*event));
        current.sort_unstable_by(|a, b| b.cmp(a));
        // An event is the rank of its rank: the mask depends on the time only, which a rank keeps.
        current
            .iter_mut()
            .for_each(|event| *event = self.rank(*event));
        self.current = current;
    }

    /// Moves far events that the wheel covers by now into it.
    fn bring_near(&mut self) {
        // At most 2⁴⁴ beyond a time that is reached.
        let end = (self.now + BUCKETS as u64) << self.shift;
        while let Some(events) = self.far.take_until(end) {
            for (time, key) in events {
                let event = self.pack(time, key);
                let bucket = time >> self.shift;
                if bucket == self.now {
                    self.current.push(event);
                } else {
                    self.push_near(bucket, event);
                }
            }
        }
    }

    /// Bytes of memory held.
    pub fn memory_bytes(&self) -> usize {
        self.chunks.capacity() * size_of::<Chunk>()
            + self.current.capacity() * 8
            + self.buckets.len() * 4
            + self.occupied.len() * 8
            + self.far.memory_bytes()
            + self.moment.memory_bytes()
    }
}

#[cfg(test)]
mod tests;
