//! What the endpoints send: who takes part, how much and when (`open`), and to whom
//! (`patterns`); what applications do: programs (`motifs`) and recorded ones (`replay`), which `tasks` carry out.

#![cfg_attr(not(test), deny(clippy::print_stdout, clippy::print_stderr))]
#![deny(clippy::iter_over_hash_type)]

pub mod motifs;
pub mod open;
pub mod patterns;
pub mod replay;
#[cfg(test)]
mod saved;
pub mod tasks;
