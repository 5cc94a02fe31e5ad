//! Kinds of packets and their traffic classes.

use serde::{Deserialize, Serialize};

use super::Origin;

/// Kind of a packet: data, the acknowledgement of data, or a kind of control packet that the scheme
/// of the run declares.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct PacketKind(u8);

impl PacketKind {
    /// Part of a message.
    pub const DATA: PacketKind = PacketKind(0);
    /// Tells the source that a data packet has arrived.
    pub const ACK: PacketKind = PacketKind(1);
    /// Most kinds of a run, these two included.
    pub const MOST: usize = 8;
    /// Number of kinds that are not the scheme's.
    const COMMON: u8 = 2;

    /// The scheme's kind with this place in its list ([`ControlKind`]).
    pub const fn own(place: u8) -> PacketKind {
        assert!((place as usize) < Self::MOST - Self::COMMON as usize);
        PacketKind(Self::COMMON + place)
    }

    /// Kind of a packet.
    #[inline]
    pub fn of(origin: &Origin) -> PacketKind {
        PacketKind(origin.kind)
    }

    /// As a number, of the common kinds first.
    #[inline]
    pub const fn number(self) -> u8 {
        self.0
    }

    /// Its place among all kinds.
    #[inline]
    pub const fn index(self) -> usize {
        self.0 as usize
    }
}

/// A kind of control packet that a scheme sends.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ControlKind {
    /// The name in results.
    pub name: &'static str,
    /// Its traffic class: [`Classes::control`] or one above.
    pub class: u8,
    /// True if it carries a time ([`Origin::time`]).
    pub timed: bool,
}

/// The traffic classes of a run, lowest priority first. Each has separate virtual channels.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Classes {
    /// Names, by number.
    pub names: &'static [&'static str],
    /// Lossless data.
    pub data: u8,
    /// Acknowledgements; the lowest class of control packets.
    pub control: u8,
}

impl Classes {
    /// Data alone.
    pub const DATA: Classes = Classes {
        names: &["data"],
        data: 0,
        control: 0,
    };
    /// Data, and control packets above them.
    pub const PLAIN: Classes = Classes {
        names: &["data", "control"],
        data: 0,
        control: 1,
    };

    /// Classes of a scheme without control packets: data, and acknowledgements if there are any.
    pub const fn of_data(acknowledge: bool) -> Classes {
        match acknowledge {
            true => Classes::PLAIN,
            false => Classes::DATA,
        }
    }

    /// The same above data that routers may drop.
    pub const SPECULATIVE: Classes = Classes {
        names: &["speculative", "data", "control"],
        data: 1,
        control: 2,
    };
    /// The same with reservations and grants in classes of their own.
    pub const RESERVED: Classes = Classes {
        names: &["speculative", "data", "control", "reservation", "grant"],
        data: 1,
        control: 2,
    };

    /// The class of data that may be dropped, if there is one.
    pub const LOSSY: u8 = 0;

    /// Number of classes.
    pub fn count(&self) -> u8 {
        self.names.len() as u8
    }
}
