//! Actions of tasks: events of a task, and its requests.

use crate::state::records::task_log::{TaskEvent, word};
use serde::{Deserialize, Serialize};
use weir_model::Time;
use weir_workload::tasks::{Envelope, Peer, Wire};
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
        envelope: Envelope,
    },
    Arrived {
        from: Peer,
        envelope: Envelope,
    },
}

impl Action {
    /// In the words of the log.
    pub fn event(self) -> TaskEvent {
        match self {
            Action::Start => TaskEvent::Start,
            Action::Wake | Action::Send { .. } => TaskEvent::Woken,
            Action::Sent { to, envelope } => TaskEvent::Left {
                to,
                stamp: word(envelope),
            },
            Action::Arrived { from, envelope } => TaskEvent::Came {
                from,
                stamp: word(envelope),
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

    fn copied(&mut self, to: Peer, envelope: Envelope, delay: Time) {
        self.0.push((delay, Action::Sent { to, envelope }));
    }
}
