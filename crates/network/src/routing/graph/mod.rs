//! Routings for graphs, which know distances and no coordinates.

mod acyclic;
pub mod layered;
mod next_ports;
pub mod shortest;
pub mod table;
pub mod ugal;
pub mod updown;
pub mod valiant;
mod ways;

use super::Routings;

/// Routings for graphs.
pub const ROUTINGS: Routings = Routings {
    topologies: &["graph", "slimfly", "megafly", "cascade"],
    entries: &[
        shortest::ENTRY,
        updown::ENTRY,
        layered::ENTRY,
        table::ENTRY,
        valiant::ENTRY,
        ugal::ENTRY,
    ],
};
