//! The queue pairs of a domain's NICs, in the order of [`NicOrder`].

use super::pair_ring::{Message, NONE, PairRing};
use serde::{Deserialize, Serialize};
use std::ops::Range;

use crate::NicOrder;
use crate::state::ends::sends::groups::{Groups, UNKNOWN};
use crate::state::ends::sends::ring_order::{PLACE, RingOrder};
use weir_model::EndpointId;
use weir_slots::{Slots, prefetch};

/// Bytes of a message, of a queue pair, and of one whose first message waits for a given time.
pub const QUEUED_MESSAGE: usize = size_of::<Message>();
pub const QUEUE_PAIR: usize = size_of::<QueuePair>() + INDEXED + PLACE;
pub const PARKED_PAIR: usize = INDEXED;

/// A place in one of the tables of queue pairs.
const INDEXED: usize = 24;

/// Most queue pairs of a NIC that are searched one by one, which takes less time than an index.
const SEARCHED: u32 = 8;

/// A send queue of one job for one destination. Exists from its first message until it is empty.
#[derive(Clone, Copy, Debug, Serialize, Deserialize)]
pub struct QueuePair {
    /// Destination of its messages.
    pub destination: EndpointId,
    /// The job of its messages; 0 if all jobs share queue pairs.
    job: u16,
    /// The message that is being sent.
    pub first: u32,
    last: u32,
    /// The queue pair after it in its NIC's ring.
    pub next: u32,
    pub before: u32,
    /// Its place in the ring, if places are known.
    pub place: u64,
    /// Its group by possible injection queues, if that is known ([`Groups`]).
    pub group: u8,
}

/// A queue pair that is in no ring: the rest of its first message is sent at a set time.
#[derive(Clone, Copy, Debug, Serialize, Deserialize)]
struct Parked {
    pair: u32,
    /// Parts of the message that are not sent, in order.
    next: u32,
    end: u32,
}

/// The queue pairs and messages of a domain's NICs.
#[derive(Debug, Serialize, Deserialize)]
pub struct SendQueues {
    order: NicOrder,
    /// Bits of the message under way that grants wait for, with [`NicOrder::ClearsFirst`].
    pub(super) prepared: u64,
    /// True if all jobs of a NIC share its queue pairs, by destination.
    shared: bool,
    pub(super) pairs: Slots<QueuePair>,
    free_pairs: Vec<u32>,
    messages: Slots<Message>,
    free_messages: Vec<u32>,
    /// (NIC, destination, job) → queue pair, for NICs with many.
    index: rustc_hash::FxHashMap<(u32, EndpointId, u16), u32>,
    /// By NIC, destination and job, if queue pairs are shared by messages.
    parked: rustc_hash::FxHashMap<(u32, EndpointId, u16), Parked>,
    /// Queue pair of a grant behind a longer message → bits left of that when the grant goes.
    pub(super) interrupts: rustc_hash::FxHashMap<u32, u64>,
    pub(super) groups: Groups,
    pub(super) ring_order: RingOrder,
}

impl SendQueues {
    /// No queue pairs. `prepared`: bits of the message under way that grants wait for. `shared`:
    /// all jobs of a NIC share its queue pairs.
    pub fn new(order: NicOrder, prepared: u64, shared: bool) -> Self {
        SendQueues {
            order,
            prepared,
            shared,
            pairs: Slots::default(),
            free_pairs: Vec::new(),
            messages: Slots::default(),
            free_messages: Vec::new(),
            index: rustc_hash::FxHashMap::default(),
            parked: rustc_hash::FxHashMap::default(),
            interrupts: rustc_hash::FxHashMap::default(),
            groups: Groups::default(),
            ring_order: RingOrder::default(),
        }
    }

    /// True if the pairs and messages that it names exist, of a state that was read for these NICs.
    pub fn are_sound(&self, fresh: &SendQueues, nics: &[PairRing]) -> bool {
        let pair = |at: u32| at == NONE || (at as usize) < self.pairs.len();
        let message = |at: u32| at == NONE || (at as usize) < self.messages.len();
        let is_pair = |at: &u32| *at != NONE && pair(*at);
        let fits = |one: &QueuePair| {
            [one.first, one.last].into_iter().all(message) && pair(one.next) && pair(one.before)
        };
        let rules = |queues: &SendQueues| (queues.order, queues.prepared, queues.shared);
        rules(self) == rules(fresh)
            && nics.iter().all(|ring| pair(ring.turn))
            && self.pairs.iter().all(fits)
            && self.messages.iter().all(|one| message(one.next))
            && self.free_pairs.iter().all(is_pair)
            && self
                .free_messages
                .iter()
                .all(|&at| at != NONE && message(at))
            && self.index.values().all(is_pair)
            && self.parked.values().all(|parked| is_pair(&parked.pair))
            && self.interrupts.keys().all(is_pair)
            && self.ring_order.pairs().all(|at| is_pair(&at))
    }

    /// True if all queue pairs of a NIC may send, and not only the one whose turn it is.
    #[inline]
    pub fn all_may_send(&self) -> bool {
        !self.order.is_one_by_one()
    }

    /// Number of queue pairs of a NIC that may send, from the one whose turn it is.
    #[inline]
    pub fn candidates(&self, state: &PairRing) -> u32 {
        match self.all_may_send() {
            true => state.pairs,
            false => state.pairs.min(1),
        }
    }

    /// The job that identifies a queue pair.
    #[inline]
    fn key(&self, job: u16) -> u16 {
        if self.shared { 0 } else { job }
    }

    /// Adds a message to the queue pair of a NIC, its job and a destination, or with a separate
    /// queue pair: behind all others, or a grant before those of other messages. Returns the queue
    /// pair if the message is its first.
    pub fn add(
        &mut self,
        nic: u32,
        state: &mut PairRing,
        destination: EndpointId,
        message: Message,
    ) -> Option<u32> {
        let job = self.key(message.job);
        let at = keep(&mut self.messages, &mut self.free_messages, message);
        if self.order == NicOrder::Fair {
            let parked = || Some(self.parked.get(&(nic, destination, job))?.pair);
            if let Some(pair) = self.find_pair(nic, state, destination, job).or_else(parked) {
                let last = std::mem::replace(&mut self.pairs[pair as usize].last, at);
                self.messages[last as usize].next = at;
                return None;
            }
        }
        let pair = QueuePair {
            destination,
            job,
            first: at,
            last: at,
            next: NONE,
            before: NONE,
            place: 0,
            group: UNKNOWN,
        };
        let pair = keep(&mut self.pairs, &mut self.free_pairs, pair);
        if self.order == NicOrder::ClearsFirst && message.is_clear() {
            self.enter_grant(nic, state, pair);
        } else {
            self.enter(nic, state, pair);
        }
        Some(pair)
    }

    /// Puts a queue pair into the ring, before the one whose turn it is.
    pub(super) fn enter(&mut self, nic: u32, state: &mut PairRing, pair: u32) {
        self.enter_before(nic, state, pair, state.turn);
    }

    /// Puts a queue pair into the ring, before this one; as the only one if the ring is empty.
    pub(super) fn enter_before(&mut self, nic: u32, state: &mut PairRing, pair: u32, next: u32) {
        if state.turn == NONE {
            state.turn = pair;
            self.pairs[pair as usize].next = pair;
            self.pairs[pair as usize].before = pair;
        } else {
            let before = std::mem::replace(&mut self.pairs[next as usize].before, pair);
            self.pairs[before as usize].next = pair;
            self.pairs[pair as usize].next = next;
            self.pairs[pair as usize].before = before;
        }
        state.pairs += 1;
        if state.placed {
            self.place(nic, state, pair);
        }
        if state.indexed {
            let QueuePair {
                destination, job, ..
            } = self.pairs[pair as usize];
            self.index.insert((nic, destination, job), pair);
        } else if self.order == NicOrder::Fair && state.pairs > SEARCHED {
            self.index_all(nic, state);
        }
    }

    /// Takes a queue pair out of the ring.
    pub(super) fn leave(&mut self, nic: u32, state: &mut PairRing, at: u32) {
        self.leave_group(nic, state, at);
        let pair = self.pairs[at as usize];
        if state.indexed {
            self.index.remove(&(nic, pair.destination, pair.job));
        }
        if state.placed {
            self.ring_order.leave((nic, UNKNOWN), pair.place);
        }
        if !self.interrupts.is_empty() {
            self.interrupts.remove(&at);
        }
        state.pairs -= 1;
        state.indexed &= state.pairs > 0;
        state.placed &= state.pairs > 0;
        if pair.next == at {
            state.turn = NONE;
            return;
        }
        if state.turn == at {
            state.turn = pair.next;
        }
        self.pairs[pair.before as usize].next = pair.next;
        self.pairs[pair.next as usize].before = pair.before;
    }

    /// The queue pair of a job for a destination, if any: by search, or by the index among many.
    pub fn find_pair(
        &self,
        nic: u32,
        state: &PairRing,
        destination: EndpointId,
        job: u16,
    ) -> Option<u32> {
        let job = self.key(job);
        if state.indexed {
            return self.index.get(&(nic, destination, job)).copied();
        }
        self.search(state, |pair| {
            pair.destination == destination && pair.job == job
        })
    }

    /// The first queue pair of a NIC, from the one whose turn it is on, that is one of these.
    pub(super) fn search(&self, state: &PairRing, is: impl Fn(&QueuePair) -> bool) -> Option<u32> {
        let mut at = state.turn;
        for _ in 0..state.pairs {
            let pair = &self.pairs[at as usize];
            if is(pair) {
                return Some(at);
            }
            at = pair.next;
        }
        None
    }

    fn index_all(&mut self, nic: u32, state: &mut PairRing) {
        state.indexed = true;
        let mut at = state.turn;
        for _ in 0..state.pairs {
            let pair = &self.pairs[at as usize];
            self.index.insert((nic, pair.destination, pair.job), at);
            at = pair.next;
        }
    }

    /// Begins to fetch a queue pair, or none, into the cache.
    #[inline]
    pub fn prefetch(&self, at: u32) {
        if at != NONE {
            prefetch(&self.pairs[at as usize]);
        }
    }

    /// A queue pair by its place.
    #[inline]
    pub fn pair(&self, at: u32) -> &QueuePair {
        &self.pairs[at as usize]
    }

    /// A message by its place.
    #[inline]
    pub fn message(&self, at: u32) -> &Message {
        &self.messages[at as usize]
    }

    /// Takes `payload` bits of the first message of a queue pair; the turn passes to the next pair,
    /// unless messages go one by one. Returns the queue pair if another message is its first now.
    pub fn take(&mut self, nic: u32, state: &mut PairRing, at: u32, payload: u64) -> Option<u32> {
        let pair = self.pairs[at as usize];
        if self.all_may_send() {
            state.turn = pair.next;
        }
        let message = &mut self.messages[pair.first as usize];
        message.left -= payload;
        let (left, job) = (message.left, message.job);
        if left == 0 {
            if self.finish_first(at) {
                if self.shared && self.messages[self.pairs[at as usize].first as usize].job != job {
                    self.leave_group(nic, state, at);
                }
                return Some(at);
            }
            self.leave(nic, state, at);
        }
        self.interrupt(nic, state);
        None
    }

    /// Takes the rest of a message, `parts(message)`, out of the turns if it is the pair's first.
    /// The queue pair waits until it is sent separately ([`SendQueues::sent_withdrawn`]).
    pub fn withdraw(
        &mut self,
        nic: u32,
        state: &mut PairRing,
        destination: EndpointId,
        (job, number): (u16, u32),
        parts: impl Fn(&Message) -> Range<u32>,
    ) -> Range<u32> {
        let named = |pair: &QueuePair| {
            pair.destination == destination && self.message(pair.first).number == number
        };
        let at = match self.order {
            NicOrder::Fair => self.find_pair(nic, state, destination, job),
            _ => self.search(state, named),
        };
        let Some(at) = at.filter(|&at| named(self.pair(at))) else {
            return 0..0;
        };
        let first = self.pairs[at as usize].first;
        let parts = parts(self.message(first));
        self.leave(nic, state, at);
        if self.order == NicOrder::Fair {
            let (next, end) = (parts.start, parts.end);
            let parked = Parked {
                pair: at,
                next,
                end,
            };
            self.parked
                .insert((nic, destination, self.key(job)), parked);
        } else {
            self.finish_first(at);
            self.interrupt(nic, state);
        }
        parts
    }

    /// Notes that a part of a message is sent out of turn. The queue pair continues after the last
    /// withdrawn part. It is returned if another message is its first now.
    pub fn sent_withdrawn(
        &mut self,
        nic: u32,
        state: &mut PairRing,
        destination: EndpointId,
        (job, number, part): (u16, u32, u32),
    ) -> Option<u32> {
        let key = (nic, destination, self.key(job));
        let parked = self.parked.get_mut(&key)?;
        let pair = parked.pair;
        let first = self.pairs[pair as usize].first;
        // Parts before it were sent in turn, and got lost.
        if self.messages[first as usize].number != number || part < parked.next {
            return None;
        }
        parked.next += 1;
        if parked.next < parked.end {
            return None;
        }
        self.parked.remove(&key);
        if !self.finish_first(pair) {
            return None;
        }
        self.enter(nic, state, pair);
        Some(pair)
    }

    /// Forgets the first message of a queue pair, and the pair if that was its last, which no ring
    /// may know then. True if there is another.
    fn finish_first(&mut self, at: u32) -> bool {
        let first = self.pairs[at as usize].first;
        let next = self.messages[first as usize].next;
        self.free_messages.push(first);
        self.pairs[at as usize].first = next;
        if next == NONE {
            self.free_pairs.push(at);
        }
        next != NONE
    }

    /// Messages that are not wholly sent.
    pub fn messages_waiting(&self) -> usize {
        self.messages.len() - self.free_messages.len()
    }

    /// Bytes of memory held.
    pub fn memory_bytes(&self) -> usize {
        self.pairs.capacity() * size_of::<QueuePair>()
            + self.messages.capacity() * size_of::<Message>()
            + (self.free_pairs.capacity() + self.free_messages.capacity()) * 4
            + (self.index.capacity() + self.parked.capacity()) * INDEXED
            + self.interrupts.capacity() * size_of::<(u32, u64)>()
            + self.groups.memory_bytes()
            + self.ring_order.memory_bytes()
    }
}

/// Puts one into a free place, or a new one, and returns that.
#[inline]
fn keep<T>(all: &mut Slots<T>, free: &mut Vec<u32>, one: T) -> u32 {
    match free.pop() {
        Some(at) => {
            all[at as usize] = one;
            at
        }
        None => {
            assert!(all.len() < NONE as usize, "2³² in one domain");
            all.push(one);
            (all.len() - 1) as u32
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn post(queues: &mut SendQueues, ring: &mut PairRing, to: EndpointId, number: u32) -> bool {
        let message = Message::new(0, 9_600, number, 0, weir_model::Stamp::NONE);
        queues.add(0, ring, to, message).is_some()
    }

    #[test]
    fn a_queue_pair_goes_on_when_what_was_withdrawn_is_sent() {
        let (mut queues, mut ring) = (SendQueues::new(NicOrder::Fair, 0, false), PairRing::EMPTY);
        let rest = |_: &Message| 1..3;
        assert!(post(&mut queues, &mut ring, 7, 0));
        assert!(post(&mut queues, &mut ring, 8, 1));
        assert!(!post(&mut queues, &mut ring, 7, 2));
        assert_eq!(
            queues.withdraw(0, &mut ring, 7, (0, 2), rest),
            0..0,
            "not first"
        );
        assert_eq!(queues.withdraw(0, &mut ring, 7, (0, 0), rest), 1..3);
        assert_eq!(queues.withdraw(0, &mut ring, 7, (0, 0), rest), 0..0, "gone");
        // Only the other queue pair has turns.
        assert_eq!((ring.pairs, queues.pair(ring.turn).destination), (1, 8));
        assert!(!post(&mut queues, &mut ring, 7, 3));
        assert_eq!(queues.messages_waiting(), 4);
        let mut sent = |message, part| queues.sent_withdrawn(0, &mut ring, 7, (0, message, part));
        // A part that got lost, one of another message, and one of two do not count.
        assert_eq!((sent(0, 0), sent(2, 1), sent(0, 1)), (None, None, None));
        let pair = sent(0, 2).expect("the next message is first");
        assert_eq!(queues.message(queues.pair(pair).first).number, 2);
        assert_eq!((ring.pairs, queues.messages_waiting()), (2, 3));
        assert_eq!(queues.take(0, &mut ring, pair, 9_600), Some(pair));
        assert_eq!(queues.take(0, &mut ring, pair, 9_600), None);
        assert_eq!((ring.pairs, queues.messages_waiting()), (1, 1));
    }
}
