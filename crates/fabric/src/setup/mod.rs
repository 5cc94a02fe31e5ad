//! Setup of a run: the network, the behaviour of routers and NICs, and the assembly of a domain
//! from them.

pub(super) mod blueprint;
pub(super) mod build;
pub(super) mod choices;
pub mod empty;
pub(super) mod flow_rules;
pub(super) mod fork;
pub(super) mod network;
pub(super) mod plain;
pub(super) mod recording;
pub(super) mod traffic;
pub(super) mod wiring;
