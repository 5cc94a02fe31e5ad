//! Packets on links that fail during the run: lost, sent again, or slow.

use crate::domain::FabricDomain;
use crate::setup::plain::Compiled;
use crate::state::{InIndex, OutIndex};
use weir_model::{PacketIndex, Time, stream, unit};
use weir_network::topology::Place;

/// Purpose of the random stream of the errors on a link.
const ERROR_STREAM: u64 = 5;

impl<K: Compiled> FabricDomain<K> {
    /// True if links of this domain fail during the run.
    #[inline(always)]
    pub(crate) fn has_failing(&self) -> bool {
        K::RICH && !self.failing.is_empty()
    }

    /// The time that a packet of `flits` flits takes on an output's link from `depart` on, if the
    /// link is slower then; and the time until it can be sent without an error.
    #[inline(never)]
    pub(crate) fn worse(
        &mut self,
        output: OutIndex,
        flits: u16,
        depart: Time,
    ) -> Option<[Time; 2]> {
        let failing = self.failing.get(&output)?;
        let (span, rate, errors) = failing.worse?;
        if !span.contains(depart) {
            return None;
        }
        let length = rate.time(flits);
        if errors == 0.0 {
            return Some([length, 0]);
        }
        let out = &self.ports.outputs[output as usize];
        let [kind, place] = match failing.place {
            Place::Nic(endpoint) => [0, u64::from(endpoint)],
            Place::Router(router, port) => [1 + u64::from(port), u64::from(router)],
        };
        let mut rng = stream(self.seed, &[ERROR_STREAM, kind, place, out.counts.packets]);
        let bits = f64::from(flits) * f64::from(self.network.parameters.flit.0);
        let wrong = -f64::exp_m1(bits * f64::ln_1p(-errors));
        let mut retries = 0;
        while unit(&mut rng) < wrong {
            retries += 1;
        }
        let number = failing.number;
        self.records.failing[number].retries += retries;
        // Nothing else is on the link until the receiver has refused the packet.
        let round_trip = length + 2 * self.timing(output).latency;
        Some([length, retries * round_trip])
    }

    /// True if a packet is lost that is on an output's link from one moment to another; it is gone
    /// then.
    #[inline(never)]
    pub(crate) fn loses(
        &mut self,
        index: PacketIndex,
        output: OutIndex,
        [from, to]: [Time; 2],
    ) -> bool {
        let Some(failing) = self.failing.get(&output) else {
            return false;
        };
        let mut lost = failing.lost.iter();
        if !lost.any(|lost| lost.from <= to && from < lost.to) {
            return false;
        }
        self.records.failing[failing.number].lost += 1;
        self.records.stats.tally.lost += 1;
        if output < self.first_nic_output && Self::is_prepaid(self.timing(output)) {
            self.leave_place(index, output, to);
        }
        self.pool.remove(index);
        true
    }

    /// A packet at an input has no way to its destination, and is lost.
    #[inline(never)]
    pub(crate) fn lose_cut_off(&mut self, index: PacketIndex, input: InIndex, now: Time) {
        let in_queue = self.pool.get(index).queue;
        self.records.stats.tally.cut_off += 1;
        self.leave_input(index, (input, in_queue), now);
        self.pool.remove(index);
    }
}
