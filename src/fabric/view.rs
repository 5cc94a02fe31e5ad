use super::crowd::{CROWD, Crowds};
use super::state::{Channel, Output, Timing};
use crate::model::{EndpointId, Origin, PortId, Rng, RouterId, Slots, Time, below};
use crate::routing::Here;

/// What routing sees of a router at one moment.
pub struct RouterView<'a> {
    pub router: RouterId,
    pub base: u32,
    pub in_port: PortId,
    /// Of the packet.
    pub origin: &'a Origin,
    pub rng: &'a mut Rng,
    pub outputs: &'a Slots<Output>,
    pub timings: &'a Slots<Timing>,
    pub channels: &'a mut Slots<Channel>,
    pub crowds: &'a mut Crowds,
    pub classes: u8,
    /// Of the packet that is routed: it waits for its own class and those above.
    pub class: u8,
    pub max_packet: u16,
    pub now: Time,
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

    fn max_packet(&self) -> u32 {
        u32::from(self.max_packet)
    }
}
