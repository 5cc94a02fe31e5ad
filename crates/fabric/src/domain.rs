//! A domain: the part of the network that is simulated as one unit.

use std::marker::PhantomData;
use std::sync::Arc;

use crate::Discipline;
use crate::fault::Fault;
use crate::setup::flow_rules::{FlowKinds, FlowRules};
use crate::setup::network::Network;
use crate::setup::network::failing::FailingOutputs;
use crate::setup::plain::Compiled;
use crate::setup::recording::Watched;
use crate::setup::traffic::Traffic;
use crate::state::ends::nic::Nic;
use crate::state::ends::resend::Resends;
use crate::state::ends::source::Source;
use crate::state::event::{EventKind, Keys};
use crate::state::hosts::Hosts;
use crate::state::mail::inbox::{Inbox, SpareLetters};
use crate::state::mail::later::Expiring;
use crate::state::mail::outboxes::Outboxes;
use crate::state::mail::post::{PacketMail, Post};
use crate::state::pool::Pool;
use crate::state::records::stats::Stats;
use crate::state::records::task_log::TaskStep;
use crate::state::records::watch::Step;
use crate::state::{
    Channel, Ends, Input, Mail, Model, OutIndex, Output, Ports, Progress, Records, Router, Timing,
};
use weir_congestion::{About, Actions, Capabilities, Scheme};
use weir_engine::{Domain, EventQueue, Schedule};
use weir_model::{Classes, DomainId, LinkRate, PacketKind, Time};
use weir_network::routing::{Hop, NicChoice};
use weir_slots::Slots;

/// The parameters that the inner loops use.
#[derive(Clone, Copy, Debug)]
pub(super) struct Fixed {
    pub classes: Classes,
    /// Packets of one queue wait by output.
    pub voq: bool,
    /// Virtual channels are divided into several queues.
    pub divided: bool,
    /// Virtual channels per class on links from NICs.
    pub injection_vcs: u8,
    /// Rule by which NICs choose the virtual network of a packet, if they do.
    pub choice: Option<NicChoice>,
    pub max_packet: u16,
    /// Flits of a buffer or queue that every packet takes at least ([`Network::least_room`]).
    ///
    /// [`Network::least_room`]: crate::setup::network::Network::least_room
    pub least_room: u16,
    /// True if queued packets may take alternative routes
    /// ([`weir_network::routing::Routing::has_alternatives`]).
    pub alternatives: bool,
    /// True if a place stays free in each ring ([`weir_network::routing::Routing::onward`]).
    pub bubbles: bool,
    /// True if any router takes time between two packets on a virtual channel.
    pub allocates: bool,
    /// Length of a time step, ps; 0 if packets leave at any time ([`Network::step`]).
    ///
    /// [`Network::step`]: crate::setup::network::Network::step
    pub step: Time,
    pub acknowledge: bool,
    /// Flag of control packets ([`Flight::CONTROL`]), except the kinds that manage flows.
    /// If it is 0, control packets are routed as data is.
    pub control_flags: u8,
    /// Deliveries of packets matter to nothing but counters that do not depend on their order, so
    /// they take place when the packet leaves its last router, which saves an event.
    pub unheard: bool,
    /// Probability, set by the scheme, that a packet of the lossy class is dropped to test
    /// recovery.
    pub loss: f64,
    /// Capabilities of the scheme.
    pub can: Capabilities,
    /// Maximum time that the scheme lets packets of the lossy class queue before their last router,
    /// ps.
    pub timeout: Time,
    /// True if the scheme, or the test of recovery, acts when a packet arrives at a router or has
    /// been routed there.
    pub at_arrival: bool,
    /// True if it does anything when a packet leaves a router, besides marking it.
    pub at_departure: bool,
    /// A bit for each kind of control packet that sources act on.
    pub heard: u8,
    /// Level ([`super::state::Output::level`]) in flits from which a scheme that marks is asked. It
    /// is the largest number for other schemes, which no level reaches.
    pub mark_from: u32,
    /// A bit for each kind of control packet that carries a time.
    pub timed: u8,
    /// The traffic class of each kind of packet.
    pub class_of: [u8; PacketKind::MOST],
    /// Number of kinds of packets.
    pub kinds: usize,
    /// A bit for each class with control packets that the last router may take.
    pub intercepted: u8,
    /// The bit of the class of which packets are lost on purpose, if any are.
    pub lost: u8,
    /// True if flows are recorded.
    pub log_flows: bool,
    /// True if timelines of links are recorded.
    pub log_links: bool,
    /// Rules by which flows are managed.
    pub flows: FlowRules,
    /// The control packets that do it.
    pub flow_kinds: FlowKinds,
    /// Windows and end of the run.
    pub schedule: Schedule,
    /// True if the run ends when all tasks of applications are done.
    pub until_done: bool,
    /// Injection discipline for flows with rates that the scheme sets, if it sets any.
    pub discipline: Option<Discipline>,
}

/// A part of the network, simulated as one unit.
/// It holds some routers, the endpoints attached to them, and everything that happens there. Its
/// behaviour depends on its own state and its mail only.
///
/// `K`: the features it is compiled with; code for all others is left out.
pub struct FabricDomain<K: Compiled> {
    pub(super) id: DomainId,
    pub(super) network: Arc<Network>,
    pub(super) fixed: Fixed,
    pub(super) about: About,
    pub(super) neighbours: Vec<DomainId>,
    pub(super) keys: Keys,
    pub(super) timings: Slots<Timing>,
    /// By the kind of router.
    pub(super) models: Slots<Model>,
    pub(super) first_nic_output: OutIndex,
    pub(super) traffic: Arc<Vec<Traffic>>,
    /// Outputs whose links fail during the run.
    pub(super) failing: FailingOutputs,
    /// The run's seed.
    pub(super) seed: u64,
    /// The packets to follow.
    pub(super) watched: Watched,
    pub(super) kind: PhantomData<K>,

    pub(super) queue: EventQueue,
    pub(super) pool: Pool,
    pub(super) ports: Ports,
    pub(super) ends: Ends,
    /// Tasks of applications.
    pub(super) hosts: Hosts,
    pub(super) mail: Mail,
    pub(super) records: Records,
    pub(super) progress: Progress,
    pub(super) scheme: Box<dyn Scheme>,

    /// Buffer for the routes of a packet while they are examined.
    pub(super) ways: Vec<Hop>,
    /// Requests of the scheme's hook while it is called.
    pub(super) actions: Actions,
    /// Empty between two windows.
    pub(super) outboxes: Outboxes,
    pub(super) spare: SpareLetters,
    pub(super) expiring: Expiring,
    /// Reason why this domain cannot continue.
    pub(super) fault: Option<Fault>,
}

impl<K: Compiled> FabricDomain<K> {
    /// Timing of an output.
    #[inline(always)]
    pub(super) fn timing(&self, output: OutIndex) -> &Timing {
        &self.timings[self.ports.outputs[output as usize].timing as usize]
    }

    /// Time that flits take on the link of a NIC.
    pub(super) fn nic_link(&self, nic: u32) -> LinkRate {
        self.timing(self.first_nic_output + nic).rate
    }

    /// Arbitration model of the router of an output.
    #[inline]
    pub(super) fn model(&self, output: OutIndex) -> Model {
        self.models[usize::from(self.timing(output).model)]
    }

    #[inline]
    pub(super) fn schedule(&mut self, kind: EventKind, component: u32, time: Time) {
        let key = self.keys.key(kind, component);
        self.queue.push(time, key);
    }

    fn process_before(&mut self, until: Time) {
        while let Some((now, event)) = self.queue.pop_before(until) {
            self.progress.events += 1;
            if K::RICH {
                self.look_ahead();
            }
            let (kind, component) = self.keys.unkey(event);
            match kind {
                EventKind::OutputFree => self.output_event(component, now),
                EventKind::InputFree => self.input_event(component, now),
                EventKind::Link => self.link_event(component, now),
                EventKind::Arrive => self.arrive(component, now),
                EventKind::Deliver => self.arrive_at_endpoint(component, now),
                EventKind::Generate => self.generate(component, now),
                EventKind::Task => self.task_event(component, now),
                EventKind::Scheme => self.scheme_event(component, now),
            }
        }
    }

    /// Events processed so far.
    pub fn events(&self) -> u64 {
        self.progress.events
    }

    /// Counters.
    pub fn stats(&self) -> &Stats {
        &self.records.stats
    }

    /// The steps of watched packets in this domain.
    pub fn steps(&self) -> &[Step] {
        self.records.watch.steps()
    }

    /// Log of the tasks of this domain, if one is kept.
    pub fn take_task_log(&mut self) -> Vec<TaskStep> {
        self.records.task_log.take()
    }

    /// Packets in this domain, in queues and on wires.
    /// Packets queued in a NIC for injection do not count.
    pub fn packets_in_flight(&self) -> u64 {
        let mut waiting = 0;
        let heads = |nic: &Nic| nic.control.heads().chain([nic.ends.head]);
        for mut at in self.ends.nics.iter().flat_map(heads) {
            while at != weir_model::NO_PACKET {
                waiting += 1;
                at = self.pool.after(at);
            }
        }
        let coming: usize = self.mail.inboxes.iter().map(Inbox::len).sum();
        (self.pool.len() + coming) as u64 - waiting
    }

    /// Messages of which something waits in its NIC.
    pub fn messages_waiting(&self) -> usize {
        self.ends.sends.messages_waiting()
    }

    /// Bytes of memory that this domain's state holds.
    /// The first number is without packets in flight. The second is the memory of packets in
    /// flight: themselves, the credits that they leave behind, mail.
    pub fn memory_bytes(&self) -> (usize, usize) {
        let state = size_of::<Self>()
            + self.queue.memory_bytes()
            + self.ports.routers.capacity() * size_of::<Router>()
            + self.ports.memory.memory_bytes()
            + self.ports.inputs.capacity() * size_of::<Input>()
            + self.ports.outputs.capacity() * size_of::<Output>()
            + self.ports.channels.capacity() * size_of::<Channel>()
            + self.ports.requests.memory_bytes()
            + (self.ports.rings.outputs.capacity() + self.ports.rings.inputs.capacity()) * 4
            + self.ports.wide_ports.memory_bytes()
            + self.ports.fifos.memory_bytes()
            + self.ports.allocation.memory_bytes()
            + self.ends.nics.capacity() * size_of::<Nic>()
            + self.ends.sends.memory_bytes()
            + self.ends.resends.capacity() * size_of::<Resends>()
            + self.ends.sources.capacity() * size_of::<Source>()
            + self.hosts.memory_bytes()
            + self.ends.flows.memory_bytes()
            + self.ends.shaper.memory_bytes()
            + self.records.attribution.memory_bytes()
            + self.records.link_log.memory_bytes()
            + self.scheme.memory_bytes();
        let again: usize = self.ends.resends.iter().map(Resends::memory_bytes).sum();
        let inboxes: usize = self.mail.inboxes.iter().map(Inbox::memory_bytes).sum();
        let spare: usize = self.spare.iter().map(Vec::capacity).sum();
        let credits = self
            .ports
            .channels
            .iter()
            .map(|channel| channel.credit.memory_bytes());
        let mail = self.outboxes.memory_bytes() + inboxes + spare * size_of::<PacketMail>();
        let credits = credits.sum::<usize>() + self.ports.wide_ports.credit_bytes();
        let packets = self.pool.memory_bytes() + credits + mail;
        let parts = self.ends.partial.memory_bytes() + self.ends.acknowledged.memory_bytes();
        let scheme = self.mail.signals.memory_bytes() + self.mail.later.memory_bytes();
        (state, packets + again + parts + scheme)
    }
}

impl<K: Compiled> Domain for FabricDomain<K> {
    /// Its place in lists is small: a large network has a million pairs of domains.
    type Mail = Box<Post>;
    type Error = Fault;

    fn id(&self) -> DomainId {
        self.id
    }

    fn neighbours(&self) -> &[DomainId] {
        &self.neighbours
    }

    fn next_time(&self) -> Time {
        self.queue.next_time()
    }

    fn advance(&mut self, until: Time) -> Result<(), Fault> {
        let from = std::mem::replace(&mut self.progress.until, until);
        self.records.beyond.retain(|one| one.end > from);
        let before = self.progress.events;
        self.thin_samples(until);
        while self.next_sample() < until {
            self.process_before(self.next_sample() + 1);
            self.sample();
        }
        self.process_before(until);
        self.progress.recent = self.progress.events - before;
        if cfg!(debug_assertions) && self.fixed.alternatives {
            self.assert_all_wait(until.saturating_sub(1));
        }
        self.fault.take().map_or(Ok(()), Err)
    }

    fn wakes(&self) -> Time {
        self.queue.next_time().min(self.next_sample())
    }

    fn take_mail(&mut self) -> Option<(usize, Box<Post>)> {
        let (neighbour, post) = self.outboxes.take_any()?;
        Some((neighbour as usize, post))
    }

    fn take_mail_for(&mut self, neighbour: usize) -> Box<Post> {
        self.outboxes.take(neighbour as u32)
    }

    fn reuse(&mut self, mail: Box<Post>) {
        self.outboxes.reuse(mail);
    }

    fn accepts(&self, neighbour: usize, mail: &Box<Post>) -> bool {
        mail.packets
            .iter()
            .all(|one| self.accepts_packet(neighbour, one))
            && (mail.credits.iter()).all(|one| self.accepts_credit(neighbour, one))
            && mail.headers.len() == mail.packets.len() * self.pool.header_words()
            && (mail.signals.iter()).all(|one| self.accepts_signal(one))
    }

    fn prepare(&self) {
        self.fetch_state();
    }

    fn expect(&self, mail: &Box<Post>, step: u32) {
        if K::RICH {
            self.fetch_for(mail, step);
        }
    }

    fn deliver(&mut self, neighbour: usize, mail: &mut Box<Post>) {
        self.take_packets(neighbour, &mut mail.packets, &mail.headers);
        for mail in &mail.credits {
            self.take_credit(mail.output, mail.queue, mail.flits, mail.time);
        }
        for signal in &mail.signals {
            self.take_signal(*signal);
        }
    }

    fn urgent(&mut self) -> Option<usize> {
        self.mail
            .signals
            .urgent
            .pop()
            .map(|neighbour| neighbour as usize)
    }

    fn finished(&self) -> bool {
        self.fixed.until_done && self.hosts.unfinished() == 0
    }

    fn moved(&self) -> u64 {
        self.progress.moved + self.records.stats.tally.dropped()
    }
}
