//! Networks, their routings, and the queues of routers and NICs.

mod bubbles;
mod control_routes;
pub mod direct;
mod dragonfly;
pub mod failures;
mod queueing;
pub mod routings;
mod stall;
mod topologies;
mod tree;
