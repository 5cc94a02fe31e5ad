//! A NIC that records the actions of a scheme, and arguments for its hooks: for tests of schemes.

use super::{About, Actions, NicContext, PacketView, Port, PortContext};
use weir_input::Section;
use weir_model::{Bandwidth, EndpointId, FlitSize, LinkRate, Origin, PacketKind, Time};

const BANDWIDTH: Bandwidth = Bandwidth(204_800_000_000);
const FLIT: FlitSize = FlitSize(512);

/// Actions of a scheme at a NIC.
pub struct Seen {
    /// The time.
    pub now: Time,
    /// The number of the NIC.
    pub nic: u32,
    /// Its link: that of [`about`].
    pub link: LinkRate,
    /// Kind, destination, message, payload word.
    pub replies: Vec<(PacketKind, EndpointId, u32, u32)>,
    /// Time, lossy, destination, message, part.
    pub resent: Vec<(Time, bool, EndpointId, u32, u32)>,
    /// Unsent parts when a message is withdrawn.
    pub left: std::ops::Range<u32>,
    /// The header of the packet, empty at first: give it [`super::Rules::header_words`] words.
    pub header: Vec<u64>,
    /// Time and number.
    pub timers: Vec<(Time, u64)>,
    /// Receiver, kind, words.
    pub signals: Vec<(EndpointId, u16, [u64; 2])>,
    /// Number of the record, values.
    pub rows: Vec<(usize, Vec<u64>)>,
    /// Destinations of flows.
    pub probes: Vec<EndpointId>,
    /// Control packets: destination, and origin with kind and source.
    pub controls: Vec<(EndpointId, Origin)>,
    /// Data packets sent again: lossy, destination, origin.
    pub again: Vec<(bool, EndpointId, Origin)>,
}

impl Seen {
    /// A NIC at a time, before any event.
    pub fn at(now: Time) -> Seen {
        Seen {
            now,
            nic: 0,
            link: LinkRate::new(BANDWIDTH, FLIT),
            replies: Vec::new(),
            resent: Vec::new(),
            left: 0..0,
            header: Vec::new(),
            timers: Vec::new(),
            signals: Vec::new(),
            rows: Vec::new(),
            probes: Vec::new(),
            controls: Vec::new(),
            again: Vec::new(),
        }
    }
}

impl NicContext for Seen {
    fn now(&self) -> Time {
        self.now
    }

    fn nic(&self) -> u32 {
        self.nic
    }

    fn endpoint(&self) -> EndpointId {
        self.nic
    }

    fn link(&self) -> LinkRate {
        self.link
    }

    fn header(&mut self) -> &mut [u64] {
        &mut self.header
    }

    fn reply(&mut self, kind: PacketKind, to: EndpointId, origin: Origin) {
        self.replies
            .push((kind, to, origin.message, origin.payload_bits));
        let about = Origin {
            source: self.nic,
            kind: kind.number(),
            ..origin
        };
        self.controls.push((to, about));
    }

    fn send_at(&mut self, _: Time, kind: PacketKind, to: EndpointId, _: u16, origin: Origin) {
        self.reply(kind, to, origin);
    }

    fn wake(&mut self, time: Time, number: u64) {
        self.timers.push((time, number));
    }

    fn record(&mut self, number: usize, values: &[u64]) {
        self.rows.push((number, values.to_vec()));
    }

    fn probe(&mut self, to: EndpointId) {
        self.probes.push(to);
    }

    fn signal(&mut self, to: EndpointId, kind: u16, words: [u64; 2]) {
        self.signals.push((to, kind, words));
    }

    fn resend(&mut self, at: Time, lossy: bool, to: EndpointId, origin: Origin) {
        self.resent
            .push((at, lossy, to, origin.message, origin.part));
        let data = Origin {
            source: self.nic,
            kind: PacketKind::DATA.number(),
            ..origin
        };
        self.again.push((lossy, to, data));
    }

    fn withdraw(&mut self, _origin: &Origin) -> std::ops::Range<u32> {
        std::mem::take(&mut self.left)
    }
}

/// A packet's origin: kind, sender and message.
pub fn origin(kind: PacketKind, source: EndpointId, message: u32) -> Origin {
    Origin {
        source,
        message,
        kind: kind.number(),
        message_bits: 400,
        ..bytemuck::Zeroable::zeroed()
    }
}

/// A packet for a destination.
pub fn packet(destination: EndpointId) -> PacketView {
    PacketView {
        source: 0,
        destination,
        flits: 4,
        payload_bits: 400,
        marked: false,
    }
}

/// Links of 25.6 GB/s with flits of 64 bytes: a flit takes 2,500 ps. There are no acknowledgements.
pub fn about(max_packet: u16, output_queue: u32) -> About {
    About {
        flit: FLIT,
        max_packet,
        bandwidth: BANDWIDTH,
        output_queue: Some(output_queue),
        input_buffer: 4 * u32::from(max_packet),
        endpoints: 32,
        round_trip: 1_000_000,
        longest_trip: 1_000_000,
        trip_spread: 1.0,
        acknowledge: false,
        circuits: false,
    }
}

/// A NIC with the link of [`about`].
pub fn nic(number: u32) -> (u32, LinkRate) {
    (number, LinkRate::new(BANDWIDTH, FLIT))
}

/// A section of an experiment file.
pub fn section(text: &str) -> Section {
    Section::from_toml(text).expect("TOML")
}

/// The context of a port.
pub fn at(actions: &mut Actions, port: Port, now: Time) -> PortContext<'_> {
    PortContext {
        now,
        port,
        header: &mut [],
        actions,
    }
}

/// Expiry of the timer that was set last.
pub fn last_timer(actions: &mut Actions) -> Option<Time> {
    actions.timers.drain(..).next_back().map(|(time, _)| time)
}
