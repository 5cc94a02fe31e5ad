use super::{EndpointId, PortId, Time};

/// The place of a packet in its domain's pool.
pub type PacketIndex = u32;

/// The end of a list of packets.
pub const NO_PACKET: PacketIndex = u32::MAX;

/// What a packet is for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(u8)]
pub enum PacketKind {
    /// Part of a message.
    Data = 0,
    /// Tells the source that a data packet has arrived.
    Ack = 1,
    /// Tells the source that a data packet was dropped.
    Nack = 2,
    /// Asks the destination for a time to send.
    Reservation = 3,
    /// Tells the source when to send.
    Grant = 4,
}

impl PacketKind {
    /// All kinds, by number.
    pub const ALL: [PacketKind; 5] = [
        PacketKind::Data,
        PacketKind::Ack,
        PacketKind::Nack,
        PacketKind::Reservation,
        PacketKind::Grant,
    ];

    /// The name in results.
    pub fn name(self) -> &'static str {
        match self {
            PacketKind::Data => "data",
            PacketKind::Ack => "ack",
            PacketKind::Nack => "nack",
            PacketKind::Reservation => "reservation",
            PacketKind::Grant => "grant",
        }
    }
}

/// The traffic classes of a run, lowest priority first. Each has virtual channels of its own.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Classes {
    /// Names, by number.
    pub names: &'static [&'static str],
    /// Lossless data.
    pub data: u8,
    /// Acknowledgements, positive and negative.
    pub control: u8,
    /// Reservations.
    pub reservation: u8,
    /// Grants.
    pub grant: u8,
}

impl Classes {
    /// Data alone.
    pub const DATA: Classes = Classes {
        names: &["data"],
        data: 0,
        control: 0,
        reservation: 0,
        grant: 0,
    };
    /// Data, and control packets above them.
    pub const PLAIN: Classes = Classes {
        names: &["data", "control"],
        data: 0,
        control: 1,
        reservation: 1,
        grant: 1,
    };
    /// The same above data that routers may drop.
    pub const SPECULATIVE: Classes = Classes {
        names: &["speculative", "data", "control"],
        data: 1,
        control: 2,
        reservation: 2,
        grant: 2,
    };
    /// The same with reservations and grants in classes of their own.
    pub const RESERVED: Classes = Classes {
        names: &["speculative", "data", "control", "reservation", "grant"],
        data: 1,
        control: 2,
        reservation: 3,
        grant: 4,
    };

    /// The class of data that may be dropped, where there is one.
    pub const LOSSY: u8 = 0;

    /// Number of classes.
    pub fn count(&self) -> u8 {
        self.names.len() as u8
    }
}

/// What routing knows and remembers about a packet. Plain numbers whose meaning belongs to the algorithm.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, bytemuck::Pod, bytemuck::Zeroable)]
#[repr(C)]
pub struct Flight {
    /// Where it is going.
    pub destination: EndpointId,
    /// The algorithm's own: an intermediate group or router, a chosen link.
    pub via: u32,
    /// The algorithm's own: which part of the route this is. 0 when the packet is injected.
    pub phase: u8,
    /// The algorithm's own: hops so far in this phase, or similar. 0 when the packet is injected.
    pub steps: u8,
    /// Not 0 for control packets, which always go minimally.
    pub control: u8,
    /// The virtual channel (within its traffic class) on which the packet came in.
    pub vc: u8,
}

/// The part of a packet that every hop touches: less than a cache line.
#[derive(Clone, Copy, Debug, bytemuck::Pod, bytemuck::Zeroable)]
#[repr(C, align(8))]
pub struct Packet {
    /// When the head is (or was) at this place.
    pub head: Time,
    /// How long after the head the tail follows, in ps: the serialization time of the slowest link so far.
    pub tail_lag: u32,
    /// The next packet of whatever list this one is in.
    pub next: PacketIndex,
    /// Route state.
    pub flight: Flight,
    /// Length.
    pub flits: u16,
    /// Output port of this router, once it is routed.
    pub out_port: PortId,
    /// Virtual channel on the next link: `class * vcs + vc`.
    pub out_vc: u8,
    /// Virtual channel on which it came in: `class * vcs + vc`.
    pub in_vc: u8,
    /// Traffic class; higher goes first.
    pub class: u8,
    /// Bits of [`Packet::WATCHED`] and others.
    pub flags: u8,
    /// Routers visited so far.
    pub routers: u8,
    /// Spare.
    pub spare: u8,
    /// Time spent in queues of routers so far, in units of [`Packet::WAIT_UNIT`]; kept for packets that may be dropped.
    pub waited: u16,
    /// Order of injection for oldest-first arbitration: when the head left the NIC.
    pub injected: Time,
}

impl Packet {
    /// `--watch-packet` follows it.
    pub const WATCHED: u8 = 1;
    /// A scheme marked it (congestion was seen).
    pub const MARKED: u8 = 2;
    /// The unit of [`Packet::waited`], ps.
    pub const WAIT_UNIT: Time = 256;

    /// Adds time spent in a queue.
    #[inline]
    pub fn wait(&mut self, time: Time) {
        let units = (time / Packet::WAIT_UNIT).min(u64::from(u16::MAX));
        self.waited = self.waited.saturating_add(units as u16);
    }

    /// Time spent in queues until now, ps, of a packet that is in a queue since `head`.
    #[inline]
    pub fn waited_until(&self, now: Time) -> Time {
        u64::from(self.waited) * Packet::WAIT_UNIT + now.saturating_sub(self.head)
    }
}

/// The part of a packet that only its ends touch.
#[derive(Clone, Copy, Debug, bytemuck::Pod, bytemuck::Zeroable)]
#[repr(C, align(8))]
pub struct Origin {
    /// When the message was generated.
    pub generated: Time,
    /// Length of the whole message in bits.
    pub message_bits: u64,
    /// Of data: the payload of this packet in bits. Of a reservation: the flits that are asked for. Of a grant or a
    /// negative acknowledgement: the low half of [`Origin::time`].
    pub payload_bits: u32,
    /// Who sent it.
    pub source: EndpointId,
    /// The message's number at its source, from 0.
    pub message: u32,
    /// The packet's number at its source, from 0: `source:sequence` names it everywhere.
    pub sequence: u32,
    /// Which workload it belongs to.
    pub job: u16,
    /// A [`PacketKind`].
    pub kind: u8,
    /// How often this packet has been dropped before without being given a time. Of messages between tasks of an
    /// application, which nobody drops, this and the next two are the [`Stamp`].
    pub tries: u8,
    /// Which packet of its message it is, from 0.
    pub part: u16,
    /// High half of [`Origin::time`].
    pub high: u16,
}

/// What tasks of an application know a message by: 40 bits that travel in each of its packets.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Stamp([u8; 5]);

impl Stamp {
    /// The message is not between tasks.
    pub const NONE: Stamp = Stamp([0; 5]);

    /// The low 40 bits of a word.
    pub fn new(word: u64) -> Stamp {
        let [a, b, c, d, e, ..] = word.to_le_bytes();
        Stamp([a, b, c, d, e])
    }

    /// As a word.
    pub fn word(self) -> u64 {
        let [a, b, c, d, e] = self.0;
        u64::from_le_bytes([a, b, c, d, e, 0, 0, 0])
    }
}

impl Origin {
    /// The stamp of a message between tasks. Makes no sense with a scheme that drops packets.
    #[inline]
    pub fn stamp(&self) -> Stamp {
        let [b, c] = self.part.to_le_bytes();
        let [d, e] = self.high.to_le_bytes();
        Stamp([self.tries, b, c, d, e])
    }

    /// The same with a stamp.
    #[inline]
    pub fn with_stamp(mut self, stamp: Stamp) -> Origin {
        let [a, b, c, d, e] = stamp.0;
        self.tries = a;
        self.part = u16::from_le_bytes([b, c]);
        self.high = u16::from_le_bytes([d, e]);
        self
    }

    /// No time was given.
    const NO_TIME: u64 = (1 << 48) - 1;

    /// The time that a grant or a negative acknowledgement carries, ps.
    pub fn time(&self) -> Option<Time> {
        let word = u64::from(self.high) << 32 | u64::from(self.payload_bits);
        (word != Origin::NO_TIME).then_some(word)
    }

    /// The same with a time, of which 48 bits are kept: 281 s of simulated time, longer than any run.
    pub fn with_time(mut self, time: Option<Time>) -> Origin {
        let word = time.map_or(Origin::NO_TIME, |time| time.min(Origin::NO_TIME - 1));
        self.payload_bits = word as u32;
        self.high = (word >> 32) as u16;
        self
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_packet_is_small() {
        assert_eq!(size_of::<Packet>(), 48);
        assert_eq!(size_of::<Origin>(), 40);
    }

    #[test]
    fn an_origin_carries_a_stamp() {
        let origin: Origin = bytemuck::Zeroable::zeroed();
        assert_eq!(origin.stamp(), Stamp::NONE);
        for word in [1, 0x12_3456_789A, (1 << 40) - 1] {
            let stamp = Stamp::new(word);
            assert_eq!(
                (stamp.word(), origin.with_stamp(stamp).stamp()),
                (word, stamp)
            );
        }
    }

    #[test]
    fn an_origin_carries_a_time() {
        let origin: Origin = bytemuck::Zeroable::zeroed();
        for time in [
            None,
            Some(0),
            Some(1),
            Some(u64::from(u32::MAX) + 7),
            Some(200_000_000_000_000),
        ] {
            assert_eq!(origin.with_time(time).time(), time);
        }
    }
}
