//! What the endpoints send: who takes part (`members`), to whom (`patterns`), how much (`sizes`) and when
//! (`injection`); what applications do: programs (`motifs`) and recorded ones (`replay`), which `tasks` carry out.

mod draw;
mod geometric;
pub mod injection;
mod logarithm;
pub mod members;
pub mod motifs;
pub mod patterns;
pub mod replay;
pub mod sizes;
pub mod tasks;
