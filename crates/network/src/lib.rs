//! Networks: how routers and endpoints are connected ([`topology`]), the way of a packet
//! ([`routing`]), and its queue in the next input buffer ([`queueing`]).

#![cfg_attr(not(test), deny(clippy::print_stdout, clippy::print_stderr))]

pub mod queueing;
pub mod routing;
pub mod topology;
