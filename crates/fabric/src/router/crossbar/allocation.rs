//! Time to allocate a virtual channel to the next packet, if that is not done ahead.
//!
//! A flit-level router gives the virtual channel of an output to a packet in one step and its slot
//! on the crossbar in the next. It looks at the packet behind it in its own channel when the first
//! has left (Dally and Towles, "Principles and Practices of Interconnection Networks", 2004,
//! chapter 16). So a step is lost between two packets on one channel, which is visible if packets
//! are short and ports are full.

use crate::state::ports::allocation::Allocation;

use crate::domain::FabricDomain;
use crate::setup::plain::Compiled;
use crate::state::{InIndex, OutIndex, Wire};
use weir_model::{PacketIndex, Time};

impl<K: Compiled> FabricDomain<K> {
    /// Time when a packet in this queue (an input, and its queue there) may cross to this channel,
    /// as far as allocation decides.
    #[inline(never)]
    pub(crate) fn allocated_from(&self, place: (InIndex, u16), channel: usize) -> Time {
        let Allocation {
            inputs,
            outputs,
            ends,
        } = &self.ports.allocation;
        let input = inputs.get(&place).copied().unwrap_or(0);
        let output = match ends.get(&channel) {
            Some(times) => times.iter().min().copied(),
            None => outputs.get(channel).copied(),
        };
        output.unwrap_or(0).max(input)
    }

    /// Notes that a packet crosses from this queue; its tail is across at `leave`.
    /// Its channels are allocated anew after that.
    #[inline(never)]
    pub(crate) fn allocate_from(
        &mut self,
        index: PacketIndex,
        place: (InIndex, u16),
        output: OutIndex,
        leave: Time,
    ) {
        let timing = self.timing(output);
        let free = leave + timing.vc_allocation;
        let next = free + timing.route_computation;
        let queue = self.pool.get(index).queue;
        let out = &self.ports.outputs[output as usize];
        let (base, to_endpoint) = (out.channel_base, matches!(out.wire, Wire::Endpoint(_)));
        let channel = self.channel(base, queue);
        let Allocation {
            inputs,
            outputs,
            ends,
        } = &mut self.ports.allocation;
        if to_endpoint {
            let vcs = usize::from(self.fixed.injection_vcs);
            let times = ends.entry(channel).or_insert_with(|| vec![0; vcs].into());
            if let Some(time) = times.iter_mut().min() {
                *time = free;
            }
        } else {
            if channel >= outputs.len() {
                outputs.resize(channel + 1, 0);
            }
            outputs[channel] = free;
        }
        if !self.fixed.voq {
            inputs.insert(place, next);
        }
    }
}
