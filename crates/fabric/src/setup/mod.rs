//! What is fixed for a run: the network, how routers and NICs work, and how a domain is put
//! together of that.

pub(super) mod blueprint;
pub(super) mod build;
pub(super) mod choices;
pub mod empty;
pub(super) mod flow_rules;
pub(super) mod network;
pub(super) mod plain;
pub(super) mod recording;
pub(super) mod traffic;
pub(super) mod wiring;
