//! The state of a router as routing sees it.

use crate::domain::{FabricDomain, Fixed};
use crate::setup::network::Network;
use crate::setup::plain::Compiled;
use crate::state::ends::flows::Flows;
use crate::state::ports::memory::Memory;
use crate::state::ports::wide_port::WidePorts;
use crate::state::{Channel, InIndex, Model, Output, Router, Timing};
use std::marker::PhantomData;
use weir_model::{EndpointId, Flight, Origin, PacketIndex, PortId, RouterId, Time, below};
use weir_network::failures::Seen;
use weir_network::routing::{Here, Hop, Load, Queue, Routing};
use weir_slots::Slots;

/// The state of a router that routing sees at one moment.
/// A view is made for every hop, so it only borrows existing state and computes a value when it is
/// asked for.
pub struct RouterView<'a, K: Compiled> {
    router: &'a mut Router,
    /// Index of the router in the domain.
    pub place: u32,
    input: InIndex,
    /// Origin of the packet.
    origin: &'a Origin,
    destination: EndpointId,
    class: u8,
    fixed: &'a Fixed,
    network: &'a Network,
    outputs: &'a Slots<Output>,
    timings: &'a Slots<Timing>,
    models: &'a Slots<Model>,
    channels: &'a mut Slots<Channel>,
    wide_ports: &'a mut WidePorts,
    memory: &'a mut Memory,
    flows: &'a mut Flows,
    now: Time,
    kind: PhantomData<K>,
}

impl<K: Compiled> FabricDomain<K> {
    /// The routing, the route state of a packet at an input, and the view for the routing there.
    #[inline(always)]
    pub(crate) fn view(
        &mut self,
        index: PacketIndex,
        input: InIndex,
        now: Time,
    ) -> (&dyn Routing, &mut Flight, RouterView<'_, K>) {
        let place = self.ports.inputs[input as usize].router;
        let (packet, origin) = self.pool.both(index);
        let view = RouterView {
            router: &mut self.ports.routers[place as usize],
            place,
            input,
            origin,
            destination: packet.flight.destination,
            class: packet.class,
            fixed: &self.fixed,
            network: &self.network,
            outputs: &self.ports.outputs,
            timings: &self.timings,
            models: &self.models,
            channels: &mut self.ports.channels,
            wide_ports: &mut self.ports.wide_ports,
            memory: &mut self.ports.memory,
            flows: &mut self.ends.flows,
            now,
            kind: PhantomData,
        };
        (self.network.routing.as_ref(), &mut packet.flight, view)
    }
}

impl<K: Compiled> RouterView<'_, K> {
    /// The lowest class with priority over the packet: it waits for its own class and the ones
    /// above. All classes count if nothing is dropped, or if the router's parameters say so.
    fn lowest(&self, timing: &Timing) -> u8 {
        let all =
            !K::CC || !self.fixed.can.drops || self.models[usize::from(timing.model)].all_classes;
        match all {
            true => 0,
            false => self.class.min(self.fixed.classes.data),
        }
    }

    /// Credits of a port that are taken, of the packet's class and those above.
    #[inline]
    fn lent(&mut self, out: &Output, lowest: u8) -> u64 {
        let classes = self.fixed.classes.count();
        let mut used = 0u64;
        if FabricDomain::<K>::is_wide(out.channel_base) {
            for class in lowest..classes {
                used += self
                    .wide_ports
                    .lent(out.channel_base, class)
                    .taken(self.now);
            }
            return used;
        }
        let (first, end) = (u32::from(lowest), u32::from(classes));
        for queue in out.queues * first..out.queues * end {
            let channel = &mut self.channels[(out.channel_base + queue) as usize];
            if !K::RICH || channel.share == 0 {
                channel.credit.collect(self.now);
                used += u64::from(channel.credit.capacity - channel.credit.available);
            }
        }
        used
    }
}

impl<K: Compiled> Here for RouterView<'_, K> {
    fn router(&self) -> RouterId {
        self.router.id
    }

    fn in_port(&self) -> PortId {
        (self.input - self.router.base) as u16
    }

    fn source(&self) -> EndpointId {
        self.origin.source
    }

    fn job(&self) -> u16 {
        self.origin.job
    }

    fn pick(&mut self, n: u32) -> u32 {
        below(&mut self.router.rng, n)
    }

    fn backlog(&mut self, port: PortId) -> u32 {
        let outputs = self.outputs;
        let out = &outputs[self.router.base as usize + usize::from(port)];
        let timings = self.timings;
        let timing = &timings[out.timing as usize];
        let lowest = self.lowest(timing);
        let used = self.lent(out, lowest);
        let used = match FabricDomain::<K>::is_prepaid(timing) {
            // Flits in the output queue have their credit, and are counted below.
            true => used.saturating_sub(out.queued.into()),
            false => used,
        };
        // Credits are held for whole packets: a lone flow at full rate holds the round trip and a
        // packet.
        let under_way = timing.round_trip;
        let under_way = under_way.saturating_add(u64::from(out.last_sent));
        let below = if lowest == 0 { 0 } else { out.lossy };
        let here = u64::from(out.waiting + out.queued - below);
        // It also has packets in the pipeline of the router: they are queued, or have their credit.
        let crosses = timing.crossed.saturating_sub(here);
        let beyond = used.saturating_sub(under_way.saturating_add(crosses));
        // A sum that does not fit the type is larger than any other.
        u32::try_from(here.saturating_sub(timing.crossed) + beyond).unwrap_or(u32::MAX)
    }

    fn queue(&mut self, port: PortId) -> Queue {
        let outputs = self.outputs;
        let out = &outputs[self.router.base as usize + usize::from(port)];
        let timings = self.timings;
        let timing = &timings[out.timing as usize];
        let lowest = self.lowest(timing);
        let used = self.lent(out, lowest);
        let classes = lowest..self.fixed.classes.count();
        let queued = match FabricDomain::<K>::is_wide(out.channel_base) {
            true => self.wide_ports.queued(out, classes, self.channels),
            false => {
                let base = out.channel_base;
                let first = base + out.queues * u32::from(classes.start);
                let end = base + out.queues * u32::from(classes.end);
                let queues = first as usize..end as usize;
                queues.map(|queue| self.channels[queue].flits).sum()
            }
        };
        let below = if lowest == 0 { 0 } else { out.lossy };
        let beyond = used
            - if FabricDomain::<K>::is_prepaid(timing) {
                u64::from(queued)
            } else {
                0
            };
        Queue {
            waiting: out.waiting + out.queued - below - queued,
            queued,
            beyond: u32::try_from(beyond).unwrap_or(u32::MAX),
        }
    }

    fn load(&mut self, hop: Hop) -> Load {
        let out = &self.outputs[self.router.base as usize + usize::from(hop.port)];
        let queue = match K::RICH && self.fixed.divided {
            true => {
                let who = (self.destination, self.class);
                self.network
                    .divided_queue(hop, self.router.id, who, self.origin, out)
            }
            false => u32::from(hop.vc),
        };
        assert!(queue < out.queues, "routing asks for the load of {hop:?}");
        let queue = (u32::from(self.class) * out.queues + queue) as u16;
        let channel = self
            .wide_ports
            .channel(out.channel_base, queue, self.channels);
        let (queued, share) = (self.channels[channel].flits, self.channels[channel].share);
        let prepaid = FabricDomain::<K>::is_prepaid(&self.timings[out.timing as usize]);
        let credit = &mut self.channels[channel - share as usize].credit;
        credit.collect(self.now);
        let unpaid = if prepaid { 0 } else { queued };
        Load {
            used: unpaid.saturating_add(credit.capacity - credit.available),
            queued,
            free: credit.available.saturating_sub(unpaid),
        }
    }

    fn recall(&mut self, word: u32) -> u64 {
        *self.memory.word(self.place, word)
    }

    fn remember(&mut self, word: u32, value: u64) {
        *self.memory.word(self.place, word) = value;
    }

    fn flows(&mut self, port: PortId) -> u32 {
        self.flows.passing(self.router.base + u32::from(port))
    }

    fn circuit(&mut self) -> Option<PortId> {
        self.flows
            .circuit(self.input, self.origin.source, self.destination)
            .map(|hop| hop.port)
    }

    fn keep_circuit(&mut self, port: PortId) -> bool {
        let flow = (self.origin.source, self.destination);
        self.flows.keep(self.input, flow, port)
    }

    fn max_packet(&self) -> u32 {
        u32::from(self.fixed.max_packet)
    }

    fn links(&self) -> Seen {
        let outages = self.network.outages.as_ref();
        outages.map_or_else(Seen::default, |outages| outages.seen(self.now))
    }
}
