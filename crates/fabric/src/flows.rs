//! Flows: messages whose path is set up before their data is sent, and torn down behind it (Birk
//! and Zdornov, section 4.1).
//!
//! Flows are managed if the routing keeps circuits ([`weir_network::routing::Routing::circuits`])
//! or if the scheme asks to hear of flows
//! ([`Capabilities::announces`](weir_congestion::Capabilities::announces)). A message of a queue
//! pair begins with a control packet to its destination, `flow_start`, which comes back by the
//! default path as `flow_back`; then the data is sent. `flow_end` follows the last packet in the
//! class of the data, and so stays behind it everywhere. When it is back the next message of the
//! queue pair starts. In between a scheme may send a `flow_probe`, one at a time. Messages shorter
//! than `nic.flow_from` are no flows: they go at once, when the flow before them is over.
//!
//! A flow is known by its source and its destination: a queue pair has one at a time. All of its
//! packets take one path. If the routing does not ensure that itself, every router keeps the hop of
//! the packet that set the flow up, which is routed as data.

use super::setup::plain::Compiled;
use crate::setup::flow_rules::FlowKinds;
use crate::state::ends::flows::{Flow, Stage};

use super::domain::FabricDomain;
use crate::endpoint::sending::blank;
use crate::state::{InIndex, OutIndex};
use weir_model::{EndpointId, Flight, FlowStep, NO_PACKET, Origin, Packet, PacketIndex, Time};
use weir_network::routing::Hop;

/// True if a packet manages flows.
#[inline]
pub(super) fn manages(flight: &Flight, origin: &Origin, kinds: FlowKinds) -> bool {
    flight.flow_step().is_some() || (flight.is_control() && origin.is(kinds.back))
}

impl<K: Compiled> FabricDomain<K> {
    /// A message is the first of its queue pair, and nothing of it is sent.
    pub(super) fn begin_flow(&mut self, nic: u32, pair: u32, now: Time) {
        let (to, first) = (
            self.ends.sends.pair(pair).destination,
            self.ends.sends.pair(pair).first,
        );
        // The end of the flow before it calls again.
        if self.ends.flows.sending(nic, to).is_some() {
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
        self.ends.flows.begin(nic, to, flow);
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
        let Some(flow) = self.ends.flows.sending(nic, to) else {
            return;
        };
        flow.stage = Stage::Sent;
        if !flow.probing {
            self.end_flow(nic, to, now);
        }
    }

    fn end_flow(&mut self, nic: u32, to: EndpointId, now: Time) {
        let Some(flow) = self.ends.flows.sending(nic, to) else {
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

    /// A scheme asks the links of an open flow, unless it does so already. With the header that the
    /// pool holds.
    pub(super) fn probe_flow(&mut self, nic: u32, to: EndpointId, now: Time) {
        match self.ends.flows.sending(nic, to) {
            Some(flow) if flow.stage == Stage::Open && !flow.probing => flow.probing = true,
            _ => return,
        }
        self.send_step(nic, to, FlowStep::Probe, now);
    }

    /// Sends a control packet along the path of a flow, with the header that the pool holds.
    fn send_step(&mut self, nic: u32, to: EndpointId, step: FlowStep, now: Time) {
        let Some(&mut flow) = self.ends.flows.sending(nic, to) else {
            return;
        };
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

    /// The hop that is kept for the flow of a packet at an input.
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
                    self.ends.flows.expect(nic, origin.source, origin.message);
                }
                FlowStep::Probe => {}
                FlowStep::End => {
                    self.ends.flows.expect_no_more(nic, origin.source);
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

    /// Handles a control packet that a source has sent along a flow and that has come back from the
    /// destination.
    fn flow_is_back(&mut self, nic: u32, origin: &Origin, now: Time) {
        let to = origin.source;
        let of = |step: &FlowStep| u32::from(step.flag()) == origin.part;
        let Some(step) = FlowStep::ALL.into_iter().find(of) else {
            return;
        };
        let Some(flow) = self.ends.flows.sending(nic, to) else {
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
                self.ends.flows.end(nic, to);
                let ring = self.ends.nics[nic as usize].ring;
                if let Some(pair) = self.ends.sends.find_pair(nic, &ring, to, 0) {
                    self.begin_flow(nic, pair, now);
                }
            }
        }
    }

    /// A data packet of a flow has arrived: behind all that were sent before it and not lost on a
    /// link, or something is wrong with the program.
    #[inline]
    pub(super) fn check_order(&mut self, nic: u32, origin: &Origin) {
        if let Some((message, next)) = self.ends.flows.receiving(nic, origin.source) {
            if *message != origin.message {
                return;
            }
            assert!(
                origin.part >= *next,
                "packet {} of message {} of endpoint {} came where packet {next} was the next",
                origin.part,
                origin.message,
                origin.source
            );
            *next = origin.part + 1;
        }
    }
}
