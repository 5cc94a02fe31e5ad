//! The rate at which a source's packets are ejected, as the source knows it from acknowledgements.

use std::collections::VecDeque;

use serde::{Deserialize, Serialize};

use weir_model::Time;

/// State of an endpoint as a source.
#[derive(Clone, Debug, Deserialize, Serialize)]
pub(super) struct SourceState {
    /// Ports that throttle it, each with the number of participants there.
    pub orders: Vec<(u64, u32)>,
    /// The ejection of its packets.
    pub ejection: Ejection,
    /// Time at which its last packet began to leave, and its time on the link, ps.
    pub last: (Time, Time),
    /// Time since which it has been throttled.
    pub since: Time,
}

impl SourceState {
    /// A source that has sent nothing.
    pub fn new(ejection: Ejection) -> SourceState {
        SourceState {
            orders: Vec::new(),
            ejection,
            last: (0, 0),
            since: 0,
        }
    }
}

/// A share of a link, as a fraction; at most 1.
pub(super) type Share = (u64, u64);

/// Measurement of the ejection rate.
#[derive(Clone, Debug, Deserialize, Serialize)]
pub(super) enum Ejection {
    /// Over the last packets.
    Packets(Packets),
    /// Over periods of fixed length.
    Periods(Periods),
}

/// The last packets delivered, and the time during which any packet was under way.
///
/// The measure suits all rates: it sees a thousandth of a link as exactly as a whole one. Neither
/// the time before a source began to send nor pauses between its messages lower the rate.
#[derive(Clone, Debug, Default, Deserialize, Serialize)]
pub(super) struct Packets {
    /// Packets under way, and the time since which there have been any.
    under_way: u64,
    since: Time,
    /// Total time with packets under way, up to the last time there were none.
    before: Time,
    /// The last packets: `clock` at each delivery, and flits.
    delivered: VecDeque<(Time, u64)>,
    flits: u64,
    /// `clock` at the delivery before these packets.
    from: Time,
}

impl Packets {
    pub fn sent(&mut self, now: Time) {
        if self.under_way == 0 {
            self.since = now;
        }
        self.under_way += 1;
    }

    /// A packet has been delivered; `most` of them count.
    pub fn delivered(&mut self, now: Time, flits: u64, most: u32) {
        let most = most as usize;
        if self.delivered.capacity() == 0 {
            self.delivered.reserve_exact(most);
        }
        if self.delivered.len() == most
            && let Some((clock, flits)) = self.delivered.pop_front()
        {
            self.from = clock;
            self.flits -= flits;
        }
        let clock = self.clock(now);
        self.delivered.push_back((clock, flits));
        self.flits += flits;
        self.under_way = self.under_way.saturating_sub(1);
        if self.under_way == 0 {
            self.before = clock;
        }
    }

    /// Total time with packets under way.
    fn clock(&self, now: Time) -> Time {
        match self.under_way {
            0 => self.before,
            _ => self.before + now.saturating_sub(self.since),
        }
    }

    /// Flits of the last packets, and the time in which they were delivered.
    pub fn known(&self, now: Time) -> (u64, Time) {
        (self.flits, self.clock(now) - self.from)
    }

    /// True if that time is still running.
    pub fn runs(&self) -> bool {
        self.under_way > 0
    }
}

/// Flits delivered in each of the last periods.
#[derive(Clone, Debug, Default, Deserialize, Serialize)]
pub(super) struct Periods {
    /// A ring of periods: which one (from 1), and the flits delivered in it.
    delivered: Vec<(u64, u64)>,
}

/// The lengths that all sources share.
#[derive(Clone, Copy, Debug)]
pub(super) struct Clock {
    /// Length of a period, ps.
    pub period: Time,
    /// Number of periods that count.
    pub periods: u32,
    /// Delay of a signal, ps.
    pub latency: Time,
    /// Flits that a link carries in all periods that count.
    pub full: u64,
}

impl Periods {
    /// `flits` will have been delivered at `time`.
    pub fn delivered(&mut self, time: Time, flits: u64, clock: &Clock) {
        let ring = &mut self.delivered;
        if ring.is_empty() {
            // The periods that count, the present one, and those up to the arrival of a signal sent
            // now.
            let ahead = clock.latency / clock.period + 2;
            // At most 1,000 and 10,002: both are checked.
            ring.resize(clock.periods as usize + ahead as usize, (0, 0));
        }
        let period = time / clock.period + 1;
        let place = (period % ring.len() as u64) as usize;
        if ring[place].0 != period {
            ring[place] = (period, 0);
        }
        ring[place].1 += flits;
    }

    /// The mean over the last periods, without the one that contains `now`.
    pub fn share(&self, now: Time, clock: &Clock) -> Share {
        let present = now / clock.period + 1;
        let counts = present.saturating_sub(u64::from(clock.periods))..present;
        let bins = self.delivered.iter();
        let flits: u64 = bins
            .filter(|(period, _)| counts.contains(period) && *period > 0)
            .map(|&(_, flits)| flits)
            .sum();
        (flits.min(clock.full), clock.full)
    }
}

impl Ejection {
    /// Bytes of memory held.
    pub fn memory_bytes(&self) -> usize {
        match self {
            Ejection::Packets(packets) => packets.delivered.capacity() * 16,
            Ejection::Periods(periods) => periods.delivered.capacity() * 16,
        }
    }
}
