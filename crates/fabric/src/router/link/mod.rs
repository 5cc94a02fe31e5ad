//! From the output queues onto the links: priority, credits, and the time of head and tail at the
//! far end.

mod failing;

use crate::Arbitration;
use crate::domain::FabricDomain;
use crate::setup::plain::Compiled;
use crate::state::event::EventKind;
use crate::state::ports::wide_port::MOST_BITS;
use crate::state::records::Beyond;
use crate::state::{OutIndex, Wire};
use weir_model::{Classes, Flight, NEVER, NO_PACKET, PacketIndex, Time};

/// Packet that an output may send now, or the event that it waits for.
struct Choice {
    /// A queue of this output (over all classes) whose first packet may go.
    queue: Option<u16>,
    /// Otherwise: when to look again.
    again: Time,
    /// True if a packet is ready but has no credit.
    starved: bool,
}

impl<K: Compiled> FabricDomain<K> {
    /// Notes that a packet has crossed; its head is at the output queue's end at `packet.head`.
    /// If nothing is in its way it takes the link at once, which saves an event: packets that cross
    /// later are ready later.
    #[inline(always)]
    pub(crate) fn enqueue(&mut self, index: PacketIndex, output: OutIndex, now: Time) {
        let packet = self.pool.get(index);
        let room = u32::from(self.room_of(packet.flits));
        let (queue, ready) = (packet.queue, packet.head);
        let out = &self.ports.outputs[output as usize];
        let alone = out.ready == 0 && out.link_free <= ready;
        let timing = &self.timings[out.timing as usize];
        let (passes, prepaid) = (alone && timing.passes_queue, Self::is_prepaid(timing));
        let channel = self.channel(out.channel_base, queue);
        if passes && (prepaid || self.has_credit(channel, room, now)) {
            self.ports.outputs[output as usize].turn = queue;
            self.progress.moved += 1;
            if !prepaid {
                // Otherwise that was done when it crossed.
                self.count_credits(output, channel, now);
            }
            self.send(index, output, ready);
            return;
        }
        self.set_ready(output, queue);
        let out = &mut self.ports.outputs[output as usize];
        out.queued += room;
        let time = ready.max(out.link_free);
        self.ports.channels[channel].push(&mut self.pool, index, room);
        self.wake_link(output, time);
    }

    /// Looks at a link again, no later than `time`.
    #[inline]
    pub(crate) fn wake_link(&mut self, output: OutIndex, time: Time) {
        let time = self.next_departure(time);
        let out = &mut self.ports.outputs[output as usize];
        if time < out.link_wake {
            out.link_wake = time;
            self.schedule(EventKind::Link, output, time);
        }
    }

    /// The event of a link.
    pub(crate) fn link_event(&mut self, output: OutIndex, now: Time) {
        let out = &mut self.ports.outputs[output as usize];
        if out.link_wake != now {
            return;
        }
        out.link_wake = NEVER;
        if output >= self.first_nic_output {
            self.serve_nic(output - self.first_nic_output, now);
        } else if out.link_free > now {
            let time = out.link_free;
            self.wake_link(output, time);
        } else {
            self.serve_link(output, now);
        }
    }

    /// Sends the next packet of a free link's output queues.
    fn serve_link(&mut self, output: OutIndex, now: Time) {
        let overdue = if K::CC && self.fixed.can.drops {
            self.shed_queued(output, now)
        } else {
            NEVER
        };
        let choice = self.choose_queue(output, now);
        let out = &mut self.ports.outputs[output as usize];
        // At such an output, the requests that wait to cross tell whether credits are missing.
        let prepaid = Self::is_prepaid(&self.timings[out.timing as usize]);
        let Some(queue) = choice.queue else {
            if choice.starved {
                out.stall(now);
            } else if !prepaid {
                self.unstall(output, now);
            }
            self.wake_link(output, choice.again.min(overdue));
            return;
        };
        let base = out.channel_base;
        let place = self.channel(base, queue);
        let channel = &mut self.ports.channels[place];
        let room_of = |flits| self.fixed.room_of::<K>(flits);
        let Some((index, room)) = channel.pop(&self.pool, room_of) else {
            return;
        };
        let packet = self.pool.get_mut(index);
        if K::CC && self.fixed.can.drops {
            packet.wait(now - packet.head);
        }
        let next = channel.queue.head;
        if next == NO_PACKET {
            self.clear_ready(output, queue);
        } else {
            // The next packet has been queued, and is in no near cache any more. Fetch its end,
            // which is copied to another domain or delivered, and the packet after it, which is
            // served when it has left.
            self.pool.fetch_origin(next);
            self.pool.fetch(self.pool.after(next));
        }
        let out = &mut self.ports.outputs[output as usize];
        out.queued -= room;
        out.turn = queue;
        if prepaid {
            self.settle_stall(output, now);
        } else {
            self.unstall(output, now);
            self.count_credits(output, place, now);
        }
        self.progress.moved += 1;
        self.send(index, output, now);
        let out = &self.ports.outputs[output as usize];
        if out.ready != 0 {
            let time = out.link_free.max(self.first_ready(output, out.link_free));
            self.wake_link(output, time);
        }
        self.offer_space(output, now);
    }

    /// Serves the requests that wait for space in an output queue.
    pub(crate) fn offer_space(&mut self, output: OutIndex, now: Time) {
        let out = &mut self.ports.outputs[output as usize];
        if std::mem::take(&mut out.space_wanted) {
            let time = out.free_at;
            if time > now {
                self.wake_output(output, time);
            } else {
                self.try_output(output, now);
            }
        }
    }

    /// Earliest time when the head of an output's queue is ready; not all queues are empty.
    /// Once a time up to `enough` is found, it may be returned instead.
    fn first_ready(&self, output: OutIndex, enough: Time) -> Time {
        let out = &self.ports.outputs[output as usize];
        let mut bits = out.ready;
        let mut first = NEVER;
        if Self::is_wide(out.channel_base) {
            let mut from = 0;
            while let Some(queue) = self.next_ready(output, from, u32::MAX) {
                from = u32::from(queue) + 1;
                if let Some(channel) = self.used_channel(out.channel_base, queue) {
                    first = first.min(self.ports.channels[channel].first_ready);
                }
            }
            return first;
        }
        while bits != 0 && first > enough {
            let channel = out.channel_base as usize + bits.trailing_zeros() as usize;
            bits &= bits - 1;
            first = first.min(self.ports.channels[channel].first_ready);
        }
        first
    }

    /// The queue that is served next: of the highest class that has a packet which is ready and has
    /// credits.
    fn choose_queue(&mut self, output: OutIndex, now: Time) -> Choice {
        let out = &self.ports.outputs[output as usize];
        let (ready, base, queues, turn) = (out.ready, out.channel_base, out.queues, out.turn);
        if Self::is_wide(base) {
            return self.choose_in_wide(output, now);
        }
        let prepaid = Self::is_prepaid(&self.timings[out.timing as usize]);
        let mut choice = Choice {
            queue: None,
            again: NEVER,
            starved: false,
        };
        // Mostly there is one queue to choose from.
        if ready.is_power_of_two() {
            let queue = ready.trailing_zeros() as u16;
            let channel = base as usize + usize::from(queue);
            let first = self.may_leave(channel, prepaid, now, &mut choice);
            choice.queue = first.map(|_| queue);
            return choice;
        }
        let arbitration = self.model(output).arbitration;
        for class in (0..u32::from(self.fixed.classes.count())).rev() {
            let members = u64::MAX >> (MOST_BITS - queues) << (class * queues);
            // In turn: the queues after the one served last come before the others.
            let after = members & u64::MAX.checked_shl(u32::from(turn) + 1).unwrap_or(0);
            let mut best: Option<(Time, u16)> = None;
            for mut bits in [ready & after, ready & members & !after] {
                while bits != 0 {
                    let queue = bits.trailing_zeros() as u16;
                    bits &= bits - 1;
                    let channel = base as usize + usize::from(queue);
                    let Some(index) = self.may_leave(channel, prepaid, now, &mut choice) else {
                        continue;
                    };
                    let packet = self.pool.get(index);
                    let rank = match arbitration {
                        Arbitration::RoundRobin => {
                            choice.queue = Some(queue);
                            return choice;
                        }
                        Arbitration::Oldest => self.pool.origin(index).injected,
                        Arbitration::FirstCome => packet.head,
                    };
                    if best.is_none_or(|(other, _)| rank < other) {
                        best = Some((rank, queue));
                    }
                }
            }
            if let Some((_, queue)) = best {
                choice.queue = Some(queue);
                return choice;
            }
        }
        choice
    }

    /// The same of an output with many queues.
    #[inline(never)]
    fn choose_in_wide(&mut self, output: OutIndex, now: Time) -> Choice {
        let out = &self.ports.outputs[output as usize];
        let (base, queues, turn) = (out.channel_base, out.queues, u32::from(out.turn));
        let prepaid = Self::is_prepaid(&self.timings[out.timing as usize]);
        let mut choice = Choice {
            queue: None,
            again: NEVER,
            starved: false,
        };
        let arbitration = self.model(output).arbitration;
        for class in (0..u32::from(self.fixed.classes.count())).rev() {
            let (first, end) = (class * queues, (class + 1) * queues);
            let after = (turn + 1).clamp(first, end);
            let mut best: Option<(Time, u16)> = None;
            for (mut from, end) in [(after, end), (first, after)] {
                while let Some(queue) = self.next_ready(output, from, end) {
                    from = u32::from(queue) + 1;
                    let channel = self.channel(base, queue);
                    let Some(index) = self.may_leave(channel, prepaid, now, &mut choice) else {
                        continue;
                    };
                    let packet = self.pool.get(index);
                    let rank = match arbitration {
                        Arbitration::RoundRobin => 0,
                        Arbitration::Oldest => self.pool.origin(index).injected,
                        Arbitration::FirstCome => packet.head,
                    };
                    if best.is_none_or(|(other, _)| rank < other) {
                        best = Some((rank, queue));
                    }
                    if arbitration == Arbitration::RoundRobin {
                        break;
                    }
                }
                if best.is_some() && arbitration == Arbitration::RoundRobin {
                    break;
                }
            }
            choice.queue = best.map(|(_, queue)| queue);
            if choice.queue.is_some() {
                break;
            }
        }
        choice
    }

    /// The first packet of an output's queue, if it is ready and has credits; otherwise `choice`
    /// takes note of when that may be.
    #[inline(always)]
    fn may_leave(
        &mut self,
        channel: usize,
        prepaid: bool,
        now: Time,
        choice: &mut Choice,
    ) -> Option<PacketIndex> {
        let (index, ready) = {
            let channel = &self.ports.channels[channel];
            (channel.queue.head, channel.first_ready)
        };
        if ready > now {
            choice.again = choice.again.min(ready);
            return None;
        }
        let room = u32::from(self.room_of(self.pool.get(index).flits));
        if !prepaid && !self.has_credit(channel, room, now) {
            choice.starved = true;
            let credit = &self.ports.channels[self.home(channel)].credit;
            choice.again = choice.again.min(credit.enough_at(room));
            return None;
        }
        Some(index)
    }

    /// True if it makes no difference to the counters if a packet is delivered when it leaves its
    /// last router, instead of at `tail`: it will be delivered in this window, and it is not before
    /// others of its message.
    #[inline]
    fn may_deliver_now(&self, index: PacketIndex, nic: u32, tail: Time) -> bool {
        let origin = self.pool.origin(index);
        let alone = u64::from(origin.payload_bits) == origin.message_bits;
        tail < self.progress.until && (alone || self.ends.nics[nic as usize].wire.is_empty())
    }

    /// Puts a packet on a link.
    /// Its head leaves at `depart`; its tail leaves when all of it has been sent, and no sooner
    /// than it got here.
    pub(crate) fn send(&mut self, index: PacketIndex, output: OutIndex, depart: Time) {
        let worse = match self.has_failing() {
            true => self.worse(output, self.pool.get(index).flits, depart),
            false => None,
        };
        if let Some(worse) = &worse {
            self.count_retries(output, worse.retries);
        }
        let out = &mut self.ports.outputs[output as usize];
        let packet = self.pool.get_mut(index);
        let timing = &self.timings[out.timing as usize];
        let built = || (timing.rate.time(packet.flits), 0);
        let (length, again) = worse.map_or_else(built, |worse| (worse.length, worse.again));
        let depart = depart + again;
        let end = (depart + length).max(packet.tail());
        out.link_free = end;
        if K::CC
            && self.fixed.can.drops
            && packet.class == Classes::LOSSY
            && output < self.first_nic_output
        {
            out.lossy -= u32::from(self.fixed.room_of::<K>(packet.flits));
        }
        out.counts.flits += u64::from(packet.flits);
        out.counts.packets += 1;
        out.last_sent = self.fixed.room_of::<K>(packet.flits);
        out.counts.busy += end - depart + again;
        if out.is_stalled() {
            out.stalled_since = out.stalled_since.max(end);
        }
        let there = if Self::is_stored(timing) { end } else { depart };
        let (head, tail) = (there + timing.latency, end + timing.latency);
        packet.pass(head, end - there);
        let (wire, prepaid) = (out.wire, Self::is_prepaid(timing));
        if output < self.first_nic_output {
            let begin = depart - again;
            if end > self.progress.until {
                self.records.beyond.push(Beyond { output, begin, end });
            }
            if self.logs_flows() || self.logs_links() {
                self.log_departure(index, output, (begin, end));
            }
        }
        if self.pool.get(index).flight.flags & Flight::WATCHED != 0 {
            self.watch_departure(index, output, (depart, end), tail);
        }
        if self.has_failing() && self.loses(index, output, [depart, tail]) {
            return;
        }
        match (wire, prepaid) {
            (Wire::Endpoint(_), true) => {
                let time = tail + self.ports.inputs[output as usize].credit_latency;
                self.leave_place(index, output, time);
            }
            (Wire::Endpoint(_), false) | (_, true) => {}
            (_, false) => self.take_place(index, output),
        }
        if K::CC && output < self.first_nic_output {
            if self.ports.outputs[output as usize].level() >= self.fixed.mark_from {
                self.mark(index, output);
            }
            if self.fixed.at_departure {
                self.leaves_router(index, output, depart);
            }
        }
        self.put_on_wire(index, output, (head, tail));
    }

    /// Hands a packet on to the other end of a link, where its head and tail arrive at these times.
    #[inline(always)]
    fn put_on_wire(&mut self, index: PacketIndex, output: OutIndex, (head, tail): (Time, Time)) {
        match self.ports.outputs[output as usize].wire {
            Wire::Router(input) => {
                let wire = &mut self.ports.inputs[input as usize].wire;
                wire.push(&mut self.pool, index);
                self.schedule(EventKind::Arrive, input, head);
            }
            Wire::Endpoint(nic) => {
                if self.fixed.unheard && self.may_deliver_now(index, nic, tail) {
                    self.deliver_packet(index, nic, tail);
                    return;
                }
                let wire = &mut self.ends.nics[nic as usize].wire;
                wire.push(&mut self.pool, index);
                self.schedule(EventKind::Deliver, nic, tail);
            }
            Wire::Away { neighbour, input } => {
                let (packet, origin) = (*self.pool.get(index), *self.pool.origin(index));
                let post = self.outboxes.to(neighbour);
                post.packet(packet, origin, input);
                if K::CC && self.pool.header_words() > 0 {
                    post.headers.extend_from_slice(self.pool.header_mut(index));
                }
                self.pool.remove(index);
            }
            Wire::Unused => {
                unreachable!("an unused port has no virtual channel, which `route` checks")
            }
        }
    }
}
