//! Commands on results of runs and of sweeps.

pub(super) mod compare;
pub(super) mod explain;
pub(super) mod export;
pub(super) mod inspect;
pub(super) mod report;
