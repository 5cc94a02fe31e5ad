//! What the endpoints send: who takes part (`members`), to whom (`patterns`), how much (`sizes`) and when
//! (`injection`).

mod draw;
mod geometric;
pub mod injection;
mod logarithm;
pub mod members;
pub mod motifs;
pub mod patterns;
pub mod sizes;
pub mod tasks;
