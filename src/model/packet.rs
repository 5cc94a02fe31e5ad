use super::{EndpointId, PortId, Time};

/// The place of a packet in its domain's pool.
pub type PacketIndex = u32;

/// The end of a list of packets.
pub const NO_PACKET: PacketIndex = u32::MAX;

/// The traffic class of data. Higher numbers have strict priority.
pub const CLASS_DATA: u8 = 0;
/// The traffic class of acknowledgements and other control packets where no scheme says otherwise.
pub const CLASS_CONTROL: u8 = 1;

/// What a packet is for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(u8)]
pub enum PacketKind {
    /// Part of a message.
    Data = 0,
    /// Tells the source that a data packet has arrived.
    Ack = 1,
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
    pub routers: u16,
    /// Spare.
    pub spare: u16,
    /// Order of injection for oldest-first arbitration: when the head left the NIC.
    pub injected: Time,
}

impl Packet {
    /// `--watch-packet` follows it.
    pub const WATCHED: u8 = 1;
    /// A scheme marked it (congestion was seen).
    pub const MARKED: u8 = 2;
}

/// The part of a packet that only its ends touch.
#[derive(Clone, Copy, Debug, bytemuck::Pod, bytemuck::Zeroable)]
#[repr(C, align(8))]
pub struct Origin {
    /// When the message was generated.
    pub generated: Time,
    /// Length of the whole message in bits.
    pub message_bits: u64,
    /// Payload of this packet in bits.
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
    /// Spare.
    pub spare: [u8; 5],
}
