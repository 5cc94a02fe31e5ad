//! The routings of networks of several dimensions: tori, meshes, HyperX and KNS. Those that take the dimensions in a fixed order are
//! the same on all of them (`steps`).

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

/// What tori, meshes and HyperX can be routed by in one order of dimensions.
pub const IN_ORDER: Routings = Routings {
    topologies: &["torus", "mesh", "hyperx"],
    entries: &[dor::ENTRY],
};

/// The same for KNS, whose authors gave it a name of its own.
pub const HYBRID: Routings = Routings {
    topologies: &["kns"],
    entries: &[hybrid_dor::ENTRY],
};

/// What all of them can be routed by in several orders.
pub const IN_ORDERS: Routings = Routings {
    topologies: &["torus", "mesh", "hyperx", "kns"],
    entries: &[oblivious::ENTRY, source_adaptive::ENTRY],
};

/// What tori and meshes can be routed by in any order.
pub const IN_ANY_ORDER: Routings = Routings {
    topologies: &["torus", "mesh"],
    entries: &[minimal_adaptive::ENTRY],
};
