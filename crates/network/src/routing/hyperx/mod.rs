//! The routings of HyperX that leave shortest routes. Minimal routing is `dor`, as on tori.

pub mod dal;
mod detour;
pub mod ugal;
pub mod valiant;

use super::Routings;

/// Nonminimal routings for the HyperX.
pub const ROUTINGS: Routings = Routings {
    topologies: &["hyperx"],
    entries: &[valiant::ENTRY, ugal::ENTRY, dal::ENTRY],
};
