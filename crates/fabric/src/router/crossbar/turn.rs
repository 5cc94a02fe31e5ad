//! Packets of several lengths on one channel: none takes the room for which a longer one waits that
//! is before it in turn. Otherwise the room that short packets leave is never enough for a long one.

use super::Crossing;
use crate::Arbitration;
use crate::domain::FabricDomain;
use crate::setup::plain::Compiled;
use crate::state::ports::ring::Side;
use crate::state::{InIndex, NO_REQUEST, OutIndex};
use weir_model::{PacketIndex, Time};

impl<K: Compiled> FabricDomain<K> {
    /// True if other packets of its class may be before this one in turn at its output. Control
    /// packets have a few flits each, and fit wherever there is room.
    #[inline(always)]
    pub(super) fn others_wait(
        &self,
        index: PacketIndex,
        (input, output): (InIndex, OutIndex),
        class: u8,
    ) -> bool {
        if class > self.fixed.classes.data {
            return false;
        }
        let (at_output, _) = self.ring_places(output, input, class);
        match self.ports.rings.outputs[at_output].next {
            NO_REQUEST => false,
            first if self.ports.requests.after(first, Side::Output) == first => {
                self.ports.requests.get(first).queue.head != index
            }
            _ => true,
        }
    }

    /// The reason why a longer packet waits that is before this one in turn and joins the same
    /// channel, if one does. A packet that is not among the requests of its output yet comes behind them.
    #[cold]
    pub(super) fn is_after_longer(
        &mut self,
        index: PacketIndex,
        (input, output): (InIndex, OutIndex),
        channel: usize,
        now: Time,
    ) -> Option<Crossing> {
        let model = self.model(output);
        if model.overtaking {
            return None;
        }
        let arbitration = model.arbitration;
        let packet = self.pool.get(index);
        let (own, class) = (self.room_of(packet.flits), packet.class);
        let rank = self.rank_of(arbitration, index, (input, output));
        let base = self.ports.outputs[output as usize].channel_base;
        let (at_output, _) = self.ring_places(output, input, class);
        let first = self.ports.rings.outputs[at_output].next;
        let mut at = first;
        while at != NO_REQUEST {
            let request = *self.ports.requests.get(at);
            let head = request.queue.head;
            if head == index && arbitration == Arbitration::RoundRobin {
                return None;
            }
            let other = self.pool.get(head);
            let room = self.room_of(other.flits);
            let queue = match self.has_alternatives() {
                true => request.out_queue,
                false => other.queue,
            };
            if room > own
                && self.channel(base, queue) == channel
                && (arbitration == Arbitration::RoundRobin
                    || self.rank_of(arbitration, head, (request.input, output)) < rank)
                && let Some(reason) = self.lacks_room(output, channel, room.into(), now)
            {
                return Some(reason);
            }
            at = self.ports.requests.after(at, Side::Output);
            if at == first {
                break;
            }
        }
        None
    }

    /// The place of a packet in the order in which requests are served; lower ones first. The same
    /// for all with a turn.
    #[inline(always)]
    pub(super) fn rank_of(
        &self,
        arbitration: Arbitration,
        index: PacketIndex,
        (input, output): (InIndex, OutIndex),
    ) -> (Time, u32) {
        match arbitration {
            Arbitration::RoundRobin => (0, 0),
            Arbitration::Oldest => self.ranked(self.pool.origin(index).injected, input, output),
            Arbitration::FirstCome => self.ranked(self.pool.get(index).head, input, output),
        }
    }

    /// The reason why a packet that takes this room on a channel waits: credits or space. Bubbles
    /// aside, for which packets of a ring do not wait.
    #[inline(always)]
    pub(super) fn lacks_room(
        &mut self,
        output: OutIndex,
        channel: usize,
        room: u32,
        now: Time,
    ) -> Option<Crossing> {
        let timing = self.timing(output);
        let (capacity, credit_to_cross) = (timing.output_queue, timing.credit_to_cross);
        if credit_to_cross && !self.has_credit(channel, room, now) {
            return Some(Crossing::Credit);
        }
        let full = capacity.is_some_and(|capacity| self.is_full(channel, room, capacity));
        full.then_some(Crossing::Space)
    }

    /// True if an output queue of this capacity has no space for a packet that takes this room. An
    /// empty one takes any packet.
    #[inline(always)]
    pub(super) fn is_full(&self, channel: usize, room: u32, capacity: u32) -> bool {
        let held = self.ports.channels[channel].flits;
        held > 0 && held + room > capacity
    }
}
