//! Commands on an experiment file: they make, check and run it.

pub(super) mod bill;
pub(super) mod calibrate;
pub(super) mod check;
pub(super) mod import;
pub(super) mod run;
mod watch;
