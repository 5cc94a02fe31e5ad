//! Senders of signals.

use crate::state::OutIndex;

/// The sender of a signal.
#[derive(Clone, Copy)]
pub(crate) enum Speaker {
    Port(OutIndex),
    Nic(u32),
}
