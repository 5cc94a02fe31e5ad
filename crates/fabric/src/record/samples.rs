//! Records taken at fixed times.
//!
//! Samples are not events: events would keep a run to completion alive for ever, and keep empty
//! time from being skipped. There are at most [`most_rows`] of them: when there would be more,
//! every other one is discarded and the interval doubled.

use crate::domain::FabricDomain;
use crate::setup::plain::Compiled;
use crate::state::records::samples::Samples;
use weir_engine::Schedule;
use weir_model::{NEVER, NO_PACKET, Time};

impl<K: Compiled> FabricDomain<K> {
    /// Ensures before the samples up to `until` are taken that they are not too many.
    /// `until` is the end of the window, which is the same in all domains; the end of a piece
    /// depends on the clock.
    #[inline]
    pub(crate) fn thin_samples(&mut self, until: Time) {
        if self.records.samples.next() == NEVER {
            return;
        }
        let Schedule { window, end, .. } = self.fixed.schedule;
        let end = until.next_multiple_of(window).min(end.max(until));
        let (stats, samples) = (&mut self.records.stats, &mut self.records.samples);
        let (routers, rated) = (self.ports.routers.len(), samples.rated.len());
        let rows = stats.occupancy.len();
        samples.occupancy.thin(end, &mut stats.occupancy, routers);
        if stats.occupancy.len() < rows {
            // The last row that is left may be older than the last sample.
            samples.events = None;
        }
        samples.rates.thin(end, &mut stats.rates, rated);
    }

    /// The time of the next sample; [`NEVER`] if there is none.
    #[inline]
    pub(crate) fn next_sample(&self) -> Time {
        self.records
            .samples
            .next()
            .min(self.records.attribution.next())
    }

    /// Records everything due at the time of the next sample.
    pub(crate) fn sample(&mut self) {
        let now = self.next_sample();
        if self.records.attribution.next() == now {
            self.sample_waits(now);
        }
        if self.records.samples.occupancy.strikes(now) {
            self.sample_occupancy();
        }
        if self.records.samples.rates.strikes(now) {
            for &(nic, _) in &self.records.samples.rated {
                let link = self.nic_link(nic);
                let rate = self.scheme.allowed_rate((nic, link), now);
                self.records.stats.rates.push(rate);
            }
        }
    }

    fn sample_occupancy(&mut self) {
        if self.records.samples.events == Some(self.progress.events) {
            // Nothing has happened since the last time.
            let last = self.records.stats.occupancy.len() - self.ports.routers.len();
            return self.records.stats.occupancy.extend_from_within(last..);
        }
        self.records.samples.events = Some(self.progress.events);
        let rows = self.records.stats.occupancy.len();
        for router in self.ports.routers.iter() {
            let first = router.base as usize;
            let ports = first..first + usize::from(router.ports);
            let flits: u64 = ports
                .map(|port| u64::from(self.ports.outputs[port].level()))
                .sum();
            self.records.stats.occupancy.push(flits);
        }
        if self.fixed.voq {
            return;
        }
        // What is behind the first packet of a queue is on its way to no output yet.
        let bases = self.ports.inputs.iter().map(|input| input.queue_base);
        for (input, queue) in self.ports.fifos.lists_by_input(bases) {
            let mut index = queue.head;
            while index != NO_PACKET {
                let router = self.ports.inputs[input as usize].router as usize;
                let room = self.fixed.room_of::<K>(self.pool.get(index).flits);
                self.records.stats.occupancy[rows + router] += u64::from(room);
                index = self.pool.after(index);
            }
        }
    }

    /// The samples of a run that ended at `end`: nothing has happened since the last event.
    pub(crate) fn finish_samples(&mut self, end: Time) {
        self.thin_samples(end);
        self.progress.until = end;
        while self.next_sample() < end {
            self.sample();
        }
        let Samples {
            occupancy,
            rates,
            rated,
            ..
        } = &self.records.samples;
        let held = occupancy.steps(end) * self.ports.routers.len();
        self.records.stats.occupancy.truncate(held);
        self.records
            .stats
            .rates
            .truncate(rates.steps(end) * rated.len());
    }
}
