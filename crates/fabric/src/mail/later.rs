//! Acts for a scheme at a NIC when a time has come.

use crate::setup::plain::Compiled;

use crate::domain::FabricDomain;
use crate::endpoint::sending::blank;
use crate::fault::Fault;
use crate::state::event::EventKind;
use weir_congestion::Control;
use weir_model::{NO_PACKET, Origin, PacketIndex, Time};

impl<K: Compiled> FabricDomain<K> {
    /// Takes note of the requests of a hook at a NIC.
    pub(crate) fn keep_for_later(&mut self, nic: u32, now: Time) {
        let output = self.first_nic_output + nic;
        while let Some((time, number)) = self.actions.timers.pop() {
            let time = time.max(now);
            self.mail.later.add_timer(time, nic, number);
            if !(self.expiring.taken && time == now) {
                self.schedule(EventKind::Scheme, output, time);
            }
        }
        for at in 0..self.actions.later.len() {
            let (time, control) = self.actions.later[at];
            let time = time.max(now);
            self.mail.later.add_control(time, nic, control);
            self.schedule(EventKind::Scheme, output, time);
        }
        self.actions.later.clear();
        while let Some(to) = self.actions.probes.pop() {
            self.probe_flow(nic, to, now);
        }
    }

    /// Does everything that is due at `now` at any NIC, in the order of NICs; later events of the
    /// others find nothing.
    pub(crate) fn do_what_is_due(&mut self, now: Time) {
        while let Some((nic, control)) = self.mail.later.take_control(now) {
            self.queue_control(nic, &control, now);
            self.kick_nic(nic, now);
        }
        self.expiring.taken = true;
        while let Some((nic, number)) = self.mail.later.take_timer(now) {
            if self.has_too_many_timers(now) {
                continue;
            }
            self.pool.hold_header(NO_PACKET);
            self.at_nic(nic, now, |scheme, context| {
                scheme.on_nic_timer(context, number);
            });
            self.kick_nic(nic, now);
        }
        self.expiring.taken = false;
    }

    /// Counts a timer of the scheme. True if more have expired at this moment than any use would
    /// have: simulated time may never go on.
    pub(crate) fn has_too_many_timers(&mut self, now: Time) -> bool {
        let expiring = &mut self.expiring;
        if expiring.time != now {
            (expiring.time, expiring.count) = (now, 0);
        }
        if expiring.count < Fault::MOST_TIMERS {
            expiring.count += 1;
            return false;
        }
        self.fault.get_or_insert(Fault::Timers {
            scheme: self.scheme.name(),
            simulated_ps: now,
        });
        true
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
