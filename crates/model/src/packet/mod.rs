//! Packets: the part that every hop touches, and the part that only the ends touch.

mod kind;

pub use kind::{Classes, ControlKind, PacketKind};

use serde::{Deserialize, Serialize};

use super::{EndpointId, Time};

/// The place of a packet in its domain's pool.
pub type PacketIndex = u32;

/// The end of a list of packets.
pub const NO_PACKET: PacketIndex = u32::MAX;

/// Routing state that a packet carries: plain numbers whose meaning belongs to the algorithm.
#[derive(
    Clone,
    Copy,
    Debug,
    Default,
    PartialEq,
    Eq,
    bytemuck::Pod,
    bytemuck::Zeroable,
    Serialize,
    Deserialize,
)]
#[repr(C)]
pub struct Flight {
    /// The destination endpoint.
    pub destination: EndpointId,
    /// The algorithm's own: an intermediate group or router, a chosen link.
    pub via: u32,
    /// The algorithm's own: which part of the route this is. 0 when the packet is injected.
    pub phase: u8,
    /// The algorithm's own: hops so far in this phase, or similar. 0 when the packet is injected.
    pub steps: u8,
    /// Bits: [`Flight::CONTROL`], and the fabric's own, kept here because there is room.
    pub flags: u8,
    /// Routers visited so far, for the record; the fabric's own. No route visits more than 255
    /// (`simulation/src/assemble/limits.rs`).
    pub routers: u8,
}

impl Flight {
    /// A control packet that is routed minimally, regardless of queues.
    pub const CONTROL: u8 = 1;
    /// `--watch-packet` follows it.
    pub const WATCHED: u8 = 2;
    /// A scheme marked it (congestion was seen).
    pub const MARKED: u8 = 4;
    /// A control packet that sets the path of its flow up: routings that keep circuits choose for
    /// it.
    pub const SETUP: u8 = 8;
    /// A control packet that follows the path of its flow behind the flow's last packet, and tears
    /// its circuits down.
    pub const TEARDOWN: u8 = 16;
    /// A control packet that follows the path of its flow.
    pub const PROBE: u8 = 32;
    /// It enters a ring in which a place is to stay free
    /// (`weir_network::routing::Routing::onward`).
    pub const ENTERS: u8 = 64;
    /// It goes around links that are down (`weir_network::routing::Detours`).
    pub const DETOUR: u8 = 128;

    /// True if it is a control packet that goes minimally.
    #[inline]
    pub fn is_control(&self) -> bool {
        self.flags & Flight::CONTROL != 0
    }

    /// True if it sets the path of its flow up.
    #[inline]
    pub fn is_setup(&self) -> bool {
        self.flags & Flight::SETUP != 0
    }

    /// True if it follows the path of its flow: data, and the control packets that follow it.
    #[inline]
    pub fn goes_by_circuits(&self) -> bool {
        !self.is_control() || self.flags & (Flight::PROBE | Flight::TEARDOWN) != 0
    }

    /// Step of its flow, for control packets that manage flows.
    #[inline]
    pub fn flow_step(&self) -> Option<FlowStep> {
        match self.flags & (Flight::SETUP | Flight::TEARDOWN | Flight::PROBE) {
            Flight::SETUP => Some(FlowStep::Start),
            Flight::TEARDOWN => Some(FlowStep::End),
            Flight::PROBE => Some(FlowStep::Probe),
            _ => None,
        }
    }
}

/// Step that a control packet takes for its flow.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum FlowStep {
    /// Before anything of the flow is sent: it sets the path up.
    Start,
    /// Asks the links of the path.
    Probe,
    /// Behind the last packet of the flow: tears the path down.
    End,
}

impl FlowStep {
    /// All, by their numbers.
    pub const ALL: [FlowStep; 3] = [FlowStep::Start, FlowStep::Probe, FlowStep::End];

    /// The bit of [`Flight::flags`].
    pub fn flag(self) -> u8 {
        match self {
            FlowStep::Start => Flight::SETUP,
            FlowStep::Probe => Flight::PROBE,
            FlowStep::End => Flight::TEARDOWN,
        }
    }
}

/// The part of a packet that every hop touches: half a cache line.
#[derive(Clone, Copy, Debug, bytemuck::Pod, bytemuck::Zeroable, Serialize, Deserialize)]
#[repr(C, align(8))]
pub struct Packet {
    /// Time when the head is (or was) at this place.
    pub head: Time,
    /// The low part of [`Packet::lag`].
    lag_low: u32,
    /// Route state.
    pub flight: Flight,
    /// Length. `weir_simulation::config` refuses longer packets (`nic.max_packet`).
    pub flits: u16,
    /// The queue of the input buffer that it is on its way to or in, until it is routed there; then
    /// that of the next one. Over all classes: `class * queues + queue`.
    pub queue: u16,
    /// Traffic class; higher goes first.
    pub class: u8,
    /// The high part of [`Packet::lag`].
    lag_high: u8,
    /// Time spent in queues of routers so far, in units of [`Packet::WAIT_UNIT`]; kept for packets
    /// that may be dropped. Stays at its largest value, which is longer than any packet is allowed
    /// (`congestion.timeout` is checked).
    pub waited: u16,
}

impl Packet {
    /// The longest [`Packet::lag`], ps: 1 s, of 40 bits that hold 1.0995 s.
    /// A lag never exceeds the time of the longest packet on the slowest link, which is limited to
    /// that. A tail waits for its head only where the head waits, and a crossbar is no slower than
    /// its link.
    pub const LONGEST_LAG: Time = 1_000_000_000_000;
    /// The unit of [`Packet::waited`], ps.
    pub const WAIT_UNIT: Time = 256;

    /// A packet of `flits` flits that has not moved yet, its head (and tail) here at `now`.
    pub fn new(flight: Flight, class: u8, flits: u16, now: Time) -> Packet {
        Packet {
            head: now,
            lag_low: 0,
            flight,
            flits,
            queue: 0,
            class,
            lag_high: 0,
            waited: 0,
        }
    }

    /// Delay from the head to the tail, ps: the serialization time of the slowest link so far.
    #[inline]
    pub fn lag(&self) -> Time {
        u64::from(self.lag_high) << 32 | u64::from(self.lag_low)
    }

    /// Time when the tail is (or was) at this place.
    #[inline]
    pub fn tail(&self) -> Time {
        self.head + self.lag()
    }

    /// The head is here at `head`, and the tail `lag` ps later, which is [`Packet::LONGEST_LAG`] at
    /// most.
    #[inline]
    pub fn pass(&mut self, head: Time, lag: Time) {
        debug_assert!(lag <= Packet::LONGEST_LAG, "a tail {lag} ps after its head");
        self.head = head;
        (self.lag_low, self.lag_high) = (lag as u32, (lag >> 32) as u8);
    }

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

/// The part of a packet that only its ends touch: less than a cache line.
#[derive(Clone, Copy, Debug, Deserialize, Serialize, bytemuck::Pod, bytemuck::Zeroable)]
#[repr(C, align(8))]
pub struct Origin {
    /// Time when the message was generated.
    pub generated: Time,
    /// Time when the head left the NIC, or the router that made the packet; the order of
    /// oldest-first arbitration.
    pub injected: Time,
    /// Length of the whole message in bits.
    pub message_bits: u64,
    /// Payload of this packet in bits, for data and its acknowledgement.
    /// `weir_simulation::config` refuses a `nic.max_packet` of more than 2³² - 1 bits. For other
    /// control packets: the low part of [`Origin::flits`] or [`Origin::time`].
    pub payload_bits: u32,
    /// The endpoint that sent it.
    pub source: EndpointId,
    /// The message's number at its source, from 0; after 2³² - 1 comes 0 again.
    /// With source and destination it identifies a message under way: messages to one destination
    /// leave in order, and memory ends before 2³² of them are under way.
    pub message: u32,
    /// The packet's number at its source, from 0; after 2³² - 1 comes 0 again. `source:sequence`
    /// names it in records.
    pub sequence: u32,
    /// The packet's number in its message, from 0.
    /// Only for schemes that send packets again, which refuse longer messages
    /// (`weir_congestion::About::countable`).
    pub part: u32,
    /// The workload it belongs to; there are at most 65,535.
    pub job: u16,
    /// A [`PacketKind`], by its number.
    pub kind: u8,
    /// Number of times this packet has been dropped before without being given a time; schemes
    /// refuse more than 200 retries.
    pub tries: u8,
    /// The [`Stamp`] in the low 40 bits; in the high 16 the high part of [`Origin::flits`] or
    /// [`Origin::time`].
    pub word: u64,
}

/// Identifier of a message for the tasks of an application: 40 bits that travel in each of its
/// packets.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
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
    /// The first packet of a message, before anything of it is sent.
    #[inline]
    pub fn of_message(
        source: EndpointId,
        message: u32,
        job: u16,
        generated: Time,
        bits: u64,
        stamp: Stamp,
    ) -> Origin {
        Origin {
            generated,
            message_bits: bits,
            source,
            message,
            job,
            kind: PacketKind::DATA.number(),
            word: stamp.word(),
            ..bytemuck::Zeroable::zeroed()
        }
    }

    /// True if the packet is of this kind.
    #[inline]
    pub fn is(&self, kind: PacketKind) -> bool {
        self.kind == kind.number()
    }

    /// The stamp of a message between tasks. Control packets about its packets have it, too.
    #[inline]
    pub fn stamp(&self) -> Stamp {
        Stamp::new(self.word)
    }

    /// The most that a control packet's number can be: of times, no time at all.
    const MOST: u64 = (1 << 48) - 1;
    /// Stands for a time that is too late to be represented.
    const BEYOND: u64 = Origin::MOST - 1;

    fn number(&self) -> u64 {
        self.word >> 48 << 32 | u64::from(self.payload_bits)
    }

    fn with_number(mut self, number: u64) -> Origin {
        self.payload_bits = number as u32;
        self.word = number >> 32 << 48 | self.stamp().word();
        self
    }

    /// The same as data with this payload.
    pub fn with_payload(self, bits: u32) -> Origin {
        self.with_number(u64::from(bits))
    }

    /// The flits that a reservation asks for.
    pub fn flits(&self) -> u64 {
        self.number()
    }

    /// The same as a reservation for `flits` flits. 48 bits are kept, which the longest message
    /// fits into: 2³² - 1 packets of 2¹⁶ - 1 flits. (A reservation for several packets lists them
    /// in memory, which ends before.)
    pub fn with_flits(self, flits: u64) -> Origin {
        self.with_number(flits.min(Origin::MOST))
    }

    /// The time that a control packet carries, such as a grant, ps.
    pub fn time(&self) -> Option<Time> {
        let number = self.number();
        (number != Origin::MOST).then(|| self.generated.saturating_add(number))
    }

    /// The same with a time, which is not before the message was generated. 48 bits of the time
    /// since then are kept, 281 s; see [`Origin::is_beyond`].
    pub fn with_time(self, time: Option<Time>) -> Origin {
        let after = |time: Time| time.saturating_sub(self.generated).min(Origin::BEYOND);
        self.with_number(time.map_or(Origin::MOST, after))
    }

    /// True for a control packet whose time is too late to be represented, so that the run has to
    /// end.
    pub fn is_beyond(&self) -> bool {
        self.number() == Origin::BEYOND
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_packet_is_small() {
        assert_eq!(size_of::<Packet>(), 32);
        assert_eq!(size_of::<Origin>(), 56);
    }

    const STAMPS: [u64; 4] = [0, 1, 0x12_3456_789A, (1 << 40) - 1];

    fn stamped(word: u64) -> Origin {
        Origin::of_message(3, 4, 5, 6, 7, Stamp::new(word))
    }

    #[test]
    fn an_origin_carries_a_stamp_and_a_time_at_once() {
        assert_eq!(stamped(0).stamp(), Stamp::NONE);
        let delays = [
            None,
            Some(0),
            Some(1),
            Some(u64::from(u32::MAX) + 7),
            Some(200_000_000_000_000),
            // 2⁴⁸ - 3, the longest.
            Some(281_474_976_710_653),
        ];
        for word in STAMPS {
            for generated in [6, 300_000_000_000_000, crate::LATEST] {
                for delay in delays {
                    let stamped = Origin {
                        generated,
                        ..stamped(word)
                    };
                    let time = delay.map(|delay| generated + delay);
                    let nack = stamped.with_time(time);
                    assert_eq!((nack.time(), nack.stamp().word()), (time, word));
                    assert!(!nack.is_beyond());
                    let again = nack.with_payload(2_400);
                    assert_eq!((again.payload_bits, again.stamp().word()), (2_400, word));
                    let left = Some(generated + 2_400);
                    assert_eq!(again.time(), left, "nothing is left of the other");
                }
            }
        }
    }

    #[test]
    fn a_time_that_is_too_late_is_known_as_such() {
        let grant = stamped(0);
        for late in [(1 << 48) - 2, 1 << 48, u64::MAX - grant.generated] {
            assert!(grant.with_time(Some(grant.generated + late)).is_beyond());
        }
    }

    #[test]
    fn a_tail_follows_its_head_by_a_second_at_most() {
        let mut packet = Packet::new(Flight::default(), 0, 1, 0);
        for lag in [
            0,
            1,
            1 << 32,
            (1 << 32) - 1,
            999_999_999_999,
            Packet::LONGEST_LAG,
        ] {
            packet.pass(7, lag);
            assert_eq!(
                (packet.head, packet.lag(), packet.tail()),
                (7, lag, 7 + lag)
            );
        }
        const { assert!(Packet::LONGEST_LAG < 1 << 40) };
    }

    #[test]
    fn a_reservation_carries_the_flits_of_the_longest_message() {
        let longest = u64::from(u32::MAX) * u64::from(u16::MAX);
        for word in STAMPS {
            for flits in [1, 24, u64::from(u32::MAX) + 1, longest] {
                let reservation = stamped(word).with_flits(flits);
                let carried = (reservation.flits(), reservation.stamp().word());
                assert_eq!(carried, (flits, word));
            }
        }
    }
}
