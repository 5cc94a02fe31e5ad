//! Commands on studies of many points.

pub(super) mod sweep;
pub(super) mod tune;
