//! Packets that are followed, hop by hop: one that the user names, or those of chosen messages.

use crate::setup::recording::Watched;
use crate::state::records::watch::Step;

use crate::setup::plain::Compiled;

use crate::domain::FabricDomain;
use crate::state::{OutIndex, Wire};
use weir_model::{Flight, PacketIndex, PacketKind, Time};
use weir_network::topology::Place;

impl<K: Compiled> FabricDomain<K> {
    /// True if packets are followed.
    #[inline]
    pub(crate) fn watches(&self) -> bool {
        !matches!(self.watched, Watched::Nothing)
    }

    /// Notes that a NIC is given a message, if that is followed.
    #[cold]
    pub(crate) fn watch_message(&mut self, nic: u32, number: u32, now: Time) {
        if let Watched::Messages(messages) = &self.watched {
            let name = (self.ends.nics[nic as usize].id, number);
            if messages.contains(&name) {
                let output = self.first_nic_output + nic;
                let stalled = self.ports.outputs[output as usize].stalled_until(now);
                self.records.watch.stalled.insert(name, stalled);
            }
        }
    }

    /// A packet leaves its NIC: it is followed from here on, if it is one of those.
    #[cold]
    pub(crate) fn watch_injection(&mut self, index: PacketIndex, nic: u32) {
        let (source, origin) = (self.ends.nics[nic as usize].id, self.pool.origin(index));
        match &self.watched {
            Watched::Packet(from, number)
                if !self.records.watch.found && (*from, *number) == (source, origin.sequence) =>
            {
                self.records.watch.found = true;
            }
            Watched::Messages(messages)
                if origin.is(PacketKind::DATA) && messages.contains(&(source, origin.message)) => {}
            _ => return,
        }
        self.pool.get_mut(index).flight.flags |= Flight::WATCHED;
    }

    /// Notes that a watched packet takes a link. `packet.head` is at the far end already.
    #[cold]
    pub(crate) fn watch_departure(
        &mut self,
        index: PacketIndex,
        output: OutIndex,
        (left, end): (Time, Time),
        tail: Time,
    ) {
        let (packet, origin) = (self.pool.get(index), self.pool.origin(index));
        let out = &self.ports.outputs[output as usize];
        let name = (origin.source, origin.message);
        let (from, stalled) = if output >= self.first_nic_output {
            let nic = self.ends.nics[(output - self.first_nic_output) as usize].id;
            let now = out.stalled_until(left);
            let before = self.records.watch.stalled.get(&name);
            (Place::Nic(nic), before.map_or(0, |before| now - before))
        } else {
            let (router, port) = self.port_of(output);
            (Place::Router(router, port), 0)
        };
        let step = Step {
            packet: (origin.source, origin.message, origin.sequence),
            from,
            kind: out.kind,
            class: packet.class,
            queue: u32::from(packet.queue) - u32::from(packet.class) * out.queues,
            generated: origin.generated,
            stalled,
            left,
            taken: end - left,
            head: packet.head,
            tail,
            last: matches!(out.wire, Wire::Endpoint(_)),
        };
        self.records.watch.steps.push(step);
    }
}
