//! Senders of signals.

use crate::state::OutIndex;

/// Who says something.
#[derive(Clone, Copy)]
pub(crate) enum Speaker {
    Port(OutIndex),
    Nic(u32),
}
