//! From the input buffers across the crossbar: who may cross, and when to look again at who may not.

use super::domain::FabricDomain;
use super::event::EventKind;
use super::plain::Compiled;
use super::pool::Fifo;
use super::ring::{NO_REQUEST, RequestIndex, Side};
use super::state::{InIndex, OutIndex, Request, Upstream, Wire};
use crate::config::Arbitration;
use crate::model::{Classes, Flight, NEVER, PacketIndex, Time};
use crate::routing::Hop;
use crate::simulation::RunError;

/// Whether a packet may cross now, and if not, what it waits for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Crossing {
    Go,
    /// For its input, busy longest.
    Input,
    /// For its output, busy longest.
    Output,
    /// For space in the output queue.
    Space,
    /// For credits (where they are needed to cross).
    Credit,
}

impl<K: Compiled> FabricDomain<K> {
    /// A head is at an input.
    pub(super) fn arrive(&mut self, input: InIndex, now: Time) {
        let place = &mut self.inputs[input as usize];
        let index = match place.upstream {
            Upstream::Away { neighbour, .. }
                if self.inboxes[neighbour as usize].entrance.is_some() =>
            {
                self.next_of_inbox(neighbour, input)
            }
            _ => {
                let index = place.wire.pop(&self.pool);
                self.pool.fetch(place.wire.head);
                index
            }
        };
        if let Some(index) = index {
            self.enter(index, input, now);
        }
    }

    /// A packet is in an input's buffer.
    #[inline(always)]
    pub(super) fn enter(&mut self, index: PacketIndex, input: InIndex, now: Time) {
        if self.fixed.voq {
            self.route(index, input, false, now);
            return;
        }
        let base = self.inputs[input as usize].queue_base;
        let queue = self.fifos.get(base, input, self.pool.get(index).queue);
        if queue.requested {
            queue.behind.push(&mut self.pool, index);
            if K::CC && self.fixed.can.arrivals {
                self.comes_behind(index, input, now);
            }
        } else {
            queue.requested = true;
            self.route(index, input, false, now);
        }
    }

    /// Routes a packet, and lets it cross at once or makes it wait. `behind`: it has waited behind others.
    fn route(&mut self, index: PacketIndex, input: InIndex, behind: bool, now: Time) {
        let held = match K::RICH && self.fixed.flows.held {
            true => self.held_way(index, input),
            false => None,
        };
        let (routing, flight, mut here) = self.view(index, input, now);
        let hop = held.unwrap_or_else(|| routing.route(flight, &mut here));
        let place = here.place;
        let (output, queue) = self.way(hop, place, index);
        let packet = self.pool.get_mut(index);
        packet.flight.routers = packet.flight.routers.saturating_add(1);
        if packet.flight.flags & Flight::WATCHED != 0 {
            self.watch_arrival = packet.head;
        }
        let in_queue = std::mem::replace(&mut packet.queue, queue);
        let (class, step) = (packet.class, packet.flight.flow_step());
        let wire = self.outputs[output as usize].wire;
        let ends_here = matches!(wire, Wire::Endpoint(_));
        if !matches!(wire, Wire::Router(_)) {
            // It is copied or delivered as soon as it is on that link.
            self.pool.fetch_origin(index);
        }
        if self.keeps_bubbles() {
            self.note_entry(index, (input, in_queue), output);
        }
        if K::RICH
            && let Some(step) = step
        {
            self.flow_passes(step, index, input, (output, hop));
        }
        if K::CC
            && self.may_be_taken(class, ends_here)
            && self.taken_here(index, (input, in_queue), output, now)
        {
            return;
        }
        let counted = K::CC && behind && self.fixed.can.arrivals && ends_here;
        if !counted {
            self.waits_for(index, output, now);
        }
        self.ask(index, (input, in_queue), output, now);
        if K::CC && ends_here && self.fixed.can.drops {
            // The more there is for an endpoint, the more may have to go.
            self.shed(output, now);
        }
    }

    /// From now on a packet waits for an output.
    #[inline(always)]
    fn waits_for(&mut self, index: PacketIndex, output: OutIndex, now: Time) {
        let (packet, out) = (self.pool.get(index), &mut self.outputs[output as usize]);
        out.waiting += u32::from(packet.flits);
        if K::CC && self.fixed.can.drops && packet.class == Classes::LOSSY {
            out.lossy += u32::from(packet.flits);
        }
        out.peak = out.peak.max(out.waiting + out.queued);
        if K::CC && self.fixed.can.observes {
            self.observe(index, output, now, |scheme, port, packet| {
                scheme.on_route(port, packet);
            });
        }
    }

    /// A packet has come to a router behind others of its queue. If it is for an endpoint of the router, it waits for that.
    #[inline(never)]
    fn comes_behind(&mut self, index: PacketIndex, input: InIndex, now: Time) {
        let to = self.pool.get(index).flight.destination;
        let (router, port) = self.network.topology.attachment(to);
        let here = &self.routers[self.inputs[input as usize].router as usize];
        if here.id == router {
            let output = here.base + u32::from(port);
            self.waits_for(index, output, now);
        }
    }

    /// The output that a way leads to from a router of this domain, and the packet's queue there. A way that is not there ends
    /// the run here, where it can be named.
    #[inline(always)]
    pub(super) fn way(&self, hop: Hop, router: u32, index: PacketIndex) -> (OutIndex, u16) {
        let router = &self.routers[router as usize];
        assert!(
            hop.port < router.ports,
            "routing leads to port {} of router {}, which has {}",
            hop.port,
            router.id,
            router.ports
        );
        let output = router.base + u32::from(hop.port);
        let out = &self.outputs[output as usize];
        let packet = self.pool.get(index);
        // A port that is not used has no queues.
        let queue = match self.divided() {
            true => {
                let (to, origin) = (packet.flight.destination, self.pool.origin(index));
                let who = (to, packet.class);
                self.network.divided_queue(hop, router.id, who, origin, out)
            }
            false => u32::from(hop.vc),
        };
        assert!(
            queue < out.queues,
            "routing leads to virtual channel {} of port {} of router {}, which has {}",
            hop.vc,
            hop.port,
            router.id,
            out.queues
        );
        (
            output,
            (u32::from(packet.class) * out.queues + queue) as u16,
        )
    }

    /// A routed packet asks for its output. `from`: its input and its queue there.
    fn ask(&mut self, index: PacketIndex, from: (InIndex, u16), output: OutIndex, now: Time) {
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
            self.requests.queue_mut(queue).push(&mut self.pool, index);
            return;
        }
        match self.crossing(index, input, output, now) {
            Crossing::Go => self.cross(index, from, output, now),
            wait => {
                self.add_queue(index, from, output);
                self.wait(wait, input, output, index, now);
            }
        }
    }

    /// A packet waits for an output as the first of its queue. `from`: its input and its queue there.
    #[inline]
    pub(super) fn add_queue(
        &mut self,
        index: PacketIndex,
        from: (InIndex, u16),
        output: OutIndex,
    ) -> RequestIndex {
        let mut queue = Fifo::EMPTY;
        queue.push(&mut self.pool, index);
        let packet = self.pool.get(index);
        self.add_request(Request {
            queue,
            input: from.0,
            output,
            in_queue: from.1,
            class: packet.class,
            out_queue: packet.queue,
            also: false,
            others: NO_REQUEST,
        })
    }

    /// A request joins the rings of its output and its input.
    #[inline]
    pub(super) fn add_request(&mut self, request: Request) -> RequestIndex {
        let Request {
            input,
            output,
            class,
            ..
        } = request;
        let (at_output, at_input) = self.ring_places(output, input, class);
        let (outputs, inputs) = (&mut self.rings.outputs, &mut self.rings.inputs);
        self.requests
            .add(request, &mut outputs[at_output], &mut inputs[at_input])
    }

    /// A request leaves the rings of its output and its input.
    #[inline]
    pub(super) fn remove_request(&mut self, at: RequestIndex) {
        let Request {
            input,
            output,
            class,
            ..
        } = *self.requests.get(at);
        let (at_output, at_input) = self.ring_places(output, input, class);
        let (outputs, inputs) = (&mut self.rings.outputs, &mut self.rings.inputs);
        self.requests
            .remove(at, &mut outputs[at_output], &mut inputs[at_input]);
    }

    /// The places of the rings of an output and an input for a class.
    #[inline]
    pub(super) fn ring_places(
        &self,
        output: OutIndex,
        input: InIndex,
        class: u8,
    ) -> (usize, usize) {
        let classes = usize::from(self.fixed.classes.count());
        let class = usize::from(class);
        (
            output as usize * classes + class,
            input as usize * classes + class,
        )
    }

    /// The virtual output queue of an input and a queue there, if it holds anything.
    pub(super) fn find_request(
        &self,
        at_output: usize,
        input: InIndex,
        in_queue: u16,
    ) -> Option<RequestIndex> {
        let first = self.rings.outputs[at_output].next;
        let mut at = first;
        while at != NO_REQUEST {
            let request = self.requests.get(at);
            if request.input == input && request.in_queue == in_queue && !request.also {
                return Some(at);
            }
            at = self.requests.after(at, Side::Output);
            if at == first {
                break;
            }
        }
        None
    }

    /// Whether a packet at the head of its queue may cross now.
    #[inline(always)]
    pub(super) fn crossing(
        &mut self,
        index: PacketIndex,
        input: InIndex,
        output: OutIndex,
        now: Time,
    ) -> Crossing {
        let from = self.inputs[input as usize].free_at;
        let out = &self.outputs[output as usize];
        if from > now || out.free_at > now {
            return if from > out.free_at {
                Crossing::Input
            } else {
                Crossing::Output
            };
        }
        let packet = self.pool.get(index);
        let flits = u32::from(packet.flits);
        let class = packet.class;
        let timing = &self.timings[out.timing as usize];
        let (capacity, credit_to_cross) = (timing.output_queue, timing.credit_to_cross);
        let channel = self.channel(out.channel_base, packet.queue);
        let room = self.room_for(index);
        if credit_to_cross && !self.has_credit(channel, room, now) {
            return Crossing::Credit;
        }
        match capacity {
            Some(capacity) => {
                if K::CC && self.fixed.can.drops && class == Classes::LOSSY {
                    let out = &self.outputs[output as usize];
                    if out.ready & self.data_bits(out) != 0 {
                        return Crossing::Space;
                    }
                }
                let held = self.channels[channel].flits;
                if held == 0 || held + flits <= capacity {
                    Crossing::Go
                } else {
                    Crossing::Space
                }
            }
            None => Crossing::Go,
        }
    }

    /// Sees to it that a packet that may not cross is looked at again as soon as it may.
    pub(super) fn wait(
        &mut self,
        reason: Crossing,
        input: InIndex,
        output: OutIndex,
        index: PacketIndex,
        now: Time,
    ) {
        if K::CC && self.fixed.can.drops && reason != Crossing::Go {
            self.watch_patience(index, output, now);
        }
        match reason {
            Crossing::Go => {}
            Crossing::Input => self.wake_input(input, self.inputs[input as usize].free_at),
            Crossing::Output => self.wake_output(output, self.outputs[output as usize].free_at),
            Crossing::Space => {
                self.outputs[output as usize].space_wanted = true;
                if self.timing(output).unlimited {
                    self.check_queue(index, output, now);
                }
            }
            Crossing::Credit => {
                self.outputs[output as usize].stall(now);
                let (packet, room) = (self.pool.get(index), self.room_for(index));
                let out = &self.outputs[output as usize];
                let channel = self.channel(out.channel_base, packet.queue);
                let channel = self.home(channel);
                let time = self.channels[channel].credit.enough_at(room);
                self.wake_output(output, time);
            }
        }
    }

    /// An output queue without limit that is full ends the run.
    #[cold]
    fn check_queue(&mut self, index: PacketIndex, output: OutIndex, now: Time) {
        let packet = self.pool.get(index);
        let out = &self.outputs[output as usize];
        let flits = u32::from(packet.flits);
        let channel = self.channel(out.channel_base, packet.queue);
        let queue = &self.channels[channel];
        let room = self.timing(output).output_queue.unwrap_or(u32::MAX) - queue.flits;
        if room < flits {
            let (router, port) = self.port_of(output);
            self.fault.get_or_insert(RunError::QueueFull {
                simulated_ps: now,
                router,
                port: port.into(),
                flits: queue.flits,
            });
        }
    }

    /// Looks at an output again, no later than `time`.
    #[inline]
    pub(super) fn wake_output(&mut self, output: OutIndex, time: Time) {
        let out = &mut self.outputs[output as usize];
        if time < out.wake {
            out.wake = time;
            self.schedule(EventKind::OutputFree, output, time);
        }
    }

    #[inline]
    fn wake_input(&mut self, input: InIndex, time: Time) {
        let place = &mut self.inputs[input as usize];
        if time < place.wake {
            place.wake = time;
            self.schedule(EventKind::InputFree, input, time);
        }
    }

    /// The event of an output: it may have become free, or credits have come back.
    pub(super) fn output_event(&mut self, output: OutIndex, now: Time) {
        let out = &mut self.outputs[output as usize];
        if out.wake == now {
            out.wake = NEVER;
            self.try_output(output, now);
        }
    }

    /// Lets one waiting packet cross to an output, the highest class first.
    pub(super) fn try_output(&mut self, output: OutIndex, now: Time) {
        if K::CC && self.fixed.can.drops {
            self.shed(output, now);
        }
        let classes = usize::from(self.fixed.classes.count());
        for class in (0..classes).rev() {
            let ring = output as usize * classes + class;
            if let Some(request) = self.pick(self.rings.outputs[ring].next, Side::Output, now) {
                self.serve(request, now);
                if self.rings.outputs.waiting(output, classes) {
                    self.wake_output(output, self.outputs[output as usize].free_at.max(now));
                }
                return;
            }
        }
        if self.timing(output).credit_to_cross && !self.rings.outputs.waiting(output, classes) {
            self.outputs[output as usize].unstall(now);
        }
    }

    /// The event of an input: its side of the crossbar has become free.
    pub(super) fn input_event(&mut self, input: InIndex, now: Time) {
        let place = &mut self.inputs[input as usize];
        if place.wake != now {
            return;
        }
        place.wake = NEVER;
        let classes = usize::from(self.fixed.classes.count());
        for class in (0..classes).rev() {
            let ring = input as usize * classes + class;
            if let Some(request) = self.pick(self.rings.inputs[ring].next, Side::Input, now) {
                self.serve(request, now);
                if self.rings.inputs.waiting(input, classes) {
                    self.wake_input(input, self.inputs[input as usize].free_at.max(now));
                }
                return;
            }
        }
    }

    /// The request of a ring that is served next, by the router's arbitration; those that may not cross are left
    /// waiting for what they lack.
    #[inline(always)]
    fn pick(&mut self, first: RequestIndex, side: Side, now: Time) -> Option<RequestIndex> {
        // Of a class that has nothing waiting nothing need be called.
        match first {
            NO_REQUEST => None,
            _ => self.pick_from(first, side, now),
        }
    }

    /// The same of a ring that is not empty.
    #[inline(never)]
    fn pick_from(&mut self, first: RequestIndex, side: Side, now: Time) -> Option<RequestIndex> {
        // All are at one router.
        let arbitration = self.model(self.requests.get(first).output).arbitration;
        let mut best: Option<((Time, u32), RequestIndex)> = None;
        let mut at = first;
        loop {
            let Request {
                queue,
                input,
                output,
                ..
            } = *self.requests.get(at);
            if self.has_alternatives() {
                self.turn_to(at);
            }
            let packet = self.pool.get(queue.head);
            let rank = match arbitration {
                Arbitration::RoundRobin => (0, 0),
                Arbitration::Oldest => (self.pool.origin(queue.head).injected, input),
                Arbitration::FirstCome => (packet.head, input),
            };
            if best.is_none_or(|(other, _)| rank < other) {
                match self.crossing(queue.head, input, output, now) {
                    Crossing::Go => best = Some((rank, at)),
                    reason => self.wait(reason, input, output, queue.head, now),
                }
                if best.is_some() && arbitration == Arbitration::RoundRobin {
                    break;
                }
            }
            at = self.requests.after(at, side);
            if at == first {
                break;
            }
        }
        best.map(|(_, request)| request)
    }

    /// Lets the first packet of a request cross; the turn passes to the requests after it.
    fn serve(&mut self, at: RequestIndex, now: Time) {
        let Request {
            input,
            output,
            in_queue,
            class,
            ..
        } = *self.requests.get(at);
        let (at_output, at_input) = self.ring_places(output, input, class);
        self.rings.outputs[at_output].next = self.requests.after(at, Side::Output);
        self.rings.inputs[at_input].next = self.requests.after(at, Side::Input);
        if self.has_alternatives() {
            self.serve_any(at, now);
        } else if let Some(index) = self.take_head(at) {
            self.cross(index, (input, in_queue), output, now);
        }
    }

    /// Takes the first packet of a request out, and the request with its last packet.
    #[inline(always)]
    pub(super) fn take_head(&mut self, at: RequestIndex) -> Option<PacketIndex> {
        let index = self.requests.queue_mut(at).pop(&self.pool)?;
        if self.requests.get(at).queue.is_empty() {
            self.remove_request(at);
        }
        Some(index)
    }

    /// A packet crosses from its input and its queue there: the input's buffer is given back, the packet joins its output
    /// queue or goes onto the link.
    pub(super) fn cross(
        &mut self,
        index: PacketIndex,
        from: (InIndex, u16),
        output: OutIndex,
        now: Time,
    ) {
        let (input, in_queue) = from;
        let place = &mut self.inputs[input as usize];
        let out = &mut self.outputs[output as usize];
        let packet = self.pool.get_mut(index);
        let flits = packet.flits;
        let in_time = place.crossbar.time(flits);
        place.free_at = now + in_time;
        out.waiting -= u32::from(flits);
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
            timing.rate.time(flits)
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
        self.give_back(input, in_queue, flits, leave);
        if !queued {
            self.moved += 1;
            self.send(index, output, now + latency);
        } else {
            if credit_to_cross {
                self.take_place(index, output);
            }
            self.enqueue(index, output, now);
        }
        if credit_to_cross {
            self.outputs[output as usize].unstall(now);
            // Others may wait here for credits of another channel. Credits wake a stalled output only, and this one
            // has just moved: it has to find out anew what is missing.
            if self
                .rings
                .outputs
                .waiting(output, usize::from(self.fixed.classes.count()))
            {
                let time = self.outputs[output as usize].free_at;
                self.wake_output(output, time);
            }
        }
        if !self.fixed.voq {
            self.next_of_fifo(input, in_queue, now);
        }
    }

    /// Without virtual output queues the next packet of the FIFO is at its head now.
    pub(super) fn next_of_fifo(&mut self, input: InIndex, in_queue: u16, now: Time) {
        let base = self.inputs[input as usize].queue_base;
        let queue = self.fifos.get(base, input, in_queue);
        match queue.behind.pop(&self.pool) {
            Some(index) => self.route(index, input, true, now),
            None => queue.requested = false,
        }
    }

    /// Sends the credit of a packet that leaves an input buffer at `leave` (its tail) back upstream.
    #[inline]
    pub(super) fn give_back(&mut self, input: InIndex, queue: u16, flits: u16, leave: Time) {
        let flits = self.place(flits);
        let place = &self.inputs[input as usize];
        let time = leave + place.credit_latency;
        match place.upstream {
            Upstream::Output(output) => self.take_credit(output, queue, flits, time),
            Upstream::Away { neighbour, output } => {
                self.outboxes[neighbour as usize].credit(time, output, queue, flits);
            }
            Upstream::Nothing => {}
        }
    }

    /// Whether a channel has credits for so many flits.
    #[inline(always)]
    pub(super) fn has_credit(&mut self, channel: usize, flits: u32, now: Time) -> bool {
        let home = self.home(channel);
        let credit = &mut self.channels[home].credit;
        if K::CC && self.fixed.can.marks {
            // The scheme is told what is left.
            credit.collect(now);
        }
        credit.has(flits, now)
    }

    /// A credit will be usable at an output from `time` on.
    #[inline(always)]
    pub(super) fn take_credit(&mut self, output: OutIndex, queue: u16, flits: u16, time: Time) {
        let base = self.outputs[output as usize].channel_base;
        let channel = self.channel(base, queue);
        let channel = self.home(channel);
        let passed = self.queue.passed();
        self.channels[channel]
            .credit
            .give(time, u32::from(flits), passed);
        if Self::is_crowd(base) {
            self.take_lent(output, queue, flits, time);
        }
        if self.outputs[output as usize].stalled_since != NEVER {
            self.wake_stalled(output, time);
        }
    }

    /// The same of what the queues of a port with many have lent each other.
    #[inline(never)]
    fn take_lent(&mut self, output: OutIndex, queue: u16, flits: u16, time: Time) {
        let out = &self.outputs[output as usize];
        let class = u32::from(queue) / out.queues;
        let passed = self.queue.passed();
        let lent = self.crowds.lent(out.channel_base, class as u8);
        lent.give(time, u32::from(flits), passed);
    }

    /// Those who wait at an output for credits are looked at when there are some.
    #[inline(never)]
    fn wake_stalled(&mut self, output: OutIndex, time: Time) {
        if output < self.first_nic_output && self.timing(output).credit_to_cross {
            self.wake_output(output, time);
        } else {
            self.wake_link(output, time);
        }
    }
}
