//! Following one packet, hop by hop.

use crate::fabric::plain::Compiled;
use serde::{Deserialize, Serialize};

use crate::fabric::domain::FabricDomain;
use crate::fabric::state::{OutIndex, Wire};
use crate::model::{EndpointId, LinkKind, PacketIndex, PortId, RouterId, Time};

/// Where a link of the watched packet's way begins.
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
    /// Where from.
    pub from: Place,
    /// What kind of link.
    pub kind: LinkKind,
    /// Traffic class.
    pub class: u8,
    /// Queue within the class; where virtual channels are not divided, the virtual channel.
    pub queue: u32,
    /// When the head reached this place (left the NIC's queue), ps.
    pub arrived: Time,
    /// When it left on the link, ps.
    pub left: Time,
    /// When the head is at the far end, ps.
    pub head: Time,
    /// When the tail is at the far end, ps.
    pub tail: Time,
    /// True if the far end is the destination's NIC.
    pub last: bool,
}

impl<K: Compiled> FabricDomain<K> {
    /// Notes that the watched packet takes a link. `packet.head` is at the far end already.
    #[cold]
    pub(in crate::fabric) fn watch_departure(
        &mut self,
        index: PacketIndex,
        output: OutIndex,
        left: Time,
        tail: Time,
    ) {
        let packet = self.pool.get(index);
        let out = &self.outputs[output as usize];
        let from = if output >= self.first_nic_output {
            Place::Nic(self.nics[(output - self.first_nic_output) as usize].id)
        } else {
            let (router, port) = self.port_of(output);
            Place::Router(router, port)
        };
        // The head reached this place when it left the one before: the last step says when that will be.
        let arrived = match from {
            Place::Nic(_) => self.pool.origin(index).generated,
            Place::Router(..) => self.watch_arrival,
        };
        self.steps.push(Step {
            from,
            kind: out.kind,
            class: packet.class,
            queue: u32::from(packet.queue) - u32::from(packet.class) * out.queues,
            arrived,
            left,
            head: packet.head,
            tail,
            last: matches!(out.wire, Wire::Endpoint(_)),
        });
    }
}
