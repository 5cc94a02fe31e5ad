//! Counts by time bin, in bounded memory.

use bytemuck::Pod;
use serde::{Deserialize, Serialize};

/// The most bins of a time series.
/// A series that would have more gets bins of twice the width, as often as needed.
pub const MOST_BINS: u64 = 1 << 20;

/// Bins that are held together.
pub const CHUNK: usize = 64;

/// Counts of a time bin: a `u64`, or a struct of several and nothing else.
pub trait Counts: Pod + Default {}

impl<T: Pod + Default> Counts for T {}

/// Words of the counts of a bin.
const fn words<T>() -> usize {
    size_of::<T>() / size_of::<u64>()
}

/// Counts for each time bin.
/// Bins without events take no memory, except a pointer for each `CHUNK` of them, of which
/// [`MOST_BINS`] allow 16,384.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(into = "Vec<u64>", try_from = "Vec<u64>")]
#[serde(bound = "T: Counts")]
pub struct Series<T: Counts> {
    chunks: Vec<Option<Box<[T; CHUNK]>>>,
}

impl<T: Counts> Series<T> {
    /// The counts of a bin, to be changed.
    #[inline]
    pub fn at(&mut self, bin: usize) -> &mut T {
        let (chunk, place) = (bin / CHUNK, bin % CHUNK);
        if !matches!(self.chunks.get(chunk), Some(Some(_))) {
            self.add_chunk(chunk);
        }
        match &mut self.chunks[chunk] {
            Some(counts) => &mut counts[place],
            None => unreachable!("it has just been added"),
        }
    }

    #[cold]
    #[inline(never)]
    fn add_chunk(&mut self, chunk: usize) {
        if chunk >= self.chunks.len() {
            self.chunks.resize(chunk + 1, None);
        }
        self.chunks[chunk] = Some(Box::new([T::default(); CHUNK]));
    }

    /// Makes one bin of every two.
    pub fn coarsen(&mut self) {
        let fine = std::mem::take(self);
        for (bin, counts) in fine.bins() {
            add(self.at(bin / 2), counts);
        }
    }

    /// Bins that may have counts, with their numbers, ascending.
    pub fn bins(&self) -> impl Iterator<Item = (usize, &T)> {
        let held = self.chunks.iter().enumerate();
        let held = held.filter_map(|(number, chunk)| Some((number, chunk.as_deref()?)));
        held.flat_map(|(number, chunk)| (number * CHUNK..).zip(chunk))
    }

    /// Bytes of the bins that are held.
    pub fn memory_bytes(&self) -> usize {
        size_of::<T>() * self.bins().count()
    }
}

/// The number of each chunk that is held, and its counts.
impl<T: Counts> From<Series<T>> for Vec<u64> {
    fn from(series: Series<T>) -> Vec<u64> {
        let mut words = Vec::new();
        for (number, chunk) in series.chunks.iter().enumerate() {
            if let Some(chunk) = chunk {
                words.push(number as u64);
                words.extend_from_slice(bytemuck::cast_slice(&**chunk));
            }
        }
        words
    }
}

impl<T: Counts> TryFrom<Vec<u64>> for Series<T> {
    type Error = &'static str;

    fn try_from(all: Vec<u64>) -> Result<Self, Self::Error> {
        let mut series = Series::default();
        let rows = all.chunks_exact(1 + words::<T>() * CHUNK);
        if !rows.remainder().is_empty() {
            return Err("not a whole number of chunks");
        }
        for row in rows {
            let (number, counts) = (row[0], &row[1..]);
            if number >= MOST_BINS / CHUNK as u64 {
                return Err("more time bins than there can be");
            }
            let counts: &[T] = bytemuck::cast_slice(counts);
            for (counts, bin) in counts.iter().zip(number as usize * CHUNK..) {
                *series.at(bin) = *counts;
            }
        }
        Ok(series)
    }
}

/// Adds the counts of one bin to those of another. A sum of latencies that does not fit stays at
/// the largest number, as /data/series says; no other count can reach it.
pub fn add<T: Counts>(sum: &mut T, counts: &T) {
    let sum: &mut [u64] = bytemuck::cast_slice_mut(std::slice::from_mut(sum));
    let counts: &[u64] = bytemuck::cast_slice(std::slice::from_ref(counts));
    for (sum, count) in sum.iter_mut().zip(counts) {
        *sum = sum.saturating_add(*count);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn pairs_of_bins_become_one_and_nothing_is_lost() {
        let mut series = Series::<[u64; 2]>::default();
        for bin in [0, 1, 2, 127, 128, 999_999] {
            add(series.at(bin), &[1, bin as u64]);
        }
        series.coarsen();
        let filled: Vec<_> = series.bins().filter(|(_, counts)| counts[0] > 0).collect();
        let expected: [(usize, &[u64; 2]); 5] = [
            (0, &[2, 1]),
            (1, &[1, 2]),
            (63, &[1, 127]),
            (64, &[1, 128]),
            (499_999, &[1, 999_999]),
        ];
        assert_eq!(filled, expected);
        let words = Vec::from(series.clone());
        assert_eq!(Series::try_from(words), Ok(series));
    }

    #[test]
    fn empty_time_holds_nothing() {
        let mut series = Series::<[u64; 6]>::default();
        series.at(MOST_BINS as usize - 1)[0] = 1;
        let held = series.chunks.iter().flatten().count();
        assert_eq!((held, series.bins().count()), (1, CHUNK));
        assert_eq!(Vec::from(series).len(), 1 + 6 * CHUNK);
    }

    #[test]
    fn words_that_make_no_sense() {
        assert!(Series::<u64>::try_from(vec![0; CHUNK]).is_err());
        let mut beyond = vec![0; 1 + CHUNK];
        beyond[0] = MOST_BINS / CHUNK as u64;
        assert!(Series::<u64>::try_from(beyond).is_err());
    }
}
