//! Actions of tasks: events of a task, and its requests.

use crate::state::records::task_log::{TaskEvent, word};
use serde::{Deserialize, Serialize};
use weir_model::Time;
use weir_workload::tasks::{Envelope, EnvelopeKind, Peer, Wire};
use weir_workload::timeline::Ending;

/// An event of a task at some time.
#[derive(Clone, Copy, Debug, Serialize, Deserialize)]
pub enum Action {
    Start,
    Wake,
    Send {
        to: Peer,
        bytes: u64,
        envelope: Envelope,
    },
    Sent {
        to: Peer,
        bytes: u64,
        envelope: Envelope,
    },
    Arrived {
        from: Peer,
        bytes: u64,
        envelope: Envelope,
    },
}

impl Action {
    /// In the words of the log.
    pub fn event(self) -> TaskEvent {
        match self {
            Action::Start => TaskEvent::Start,
            Action::Wake | Action::Send { .. } => TaskEvent::Woken,
            Action::Sent { to, envelope, .. } => TaskEvent::Left {
                to,
                stamp: word(envelope),
            },
            Action::Arrived { from, envelope, .. } => TaskEvent::Came {
                from,
                stamp: word(envelope),
            },
        }
    }
}

impl Action {
    /// In the words of timelines: the end of the activity that it ends.
    pub fn ending(self) -> Ending {
        match self {
            Action::Start | Action::Wake | Action::Send { .. } => Ending::TIME,
            Action::Sent { to, bytes, .. } => Ending::departure(to, bytes),
            Action::Arrived {
                from,
                bytes,
                envelope,
            } => match envelope.kind {
                EnvelopeKind::Received => Ending::departure(from, bytes),
                _ => Ending::arrival(from, bytes),
            },
        }
    }
}

/// Actions that a task asks for while it is called, each with its delay.
#[derive(Default)]
pub struct Wishes(pub Vec<(Time, Action)>);

impl Wire for Wishes {
    fn send(&mut self, to: Peer, bytes: u64, envelope: Envelope, delay: Time) {
        let action = Action::Send {
            to,
            bytes,
            envelope,
        };
        self.0.push((delay, action));
    }

    fn wake(&mut self, delay: Time) {
        self.0.push((delay, Action::Wake));
    }

    fn copied(&mut self, to: Peer, bytes: u64, envelope: Envelope, delay: Time) {
        let action = Action::Sent {
            to,
            bytes,
            envelope,
        };
        self.0.push((delay, action));
    }
}
