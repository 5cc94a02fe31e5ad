//! Everything of a domain that changes while it runs: plain data that can be saved.

pub(crate) mod ends;
pub(crate) mod event;
pub(crate) mod fork;
pub(crate) mod hosts;
pub(crate) mod mail;
pub(crate) mod pool;
pub(crate) mod ports;
pub(crate) mod records;
mod saved;

use serde::{Deserialize, Serialize};

use weir_model::Time;

pub(crate) use ends::Ends;
pub(crate) use mail::Mail;
pub use ports::*;
pub(crate) use records::Records;

/// Progress of the domain.
#[derive(Clone, Copy, Debug, Default, Serialize, Deserialize)]
pub(crate) struct Progress {
    /// The end of the window.
    pub until: Time,
    /// Packet-hops so far.
    pub moved: u64,
    /// Events so far.
    pub events: u64,
    /// Those of the last window.
    pub recent: u64,
}
