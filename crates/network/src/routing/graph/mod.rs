//! Routings for graphs, which know distances and no coordinates.

pub mod shortest;

use super::Routings;

/// Routings for graphs.
pub const ROUTINGS: Routings = Routings {
    topologies: &["graph"],
    entries: &[shortest::ENTRY],
};
