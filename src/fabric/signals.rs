//! What schemes say out of band: from a router or an endpoint to an endpoint, past all queues.

use std::cmp::Reverse;
use std::collections::BinaryHeap;

use super::domain::FabricDomain;
use super::event::EventKind;
use super::state::{OutIndex, Wire};
use crate::model::{EndpointId, Flight, LATEST, PortId, RouterId, Signal, Time};
use crate::routing::{Here, Hop, Load, Queue};
use crate::topology::Peer;

/// The signals of a domain.
#[derive(Default)]
pub struct Signals {
    /// For this domain's endpoints, those that have not taken effect.
    due: BinaryHeap<Reverse<Signal>>,
    /// Neighbours for whom there is mail that may be due before the end of the window.
    pub urgent: Vec<u32>,
    /// Whether signals can be due before the end of the window.
    pub hurry: bool,
}

impl Signals {
    /// None under way.
    pub fn new(hurry: bool) -> Self {
        Signals {
            hurry,
            ..Signals::default()
        }
    }

    /// Bytes of memory held.
    pub fn memory_bytes(&self) -> usize {
        self.due.capacity() * size_of::<Signal>()
    }
}

/// Who says something.
#[derive(Clone, Copy)]
pub(super) enum Speaker {
    Port(OutIndex),
    Nic(u32),
}

impl<const CC: bool> FabricDomain<CC> {
    /// An event of the scheme: the timer of a router's output, or signals, timers and control packets for NICs.
    #[inline(never)]
    pub(super) fn scheme_event(&mut self, output: OutIndex, now: Time) {
        if output < self.first_nic_output {
            return self.port_timer(output, now);
        }
        // All that are due, for whatever NIC, in the order of what they say; their other events find nothing.
        while let Some(&Reverse(signal)) = self.signals.due.peek()
            && signal.time <= now
        {
            self.signals.due.pop();
            let nic = self.nic_of(signal.to);
            self.scheme.on_signal(nic, &signal);
            self.kick_nic(nic, now);
        }
        self.do_what_is_due(now);
    }

    #[inline(never)]
    pub(super) fn send_signals(&mut self, speaker: Speaker, now: Time) {
        let mut signals = std::mem::take(&mut self.actions.signals);
        let (router, from, port) = match speaker {
            Speaker::Port(output) => {
                let router = &self.routers[self.inputs[output as usize].router as usize];
                (router.id, router.id, (output - router.base) as PortId)
            }
            Speaker::Nic(nic) => {
                let id = self.nics[nic as usize].id;
                (self.network.topology.attachment(id).0, id, Signal::ENDPOINT)
            }
        };
        for (to, kind, words) in signals.drain(..) {
            let delay = self.scheme.signal_delay();
            let delay = delay.unwrap_or_else(|| self.unloaded(router, port, to));
            let signal = Signal {
                time: now + delay.min(LATEST),
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
                self.take_signal(signal);
                continue;
            }
            // Every other domain is a neighbour where there are signals.
            let neighbour = domain - u32::from(domain > self.id);
            let post = &mut self.outboxes[neighbour as usize];
            if self.signals.hurry && post.signals.is_empty() {
                self.signals.urgent.push(neighbour);
            }
            post.signal(signal);
        }
        self.actions.signals = signals;
    }

    /// A signal for an endpoint of this domain.
    pub(super) fn take_signal(&mut self, signal: Signal) {
        let nic = self.nic_of(signal.to);
        if !self.scheme.absorb_signal(nic, &signal) {
            self.signals.due.push(Reverse(signal));
            self.schedule(EventKind::Scheme, self.first_nic_output + nic, signal.time);
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
        let topology = &self.network.topology;
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
            in_port: if port == Signal::ENDPOINT { 0 } else { port },
        };
        let mut time: Time = 0;
        for _ in 0..=self.network.routing.max_routers() {
            let hop = self.network.routing.route(&mut flight, &mut here);
            self.network.routing.take(&mut flight, here.router, hop);
            let crossing = self.network.router(here.router).latency;
            let hop_time = crossing + topology.link(here.router, hop.port).latency;
            time = time.saturating_add(hop_time);
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
    fn source(&self) -> EndpointId {
        0
    }
    fn job(&self) -> u16 {
        0
    }
    fn pick(&mut self, _: u32) -> u32 {
        0
    }
    fn backlog(&mut self, _: PortId) -> u32 {
        0
    }
    fn queue(&mut self, _: PortId) -> Queue {
        Queue::default()
    }
    fn load(&mut self, _: Hop) -> Load {
        Load {
            used: 0,
            queued: 0,
            free: u32::MAX,
        }
    }
    fn recall(&mut self, _: u32) -> u64 {
        0
    }
    fn remember(&mut self, _: u32, _: u64) {}
    fn max_packet(&self) -> u32 {
        1
    }
}
