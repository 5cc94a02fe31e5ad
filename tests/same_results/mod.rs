//! Results that stay the same: on other ranks, in other windows, in other words, and over time.

mod engine;
pub mod fingerprints;
pub mod relations;
pub mod same_bits;
mod signals;
mod windows;
