//! Time steps (Birk and Zdornov 2009, section 2): all packets leave at the beginning of a step, and
//! each output sends one in a step.

use crate::domain::FabricDomain;
use crate::setup::plain::Compiled;
use crate::state::{InIndex, OutIndex};
use weir_model::{Time, below, purpose, stream};

impl<K: Compiled> FabricDomain<K> {
    /// The first time from now on at which a packet may leave an output or a NIC.
    #[inline(always)]
    pub(crate) fn next_departure(&self, now: Time) -> Time {
        match K::RICH && self.fixed.step > 0 {
            // No time that never comes is rounded up.
            true => now.checked_next_multiple_of(self.fixed.step).unwrap_or(now),
            false => now,
        }
    }

    /// Rank among packets that came or were injected at the same time. `port`: the packet's input.
    #[inline(always)]
    pub(crate) fn ranked(&self, time: Time, port: InIndex, output: OutIndex) -> (Time, u32) {
        if K::RICH && self.fixed.step > 0 {
            return self.ranked_in_step(time, port, output);
        }
        (time, port)
    }

    /// The same with time steps: packets of one step are in random order.
    #[inline(never)]
    fn ranked_in_step(&self, time: Time, input: InIndex, output: OutIndex) -> (Time, u32) {
        let step = time / self.fixed.step;
        let [from, to] = [input, output].map(|port| {
            let (router, port) = self.port_of(port);
            u64::from(router) << 16 | u64::from(port)
        });
        let mut rng = stream(self.seed, &[purpose::STEP, step, from, to]);
        (step, below(&mut rng, u32::MAX))
    }
}
