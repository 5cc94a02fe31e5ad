//! The places in the buffers behind links: taken when a packet is sent, given back when it leaves
//! them.

mod bubble;

use crate::domain::FabricDomain;
use crate::setup::plain::Compiled;
use crate::state::{InIndex, OutIndex, Upstream};
use weir_model::{PacketIndex, Time};

impl<K: Compiled> FabricDomain<K> {
    /// Sends the credit of a packet that leaves an input buffer at `leave` (its tail) back
    /// upstream.
    #[inline(always)]
    pub(crate) fn give_back(&mut self, input: InIndex, queue: u16, flits: u16, leave: Time) {
        let flits = self.room_of(flits);
        let place = &self.ports.inputs[input as usize];
        let time = leave + place.credit_latency;
        match place.upstream {
            Upstream::Output(output) => self.take_credit(output, queue, flits, time),
            Upstream::Away { neighbour, output } => {
                let post = self.outboxes.to(neighbour);
                post.credit(time, output, queue, flits);
            }
            Upstream::Nothing => {}
        }
    }

    /// True if a channel has credits for `flits` flits.
    #[inline(always)]
    pub(crate) fn has_credit(&mut self, channel: usize, flits: u32, now: Time) -> bool {
        let home = self.home(channel);
        self.ports.channels[home].credit.has(flits, now)
    }

    /// Collects the credits of a channel that have come back by now, if a scheme may mark leaving
    /// packets: it is told the credits left.
    #[inline(always)]
    pub(crate) fn count_credits(&mut self, output: OutIndex, channel: usize, now: Time) {
        if K::CC && self.ports.outputs[output as usize].level() >= self.fixed.mark_from {
            let home = self.home(channel);
            self.ports.channels[home].credit.collect(now);
        }
    }

    /// A credit will be usable at an output from `time` on.
    #[inline(always)]
    pub(crate) fn take_credit(&mut self, output: OutIndex, queue: u16, flits: u16, time: Time) {
        let base = self.ports.outputs[output as usize].channel_base;
        let channel = self.channel(base, queue);
        let channel = self.home(channel);
        let passed = self.queue.passed();
        self.ports.channels[channel]
            .credit
            .give(time, u32::from(flits), passed);
        if Self::is_wide(base) {
            self.take_lent(output, queue, flits, time);
        }
        if self.ports.outputs[output as usize].is_stalled() {
            self.wake_stalled(output, time);
        }
    }

    /// The same for the credits that the queues of a port with many queues have in use together.
    #[inline(never)]
    fn take_lent(&mut self, output: OutIndex, queue: u16, flits: u16, time: Time) {
        let out = &self.ports.outputs[output as usize];
        let class = u32::from(queue) / out.queues;
        let passed = self.queue.passed();
        let lent = self.ports.wide_ports.lent(out.channel_base, class as u8);
        lent.give(time, u32::from(flits), passed);
    }

    /// Wakes an output that is stalled for lack of credits, at the time when some are available.
    #[inline(never)]
    fn wake_stalled(&mut self, output: OutIndex, time: Time) {
        if output < self.first_nic_output && self.timing(output).credit_to_cross {
            self.wake_output(output, time);
        } else {
            self.wake_link(output, time);
        }
    }

    /// Takes the credit of a packet for the buffer behind a link.
    #[inline(always)]
    pub(crate) fn take_place(&mut self, index: PacketIndex, output: OutIndex) {
        let (packet, out) = (self.pool.get(index), &self.ports.outputs[output as usize]);
        let flits = u32::from(self.room_of(packet.flits));
        let (base, queue, class) = (out.channel_base, packet.queue, packet.class);
        let channel = self.channel(base, queue);
        let channel = self.home(channel);
        self.ports.channels[channel].credit.available -= flits;
        if Self::is_wide(base) {
            self.ports.wide_ports.lent(base, class).lend(flits);
        }
    }

    /// Gives the credit of a packet back, to be used from `time` on.
    /// The packet is at its endpoint, or was dropped after it had taken the credit.
    #[inline(never)]
    pub(crate) fn leave_place(&mut self, index: PacketIndex, output: OutIndex, time: Time) {
        let packet = self.pool.get(index);
        let (queue, flits) = (packet.queue, self.room_of(packet.flits));
        self.take_credit(output, queue, flits, time);
    }
}
