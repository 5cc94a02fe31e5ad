//! The routings of the dragonfly.

pub mod minimal;
mod open;
pub mod par;
mod paths;
pub mod ugal;
pub mod valiant;
mod weight;

use super::Routings;
pub(super) use paths::Margin;

/// Routings for the dragonfly.
pub const ROUTINGS: Routings = Routings {
    topologies: &["dragonfly"],
    entries: &[minimal::ENTRY, valiant::ENTRY, ugal::ENTRY, par::ENTRY],
};
