//! Checks mail from other ranks before anything in it is used as an index: the lists of a domain
//! are not checked again at every access ([`weir_model::Slots`]).

use crate::domain::FabricDomain;
use crate::setup::plain::Compiled;
use crate::state::mail::post::{CreditMail, PacketMail};
use crate::state::{Upstream, Wire};
use weir_model::Signal;

impl<K: Compiled> FabricDomain<K> {
    /// Queues of a port over all traffic classes.
    pub(crate) fn channels_of(&self, port: u32) -> u32 {
        let out = &self.ports.outputs[port as usize];
        out.queues * u32::from(self.fixed.classes.count())
    }

    /// True if a packet is for an input at which a wire from this neighbour ends, in a queue that
    /// it has.
    pub(crate) fn accepts_packet(&self, neighbour: usize, mail: &PacketMail) -> bool {
        let (packet, origin) = (&mail.packet, &mail.origin);
        let Some(input) = self.ports.inputs.get(mail.input as usize) else {
            return false;
        };
        // An input has the number of the output of its port, and as many queues.
        matches!(input.upstream, Upstream::Away { neighbour: from, .. } if from as usize == neighbour)
            && u32::from(packet.queue) < self.channels_of(mail.input)
            && packet.class < self.fixed.classes.count()
            && (1..=self.fixed.max_packet).contains(&packet.flits)
            && packet.flight.destination < self.network.topology.endpoints()
            && usize::from(origin.kind) < self.fixed.kinds
            && usize::from(origin.job) < self.traffic.len()
    }

    /// True if a credit is for an output that leads to this neighbour, in a queue that it has.
    pub(crate) fn accepts_credit(&self, neighbour: usize, mail: &CreditMail) -> bool {
        let Some(out) = self.ports.outputs.get(mail.output as usize) else {
            return false;
        };
        matches!(out.wire, Wire::Away { neighbour: to, .. } if to as usize == neighbour)
            && u32::from(mail.queue) < self.channels_of(mail.output)
    }

    /// True if a signal is for an endpoint of this domain.
    pub(crate) fn accepts_signal(&self, signal: &Signal) -> bool {
        let topology = &self.network.topology;
        signal.to < topology.endpoints()
            && self
                .network
                .partition
                .domain_of(topology.attachment(signal.to).0)
                == self.id
    }
}
