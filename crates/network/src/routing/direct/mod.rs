//! Routings of networks of several dimensions: tori, meshes, HyperX and KNS. Routings that take the
//! dimensions in a fixed order are the same on all of them (`steps`).

pub mod dor;
pub mod hybrid_dor;
pub mod minimal_adaptive;
pub mod oblivious;
mod ordered;
mod orders;
mod rings;
pub mod source_adaptive;
mod steps;

use super::Routings;

/// Routings for tori, meshes and HyperX that take the dimensions in one order.
pub const IN_ORDER: Routings = Routings {
    topologies: &["torus", "mesh", "hyperx"],
    entries: &[dor::ENTRY],
};

/// The same for KNS, whose authors gave it a separate name.
pub const HYBRID: Routings = Routings {
    topologies: &["kns"],
    entries: &[hybrid_dor::ENTRY],
};

/// Routings for all of them that use several orders.
pub const IN_ORDERS: Routings = Routings {
    topologies: &["torus", "mesh", "hyperx", "kns"],
    entries: &[oblivious::ENTRY, source_adaptive::ENTRY],
};

/// Routings for tori and meshes that use any order.
pub const IN_ANY_ORDER: Routings = Routings {
    topologies: &["torus", "mesh"],
    entries: &[minimal_adaptive::ENTRY],
};
