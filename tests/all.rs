//! All integration tests in one program, which is linked once: a folder for each subject, and in it
//! one file or folder for each promise.
//!
//! `cargo test --test all physics::time` runs those of one file.

mod applications;
mod cli;
mod comparisons;
mod house;
mod networks;
mod physics;
mod runs;
mod same_results;
mod studies;
mod support;
mod traces;
mod variants;
