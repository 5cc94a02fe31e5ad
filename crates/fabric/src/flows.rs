//! Flows: messages whose way is set up before anything of them is sent, and taken down behind them (Birk and Zdornov, section 4.1).
//!
//! They are managed where the routing keeps circuits ([`weir_network::routing::Routing::circuits`]) or the scheme wants to know of flows
//! ([`Capabilities::announces`](weir_congestion::Capabilities::announces)). A message of a queue pair begins with a control packet
//! to its destination, `flow_start`, which comes back by the default way as `flow_back`; then the data goes. Behind its last packet, in the
//! class of the data and so behind it everywhere, goes `flow_end`; when that is back the next message of the queue pair begins. In between a
//! scheme may send a `flow_probe`, one at a time. Messages shorter than `nic.flow_from` are no flows: they go at once, when the flow before
//! them is over.
//!
//! A flow is known by its source and its destination: a queue pair has one at a time. All of its packets go one way. Where the routing does
//! not see to that itself, every router keeps the way of the packet that set the flow up, which is routed as data.

use super::setup::plain::Compiled;
use rustc_hash::FxHashMap;
use serde::{Deserialize, Serialize};

use super::domain::FabricDomain;
use super::endpoint::nic::blank;
use super::state::{InIndex, OutIndex};
use weir_model::{
    Classes, ControlKind, EndpointId, Flight, FlowStep, NO_PACKET, Origin, Packet, PacketIndex,
    PacketKind, PortId, Time,
};
use weir_network::routing::Hop;

/// How flows are managed in a run.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct FlowRules {
    /// Whether they are.
    pub managed: bool,
    /// Whether the scheme hears of them.
    pub announced: bool,
    /// Shorter messages are none, bits.
    pub from_bits: u64,
    /// Flows that an input keeps a port for, where the routing keeps circuits.
    pub cache: Option<u32>,
    /// Whether the fabric keeps the way of the packet that sets a flow up, for a routing that might lead the others another way.
    pub held: bool,
}

/// The control packets that manage flows: in the class of control packets, but for the last, which goes behind data. Without a scheme
/// that hears of flows there are no probes.
pub fn flow_kinds(rules: &FlowRules, classes: Classes) -> Vec<ControlKind> {
    let kind = |name, class| ControlKind {
        name,
        class,
        timed: false,
    };
    let mut kinds = Vec::new();
    if rules.managed {
        kinds.push(kind("flow_start", classes.control));
        kinds.push(kind("flow_end", classes.data));
        kinds.push(kind("flow_back", classes.control));
        if rules.announced {
            kinds.push(kind("flow_probe", classes.control));
        }
    }
    kinds
}

/// Their numbers.
#[derive(Clone, Copy, Debug)]
pub(super) struct FlowKinds {
    start: PacketKind,
    pub end: PacketKind,
    back: PacketKind,
    probe: PacketKind,
}

impl FlowKinds {
    /// After so many kinds of the scheme.
    pub fn after(own: u8, rules: &FlowRules) -> FlowKinds {
        let place = |place| match rules.managed && (place < 3 || rules.announced) {
            true => PacketKind::own(own + place),
            // There are none.
            false => PacketKind::DATA,
        };
        FlowKinds {
            start: place(0),
            end: place(1),
            back: place(2),
            probe: place(3),
        }
    }

    fn of(self, step: FlowStep) -> PacketKind {
        match step {
            FlowStep::Start => self.start,
            FlowStep::Probe => self.probe,
            FlowStep::End => self.end,
        }
    }
}

/// How far a flow is, at its source.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
enum Stage {
    /// Its way is set up.
    Opening,
    /// It may send.
    Open,
    /// All is sent, and a probe is not back.
    Sent,
    /// Its way is taken down.
    Closing,
}

/// A flow at its source.
#[derive(Clone, Copy, Debug, Serialize, Deserialize)]
struct Flow {
    stage: Stage,
    /// Whether a probe is under way.
    probing: bool,
    /// What its packets have in common.
    origin: Origin,
}

/// The flows of a domain.
#[derive(Debug, Default, Serialize, Deserialize)]
pub struct Flows {
    /// By NIC and destination.
    sending: FxHashMap<(u32, EndpointId), Flow>,
    /// By NIC and source: the message, and which packet of it is next.
    receiving: FxHashMap<(u32, EndpointId), (u32, u32)>,
    /// By input, source and destination: the way that is kept.
    circuits: FxHashMap<(InIndex, EndpointId, EndpointId), Hop>,
    /// By input: how many are kept.
    kept: Vec<u32>,
    /// By output: flows that go by it.
    passing: Vec<u32>,
    /// At most so many are kept by an input.
    cache: u32,
    /// How often one was kept, and how often there was no room.
    pub counts: [u64; 2],
}

impl Flows {
    /// None, in a domain of so many ports; `cache` is that of the routing if it keeps circuits.
    pub fn new(ports: usize, cache: Option<u32>) -> Flows {
        let ports = if cache.is_some() { ports } else { 0 };
        Flows {
            kept: vec![0; ports],
            passing: vec![0; ports],
            cache: cache.unwrap_or(0),
            ..Flows::default()
        }
    }

    /// True if they are of as many ports as others.
    pub fn fit(&self, other: &Flows) -> bool {
        (self.kept.len(), self.passing.len(), self.cache)
            == (other.kept.len(), other.passing.len(), other.cache)
    }

    /// Flows that go by an output.
    pub fn passing(&self, output: OutIndex) -> u32 {
        self.passing.get(output as usize).copied().unwrap_or(0)
    }

    /// The way that an input keeps for a flow.
    pub fn circuit(&self, input: InIndex, source: EndpointId, to: EndpointId) -> Option<Hop> {
        self.circuits.get(&(input, source, to)).copied()
    }

    /// Keeps a port for a flow, if there is room.
    pub fn keep(&mut self, input: InIndex, flow: (EndpointId, EndpointId), port: PortId) -> bool {
        let kept = &mut self.kept[input as usize];
        let room = *kept < self.cache;
        self.counts[usize::from(!room)] += 1;
        if room {
            *kept += 1;
            let hop = Hop { port, vc: 0 };
            self.circuits.insert((input, flow.0, flow.1), hop);
        }
        room
    }

    /// Keeps the way of a packet that sets a flow up.
    pub fn hold(&mut self, input: InIndex, flow: (EndpointId, EndpointId), hop: Hop) {
        self.circuits.insert((input, flow.0, flow.1), hop);
    }

    /// A control packet of a flow takes an output: the flow begins there or ends there.
    fn pass(
        &mut self,
        step: FlowStep,
        input: InIndex,
        output: OutIndex,
        flow: (EndpointId, EndpointId),
    ) {
        let end = step == FlowStep::End;
        let kept = end && self.circuits.remove(&(input, flow.0, flow.1)).is_some();
        let Some(passing) = self.passing.get_mut(output as usize) else {
            return;
        };
        *passing += u32::from(step == FlowStep::Start);
        *passing -= u32::from(end);
        self.kept[input as usize] -= u32::from(kept);
    }

    /// Whether a queue pair may send data: unless its flow is not set up yet or is over.
    #[inline]
    pub fn may_send(&self, nic: u32, to: EndpointId) -> bool {
        let flow = self.sending.get(&(nic, to));
        flow.is_none_or(|flow| flow.stage == Stage::Open)
    }

    /// Whether nothing is left of any flow.
    pub fn are_over(&self) -> bool {
        self.sending.is_empty()
            && self.receiving.is_empty()
            && self.circuits.is_empty()
            && self.passing.iter().all(|&flows| flows == 0)
    }

    /// Bytes of memory held.
    pub fn memory_bytes(&self) -> usize {
        self.sending.capacity() * (size_of::<(u32, EndpointId)>() + size_of::<Flow>())
            + self.receiving.capacity() * 16
            + self.circuits.capacity() * 16
            + (self.kept.capacity() + self.passing.capacity()) * 4
    }
}

impl<K: Compiled> FabricDomain<K> {
    /// A message is the first of its queue pair, and nothing of it is sent.
    pub(super) fn begin_flow(&mut self, nic: u32, pair: u32, now: Time) {
        let (to, first) = (
            self.ends.sends.pair(pair).destination,
            self.ends.sends.pair(pair).first,
        );
        // The end of the flow before it calls again.
        if self.ends.flows.sending.contains_key(&(nic, to)) {
            return;
        }
        let origin = self
            .ends
            .sends
            .message(first)
            .origin(self.ends.nics[nic as usize].id);
        if origin.message_bits < self.fixed.flows.from_bits {
            return;
        }
        let flow = Flow {
            stage: Stage::Opening,
            probing: false,
            origin,
        };
        self.ends.flows.sending.insert((nic, to), flow);
        self.pool.hold_header(NO_PACKET);
        if self.fixed.flows.announced {
            self.at_nic(nic, now, |scheme, nic| {
                scheme.on_flow_start(nic, to, &origin)
            });
        }
        self.send_step(nic, to, FlowStep::Start, now);
    }

    /// The last packet of a message has been sent.
    pub(super) fn flow_is_sent(&mut self, nic: u32, to: EndpointId, now: Time) {
        let Some(flow) = self.ends.flows.sending.get_mut(&(nic, to)) else {
            return;
        };
        flow.stage = Stage::Sent;
        if !flow.probing {
            self.end_flow(nic, to, now);
        }
    }

    fn end_flow(&mut self, nic: u32, to: EndpointId, now: Time) {
        let Some(flow) = self.ends.flows.sending.get_mut(&(nic, to)) else {
            return;
        };
        flow.stage = Stage::Closing;
        let origin = flow.origin;
        self.pool.hold_header(NO_PACKET);
        if self.fixed.flows.announced {
            self.at_nic(nic, now, |scheme, nic| scheme.on_flow_end(nic, to, &origin));
        }
        self.send_step(nic, to, FlowStep::End, now);
    }

    /// A scheme asks the links of an open flow, unless it does so already. With the header that the pool holds.
    pub(super) fn probe_flow(&mut self, nic: u32, to: EndpointId, now: Time) {
        match self.ends.flows.sending.get_mut(&(nic, to)) {
            Some(flow) if flow.stage == Stage::Open && !flow.probing => flow.probing = true,
            _ => return,
        }
        self.send_step(nic, to, FlowStep::Probe, now);
    }

    /// Sends a control packet on the way of a flow, with the header that the pool holds.
    fn send_step(&mut self, nic: u32, to: EndpointId, step: FlowStep, now: Time) {
        let flow = self.ends.flows.sending[&(nic, to)];
        let kind = self.fixed.flow_kinds.of(step);
        let class = self.fixed.class_of[kind.index()];
        let origin = Origin {
            kind: kind.number(),
            ..flow.origin
        };
        let mut packet = blank(to, class, Flight::CONTROL, 1, now);
        packet.flight.flags |= step.flag();
        if self.fixed.flows.held && step == FlowStep::Start {
            // It is routed as the data that will follow it.
            packet.flight.flags &= !Flight::CONTROL;
        }
        let index = self.pool.insert(packet, origin);
        self.pool.give_header(index);
        let nic = &mut self.ends.nics[nic as usize];
        match step {
            FlowStep::End => nic.ends.push(&mut self.pool, index),
            FlowStep::Start | FlowStep::Probe => {
                let place = usize::from(class - self.fixed.classes.control);
                nic.control.push(place, index, &mut self.pool);
            }
        }
    }

    /// A control packet has been routed.
    #[inline]
    pub(super) fn flow_passes(
        &mut self,
        step: FlowStep,
        index: PacketIndex,
        input: InIndex,
        (output, hop): (OutIndex, Hop),
    ) {
        let to = self.pool.get(index).flight.destination;
        let flow = (self.pool.origin(index).source, to);
        if self.fixed.flows.held && step == FlowStep::Start {
            self.ends.flows.hold(input, flow, hop);
        }
        self.ends.flows.pass(step, input, output, flow);
    }

    /// The way that is kept for the flow of a packet at an input.
    pub(super) fn held_way(&self, index: PacketIndex, input: InIndex) -> Option<Hop> {
        let flight = &self.pool.get(index).flight;
        let source = self.pool.origin(index).source;
        let follows = flight.goes_by_circuits() && !flight.is_setup();
        follows.then(|| self.ends.flows.circuit(input, source, flight.destination))?
    }

    /// A control packet of a flow is at its endpoint; its header is the one that the pool holds.
    pub(super) fn take_flow_packet(
        &mut self,
        nic: u32,
        packet: &Packet,
        origin: &Origin,
        now: Time,
    ) {
        if let Some(step) = packet.flight.flow_step() {
            match step {
                FlowStep::Start => {
                    self.ends
                        .flows
                        .receiving
                        .insert((nic, origin.source), (origin.message, 0));
                }
                FlowStep::Probe => {}
                FlowStep::End => {
                    self.ends.flows.receiving.remove(&(nic, origin.source));
                }
            }
            // The number of the step goes back with it.
            let back = Origin {
                part: u32::from(step.flag()),
                ..*origin
            };
            let kind = self.fixed.flow_kinds.back;
            let index = self.at_nic(nic, now, |_, nic| nic.queue(kind, origin.source, 1, back));
            self.pool.give_header(index);
        } else if origin.is(self.fixed.flow_kinds.back) {
            self.flow_is_back(nic, origin, now);
        }
        self.kick_nic(nic, now);
    }

    /// What a source has sent on the way of a flow has come back from the destination.
    fn flow_is_back(&mut self, nic: u32, origin: &Origin, now: Time) {
        let to = origin.source;
        let of = |step: &FlowStep| u32::from(step.flag()) == origin.part;
        let Some(step) = FlowStep::ALL.into_iter().find(of) else {
            return;
        };
        let Some(flow) = self.ends.flows.sending.get_mut(&(nic, to)) else {
            return;
        };
        match step {
            FlowStep::Start => flow.stage = Stage::Open,
            FlowStep::Probe => flow.probing = false,
            FlowStep::End => {}
        }
        let sent = flow.stage == Stage::Sent;
        if self.fixed.flows.announced {
            self.at_nic(nic, now, |scheme, nic| scheme.on_flow_back(nic, to, step));
        }
        match step {
            FlowStep::Start => {}
            FlowStep::Probe if sent => self.end_flow(nic, to, now),
            FlowStep::Probe => {}
            FlowStep::End => {
                self.ends.flows.sending.remove(&(nic, to));
                let ring = self.ends.nics[nic as usize].ring;
                if let Some(pair) = self.ends.sends.find_pair(nic, &ring, to, 0) {
                    self.begin_flow(nic, pair, now);
                }
            }
        }
    }

    /// A data packet of a flow has arrived: each behind the one that was sent before it, or something is wrong with the program.
    #[inline]
    pub(super) fn check_order(&mut self, nic: u32, origin: &Origin) {
        if let Some((message, next)) = self.ends.flows.receiving.get_mut(&(nic, origin.source)) {
            if *message != origin.message {
                return;
            }
            assert!(
                origin.part == *next,
                "packet {} of message {} of endpoint {} came in place of packet {next}",
                origin.part,
                origin.message,
                origin.source
            );
            *next += 1;
        }
    }
}

/// Whether a packet manages flows.
#[inline]
pub(super) fn manages(flight: &Flight, origin: &Origin, kinds: FlowKinds) -> bool {
    flight.flow_step().is_some() || (flight.is_control() && origin.is(kinds.back))
}
