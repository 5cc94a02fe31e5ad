//! A router: its inputs and outputs, the packets queued there, and the credits they need to leave.

pub(super) mod arrival;
pub(super) mod buffers;
pub(super) mod crossbar;
pub(super) mod drops;
pub(super) mod link;
pub(super) mod port_hooks;
pub(super) mod view;
pub(super) mod wide_port;
