//! Rows that are looked up unchecked in release builds, and prefetching.
//!
//! Only the engine and the fabric use this crate. The library weir does not re-export it: an index
//! that its owner has not handed out is undefined behaviour.

#![cfg_attr(not(test), deny(clippy::print_stdout, clippy::print_stderr))]

mod prefetch;

use serde::{Deserialize, Serialize};
use std::ops::{Deref, Index, IndexMut};

pub use prefetch::{lines, prefetch, prefetch_list};

/// A list indexed by numbers that its owner, a domain or one of its parts, hands out itself.
///
/// Every place of a hop (port, channel, packet, request) is looked up by such a number; checking
/// each of them again costs 2% to 6% of the speed. So accesses are checked in builds with debug
/// assertions, which all tests are, and not in release builds. Numbers from outside are checked on
/// entry: a routing's answer in `fabric/src/router/arrival.rs`, mail of another rank in
/// `fabric/src/mail/accept.rs`.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct Slots<T>(Vec<T>);

/// Bytes of a list that is still short.
const SHORT: usize = 1 << 16;

impl<T> Default for Slots<T> {
    fn default() -> Self {
        Slots(Vec::new())
    }
}

impl<T> Slots<T> {
    /// Adds a place at the end. The memory of long lists grows by a quarter at a time, since they
    /// are most of what weir holds; that of short ones doubles, for to copy them over and over is a
    /// good part of what a short run does.
    #[inline]
    pub fn push(&mut self, value: T) {
        if self.0.len() == self.0.capacity() {
            self.make_room();
        }
        self.0.push(value);
    }

    #[cold]
    #[inline(never)]
    fn make_room(&mut self) {
        let length = self.0.len();
        let more = match length * size_of::<T>() < SHORT {
            true => length,
            false => length / 4,
        };
        self.0.reserve_exact(more.max(16));
    }

    /// Lets go of memory that is not used.
    pub fn shrink_to_fit(&mut self) {
        self.0.shrink_to_fit();
    }

    /// Places for which memory is held.
    pub fn capacity(&self) -> usize {
        self.0.capacity()
    }
}

impl<T> From<Vec<T>> for Slots<T> {
    fn from(list: Vec<T>) -> Self {
        Slots(list)
    }
}

impl<T> Extend<T> for Slots<T> {
    fn extend<I: IntoIterator<Item = T>>(&mut self, values: I) {
        self.0.extend(values);
    }
}

impl<T> Deref for Slots<T> {
    type Target = [T];

    fn deref(&self) -> &[T] {
        &self.0
    }
}

impl<T> Index<usize> for Slots<T> {
    type Output = T;

    #[inline(always)]
    #[allow(unsafe_code)]
    fn index(&self, at: usize) -> &T {
        debug_assert!(at < self.0.len(), "{at} of {}", self.0.len());
        // SAFETY: `at` was handed out by its owner for this list, whose places are never taken
        // away.
        unsafe { self.0.get_unchecked(at) }
    }
}

impl<T> IndexMut<usize> for Slots<T> {
    #[inline(always)]
    #[allow(unsafe_code)]
    fn index_mut(&mut self, at: usize) -> &mut T {
        debug_assert!(at < self.0.len(), "{at} of {}", self.0.len());
        // SAFETY: as above.
        unsafe { self.0.get_unchecked_mut(at) }
    }
}
