//! Finds the queues of a port, whether it has few or many.

use crate::setup::plain::Compiled;

use crate::domain::FabricDomain;
use crate::state::{OutIndex, Output};

impl<K: Compiled> FabricDomain<K> {
    /// The place of a queue's channel, from its port's [`crate::state::Output::channel_base`].
    #[inline(always)]
    pub(crate) fn channel(&mut self, base: u32, queue: u16) -> usize {
        match Self::is_wide(base) {
            true => self
                .ports
                .wide_ports
                .channel(base, queue, &mut self.ports.channels),
            false => base as usize + usize::from(queue),
        }
    }

    /// The same of a queue that has been used; None if it has not.
    pub(crate) fn used_channel(&self, base: u32, queue: u16) -> Option<usize> {
        if !Self::is_wide(base) {
            return Some(base as usize + usize::from(queue));
        }
        self.ports.wide_ports.of(base).used(queue)
    }

    /// The queues of an output that may have been used, ascending, with their channels.
    pub(crate) fn used_channels(&self, out: &Output) -> Vec<(u16, usize)> {
        let base = out.channel_base;
        if !Self::is_wide(base) {
            let queues = out.queues * u32::from(self.fixed.classes.count());
            return (0..queues)
                .map(|queue| (queue as u16, (base + queue) as usize))
                .collect();
        }
        self.ports.wide_ports.of(base).all_used()
    }

    /// Takes note that an output queue is not empty.
    #[inline]
    pub(crate) fn set_ready(&mut self, output: OutIndex, queue: u16) {
        let out = &mut self.ports.outputs[output as usize];
        if !Self::is_wide(out.channel_base) {
            out.ready |= 1 << queue;
            return;
        }
        out.ready |= 1 << (u32::from(queue) / out.queues);
        let wide_port = self.ports.wide_ports.of_mut(out.channel_base);
        wide_port.set_ready(queue, true);
    }

    /// Takes note that an output queue is empty.
    #[inline]
    pub(crate) fn clear_ready(&mut self, output: OutIndex, queue: u16) {
        let out = &mut self.ports.outputs[output as usize];
        if !Self::is_wide(out.channel_base) {
            out.ready &= !(1 << queue);
            return;
        }
        let wide_port = self.ports.wide_ports.of_mut(out.channel_base);
        wide_port.set_ready(queue, false);
        let class = u32::from(queue) / out.queues;
        let (from, end) = (class * out.queues, (class + 1) * out.queues);
        if self.next_ready(output, from, end).is_none() {
            self.ports.outputs[output as usize].ready &= !(1 << class);
        }
    }

    /// The first output queue from `from` to before `end` that is not empty.
    pub(crate) fn next_ready(&self, output: OutIndex, from: u32, end: u32) -> Option<u16> {
        let out = &self.ports.outputs[output as usize];
        let found = if !Self::is_wide(out.channel_base) {
            let rest = out.ready & u64::MAX.checked_shl(from).unwrap_or(0);
            (rest != 0).then(|| rest.trailing_zeros() as u16)
        } else {
            self.ports.wide_ports.of(out.channel_base).next_ready(from)
        };
        found.filter(|&queue| u32::from(queue) < end)
    }
}
