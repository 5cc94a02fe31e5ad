//! Out-of-band signals of schemes: from a router or an endpoint to an endpoint, past all queues.

use crate::setup::plain::Compiled;
use crate::state::mail::speaker::Speaker;

use crate::domain::FabricDomain;
use crate::empty;
use crate::state::event::EventKind;
use crate::state::{OutIndex, Wire};
use weir_model::{EndpointId, LATEST, PortId, RouterId, Signal, Time};
use weir_network::topology::Place;

impl<K: Compiled> FabricDomain<K> {
    /// An event of the scheme: the timer of a router's output, or signals, timers and control
    /// packets for NICs.
    #[inline(never)]
    pub(crate) fn scheme_event(&mut self, output: OutIndex, now: Time) {
        if output < self.first_nic_output {
            return self.port_timer(output, now);
        }
        // Signals that are due for any NIC, in the order of their content; later events of the
        // others find nothing.
        while let Some(signal) = self.mail.signals.take(now) {
            let nic = self.nic_of(signal.to);
            self.scheme.on_signal(nic, &signal);
            self.kick_nic(nic, now);
        }
        self.do_what_is_due(now);
    }

    #[inline(never)]
    pub(crate) fn send_signals(&mut self, speaker: Speaker, now: Time) {
        let mut signals = std::mem::take(&mut self.actions.signals);
        let (router, from, port) = match speaker {
            Speaker::Port(output) => {
                let (router, port) = self.port_of(output);
                (router, router, port)
            }
            Speaker::Nic(nic) => {
                let id = self.ends.nics[nic as usize].id;
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
            let domain = self.network.partition.domain_of(there);
            if domain == self.id {
                self.take_signal(signal);
                continue;
            }
            // If there are signals, every other domain is a neighbour.
            let neighbour = domain - u32::from(domain > self.id);
            let post = self.outboxes.to(neighbour);
            if self.mail.signals.interleaved && post.signals.is_empty() {
                self.mail.signals.urgent.push(neighbour);
            }
            post.signal(signal);
        }
        self.actions.signals = signals;
    }

    /// A signal for an endpoint of this domain.
    pub(crate) fn take_signal(&mut self, signal: Signal) {
        let nic = self.nic_of(signal.to);
        if !self.scheme.absorb_signal(nic, &signal) {
            self.mail.signals.add(signal);
            self.schedule(EventKind::Scheme, self.first_nic_output + nic, signal.time);
        }
    }

    /// The place of an endpoint of this domain among its NICs.
    pub(crate) fn nic_of(&self, endpoint: EndpointId) -> u32 {
        let (router, port) = self.network.topology.attachment(endpoint);
        match self.ports.outputs[self.flat_port(router, port) as usize].wire {
            Wire::Endpoint(nic) => nic,
            _ => unreachable!("endpoints are attached to their router's port"),
        }
    }

    /// Zero-load time of a packet without length from a router to an endpoint, ps.
    /// The route starts at the router's port `port`, as if the packet had come in there.
    fn unloaded(&self, router: RouterId, port: PortId, to: EndpointId) -> Time {
        let in_port = if port == Signal::ENDPOINT { 0 } else { port };
        let network = &self.network;
        let hop = |router, port| {
            let link = network.link(Place::Router(router, port));
            network.router(router).latency.saturating_add(link.latency)
        };
        empty::way(
            network.topology.as_ref(),
            network.routing.as_ref(),
            &hop,
            (router, in_port),
            to,
        )
    }
}
