//! Following one packet, hop by hop.

use super::domain::FabricDomain;
use super::state::{OutIndex, Wire};
use crate::model::{EndpointId, LinkKind, PacketIndex, PortId, RouterId, Time};

/// Where a link of the watched packet's way begins.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Place {
    /// At the NIC of an endpoint.
    Nic(EndpointId),
    /// At a port of a router.
    Router(RouterId, PortId),
}

/// One link of a packet's way.
#[derive(Clone, Copy, Debug)]
pub struct Step {
    /// Where from.
    pub from: Place,
    /// What kind of link.
    pub kind: LinkKind,
    /// Traffic class.
    pub class: u8,
    /// Virtual channel within the class.
    pub vc: u8,
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

impl Step {
    /// Steps as bytes, to cross to rank 0.
    pub fn encode(steps: &[Step]) -> Vec<u8> {
        let words: Vec<u64> = steps.iter().flat_map(|step| step.to_words()).collect();
        bytemuck::cast_slice(&words).to_vec()
    }

    /// The inverse of [`Step::encode`].
    pub fn decode(bytes: &[u8]) -> Vec<Step> {
        let words: Vec<u64> = bytes
            .chunks_exact(8)
            .map(bytemuck::pod_read_unaligned)
            .collect();
        words.as_chunks().0.iter().map(Step::from_words).collect()
    }

    fn to_words(self) -> [u64; 9] {
        let (is_nic, id, port) = match self.from {
            Place::Nic(endpoint) => (1, endpoint, 0),
            Place::Router(router, port) => (0, router, port),
        };
        let small =
            u64::from(self.kind as u8) | u64::from(self.class) << 8 | u64::from(self.vc) << 16;
        let last = u64::from(self.last);
        [
            is_nic,
            u64::from(id),
            u64::from(port),
            small,
            self.arrived,
            self.left,
            self.head,
            self.tail,
            last,
        ]
    }

    fn from_words(words: &[u64; 9]) -> Step {
        let &[is_nic, id, port, small, arrived, left, head, tail, last] = words;
        let from = match is_nic {
            1 => Place::Nic(id as u32),
            _ => Place::Router(id as u32, port as u16),
        };
        let kind = LinkKind::ALL[small as usize & 0xFF];
        let (class, vc) = ((small >> 8) as u8, (small >> 16) as u8);
        Step {
            from,
            kind,
            class,
            vc,
            arrived,
            left,
            head,
            tail,
            last: last == 1,
        }
    }
}

impl<const CC: bool> FabricDomain<CC> {
    /// Notes that the watched packet takes a link. `packet.head` is at the far end already.
    #[cold]
    pub(super) fn watch_departure(
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
            let at = self.routers.partition_point(|router| router.base <= output) - 1;
            let router = &self.routers[at];
            Place::Router(router.id, (output - router.base) as PortId)
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
            vc: packet.out_vc - packet.class * out.vcs,
            arrived,
            left,
            head: packet.head,
            tail,
            last: matches!(out.wire, Wire::Endpoint(_)),
        });
    }
}
