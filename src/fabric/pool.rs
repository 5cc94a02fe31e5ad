use crate::model::{NO_PACKET, Origin, Packet, PacketIndex, Slots};

/// The packets of one domain. Freed places are used again, latest first.
#[derive(Debug, Default)]
pub struct Pool {
    packets: Slots<Packet>,
    origins: Slots<Origin>,
    /// The next packet of whatever list a packet is in. Apart from the packets: lists go on in a part of the cache that is
    /// small, not at packets that nothing has touched for a while.
    next: Slots<PacketIndex>,
    free: Vec<PacketIndex>,
}

impl Pool {
    /// Takes a packet in.
    #[inline]
    pub fn insert(&mut self, packet: Packet, origin: Origin) -> PacketIndex {
        match self.free.pop() {
            Some(index) => {
                self.packets[index as usize] = packet;
                self.origins[index as usize] = origin;
                index
            }
            None => {
                assert!(
                    self.packets.len() < NO_PACKET as usize,
                    "2³² packets in one domain"
                );
                self.packets.push(packet);
                self.origins.push(origin);
                self.next.push(NO_PACKET);
                (self.packets.len() - 1) as PacketIndex
            }
        }
    }

    /// Lets a packet go.
    #[inline]
    pub fn remove(&mut self, index: PacketIndex) {
        self.free.push(index);
    }

    /// The packets held, with their origins.
    pub fn packets(&self) -> impl Iterator<Item = (&Packet, &Origin)> {
        let mut held = vec![true; self.packets.len()];
        for &index in &self.free {
            held[index as usize] = false;
        }
        let all = self.packets.iter().zip(self.origins.iter());
        all.zip(held)
            .filter_map(|(packet, held)| held.then_some(packet))
    }

    /// Number of packets held.
    pub fn len(&self) -> usize {
        self.packets.len() - self.free.len()
    }

    /// The part that every hop touches.
    #[inline]
    pub fn get(&self, index: PacketIndex) -> &Packet {
        &self.packets[index as usize]
    }

    /// The same, to change.
    #[inline]
    pub fn get_mut(&mut self, index: PacketIndex) -> &mut Packet {
        &mut self.packets[index as usize]
    }

    /// The part that only the ends touch.
    #[inline]
    pub fn origin(&self, index: PacketIndex) -> &Origin {
        &self.origins[index as usize]
    }

    /// The same, to change.
    #[inline]
    pub fn origin_mut(&mut self, index: PacketIndex) -> &mut Origin {
        &mut self.origins[index as usize]
    }

    /// The packet after one in its list; [`NO_PACKET`] if that is the last.
    #[inline]
    pub fn after(&self, index: PacketIndex) -> PacketIndex {
        self.next[index as usize]
    }

    /// Bytes of memory held.
    pub fn memory_bytes(&self) -> usize {
        self.packets.capacity() * size_of::<Packet>()
            + self.origins.capacity() * size_of::<Origin>()
            + (self.next.capacity() + self.free.capacity()) * size_of::<PacketIndex>()
    }
}

/// A first-in first-out list of packets, linked through the pool.
#[derive(Clone, Copy, Debug)]
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
