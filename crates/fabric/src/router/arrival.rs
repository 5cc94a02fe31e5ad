//! Arrival of packets at a router: their routing, and the requests that they make.

use crate::domain::FabricDomain;
use crate::fault::Fault;
use crate::setup::plain::Compiled;
use crate::state::{InIndex, OutIndex, Upstream, Wire};
use weir_model::{Classes, PacketIndex, Time};
use weir_network::routing::Hop;

impl<K: Compiled> FabricDomain<K> {
    /// A head is at an input.
    pub(crate) fn arrive(&mut self, input: InIndex, now: Time) {
        let place = &mut self.ports.inputs[input as usize];
        let index = match place.upstream {
            Upstream::Away { neighbour, .. }
                if self.mail.inboxes[neighbour as usize].entrance.is_some() =>
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
    pub(crate) fn enter(&mut self, index: PacketIndex, input: InIndex, now: Time) {
        if self.fixed.voq {
            self.route(index, input, false, now);
            return;
        }
        let base = self.ports.inputs[input as usize].queue_base;
        let queue = self
            .ports
            .fifos
            .get(base, input, self.pool.get(index).queue);
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

    /// Routes a packet, and lets it cross at once or makes it wait. `behind`: it has waited behind
    /// others.
    pub(crate) fn route(&mut self, index: PacketIndex, input: InIndex, behind: bool, now: Time) {
        let held = match K::RICH && self.fixed.flows.held {
            true => self.held_way(index, input),
            false => None,
        };
        let (routing, flight, mut here) = self.view(index, input, now);
        let hop = held.unwrap_or_else(|| routing.route(flight, &mut here));
        let place = here.place;
        if K::RICH && hop == Hop::NOWHERE {
            return self.lose_cut_off(index, input, now);
        }
        let (output, queue) = self.way(hop, place, index);
        self.count_router(index, input);
        let packet = self.pool.get_mut(index);
        let in_queue = std::mem::replace(&mut packet.queue, queue);
        let (class, step) = (packet.class, packet.flight.flow_step());
        let wire = self.ports.outputs[output as usize].wire;
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
        let hooks = K::CC && self.fixed.at_arrival;
        if hooks
            && self.may_be_taken(class, ends_here)
            && self.taken_here(index, (input, in_queue), output, now)
        {
            return;
        }
        let counted = hooks && behind && self.fixed.can.arrivals && ends_here;
        if !counted {
            self.waits_for(index, output, now);
        }
        self.ask(index, (input, in_queue), output, now);
        if hooks && ends_here && self.fixed.can.drops {
            // The more there is for an endpoint, the more may have to go.
            self.drop_overdue(output, now);
        }
    }

    /// Counts a router that a packet visits, up to 255.
    #[inline(always)]
    fn count_router(&mut self, index: PacketIndex, input: InIndex) {
        let visited = &mut self.pool.get_mut(index).flight.routers;
        match visited.checked_add(1) {
            Some(more) => *visited = more,
            None => self.has_come_far(index, input),
        }
    }

    /// A packet has visited more routers than it counts. With twice the longest route, and more if
    /// links go down while packets are under way, it goes around in circles.
    #[cold]
    #[inline(never)]
    fn has_come_far(&mut self, index: PacketIndex, input: InIndex) {
        let most = self.network.routing.max_routers();
        if most <= u32::from(u8::MAX / 2) {
            let (to, (router, _)) = (self.pool.get(index).flight.destination, self.port_of(input));
            (self.fault).get_or_insert(Fault::Circles { to, router, most });
        }
    }

    /// From now on a packet waits for an output.
    #[inline(always)]
    fn waits_for(&mut self, index: PacketIndex, output: OutIndex, now: Time) {
        let (packet, out) = (
            self.pool.get(index),
            &mut self.ports.outputs[output as usize],
        );
        let room = u32::from(self.fixed.room_of::<K>(packet.flits));
        if K::RICH && out.waiting > u32::MAX - out.queued - room {
            // The rest is of packets that routers send, which may take much room now.
            let flits = out.level();
            return self.port_full(output, flits, now);
        }
        out.waiting += room;
        let hooks = K::CC && self.fixed.at_arrival;
        if hooks && self.fixed.can.drops && packet.class == Classes::LOSSY {
            out.lossy += room;
        }
        out.peak = out.peak.max(out.level());
        if hooks && self.fixed.can.observes {
            self.enters_port(index, output, now);
        }
    }

    /// A packet has come to a router behind others of its queue. If it is for an endpoint of the
    /// router, it waits for that.
    #[inline(never)]
    fn comes_behind(&mut self, index: PacketIndex, input: InIndex, now: Time) {
        let to = self.pool.get(index).flight.destination;
        let (router, port) = self.network.topology.attachment(to);
        let here = &self.ports.routers[self.ports.inputs[input as usize].router as usize];
        if here.id == router {
            let output = here.base + u32::from(port);
            self.waits_for(index, output, now);
        }
    }

    /// The output that a hop leads to from a router of this domain, and the packet's queue there.
    /// A hop that does not exist ends the run here, with its name.
    #[inline(always)]
    pub(crate) fn way(&self, hop: Hop, router: u32, index: PacketIndex) -> (OutIndex, u16) {
        let router = &self.ports.routers[router as usize];
        assert!(
            hop.port < router.ports,
            "routing leads to port {} of router {}, which has {}",
            hop.port,
            router.id,
            router.ports
        );
        let output = router.base + u32::from(hop.port);
        let out = &self.ports.outputs[output as usize];
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
}
