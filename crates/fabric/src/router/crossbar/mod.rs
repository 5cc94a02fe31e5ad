//! From the input buffers across the crossbar: who may cross, and when to look again at who may
//! not.

mod allocation;
mod alternatives;
mod requests;
mod steps;
mod turn;

use crate::Arbitration;
use crate::domain::FabricDomain;
use crate::fault::Fault;
use crate::setup::plain::Compiled;
use crate::state::event::EventKind;
use crate::state::ports::ring::Side;
use crate::state::{InIndex, OutIndex, Request, any_waits};
use crate::state::{NO_REQUEST, RequestIndex};
use weir_model::{Classes, NEVER, PacketIndex, Time};

/// True if a packet may cross now; otherwise the resource it waits for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Crossing {
    Go,
    /// For its input, busy longest.
    Input,
    /// For its output, busy longest.
    Output,
    /// For space in the output queue.
    Space,
    /// For credits (if they are needed to cross).
    Credit,
    /// For the allocation of a virtual channel or the next time step, until that time.
    Until(Time),
}

impl<K: Compiled> FabricDomain<K> {
    /// A routed packet asks for its output. `from`: its input and its queue there.
    pub(crate) fn ask(
        &mut self,
        index: PacketIndex,
        from: (InIndex, u16),
        output: OutIndex,
        now: Time,
    ) {
        if self.has_alternatives() {
            self.ask_for_any(index, from, output, now);
            return;
        }
        let (input, in_queue) = from;
        let class = self.pool.get(index).class;
        let (at_output, _) = self.ring_places(output, input, class);
        if self.fixed.voq
            && let Some(queue) = self.find_request(at_output, input, in_queue)
        {
            self.ports
                .requests
                .queue_mut(queue)
                .push(&mut self.pool, index);
            return;
        }
        match self.crossing(index, from, output, now) {
            Crossing::Go => self.cross(index, from, output, now),
            wait => {
                self.add_queue(index, from, output);
                self.wait(wait, (input, output), index, false, now);
            }
        }
    }

    /// True if a packet at the head of its queue (`place`: its input, and which of its queues) may
    /// cross now.
    #[inline(always)]
    pub(crate) fn crossing(
        &mut self,
        index: PacketIndex,
        place: (InIndex, u16),
        output: OutIndex,
        now: Time,
    ) -> Crossing {
        let (input, _) = place;
        let from = self.ports.inputs[input as usize].free_at;
        let out = &self.ports.outputs[output as usize];
        if from > now || out.free_at > now {
            return if from > out.free_at {
                Crossing::Input
            } else {
                Crossing::Output
            };
        }
        let time = self.next_departure(now);
        if time > now {
            return Crossing::Until(time);
        }
        let packet = self.pool.get(index);
        let own = u32::from(self.room_of(packet.flits));
        let class = packet.class;
        let timing = &self.timings[out.timing as usize];
        let (capacity, credit_to_cross) = (timing.output_queue, timing.credit_to_cross);
        let channel = self.channel(out.channel_base, packet.queue);
        let room = self.room_for(index);
        if self.allocates() {
            let time = self.allocated_from(place, channel);
            if time > now {
                return Crossing::Until(time);
            }
        }
        if credit_to_cross {
            if K::CC && self.fixed.can.marks {
                // The credits left at this moment are what the scheme is told when the packet
                // leaves.
                let home = self.home(channel);
                self.ports.channels[home].credit.collect(now);
            }
            if !self.has_credit(channel, room, now) {
                return Crossing::Credit;
            }
        }
        if let Some(capacity) = capacity {
            if K::CC && self.fixed.can.drops && class == Classes::LOSSY {
                let out = &self.ports.outputs[output as usize];
                if out.ready != 0 && out.ready & self.data_bits(out) != 0 {
                    return Crossing::Space;
                }
            }
            if self.is_full(channel, own, capacity) {
                return Crossing::Space;
            }
        }
        if own < u32::from(self.pool.longest()) && self.others_wait(index, (input, output), class) {
            let longer = self.is_after_longer(index, (input, output), channel, now);
            return longer.unwrap_or(Crossing::Go);
        }
        Crossing::Go
    }

    /// Makes sure that a packet that may not cross is looked at again as soon as it may.
    /// A request for this output as an alternative (`also`) is dropped only at the packet's first
    /// output, which sets the time.
    pub(crate) fn wait(
        &mut self,
        reason: Crossing,
        (input, output): (InIndex, OutIndex),
        index: PacketIndex,
        also: bool,
        now: Time,
    ) {
        if K::CC && self.fixed.can.drops && reason != Crossing::Go && !also {
            self.watch_patience(index, output, now);
        }
        match reason {
            Crossing::Go => {}
            Crossing::Input => self.wake_input(input, self.ports.inputs[input as usize].free_at),
            Crossing::Output => {
                self.wake_output(output, self.ports.outputs[output as usize].free_at)
            }
            Crossing::Until(time) => self.wake_output(output, time),
            Crossing::Space => {
                self.ports.outputs[output as usize].space_wanted = true;
                if self.timing(output).unlimited {
                    self.check_queue(index, output, now);
                }
            }
            Crossing::Credit => {
                let out = &mut self.ports.outputs[output as usize];
                if !out.is_stalled() {
                    out.stall(now);
                    self.wake_for_credit(output, now);
                }
            }
        }
    }

    /// Wakes a stalled output at every credit return, whatever it is for.
    /// Credits in flight schedule the wake-up, and later ones do so when they are announced. So the
    /// wake-up time does not depend on when a credit was announced, which the length of windows
    /// decides.
    fn wake_for_credit(&mut self, output: OutIndex, now: Time) {
        let out = &self.ports.outputs[output as usize];
        let (base, classes) = (out.channel_base, self.fixed.classes.count());
        let next = match Self::is_wide(base) {
            true => self.ports.wide_ports.next_credit(base, now),
            false => {
                let queues = base as usize..(base + out.queues * u32::from(classes)) as usize;
                let next = queues.map(|queue| self.ports.channels[queue].credit.next_after(now));
                next.min().unwrap_or(NEVER)
            }
        };
        self.wake_output(output, next);
    }

    /// An output queue without limit that is full ends the run.
    #[cold]
    fn check_queue(&mut self, index: PacketIndex, output: OutIndex, now: Time) {
        let packet = self.pool.get(index);
        let out = &self.ports.outputs[output as usize];
        let own = u32::from(self.room_of(packet.flits));
        let channel = self.channel(out.channel_base, packet.queue);
        let queue = &self.ports.channels[channel];
        let room = self.timing(output).output_queue.unwrap_or(u32::MAX) - queue.flits;
        if room < own {
            let flits = queue.flits;
            self.port_full(output, flits, now);
        }
    }

    /// More than `flits` flits that wait for an output cannot be counted, which ends the run.
    #[cold]
    pub(crate) fn port_full(&mut self, output: OutIndex, flits: u32, now: Time) {
        let (router, port) = self.port_of(output);
        self.fault.get_or_insert(Fault::QueueFull {
            simulated_ps: now,
            router,
            port: port.into(),
            flits,
        });
    }

    /// Looks at an output again, no later than `time`.
    #[inline]
    pub(crate) fn wake_output(&mut self, output: OutIndex, time: Time) {
        let time = self.next_departure(time);
        let out = &mut self.ports.outputs[output as usize];
        if time < out.wake {
            out.wake = time;
            self.schedule(EventKind::OutputFree, output, time);
        }
    }

    #[inline]
    fn wake_input(&mut self, input: InIndex, time: Time) {
        let place = &mut self.ports.inputs[input as usize];
        if time < place.wake {
            place.wake = time;
            self.schedule(EventKind::InputFree, input, time);
        }
    }

    /// The event of an output: it may have become free, or credits have come back.
    pub(crate) fn output_event(&mut self, output: OutIndex, now: Time) {
        let out = &mut self.ports.outputs[output as usize];
        if out.wake == now {
            out.wake = NEVER;
            self.try_output(output, now);
        }
    }

    /// Lets one waiting packet cross to an output, the highest class first.
    pub(crate) fn try_output(&mut self, output: OutIndex, now: Time) {
        if K::CC && self.fixed.can.drops {
            self.drop_overdue(output, now);
        }
        let classes = usize::from(self.fixed.classes.count());
        for class in (0..classes).rev() {
            let ring = output as usize * classes + class;
            if let Some(request) = self.pick(self.ports.rings.outputs[ring].next, Side::Output, now)
            {
                self.serve(request, now);
                if any_waits(&self.ports.rings.outputs, output, classes) {
                    self.wake_output(output, self.ports.outputs[output as usize].free_at.max(now));
                }
                return;
            }
        }
        if !self.timing(output).credit_to_cross {
            return;
        }
        if !any_waits(&self.ports.rings.outputs, output, classes) {
            self.unstall(output, now);
        } else if self.ports.outputs[output as usize].is_stalled() {
            self.wake_for_credit(output, now);
        }
    }

    /// The event of an input: its side of the crossbar has become free.
    pub(crate) fn input_event(&mut self, input: InIndex, now: Time) {
        let place = &mut self.ports.inputs[input as usize];
        if place.wake != now {
            return;
        }
        place.wake = NEVER;
        let classes = usize::from(self.fixed.classes.count());
        for class in (0..classes).rev() {
            let ring = input as usize * classes + class;
            if let Some(request) = self.pick(self.ports.rings.inputs[ring].next, Side::Input, now) {
                self.serve(request, now);
                if any_waits(&self.ports.rings.inputs, input, classes) {
                    self.wake_input(input, self.ports.inputs[input as usize].free_at.max(now));
                }
                return;
            }
        }
    }

    /// Request of a ring that is served next, by the router's arbitration.
    /// Requests that may not cross are left waiting for what they lack.
    #[inline(always)]
    fn pick(&mut self, first: RequestIndex, side: Side, now: Time) -> Option<RequestIndex> {
        // A class without requests needs no call.
        match first {
            NO_REQUEST => None,
            _ => self.pick_from(first, side, now),
        }
    }

    /// The same of a ring that is not empty.
    #[inline(never)]
    fn pick_from(&mut self, first: RequestIndex, side: Side, now: Time) -> Option<RequestIndex> {
        // All are at one router.
        let arbitration = self
            .model(self.ports.requests.get(first).output)
            .arbitration;
        if arbitration != Arbitration::RoundRobin {
            self.fetch_heads(first, side);
        }
        let mut best: Option<((Time, u32), RequestIndex)> = None;
        let mut at = first;
        loop {
            let Request {
                queue,
                input,
                output,
                in_queue,
                also,
                ..
            } = *self.ports.requests.get(at);
            if self.has_alternatives() {
                self.turn_to(at);
            }
            let rank = self.rank_of(arbitration, queue.head, (input, output));
            if best.is_none_or(|(other, _)| rank < other) {
                match self.crossing(queue.head, (input, in_queue), output, now) {
                    Crossing::Go => best = Some((rank, at)),
                    reason => self.wait(reason, (input, output), queue.head, also, now),
                }
                if best.is_some() && arbitration == Arbitration::RoundRobin {
                    break;
                }
            }
            at = self.ports.requests.after(at, side);
            if at == first {
                break;
            }
        }
        best.map(|(_, request)| request)
    }

    /// Begins to fetch the first packets of a ring's requests, all of which are compared, into the
    /// cache.
    fn fetch_heads(&self, first: RequestIndex, side: Side) {
        let mut at = first;
        loop {
            self.pool.fetch(self.ports.requests.get(at).queue.head);
            at = self.ports.requests.after(at, side);
            if at == first {
                break;
            }
        }
    }

    /// Lets the first packet of a request cross; the turn passes to the requests after it.
    fn serve(&mut self, at: RequestIndex, now: Time) {
        let Request {
            input,
            output,
            in_queue,
            class,
            ..
        } = *self.ports.requests.get(at);
        let (at_output, at_input) = self.ring_places(output, input, class);
        self.ports.rings.outputs[at_output].next = self.ports.requests.after(at, Side::Output);
        self.ports.rings.inputs[at_input].next = self.ports.requests.after(at, Side::Input);
        if self.has_alternatives() {
            self.serve_any(at, now);
        } else if let Some(index) = self.take_head(at) {
            self.cross(index, (input, in_queue), output, now);
        }
    }

    /// A packet crosses from its input and its queue there: the input's buffer is given back, the
    /// packet joins its output queue or goes onto the link.
    pub(crate) fn cross(
        &mut self,
        index: PacketIndex,
        from: (InIndex, u16),
        output: OutIndex,
        now: Time,
    ) {
        let (input, in_queue) = from;
        let longer = self.longer(output, index, now);
        // Before the packet takes the link.
        self.settle_stall(output, now);
        let place = &mut self.ports.inputs[input as usize];
        let out = &mut self.ports.outputs[output as usize];
        let packet = self.pool.get_mut(index);
        let flits = packet.flits;
        let in_time = place.crossbar.time(flits);
        place.free_at = now + in_time;
        out.waiting -= u32::from(self.fixed.room_of::<K>(flits));
        let tail_in = packet.tail();
        if K::CC && self.fixed.can.drops {
            packet.wait(now - packet.head);
        }
        let timing = &self.timings[out.timing as usize];
        let (latency, queued) = (timing.crossing, timing.output_queue.is_some());
        let credit_to_cross = timing.credit_to_cross;
        let out_time = if queued {
            timing.crossbar.time(flits)
        } else {
            longer.unwrap_or_else(|| timing.rate.time(flits))
        };
        // The tail cannot cross before it is here.
        let leave = (now
            + if queued {
                in_time.max(out_time)
            } else {
                out_time
            })
        .max(tail_in);
        out.free_at = if queued { now + out_time } else { leave };
        packet.pass(now + latency, leave - now);
        if self.allocates() {
            self.allocate_from(index, from, output, leave);
        }
        self.give_back(input, in_queue, flits, leave);
        if !queued {
            self.progress.moved += 1;
            self.send(index, output, now + latency);
        } else {
            if credit_to_cross {
                self.take_place(index, output);
            }
            self.enqueue(index, output, now);
        }
        if credit_to_cross {
            self.unstall(output, now);
            // Others may wait here for credits of another channel. Credits wake only a stalled
            // output, and this one has just moved: it must find out anew which credits are missing.
            if any_waits(
                &self.ports.rings.outputs,
                output,
                usize::from(self.fixed.classes.count()),
            ) {
                let time = self.ports.outputs[output as usize].free_at;
                self.wake_output(output, time);
            }
        }
        if !self.fixed.voq {
            self.next_of_fifo(input, in_queue, now);
        }
    }
}
