//! Packets that are followed, hop by hop: one that the user names, or those of chosen messages.

use std::sync::Arc;

use crate::setup::plain::Compiled;
use rustc_hash::{FxHashMap, FxHashSet};
use serde::{Deserialize, Serialize};

use crate::Switching;
use crate::domain::FabricDomain;
use crate::setup::network::Network;
use crate::state::{OutIndex, Wire};
use weir_model::{EndpointId, Flight, LinkKind, PacketIndex, PacketKind, PortId, RouterId, Time};

/// The packets that a run follows.
#[derive(Clone, Debug, Default)]
pub enum Watched {
    /// None.
    #[default]
    Nothing,
    /// One: its source and its number there.
    Packet(EndpointId, u32),
    /// All data packets of these messages: their sources and their numbers there. A number comes
    /// again after 2³² messages.
    Messages(Arc<FxHashSet<(EndpointId, u32)>>),
}

/// Steps of the packets that a domain follows.
#[derive(Debug, Default, Serialize, Deserialize)]
pub(crate) struct Watch {
    /// True once the packet that the user has named is under way: its number comes again after
    /// 2³² packets.
    found: bool,
    /// Their steps here.
    steps: Vec<Step>,
    /// For how long the NIC of a message had lacked credit when the message was handed to it, by
    /// source and number.
    stalled: FxHashMap<(EndpointId, u32), Time>,
}

/// Where a link of a watched packet's way begins.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum Place {
    /// At the NIC of an endpoint.
    Nic(EndpointId),
    /// At a port of a router.
    Router(RouterId, PortId),
}

/// One link of a packet's way.
#[derive(Clone, Copy, Debug, Serialize, Deserialize)]
pub struct Step {
    /// The packet: its source, its message's number there, and its own.
    pub packet: (EndpointId, u32, u32),
    /// Where from.
    pub from: Place,
    /// What kind of link.
    pub kind: LinkKind,
    /// Traffic class.
    pub class: u8,
    /// Queue within the class; where virtual channels are not divided, the virtual channel.
    pub queue: u32,
    /// When the packet's message was generated, ps.
    pub generated: Time,
    /// For how long the NIC has lacked credit since then, ps; 0 at routers.
    pub stalled: Time,
    /// When it left on the link, ps.
    pub left: Time,
    /// For how long the link was taken by it, ps.
    pub taken: Time,
    /// When the head is at the far end, ps.
    pub head: Time,
    /// When the tail is at the far end, ps.
    pub tail: Time,
    /// True if the far end is the destination's NIC.
    pub last: bool,
}

impl Step {
    /// When the head reached the place where this link begins, ps: when it was at the far end of
    /// the link `before`; at the NIC, when the message was generated.
    pub fn arrived(&self, before: Option<&Step>) -> Time {
        before.map_or(self.generated, |before| before.head)
    }

    /// How long the packet waited where this link begins, ps: longer than without anything in its
    /// way. That would be no time at its NIC; at a router what an idle one takes, and the time of
    /// the packet itself if that has to be there as a whole.
    pub fn waited(&self, before: Option<&Step>, network: &Network) -> Time {
        let free = match self.from {
            Place::Nic(_) => 0,
            Place::Router(router, _) => {
                let own = network.router(router);
                let whole = match own.switching {
                    Switching::StoreAndForward => before.map_or(0, |one| one.tail - one.head),
                    Switching::CutThrough => 0,
                };
                own.latency + whole
            }
        };
        (self.left - self.arrived(before)).saturating_sub(free)
    }
}

impl Watch {
    /// The steps of watched packets in this domain.
    pub(crate) fn steps(&self) -> &[Step] {
        &self.steps
    }
}

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
