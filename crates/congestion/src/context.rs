//! The interface of a scheme to the fabric, at a NIC (of a source or of a destination) and at a
//! router's port.

use serde::{Deserialize, Serialize};
use std::ops::Range;

use weir_model::{EndpointId, Flight, LinkRate, Origin, Packet, PacketKind, Time};

/// An output of a router, as a scheme sees it.
#[derive(Clone, Copy, Debug)]
pub struct Port {
    /// Its number in the domain, an index for the scheme's state.
    pub output: u32,
    /// True if an endpoint is behind it.
    pub last_hop: bool,
    /// Flits queued for it in this router, in input and output queues, of all classes.
    pub level: u32,
    /// Flits that its output queues hold, of one traffic class; 0 if routers have none.
    pub capacity: u32,
    /// Time that flits take on its link.
    pub rate: LinkRate,
}

/// A packet, as a scheme sees it on its way.
#[derive(Clone, Copy, Debug)]
pub struct PacketView {
    /// Its source.
    pub source: EndpointId,
    /// Its destination.
    pub destination: EndpointId,
    /// Its length.
    pub flits: u16,
    /// Payload, bits.
    pub payload_bits: u32,
    /// True if a router has marked it.
    pub marked: bool,
}

impl PacketView {
    /// A packet of the fabric.
    #[inline]
    pub fn of(packet: &Packet, origin: &Origin) -> PacketView {
        PacketView {
            source: origin.source,
            destination: packet.flight.destination,
            flits: packet.flits,
            payload_bits: origin.payload_bits,
            marked: packet.flight.flags & Flight::MARKED != 0,
        }
    }
}

/// A control packet that a scheme sends.
#[derive(Clone, Copy, Debug, Serialize, Deserialize)]
pub struct Control {
    /// Its kind.
    pub kind: PacketKind,
    /// Its destination.
    pub to: EndpointId,
    /// The endpoint in whose name it is sent: a router answers for one of its endpoints.
    pub from: EndpointId,
    /// Its length in flits, from 1 to the longest packet.
    pub flits: u16,
    /// The packet or message that it is about. Its `source` and `kind` are set when it is sent.
    pub origin: Origin,
}

/// Requests of a hook; the fabric carries them out after the hook returns.
#[derive(Debug, Default)]
pub struct Actions {
    /// True if there are any requests.
    pub any: bool,
    /// Out-of-band signals: receiver, kind and words.
    pub signals: Vec<(EndpointId, u16, [u64; 2])>,
    /// Timers of this port or NIC: time and number.
    pub timers: Vec<(Time, u64)>,
    /// Control packets that the router sends.
    pub controls: Vec<Control>,
    /// Control packets that a NIC sends later.
    pub later: Vec<(Time, Control)>,
    /// One bit for each of the scheme's records that is requested.
    pub recorded: u32,
    /// Rows for the records: number of the record, and the scheme's columns.
    pub rows: Vec<(usize, Vec<u64>)>,
    /// Destinations of the flows that the NIC probes.
    pub probes: Vec<EndpointId>,
}

impl Actions {
    /// Requests the timer hook of this port at `time`, or at once if that has passed.
    pub fn wake(&mut self, time: Time) {
        self.timer(time, 0);
    }

    /// Sends an endpoint an out-of-band signal. Only for schemes that declare `signals`.
    pub fn signal(&mut self, to: EndpointId, kind: u16, words: [u64; 2]) {
        self.any = true;
        self.signals.push((to, kind, words));
    }

    pub fn timer(&mut self, time: Time, number: u64) {
        self.any = true;
        self.timers.push((time, number));
    }

    pub fn control(&mut self, control: Control) {
        self.any = true;
        self.controls.push(control);
    }

    /// Writes a row (the scheme's columns) of the record with this number
    /// ([`super::Rules::records`]), if it is requested.
    pub fn record(&mut self, number: usize, values: &[u64]) {
        if self.recorded >> number & 1 == 1 {
            self.any = true;
            self.rows.push((number, values.to_vec()));
        }
    }

    pub fn probe(&mut self, to: EndpointId) {
        self.any = true;
        self.probes.push(to);
    }

    pub fn control_later(&mut self, time: Time, control: Control) {
        self.any = true;
        self.later.push((time, control));
    }
}

/// A scheme's context at a router's port.
pub struct PortContext<'a> {
    /// Simulated time, ps.
    pub now: Time,
    /// The port.
    pub port: Port,
    /// The header of the packet that the hook is about ([`super::Rules::header_words`]); empty
    /// where there is none.
    pub header: &'a mut [u64],
    /// Requests of the hook.
    pub actions: &'a mut Actions,
}

impl PortContext<'_> {
    /// Sends an endpoint an out-of-band signal.
    pub fn signal(&mut self, to: EndpointId, kind: u16, words: [u64; 2]) {
        self.actions.signal(to, kind, words);
    }

    /// Calls [`super::Rules::on_port_timer`] for this port at `time`, or at once if that has
    /// passed. A timer that sets itself again for the same moment for ever ends the run.
    pub fn wake(&mut self, time: Time) {
        self.actions.wake(time);
    }

    /// Writes a row of a record whose place is a port: see [`Actions::record`].
    pub fn record(&mut self, number: usize, values: &[u64]) {
        self.actions.record(number, values);
    }

    /// Sends a control packet from this router, now.
    pub fn send(&mut self, control: Control) {
        self.actions.control(control);
    }
}

/// A scheme's context at a NIC, which is a source and a destination.
pub trait NicContext {
    /// Simulated time, ps.
    fn now(&self) -> Time;
    /// The NIC's number in its domain, an index for the scheme's state.
    fn nic(&self) -> u32;
    /// The NIC's endpoint.
    fn endpoint(&self) -> EndpointId;
    /// Time that flits take on the endpoint's link.
    fn link(&self) -> LinkRate;
    /// The header of the packet that the hook is about ([`super::Rules::header_words`]): of a data
    /// packet that is sent or has arrived; of an acknowledgement, the header that its data packet
    /// arrived with.
    fn header(&mut self) -> &mut [u64];
    /// Sends a control packet of one flit, now, in this endpoint's name. `origin` names its
    /// subject.
    fn reply(&mut self, kind: PacketKind, to: EndpointId, origin: Origin);
    /// Sends a control packet of `flits` flits at `time`, or now if that has passed.
    fn send_at(&mut self, time: Time, kind: PacketKind, to: EndpointId, flits: u16, origin: Origin);
    /// Sends a data packet again; `origin` names it by message and part. `lossy`: in the class that
    /// routers may drop, and as soon as possible; otherwise at `at` or later. Only for schemes that
    /// declare `retransmits`.
    fn resend(&mut self, at: Time, lossy: bool, to: EndpointId, origin: Origin);
    /// Withdraws the unsent parts of the first message of its queue pair.
    ///
    /// Each part must be sent by [`NicContext::resend`], in this order; the pair's next message
    /// begins after them. Only for schemes that declare `reserves`. `origin`: that of a control
    /// packet about the message, from the endpoint that the message goes to.
    fn withdraw(&mut self, origin: &Origin) -> Range<u32>;
    /// Calls [`super::Rules::on_nic_timer`] at this NIC at `time` with a number that the scheme
    /// chooses. Timers of the same NIC and time fire in the order of their numbers. A timer cannot
    /// be cancelled. One that sets itself again for the same moment for ever ends the run.
    fn wake(&mut self, time: Time, number: u64);
    /// Writes a row of a record whose place is an endpoint: see [`Actions::record`].
    fn record(&mut self, number: usize, values: &[u64]);
    /// Sends a control packet along the path of an open flow and back, with the header as the hook
    /// leaves it ([`super::Rules::on_flow_packet`], [`super::Rules::on_flow_back`]). Does nothing
    /// if one is under way. Only for schemes that declare `announces`.
    fn probe(&mut self, to: EndpointId);
    /// Sends an endpoint an out-of-band signal. Only for schemes that declare `signals`.
    fn signal(&mut self, to: EndpointId, kind: u16, words: [u64; 2]);
}
