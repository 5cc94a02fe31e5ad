//! Messages and packets for a NIC to send.

use crate::state::pool::Pool;
use weir_model::{EndpointId, Flight, NEVER, Origin, Packet, PacketIndex, Stamp, Time};

/// A message to be sent.
#[derive(Clone, Copy, Debug)]
pub struct NewMessage {
    /// Place of the sending NIC in its domain.
    pub nic: u32,
    /// The receiving endpoint.
    pub destination: EndpointId,
    /// Payload.
    pub bits: u64,
    /// The workload it belongs to.
    pub job: u16,
    /// Identifier by which tasks of an application know the message.
    pub stamp: Stamp,
}

/// A packet that has not gone anywhere.
pub fn blank(destination: EndpointId, class: u8, flags: u8, flits: u16, now: Time) -> Packet {
    let flight = Flight {
        destination,
        flags,
        ..Flight::default()
    };
    Packet::new(flight, class, flits, now)
}

/// Reason why a NIC sends nothing now.
pub(crate) struct Blocked {
    /// Time to look again.
    pub again: Time,
    /// True if a packet is ready but has no credit.
    pub starved: bool,
}

impl Blocked {
    /// Nothing has kept it from sending yet.
    pub(crate) const NOT: Blocked = Blocked {
        again: NEVER,
        starved: false,
    };

    pub(crate) fn starve(&mut self, until: Time) {
        self.starved = true;
        self.again = self.again.min(until);
    }
}

/// Properties of a packet to be sent that decide its queue.
#[derive(Clone, Copy)]
pub(crate) struct Sending {
    pub destination: EndpointId,
    pub class: u8,
    pub job: u16,
    pub flits: u16,
    /// True for a control packet that goes minimally.
    pub control: bool,
    /// The number of the message and that of the packet in it, added up: of [`NicRule::Numbered`].
    pub turn: u32,
}

impl Sending {
    pub fn of(pool: &Pool, index: PacketIndex) -> Sending {
        let (packet, origin) = (pool.get(index), pool.origin(index));
        Sending {
            destination: packet.flight.destination,
            class: packet.class,
            job: origin.job,
            flits: packet.flits,
            control: packet.flight.is_control(),
            turn: turn_of(origin),
        }
    }
}

/// Number from which the turn of a packet follows, if packets are numbered in their message.
pub(super) fn turn_of(origin: &Origin) -> u32 {
    origin.message.wrapping_add(origin.part)
}
