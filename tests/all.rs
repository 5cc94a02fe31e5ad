//! All integration tests in one program, which is linked once: one file or folder for each promise.
//!
//! `cargo test --test all physics_time` runs those of one file.

mod applications;
mod attack;
mod bad_input;
mod catalog;
mod cli;
mod conservation;
mod damage;
mod direct;
mod dragonfly;
mod dragonfly_routing;
mod engine;
mod estimates;
mod extremes;
mod failure;
mod fingerprints;
mod interrupted;
mod kinds;
mod limits;
mod missing;
mod nic_order;
mod out_dir;
mod own_routings;
mod own_schemes;
mod physics_queue;
mod physics_rates;
mod physics_schemes;
mod physics_time;
mod queueing;
mod records;
mod reference_codes;
mod reference_dragonfly;
mod reference_mesh_torus;
mod report;
mod routings;
mod same_bits;
mod shell;
mod signals;
mod stall;
mod support;
mod sweep;
mod topologies;
mod traces;
mod tree;
mod warnings;
