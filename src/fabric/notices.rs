//! What schemes say out of band: from a router or an endpoint to an endpoint, past all queues.

use std::cmp::Reverse;
use std::collections::BinaryHeap;

use super::domain::FabricDomain;
use super::event::EventKind;
use super::state::{OutIndex, Wire};
use crate::congestion::{Dispatch, Passing, Port, Scheme};
use crate::model::{
    EndpointId, Flight, Notice, Origin, Packet, PacketIndex, PacketKind, PortId, RouterId, Time,
};
use crate::routing::Here;
use crate::topology::Peer;

/// The notices of a domain.
#[derive(Default)]
pub struct Notices {
    /// For this domain's endpoints, those that have not taken effect.
    due: BinaryHeap<Reverse<Notice>>,
    /// What the scheme's hook asks for while it is called.
    dispatch: Dispatch,
    /// Neighbours for whom there is mail that may be due before the end of the window.
    pub urgent: Vec<u32>,
    /// Whether notices can be due before the end of the window.
    pub hurry: bool,
}

impl Notices {
    /// None under way.
    pub fn new(hurry: bool) -> Self {
        Notices {
            hurry,
            ..Notices::default()
        }
    }

    /// Bytes of memory held.
    pub fn memory_bytes(&self) -> usize {
        self.due.capacity() * size_of::<Notice>()
    }
}

/// Who says something.
#[derive(Clone, Copy)]
enum Speaker {
    Port(OutIndex),
    Nic(u32),
}

impl<S: Scheme> FabricDomain<S> {
    fn passing(packet: &Packet, origin: &Origin) -> Passing {
        Passing {
            source: origin.source,
            destination: packet.flight.destination,
            flits: packet.flits,
        }
    }

    /// Tells the scheme of a data packet at an output, by one of its hooks.
    pub(super) fn tell(
        &mut self,
        hook: fn(&mut S, &mut Dispatch, &Port, &Passing, Time),
        index: PacketIndex,
        output: OutIndex,
        now: Time,
    ) {
        let (packet, origin) = (self.pool.get(index), self.pool.origin(index));
        if origin.kind == PacketKind::Data as u8 {
            let (port, passing) = (self.port(output), Self::passing(packet, origin));
            let dispatch = &mut self.notices.dispatch;
            hook(&mut self.scheme, dispatch, &port, &passing, now);
            self.carry_out(Speaker::Port(output), now);
        }
    }

    /// Tells the scheme that a data packet is at its endpoint.
    pub(super) fn tell_delivered(&mut self, nic: u32, packet: &Packet, origin: &Origin, now: Time) {
        let passing = Self::passing(packet, origin);
        let dispatch = &mut self.notices.dispatch;
        self.scheme.delivered(dispatch, &passing, now);
        self.carry_out(Speaker::Nic(nic), now);
    }

    /// An alarm of a router's output, or notices for a NIC.
    #[inline(never)]
    pub(super) fn scheme_event(&mut self, output: OutIndex, now: Time) {
        if output < self.first_nic_output {
            let port = self.port(output);
            let dispatch = &mut self.notices.dispatch;
            self.scheme.alarm(dispatch, &port, now);
            return self.carry_out(Speaker::Port(output), now);
        }
        // All that are due, for whatever NIC, in the order of what they say; their other events find nothing.
        while let Some(&Reverse(notice)) = self.notices.due.peek()
            && notice.time <= now
        {
            self.notices.due.pop();
            let nic = self.nic_of(notice.to);
            self.scheme.told(nic, &notice);
            self.kick_nic(nic, now);
        }
    }

    /// Does what a hook has asked for.
    #[inline]
    fn carry_out(&mut self, speaker: Speaker, now: Time) {
        if let (Some(time), Speaker::Port(output)) = (self.notices.dispatch.alarm.take(), speaker) {
            self.schedule(EventKind::Scheme, output, time.max(now));
        }
        if !self.notices.dispatch.notices.is_empty() {
            self.send_notices(speaker, now);
        }
    }

    #[inline(never)]
    fn send_notices(&mut self, speaker: Speaker, now: Time) {
        let mut notices = std::mem::take(&mut self.notices.dispatch.notices);
        let (router, from, port) = match speaker {
            Speaker::Port(output) => {
                let router = &self.routers[self.inputs[output as usize].router as usize];
                (router.id, router.id, (output - router.base) as PortId)
            }
            Speaker::Nic(nic) => {
                let id = self.nics[nic as usize].id;
                (self.network.topology.attachment(id).0, id, Notice::ENDPOINT)
            }
        };
        for (to, kind, words) in notices.drain(..) {
            let delay = self.scheme.notice_delay();
            let delay = delay.unwrap_or_else(|| self.unloaded(router, port, to));
            let notice = Notice {
                time: now.saturating_add(delay),
                to,
                from,
                port,
                kind,
                spare: 0,
                words,
            };
            let (there, _) = self.network.topology.attachment(to);
            let domain = self.network.topology.domain_of(there);
            if domain == self.id {
                self.take_notice(notice);
                continue;
            }
            // Every other domain is a neighbour where there are notices.
            let neighbour = domain - u32::from(domain > self.id);
            let post = &mut self.outboxes[neighbour as usize];
            if self.notices.hurry && post.notices.is_empty() {
                self.notices.urgent.push(neighbour);
            }
            post.notice(notice);
        }
        self.notices.dispatch.notices = notices;
    }

    /// A notice for an endpoint of this domain.
    pub(super) fn take_notice(&mut self, notice: Notice) {
        let nic = self.nic_of(notice.to);
        if !self.scheme.taken_early(nic, &notice) {
            self.notices.due.push(Reverse(notice));
            self.schedule(EventKind::Scheme, self.first_nic_output + nic, notice.time);
        }
    }

    /// The place of an endpoint of this domain among its NICs.
    fn nic_of(&self, endpoint: EndpointId) -> u32 {
        let (router, port) = self.network.topology.attachment(endpoint);
        match self.outputs[self.flat_port(router, port) as usize].wire {
            Wire::Endpoint(nic) => nic,
            _ => unreachable!("endpoints are attached to their router's port"),
        }
    }

    /// What a packet without length takes from a router to an endpoint through an empty network, ps. It begins at the
    /// router's port `port`, so its route is that of a packet which has come in there.
    fn unloaded(&self, router: RouterId, port: PortId, to: EndpointId) -> Time {
        let (topology, parameters) = (&self.network.topology, &self.network.parameters);
        let mut flight = Flight {
            destination: to,
            via: 0,
            phase: 0,
            steps: 0,
            flags: Flight::CONTROL,
            routers: 0,
        };
        let mut here = EmptyNetwork {
            router,
            in_port: if port == Notice::ENDPOINT { 0 } else { port },
        };
        let mut time = 0;
        for _ in 0..=self.network.routing.max_routers() {
            let hop = self.network.routing.route(&mut flight, &mut here);
            time += parameters.latency + topology.link(here.router, hop.port).latency;
            match topology.peer(here.router, hop.port) {
                Peer::Router(router, in_port) => here = EmptyNetwork { router, in_port },
                Peer::Endpoint(_) | Peer::Unused => break,
            }
        }
        time
    }
}

/// A router at which nothing waits; of several shortest ways the first is taken.
struct EmptyNetwork {
    router: RouterId,
    in_port: PortId,
}

impl Here for EmptyNetwork {
    fn router(&self) -> RouterId {
        self.router
    }
    fn in_port(&self) -> PortId {
        self.in_port
    }
    fn pick(&mut self, _: u32) -> u32 {
        0
    }
    fn backlog(&mut self, _: PortId) -> u32 {
        0
    }
    fn max_packet(&self) -> u32 {
        1
    }
}
