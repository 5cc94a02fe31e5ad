//! A place that stays free in each ring ([`weir_network::routing::Routing::onward`]), so that some
//! packet of it can always move.
//!
//! All packets take the room of the longest then. (By flits a packet of half that length that moves
//! on would leave half of a free place behind and half before it, in neither of which a long one
//! fits: the bubble would be gone.)

use crate::domain::FabricDomain;
use crate::setup::plain::Compiled;
use crate::state::{InIndex, NO_OUTPUT, OutIndex};
use weir_model::{Flight, PacketIndex};

impl<K: Compiled> FabricDomain<K> {
    /// Finds out which inputs and outputs are in such a ring.
    pub(crate) fn add_rings(&mut self) {
        if !self.keeps_bubbles() {
            return;
        }
        let network = self.network.clone();
        for router in self.ports.routers.iter() {
            for port in 0..router.ports {
                if let Some(onward) = network.routing.onward(router.id, port) {
                    let output = router.base + u32::from(onward);
                    self.ports.inputs[(router.base + u32::from(port)) as usize].onward = output;
                    self.ports.outputs[output as usize].ring = true;
                }
            }
        }
    }

    /// Takes note whether a packet that is routed to an output enters a ring there.
    /// `from`: its input and its queue there. A packet that continues along its ring stays in the
    /// same queue.
    #[inline(never)]
    pub(crate) fn note_entry(
        &mut self,
        index: PacketIndex,
        (input, in_queue): (InIndex, u16),
        output: OutIndex,
    ) {
        let onward = self.ports.inputs[input as usize].onward;
        let packet = self.pool.get_mut(index);
        let goes_on = onward != NO_OUTPUT && onward == output && in_queue == packet.queue;
        packet.flight.flags &= !Flight::ENTERS;
        if self.ports.outputs[output as usize].ring && !goes_on {
            packet.flight.flags |= Flight::ENTERS;
        }
    }

    /// Flits that must be free in the buffer ahead for a packet to go there.
    #[inline(always)]
    pub(crate) fn room_for(&self, index: PacketIndex) -> u32 {
        let packet = self.pool.get(index);
        let place = u32::from(self.room_of(packet.flits));
        let enters = self.keeps_bubbles() && packet.flight.flags & Flight::ENTERS != 0;
        place << u32::from(enters)
    }
}
