//! Queues of ports with more queues than a word has bits. Only queues that packets have used exist,
//! so that a queue for every endpoint of the network costs no memory where it is not needed.

use serde::{Deserialize, Serialize};
use std::ops::Range;

use rustc_hash::FxHashMap;

use crate::state::pool::Fifo;
use crate::state::ports::credit::Credit;
use crate::state::{Channel, HeadQueue, InIndex, Output};
use weir_model::{NEVER, Time};
use weir_slots::Slots;

/// Ports with more queues than that, over all classes, are wide ports.
pub const MOST_BITS: u32 = u64::BITS;

/// From here on [`crate::state::Output::channel_base`] is the place of a wide port.
pub const WIDE: u32 = 1 << 31;

/// The queues of one output that has many.
#[derive(Debug, Serialize, Deserialize)]
pub struct WidePort {
    /// The channels of queues that have been used.
    channels: FxHashMap<u16, u32>,
    /// Queues whose output queue is not empty, ascending.
    ready: Vec<u16>,
    /// By class: the credits of all its queues that are taken.
    lent: Box<[Lent]>,
    /// Queues of one class.
    queues: u32,
    /// Flits of one buffer behind the link.
    capacity: u32,
    /// True if the queues of a class share a buffer.
    shared: bool,
}

/// Credits in use by many queues together, to tell how full the port is.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct Lent {
    /// Flits, without those below.
    flits: u64,
    /// Credits that have come back.
    back: Credit,
}

impl Default for Lent {
    fn default() -> Self {
        Lent {
            flits: 0,
            back: Credit::new(0),
        }
    }
}

impl Lent {
    /// Takes credits.
    pub fn lend(&mut self, flits: u32) {
        self.flits += u64::from(flits);
    }

    /// Gives credits back, as [`Credit::give`] does.
    pub fn give(&mut self, time: Time, flits: u32, now: Time) {
        self.back.give(time, flits, now);
        if self.back.available > u32::MAX / 2 {
            self.settle();
        }
    }

    /// Flits for which credits are taken at a time.
    pub fn taken(&mut self, now: Time) -> u64 {
        self.back.collect(now);
        self.settle();
        self.flits
    }

    fn settle(&mut self) {
        self.flits -= u64::from(std::mem::take(&mut self.back.available));
    }
}

/// The wide ports of a domain.
#[derive(Debug, Default, Serialize, Deserialize)]
pub struct WidePorts(Slots<WidePort>);

impl WidePorts {
    /// Adds a port with `queues` of each class, and returns its
    /// [`crate::state::Output::channel_base`].
    pub fn add(&mut self, queues: u32, classes: u8, capacity: u32, shared: bool) -> u32 {
        self.0.push(WidePort {
            channels: FxHashMap::default(),
            ready: Vec::new(),
            lent: vec![Lent::default(); usize::from(classes)].into(),
            queues,
            capacity,
            shared,
        });
        WIDE + (self.0.len() - 1) as u32
    }

    pub fn of(&self, base: u32) -> &WidePort {
        &self.0[(base - WIDE) as usize]
    }

    pub fn of_mut(&mut self, base: u32) -> &mut WidePort {
        &mut self.0[(base - WIDE) as usize]
    }

    /// The place of a queue's channel, from its port's [`crate::state::Output::channel_base`].
    #[inline(always)]
    pub fn channel(&mut self, base: u32, queue: u16, channels: &mut Slots<Channel>) -> usize {
        if base < WIDE {
            return base as usize + usize::from(queue);
        }
        self.of_mut(base).channel(queue, channels)
    }

    /// True if wide ports that were read from a file belong to the same ports as `fresh` ones, and
    /// name only channels that exist.
    pub fn fit(&self, fresh: &WidePorts, channels: usize) -> bool {
        let pairs = self.0.iter().zip(fresh.0.iter());
        self.0.len() == fresh.0.len()
            && pairs.into_iter().all(|(own, fresh)| {
                let queues = own.queues * own.lent.len() as u32;
                let is_one = |queue: u16| u32::from(queue) < queues;
                (own.queues, own.capacity, own.shared, own.lent.len())
                    == (fresh.queues, fresh.capacity, fresh.shared, fresh.lent.len())
                    && own
                        .channels
                        .iter()
                        .all(|(&queue, &at)| is_one(queue) && (at as usize) < channels)
                    && own
                        .ready
                        .iter()
                        .all(|queue| own.channels.contains_key(queue))
            })
    }

    /// The credits of a class that are taken.
    pub fn lent(&mut self, base: u32, class: u8) -> &mut Lent {
        &mut self.of_mut(base).lent[usize::from(class)]
    }

    /// Time when the first credit of any class comes after `now`, as far as is known.
    pub fn next_credit(&mut self, base: u32, now: Time) -> Time {
        let classes = self.of_mut(base).lent.iter_mut();
        let next = classes.map(|lent| lent.back.next_after(now)).min();
        next.unwrap_or(NEVER)
    }

    /// Flits in the output queues of some classes of an output.
    pub fn queued(&self, out: &Output, classes: Range<u8>, channels: &Slots<Channel>) -> u32 {
        let wide_port = self.of(out.channel_base);
        let first = out.queues * u32::from(classes.start);
        let queues = first..out.queues * u32::from(classes.end);
        let ready = wide_port.ready.iter();
        let ready = ready.filter(|&&queue| queues.contains(&queue.into()));
        ready
            .map(|queue| channels[wide_port.channels[queue] as usize].flits)
            .sum()
    }

    /// Bytes of memory held, apart from credits on their way.
    pub fn memory_bytes(&self) -> usize {
        let lists = self.0.iter().map(|wide_port| {
            wide_port.channels.capacity() * 9
                + wide_port.ready.capacity() * 2
                + wide_port.lent.len() * size_of::<Lent>()
        });
        self.0.capacity() * size_of::<WidePort>() + lists.sum::<usize>()
    }

    /// Bytes of memory held for credits on their way.
    pub fn credit_bytes(&self) -> usize {
        let lent = self.0.iter().flat_map(|wide_port| &wide_port.lent);
        lent.map(|lent| lent.back.memory_bytes()).sum()
    }

    /// Bytes that a wide port takes before its queues are used.
    pub fn bytes(classes: u64) -> u64 {
        size_of::<WidePort>() as u64 + classes * size_of::<Lent>() as u64
    }
}

impl WidePort {
    /// The channel of a queue that has been used; None if it has not.
    pub fn used(&self, queue: u16) -> Option<usize> {
        self.channels.get(&queue).map(|&at| at as usize)
    }

    /// The queues that have been used, ascending, with their channels.
    pub fn all_used(&self) -> Vec<(u16, usize)> {
        let used = self.channels.iter();
        let mut used: Vec<_> = used.map(|(&queue, &at)| (queue, at as usize)).collect();
        used.sort_unstable();
        used
    }

    /// Takes note of whether an output queue has something in it.
    pub fn set_ready(&mut self, queue: u16, ready: bool) {
        match (self.ready.binary_search(&queue), ready) {
            (Err(place), true) => self.ready.insert(place, queue),
            (Ok(place), false) => drop(self.ready.remove(place)),
            _ => {}
        }
    }

    /// The first output queue from `from` on that is not empty.
    pub fn next_ready(&self, from: u32) -> Option<u16> {
        let place = self.ready.partition_point(|&queue| u32::from(queue) < from);
        self.ready.get(place).copied()
    }

    /// The place of a queue's channel, which is made if it is not there.
    fn channel(&mut self, queue: u16, channels: &mut Slots<Channel>) -> usize {
        if let Some(&at) = self.channels.get(&queue) {
            return at as usize;
        }
        let first = match self.shared {
            true => queue - (u32::from(queue) % self.queues) as u16,
            false => queue,
        };
        // The channel that holds the credits comes first.
        let home = (first != queue).then(|| self.channel(first, channels));
        let at = channels.len();
        assert!(at < WIDE as usize, "2³¹ queues in one domain");
        channels.push(Channel::new(
            if home.is_none() { self.capacity } else { 0 },
            home.map_or(0, |home| (at - home) as u32),
        ));
        self.channels.insert(queue, at as u32);
        at
    }
}

/// The queues of inputs without virtual output queues.
#[derive(Debug, Default, Serialize, Deserialize)]
pub struct HeadQueues {
    few: Slots<HeadQueue>,
    /// Queues of wide ports: by input and queue, from the first packet on.
    many: FxHashMap<(InIndex, u16), HeadQueue>,
}

impl HeadQueues {
    /// Adds the queues of an input, and returns its [`crate::state::Input::queue_base`].
    pub fn add(&mut self, queues: u32) -> u32 {
        if queues > MOST_BITS {
            return WIDE;
        }
        let base = self.few.len() as u32;
        self.few
            .extend(std::iter::repeat_n(HeadQueue::EMPTY, queues as usize));
        base
    }

    /// True if queues that were read from a file have the number of `fresh` ones.
    pub fn fit(&self, fresh: &HeadQueues) -> bool {
        self.few.len() == fresh.few.len()
    }

    /// The packets behind the first of each queue.
    pub fn lists(&self) -> impl Iterator<Item = Fifo> {
        let few = self.few.iter();
        few.chain(self.many.values()).map(|queue| queue.behind)
    }

    /// The same with the input of each. `bases`: those of all inputs, in their order.
    pub fn lists_by_input(
        &self,
        bases: impl Iterator<Item = u32>,
    ) -> impl Iterator<Item = (InIndex, Fifo)> {
        let narrow = (0..).zip(bases).filter(|&(_, base)| base < WIDE);
        let (mut narrow, mut own) = (narrow.peekable(), 0);
        let few = self.few.iter().enumerate().map(move |(at, queue)| {
            while let Some((input, _)) = narrow.next_if(|&(_, base)| base as usize <= at) {
                own = input;
            }
            (own, queue.behind)
        });
        let many = self.many.iter();
        few.chain(many.map(|(&(input, _), queue)| (input, queue.behind)))
    }

    /// A queue of an input.
    #[inline]
    pub fn get(&mut self, base: u32, input: InIndex, queue: u16) -> &mut HeadQueue {
        if base < WIDE {
            return &mut self.few[base as usize + usize::from(queue)];
        }
        self.many.entry((input, queue)).or_insert(HeadQueue::EMPTY)
    }

    /// The packets of such a queue behind the first one; None if there are none.
    pub fn behind(&self, base: u32, input: InIndex, queue: u16) -> Option<Fifo> {
        let found = match base < WIDE {
            true => Some(&self.few[base as usize + usize::from(queue)]),
            false => self.many.get(&(input, queue)),
        };
        let behind = found.map(|queue| queue.behind);
        behind.filter(|behind| !behind.is_empty())
    }

    /// Bytes of memory held.
    pub fn memory_bytes(&self) -> usize {
        self.few.capacity() * size_of::<HeadQueue>()
            + self.many.capacity() * (size_of::<((InIndex, u16), HeadQueue)>() + 1)
    }
}
