//! Network interfaces as senders: queue pairs, segmentation, the turn of each destination.

use super::nic_context::AtNic;
use crate::domain::FabricDomain;
use crate::endpoint::sending::Sending;
use crate::endpoint::sending::{Blocked, NewMessage, blank};
use crate::setup::plain::Compiled;
use crate::state::ends::sends::pair_ring::Message;
use crate::state::mail::speaker::Speaker;
use weir_congestion::{PacketView, Scheme};
use weir_model::{Classes, NO_PACKET, Origin, PacketIndex, Stamp, Time};

impl<K: Compiled> FabricDomain<K> {
    /// Hands a message to a NIC.
    pub(crate) fn submit(&mut self, new: NewMessage, now: Time) {
        let nic = &mut self.ends.nics[new.nic as usize];
        let number = nic.next_message;
        nic.next_message = number.wrapping_add(1);
        let message = Message::new(now, new.bits, number, new.job, new.stamp);
        let first = self
            .ends
            .sends
            .add(new.nic, &mut nic.ring, new.destination, message);
        self.records.stats.generated(new.job, new.bits, now);
        if self.watches() {
            self.watch_message(new.nic, number, now);
        }
        if K::CC && self.fixed.can.messages {
            let origin = message.origin(self.ends.nics[new.nic as usize].id);
            self.pool.hold_header(NO_PACKET);
            self.at_nic(new.nic, now, |scheme, nic| {
                scheme.on_submit(nic, new.destination, &origin);
            });
        }
        self.begin_message(new.nic, first, now);
        if self.waits_for_credits_alone() {
            self.kick_pair(new.nic, first, now);
        } else {
            self.kick_nic(new.nic, now);
        }
    }

    /// Looks at a NIC that has got something to send, unless it is busy or waiting already.
    pub(crate) fn kick_nic(&mut self, nic: u32, now: Time) {
        let output = self.first_nic_output + nic;
        let out = &self.ports.outputs[output as usize];
        if out.link_free > now {
            let time = out.link_free;
            self.wake_link(output, time);
        } else if out.link_wake > now {
            self.serve_nic(nic, now);
        }
    }

    /// Sends the next packet of a NIC, if it may send one, and makes sure that the NIC is looked at
    /// again.
    pub(crate) fn serve_nic(&mut self, nic: u32, now: Time) {
        let output = self.first_nic_output + nic;
        let time = self.next_departure(self.ports.outputs[output as usize].link_free.max(now));
        if time > now {
            self.wake_link(output, time);
            return;
        }
        match self.next_to_send(nic, output, now) {
            Ok(found) => self.launch(nic, output, found, now),
            Err(blocked) => {
                if blocked.starved {
                    self.ports.outputs[output as usize].stall(now);
                }
                self.wake_link(output, blocked.again);
            }
        }
    }

    /// Sends a packet into its queue at the router, and makes sure that the NIC is looked at when
    /// it can send another.
    pub(crate) fn launch(
        &mut self,
        nic: u32,
        output: u32,
        (index, queue): (PacketIndex, u16),
        now: Time,
    ) {
        // Before the packet takes the link.
        self.ports.outputs[output as usize].settle_stall(now);
        self.inject(index, nic, queue, now);
        let out = &mut self.ports.outputs[output as usize];
        out.unstall(now);
        let free = out.link_free;
        if !self.ends.nics[nic as usize].is_idle() {
            self.wake_link(output, free);
        } else if K::CC && self.fixed.can.retransmits {
            let time = self.ends.resends[nic as usize].next(free);
            self.wake_link(output, time);
        }
    }

    /// The packet that a NIC sends next, and its queue at the router.
    /// The order is: control packets, packets with a set time, retries, then the queue pair whose
    /// turn it is. If packets join different queues, a packet without room in its own does not keep
    /// the others from being sent.
    fn next_to_send(
        &mut self,
        nic: u32,
        output: u32,
        now: Time,
    ) -> Result<(PacketIndex, u16), Blocked> {
        let mut blocked = Blocked::NOT;
        if let Some(found) = self.next_control(nic, output, now, &mut blocked) {
            return Ok(found);
        }
        if K::CC && self.fixed.can.retransmits {
            for lossy in [false, true] {
                if let Some(found) = self.again_from(nic, output, lossy, now, &mut blocked) {
                    return Ok(found);
                }
            }
        }
        if K::CC
            && let Some(found) = self.next_end(nic, output, now, &mut blocked)
        {
            return Ok(found);
        }
        if K::CC
            && let Some(discipline) = self.fixed.discipline
        {
            let found = self.next_shaped(discipline, nic, output, now, &mut blocked);
            return found.ok_or(blocked);
        }
        if self.waits_for_credits_alone() {
            let found = self.next_of_groups(nic, output, now, &mut blocked);
            return found.ok_or(blocked);
        }
        let ring = self.ends.nics[nic as usize].ring;
        let mut at = ring.turn;
        for _ in 0..self.ends.sends.candidates(&ring) {
            let pair = *self.ends.sends.pair(at);
            if K::RICH
                && self.fixed.flows.managed
                && !self.ends.flows.may_send(nic, pair.destination)
            {
                at = pair.next;
                continue;
            }
            if K::CC && self.fixed.can.paces {
                let time = self.scheme.ready_at(nic, pair.destination, now);
                if time > now {
                    self.records.stats.tally.held_back += 1;
                    blocked.again = blocked.again.min(time);
                    at = pair.next;
                    continue;
                }
            }
            if let Some(found) = self.packet_of_pair(nic, at, output, now, &mut blocked) {
                return Ok(found);
            }
            if !self.queues_differ() {
                break;
            }
            at = pair.next;
        }
        Err(blocked)
    }

    /// The first control packet that a NIC may send now, of the highest class.
    #[inline]
    fn next_control(
        &mut self,
        nic: u32,
        output: u32,
        now: Time,
        blocked: &mut Blocked,
    ) -> Option<(PacketIndex, u16)> {
        let mut rest = self.ends.nics[nic as usize].control.waiting();
        while rest != 0 {
            let at = rest.ilog2() as usize;
            rest &= !(1 << at);
            let mut before = NO_PACKET;
            let mut head = self.ends.nics[nic as usize].control.head(at);
            while head != NO_PACKET {
                match self.injection_queue(output, Sending::of(&self.pool, head), now) {
                    Ok(queue) => {
                        let lists = &mut self.ends.nics[nic as usize].control;
                        lists.take_after(at, before, &mut self.pool);
                        return Some((head, queue));
                    }
                    Err(time) => blocked.starve(time),
                }
                if !self.queues_differ() {
                    break;
                }
                (before, head) = (head, self.pool.after(head));
            }
        }
        None
    }

    /// A control packet that goes behind the data of its flow.
    #[inline]
    fn next_end(
        &mut self,
        nic: u32,
        output: u32,
        now: Time,
        blocked: &mut Blocked,
    ) -> Option<(PacketIndex, u16)> {
        let head = self.ends.nics[nic as usize].ends.head;
        if head == NO_PACKET {
            return None;
        }
        match self.injection_queue(output, Sending::of(&self.pool, head), now) {
            Ok(queue) => {
                self.ends.nics[nic as usize].ends.pop(&self.pool);
                Some((head, queue))
            }
            Err(time) => {
                blocked.starve(time);
                None
            }
        }
    }

    /// The next packet of a queue pair. Always inline: the hottest of its callers is the only one
    /// of most runs.
    #[inline(always)]
    pub(crate) fn packet_of_pair(
        &mut self,
        nic: u32,
        pair: u32,
        output: u32,
        now: Time,
        blocked: &mut Blocked,
    ) -> Option<(PacketIndex, u16)> {
        let destination = self.ends.sends.pair(pair).destination;
        let message = self.ends.sends.message(self.ends.sends.pair(pair).first);
        let most = u64::from(self.fixed.max_packet) * u64::from(self.about.flit.0);
        let payload = message.left.min(most);
        let (first, last) = (message.left == message.bits, payload == message.left);
        // Most packets are as long as they may be, or the first of their message: no division then.
        let flits = match payload == most {
            true => self.fixed.max_packet,
            false => self.about.flit.flits(payload) as u16,
        };
        let class = self.class_of_data();
        let counts = K::CC && self.fixed.can.retransmits || K::RICH && self.fixed.flows.managed;
        let part = match counts && !first {
            true => ((message.bits - message.left) / most) as u32,
            false => 0,
        };
        let origin = Origin {
            payload_bits: payload as u32,
            part,
            ..message.origin(self.ends.nics[nic as usize].id)
        };
        let sending = Sending {
            destination,
            class,
            job: origin.job,
            flits,
            control: false,
            turn: self.turn_of_next(message),
        };
        match self.injection_queue(output, sending, now) {
            Ok(queue) => {
                let packet = blank(destination, class, 0, flits, now);
                let index = self.pool.insert(packet, origin);
                if first && self.logs_flows() {
                    self.flow_starts(destination, &origin, now);
                }
                let numbered = self.turns_are_numbered();
                let ring = &mut self.ends.nics[nic as usize].ring;
                if numbered {
                    self.ends.sends.leave_group(nic, ring, pair);
                }
                let next = self.ends.sends.take(nic, ring, pair, payload);
                let leaves = !(K::CC && self.fixed.can.retransmits);
                if leaves && last && origin.stamp() != Stamp::NONE {
                    let tail = now + self.serialization(output, flits);
                    self.message_leaves(nic, destination, &origin, tail);
                }
                if K::CC && self.fixed.can.paces {
                    let tail = now + self.serialization(output, flits);
                    let packet = PacketView {
                        source: origin.source,
                        destination,
                        flits,
                        payload_bits: origin.payload_bits,
                        marked: false,
                    };
                    self.pool.hold_header(NO_PACKET);
                    self.at_nic(nic, now, |scheme, nic| scheme.on_sent(nic, &packet, tail));
                    self.pool.give_header(index);
                }
                if K::CC && last && self.fixed.can.messages {
                    self.pool.hold_header(NO_PACKET);
                    self.at_nic(nic, now, |scheme, nic| {
                        scheme.on_message_sent(nic, destination, &origin);
                    });
                }
                if K::RICH && last && self.fixed.flows.managed {
                    self.flow_is_sent(nic, destination, now);
                }
                self.begin_message(nic, next, now);
                Some((index, queue))
            }
            Err(time) => {
                blocked.starve(time);
                None
            }
        }
    }

    /// The traffic class of packets that are sent for the first time.
    #[inline(always)]
    pub(crate) fn class_of_data(&self) -> u8 {
        if K::CC && self.fixed.can.drops {
            Classes::LOSSY
        } else {
            self.fixed.classes.data
        }
    }

    /// Serialization time of a packet at an output, ps.
    fn serialization(&self, output: u32, flits: u16) -> Time {
        let timing = self.ports.outputs[output as usize].timing;
        self.timings[timing as usize].rate.time(flits)
    }

    /// Tells a scheme that reserves about the message that has become the first of a queue pair, if
    /// there is one.
    #[inline(always)]
    pub(super) fn begin_message(&mut self, nic: u32, pair: Option<u32>, now: Time) {
        if (K::CC && self.fixed.can.reserves || K::RICH && self.fixed.flows.managed)
            && let Some(pair) = pair
        {
            self.begin_first(nic, pair, now);
        }
    }

    #[inline(never)]
    fn begin_first(&mut self, nic: u32, pair: u32, now: Time) {
        if self.fixed.flows.managed {
            self.begin_flow(nic, pair, now);
        }
        if !self.fixed.can.reserves {
            return;
        }
        let (to, first) = (
            self.ends.sends.pair(pair).destination,
            self.ends.sends.pair(pair).first,
        );
        let origin = self
            .ends
            .sends
            .message(first)
            .origin(self.ends.nics[nic as usize].id);
        self.pool.hold_header(NO_PACKET);
        self.at_nic(nic, now, |scheme, nic| scheme.on_message(nic, to, &origin));
    }

    /// Calls a hook at a NIC, then carries out its requests.
    /// The header that the hook sees is the one that the pool holds.
    #[inline(always)]
    pub(crate) fn at_nic<R>(
        &mut self,
        nic: u32,
        now: Time,
        hook: impl FnOnce(&mut dyn Scheme, &mut AtNic) -> R,
    ) -> R {
        let mut context = AtNic {
            now,
            nic,
            about: &self.about,
            output: &self.ports.outputs[(self.first_nic_output + nic) as usize],
            timings: &self.timings,
            control: self.fixed.classes.control,
            class_of: self.fixed.class_of,
            control_flags: self.fixed.control_flags,
            state: &mut self.ends.nics[nic as usize],
            sends: &mut self.ends.sends,
            pool: &mut self.pool,
            resends: self.ends.resends.get_mut(nic as usize),
            actions: &mut self.actions,
        };
        let result = hook(self.scheme.as_mut(), &mut context);
        if K::CC && self.actions.any {
            self.carry_out(Speaker::Nic(nic), now);
        }
        result
    }
}
