//! Drops of packets by routers, and interception of control packets at the last router before an
//! endpoint.

use crate::domain::FabricDomain;
use crate::setup::plain::Compiled;
use crate::state::ports::ring::Side;
use crate::state::ports::wide_port::MOST_BITS;
use crate::state::{InIndex, OutIndex, Output, Request, Wire};
use crate::state::{NO_REQUEST, RequestIndex};
use weir_congestion::PacketView;
use weir_model::{Classes, NEVER, PacketIndex, Time, unit};

impl<K: Compiled> FabricDomain<K> {
    /// The bits of lossless data in an output's [`Output::ready`]. Speculative packets do not get
    /// into output queues while such data is in one there.
    #[inline]
    pub(crate) fn data_bits(&self, out: &Output) -> u64 {
        let class = u32::from(self.fixed.classes.data);
        if Self::is_wide(out.channel_base) {
            return 1 << class;
        }
        // A port that is not used has no queues, and an empty output queue.
        u64::MAX >> (MOST_BITS - out.queues.max(1)) << (class * out.queues)
    }

    /// True if a packet of a class may be one that the router keeps. `ends_here`: its output leads
    /// to an endpoint.
    #[inline(always)]
    pub(crate) fn may_be_taken(&self, class: u8, ends_here: bool) -> bool {
        let last = if ends_here { self.fixed.intercepted } else { 0 };
        (self.fixed.lost | last) & 1 << class != 0
    }

    /// True if the router keeps a packet that has just been routed: a reservation that ends here,
    /// or a packet that is lost on purpose. Not asked if [`Self::may_be_taken`] says no.
    #[inline(never)]
    pub(crate) fn taken_here(
        &mut self,
        index: PacketIndex,
        from: (InIndex, u16),
        output: OutIndex,
        now: Time,
    ) -> bool {
        let packet = self.pool.get(index);
        let class = packet.class;
        if class == Classes::LOSSY && self.fixed.loss > 0.0 {
            let router = self.ports.inputs[from.0 as usize].router;
            if unit(&mut self.ports.routers[router as usize].rng) < self.fixed.loss {
                self.leave_input(index, from, now);
                self.discard(index, output, now);
                return true;
            }
        }
        if self.fixed.intercepted & 1 << class != 0
            && matches!(self.ports.outputs[output as usize].wire, Wire::Endpoint(_))
        {
            return self.intercepted(index, from, output, now);
        }
        false
    }

    /// True if the scheme takes a control packet at the last router.
    fn intercepted(
        &mut self,
        index: PacketIndex,
        from: (InIndex, u16),
        output: OutIndex,
        now: Time,
    ) -> bool {
        let origin = *self.pool.origin(index);
        let kinds = self.fixed.can.intercepts;
        if !kinds.iter().any(|&kind| kind.number() == origin.kind) {
            return false;
        }
        let view = PacketView::of(self.pool.get(index), &origin);
        let taken = self.ask_at_port(index, output, now, |scheme, port| {
            scheme.intercept(port, &view, &origin)
        });
        if taken {
            self.leave_input(index, from, now);
            self.records.stats.tally.absorbed += 1;
            self.pool.remove(index);
        }
        self.carry_out_at_port(output, now);
        taken
    }

    /// True if the scheme may drop packets at an output because of how long they have waited.
    #[inline(always)]
    fn may_shed(&self, output: OutIndex) -> bool {
        self.fixed.timeout != Time::MAX || self.leads_to_endpoint(output)
    }

    #[inline(always)]
    fn leads_to_endpoint(&self, output: OutIndex) -> bool {
        matches!(self.ports.outputs[output as usize].wire, Wire::Endpoint(_))
    }

    /// Maximum time that a packet of the lossy class may have been in queues at an output, ps.
    #[inline(always)]
    fn queueing_limit(&self, output: OutIndex) -> Time {
        match self.leads_to_endpoint(output) {
            true => self.scheme.queueing_limit(&self.port(output)),
            false => self.fixed.timeout,
        }
    }

    /// Drops packets of the lossy class that wait at inputs for an output, as the scheme says.
    /// The first to come is dropped first; the others are looked at again in time.
    #[inline(always)]
    pub(crate) fn drop_overdue(&mut self, output: OutIndex, now: Time) {
        // Mostly there are none.
        let (ring, _) = self.ring_places(output, 0, Classes::LOSSY);
        if self.ports.rings.outputs[ring].next != NO_REQUEST && self.may_shed(output) {
            self.shed_waiting(output, ring, now);
        }
    }

    /// The same if such packets wait: `ring` is theirs.
    #[inline(never)]
    fn shed_waiting(&mut self, output: OutIndex, ring: usize, now: Time) {
        while self.ports.rings.outputs[ring].next != NO_REQUEST {
            let allowed = self.queueing_limit(output);
            if allowed == Time::MAX {
                return;
            }
            match self.first_impatient(self.ports.rings.outputs[ring].next, allowed, now) {
                Ok(request) => self.drop_head(request, output, now),
                Err(deadline) => return self.wake_output(output, deadline),
            }
        }
    }

    /// Request of a ring whose head is to be dropped and came first.
    /// If no head is to be dropped yet: the time when the first one is.
    fn first_impatient(
        &self,
        first: RequestIndex,
        allowed: Time,
        now: Time,
    ) -> Result<RequestIndex, Time> {
        let mut found: Option<((Time, InIndex, u16), RequestIndex)> = None;
        let mut deadline = NEVER;
        let mut at = first;
        loop {
            let request = self.ports.requests.get(at);
            let packet = self.pool.get(request.queue.head);
            let waited = packet.waited_until(now);
            if request.also {
                // It is dropped at its first output, or nowhere.
            } else if waited >= allowed {
                let rank = (packet.head, request.input, request.in_queue);
                if found.is_none_or(|(other, _)| rank < other) {
                    found = Some((rank, at));
                }
            } else {
                deadline = deadline.min(now + (allowed - waited));
            }
            at = self.ports.requests.after(at, Side::Output);
            if at == first {
                break;
            }
        }
        found.map(|(_, request)| request).ok_or(deadline)
    }

    /// Makes sure that a packet that has to wait is looked at again when its time left is over.
    #[inline]
    pub(crate) fn watch_patience(&mut self, index: PacketIndex, output: OutIndex, now: Time) {
        if self.pool.get(index).class != Classes::LOSSY || !self.may_shed(output) {
            return;
        }
        let allowed = self.queueing_limit(output);
        if allowed != Time::MAX {
            let waited = self.pool.get(index).waited_until(now);
            self.wake_output(output, now + allowed.saturating_sub(waited));
        }
    }

    /// Drops the first packet of a request.
    fn drop_head(&mut self, at: RequestIndex, output: OutIndex, now: Time) {
        let Request {
            input,
            in_queue,
            class,
            ..
        } = *self.ports.requests.get(at);
        let from = (input, in_queue);
        if self.has_alternatives() {
            self.forget_others(at, now);
        }
        let Some(index) = self.take_head(at) else {
            return;
        };
        let room = u32::from(self.room_of(self.pool.get(index).flits));
        let out = &mut self.ports.outputs[output as usize];
        out.waiting -= room;
        out.lossy -= room;
        self.leave_input(index, from, now);
        self.discard(index, output, now);
        if self.has_alternatives() && self.fixed.voq {
            let (at_output, _) = self.ring_places(output, input, class);
            if let Some(queue) = self.find_request(at_output, input, in_queue) {
                self.look_anew(queue, now);
            }
        }
    }

    /// A packet is no longer in its input buffer: its credit goes back when its tail has come.
    pub(super) fn leave_input(&mut self, index: PacketIndex, from: (InIndex, u16), now: Time) {
        let (input, in_queue) = from;
        let packet = self.pool.get(index);
        let (flits, tail) = (packet.flits, packet.tail());
        self.give_back(input, in_queue, flits, tail.max(now));
        if !self.fixed.voq {
            self.next_of_fifo(input, in_queue, now);
        }
    }

    /// Drops packets of the lossy class at the heads of output queues, as the scheme says. Returns
    /// the time to look again.
    pub(crate) fn shed_queued(&mut self, output: OutIndex, now: Time) -> Time {
        let (mut from, mut again) = (0, NEVER);
        if !self.may_shed(output) {
            return again;
        }
        let out = &self.ports.outputs[output as usize];
        let (base, queues) = (out.channel_base, out.queues);
        // The class is the first.
        while let Some(queue) = self.next_ready(output, from, queues) {
            let channel = self.channel(base, queue);
            let allowed = self.queueing_limit(output);
            if allowed == Time::MAX {
                return again;
            }
            let index = self.ports.channels[channel].queue.head;
            let packet = self.pool.get(index);
            let waited = packet.waited_until(now);
            if packet.head > now || waited < allowed {
                again = again.min(packet.head.max(now) + allowed.saturating_sub(waited));
                from = u32::from(queue) + 1;
                continue;
            }
            let channel = &mut self.ports.channels[channel];
            let room_of = |flits| self.fixed.room_of::<K>(flits);
            let Some((index, room)) = channel.pop(&self.pool, room_of) else {
                return again;
            };
            let empty = channel.queue.is_empty();
            let out = &mut self.ports.outputs[output as usize];
            out.queued -= room;
            out.lossy -= room;
            if empty {
                self.clear_ready(output, queue);
            }
            if self.timings[self.ports.outputs[output as usize].timing as usize].prepaid {
                self.leave_place(index, output, now);
            }
            self.discard(index, output, now);
            self.offer_space(output, now);
        }
        again
    }

    /// Drops a packet that is out of its queue; the scheme decides what follows.
    fn discard(&mut self, index: PacketIndex, output: OutIndex, now: Time) {
        let origin = *self.pool.origin(index);
        let view = PacketView::of(self.pool.get(index), &origin);
        self.ask_at_port(index, output, now, |scheme, port| {
            scheme.on_drop(port, &view, &origin);
        });
        let last_hop = matches!(self.ports.outputs[output as usize].wire, Wire::Endpoint(_));
        self.records.stats.dropped(last_hop);
        self.pool.remove(index);
        self.carry_out_at_port(output, now);
    }
}
