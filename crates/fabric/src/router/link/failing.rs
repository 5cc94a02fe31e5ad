//! Packets on links that fail during the run: lost, sent again, or slow.

use crate::domain::FabricDomain;
use crate::setup::plain::Compiled;
use crate::state::{InIndex, OutIndex};
use weir_model::{PacketIndex, Time, purpose, stream, unit};
use weir_network::topology::Place;

/// The sending of a packet on a link that is worse than it was built.
pub(crate) struct Worse {
    /// Time of the packet on the link, ps.
    pub length: Time,
    /// Time before that in which it is sent with errors, ps.
    pub again: Time,
    /// Number of times that it is.
    pub retries: u64,
}

impl<K: Compiled> FabricDomain<K> {
    /// True if links of this domain fail during the run.
    #[inline(always)]
    pub(crate) fn has_failing(&self) -> bool {
        K::RICH && !self.failing.is_empty()
    }

    /// The sending of a packet of `flits` flits on an output's link from `depart` on, if the link
    /// is worse then than it was built. The same whenever it is asked before the packet is sent.
    #[inline(never)]
    pub(crate) fn worse(&self, output: OutIndex, flits: u16, depart: Time) -> Option<Worse> {
        let failing = self.failing.get(&output)?;
        let (span, rate, errors) = failing.worse?;
        if !span.contains(depart) {
            return None;
        }
        let length = rate.time(flits);
        if errors == 0.0 {
            return Some(Worse {
                length,
                again: 0,
                retries: 0,
            });
        }
        let out = &self.ports.outputs[output as usize];
        let [kind, place] = match failing.place {
            Place::Nic(endpoint) => [0, u64::from(endpoint)],
            Place::Router(router, port) => [1 + u64::from(port), u64::from(router)],
        };
        let mut rng = stream(
            self.seed,
            &[purpose::ERROR, kind, place, out.counts.packets],
        );
        let bits = f64::from(flits) * f64::from(self.network.parameters.flit.0);
        let wrong = -f64::exp_m1(bits * f64::ln_1p(-errors));
        let mut retries = 0;
        while unit(&mut rng) < wrong {
            retries += 1;
        }
        // Nothing else is on the link until the receiver has refused the packet.
        let round_trip = length + 2 * self.timing(output).latency;
        Some(Worse {
            length,
            again: retries * round_trip,
            retries,
        })
    }

    /// The time that a packet keeps the link that it crosses onto, if the link is worse than it was
    /// built; None behind an output queue too.
    #[inline(always)]
    pub(crate) fn longer(&self, output: OutIndex, index: PacketIndex, now: Time) -> Option<Time> {
        match self.has_failing() {
            true => self.time_on_link(output, index, now),
            false => None,
        }
    }

    #[inline(never)]
    fn time_on_link(&self, output: OutIndex, index: PacketIndex, now: Time) -> Option<Time> {
        let timing = self.timing(output);
        if timing.output_queue.is_some() {
            return None;
        }
        let flits = self.pool.get(index).flits;
        let worse = self.worse(output, flits, now + timing.crossing)?;
        Some(worse.again + worse.length)
    }

    /// Counts packets that are sent again.
    #[inline(never)]
    pub(crate) fn count_retries(&mut self, output: OutIndex, retries: u64) {
        if retries > 0 {
            self.records.failing.entry(output).or_default().retries += retries;
        }
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
        let Some(begins) = lost
            .find(|lost| lost.from <= to && from < lost.to)
            .map(|lost| lost.from)
        else {
            return false;
        };
        if K::CC && self.fixed.can.observes && output < self.first_nic_output {
            self.leaves_port(index, output, from);
        }
        let counts = self.records.failing.entry(output).or_default();
        counts.lost += 1;
        counts.last_outage.loses_at(begins);
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
