//! Puts a domain together.

use super::plain::Compiled;
use std::iter;
use std::marker::PhantomData;
use std::sync::Arc;

use rustc_hash::FxHashMap;

use super::domain::{FabricDomain, Fixed};
use super::endpoint::hosts::Hosts;
use super::endpoint::nic::Nic;
use super::endpoint::reassembly::Reassembly;
use super::endpoint::resend::Resends;
use super::endpoint::send_queues::SendQueues;
use super::endpoint::shaper::Shaper;
use super::endpoint::source::{Source, Traffic};
use super::event::Keys;
use super::flows::{FlowKinds, Flows};
use super::mail::inbox::Inbox;
use super::mail::later::Later;
use super::mail::post::Post;
use super::mail::signals::Signals;
use super::memory::Memory;
use super::network::{MOST_BUFFERED, Network};
use super::plain::{is_controlled, is_rich};
use super::pool::{Fifo, Pool};
use super::record::attribution::{Attribution, Divided};
use super::record::flow_log::FlowLog;
use super::record::samples::{Rated, Samples};
use super::record::stats::{Recording, Stats};
use super::router::crowd::{Crowds, HeadQueues, MOST_BITS};
use super::router::ring::{Requests, Ring};
use super::state::{
    Channel, Input, Model, NO_OUTPUT, Output, Rings, Router, Timing, Upstream, Wire,
};
use crate::config::{Backlog, BufferPer, OutputQueue, Switching};
use crate::congestion::{Actions, Scheme};
use crate::engine::{EventQueue, Schedule};
use crate::model::{
    Classes, ControlKind, DomainId, EndpointId, LinkKind, NEVER, PacketKind, PortId, RouterId,
    Slots, stream,
};
use crate::topology::{Link, Peer};

/// Purposes of random streams.
const ROUTING_STREAM: u64 = 1;

/// What a domain is built from, the same for all.
#[derive(Clone)]
pub struct Blueprint {
    /// The network.
    pub network: Arc<Network>,
    /// The workloads, in the order of the experiment file.
    pub traffic: Arc<Vec<Traffic>>,
    /// What is recorded.
    pub recording: Recording,
    /// Windows and end of the run.
    pub schedule: Schedule,
    /// Whether what the scheme says out of band may take effect before the end of the window in which it is said.
    pub hurry: bool,
    /// The endpoints whose allowed rates are recorded.
    pub rated: Arc<[Rated]>,
    /// The endpoints whose received payload is recorded, ascending.
    pub received: Arc<[EndpointId]>,
    /// The run's seed.
    pub seed: u64,
    /// The packet to follow.
    pub watched: Option<(EndpointId, u32)>,
    /// Whether the run ends when all tasks of applications are done, whatever else goes on.
    pub until_done: bool,
}

/// A word with these bits set.
fn bits(numbers: impl Iterator<Item = u8>) -> u8 {
    numbers.fold(0, |bits, number| bits | 1 << number)
}

/// The traffic class of each kind of packet.
fn classes_of(
    classes: Classes,
    own: &[ControlKind],
    behind_data: PacketKind,
) -> [u8; PacketKind::MOST] {
    let mut class_of = [classes.control; PacketKind::MOST];
    class_of[PacketKind::DATA.index()] = classes.data;
    for (place, kind) in (0..).zip(own) {
        assert!(
            (classes.control..classes.count()).contains(&kind.class)
                || PacketKind::own(place) == behind_data,
            "the scheme sends {} packets in a class without control packets",
            kind.name
        );
        class_of[PacketKind::own(place).index()] = kind.class;
    }
    class_of
}

impl<K: Compiled> FabricDomain<K> {
    /// Builds a domain. Looks at this domain's routers only.
    pub fn new(id: DomainId, blueprint: &Blueprint, scheme: &dyn Scheme) -> FabricDomain<K> {
        let network = &blueprint.network;
        let parameters = &network.parameters;
        let models = network.routers.iter().map(|router| Model {
            arbitration: router.arbitration,
            all_classes: router.backlog == Backlog::All,
        });
        let models: Vec<Model> = models.collect();
        let Recording {
            packets,
            messages,
            flows,
            ..
        } = blueprint.recording;
        let mut applications = blueprint.traffic.iter().filter_map(Traffic::application);
        let can = scheme.capabilities();
        let (controlled, rich) = (is_controlled(scheme), is_rich(blueprint));
        assert!(
            (K::CC || !controlled) && (K::RICH || !rich),
            "compiled for other runs"
        );
        let heard = K::CC
            || parameters.acknowledge
            || packets
            || messages
            || flows
            || applications.next().is_some();
        let own = &network.kinds[..];
        let flow_kinds = FlowKinds::after(scheme.kinds().len() as u8, &network.flows);
        let class_of = classes_of(network.classes, own, flow_kinds.end);
        let intercepted = bits(can.intercepts.iter().map(|&kind| class_of[kind.index()]));
        let lost = (scheme.loss() > 0.0).then_some(Classes::LOSSY);
        let fixed = Fixed {
            classes: network.classes,
            voq: network.queueing.by_output(),
            divided: network.divided(),
            injection_vcs: network.vcs(LinkKind::TERMINAL),
            choice: network.routing.choice_at_nic(),
            max_packet: parameters.max_packet,
            alternatives: network.routing.has_alternatives(),
            bubbles: network.routing.keeps_bubbles(),
            acknowledge: parameters.acknowledge,
            unheard: !heard,
            loss: scheme.loss(),
            can,
            drops_on_the_way: scheme.drops_on_the_way(),
            at_departure: can.marks || can.stamps || can.observes || can.announces,
            mark_from: scheme.mark_from(),
            heard: bits(can.listens.iter().map(|&kind| kind.number())),
            timed: bits(
                (0..)
                    .zip(own)
                    .filter(|(_, kind)| kind.timed)
                    .map(|(place, _)| PacketKind::own(place).number()),
            ),
            class_of,
            kinds: PacketKind::own(0).index() + network.kinds.len(),
            log_flows: blueprint.recording.flows,
            flows: network.flows,
            flow_kinds,
            discipline: network.discipline,
            intercepted,
            lost: bits(lost.into_iter()),
        };
        let horizon = network.horizon(id);
        let mut domain = FabricDomain {
            id,
            network: network.clone(),
            fixed,
            scheme: scheme.clone_scheme(),
            about: network.about,
            neighbours: network.neighbours(id),
            // Until it is known how many components there are.
            queue: EventQueue::new(horizon, 0, 0),
            keys: Keys::new(0),
            pool: Pool::new(scheme.header_words()),
            routers: Slots::default(),
            memory: Memory::default(),
            ways: Vec::new(),
            inputs: Slots::default(),
            outputs: Slots::default(),
            timings: Slots::default(),
            models: models.into(),
            channels: Slots::default(),
            requests: Requests::default(),
            rings: Rings::default(),
            crowds: Crowds::default(),
            fifos: HeadQueues::default(),
            nics: Slots::default(),
            sends: SendQueues::new(parameters.order),
            resends: Vec::new(),
            partial: Reassembly::default(),
            acknowledged: Reassembly::default(),
            sources: Slots::default(),
            hosts: Hosts::default(),
            actions: Actions {
                recorded: blueprint.recording.scheme,
                ..Actions::default()
            },
            later: Later::default(),
            flows: Flows::default(),
            flow_log: FlowLog::default(),
            shaper: Shaper::default(),
            signals: Signals::new(blueprint.hurry),
            first_nic_output: 0,
            outboxes: Vec::new(),
            inboxes: Slots::default(),
            paper: Vec::new(),
            stats: Stats::new(blueprint.recording, iter::empty(), 0, 1, 0),
            until: 0,
            moved: 0,
            events: 0,
            watched: blueprint.watched,
            steps: Vec::new(),
            watch_arrival: 0,
            samples: Samples::none(blueprint.schedule),
            attribution: Attribution::none(),
            traffic: blueprint.traffic.clone(),
            fault: None,
            until_done: blueprint.until_done,
            kind: PhantomData,
        };
        domain
            .outboxes
            .resize_with(domain.neighbours.len(), Post::default);
        domain.add_routers(blueprint.seed);
        domain.add_ports();
        domain.add_nics();
        domain.add_inboxes();
        domain.add_rings();
        domain.flows = Flows::new(domain.outputs.len(), network.flows.cache);
        let rings = domain.outputs.len() * usize::from(fixed.classes.count());
        domain.rings = Rings {
            outputs: vec![Ring::default(); rings].into(),
            inputs: vec![Ring::default(); rings].into(),
        };
        domain.stats = Stats::new(
            blueprint.recording,
            blueprint.traffic.iter().map(Traffic::on),
            u64::from(parameters.flit.0),
            fixed.classes.count(),
            domain.nics.len(),
        );
        let own: Vec<EndpointId> = domain.nics.iter().map(|nic| nic.id).collect();
        domain.stats.record_received(&own, &blueprint.received);
        domain.add_samples(blueprint);
        domain.add_attribution(&blueprint.recording);
        domain.scheme.start(domain.nics.len(), domain.outputs.len());
        if K::CC && can.retransmits {
            domain
                .resends
                .resize_with(domain.nics.len(), Resends::default);
        }
        domain.add_sources(blueprint);
        domain.add_tasks();
        let components = [
            domain.outputs.len(),
            domain.sources.len(),
            domain.hosts.len(),
        ];
        domain.keys = Keys::new(components.into_iter().max().unwrap_or(0));
        domain.queue = EventQueue::new(horizon, domain.keys.count(), domain.keys.components());
        domain.start_sources();
        domain.start_tasks();
        domain
    }

    fn add_routers(&mut self, seed: u64) {
        let network = self.network.clone();
        let topology = &network.topology;
        for (id, base) in self.bases(self.id) {
            let ports = topology.ports(id);
            let rng = stream(seed, &[ROUTING_STREAM, u64::from(id)]);
            self.routers.push(Router {
                id,
                base,
                ports,
                rng,
            });
            self.first_nic_output = base + self.places(ports);
        }
        let words = self
            .routers
            .iter()
            .map(|router| network.routing.words(router.id));
        self.memory = Memory::new(words);
    }

    /// How many numbers the ports of a router take. One that sends packets of its own does so by a port that leads
    /// nowhere, after the others.
    fn places(&self, ports: PortId) -> u32 {
        u32::from(ports) + u32::from(K::CC && self.fixed.can.answers)
    }

    /// The routers of a domain, and the number of the first port of each among the domain's.
    fn bases(&self, domain: DomainId) -> Vec<(RouterId, u32)> {
        let topology = &self.network.topology;
        let mut next = 0;
        let routers = topology.domain_routers(domain).into_iter();
        let with_base = routers.map(|id| {
            let base = next;
            next += self.places(topology.ports(id));
            (id, base)
        });
        with_base.collect()
    }

    fn add_ports(&mut self) {
        let network = self.network.clone();
        let mut bases = FxHashMap::default();
        let mut nics = 0;
        for at in 0..self.routers.len() {
            let Router { id, ports, .. } = self.routers[at];
            let buffered = network.buffered(id);
            assert!(
                buffered <= u64::from(MOST_BUFFERED),
                "{buffered} flits of router {id}"
            );
            for port in 0..ports {
                let link = network.topology.link(id, port);
                let peer = network.topology.peer(id, port);
                let to = match peer {
                    Peer::Router(other, _) => other,
                    Peer::Endpoint(_) | Peer::Unused => id,
                };
                let (wire, upstream) = match peer {
                    Peer::Unused => (Wire::Unused, Upstream::Nothing),
                    Peer::Endpoint(endpoint) => {
                        self.nics.push(Nic::new(endpoint));
                        nics += 1;
                        (
                            Wire::Endpoint(nics - 1),
                            Upstream::Output(self.first_nic_output + nics - 1),
                        )
                    }
                    Peer::Router(other, far) => self.wires(other, far, &mut bases),
                };
                self.add_input(at as u32, upstream, &link);
                self.add_output(wire, [id, to], &link, false);
            }
            if K::CC && self.fixed.can.answers {
                let link = network.topology.link(id, 0);
                self.add_input(at as u32, Upstream::Nothing, &link);
                self.add_output(Wire::Unused, [id, id], &link, false);
            }
        }
    }

    /// Finds out which neighbours' packets all come to one input.
    fn add_inboxes(&mut self) {
        let mut inputs: Vec<Vec<u32>> = vec![Vec::new(); self.neighbours.len()];
        for (input, place) in self.inputs.iter().enumerate() {
            if let Upstream::Away { neighbour, .. } = place.upstream {
                inputs[neighbour as usize].push(input as u32);
            }
        }
        for inputs in inputs {
            let entrance = match inputs[..] {
                [input] => Some(input),
                _ => None,
            };
            self.inboxes.push(Inbox::new(
                entrance.filter(|_| self.pool.header_words() == 0),
            ));
        }
    }

    /// The wire to a port of another router, and the way back for credits. `bases` holds those of neighbouring domains.
    fn wires(
        &self,
        router: RouterId,
        port: PortId,
        bases: &mut FxHashMap<DomainId, Vec<(RouterId, u32)>>,
    ) -> (Wire, Upstream) {
        let domain = self.network.topology.domain_of(router);
        if domain == self.id {
            let flat = self.flat_port(router, port);
            return (Wire::Router(flat), Upstream::Output(flat));
        }
        let neighbour = self.neighbours.partition_point(|&other| other < domain) as u32;
        let network = &self.network;
        let bases = bases.entry(domain);
        let bases = bases.or_insert_with(|| self.bases(domain));
        let (_, base) = bases[network.topology.local_index(router) as usize];
        let flat = base + u32::from(port);
        (
            Wire::Away {
                neighbour,
                input: flat,
            },
            Upstream::Away {
                neighbour,
                output: flat,
            },
        )
    }

    /// The flat number of a port of one of this domain's routers.
    #[inline]
    pub(super) fn flat_port(&self, router: RouterId, port: PortId) -> u32 {
        let at = self.network.topology.local_index(router);
        self.routers[at as usize].base + u32::from(port)
    }

    fn add_input(&mut self, router: u32, upstream: Upstream, link: &Link) {
        let queue_base = match self.fixed.voq {
            true => 0,
            false => self.fifos.add(self.network.channels(link.kind)),
        };
        let own = self.network.router(self.routers[router as usize].id);
        self.inputs.push(Input {
            free_at: 0,
            wake: NEVER,
            wire: Fifo::EMPTY,
            upstream,
            credit_latency: link.latency + own.credit_delay,
            crossbar: self.network.crossbar(own, link),
            router,
            queue_base,
            onward: NO_OUTPUT,
        });
    }

    /// The place of a timing among those of the domain. There are as many as kinds of links, mostly.
    fn place_of(&mut self, timing: Timing) -> u32 {
        let known = self.timings.iter().position(|&known| known == timing);
        known.unwrap_or_else(|| {
            self.timings.push(timing);
            self.timings.len() - 1
        }) as u32
    }

    /// Adds an output of one router to another. (A NIC's is of the router that it leads to.)
    fn add_output(&mut self, wire: Wire, [from, to]: [RouterId; 2], link: &Link, of_nic: bool) {
        let network = self.network.clone();
        let ends @ [own, next] = [network.router(from), network.router(to)];
        let queue = own.output_flits(&network.parameters);
        let prepaid = !of_nic && own.credit_to_cross() && own.output_queue != OutputQueue::None;
        let timing = self.place_of(Timing {
            rate: network.rate(link),
            crossbar: network.crossbar(own, link),
            latency: link.latency,
            round_trip: network.parameters.round_trip_flits(ends, link),
            crossing: own.latency,
            output_queue: queue.map(|flits| flits.min(network.most_queued())),
            unlimited: own.output_queue == OutputQueue::Unlimited,
            model: network.topology.router_kind(from).0,
            stores: next.switching == Switching::StoreAndForward
                && matches!(wire, Wire::Router(_) | Wire::Away { .. }),
            passes_queue: network.passes_queue(own, link),
            credit_to_cross: own.credit_to_cross(),
            prepaid,
        });
        let mut out = Output::new(timing, wire, link.kind);
        let sink = matches!(wire, Wire::Endpoint(_));
        out.queues = match wire {
            Wire::Unused => 0,
            Wire::Endpoint(_) => 1,
            Wire::Router(_) | Wire::Away { .. } => network.queues(link.kind),
        };
        let shared = next.buffer_per == BufferPer::Port;
        // An endpoint takes whatever comes. Where packets need a place before they cross it has as many as any buffer, and no fewer
        // than its link needs.
        let flits = match (sink, prepaid) {
            (false, _) => network.queue_flits(ends, link),
            (true, false) => u64::from(u32::MAX / 2),
            (true, true) => network
                .queue_flits(ends, link)
                .max(network.parameters.full_rate_flits(ends, link)),
        };
        // `simulation/limits.rs` refuses more.
        let capacity = u32::try_from(flits).unwrap_or(u32::MAX / 2);
        let classes = self.fixed.classes.count();
        if out.queues * u32::from(classes) > MOST_BITS {
            let crowd = self.crowds.add(out.queues, classes, capacity, shared);
            out.channel_base = crowd;
            self.outputs.push(out);
            return;
        }
        out.channel_base = self.channels.len() as u32;
        for _ in 0..classes {
            for queue in 0..out.queues {
                let share = if shared { queue } else { 0 };
                let own = if share == 0 { capacity } else { 0 };
                self.channels.push(Channel::new(own, share));
            }
        }
        self.outputs.push(out);
    }

    /// The NICs' links to their routers come after the routers' own ports.
    fn add_nics(&mut self) {
        for at in 0..self.nics.len() {
            let (router, port) = self.network.topology.attachment(self.nics[at].id);
            let link = self.network.topology.link(router, port);
            let input = self.flat_port(router, port);
            self.add_output(Wire::Router(input), [router, router], &link, true);
        }
        self.channels.shrink_to_fit();
        self.outputs.shrink_to_fit();
        self.nics.shrink_to_fit();
    }

    fn add_samples(&mut self, blueprint: &Blueprint) {
        let Recording {
            occupancy, rates, ..
        } = blueprint.recording;
        let rated = blueprint.rated.iter().zip(0..);
        let here = rated.filter_map(|(rated, place)| {
            let nic = self.nics.iter().position(|nic| nic.id == rated.endpoint)?;
            Some((nic as u32, place))
        });
        let here = here.collect();
        let routers = self.network.topology.routers() as usize;
        let all_rated = blueprint.rated.len();
        let (occupancy, rates) = ((occupancy, routers), (rates, all_rated));
        self.samples = Samples::new(blueprint.schedule, occupancy, rates, here);
    }

    fn add_attribution(&mut self, recording: &Recording) {
        if recording.waits == 0 {
            return;
        }
        let buffers = (0..self.first_nic_output).map(|input| self.divided_buffer(input));
        let buffers = buffers.collect();
        let (interval, apart) = (recording.waits, recording.waits_by_source);
        self.attribution = Attribution::new(interval, apart, buffers, self.outputs.len());
    }

    /// How the buffer of an input is divided.
    fn divided_buffer(&self, input: u32) -> Divided {
        let network = &self.network;
        let Router { id, base, .. } = self.routers[self.inputs[input as usize].router as usize];
        let port = (input - base) as PortId;
        let own = network.router(id);
        let from = match self.inputs[input as usize].upstream {
            Upstream::Nothing => {
                return Divided {
                    flits: 0,
                    queues: 1,
                };
            }
            _ => match network.topology.peer(id, port) {
                Peer::Router(from, _) => network.router(from),
                Peer::Endpoint(_) | Peer::Unused => own,
            },
        };
        let link = network.topology.link(id, port);
        let flits = network.queue_flits([from, own], &link);
        Divided {
            flits: u32::try_from(flits).unwrap_or(u32::MAX),
            queues: match own.buffer_per {
                BufferPer::Port => network.queues(link.kind),
                BufferPer::Vc | BufferPer::Divided => 1,
            },
        }
    }

    fn add_sources(&mut self, blueprint: &Blueprint) {
        for (job, traffic) in blueprint.traffic.iter().enumerate() {
            for nic in 0..self.nics.len() as u32 {
                let endpoint = self.nics[nic as usize].id;
                if !traffic.sends(endpoint) {
                    continue;
                }
                let source = Source::new(traffic, job as u16, nic, endpoint, blueprint.seed);
                if let Some(source) = source {
                    self.sources.push(source);
                }
            }
        }
        self.sources.shrink_to_fit();
    }
}
