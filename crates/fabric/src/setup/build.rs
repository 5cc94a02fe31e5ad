//! Puts a domain together.

use super::plain::Compiled;
use std::iter;
use std::marker::PhantomData;
use std::sync::Arc;

use super::memory::Memory;
use super::network::{Network, RouterParameters};
use super::plain::{is_controlled, is_rich};
use crate::Backlog;
use crate::domain::{FabricDomain, Fixed};
use crate::endpoint::hosts::Hosts;
use crate::endpoint::reassembly::Reassembly;
use crate::endpoint::resend::Resends;
use crate::endpoint::send_queues::SendQueues;
use crate::endpoint::shaper::Shaper;
use crate::endpoint::source::{Source, Traffic};
use crate::event::Keys;
use crate::flows::{FlowKinds, Flows};
use crate::mail::later::Later;
use crate::mail::post::Post;
use crate::mail::signals::Signals;
use crate::pool::Pool;
use crate::record::attribution::Attribution;
use crate::record::flow_log::FlowLog;
use crate::record::samples::{Rated, Samples};
use crate::record::stats::{Recording, Stats};
use crate::record::task_log::TaskLog;
use crate::record::watch::{Watch, Watched};
use crate::router::allocation::Allocation;
use crate::router::crowd::{Crowds, HeadQueues};
use crate::router::ring::{Requests, Ring};
use crate::state::{Model, Rings, Wire};
use weir_congestion::{Actions, Scheme};
use weir_engine::{EventQueue, Schedule};
use weir_model::{Classes, ControlKind, DomainId, EndpointId, LinkKind, PacketKind};
use weir_slots::Slots;

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
    /// The packets to follow.
    pub watched: Watched,
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
            allocates: network.routers.iter().any(RouterParameters::allocates),
            acknowledge: parameters.acknowledge,
            control_flags: parameters.control_flags(),
            unheard: !heard,
            loss: scheme.loss(),
            can,
            timeout: scheme.timeout(),
            at_arrival: can.drops
                || can.observes
                || can.arrivals
                || intercepted != 0
                || lost.is_some(),
            at_departure: can.stamps || can.observes || can.announces,
            mark_from: if can.marks {
                scheme.mark_from()
            } else {
                u32::MAX
            },
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
            allocation: Allocation::default(),
            nics: Slots::default(),
            sends: SendQueues::new(parameters.order, network.flows.managed),
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
            recent: 0,
            task_log: TaskLog::new(blueprint.recording.tasks),
            watch: Watch::new(blueprint.watched.clone()),
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
