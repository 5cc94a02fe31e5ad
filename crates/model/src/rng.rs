//! Streams of random numbers, each named by its purpose.

use rand_core::{Rng as _, SeedableRng};
use rand_xoshiro::{SplitMix64, Xoroshiro128PlusPlus};

/// One stream of random numbers: xoroshiro128++, 16 bytes of state.
pub type Rng = Xoroshiro128PlusPlus;

/// The first part of the name of each stream of a run. Another number is another stream, and so
/// another result.
pub mod purpose {
    /// A router's choices of ways.
    pub const ROUTING: u64 = 1;
    /// Times and destinations of the messages that a source generates.
    pub const SOURCE: u64 = 2;
    /// Values that are drawn once for a workload, such as the places of a permutation.
    pub const PATTERN: u64 = 3;
    /// The links and routers of a failure.
    pub const FAILURE: u64 = 4;
    /// Errors on links.
    pub const ERROR: u64 = 5;
    /// The order of packets that have waited since the same time step.
    pub const STEP: u64 = 6;
}

/// The stream for a [`purpose`], named by numbers (such as `[SOURCE, word(workload), endpoint]`).
///
/// Streams depend on the run's seed and their name only, never on who asks or in which order, so
/// that the random numbers of a component are the same for any number of ranks.
pub fn stream(seed: u64, name: &[u64]) -> Rng {
    let mut state = SplitMix64::seed_from_u64(seed).next_u64();
    for &part in name {
        state =
            SplitMix64::seed_from_u64(state ^ part.wrapping_mul(0x9E37_79B9_7F4A_7C15)).next_u64();
    }
    Rng::seed_from_u64(state)
}

/// A number for a part of a stream's name that is a word, such as the name of a workload: one
/// workload draws the same whether others are in the file or not.
pub fn word(name: &str) -> u64 {
    let parts = name.as_bytes().chunks(8).map(|chunk| {
        let mut bytes = [0; 8];
        bytes[..chunk.len()].copy_from_slice(chunk);
        u64::from_le_bytes(bytes)
    });
    parts.fold(name.len() as u64, |state, part| {
        SplitMix64::seed_from_u64(state ^ part).next_u64()
    })
}

/// A uniform whole number in `0..n` (n > 0), without bias worth naming (multiply and shift of 64
/// random bits).
#[inline]
pub fn below(rng: &mut Rng, n: u32) -> u32 {
    ((u128::from(rng.next_u64()) * u128::from(n)) >> 64) as u32
}

/// A uniform number in `[0, 1)` with 53 random bits.
#[inline]
pub fn unit(rng: &mut Rng) -> f64 {
    fraction_53(next_53(rng))
}

/// A whole number below 2⁵³ as a fraction of 2⁵³.
#[inline]
pub fn fraction_53(number: u64) -> f64 {
    number as f64 * (1.0 / (1u64 << 53) as f64)
}

/// A random whole number below 2⁵³.
#[inline]
pub fn next_53(rng: &mut Rng) -> u64 {
    rng.next_u64() >> 11
}
