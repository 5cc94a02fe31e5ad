//! The plain types that all rooms share: identifiers, time, rates, packets. No behaviour beyond
//! arithmetic.

#![cfg_attr(not(test), deny(clippy::print_stdout, clippy::print_stderr))]

pub mod codec;
mod divisor;
mod invalid;
mod packet;
pub mod program;
mod rate;
mod rng;
mod span;
mod statistics;
pub mod table;
mod visible;

use std::borrow::Cow;

use statistics::{histogram, outstanding};

pub use divisor::{Divisor, gcd};
pub use histogram::Histogram;
pub use invalid::Invalid;
pub use outstanding::Outstanding;
pub use packet::{
    Classes, ControlKind, Flight, FlowStep, NO_PACKET, Origin, Packet, PacketIndex, PacketKind,
    Stamp,
};
pub use rate::{Bandwidth, FlitSize, LinkRate};
pub use rng::{Rng, below, fraction_53, next_53, purpose, stream, unit, word};
pub use span::Span;
pub use visible::{unprintable, visible};

/// Simulated time in picoseconds.
pub type Time = u64;

/// The latest simulated time, ps: 1,000,000 s.
/// No event from then on is processed, and no time or delay that is given or computed is longer. So
/// the sum of a simulated time and of several delays is far from the end of a [`Time`].
pub const LATEST: Time = 1_000_000_000_000_000_000;

// A time that is reached and 16 delays.
const _: () = assert!(LATEST as u128 * 17 < Time::MAX as u128);

/// The longest message, bits: 125,000 TB.
/// It is far below the maximum of a `u64`, which leaves room for sums of such sizes and for eighths
/// of them.
pub const LONGEST_MESSAGE: u64 = 1_000_000_000_000_000_000;

/// No time at all: later than everything.
pub const NEVER: Time = Time::MAX;

/// One nanosecond.
pub const NS: Time = 1_000;
/// One microsecond.
pub const US: Time = 1_000_000;

/// A NIC on the network, counted over the whole network from 0.
pub type EndpointId = u32;
/// A router, counted over the whole network from 0.
pub type RouterId = u32;
/// A port of one router, from 0 to its radix - 1.
pub type PortId = u16;
/// A domain: the part of the network that is simulated as one unit.
pub type DomainId = u32;

/// Kind of a link: its place in the list of names that the topology gives.
/// It decides the number of virtual channels.
#[derive(
    Clone,
    Copy,
    Debug,
    Default,
    PartialEq,
    Eq,
    Hash,
    PartialOrd,
    Ord,
    serde::Serialize,
    serde::Deserialize,
)]
pub struct LinkKind(pub u8);

impl LinkKind {
    /// Between an endpoint and its router, in every network.
    pub const TERMINAL: LinkKind = LinkKind(0);

    /// Its place in the list.
    pub fn index(self) -> usize {
        self.0.into()
    }
}

/// Kind of a router: its place in the list of names that the topology gives.
#[derive(
    Clone,
    Copy,
    Debug,
    Default,
    PartialEq,
    Eq,
    Hash,
    PartialOrd,
    Ord,
    serde::Serialize,
    serde::Deserialize,
)]
pub struct RouterKind(pub u8);

impl RouterKind {
    /// Its place in the list.
    pub fn index(self) -> usize {
        self.0.into()
    }
}

/// The name of the links between endpoints and routers.
pub const TERMINAL: &str = "terminal";

/// The name of a kind of links or routers, as experiment files, results and messages write it.
pub type KindName = Cow<'static, str>;

/// Out-of-band signal of a scheme to an endpoint: it takes no bandwidth and waits in no queue.
///
/// Signals that take effect at the same time are handled in the order of their content, so that it
/// does not depend on which domain is simulated first. The fields are in the order in which they
/// are compared.
#[derive(
    Clone,
    Copy,
    Debug,
    PartialEq,
    Eq,
    PartialOrd,
    Ord,
    bytemuck::Pod,
    bytemuck::Zeroable,
    serde::Serialize,
    serde::Deserialize,
)]
#[repr(C)]
pub struct Signal {
    /// Time when it takes effect, ps.
    pub time: Time,
    /// The receiver.
    pub to: EndpointId,
    /// The sender: a router, or with [`Signal::ENDPOINT`] as port an endpoint.
    pub from: u32,
    /// The router's port that it is about.
    pub port: u16,
    /// Kind of the signal; each scheme numbers its own.
    pub kind: u16,
    /// Zero.
    pub spare: u32,
    /// The scheme's own business.
    pub words: [u64; 2],
}

impl Signal {
    /// Instead of a port: the sender is an endpoint.
    pub const ENDPOINT: u16 = u16::MAX;
}
