//! Open-loop traffic: who takes part (`members`), how much is sent (`sizes`) and when
//! (`injection`).

pub(crate) mod draw;
pub mod endpoints;
mod geometric;
pub mod injection;
mod logarithm;
pub mod members;
pub mod message;
pub mod sizes;
