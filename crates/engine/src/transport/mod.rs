//! Communication between ranks.

mod collective;
mod interface;
mod threads;

pub use collective::{broadcast, gather};
pub use interface::{Local, Transport, TransportError};
pub use threads::Threads;
