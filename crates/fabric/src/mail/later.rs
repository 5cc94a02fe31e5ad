//! What a scheme does at a NIC at a later time: timers, and control packets that are not to be sent yet.

use crate::setup::plain::Compiled;
use serde::{Deserialize, Serialize};
use std::cmp::Reverse;
use std::collections::BinaryHeap;

use crate::domain::FabricDomain;
use crate::endpoint::nic::blank;
use crate::event::EventKind;
use weir_congestion::Control;
use weir_model::{NO_PACKET, Origin, PacketIndex, Time};

/// Timers and control packets of a domain's NICs, by time.
#[derive(Debug, Default, Serialize, Deserialize)]
pub struct Later {
    /// Time, NIC, number.
    timers: BinaryHeap<Reverse<(Time, u32, u64)>>,
    /// Time, NIC, order of asking.
    controls: BinaryHeap<Reverse<(Time, u32, u64)>>,
    /// What is to be sent, by that order.
    packets: rustc_hash::FxHashMap<u64, Control>,
    next: u64,
}

impl Later {
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

impl<K: Compiled> FabricDomain<K> {
    /// Takes note of what a hook at a NIC has asked for.
    pub(crate) fn keep_for_later(&mut self, nic: u32, now: Time) {
        let output = self.first_nic_output + nic;
        while let Some((time, number)) = self.actions.timers.pop() {
            let time = time.max(now);
            self.mail.later.timers.push(Reverse((time, nic, number)));
            self.schedule(EventKind::Scheme, output, time);
        }
        for at in 0..self.actions.later.len() {
            let (time, control) = self.actions.later[at];
            let (time, order) = (time.max(now), self.mail.later.next);
            self.mail.later.next += 1;
            self.mail.later.controls.push(Reverse((time, nic, order)));
            self.mail.later.packets.insert(order, control);
            self.schedule(EventKind::Scheme, output, time);
        }
        self.actions.later.clear();
        while let Some(to) = self.actions.probes.pop() {
            self.probe_flow(nic, to, now);
        }
    }

    /// Does everything that is due at `now`, at whatever NIC, in the order of NICs; the events of the others find nothing.
    pub(crate) fn do_what_is_due(&mut self, now: Time) {
        while let Some(&Reverse((time, nic, order))) = self.mail.later.controls.peek()
            && time <= now
        {
            self.mail.later.controls.pop();
            if let Some(control) = self.mail.later.packets.remove(&order) {
                self.queue_control(nic, &control, now);
                self.kick_nic(nic, now);
            }
        }
        while let Some(&Reverse((time, nic, number))) = self.mail.later.timers.peek()
            && time <= now
        {
            self.mail.later.timers.pop();
            self.pool.hold_header(NO_PACKET);
            self.at_nic(nic, now, |scheme, context| {
                scheme.on_nic_timer(context, number);
            });
            self.kick_nic(nic, now);
        }
    }

    /// A control packet joins the queue of its class at a NIC.
    #[inline]
    pub(crate) fn queue_control(&mut self, nic: u32, control: &Control, now: Time) -> PacketIndex {
        let class = self.fixed.class_of[control.kind.index()];
        let origin = Origin {
            source: control.from,
            kind: control.kind.number(),
            ..control.origin
        };
        let packet = blank(
            control.to,
            class,
            self.fixed.control_flags,
            control.flits,
            now,
        );
        let index = self.pool.insert(packet, origin);
        let list = usize::from(class - self.fixed.classes.control);
        let lists = &mut self.ends.nics[nic as usize].control;
        lists.push(list, index, &mut self.pool);
        index
    }
}
