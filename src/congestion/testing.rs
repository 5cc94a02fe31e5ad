//! A desk that writes down what a scheme does.

use super::{About, AnyScheme, Build, Desk};
use crate::config::Section;
use crate::model::{Bandwidth, EndpointId, FlitSize, Origin, PacketKind, Time};

/// What a scheme did at a desk.
pub struct Seen {
    pub now: Time,
    pub nic: u32,
    /// Kind, destination, message, payload word.
    pub replies: Vec<(PacketKind, EndpointId, u32, u32)>,
    /// Time, lossy, destination, message, part.
    pub resent: Vec<(Time, bool, EndpointId, u32, u32)>,
    /// Parts that are not sent when a message is withdrawn.
    pub left: std::ops::Range<u32>,
}

impl Seen {
    pub fn at(now: Time) -> Seen {
        Seen {
            now,
            nic: 0,
            replies: Vec::new(),
            resent: Vec::new(),
            left: 0..0,
        }
    }
}

impl Desk for Seen {
    fn now(&self) -> Time {
        self.now
    }

    fn nic(&self) -> u32 {
        self.nic
    }

    fn reply(&mut self, kind: PacketKind, to: EndpointId, origin: Origin) {
        self.replies
            .push((kind, to, origin.message, origin.payload_bits));
    }

    fn resend(&mut self, at: Time, lossy: bool, to: EndpointId, origin: Origin) {
        self.resent
            .push((at, lossy, to, origin.message, origin.part));
    }

    fn withdraw(&mut self, _to: EndpointId, _message: u32) -> std::ops::Range<u32> {
        std::mem::take(&mut self.left)
    }
}

/// A packet's origin: what it is, who sent it, which message it is about.
pub fn origin(kind: PacketKind, source: EndpointId, message: u32) -> Origin {
    Origin {
        source,
        message,
        kind: kind as u8,
        message_bits: 400,
        ..bytemuck::Zeroable::zeroed()
    }
}

/// A scheme on links of 25.6 GB/s with flits of 64 bytes: a flit takes 2,500 ps.
pub fn built(build: Build, section: &str, max_packet: u16, output_queue: u32) -> AnyScheme {
    let about = About {
        flit: FlitSize(512),
        max_packet,
        bandwidth: Bandwidth(204_800_000_000),
        output_queue: Some(output_queue),
        acknowledge: false,
    };
    let section = Section::from_toml(section).expect("TOML");
    build(&section, &about).unwrap_or_else(|error| panic!("{}", error.render(false)))
}
