//! Start times of things that have not ended, in bins of time.

use serde::de::Error;
use serde::{Deserialize, Deserializer, Serialize};

use super::histogram::Histogram;
use crate::Time;

/// Times are told apart to within 1/1024 of the longest of them, or better.
const BINS: usize = 2048;

/// Start times of things that have not ended: for each bin of time the number of things that began
/// in it, less the things that have ended. The bins grow wider with time.
///
/// A thing may begin in one domain and end in another. The count of one domain may then be
/// negative, but the sum over all domains is right. All counts are whole numbers, and bins are
/// powers of two, so that merging is exact in any order.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Outstanding {
    counts: Vec<i64>,
    /// The width of a bin is two to this power, ps.
    #[serde(deserialize_with = "shift")]
    shift: u32,
}

impl Outstanding {
    /// Bytes of memory held.
    pub fn memory_bytes(&self) -> usize {
        self.counts.capacity() * size_of::<i64>()
    }

    /// Notes that a thing begins.
    #[inline]
    pub fn begin(&mut self, time: Time) {
        *self.bin(time) += 1;
    }

    /// Notes that a thing that began at `time` has ended.
    #[inline]
    pub fn end(&mut self, time: Time) {
        *self.bin(time) -= 1;
    }

    #[inline]
    fn bin(&mut self, time: Time) -> &mut i64 {
        let bin = (time >> self.shift) as usize;
        if bin < self.counts.len() {
            return &mut self.counts[bin];
        }
        self.new_bin(time)
    }

    #[cold]
    fn new_bin(&mut self, time: Time) -> &mut i64 {
        while time >> self.shift >= BINS as Time {
            self.coarsen();
        }
        let bin = (time >> self.shift) as usize;
        if bin >= self.counts.len() {
            self.counts.resize(bin + 1, 0);
        }
        &mut self.counts[bin]
    }

    /// Makes the bins twice as wide.
    fn coarsen(&mut self) {
        let pairs = self.counts.chunks(2);
        self.counts = pairs.map(|pair| pair.iter().sum()).collect();
        self.shift += 1;
    }

    /// Adds the counts of another domain.
    pub fn merge(&mut self, other: &Outstanding) {
        while self.shift < other.shift {
            self.coarsen();
        }
        let pair = 1 << (self.shift - other.shift);
        let sums = other
            .counts
            .chunks(pair)
            .map(|pair| pair.iter().sum::<i64>());
        let bins = other.counts.len().div_ceil(pair);
        self.counts.resize(bins.max(self.counts.len()), 0);
        self.counts
            .iter_mut()
            .zip(sums)
            .for_each(|(mine, theirs)| *mine += theirs);
    }

    /// Minimum ages of the things at `now`; all began before `limit`.
    pub fn ages(&self, now: Time, limit: Time) -> Histogram {
        let mut ages = Histogram::default();
        for (bin, &count) in self.counts.iter().enumerate() {
            let count = u64::try_from(count).unwrap_or(0);
            let latest = (bin as Time) << self.shift | ((1 << self.shift) - 1);
            let latest = latest.min(limit.saturating_sub(1));
            ages.add_many(now.saturating_sub(latest), count);
        }
        ages
    }
}

/// A power of two that a time may have.
fn shift<'de, D: Deserializer<'de>>(from: D) -> Result<u32, D::Error> {
    let shift = u32::deserialize(from)?;
    match shift < u64::BITS {
        true => Ok(shift),
        false => Err(D::Error::custom("a bin is wider than all time")),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::codec;
    use proptest::prelude::*;

    #[test]
    fn short_times_are_exact() {
        let mut open = Outstanding::default();
        [3, 7, 7, 2_000].iter().for_each(|&time| open.begin(time));
        open.end(7);
        let ages: Vec<_> = open.ages(2_010, 5_000).rows().collect();
        // 10, 2,003 and 2,007 ps, in buckets of 1, 16 and 16 ps.
        assert_eq!(ages, [(10, 1), (2_000, 2)]);
        let bytes = codec::encode(&open).unwrap();
        assert_eq!(codec::decode(&bytes), Ok(open));
    }

    #[test]
    fn nothing_that_is_too_late_is_younger_than_the_limit() {
        let mut open = Outstanding::default();
        open.begin(1 << 40);
        let age = |limit| open.ages((1 << 40) + 1_000, limit).max();
        assert_eq!(age(Time::MAX), 0, "the bin ends later");
        assert_eq!(age((1 << 40) + 1), 1_000);
    }

    proptest! {
        #[test]
        fn ages_are_the_best_bound_that_the_bins_allow_in_any_order_of_domains(
            begun in prop::collection::vec((0..3u64, 0..50_000_000u64, any::<bool>(), 0..3usize), 1..300),
        ) {
            // Of each thing: the domain where it begins, the time, true if it ends, the domain
            // where it ends.
            let mut domains = vec![Outstanding::default(); 3];
            let mut left = Vec::new();
            for &(at, time, ends, there) in &begun {
                domains[at as usize].begin(time);
                match ends {
                    true => domains[there].end(time),
                    false => left.push(time),
                }
            }
            let sum = |order: [usize; 3]| {
                let mut all = Outstanding::default();
                order.iter().for_each(|&at| all.merge(&domains[at]));
                all
            };
            let all = sum([0, 1, 2]);
            prop_assert_eq!(&all, &sum([2, 0, 1]));
            let end = 50_000_000;
            let ages = all.ages(end, end);
            prop_assert_eq!(ages.samples(), left.len() as u64);
            let exact: u64 = left.iter().map(|time| end - time).sum();
            let bound = ages.mean() * ages.samples() as f64;
            prop_assert!(bound <= exact as f64 + 0.5);
            prop_assert!(bound + left.len() as f64 * end as f64 / 1024.0 >= exact as f64);
        }
    }
}
