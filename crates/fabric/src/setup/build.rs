//! Puts a domain together.

use super::plain::Compiled;
use crate::setup::blueprint::Blueprint;
use crate::setup::network::failing::FailingOutputs;
use std::marker::PhantomData;

use super::network::RouterParameters;
use super::plain::{is_controlled, is_rich};
use crate::Backlog;
use crate::domain::{FabricDomain, Fixed};
use crate::setup::flow_rules::FlowKinds;
use crate::setup::recording::Recording;
use crate::setup::traffic::Traffic;
use crate::state::Ring;
use crate::state::ends::flows::Flows;
use crate::state::ends::resend::Resends;
use crate::state::ends::source::Source;
use crate::state::event::Keys;
use crate::state::hosts::Hosts;
use crate::state::mail::later::Expiring;
use crate::state::mail::outboxes::Outboxes;
use crate::state::pool::Pool;
use crate::state::records::attribution::Attribution;
use crate::state::records::samples::Samples;
use crate::state::records::stats::Stats;
use crate::state::{Ends, Mail, Model, Ports, Progress, Records, Rings, Wire};
use weir_congestion::{Actions, Scheme};
use weir_engine::EventQueue;
use weir_model::{Classes, ControlKind, DomainId, EndpointId, LinkKind, PacketKind};
use weir_network::topology::Place;
use weir_slots::Slots;

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

impl Fixed {
    /// `heard`: deliveries matter to more than counters that do not depend on their order.
    fn new(blueprint: &Blueprint, scheme: &dyn Scheme, heard: bool) -> Fixed {
        let network = &blueprint.network;
        let parameters = &network.parameters;
        let can = scheme.capabilities();
        let own = &network.kinds[..];
        let flow_kinds = FlowKinds::after(scheme.kinds().len() as u8, &network.flows);
        let class_of = classes_of(network.classes, own, flow_kinds.end);
        let intercepted = bits(can.intercepts.iter().map(|&kind| class_of[kind.index()]));
        let lost = (scheme.loss() > 0.0).then_some(Classes::LOSSY);
        Fixed {
            classes: network.classes,
            voq: network.queueing.by_output(),
            divided: network.divided(),
            injection_vcs: network.vcs(LinkKind::TERMINAL),
            choice: network.routing.choice_at_nic(),
            max_packet: parameters.max_packet,
            least_room: network.least_room(),
            alternatives: network.routing.has_alternatives(),
            bubbles: network.routing.keeps_bubbles(),
            allocates: network.routers.iter().any(RouterParameters::allocates),
            step: network.step(),
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
            log_links: blueprint.links.is_some(),
            until_done: blueprint.until_done,
            schedule: blueprint.schedule,
            flows: network.flows,
            flow_kinds,
            discipline: network.discipline,
            intercepted,
            lost: bits(lost.into_iter()),
        }
    }
}

impl<K: Compiled> FabricDomain<K> {
    /// Builds a domain. Looks at this domain's routers only.
    pub fn new(id: DomainId, blueprint: &Blueprint, scheme: &dyn Scheme) -> FabricDomain<K> {
        let (controlled, rich) = (is_controlled(scheme), is_rich(blueprint));
        assert!(
            (K::CC || !controlled) && (K::RICH || !rich),
            "compiled for other runs"
        );
        let network = &blueprint.network;
        let mut domain = FabricDomain::at_rest(id, blueprint, scheme);
        domain.add_routers(blueprint.seed);
        domain.add_ports();
        domain.add_nics();
        domain.add_inboxes();
        domain.add_rings();
        domain.ends.flows = Flows::new(domain.ports.outputs.len(), network.flows.cache);
        let rings = domain.ports.outputs.len() * usize::from(network.classes.count());
        domain.ports.rings = Rings {
            outputs: vec![Ring::default(); rings].into(),
            inputs: vec![Ring::default(); rings].into(),
        };
        domain.add_stats(blueprint);
        domain.add_samples(blueprint);
        domain.add_attribution(&blueprint.recording);
        domain.add_link_log(blueprint);
        domain.scheme = scheme.start(domain.ends.nics.len(), domain.ports.outputs.len());
        if K::CC && domain.fixed.can.retransmits {
            let nics = domain.ends.nics.len();
            domain.ends.resends.resize_with(nics, Resends::default);
        }
        domain.add_sources(blueprint);
        domain.add_tasks();
        let components = [
            domain.ports.outputs.len(),
            domain.ends.sources.len(),
            domain.hosts.len(),
        ];
        domain.keys = Keys::new(components.into_iter().max().unwrap_or(0));
        let (count, components) = (domain.keys.count(), domain.keys.components());
        domain.queue = EventQueue::new(network.horizon(id), count, components);
        domain.start_sources();
        domain.start_tasks();
        domain
    }

    /// A domain without routers and endpoints.
    fn at_rest(id: DomainId, blueprint: &Blueprint, scheme: &dyn Scheme) -> FabricDomain<K> {
        let network = &blueprint.network;
        let models = network.routers.iter().map(|router| Model {
            arbitration: router.arbitration,
            overtaking: router.overtaking,
            all_classes: router.backlog == Backlog::All,
        });
        let models: Vec<Model> = models.collect();
        let recording = blueprint.recording;
        let mut applications = blueprint.traffic.iter().filter_map(Traffic::application);
        let heard = K::CC
            || network.parameters.acknowledge
            || recording.packets
            || recording.messages
            || recording.flows
            || applications.next().is_some();
        let neighbours = network.neighbours(id);
        FabricDomain {
            id,
            network: network.clone(),
            fixed: Fixed::new(blueprint, scheme, heard),
            about: network.about,
            keys: Keys::new(0),
            timings: Slots::default(),
            models: models.into(),
            first_nic_output: 0,
            traffic: blueprint.traffic.clone(),
            failing: FailingOutputs::default(),
            seed: blueprint.seed,
            watched: blueprint.watched.clone(),
            kind: PhantomData,
            // Until the number of components is known.
            queue: EventQueue::new(network.horizon(id), 0, 0),
            pool: Pool::new(scheme.header_words()),
            ports: Ports::default(),
            ends: Ends::new(network),
            hosts: Hosts::default(),
            mail: Mail::new(blueprint.schedule.interleaving.is_some()),
            records: Records::new(blueprint),
            progress: Progress::default(),
            scheme: scheme.start(0, 0),
            ways: Vec::new(),
            actions: Actions {
                recorded: recording.scheme,
                ..Actions::default()
            },
            outboxes: Outboxes::new(neighbours.len()),
            neighbours,
            spare: Vec::new(),
            expiring: Expiring::default(),
            fault: None,
        }
    }

    fn add_stats(&mut self, blueprint: &Blueprint) {
        self.records.stats = Stats::new(
            blueprint.recording,
            blueprint.traffic.iter().map(Traffic::on),
            u64::from(self.network.parameters.flit.0),
            self.fixed.classes.count(),
            self.ends.nics.len(),
        );
        let own: Vec<EndpointId> = self.ends.nics.iter().map(|nic| nic.id).collect();
        self.records
            .stats
            .record_received(&own, &blueprint.received);
    }

    /// The NICs' links to their routers come after the routers' own ports.
    fn add_nics(&mut self) {
        for at in 0..self.ends.nics.len() {
            let endpoint = self.ends.nics[at].id;
            let (router, port) = self.network.topology.attachment(endpoint);
            let input = self.flat_port(router, port);
            let place = Place::Nic(endpoint);
            self.add_output(Wire::Router(input), [router, router], place);
        }
        self.ports.channels.shrink_to_fit();
        self.ports.outputs.shrink_to_fit();
        self.ends.nics.shrink_to_fit();
    }

    fn add_samples(&mut self, blueprint: &Blueprint) {
        let Recording {
            occupancy, rates, ..
        } = blueprint.recording;
        let rated = blueprint.rated.iter().zip(0..);
        let here = rated.filter_map(|(rated, place)| {
            let nic = self
                .ends
                .nics
                .iter()
                .position(|nic| nic.id == rated.endpoint)?;
            Some((nic as u32, place))
        });
        let here = here.collect();
        let routers = self.network.topology.routers() as usize;
        let all_rated = blueprint.rated.len();
        let (occupancy, rates) = ((occupancy, routers), (rates, all_rated));
        self.records.samples = Samples::new(occupancy, rates, here);
    }

    fn add_attribution(&mut self, recording: &Recording) {
        if recording.waits == 0 {
            return;
        }
        let buffers = (0..self.first_nic_output).map(|input| self.divided_buffer(input));
        let buffers = buffers.collect();
        let (interval, apart) = (recording.waits, recording.waits_by_source);
        self.records.attribution =
            Attribution::new(interval, apart, buffers, self.ports.outputs.len());
    }

    fn add_sources(&mut self, blueprint: &Blueprint) {
        for (job, traffic) in blueprint.traffic.iter().enumerate() {
            for nic in 0..self.ends.nics.len() as u32 {
                let endpoint = self.ends.nics[nic as usize].id;
                if !traffic.sends(endpoint) {
                    continue;
                }
                let place = (job as u16, nic);
                let of = (traffic, blueprint.network.topology.as_ref());
                let source = Source::new(of, place, endpoint, traffic.start, blueprint.seed);
                if let Some(source) = source {
                    self.ends.sources.push(source);
                }
            }
        }
        self.ends.sources.shrink_to_fit();
    }
}
