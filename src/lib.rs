//! weir simulates the interconnects of high-performance computers and what congestion does to the applications that
//! share them.

pub mod cli;
pub mod config;
pub mod model;
pub mod registry;
pub mod report;
pub mod routing;
pub mod topology;
pub mod trace;
pub mod workload;
