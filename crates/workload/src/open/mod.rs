//! Open-loop traffic: members of workloads (`members`), sizes of messages (`sizes`) and their times
//! (`injection`).

pub(crate) mod draw;
pub mod endpoints;
mod geometric;
pub mod injection;
pub(crate) mod logarithm;
pub mod members;
pub mod message;
pub mod sizes;
