//! Signals of schemes that have not taken effect.

use serde::{Deserialize, Serialize};
use std::cmp::Reverse;
use std::collections::BinaryHeap;

use weir_model::{Signal, Time};

/// The signals of a domain.
#[derive(Default, Serialize, Deserialize)]
pub struct Signals {
    /// Signals for this domain's endpoints that have not taken effect.
    due: BinaryHeap<Reverse<Signal>>,
    /// Neighbours for whom there is mail that may be due before the end of the window.
    pub urgent: Vec<u32>,
    /// True if signals can be due before the end of the window.
    pub interleaved: bool,
}

impl Signals {
    /// None under way.
    pub fn new(interleaved: bool) -> Self {
        Signals {
            interleaved,
            ..Signals::default()
        }
    }

    /// Adds a signal for an endpoint of this domain.
    pub fn add(&mut self, signal: Signal) {
        self.due.push(Reverse(signal));
    }

    /// Takes the first signal that is due.
    pub fn take(&mut self, now: Time) -> Option<Signal> {
        let &Reverse(signal) = self.due.peek()?;
        (signal.time <= now).then(|| {
            self.due.pop();
            signal
        })
    }

    /// All that have not taken effect.
    pub fn all(&self) -> impl Iterator<Item = &Signal> {
        self.due.iter().map(|Reverse(signal)| signal)
    }

    /// Bytes of memory held.
    pub fn memory_bytes(&self) -> usize {
        self.due.capacity() * size_of::<Signal>()
    }
}
