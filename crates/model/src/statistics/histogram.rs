//! Distribution of times in log-linear buckets.

use serde::{Deserialize, Serialize};

use crate::Time;

/// Sub-buckets per power of two: a value is known to within 1/64.
const SUB_BITS: u32 = 6;
const SUB: usize = 1 << SUB_BITS;

/// A log-linear histogram of times: exact count, sum and maximum, and buckets no wider than 1/64 of
/// their lower edge.
///
/// All whole numbers, so that merging is exact in any order.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Histogram {
    counts: Vec<u64>,
    samples: u64,
    sum: u128,
    max: Time,
}

impl Histogram {
    fn bucket(value: Time) -> usize {
        if value < SUB as u64 {
            return value as usize;
        }
        let octave = 63 - value.leading_zeros() - SUB_BITS;
        ((octave as usize + 1) << SUB_BITS) + ((value >> octave) as usize - SUB)
    }

    /// The least value that falls into a bucket.
    pub fn lower_edge(bucket: usize) -> Time {
        if bucket < SUB {
            return bucket as u64;
        }
        let octave = (bucket >> SUB_BITS) - 1;
        ((bucket & (SUB - 1)) as u64 + SUB as u64) << octave
    }

    /// The largest value that falls into the same bucket.
    pub fn last_of(value: Time) -> Time {
        Self::lower_edge(Self::bucket(value) + 1) - 1
    }

    /// Adds one sample.
    #[inline]
    pub fn add(&mut self, value: Time) {
        let bucket = Self::bucket(value);
        if bucket >= self.counts.len() {
            self.counts.resize(bucket + 1, 0);
        }
        self.counts[bucket] += 1;
        self.samples += 1;
        self.sum += u128::from(value);
        self.max = self.max.max(value);
    }

    /// Adds `count` samples of one value.
    pub fn add_many(&mut self, value: Time, count: u64) {
        if count == 0 {
            return;
        }
        self.add(value);
        self.counts[Self::bucket(value)] += count - 1;
        self.samples += count - 1;
        self.sum += u128::from(value) * u128::from(count - 1);
    }

    /// Adds all samples of another histogram.
    pub fn merge(&mut self, other: &Histogram) {
        if other.counts.len() > self.counts.len() {
            self.counts.resize(other.counts.len(), 0);
        }
        for (mine, theirs) in self.counts.iter_mut().zip(&other.counts) {
            *mine += theirs;
        }
        self.samples += other.samples;
        self.sum += other.sum;
        self.max = self.max.max(other.max);
    }

    /// Bytes of memory held.
    pub fn memory_bytes(&self) -> usize {
        self.counts.capacity() * size_of::<u64>()
    }

    /// Number of samples.
    pub fn samples(&self) -> u64 {
        self.samples
    }

    /// The mean in ps; 0 without samples.
    pub fn mean(&self) -> f64 {
        if self.samples == 0 {
            return 0.0;
        }
        self.sum as f64 / self.samples as f64
    }

    /// The largest sample in ps.
    pub fn max(&self) -> Time {
        self.max
    }

    /// The value below or at which a fraction `q` of the samples lie, in ps, interpolated within
    /// its bucket; never above the maximum. 0 without samples.
    pub fn quantile(&self, q: f64) -> f64 {
        if self.samples == 0 {
            return 0.0;
        }
        let rank = (q * self.samples as f64).ceil().max(1.0);
        let mut below = 0u64;
        for (bucket, &count) in self.counts.iter().enumerate() {
            if count > 0 && (below + count) as f64 >= rank {
                let low = Self::lower_edge(bucket) as f64;
                let width =
                    Self::lower_edge(bucket + 1).saturating_sub(Self::lower_edge(bucket)) as f64;
                let inside = (rank - below as f64) / count as f64;
                // A bucket one picosecond wide holds that very value.
                let value = if width <= 1.0 {
                    low
                } else {
                    low + width * inside
                };
                return value.min(self.max as f64);
            }
            below += count;
        }
        self.max as f64
    }

    /// The buckets that hold samples: their lower edges in ps and their counts.
    pub fn rows(&self) -> impl Iterator<Item = (Time, u64)> + '_ {
        self.counts
            .iter()
            .enumerate()
            .filter(|&(_, &count)| count > 0)
            .map(|(bucket, &count)| (Self::lower_edge(bucket), count))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn edges_and_buckets_agree() {
        for value in (0..5_000).chain([1 << 20, (1 << 40) + 12_345, u64::MAX / 3]) {
            let bucket = Histogram::bucket(value);
            assert!(Histogram::lower_edge(bucket) <= value, "{value}");
            assert!(value < Histogram::lower_edge(bucket + 1), "{value}");
        }
    }

    #[test]
    fn quantiles_of_a_known_set() {
        let mut histogram = Histogram::default();
        (1..=1_000).for_each(|ns| histogram.add(ns * 1_000));
        assert_eq!(histogram.mean(), 500_500.0);
        assert!((histogram.quantile(0.5) / 500_000.0 - 1.0).abs() < 1.0 / 64.0);
        assert_eq!(histogram.quantile(1.0), 1_000_000.0);
    }
}
