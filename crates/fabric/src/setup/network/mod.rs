//! The network and its parameters, the same for all domains.

pub(crate) mod failing;
mod times;

use std::sync::Arc;

use crate::setup::flow_rules::FlowRules;
use crate::state::{Output, Wire};
use crate::{
    Arbitration, Backlog, BufferPer, ControlRoutes, CreditAt, CreditUnit, Discipline, NicOrder,
    Switching,
};
use weir_congestion::About;
use weir_input::{Buffer, OutputQueue, Speedup};
use weir_model::{
    Bandwidth, Classes, ControlKind, DomainId, EndpointId, Flight, FlitSize, LATEST, LinkKind,
    LinkRate, Origin, RouterId, Time,
};
use weir_network::failures::{Failures, Outages};
use weir_network::nodes::Nodes;
use weir_network::partition::Partition;
use weir_network::queueing::{Joining, Queueing};
use weir_network::routing::{Hop, Routing};
use weir_network::topology::{Link, Peer, Place, Topology};

/// The parameters that are the same everywhere, in flits.
#[derive(Clone, Debug)]
pub struct Parameters {
    /// Bits of a flit.
    pub flit: FlitSize,
    /// The longest packet in flits.
    pub max_packet: u16,
    /// Room that a packet takes.
    pub credit_unit: CreditUnit,
    /// Virtual channels per class on injection links.
    pub injection_vcs: u8,
    /// Order of a NIC's messages.
    pub order: NicOrder,
    /// Bits of the message under way that grants wait for, with [`NicOrder::ClearsFirst`].
    pub prepared: u64,
    /// True if data packets are acknowledged.
    pub acknowledge: bool,
    /// Routes of control packets.
    pub control_routes: ControlRoutes,
}

impl Parameters {
    /// Flags of a control packet's flight, by the routes that it takes.
    pub fn control_flags(&self) -> u8 {
        match self.control_routes {
            ControlRoutes::Minimal => Flight::CONTROL,
            ControlRoutes::AsData => 0,
        }
    }

    /// Flits that the credit round trip of a link from one router to another holds; `u64::MAX` if
    /// it is more than that. If the input queues feed the link, or the router says so, the credit
    /// is taken when the packet begins to cross the router: its latency before the head is on the
    /// link. `back`: the latency of the other direction, by which the credit comes, ps.
    pub fn round_trip_flits(
        &self,
        [from, to]: [&RouterParameters; 2],
        link: &Link,
        back: Time,
    ) -> u64 {
        let crossing = match from.credit_to_cross() {
            true => from.latency,
            false => 0,
        };
        // Four delays.
        self.flits_in(crossing + link.latency + back + to.credit_delay, link)
    }

    /// Whole flits that a link carries in a time; `u64::MAX` if they are more than that.
    pub fn flits_in(&self, time: Time, link: &Link) -> u64 {
        let bits = u128::from(time) * u128::from(link.bandwidth.0) / 1_000_000_000_000;
        u64::try_from(bits / u128::from(self.flit.0)).unwrap_or(u64::MAX)
    }

    /// Flits of one input buffer behind a link from one router (of a NIC: its own) to another.
    /// "auto": the credit round trip and two longest packets. A packet's place is taken when its
    /// head leaves upstream. It is free again when its tail has left the buffer and the credit is
    /// back. So a lone flow keeps the round trip and one packet busy while the next packet asks for
    /// its place. A router that stores packets holds one more, which leaves while the next one
    /// comes.
    ///
    /// The buffers of a router hold [`MOST_BUFFERED`] together at most, which is checked before
    /// anything runs.
    pub fn buffer_flits(&self, ends: [&RouterParameters; 2], link: &Link) -> u64 {
        let max = u64::from(self.max_packet);
        match ends[1].buffer {
            Buffer::Size(size) => size.flits(self.flit, max),
            Buffer::Auto => self.full_rate_flits(ends, link),
        }
    }

    /// Flits of a buffer behind a link that keep the link busy.
    pub fn full_rate_flits(&self, ends: [&RouterParameters; 2], link: &Link) -> u64 {
        let max = u64::from(self.max_packet);
        self.round_trip_flits(ends, link, link.latency)
            .saturating_add(1 + 2 * max)
            .saturating_add(if ends[1].switching.stores() { max } else { 0 })
    }
}

/// The parameters of the routers of one kind, in picoseconds.
#[derive(Clone, Debug)]
pub struct RouterParameters {
    /// Head at an input to head at the output link of an idle router, ps.
    pub latency: Time,
    /// Condition on which a packet may be passed on.
    pub switching: Switching,
    /// Added to the link's latency before a credit can be used upstream, ps.
    pub credit_delay: Time,
    /// Input buffers.
    pub buffer: Buffer,
    /// Queues that one input buffer serves.
    pub buffer_per: BufferPer,
    /// Speedup of the crossbar over the link.
    pub speedup: Speedup,
    /// From the tail of a packet to the head of the next one on a virtual channel of an output, ps.
    pub vc_allocation: Time,
    /// Time before that for a packet that was behind another in its input queue, ps.
    pub route_computation: Time,
    /// Per virtual channel.
    pub output_queue: OutputQueue,
    /// Moment when a packet takes its place in the buffer behind the link.
    pub credit_at: CreditAt,
    /// Among waiting queues.
    pub arbitration: Arbitration,
    /// A packet may take the room for which a longer one waits that is before it in turn.
    pub overtaking: bool,
    /// Flits that adaptive routing counts.
    pub backlog: Backlog,
}

impl RouterParameters {
    /// True if a packet needs a credit to cross to an output, rather than to leave an output queue.
    pub fn credit_to_cross(&self) -> bool {
        self.output_queue == OutputQueue::None || self.credit_at == CreditAt::Crossing
    }

    /// True if packets follow each other on a virtual channel only after a while.
    pub fn allocates(&self) -> bool {
        self.vc_allocation > 0 || self.route_computation > 0
    }

    /// Flits of one output queue; None: the input queues feed the link.
    /// For an unlimited queue, one more than any holds ([`Network::most_queued`]).
    pub fn output_flits(&self, parameters: &Parameters) -> Option<u32> {
        match self.output_queue {
            OutputQueue::None => None,
            OutputQueue::Unlimited => Some(u32::MAX / 2),
            // `config::check` refuses more.
            OutputQueue::Size(size) => {
                Some(size.flits(parameters.flit, u64::from(parameters.max_packet)) as u32)
            }
        }
    }
}

/// The most flits that the output queues of a port hold together.
pub const MOST_QUEUED: u32 = 1 << 30;

/// The most flits that the input buffers of a router hold together.
/// The limit lets the flits on their way out by one port, in input buffers and output queues, be
/// counted in 32 bits. The rest of the 32 bits is for packets that the router sends itself: of one
/// flit each, so that memory ends before 2²⁸ of them wait.
pub const MOST_BUFFERED: u32 = u32::MAX - MOST_QUEUED - (1 << 28);

/// The network inside a node: messages between tasks of the node take it.
#[derive(Clone, Copy, Debug)]
pub struct Inside {
    /// Bandwidth at which an endpoint sends, or all of a node together.
    pub bandwidth: Bandwidth,
    /// Time from the end of sending to the arrival, ps.
    pub latency: Time,
    /// True if the endpoints of a node share the bandwidth.
    pub shared: bool,
}

impl Inside {
    /// Time that a message takes to be sent, ps.
    pub fn sending(&self, bytes: u64) -> Time {
        let ps = u128::from(bytes) * 8 * 1_000_000_000_000;
        let time = ps.div_ceil(u128::from(self.bandwidth.0.max(1)));
        time.min(LATEST.into()) as Time
    }
}

/// Everything about the network that does not change during a run; shared by all domains of a rank.
pub struct Network {
    /// The graph, with its links as they were built.
    pub topology: Arc<dyn Topology>,
    /// Its endpoints by host.
    pub nodes: Nodes,
    /// The network inside hosts, if there is one.
    pub inside: Option<Inside>,
    /// Its domains.
    pub partition: Partition,
    /// Links that differ.
    pub failures: Failures,
    /// Links that are down at some time, if any are.
    pub outages: Option<Arc<Outages>>,
    /// Its routing.
    pub routing: Box<dyn Routing>,
    /// Rule for the queue of the next input buffer that a packet joins.
    pub queueing: Box<dyn Queueing>,
    /// The parameters that are the same everywhere.
    pub parameters: Parameters,
    /// Routers, by their kind.
    pub routers: Vec<RouterParameters>,
    /// Traffic classes.
    pub classes: Classes,
    /// Facts that schemes may know.
    pub about: About,
    /// True if the scheme sends out-of-band signals, to any endpoint of the network.
    pub signals: bool,
    /// Kinds of control packets besides acknowledgements: first the scheme's, then the kinds that
    /// manage flows.
    pub kinds: Vec<ControlKind>,
    /// Rules by which flows are managed.
    pub flows: FlowRules,
    /// Injection discipline for flows with rates that the scheme sets; None if it sets none.
    pub discipline: Option<Discipline>,
}

impl Network {
    /// Flits of a buffer or queue that every packet takes at least: those of the longest, if
    /// credits are for whole packets or a routing keeps bubbles.
    pub fn least_room(&self) -> u16 {
        let packets =
            self.parameters.credit_unit == CreditUnit::Packet || self.routing.keeps_bubbles();
        if packets {
            self.parameters.max_packet
        } else {
            1
        }
    }

    /// The network inside the node of these two endpoints; None if there is none, or they are on
    /// different nodes.
    pub fn inside(&self, ends: [EndpointId; 2]) -> Option<Inside> {
        let inside = self.inside?;
        let [one, other] = ends.map(|endpoint| self.nodes.node_of(endpoint));
        (one == other).then_some(inside)
    }

    /// Queues of one traffic class in the buffer behind a link into a router.
    pub fn queues(&self, kind: LinkKind) -> u32 {
        let vcs = self.vcs(kind);
        // More than all that can be counted is refused before anything runs.
        u32::from(vcs).saturating_mul(self.queueing.queues(kind, vcs))
    }

    /// True if virtual channels are divided into several queues anywhere.
    pub fn divided(&self) -> bool {
        let kinds = 0..self.topology.link_kinds().len();
        let mut kinds = kinds.map(|kind| LinkKind(kind as u8));
        kinds.any(|kind| self.queueing.queues(kind, self.vcs(kind)) > 1)
    }

    /// The queue within its traffic class that a packet joins behind an output, if virtual channels
    /// are divided.
    #[inline(never)]
    pub(crate) fn divided_queue(
        &self,
        hop: Hop,
        router: RouterId,
        (destination, class): (EndpointId, u8),
        origin: &Origin,
        out: &Output,
    ) -> u32 {
        let (vc, vcs) = (hop.vc, self.vcs(out.kind));
        if matches!(out.wire, Wire::Endpoint(_) | Wire::Unused) {
            return vc.into();
        }
        if vc >= vcs {
            // There is none.
            return out.queues;
        }
        let each = out.queues / u32::from(vcs);
        let joining = Joining {
            from: Some((router, hop.port)),
            kind: out.kind,
            vc,
            vcs,
            source: origin.source,
            destination,
            class,
            job: origin.job,
        };
        u32::from(vc) * each + self.part(&joining, each)
    }

    /// Queue of its virtual channel that a packet joins, of `each` queues.
    pub(crate) fn part(&self, joining: &Joining, each: u32) -> u32 {
        if each == 1 {
            return 0;
        }
        let part = self.queueing.queue(joining);
        assert!(
            part < each,
            "the queueing scheme names queue {part} of {each}"
        );
        part
    }

    /// Virtual channels per traffic class on a link into a router.
    pub fn vcs(&self, kind: LinkKind) -> u8 {
        match kind {
            LinkKind::TERMINAL => self.injection_vcs(),
            _ => self.routing.vcs(kind),
        }
    }

    /// Virtual channels per traffic class on the link from a NIC: for each virtual network, if NICs
    /// choose those. 255 at most, which is checked before anything runs.
    fn injection_vcs(&self) -> u8 {
        let networks = (self.routing.choice_at_nic()).map_or(1, |choice| choice.networks);
        self.parameters.injection_vcs.saturating_mul(networks)
    }

    /// The parameters of a router.
    pub fn router(&self, router: RouterId) -> &RouterParameters {
        &self.routers[self.topology.router_kind(router).index()]
    }

    /// Routers of the first kind, which stand for all if a run is only estimated.
    pub fn typical(&self) -> &RouterParameters {
        &self.routers[0]
    }

    /// The longest latency of a router, ps.
    pub fn longest_crossing(&self) -> Time {
        let latencies = self.routers.iter().map(|router| router.latency);
        latencies.max().unwrap_or(0)
    }

    /// The direction of a link that begins at a place, as it is; as it was built, if it differs
    /// for a part of the run.
    pub fn link(&self, from: Place) -> Link {
        match self.failures.lasting(from) {
            Some(changed) => changed.link,
            None => self.topology.link_from(from),
        }
    }

    /// The latency of the direction by which credits come back to a place, ps.
    pub fn back(&self, from: Place) -> Time {
        let far = self.topology.far_end(from).unwrap_or(from);
        self.link(far).latency
    }

    /// The rate of a link.
    pub fn rate(&self, link: &Link) -> LinkRate {
        LinkRate::new(link.bandwidth, self.parameters.flit)
    }

    /// The rate of the side of a router's crossbar at a link.
    pub fn crossbar(&self, router: &RouterParameters, link: &Link) -> LinkRate {
        match router.speedup {
            Speedup::Times(times) => self.rate(link).faster(times),
            Speedup::Infinite => LinkRate::instant(),
        }
    }

    /// True if a packet that will find its link free need not take a place in the output queue,
    /// which saves an event.
    /// This holds only if such packets cannot fill the queue. They follow each other no faster than
    /// on the link. So the packets in the router's pipeline are what the link carries in that time
    /// and one packet more; another one must fit beside them. Each flit may be a packet, and takes
    /// [`Network::least_room`].
    pub fn passes_queue(&self, router: &RouterParameters, link: &Link) -> bool {
        let Some(queue) = router.output_flits(&self.parameters) else {
            return false;
        };
        let packets = 2 * u64::from(self.parameters.max_packet);
        let bits = u128::from(router.latency) * u128::from(link.bandwidth.0);
        let pipeline = bits.div_ceil(1_000_000_000_000 * u128::from(self.parameters.flit.0));
        let room = u128::from(self.least_room());
        u128::from(queue) >= pipeline.saturating_mul(room) + u128::from(packets)
    }

    /// Flits of one queue of a buffer behind a link: the buffer of a virtual channel, or of a port,
    /// is divided equally. One of size "auto" is for each queue, since it is what a lone flow
    /// needs.
    pub fn queue_flits(&self, ends: [&RouterParameters; 2], link: &Link) -> u64 {
        let flits = self.parameters.buffer_flits(ends, link);
        match ends[1].buffer {
            Buffer::Auto => flits,
            Buffer::Size(_) => {
                let vcs = self.vcs(link.kind);
                let parts = match ends[1].buffer_per {
                    BufferPer::Vc | BufferPer::Port => self.queueing.queues(link.kind, vcs),
                    BufferPer::Divided => self.queues(link.kind),
                };
                flits / u64::from(parts.max(1))
            }
        }
    }

    /// Flits of all input buffers of a router; `u64::MAX` if they are more than that.
    pub fn buffered(&self, router: RouterId) -> u64 {
        let own = self.router(router);
        let flits = (0..self.topology.ports(router)).map(|port| {
            let from = match self.topology.peer(router, port) {
                Peer::Router(from, _) => self.router(from),
                Peer::Endpoint(_) => own,
                Peer::Unused => return 0,
            };
            let link = self.topology.link(router, port);
            let buffers = match own.buffer_per {
                BufferPer::Port => u32::from(self.classes.count()),
                BufferPer::Vc | BufferPer::Divided => self.channels(link.kind),
            };
            self.queue_flits([from, own], &link)
                .saturating_mul(u64::from(buffers))
        });
        flits.fold(0, u64::saturating_add)
    }

    /// Queues over all traffic classes of a link into a router; 65,536 at most, which is checked
    /// before anything runs.
    pub fn channels(&self, kind: LinkKind) -> u32 {
        self.queues(kind)
            .saturating_mul(u32::from(self.classes.count()))
    }

    /// The most [`Network::channels`] of any link; at least 1.
    pub fn most_channels(&self) -> u32 {
        let kinds = 0..self.topology.link_kinds().len();
        let channels = kinds.map(|kind| self.channels(LinkKind(kind as u8)));
        channels.max().unwrap_or(1).max(1)
    }

    /// Flits that an unlimited output queue can hold: those of an output hold [`MOST_QUEUED`]
    /// together at most. A run in which one is full ends with an error.
    pub fn most_queued(&self) -> u32 {
        MOST_QUEUED / self.most_channels()
    }

    /// Domains that `domain` exchanges mail with, ascending.
    /// These are the domains that share a link with it, or all others if any endpoint may be
    /// signalled out of band.
    pub fn neighbours(&self, domain: DomainId) -> Vec<DomainId> {
        if self.signals {
            let all = 0..self.partition.domains();
            return all.filter(|&other| other != domain).collect();
        }
        let own = self.partition.routers(domain).iter();
        let others = own.flat_map(|&router| {
            let ports = 0..self.topology.ports(router);
            ports.filter_map(move |port| self.topology.peer(router, port).router())
        });
        let others = others.map(|router| self.partition.domain_of(router));
        let mut list: Vec<DomainId> = others.filter(|&other| other != domain).collect();
        list.sort_unstable();
        list.dedup();
        list
    }
}
