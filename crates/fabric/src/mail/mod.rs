//! Mail between domains: packets, credits and signals.

pub(super) mod accept;
pub(super) mod ahead;
pub(super) mod inbox;
pub(super) mod later;
pub(super) mod signals;
