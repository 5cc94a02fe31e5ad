//! Time steps (Birk and Zdornov 2009, section 2): all packets leave at the beginning of a step, and
//! each output sends one in a step.

use crate::domain::FabricDomain;
use crate::setup::plain::Compiled;
use crate::state::{InIndex, OutIndex};
use weir_model::{PacketIndex, Time, below, stream};

impl<K: Compiled> FabricDomain<K> {
    /// The first time from now on at which a packet may leave an output or a NIC.
    #[inline(always)]
    pub(crate) fn next_departure(&self, now: Time) -> Time {
        match K::RICH && self.fixed.step > 0 {
            true => now.next_multiple_of(self.fixed.step),
            false => now,
        }
    }

    /// Rank of a packet that waits for an output in the order of arrival.
    #[inline(always)]
    pub(crate) fn came(&self, index: PacketIndex, input: InIndex, output: OutIndex) -> (Time, u32) {
        let head = self.pool.get(index).head;
        match K::RICH && self.fixed.step > 0 {
            true => self.step_of(head, input, output),
            false => (head, input),
        }
    }

    /// The same with time steps: packets of one step are in random order.
    #[inline(never)]
    fn step_of(&self, head: Time, input: InIndex, output: OutIndex) -> (Time, u32) {
        let step = head / self.fixed.step;
        let ports = [input, output].map(|port| self.port_of(port));
        let name = ports.map(|(router, port)| u64::from(router) << 16 | u64::from(port));
        (step, below(&mut stream(step, &name), u32::MAX))
    }
}
