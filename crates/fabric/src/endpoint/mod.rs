//! An endpoint: its NIC as sender and receiver, and the tasks of applications on it.

pub(super) mod groups;
pub(super) mod hosts;
pub(super) mod injection;
pub(super) mod nic;
pub(super) mod nic_context;
mod nodes;
pub(super) mod receive;
pub(super) mod resend;
pub(super) mod sending;
pub(super) mod shaper;
pub(super) mod source;
