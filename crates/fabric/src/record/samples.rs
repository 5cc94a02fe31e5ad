//! What is recorded at fixed times.
//!
//! Samples are no events: they would keep a run to completion alive for ever, and empty time from being skipped. There are
//! at most [`most_rows`] of them: when there would be more, every other one is forgotten and the interval doubled.

use crate::domain::FabricDomain;
use crate::setup::plain::Compiled;
use serde::{Deserialize, Serialize};
use weir_engine::Schedule;
use weir_model::{EndpointId, NEVER, Time};

/// The most times at which something is recorded.
const MOST_ROWS: usize = 1 << 20;

/// The most numbers that are recorded in all: 128 MiB. (But at least [`LEAST_ROWS`] rows, however long they are.)
const MOST_NUMBERS: usize = 1 << 24;

/// So many times there can be at least.
const LEAST_ROWS: usize = 1 << 10;

/// The most rows of `columns` numbers each, over all domains.
fn most_rows(columns: usize) -> usize {
    (MOST_NUMBERS / columns.max(1)).clamp(LEAST_ROWS, MOST_ROWS)
}

/// An endpoint whose allowed rate is recorded.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Rated {
    /// The endpoint.
    pub endpoint: EndpointId,
    /// The job (its number among those that run) and the task by which it was chosen.
    pub task: Option<(u16, u32)>,
}

/// When a domain records what.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(crate) struct Samples {
    /// When the contents of the routers are recorded next.
    occupancy: Clock,
    /// When the allowed rates are recorded next.
    rates: Clock,
    /// Whose: the NIC, and its place among all that are recorded.
    rated: Vec<(u32, u32)>,
    /// Events processed before the last row of the routers' contents was recorded.
    events: Option<u64>,
}

/// Equal steps from 0 on, or none.
#[derive(Clone, Copy, Debug, Serialize, Deserialize)]
struct Clock {
    next: Time,
    interval: Time,
    /// Steps so far, and how many there may be.
    taken: usize,
    most: usize,
}

impl Clock {
    /// An interval of 0 never comes.
    fn new(interval: Time, most: usize) -> Clock {
        let next = if interval > 0 { 0 } else { NEVER };
        Clock {
            next,
            interval,
            taken: 0,
            most,
        }
    }

    /// Whether it is time; then it is not for another interval.
    fn strikes(&mut self, now: Time) -> bool {
        let strikes = self.next == now;
        if strikes {
            self.taken += 1;
            self.next += self.interval;
        }
        strikes
    }

    /// Before the steps up to `end` are taken: doubles the interval as often as they would be too many, and forgets every
    /// other row (of `columns` numbers) of those that there are.
    fn thin<T: Copy>(&mut self, end: Time, rows: &mut Vec<T>, columns: usize) {
        while self.interval > 0 && end.div_ceil(self.interval) > self.most as Time {
            for (to, from) in (0..self.taken).step_by(2).enumerate() {
                rows.copy_within(from * columns..(from + 1) * columns, to * columns);
            }
            self.taken = self.taken.div_ceil(2);
            rows.truncate(self.taken * columns);
            self.interval *= 2;
            self.next = self.interval * self.taken as Time;
        }
    }

    /// Steps before `end`.
    fn steps(&self, end: Time) -> usize {
        match self.interval {
            0 => 0,
            interval => end.div_ceil(interval) as usize,
        }
    }
}

impl Samples {
    /// Nothing is recorded.
    pub fn none() -> Samples {
        Samples::new((0, 0), (0, 0), Vec::new())
    }

    /// Intervals of the contents of routers, and of the rates of these NICs (0: never), and of how many routers and NICs
    /// in all domains.
    pub fn new(
        (occupancy, routers): (Time, usize),
        (rates, all_rated): (Time, usize),
        rated: Vec<(u32, u32)>,
    ) -> Samples {
        // A domain without one of the chosen endpoints has nothing to do.
        let rates = if rated.is_empty() { 0 } else { rates };
        Samples {
            occupancy: Clock::new(occupancy, most_rows(routers)),
            rates: Clock::new(rates, most_rows(all_rated)),
            rated,
            events: None,
        }
    }

    /// True if they are of the same NICs as others.
    pub fn fit(&self, other: &Samples) -> bool {
        self.rated == other.rated
    }

    /// The intervals of the contents of routers and of the rates as they are now; 0: none are recorded.
    pub fn intervals(&self) -> (Time, Time) {
        (self.occupancy.interval, self.rates.interval)
    }

    /// The time of the next sample; [`NEVER`] if there is none.
    pub fn next(&self) -> Time {
        self.occupancy.next.min(self.rates.next)
    }

    /// The places of the NICs among all whose rates are recorded.
    pub fn places(&self) -> impl Iterator<Item = u32> {
        self.rated.iter().map(|&(_, place)| place)
    }
}

impl<K: Compiled> FabricDomain<K> {
    /// Before the samples up to `until` are taken: sees to it that they are not too many. What counts is the end of the
    /// window, which is the same in all domains; where windows are cut depends on the clock.
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

    /// Records what is due at the time of the next sample.
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
                let rate = self.scheme.allowed_rate(nic, now);
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
        for router in self.ports.routers.iter() {
            let first = router.base as usize;
            let ports = first..first + usize::from(router.ports);
            let flits: u64 = ports
                .map(|port| u64::from(self.ports.outputs[port].level()))
                .sum();
            self.records.stats.occupancy.push(flits);
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
