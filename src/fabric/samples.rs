//! What is recorded at fixed times.
//!
//! Samples are no events: they would keep a run to completion alive for ever, and empty time from being skipped.

use super::domain::FabricDomain;
use crate::congestion::Scheme;
use crate::model::{EndpointId, NEVER, Time};

/// An endpoint whose allowed rate is recorded.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Rated {
    /// The endpoint.
    pub endpoint: EndpointId,
    /// The job (its number among those that run) and the task by which it was chosen.
    pub task: Option<(u16, u32)>,
}

/// When a domain records what.
#[derive(Clone, Debug)]
pub(super) struct Samples {
    /// When the contents of the routers are recorded next.
    occupancy: Clock,
    /// When the allowed rates are recorded next.
    rates: Clock,
    /// Whose: the NIC, and its place among all that are recorded.
    rated: Vec<(u32, u32)>,
}

/// Equal steps from 0 on, or none.
#[derive(Clone, Copy, Debug)]
struct Clock {
    next: Time,
    interval: Time,
}

impl Clock {
    /// An interval of 0 never comes.
    fn new(interval: Time) -> Clock {
        let next = if interval > 0 { 0 } else { NEVER };
        Clock { next, interval }
    }

    /// Whether it is time; then it is not for another interval.
    fn strikes(&mut self, now: Time) -> bool {
        let strikes = self.next == now;
        if strikes {
            self.next += self.interval;
        }
        strikes
    }

    /// Steps before `end`.
    fn steps(&self, end: Time) -> usize {
        end.checked_div(self.interval).map_or(0, |whole| {
            whole as usize + usize::from(whole * self.interval < end)
        })
    }
}

impl Samples {
    /// `interval` of the contents of routers, and of the rates of these NICs; 0: never.
    pub fn new(occupancy: Time, rates: Time, rated: Vec<(u32, u32)>) -> Samples {
        Samples {
            occupancy: Clock::new(occupancy),
            // A domain without one of the chosen endpoints has nothing to do.
            rates: Clock::new(if rated.is_empty() { 0 } else { rates }),
            rated,
        }
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

impl<S: Scheme> FabricDomain<S> {
    /// Records what is due at the time of the next sample.
    pub(super) fn sample(&mut self) {
        let now = self.samples.next();
        if self.samples.occupancy.strikes(now) {
            self.sample_occupancy();
        }
        if self.samples.rates.strikes(now) {
            for &(nic, _) in &self.samples.rated {
                let rate = self.scheme.allowed_rate(nic, now);
                self.stats.rates.push(rate);
            }
        }
    }

    fn sample_occupancy(&mut self) {
        for router in self.routers.iter() {
            let first = router.base as usize;
            let ports = first..first + usize::from(router.ports);
            let flits: u64 = ports
                .map(|port| u64::from(self.outputs[port].waiting + self.outputs[port].queued))
                .sum();
            self.stats.occupancy.push(flits);
        }
    }

    /// The samples of a run that ended at `end`: nothing has happened since the last event.
    pub(super) fn finish_samples(&mut self, end: Time) {
        while self.samples.next() < end {
            self.sample();
        }
        let Samples {
            occupancy,
            rates,
            rated,
        } = &self.samples;
        let held = occupancy.steps(end) * self.routers.len();
        self.stats.occupancy.truncate(held);
        self.stats.rates.truncate(rates.steps(end) * rated.len());
    }
}
