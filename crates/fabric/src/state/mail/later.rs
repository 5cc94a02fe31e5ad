//! Timers of NICs, and control packets that are sent at a later time.

use serde::{Deserialize, Serialize};
use std::cmp::Reverse;
use std::collections::BinaryHeap;

use weir_congestion::Control;
use weir_model::Time;

/// Timers and control packets of a domain's NICs, by time.
#[derive(Debug, Default, Serialize, Deserialize)]
pub struct Later {
    /// Time, NIC, number.
    timers: BinaryHeap<Reverse<(Time, u32, u64)>>,
    /// Time, NIC, order of asking.
    controls: BinaryHeap<Reverse<(Time, u32, u64)>>,
    /// Control packets to be sent, by that order.
    packets: rustc_hash::FxHashMap<u64, Control>,
    next: u64,
}

/// Timers of a scheme that expire in a domain at one moment.
#[derive(Debug, Default)]
pub struct Expiring {
    pub time: Time,
    pub count: u32,
    /// Those of NICs are being taken: one that is due at once needs no event.
    pub taken: bool,
}

impl Later {
    /// Adds a timer of a NIC.
    pub fn add_timer(&mut self, time: Time, nic: u32, number: u64) {
        self.timers.push(Reverse((time, nic, number)));
    }

    /// Adds a control packet that a NIC is to send.
    pub fn add_control(&mut self, time: Time, nic: u32, control: Control) {
        let order = self.next;
        self.next += 1;
        self.controls.push(Reverse((time, nic, order)));
        self.packets.insert(order, control);
    }

    /// Takes the first timer that is due: its NIC and its number.
    pub fn take_timer(&mut self, now: Time) -> Option<(u32, u64)> {
        let &Reverse((time, nic, number)) = self.timers.peek()?;
        (time <= now).then(|| {
            self.timers.pop();
            (nic, number)
        })
    }

    /// Takes the first control packet that is due, with its NIC.
    pub fn take_control(&mut self, now: Time) -> Option<(u32, Control)> {
        let &Reverse((time, nic, order)) = self.controls.peek()?;
        if time > now {
            return None;
        }
        self.controls.pop();
        self.packets.remove(&order).map(|control| (nic, control))
    }

    /// The NICs at which something is to be done.
    pub fn nics(&self) -> impl Iterator<Item = u32> {
        let all = self.timers.iter().chain(self.controls.iter());
        all.map(|Reverse((_, nic, _))| *nic)
    }

    /// Bytes of memory held.
    pub fn memory_bytes(&self) -> usize {
        24 * (self.timers.capacity() + self.controls.capacity())
            + self.packets.capacity() * (size_of::<Control>() + 8)
    }
}
