//! State of one domain: ports, queues, credits, NICs.
//! It is kept in flat arrays with indices instead of pointers, so that a domain stays small, in one
//! piece and in the cache.

use serde::{Deserialize, Serialize};

use super::credit::Credit;
use crate::Arbitration;
use crate::state::pool::{Fifo, Pool};
use weir_model::{LinkKind, LinkRate, NEVER, NO_PACKET, PacketIndex, PortId, Rng, RouterId, Time};
use weir_slots::Slots;

/// Index of an output of this domain: router ports first, then the NICs' links to their routers.
pub type OutIndex = u32;
/// Index of an input port of this domain; the same number as the output of the same router port.
pub type InIndex = u32;

/// No output.
pub const NO_OUTPUT: OutIndex = u32::MAX;

/// Destination of the packets of an output.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum Wire {
    /// An input port of this domain.
    Router(InIndex),
    /// An endpoint of this domain (its place in the domain's list of NICs).
    Endpoint(u32),
    /// An input port in a neighbouring domain.
    Away {
        /// Place of the domain among the neighbours.
        neighbour: u32,
        /// The input there.
        input: InIndex,
    },
    /// Nowhere: the port is not used.
    Unused,
}

/// Destination of the credits of an input.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum Upstream {
    /// To an output of this domain.
    Output(OutIndex),
    /// To an output of a router in a neighbouring domain.
    Away {
        /// Place of the domain among the neighbours.
        neighbour: u32,
        /// The output there.
        output: OutIndex,
    },
    /// The port is not used.
    Nothing,
}

/// A queue of an input without virtual output queues.
#[derive(Clone, Copy, Debug, Serialize, Deserialize)]
pub struct HeadQueue {
    /// Packets behind the first, not routed yet.
    pub behind: Fifo,
    /// True while the first packet asks for its output.
    pub requested: bool,
}

impl HeadQueue {
    /// Nothing in it.
    pub const EMPTY: HeadQueue = HeadQueue {
        behind: Fifo::EMPTY,
        requested: false,
    };
}

/// An input port of a router: a cache line.
#[derive(Clone, Debug, Serialize, Deserialize)]
#[repr(align(64))]
pub struct Input {
    /// Time when its side of the crossbar is free.
    pub free_at: Time,
    /// Time of the next wake-up event; [`NEVER`] if none is due.
    pub wake: Time,
    /// Packets on the wire to this port, in order of arrival, if they are in the pool.
    pub wire: Fifo,
    /// Destination of its credits: the output that feeds this port.
    pub upstream: Upstream,
    /// Latency of a credit: the link's and the router's own.
    pub credit_latency: Time,
    /// Rate of its side of the crossbar.
    pub crossbar: LinkRate,
    /// The router, as its place in the domain.
    pub router: u32,
    /// First of its queues (without virtual output queues), see
    /// [`super::wide_port::HeadQueues`].
    pub queue_base: u32,
    /// The output that continues its ring, if a place stays free in that ring; [`NO_OUTPUT`] if it
    /// is in none.
    pub onward: OutIndex,
}

impl Input {
    /// True if everything fixed for a run is the same.
    pub fn same_wiring(one: &Input, other: &Input) -> bool {
        let of = |input: &Input| {
            let place = (input.upstream, input.router, input.queue_base, input.onward);
            (place, input.credit_latency, input.crossbar)
        };
        of(one) == of(other)
    }
}

/// Arbitration model of the routers of one kind.
#[derive(Clone, Copy, Debug)]
pub struct Model {
    /// Among waiting queues.
    pub arbitration: Arbitration,
    /// A packet may take the room for which a longer one waits that is before it in turn.
    pub overtaking: bool,
    /// Adaptive routing counts all classes.
    pub all_classes: bool,
}

/// Delays and capacities of outputs of one kind.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Timing {
    /// Rate of the link.
    pub rate: LinkRate,
    /// Rate of the output's side of the crossbar.
    pub crossbar: LinkRate,
    /// Latency of the link.
    pub latency: Time,
    /// Flits that fill the round trip of the link and so say nothing about congestion.
    pub round_trip: u64,
    /// Head at an input to head at the output link of an idle router, ps.
    /// Here and below a NIC has the values of the router that it leads to.
    pub crossing: Time,
    /// Flits that a busy link takes in that time: they are in the pipeline of the router, and do
    /// not wait. 0 without output queues, where nothing crosses to a link that is busy.
    pub crossed: u64,
    /// Flits of an output queue; None: the input queues feed the links.
    pub output_queue: Option<u32>,
    /// True if such a queue must not be full.
    pub unlimited: bool,
    /// The kind of the router.
    pub model: u8,
    /// True if the router at the other end passes on whole packets only.
    pub stores: bool,
    /// True if a packet that finds the link free passes by the output queue
    /// ([`super::Network::passes_queue`]).
    pub passes_queue: bool,
    /// True if a packet needs a credit for the next input buffer to cross: to an output queue too,
    /// or there is none.
    pub credit_to_cross: bool,
    /// True if it takes it when it crosses to an output queue, and none at the link.
    pub prepaid: bool,
    /// From the tail of a packet to the head of the next one on a virtual channel, ps.
    pub vc_allocation: Time,
    /// Time before that for a packet that was behind another in its input queue, ps.
    pub route_computation: Time,
}

/// An output: of a router, or of a NIC. Two cache lines: one for decisions, one for counts.
#[derive(Clone, Debug, Serialize, Deserialize)]
#[repr(C, align(64))]
pub struct Output {
    /// Time when the link is free.
    pub link_free: Time,
    /// Time when the output's side of the crossbar is free.
    pub free_at: Time,
    /// Time of the next wake-up event of the link; [`NEVER`] if none is due.
    pub link_wake: Time,
    /// Time of the next wake-up event of the crossbar side.
    pub wake: Time,
    /// Time up to which a stall is counted: a packet is ready and has no credit, and from this time
    /// on the link is free. [`NEVER`] if no packet lacks credit.
    pub stalled_since: Time,
    /// The other end of its link.
    pub wire: Wire,
    /// The first of its queues among the domain's channels; of a port with many, its
    /// [`super::wide_port::WidePort`].
    pub channel_base: u32,
    /// Bit per queue whose output queue is not empty; of a wide port, bit per class that has such
    /// queues.
    pub ready: u64,
    /// Queues of one traffic class in the buffer behind the link; none if the port is not used.
    pub queues: u32,
    /// Room of packets in input queues that are routed here, in flits:
    /// [`super::setup::network::MOST_BUFFERED`] at most, and that of packets that the router sends
    /// itself.
    pub waiting: u32,
    /// Room of packets in output queues here, in flits: [`super::setup::network::MOST_QUEUED`] at
    /// most.
    pub queued: u32,
    /// Those of both together that may be dropped.
    pub lossy: u32,
    /// The most of both together, which fits by the definition of those limits.
    pub peak: u32,
    /// Its [`Timing`] among those of the domain.
    pub timing: u32,
    /// Room that the packet sent last took, in flits.
    pub last_sent: u16,
    /// The queue (over all classes) served last.
    pub turn: u16,
    /// Kind of the link.
    pub kind: LinkKind,
    /// True if inputs wait for space in an output queue here.
    pub space_wanted: bool,
    /// True if its link is part of a ring in which a place stays free.
    pub ring: bool,
    /// Counters of its traffic.
    pub counts: OutputCounts,
}

/// Counters of an output.
#[derive(Clone, Copy, Debug, Default, Serialize, Deserialize)]
pub struct OutputCounts {
    /// Flits sent.
    pub flits: u64,
    /// Packets sent.
    pub packets: u64,
    /// Time with flits on the link, ps.
    pub busy: Time,
    /// Time with the link free and a packet ready but no credit, ps.
    pub stalled: Time,
}

/// One queue of an output: its output queue and the credits for the buffer behind the link. A cache
/// line.
#[derive(Clone, Debug, Serialize, Deserialize)]
#[repr(align(64))]
pub struct Channel {
    /// Credits; those of the class's first queue, if its queues share a buffer.
    pub credit: Credit,
    /// The output queue.
    pub queue: Fifo,
    /// Room taken in it, in flits, part of [`Output::queued`].
    pub flits: u32,
    /// Distance back to the channel that holds the credits, in channels.
    pub share: u32,
    /// Time when the first packet in the queue can leave.
    /// Kept here as well, so that a packet that cannot leave need not be looked at.
    pub first_ready: Time,
}

impl Channel {
    /// An empty queue whose buffer holds `capacity` flits, or whose credits are `share` channels
    /// before it.
    pub fn new(capacity: u32, share: u32) -> Self {
        Channel {
            credit: Credit::new(capacity),
            queue: Fifo::EMPTY,
            flits: 0,
            share,
            first_ready: NEVER,
        }
    }

    /// Appends a packet to the output queue, in which it takes the room of `room` flits.
    #[inline]
    pub fn push(&mut self, pool: &mut Pool, index: PacketIndex, room: u32) {
        let packet = pool.get(index);
        if self.queue.is_empty() {
            self.first_ready = packet.head;
        }
        self.flits += room;
        self.queue.push(pool, index);
    }

    /// Takes the first packet out of the output queue; and the flits of room that it took there,
    /// which `room_of` tells from its own.
    #[inline]
    pub fn pop(&mut self, pool: &Pool, room_of: impl Fn(u16) -> u16) -> Option<(PacketIndex, u32)> {
        let index = self.queue.pop(pool)?;
        let room = u32::from(room_of(pool.get(index).flits));
        self.flits -= room;
        let next = self.queue.head;
        if next != NO_PACKET {
            self.first_ready = pool.get(next).head;
        }
        Some((index, room))
    }
}

/// A router's own state.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct Router {
    /// Its number in the network.
    pub id: RouterId,
    /// Its first port among the domain's.
    pub base: u32,
    /// Number of ports.
    pub ports: PortId,
    /// Random stream for routing.
    pub rng: Rng,
}

/// The place of a request in its slab.
pub type RequestIndex = u32;

/// No request.
pub const NO_REQUEST: RequestIndex = u32::MAX;

/// A ring of requests: the one whose turn is next.
#[derive(Clone, Copy, Debug, Serialize, Deserialize)]
pub struct Ring {
    /// [`NO_REQUEST`] if the ring is empty.
    pub next: RequestIndex,
}

impl Default for Ring {
    fn default() -> Self {
        Ring { next: NO_REQUEST }
    }
}

/// A queue at an input whose first packet waits for an output (one virtual output queue, or the
/// head of a FIFO).
#[derive(Clone, Copy, Debug, Serialize, Deserialize)]
pub struct Request {
    /// The packets.
    pub queue: Fifo,
    /// Input port.
    pub input: InIndex,
    /// Output.
    pub output: OutIndex,
    /// The queue (over all classes) of the input in which the packets are.
    pub in_queue: u16,
    /// Traffic class.
    pub class: u8,
    /// The queue that the first packet joins behind the output (of a routing with alternatives).
    pub out_queue: u16,
    /// True if it is for an alternative route of a packet that has its place in another request's
    /// queue.
    pub also: bool,
    /// The next of the requests for the same packet, which lead round to this one; [`NO_REQUEST`]
    /// if it is the only one.
    pub others: RequestIndex,
}

impl Output {
    /// True if everything fixed for a run is the same.
    pub fn same_wiring(one: &Output, other: &Output) -> bool {
        let of = |output: &Output| {
            let place = (output.wire, output.channel_base, output.queues);
            (place, output.timing, output.kind, output.ring)
        };
        of(one) == of(other)
    }

    /// Flits at its router that are to leave by it: those waiting at inputs plus those in its
    /// queues.
    #[inline(always)]
    pub fn level(&self) -> u32 {
        self.waiting + self.queued
    }

    /// An output at rest.
    pub fn new(timing: u32, wire: Wire, kind: LinkKind) -> Self {
        Output {
            link_free: 0,
            free_at: 0,
            link_wake: NEVER,
            wake: NEVER,
            stalled_since: NEVER,
            wire,
            ready: 0,
            channel_base: 0,
            queues: 1,
            waiting: 0,
            queued: 0,
            lossy: 0,
            peak: 0,
            timing,
            last_sent: 0,
            turn: 0,
            kind,
            space_wanted: false,
            ring: false,
            counts: OutputCounts::default(),
        }
    }

    /// True if a packet is ready and has no credit.
    #[inline]
    pub fn is_stalled(&self) -> bool {
        self.stalled_since != NEVER
    }

    /// Time for which it has lacked credit for a ready packet up to `now`, ps.
    pub fn stalled_until(&self, now: Time) -> Time {
        self.counts.stalled + now.saturating_sub(self.stalled_since)
    }

    /// Takes note that a packet is ready and has no credit. While the link is taken nothing is lost
    /// by that.
    #[inline]
    pub fn stall(&mut self, now: Time) {
        if !self.is_stalled() {
            self.stalled_since = now.max(self.link_free);
        }
    }

    /// Counts the time up to `now` as stalled, if it is.
    #[inline]
    pub fn settle_stall(&mut self, now: Time) {
        if self.is_stalled() && self.stalled_since < now {
            self.counts.stalled += now - self.stalled_since;
            self.stalled_since = now;
        }
    }

    /// Takes note that something moves (or nothing is left to move).
    #[inline]
    pub fn unstall(&mut self, now: Time) {
        self.settle_stall(now);
        self.stalled_since = NEVER;
    }
}

/// Rings of waiting requests: one per traffic class at every input and output.
#[derive(Debug, Default, Serialize, Deserialize)]
pub struct Rings {
    /// By output, then class.
    pub outputs: Slots<Ring>,
    /// By input, then class.
    pub inputs: Slots<Ring>,
}

/// True if a request of any class waits at a port, in the rings of all inputs or all outputs.
#[inline]
pub fn any_waits(rings: &Slots<Ring>, port: u32, classes: usize) -> bool {
    let first = port as usize * classes;
    (first..first + classes).any(|ring| rings[ring].next != NO_REQUEST)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ports_fill_cache_lines() {
        assert_eq!((size_of::<Input>(), size_of::<Output>()), (64, 128));
        assert_eq!(size_of::<Channel>(), 64);
        let out = std::mem::offset_of!(Output, queues);
        assert_eq!(out, 64, "what decides is in the first line");
    }
}
