use super::crowd::{CROWD, Crowds};
use super::domain::FabricDomain;
use super::memory::Memory;
use super::network::Network;
use super::state::{Channel, InIndex, Output, Timing};
use crate::model::{
    EndpointId, Flight, Origin, PacketIndex, PortId, Rng, RouterId, Slots, Time, below,
};
use crate::routing::{Here, Hop, Load, Routing};

/// What routing sees of a router at one moment.
pub struct RouterView<'a> {
    pub router: RouterId,
    /// Of the router in the domain.
    pub place: u32,
    pub base: u32,
    pub in_port: PortId,
    /// Of the packet.
    pub origin: &'a Origin,
    pub rng: &'a mut Rng,
    pub outputs: &'a Slots<Output>,
    pub timings: &'a Slots<Timing>,
    pub channels: &'a mut Slots<Channel>,
    pub crowds: &'a mut Crowds,
    /// Says which queues packets join, where virtual channels are divided.
    pub divided: Option<&'a Network>,
    /// Of the packet.
    pub destination: EndpointId,
    pub classes: u8,
    /// Of the packet that is routed: it waits for its own class and those above.
    pub class: u8,
    /// Of the packet.
    pub own_class: u8,
    pub max_packet: u16,
    pub memory: &'a mut Memory,
    pub now: Time,
}

impl<const CC: bool> FabricDomain<CC> {
    /// The routing, the route state of a packet at an input, and what routing sees there.
    #[inline(always)]
    pub(super) fn view(
        &mut self,
        index: PacketIndex,
        input: InIndex,
        now: Time,
    ) -> (&dyn Routing, &mut Flight, RouterView<'_>) {
        let all_classes = CC && self.model(input).all_classes;
        let place = self.inputs[input as usize].router;
        let router = &mut self.routers[place as usize];
        let (packet, origin) = self.pool.both(index);
        let view = RouterView {
            router: router.id,
            place,
            base: router.base,
            in_port: (input - router.base) as u16,
            origin,
            rng: &mut router.rng,
            outputs: &self.outputs,
            timings: &self.timings,
            channels: &mut self.channels,
            crowds: &mut self.crowds,
            divided: self.fixed.divided.then_some(&*self.network),
            destination: packet.flight.destination,
            classes: self.fixed.classes.count(),
            class: if CC && self.fixed.can.drops && !all_classes {
                packet.class.min(self.fixed.classes.data)
            } else {
                0
            },
            own_class: packet.class,
            max_packet: self.fixed.max_packet,
            memory: &mut self.memory,
            now,
        };
        (self.network.routing.as_ref(), &mut packet.flight, view)
    }
}

impl Here for RouterView<'_> {
    fn router(&self) -> RouterId {
        self.router
    }

    fn in_port(&self) -> PortId {
        self.in_port
    }

    fn source(&self) -> EndpointId {
        self.origin.source
    }

    fn job(&self) -> u16 {
        self.origin.job
    }

    fn pick(&mut self, n: u32) -> u32 {
        below(self.rng, n)
    }

    fn backlog(&mut self, port: PortId) -> u32 {
        let out = &self.outputs[self.base as usize + usize::from(port)];
        let mut used = 0u64;
        if out.channel_base >= CROWD {
            for class in self.class..self.classes {
                used += self.crowds.lent(out.channel_base, class).taken(self.now);
            }
        } else {
            let (first, end) = (u32::from(self.class), u32::from(self.classes));
            for queue in out.queues * first..out.queues * end {
                let channel = &mut self.channels[(out.channel_base + queue) as usize];
                if channel.share == 0 {
                    channel.credit.collect(self.now);
                    used += u64::from(channel.credit.capacity - channel.credit.available);
                }
            }
        }
        // Credits are held for whole packets: a lone flow at full rate holds the round trip and a packet.
        let under_way = self.timings[out.timing as usize].round_trip;
        let under_way = under_way.saturating_add(u64::from(out.last_sent));
        let below = if self.class == 0 { 0 } else { out.lossy };
        let here = u64::from(out.waiting + out.queued - below);
        // More than can be said is more than anything else.
        u32::try_from(here + used.saturating_sub(under_way)).unwrap_or(u32::MAX)
    }

    fn load(&mut self, hop: Hop) -> Load {
        let out = &self.outputs[self.base as usize + usize::from(hop.port)];
        let queue = match self.divided {
            Some(network) => {
                let who = (self.destination, self.own_class);
                network.divided_queue(hop, self.router, who, self.origin, out)
            }
            None => u32::from(hop.vc),
        };
        assert!(queue < out.queues, "routing asks for the load of {hop:?}");
        let queue = (u32::from(self.own_class) * out.queues + queue) as u16;
        let channel = self.crowds.channel(out.channel_base, queue, self.channels);
        let (queued, share) = (self.channels[channel].flits, self.channels[channel].share);
        let credit = &mut self.channels[channel - share as usize].credit;
        credit.collect(self.now);
        Load {
            used: queued.saturating_add(credit.capacity - credit.available),
            free: credit.available.saturating_sub(queued),
        }
    }

    fn recall(&mut self, word: u32) -> u64 {
        *self.memory.word(self.place, word)
    }

    fn remember(&mut self, word: u32, value: u64) {
        *self.memory.word(self.place, word) = value;
    }

    fn max_packet(&self) -> u32 {
        u32::from(self.max_packet)
    }
}
