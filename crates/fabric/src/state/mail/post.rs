//! The mail that one domain sends to another in one window.

use bytemuck::{Pod, Zeroable};
use serde::{Deserialize, Serialize};

use crate::state::{InIndex, OutIndex};
use weir_engine::Mail;
use weir_model::{NEVER, Origin, Packet, Signal, Time};
use weir_slots::prefetch;

/// A packet that crosses into another domain: its head will be at an input there at `packet.head`.
#[derive(Clone, Copy, Debug, Pod, Zeroable, Serialize, Deserialize)]
#[repr(C)]
pub struct PacketMail {
    pub packet: Packet,
    pub origin: Origin,
    pub input: InIndex,
    pub spare: u32,
}

/// A credit that goes back into another domain.
#[derive(Clone, Copy, Debug, Pod, Zeroable)]
#[repr(C)]
pub struct CreditMail {
    pub time: Time,
    pub output: OutIndex,
    pub flits: u16,
    pub queue: u16,
}

/// Mail from one domain to another in one window.
#[derive(Debug)]
#[repr(C)]
pub struct Post {
    /// The earliest time of all of them; [`NEVER`] if there is nothing in it.
    earliest: Time,
    pub packets: Vec<PacketMail>,
    pub credits: Vec<CreditMail>,
    /// The headers of the packets, one after another; empty if the scheme has none.
    pub headers: Vec<u64>,
    /// For endpoints there, out of band.
    pub signals: Vec<Signal>,
}

impl Default for Post {
    fn default() -> Self {
        Post {
            packets: Vec::new(),
            credits: Vec::new(),
            headers: Vec::new(),
            signals: Vec::new(),
            earliest: NEVER,
        }
    }
}

/// Letters of fewer packets are copied into one of up to this length.
pub const SHORT: usize = 16;

/// Room of the letter after one of `before` packets: most pairs of domains of a large network have
/// a packet or two for each other.
pub fn room(before: usize) -> usize {
    match before {
        0 => 1,
        short if short < SHORT => 2 * short,
        long => long + long / 4,
    }
}

/// Packets ahead of the one being written for which memory is fetched into the cache.
const AHEAD: usize = 1;

impl Post {
    #[inline]
    pub fn packet(&mut self, packet: Packet, origin: Origin, input: InIndex) {
        self.earliest = self.earliest.min(packet.head);
        if self.packets.len() == self.packets.capacity() {
            self.make_room();
        }
        self.packets.push(PacketMail {
            packet,
            origin,
            input,
            spare: 0,
        });
        if let Some(soon) = self.packets.spare_capacity_mut().get(AHEAD) {
            prefetch(soon);
        }
    }

    /// Makes room for more packets. Letters are used again and keep their capacity; if links
    /// between domains are long, most packets under way are in letters. So they grow by little.
    #[cold]
    #[inline(never)]
    fn make_room(&mut self) {
        let length = self.packets.len();
        self.packets.reserve_exact(room(length) - length);
    }

    #[inline]
    pub fn credit(&mut self, time: Time, output: OutIndex, queue: u16, flits: u16) {
        self.earliest = self.earliest.min(time);
        self.credits.push(CreditMail {
            time,
            output,
            flits,
            queue,
        });
    }

    pub fn signal(&mut self, signal: Signal) {
        self.earliest = self.earliest.min(signal.time);
        self.signals.push(signal);
    }
}

impl Mail for Post {
    fn is_empty(&self) -> bool {
        self.earliest == NEVER
    }

    /// Credits alone make nothing happen before a packet asks for them, but a port may be waiting
    /// for one.
    fn earliest(&self) -> Time {
        self.earliest
    }

    /// The numbers of packets, credits and words of headers, then all of them, then the signals.
    fn encode(&self, bytes: &mut Vec<u8>) {
        let counts = [self.packets.len(), self.credits.len(), self.headers.len()];
        let counts = counts.map(|count| count as u64);
        bytes.extend_from_slice(bytemuck::bytes_of(&counts));
        bytes.extend_from_slice(bytemuck::cast_slice(&self.packets));
        bytes.extend_from_slice(bytemuck::cast_slice(&self.credits));
        bytes.extend_from_slice(bytemuck::cast_slice(&self.headers));
        bytes.extend_from_slice(bytemuck::cast_slice(&self.signals));
    }

    fn decode(bytes: &[u8]) -> Option<Self> {
        let (counts, rest) = bytes.split_at_checked(24)?;
        let [packets, credits, headers]: [u64; 3] = bytemuck::pod_read_unaligned(counts);
        let (packets, rest) = list(rest, packets)?;
        let (credits, rest) = list(rest, credits)?;
        let (headers, rest) = list(rest, headers)?;
        let (signals, rest) = list(rest, (rest.len() / size_of::<Signal>()) as u64)?;
        let heads = packets.iter().map(|mail: &PacketMail| mail.packet.head);
        let times = heads.chain(credits.iter().map(|mail: &CreditMail| mail.time));
        let times = times.chain(signals.iter().map(|signal: &Signal| signal.time));
        let earliest = times.min().unwrap_or(NEVER);
        rest.is_empty().then_some(Post {
            packets,
            credits,
            headers,
            signals,
            earliest,
        })
    }

    fn clear(&mut self) {
        self.packets.clear();
        self.credits.clear();
        self.headers.clear();
        self.signals.clear();
        self.earliest = NEVER;
    }
}

/// The first `count` items of a message, and the rest of it.
fn list<T: Pod>(bytes: &[u8], count: u64) -> Option<(Vec<T>, &[u8])> {
    let length = usize::try_from(count).ok()?.checked_mul(size_of::<T>())?;
    let (list, rest) = bytes.split_at_checked(length)?;
    let list = list.chunks_exact(size_of::<T>());
    Some((list.map(bytemuck::pod_read_unaligned).collect(), rest))
}
