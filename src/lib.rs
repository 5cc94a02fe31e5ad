//! weir simulates the interconnects of high-performance computers and what congestion does to the applications that
//! share them.
// All that is printed goes through cli/console.rs, which lets no control character of others out.
#![cfg_attr(not(test), deny(clippy::print_stdout, clippy::print_stderr))]

pub mod catalog;
pub mod cli;
pub mod config;
pub mod congestion;
pub mod engine;
pub mod explain;
pub mod fabric;
pub mod forecast;
pub mod model;
pub mod queueing;
pub mod registry;
pub mod report;
pub mod routing;
pub mod simulation;
pub mod study;
pub mod topology;
pub mod trace;
pub mod workload;
