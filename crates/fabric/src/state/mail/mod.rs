//! Mail between domains.

pub(crate) mod inbox;
pub(crate) mod later;
pub(crate) mod outboxes;
pub(crate) mod post;
pub(crate) mod signals;
pub(crate) mod speaker;

use serde::{Deserialize, Serialize};

use inbox::Inbox;
use later::Later;
use signals::Signals;
use weir_slots::Slots;

/// Mail that has come and takes effect later.
#[derive(Serialize, Deserialize)]
pub(crate) struct Mail {
    /// Later actions of the scheme: timers at NICs, control packets.
    pub later: Later,
    /// Out-of-band signals of the scheme.
    pub signals: Signals,
    /// By neighbour.
    pub inboxes: Slots<Inbox>,
}

impl Mail {
    /// Without neighbours.
    pub fn new(interleaved: bool) -> Mail {
        Mail {
            later: Later::default(),
            signals: Signals::new(interleaved),
            inboxes: Slots::default(),
        }
    }
}
