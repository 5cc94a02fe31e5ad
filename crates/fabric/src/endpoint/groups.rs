//! Skips queue pairs that cannot send, by their groups.
//!
//! If virtual channels are divided into queues, or packets have separate virtual networks, one
//! queue pair without credits does not keep others from sending. A full NIC may have thousands of
//! queue pairs whose packets join the same few queues, so these queues are searched instead.

use super::injection::{is_own, may_take};
use crate::domain::FabricDomain;
use crate::endpoint::sending::Blocked;
use crate::endpoint::sending::Sending;
use crate::setup::plain::Compiled;
use crate::state::ends::sends::groups::UNKNOWN;
use crate::state::ends::sends::ring_order::Search;
use weir_model::{NEVER, PacketIndex, Time};

impl<K: Compiled> FabricDomain<K> {
    /// True if queue pairs wait for nothing but credits, and for no time step.
    /// Then one that could not send is looked at again when credits come, and not before.
    pub(crate) fn waits_for_credits_alone(&self) -> bool {
        let timed = K::CC && (self.fixed.can.paces || self.fixed.discipline.is_some());
        let stepped = K::RICH && self.fixed.step > 0;
        let managed = K::RICH && self.fixed.flows.managed;
        self.queues_differ() && !timed && !stepped && !managed && self.ends.sends.all_may_send()
    }

    /// Wakes a NIC, unless it is busy, after one queue pair, or none, has got something to send.
    /// If the NIC waits for credits, only that queue pair is examined.
    pub(crate) fn kick_pair(&mut self, nic: u32, pair: Option<u32>, now: Time) {
        let output = self.first_nic_output + nic;
        let out = &self.ports.outputs[output as usize];
        if out.link_free > now || !out.is_stalled() {
            return self.kick_nic(nic, now);
        }
        if out.link_wake <= now {
            return;
        }
        let Some(pair) = pair else {
            debug_assert!(self.none_may_send(nic, output, now));
            return;
        };
        let mut blocked = Blocked::NOT;
        match self.packet_of_pair(nic, pair, output, now, &mut blocked) {
            Some(found) => self.launch(nic, output, found, now),
            None => {
                self.learn_group(nic, pair, output);
                self.wake_link(output, blocked.again);
            }
        }
    }

    /// The next packet of the queue pairs in their ring, if they wait for credits alone.
    pub(crate) fn next_of_groups(
        &mut self,
        nic: u32,
        output: u32,
        now: Time,
        blocked: &mut Blocked,
    ) -> Option<(PacketIndex, u16)> {
        let ring = self.ends.nics[nic as usize].ring;
        if ring.pairs == 0 {
            return None;
        }
        let (open, again) = self.open_queues(nic, output, now);
        let (groups, any) = self.ends.sends.open_groups(nic, &ring, open);
        if any {
            let mut search = Search::of(&ring);
            while let Some(at) = {
                let ring = &mut self.ends.nics[nic as usize].ring;
                self.ends.sends.next_of(nic, ring, groups, &mut search)
            } {
                if let Some(found) = self.packet_of_pair(nic, at, output, now, blocked) {
                    return Some(found);
                }
                self.learn_group(nic, at, output);
            }
        }
        debug_assert!(self.none_may_send(nic, output, now));
        blocked.starve(again);
        None
    }

    /// Assumption of the search by groups: no queue pair of the ring has credits for its next
    /// packet.
    fn none_may_send(&mut self, nic: u32, output: u32, now: Time) -> bool {
        let ring = self.ends.nics[nic as usize].ring;
        let mut at = ring.turn;
        (0..ring.pairs).all(|_| {
            let pair = *self.ends.sends.pair(at);
            at = pair.next;
            let message = self.ends.sends.message(pair.first);
            let longest = u64::from(self.fixed.max_packet) * u64::from(self.about.flit.0);
            let sending = Sending {
                destination: pair.destination,
                class: self.class_of_data(),
                job: message.job,
                flits: self.about.flit.flits(message.left.min(longest)) as u16,
                control: false,
                turn: self.turn_of_next(message),
            };
            self.injection_queue(output, sending, now).is_err()
        })
    }

    /// Takes note of which queues a queue pair that could not send may join.
    fn learn_group(&mut self, nic: u32, at: u32, output: u32) {
        let pair = *self.ends.sends.pair(at);
        let queues = self.ports.outputs[output as usize].queues;
        if pair.group != UNKNOWN || queues > u64::BITS {
            return;
        }
        let message = self.ends.sends.message(pair.first);
        let sending = Sending {
            destination: pair.destination,
            class: self.class_of_data(),
            job: message.job,
            flits: 1,
            control: false,
            turn: self.turn_of_next(message),
        };
        let source = self.ends.nics[nic as usize].id;
        let vcs = self.fixed.injection_vcs;
        let mut joined = 0;
        for vc in 0..vcs {
            let own = |choice| is_own(choice, vc.into(), vcs.into(), sending.turn);
            if self.choice().is_none_or(own) {
                joined |= 1 << self.divided_injection(source, sending, vc, queues);
            }
        }
        let ring = &mut self.ends.nics[nic as usize].ring;
        self.ends.sends.join_group(nic, ring, at, joined);
    }

    /// Bit by queue of the data's traffic class: whether a packet may join it now, as far as its
    /// credits and the routing's choice say; and when credits for another one come. All of a port
    /// with more queues than a word has bits.
    fn open_queues(&mut self, nic: u32, output: u32, now: Time) -> (u64, Time) {
        let out = &self.ports.outputs[output as usize];
        let (queues, base) = (out.queues, out.channel_base);
        if queues > u64::BITS {
            return (u64::MAX, NEVER);
        }
        let vcs = u32::from(self.fixed.injection_vcs);
        let last = u32::from(self.ends.nics[nic as usize].vcs[0]);
        let first = u32::from(self.class_of_data()) * queues;
        let least = u32::from(self.room_of(1));
        let (mut open, mut again) = (0, NEVER);
        for within in 0..queues {
            let vc = within / (queues / vcs);
            if self
                .choice()
                .is_some_and(|choice| !may_take(choice, vc, last, vcs))
            {
                continue;
            }
            let channel = self.channel(base, (first + within) as u16);
            if self.has_credit(channel, least, now) {
                open |= 1 << within;
            } else {
                let credit = &self.ports.channels[self.home(channel)].credit;
                again = again.min(credit.enough_at(least));
            }
        }
        (open, again)
    }
}
