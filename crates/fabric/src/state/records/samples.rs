//! Records taken at fixed times.
//!
//! Samples are not events: events would keep a run to completion alive for ever, and keep empty
//! time from being skipped. There are at most [`most_rows`] of them: when there would be more,
//! every other one is discarded and the interval doubled.

use serde::{Deserialize, Serialize};
use weir_model::{NEVER, Time};

/// The most times at which something is recorded.
const MOST_ROWS: usize = 1 << 20;

/// The most numbers that are recorded in all: 128 MiB. (But at least [`LEAST_ROWS`] rows, however
/// long they are.)
const MOST_NUMBERS: usize = 1 << 24;

/// Smallest maximum number of samples.
const LEAST_ROWS: usize = 1 << 10;

/// The most rows of `columns` numbers each, over all domains.
pub fn most_rows(columns: usize) -> usize {
    (MOST_NUMBERS / columns.max(1)).clamp(LEAST_ROWS, MOST_ROWS)
}

/// Times at which a domain records samples.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct Samples {
    /// Time when the contents of the routers are recorded next.
    pub occupancy: Clock,
    /// Time when the allowed rates are recorded next.
    pub rates: Clock,
    /// Endpoints of the rates: the NIC, and its place among all that are recorded.
    pub rated: Vec<(u32, u32)>,
    /// Events processed before the last row of the routers' contents was recorded.
    pub events: Option<u64>,
}

/// Equal steps from 0 on, or none.
#[derive(Clone, Copy, Debug, Serialize, Deserialize)]
pub struct Clock {
    pub next: Time,
    pub interval: Time,
    /// Steps so far, and their maximum.
    pub taken: usize,
    pub most: usize,
}

impl Clock {
    /// An interval of 0 never comes.
    pub fn new(interval: Time, most: usize) -> Clock {
        let next = if interval > 0 { 0 } else { NEVER };
        Clock {
            next,
            interval,
            taken: 0,
            most,
        }
    }

    /// True if it is time; then it is not for another interval.
    pub fn strikes(&mut self, now: Time) -> bool {
        let strikes = self.next == now;
        if strikes {
            self.taken += 1;
            self.next += self.interval;
        }
        strikes
    }

    /// Before the steps up to `end` are taken: doubles the interval until they are not too many,
    /// and discards every other one of the existing rows (of `columns` numbers) each time.
    pub fn thin<T: Copy>(&mut self, end: Time, rows: &mut Vec<T>, columns: usize) {
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
    pub fn steps(&self, end: Time) -> usize {
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

    /// Intervals of the contents of routers, and of the rates of these NICs (0: never), and of how
    /// many routers and NICs in all domains.
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

    /// The intervals of the contents of routers and of the rates as they are now; 0: none are
    /// recorded.
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
