//! Counters and records.

pub(super) mod attribution;
pub(super) mod expected;
pub(super) mod flow_log;
pub(super) mod link_log;
pub(super) mod report;
pub(super) mod samples;
pub(super) mod stall;
pub(super) mod watch;
