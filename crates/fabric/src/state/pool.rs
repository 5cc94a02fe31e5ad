//! The packets of a domain, and lists of them.

use serde::{Deserialize, Serialize};
use weir_model::{NO_PACKET, Origin, Packet, PacketIndex};
use weir_slots::{Slots, lines, prefetch, prefetch_list};

/// Two packets to a cache line.
#[derive(Clone, Copy, Debug, Serialize, Deserialize)]
#[repr(C, align(32))]
struct Near(Packet);

/// A cache line each.
#[derive(Clone, Copy, Debug, Serialize, Deserialize)]
#[repr(C, align(64))]
struct Far(Origin);

/// The packets of one domain. Freed places are used again, latest first.
#[derive(Debug, Default, Serialize, Deserialize)]
pub struct Pool {
    packets: Slots<Near>,
    origins: Slots<Far>,
    /// The next packet in the list that a packet is in.
    /// It is kept apart from the packets, so that walking a list stays in a small part of the cache
    /// and does not touch cold packets.
    next: Slots<PacketIndex>,
    free: Vec<PacketIndex>,
    /// The scheme's own words of each packet, one after another; empty if it has none.
    headers: Vec<u64>,
    /// Words of a header.
    header_words: usize,
    /// The header of a packet that has just arrived or is being made.
    held: Box<[u64]>,
    /// Flits of its longest packet up to now.
    longest: u16,
}

impl Pool {
    /// An empty pool for packets with headers of `header_words` words.
    pub fn new(header_words: usize) -> Self {
        Pool {
            header_words,
            held: vec![0; header_words].into(),
            ..Pool::default()
        }
    }

    /// Words of a header.
    pub fn header_words(&self) -> usize {
        self.header_words
    }

    /// The place of a packet's header; an empty one if there are no headers, or no packet
    /// ([`NO_PACKET`]).
    fn header(&self, index: PacketIndex) -> std::ops::Range<usize> {
        if self.header_words == 0 || index == NO_PACKET {
            return 0..0;
        }
        let begin = index as usize * self.header_words;
        begin..begin + self.header_words
    }

    /// The header of a packet.
    #[inline]
    pub fn header_mut(&mut self, index: PacketIndex) -> &mut [u64] {
        let place = self.header(index);
        &mut self.headers[place]
    }

    /// Keeps the header of a packet that is about to be removed; of none ([`NO_PACKET`]): an empty
    /// one.
    #[inline]
    pub fn hold_header(&mut self, index: PacketIndex) {
        if self.header_words > 0 {
            let place = self.header(index);
            self.held.fill(0);
            if !place.is_empty() {
                self.held.copy_from_slice(&self.headers[place]);
            }
        }
    }

    /// The header that is kept.
    pub fn held_header(&mut self) -> &mut [u64] {
        &mut self.held
    }

    /// Gives a packet the header that is kept.
    #[inline]
    pub fn give_header(&mut self, index: PacketIndex) {
        if self.header_words > 0 {
            let place = self.header(index);
            self.headers[place].copy_from_slice(&self.held);
        }
    }

    /// Takes a packet in; its header is empty.
    /// Always inline: most callers have just made the packet, and reading in large pieces what was
    /// written in small ones is slow.
    #[inline(always)]
    pub fn insert(&mut self, packet: Packet, origin: Origin) -> PacketIndex {
        self.longest = self.longest.max(packet.flits);
        match self.free.pop() {
            Some(index) => {
                self.packets[index as usize] = Near(packet);
                self.origins[index as usize] = Far(origin);
                if self.header_words > 0 {
                    self.header_mut(index).fill(0);
                }
                index
            }
            None => self.grow(packet, origin),
        }
    }

    /// Takes a packet in if no place is free.
    #[cold]
    #[inline(never)]
    fn grow(&mut self, packet: Packet, origin: Origin) -> PacketIndex {
        assert!(
            self.packets.len() < NO_PACKET as usize,
            "2³² packets in one domain"
        );
        self.packets.push(Near(packet));
        self.origins.push(Far(origin));
        self.next.push(NO_PACKET);
        self.headers
            .resize(self.headers.len() + self.header_words, 0);
        (self.packets.len() - 1) as PacketIndex
    }

    /// Flits of its longest packet up to now; 0 if it had none.
    #[inline]
    pub fn longest(&self) -> u16 {
        self.longest
    }

    /// Lets a packet go.
    #[inline]
    pub fn remove(&mut self, index: PacketIndex) {
        self.free.push(index);
    }

    /// True if a pool that was read from a file names no place that it does not have.
    pub fn is_sound(&self) -> bool {
        let count = self.packets.len();
        let known = |index: &PacketIndex| (*index as usize) < count;
        let flits = |near: &Near| near.0.flits;
        self.origins.len() == count
            && self.packets.iter().map(flits).max() <= Some(self.longest)
            && self.next.len() == count
            && self.headers.len() == count * self.header_words
            && self.held.len() == self.header_words
            && self.free.iter().all(known)
            && self
                .next
                .iter()
                .all(|next| *next == NO_PACKET || known(next))
    }

    /// The packets of a list that was read from a file; None if it leads out of the pool or round
    /// in a circle. `left`: the packets that are in no other list, which become fewer.
    pub fn listed(&self, list: Fifo, left: &mut usize) -> Option<Vec<(&Packet, &Origin)>> {
        let mut found = Vec::new();
        let mut at = list.head;
        while at != NO_PACKET {
            *left = left.checked_sub(1)?;
            let packet = &self.packets.get(at as usize)?.0;
            found.push((packet, self.origin(at)));
            if self.next[at as usize] == NO_PACKET && at != list.tail {
                return None;
            }
            at = self.next[at as usize];
        }
        Some(found)
    }

    /// The packets held, with their origins.
    pub fn packets(&self) -> impl Iterator<Item = (&Packet, &Origin)> {
        let mut held = vec![true; self.packets.len()];
        for &index in &self.free {
            held[index as usize] = false;
        }
        let all = self.packets.iter().zip(self.origins.iter());
        all.zip(held)
            .filter_map(|((packet, origin), held)| held.then_some((&packet.0, &origin.0)))
    }

    /// Number of packets held.
    pub fn len(&self) -> usize {
        self.packets.len() - self.free.len()
    }

    /// The part that every hop touches.
    #[inline]
    pub fn get(&self, index: PacketIndex) -> &Packet {
        &self.packets[index as usize].0
    }

    /// The same, to change.
    #[inline]
    pub fn get_mut(&mut self, index: PacketIndex) -> &mut Packet {
        &mut self.packets[index as usize].0
    }

    /// The part that only the ends touch.
    #[inline]
    pub fn origin(&self, index: PacketIndex) -> &Origin {
        &self.origins[index as usize].0
    }

    /// The same, to change.
    #[inline]
    pub fn origin_mut(&mut self, index: PacketIndex) -> &mut Origin {
        &mut self.origins[index as usize].0
    }

    /// Both parts, the first to change.
    #[inline]
    pub fn both(&mut self, index: PacketIndex) -> (&mut Packet, &Origin) {
        let at = index as usize;
        (&mut self.packets[at].0, &self.origins[at].0)
    }

    /// Begins to fetch all of a packet into the cache, with its place in a list.
    /// Does nothing for [`NO_PACKET`].
    #[inline]
    pub fn fetch_all(&self, index: PacketIndex) {
        if index != NO_PACKET {
            self.fetch(index);
            self.fetch_origin(index);
            prefetch(&self.next[index as usize]);
        }
    }

    /// Begins to fetch the part of a packet that every hop touches into the cache.
    /// Does nothing for [`NO_PACKET`].
    #[inline(always)]
    pub fn fetch(&self, index: PacketIndex) {
        if index != NO_PACKET {
            prefetch(&self.packets[index as usize]);
        }
    }

    /// The same of the part that only the ends touch.
    #[inline(always)]
    pub fn fetch_origin(&self, index: PacketIndex) {
        if index != NO_PACKET {
            prefetch(&self.origins[index as usize]);
        }
    }

    /// Lines of the cache that [`Pool::fetch_near`] fetches.
    pub fn lines_near(&self) -> u64 {
        lines(&self.packets) + lines(&self.next)
    }

    /// Begins to fetch the part that every hop touches, of all packets.
    pub fn fetch_near(&self) {
        prefetch_list(&self.packets);
        prefetch_list(&self.next);
    }

    /// The packet after one in its list; [`NO_PACKET`] if that is the last.
    #[inline]
    pub fn after(&self, index: PacketIndex) -> PacketIndex {
        self.next[index as usize]
    }

    /// Bytes of memory held.
    pub fn memory_bytes(&self) -> usize {
        self.packets.capacity() * size_of::<Near>()
            + self.origins.capacity() * size_of::<Far>()
            + self.headers.capacity() * size_of::<u64>()
            + (self.next.capacity() + self.free.capacity()) * size_of::<PacketIndex>()
    }
}

/// A first-in first-out list of packets, linked through the pool.
#[derive(Clone, Copy, Debug, Serialize, Deserialize)]
pub struct Fifo {
    /// First out; [`NO_PACKET`] if empty.
    pub head: PacketIndex,
    tail: PacketIndex,
}

impl Fifo {
    /// Nothing in it.
    pub const EMPTY: Fifo = Fifo {
        head: NO_PACKET,
        tail: NO_PACKET,
    };

    /// True if nothing is in it.
    #[inline]
    pub fn is_empty(&self) -> bool {
        self.head == NO_PACKET
    }

    /// The one packet, which stays in the list that it is in.
    pub fn of(index: PacketIndex) -> Fifo {
        Fifo {
            head: index,
            tail: index,
        }
    }

    /// Appends a packet.
    #[inline]
    pub fn push(&mut self, pool: &mut Pool, index: PacketIndex) {
        pool.next[index as usize] = NO_PACKET;
        if self.is_empty() {
            self.head = index;
        } else {
            pool.next[self.tail as usize] = index;
        }
        self.tail = index;
    }

    /// Takes out the packet after `before`, which is in the list; the first one if that is
    /// [`NO_PACKET`].
    pub fn take_after(&mut self, before: PacketIndex, pool: &mut Pool) {
        if before == NO_PACKET {
            self.pop(pool);
            return;
        }
        let taken = pool.after(before);
        pool.next[before as usize] = pool.after(taken);
        if self.tail == taken {
            self.tail = before;
        }
    }

    /// Takes the first packet.
    #[inline]
    pub fn pop(&mut self, pool: &Pool) -> Option<PacketIndex> {
        let index = self.head;
        if index == NO_PACKET {
            return None;
        }
        self.head = pool.after(index);
        Some(index)
    }
}
