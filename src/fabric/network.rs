use std::sync::Arc;

use crate::config::{Arbitration, Backlog, Buffer, BufferPer, OutputQueue, Speedup};
use crate::congestion::About;
use crate::model::{Classes, DomainId, FlitSize, LinkKind, LinkRate, NEVER, Time};
use crate::routing::Routing;
use crate::topology::{Link, Peer, Topology};

/// The parameters of every router and NIC, in flits and picoseconds.
#[derive(Clone, Debug)]
pub struct Parameters {
    /// Bits of a flit.
    pub flit: FlitSize,
    /// The longest packet in flits.
    pub max_packet: u16,
    /// Head at an input to head at the output link of an idle router, ps.
    pub latency: Time,
    /// Added to the link's latency before a credit can be used upstream, ps.
    pub credit_delay: Time,
    /// Input buffers.
    pub buffer: Buffer,
    /// What one input buffer serves.
    pub buffer_per: BufferPer,
    /// Virtual output queues.
    pub voq: bool,
    /// Of the crossbar over the link.
    pub speedup: Speedup,
    /// Per virtual channel.
    pub output_queue: OutputQueue,
    /// Among waiting queues.
    pub arbitration: Arbitration,
    /// What adaptive routing counts.
    pub backlog: Backlog,
    /// Virtual channels per class on injection links.
    pub injection_vcs: u8,
    /// Whether data packets are acknowledged.
    pub acknowledge: bool,
}

impl Parameters {
    /// Flits of one output queue; None: the input queues feed the link.
    pub fn output_flits(&self) -> Option<u32> {
        match self.output_queue {
            OutputQueue::None => None,
            OutputQueue::Unlimited => Some(u32::MAX / 2),
            OutputQueue::Size(size) => {
                Some(size.flits(self.flit, u64::from(self.max_packet)) as u32)
            }
        }
    }
}

/// Everything about the network that does not change during a run; shared by all domains of a rank.
pub struct Network {
    /// The graph.
    pub topology: Arc<dyn Topology>,
    /// The way through it.
    pub routing: Box<dyn Routing>,
    /// Routers and NICs.
    pub parameters: Parameters,
    /// Traffic classes.
    pub classes: Classes,
    /// What schemes may know.
    pub about: About,
    /// Whether the scheme talks out of band, to any endpoint of the network.
    pub notices: bool,
}

impl Network {
    /// Virtual channels per traffic class on a link into a router.
    pub fn vcs(&self, kind: LinkKind) -> u8 {
        match kind {
            LinkKind::Terminal => self.parameters.injection_vcs,
            _ => self.routing.vcs(kind),
        }
    }

    /// The rate of a link.
    pub fn rate(&self, link: &Link) -> LinkRate {
        LinkRate::new(link.bandwidth, self.parameters.flit)
    }

    /// The rate of the crossbar's side at a link.
    pub fn crossbar(&self, link: &Link) -> LinkRate {
        match self.parameters.speedup {
            Speedup::Times(times) => self.rate(link).faster(times),
            Speedup::Infinite => LinkRate::instant(),
        }
    }

    /// Flits that a link's credit round trip holds. Where the input queues feed the link, the credit is taken when the
    /// packet begins to cross the router, its latency before the head is on the link.
    pub fn round_trip_flits(&self, link: &Link) -> u32 {
        let parameters = &self.parameters;
        let crossing = match parameters.output_queue {
            OutputQueue::None => parameters.latency,
            _ => 0,
        };
        let time = crossing + 2 * link.latency + parameters.credit_delay;
        let bits = u128::from(time) * u128::from(link.bandwidth.0) / 1_000_000_000_000;
        (bits / u128::from(parameters.flit.0)) as u32
    }

    /// Whether a packet that will find its link free need not take a place in the output queue, which saves an event: only
    /// where such packets cannot fill it. They follow each other no faster than on the link, so those in the router's
    /// pipeline are what the link carries in that time and one packet more; another one must fit beside them.
    pub fn passes_queue(&self, link: &Link) -> bool {
        let Some(queue) = self.parameters.output_flits() else {
            return false;
        };
        let packets = 2 * u64::from(self.parameters.max_packet);
        let bits = u128::from(self.parameters.latency) * u128::from(link.bandwidth.0);
        let pipeline = bits.div_ceil(1_000_000_000_000 * u128::from(self.parameters.flit.0));
        u128::from(queue) >= pipeline + u128::from(packets)
    }

    /// Flits of one input buffer behind a link. "auto": the credit round trip and two longest packets. A packet's
    /// place is taken when its head leaves upstream and free again when its tail has left the buffer and the credit
    /// is back, so a lone flow keeps the round trip and one packet busy while the next packet asks for its place.
    pub fn buffer_flits(&self, link: &Link) -> u32 {
        let max = u32::from(self.parameters.max_packet);
        match self.parameters.buffer {
            Buffer::Size(size) => size.flits(self.parameters.flit, u64::from(max)) as u32,
            Buffer::Auto => self.round_trip_flits(link) + 1 + 2 * max,
        }
    }

    /// The domains that `domain` exchanges mail with, ascending: those that share a link with it, or all others if any
    /// endpoint may be told something out of band.
    pub fn neighbours(&self, domain: DomainId) -> Vec<DomainId> {
        if self.notices {
            let all = 0..self.topology.domains();
            return all.filter(|&other| other != domain).collect();
        }
        let mut list: Vec<DomainId> = self.links_out(domain).map(|(other, _)| other).collect();
        list.sort_unstable();
        list.dedup();
        list
    }

    /// Links from a domain to others: the domain at the far end, and the link.
    fn links_out(&self, domain: DomainId) -> impl Iterator<Item = (DomainId, Link)> + '_ {
        let topology = &self.topology;
        topology
            .domain_routers(domain)
            .into_iter()
            .flat_map(move |router| {
                (0..topology.ports(router)).filter_map(move |port| {
                    match topology.peer(router, port) {
                        Peer::Router(other, _) if topology.domain_of(other) != domain => {
                            Some((topology.domain_of(other), topology.link(router, port)))
                        }
                        _ => None,
                    }
                })
            })
    }

    /// The least latency of a link between two domains: nothing crosses faster. [`NEVER`] if nothing crosses.
    pub fn lookahead(&self) -> Time {
        let links = self.topology.links().into_iter();
        let between = links.filter(|links| links.between_domains);
        let latencies = between.map(|links| links.link.latency);
        latencies.min().unwrap_or(NEVER)
    }

    /// The latencies of all links of a domain, ps.
    fn latencies(&self, domain: DomainId) -> impl Iterator<Item = Time> + '_ {
        let topology = &self.topology;
        let routers = topology.domain_routers(domain).into_iter();
        routers.flat_map(move |router| {
            (0..topology.ports(router)).map(move |port| topology.link(router, port).latency)
        })
    }

    /// The least and the longest latency of any link, ps.
    pub fn latency_range(&self) -> (Time, Time) {
        let links = self.topology.links();
        let latencies = || links.iter().map(|links| links.link.latency);
        (
            latencies().min().unwrap_or(1),
            latencies().max().unwrap_or(1),
        )
    }

    /// The longest latency of any link of a domain, for the size of its event wheel.
    pub fn longest_latency(&self, domain: DomainId) -> Time {
        self.latencies(domain).max().unwrap_or(1)
    }
}
