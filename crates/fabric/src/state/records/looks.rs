//! Times when a domain's ports are examined for [`super`], with the weight of each look and the
//! time bin it belongs to.

use serde::{Deserialize, Serialize};
use weir_model::{NEVER, Time};

/// Bins have this many looks.
const LOOKS: Time = 8;
/// The most bins: when there would be more, bins of twice the width take their place, with half as
/// many looks in the same time.
const MOST_BINS: Time = 64;
/// Packets that may be examined in excess of the packets that cross or leave routers. Beyond that
/// the ports are examined half as often, and the count starts again. To examine a packet costs some
/// tens of ns, a hop costs hundreds, or thousands if this many packets wait.
const AHEAD: u64 = 1 << 16;

/// Times when the ports are examined.
#[derive(Debug, Default, Serialize, Deserialize)]
pub struct Looks {
    /// Time of the next look; [`NEVER`] if there is none.
    pub next: Time,
    /// Initial time between two looks.
    pub interval: Time,
    /// And now: `interval` times a power of two.
    pub step: Time,
    /// Time of the last look.
    pub last: Time,
    /// Weight of a look: the number of intervals that it stands for.
    pub weight: u64,
    /// The bin of the last look.
    pub bin: Time,
    /// Packets examined in excess of those moved, and the moves at the last look.
    pub debt: u64,
    pub hops: u64,
}

impl Looks {
    /// Every `interval` ps (0: never).
    pub fn new(interval: Time) -> Looks {
        Looks {
            next: if interval > 0 { interval } else { NEVER },
            interval,
            step: interval,
            weight: 1,
            ..Looks::default()
        }
    }

    /// Width of a time bin, ps.
    pub fn bin_width(&self) -> Time {
        LOOKS * self.step
    }

    /// Begins a look at the time up to `now`.
    /// Returns the time since the last one, and the bin that is over, if one is.
    pub fn begin(&mut self, now: Time) -> (Time, Option<Time>) {
        let since = now - self.last;
        self.last = now;
        // Ports without waiting packets are not examined.
        self.weight = since.min(self.step) / self.interval;
        let over = self.bin;
        self.bin = (now - 1) / self.bin_width();
        (since, (self.bin != over).then_some(over))
    }

    /// True if there are too many bins.
    pub fn has_too_many_bins(&self) -> bool {
        self.bin >= MOST_BINS
    }

    /// Counts `packets` packets that have been examined.
    pub fn add(&mut self, packets: usize) {
        self.debt += packets as u64;
    }

    /// True after a look if too much is examined, relative to `hops` packet-hops in all.
    /// The excess is reset.
    pub fn is_too_much(&mut self, hops: u64) -> bool {
        self.debt = self.debt.saturating_sub(hops - self.hops);
        self.hops = hops;
        let too_much = self.debt > AHEAD;
        if too_much {
            self.debt = 0;
        }
        too_much
    }

    /// From now on half as often, for bins of twice the width.
    pub fn halve(&mut self) {
        self.step *= 2;
        self.bin /= 2;
    }

    /// The next look is not before `time`.
    pub fn at_earliest(&mut self, time: Time) {
        self.next = time.next_multiple_of(self.step);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// All looks up to `end`: time, weight, bin.
    /// `packets` packets are examined at each, and there are `hops` packet-hops in each interval.
    pub fn looks(end: Time, packets: usize, hops: u64) -> (Looks, Vec<(Time, u64, Time)>) {
        let (mut looks, mut seen) = (Looks::new(10), Vec::new());
        while looks.next <= end {
            let now = looks.next;
            looks.begin(now);
            while looks.has_too_many_bins() {
                looks.halve();
            }
            seen.push((now, looks.weight, looks.bin));
            looks.add(packets);
            if looks.is_too_much(now / 10 * hops) {
                looks.halve();
            }
            looks.at_earliest(now + 1);
        }
        (looks, seen)
    }

    /// Checks that the looks, at any frequency, stand for all of the time up to the last one.
    pub fn is_whole(seen: &[(Time, u64, Time)]) {
        let weights: u64 = seen.iter().map(|one| one.1).sum();
        assert_eq!(weights * 10, seen.last().unwrap().0);
    }

    #[test]
    pub fn a_long_run_has_as_many_looks_for_each_doubling() {
        let (looks, seen) = looks(10 * 512 * 16, 1, 1);
        is_whole(&seen);
        assert_eq!(looks.bin_width(), 8 * 10 * 16);
        // The first one of a bin that is too many is one more.
        assert_eq!(seen.len(), 512 + 4 * 257);
        assert!(seen.iter().all(|one| one.2 < MOST_BINS));
    }

    #[test]
    pub fn where_more_waits_than_moves_the_looks_become_fewer() {
        // 16 packets for each hop, and one.
        let hops = AHEAD / 16;
        let (rare, seen) = looks(10 * 500, AHEAD as usize, hops);
        is_whole(&seen);
        assert_eq!(rare.step, 16 * 10);
        assert!(seen.len() < 50, "{}", seen.len());
        let (often, all) = looks(10 * 500, hops as usize, hops);
        is_whole(&all);
        assert_eq!((often.step, all.len()), (10, 500));
    }
}
