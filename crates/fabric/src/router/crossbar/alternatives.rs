//! Alternative routes of packets, for routings that offer them.
//!
//! A queued packet has a request for each of its routes, in the ring of that route's output and in
//! the ring of its input. So every event that serves the requests of a port (port free, room
//! available, credits returned) finds it, and the packet waits for each route as if it were the
//! only one. The request for the first route is the one that holds the queue; the others hold the
//! packet at its head only, and are removed when it leaves.

use super::Crossing;
use crate::domain::FabricDomain;
use crate::setup::plain::Compiled;
use crate::state::pool::Fifo;
use crate::state::ports::ring::Side;
use crate::state::{InIndex, OutIndex, Request, Wire, any_waits};
use crate::state::{NO_REQUEST, RequestIndex};
use weir_model::{Classes, PacketIndex, Time};
use weir_network::routing::Hop;

impl<K: Compiled> FabricDomain<K> {
    /// A routed packet asks for its output, and for another if it cannot go there.
    /// Behind others, which could not leave by that output either, it tries the rest of its routes
    /// once.
    pub(crate) fn ask_for_any(
        &mut self,
        index: PacketIndex,
        from: (InIndex, u16),
        first: OutIndex,
        now: Time,
    ) {
        let (input, in_queue) = from;
        let packet = self.pool.get(index);
        let (class, out_queue) = (packet.class, packet.queue);
        let (at_output, _) = self.ring_places(first, input, class);
        let behind = match self.fixed.voq {
            true => self.find_request(at_output, input, in_queue),
            false => None,
        };
        if behind.is_none() && self.crossing(index, from, first, now) == Crossing::Go {
            return self.go_by(index, from, first, first, now);
        }
        let ways = self.ways_of(index, input, first, now);
        let free = ways.iter().find_map(|&hop| {
            let output = self.turn_packet(index, input, hop);
            (self.crossing(index, from, output, now) == Crossing::Go).then_some(output)
        });
        if let Some(output) = free {
            self.ways = ways;
            return self.go_by(index, from, first, output, now);
        }
        self.pool.get_mut(index).queue = out_queue;
        if let Some(queue) = behind {
            self.ports
                .requests
                .queue_mut(queue)
                .push(&mut self.pool, index);
        } else {
            let main = self.add_queue(index, from, first);
            self.wait_for_all(main, &ways, now);
        }
        self.ways = ways;
    }

    /// The routes of a packet except the first, which leads to the output `first`.
    /// The buffer is to be put back.
    fn ways_of(
        &mut self,
        index: PacketIndex,
        input: InIndex,
        first: OutIndex,
        now: Time,
    ) -> Vec<Hop> {
        let mut ways = std::mem::take(&mut self.ways);
        ways.clear();
        let hop = self.hop_of(index, input, first);
        let (routing, flight, mut here) = self.view(index, input, now);
        routing.alternatives(flight, hop, &mut here, &mut ways);
        ways
    }

    /// The hop by which a packet is to go to an output.
    fn hop_of(&self, index: PacketIndex, input: InIndex, output: OutIndex) -> Hop {
        let router = &self.ports.routers[self.ports.inputs[input as usize].router as usize];
        let out = &self.ports.outputs[output as usize];
        // The queues of a virtual channel stand together.
        let each = match out.wire {
            Wire::Endpoint(_) => 1,
            _ => out.queues / u32::from(self.network.vcs(out.kind)).max(1),
        };
        Hop {
            port: (output - router.base) as u16,
            vc: (u32::from(self.pool.get(index).queue) % out.queues / each) as u8,
        }
    }

    /// Writes this hop into a packet, and returns the output.
    fn turn_packet(&mut self, index: PacketIndex, input: InIndex, hop: Hop) -> OutIndex {
        let (output, queue) = self.way(hop, self.ports.inputs[input as usize].router, index);
        self.pool.get_mut(index).queue = queue;
        output
    }

    /// Writes the hop of a request into the request's first packet.
    pub(crate) fn turn_to(&mut self, at: RequestIndex) {
        let Request {
            queue, out_queue, ..
        } = *self.ports.requests.get(at);
        self.pool.get_mut(queue.head).queue = out_queue;
    }

    /// Makes the first packet of `main` wait for the route of that request and for all of `ways`.
    /// A route that is available now is served in a separate event.
    fn wait_for_all(&mut self, main: RequestIndex, ways: &[Hop], now: Time) {
        let Request {
            queue,
            input,
            in_queue,
            class,
            ..
        } = *self.ports.requests.get(main);
        self.wait_for(main, now);
        for &hop in ways {
            let output = self.turn_packet(queue.head, input, hop);
            let out_queue = self.pool.get(queue.head).queue;
            let other = self.add_request(Request {
                queue: Fifo::of(queue.head),
                input,
                output,
                in_queue,
                class,
                out_queue,
                also: true,
                others: NO_REQUEST,
            });
            self.ports.requests.join(main, other);
            self.wait_for(other, now);
        }
    }

    fn wait_for(&mut self, at: RequestIndex, now: Time) {
        let Request {
            queue,
            input,
            output,
            in_queue,
            also,
            ..
        } = *self.ports.requests.get(at);
        self.turn_to(at);
        match self.crossing(queue.head, (input, in_queue), output, now) {
            Crossing::Go => self.wake_output(output, now),
            reason => self.wait(reason, (input, output), queue.head, also, now),
        }
    }

    /// Sends the first packet of a request's queue by the route of the request; the packet behind
    /// it waits for its own.
    pub(crate) fn serve_any(&mut self, at: RequestIndex, now: Time) {
        let Request {
            input,
            output,
            out_queue,
            ..
        } = *self.ports.requests.get(at);
        let main = self.ports.requests.main(at);
        let Request {
            output: first,
            in_queue,
            class,
            ..
        } = *self.ports.requests.get(main);
        self.forget_others(main, now);
        let Some(index) = self.take_head(main) else {
            return;
        };
        self.pool.get_mut(index).queue = out_queue;
        self.go_by(index, (input, in_queue), first, output, now);
        let (at_output, _) = self.ring_places(first, input, class);
        if self.fixed.voq
            && let Some(queue) = self.find_request(at_output, input, in_queue)
        {
            self.look_anew(queue, now);
        }
    }

    /// Makes a packet that has come to the head of a queue wait for all of its routes.
    pub(crate) fn look_anew(&mut self, main: RequestIndex, now: Time) {
        self.forget_others(main, now);
        let Request {
            queue,
            input,
            output,
            ..
        } = *self.ports.requests.get(main);
        let out_queue = self.pool.get(queue.head).queue;
        self.ports.requests.set_out_queue(main, out_queue);
        let ways = self.ways_of(queue.head, input, output, now);
        self.wait_for_all(main, &ways, now);
        self.ways = ways;
    }

    /// Removes the requests for the alternative routes of a packet.
    pub(crate) fn forget_others(&mut self, main: RequestIndex, now: Time) {
        while let Some(other) = self.ports.requests.part(main) {
            let output = self.ports.requests.get(other).output;
            self.remove_request(other);
            self.find_out_anew(output, now);
        }
    }

    /// Finds out whether others still wait at an output, after a packet that waited there has left by
    /// another.
    fn find_out_anew(&mut self, output: OutIndex, now: Time) {
        let classes = usize::from(self.fixed.classes.count());
        let waiting = any_waits(&self.ports.rings.outputs, output, classes);
        if self.timing(output).credit_to_cross {
            self.unstall(output, now);
        }
        if waiting {
            let free_at = self.ports.outputs[output as usize].free_at;
            self.wake_output(output, free_at.max(now));
        }
    }

    /// Panics if a packet waits at `now`, after all events, though it could take one of its routes:
    /// a resource that became free has not woken it. Builds for tests check after every window.
    pub(crate) fn assert_all_wait(&mut self, now: Time) {
        for ring in 0..self.ports.rings.outputs.len() {
            let first = self.ports.rings.outputs[ring].next;
            let mut at = first;
            while at != NO_REQUEST {
                let Request {
                    queue,
                    input,
                    output,
                    in_queue,
                    ..
                } = *self.ports.requests.get(at);
                self.turn_to(at);
                let crossing = self.crossing(queue.head, (input, in_queue), output, now);
                assert!(
                    crossing != Crossing::Go,
                    "a packet at input {input} could go to output {output} and waits"
                );
                at = self.ports.requests.after(at, Side::Output);
                if at == first {
                    break;
                }
            }
        }
    }

    /// A packet that was routed to the output `first` crosses to `output`, as its route state says.
    fn go_by(
        &mut self,
        index: PacketIndex,
        from: (InIndex, u16),
        first: OutIndex,
        output: OutIndex,
        now: Time,
    ) {
        let hop = self.hop_of(index, from.0, output);
        let router = self.ports.routers[self.ports.inputs[from.0 as usize].router as usize].id;
        let packet = self.pool.get_mut(index);
        self.network.routing.take(&mut packet.flight, router, hop);
        let room = u32::from(self.fixed.room_of::<K>(packet.flits));
        if output != first {
            let lossy = match K::CC && self.fixed.can.drops && packet.class == Classes::LOSSY {
                true => room,
                false => 0,
            };
            let left = &mut self.ports.outputs[first as usize];
            left.waiting -= room;
            left.lossy -= lossy;
            let out = &mut self.ports.outputs[output as usize];
            out.waiting += room;
            out.lossy += lossy;
            out.peak = out.peak.max(out.level());
            self.find_out_anew(first, now);
            if K::CC && self.fixed.can.observes {
                self.leaves_port(index, first, now);
                self.enters_port(index, output, now);
            }
        }
        self.cross(index, from, output, now);
    }
}
