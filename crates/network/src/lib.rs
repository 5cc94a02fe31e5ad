//! Networks: connections of routers and endpoints ([`topology`]), the parts that they take
//! ([`bill`]), the hosts with several endpoints ([`nodes`]), their division into domains
//! ([`partition`]), links that differ from their kind ([`failures`]), the path of a packet
//! ([`routing`]), and its queue in the next input buffer ([`queueing`]).

#![cfg_attr(not(test), deny(clippy::print_stdout, clippy::print_stderr))]

pub mod bill;
pub mod failures;
pub mod hostlist;
pub mod nodes;
pub mod partition;
pub mod queueing;
pub mod routing;
pub mod topology;
