//! Workloads: traffic of endpoints and of applications.
//!
//! `open` decides who sends, how much and when, `patterns` to whom. Applications are programs
//! (`motifs`) or recorded ones (`replay`); `tasks` carries them out, and `timeline` records when
//! they computed and waited.

#![cfg_attr(not(test), deny(clippy::print_stdout, clippy::print_stderr))]
#![deny(clippy::iter_over_hash_type)]

pub mod motifs;
pub mod open;
pub mod patterns;
pub mod replay;
#[cfg(test)]
mod saved;
pub mod tasks;
pub mod timeline;
