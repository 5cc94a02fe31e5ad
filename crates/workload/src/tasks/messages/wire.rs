//! Connection of a task to the network, and reasons why it cannot proceed.

use serde::{Deserialize, Serialize};

use super::super::{Envelope, Peer};
use weir_model::Time;

/// Connection of a task to the network and to time.
///
/// The implementation calls the task ([`crate::tasks::Task`]) back:
/// - `arrived` at the receiver when the whole message has arrived,
/// - `sent` at the sender when its content is not needed any more (its last bit has left, or all of
///   it is acknowledged),
/// - `wake` when a timer expires.
pub trait Wire {
    /// Hands a message to the network after `delay` ps.
    fn send(&mut self, to: Peer, bytes: u64, envelope: Envelope, delay: Time);
    /// Calls `wake` after `delay` ps.
    fn wake(&mut self, delay: Time);
    /// Calls `sent` after `delay` ps, for a message that has been copied.
    fn copied(&mut self, to: Peer, bytes: u64, envelope: Envelope, delay: Time);
}

/// Reason why a task cannot proceed.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize, Serialize)]
pub enum Trouble {
    /// Its program takes no time, and does not end.
    Idle,
    /// Messages from a task have overtaken each other by more than their numbers can distinguish.
    Overtaken(Peer),
}
