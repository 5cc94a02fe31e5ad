//! Network interfaces: queue pairs, segmentation, the turn of each destination, reassembly and acknowledgements.

use super::domain::FabricDomain;
use super::flows::manages;
use super::nic_context::AtNic;
use super::pool::{Fifo, Pool};
use super::resend::Resend;
use super::send_queues::{Message, NONE, PairRing};
use super::signals::Speaker;
use crate::congestion::{PacketView, Scheme};
use crate::model::{
    Classes, EndpointId, Flight, LinkKind, NEVER, NO_PACKET, Origin, Packet, PacketIndex,
    PacketKind, Stamp, Time,
};
use crate::queueing::Joining;
use crate::routing::{NicChoice, NicRule};
use crate::simulation::RunError;

/// A network interface.
#[derive(Clone, Debug)]
pub struct Nic {
    /// Its endpoint.
    pub id: EndpointId,
    /// Packets on the wire from its router, in order of arrival.
    pub wire: Fifo,
    /// Control packets that wait to be sent, by class from the lowest control class on.
    pub control: [Fifo; 3],
    /// Control packets that go behind the data of their flows.
    pub ends: Fifo,
    /// Queue pairs with something to send.
    pub ring: PairRing,
    /// Number of the next message; begins again at its end ([`Origin::message`]).
    pub next_message: u32,
    /// Number of the next packet; begins again at its end ([`Origin::sequence`]).
    pub next_packet: u32,
    /// Virtual channel used last.
    vc: u8,
}

impl Nic {
    /// An idle NIC.
    pub fn new(id: EndpointId) -> Self {
        Nic {
            id,
            wire: Fifo::EMPTY,
            control: [Fifo::EMPTY; 3],
            ends: Fifo::EMPTY,
            ring: PairRing::EMPTY,
            next_message: 0,
            next_packet: 0,
            vc: 0,
        }
    }

    /// True if no message and no control packet waits to be sent.
    pub fn is_idle(&self) -> bool {
        self.ring.turn == NONE && self.ends.is_empty() && self.control.iter().all(Fifo::is_empty)
    }
}

/// A message to be sent.
#[derive(Clone, Copy, Debug)]
pub struct NewMessage {
    /// Place of the sending NIC in its domain.
    pub nic: u32,
    /// Where to.
    pub destination: EndpointId,
    /// Payload.
    pub bits: u64,
    /// Which workload it belongs to.
    pub job: u16,
    /// What tasks of an application know it by.
    pub stamp: Stamp,
}

/// What a packet that is to be sent needs a queue for.
#[derive(Clone, Copy)]
struct Sending {
    destination: EndpointId,
    class: u8,
    job: u16,
    flits: u16,
}

impl Sending {
    fn of(pool: &Pool, index: PacketIndex) -> Sending {
        let packet = pool.get(index);
        Sending {
            destination: packet.flight.destination,
            class: packet.class,
            job: pool.origin(index).job,
            flits: packet.flits,
        }
    }
}

/// A packet that has not gone anywhere.
pub fn blank(destination: EndpointId, class: u8, control: bool, flits: u16, now: Time) -> Packet {
    let flags = if control { Flight::CONTROL } else { 0 };
    let flight = Flight {
        destination,
        flags,
        ..Flight::default()
    };
    Packet::new(flight, class, flits, now)
}

/// Why a NIC sends nothing now.
pub(super) struct Blocked {
    /// When to look again.
    pub again: Time,
    /// Whether a packet is ready but has no credit.
    starved: bool,
}

impl Blocked {
    fn starve(&mut self, until: Time) {
        self.starved = true;
        self.again = self.again.min(until);
    }
}

impl<const CC: bool> FabricDomain<CC> {
    /// Hands a message to a NIC.
    pub(super) fn submit(&mut self, new: NewMessage, now: Time) {
        let nic = &mut self.nics[new.nic as usize];
        let number = nic.next_message;
        nic.next_message = number.wrapping_add(1);
        let message = Message::new(now, new.bits, number, new.job, new.stamp);
        let first = self
            .sends
            .add(new.nic, &mut nic.ring, new.destination, message);
        self.stats.generated(new.job, new.bits, now);
        if CC && self.fixed.can.messages {
            let origin = message.origin(self.nics[new.nic as usize].id);
            self.pool.hold_header(NO_PACKET);
            self.at_nic(new.nic, now, |scheme, nic| {
                scheme.on_submit(nic, new.destination, &origin);
            });
        }
        self.begin_message(new.nic, first, now);
        self.kick_nic(new.nic, now);
    }

    /// Looks at a NIC that has got something to send, unless it is busy or waiting already.
    pub(super) fn kick_nic(&mut self, nic: u32, now: Time) {
        let output = self.first_nic_output + nic;
        let out = &self.outputs[output as usize];
        if out.link_free > now {
            let time = out.link_free;
            self.wake_link(output, time);
        } else if out.link_wake > now {
            self.serve_nic(nic, now);
        }
    }

    /// Sends the next packet of a NIC, if it may send one, and sees to it that it is looked at again.
    pub(super) fn serve_nic(&mut self, nic: u32, now: Time) {
        let output = self.first_nic_output + nic;
        if self.outputs[output as usize].link_free > now {
            let time = self.outputs[output as usize].link_free;
            self.wake_link(output, time);
            return;
        }
        match self.next_to_send(nic, output, now) {
            Ok((index, queue)) => {
                self.inject(index, nic, queue, now);
                let out = &mut self.outputs[output as usize];
                out.unstall(now);
                let free = out.link_free;
                if !self.nics[nic as usize].is_idle() {
                    self.wake_link(output, free);
                } else if CC && self.fixed.can.retransmits {
                    let time = self.resends[nic as usize].next(free);
                    self.wake_link(output, time);
                }
            }
            Err(blocked) => {
                if blocked.starved {
                    self.outputs[output as usize].stall(now);
                }
                self.wake_link(output, blocked.again);
            }
        }
    }

    /// The packet that a NIC sends next, and its queue at the router: control first, then what was given a time, then what
    /// tries again, then the queue pair whose turn it is. Where virtual channels are divided into queues, one that has no room
    /// in its queue does not keep the others from sending.
    fn next_to_send(
        &mut self,
        nic: u32,
        output: u32,
        now: Time,
    ) -> Result<(PacketIndex, u16), Blocked> {
        let mut blocked = Blocked {
            again: NEVER,
            starved: false,
        };
        if let Some(found) = self.next_control(nic, output, now, &mut blocked) {
            return Ok(found);
        }
        if CC && self.fixed.can.retransmits {
            for lossy in [false, true] {
                if let Some(found) = self.again_from(nic, output, lossy, now, &mut blocked) {
                    return Ok(found);
                }
            }
        }
        if CC && let Some(found) = self.next_end(nic, output, now, &mut blocked) {
            return Ok(found);
        }
        if CC && let Some(discipline) = self.fixed.discipline {
            let found = self.next_shaped(discipline, nic, output, now, &mut blocked);
            return found.ok_or(blocked);
        }
        let ring = self.nics[nic as usize].ring;
        let mut at = ring.turn;
        for _ in 0..self.sends.candidates(&ring) {
            let pair = *self.sends.pair(at);
            if CC && self.fixed.flows.managed && !self.flows.may_send(nic, pair.destination) {
                at = pair.next;
                continue;
            }
            if CC && self.fixed.can.paces {
                let time = self.scheme.ready_at(nic, pair.destination, now);
                if time > now {
                    self.stats.tally.held_back += 1;
                    blocked.again = blocked.again.min(time);
                    at = pair.next;
                    continue;
                }
            }
            if let Some(found) = self.packet_of_pair(nic, at, output, now, &mut blocked) {
                return Ok(found);
            }
            if !self.divided() {
                break;
            }
            at = pair.next;
        }
        Err(blocked)
    }

    /// The first control packet that a NIC may send now, of the highest class.
    #[inline]
    fn next_control(
        &mut self,
        nic: u32,
        output: u32,
        now: Time,
        blocked: &mut Blocked,
    ) -> Option<(PacketIndex, u16)> {
        let classes = self.fixed.classes;
        // Data alone needs no look, but acknowledgements may share its class.
        if CC || classes.control > classes.data {
            for class in (classes.control..classes.count()).rev() {
                let at = usize::from(class - classes.control);
                let mut before = NO_PACKET;
                let mut head = self.nics[nic as usize].control[at].head;
                while head != NO_PACKET {
                    match self.injection_queue(output, Sending::of(&self.pool, head), now) {
                        Ok(queue) => {
                            let list = &mut self.nics[nic as usize].control[at];
                            list.take_after(before, &mut self.pool);
                            return Some((head, queue));
                        }
                        Err(time) => blocked.starve(time),
                    }
                    if !self.divided() {
                        break;
                    }
                    (before, head) = (head, self.pool.after(head));
                }
            }
        }
        None
    }

    /// A control packet that goes behind the data of its flow.
    #[inline]
    fn next_end(
        &mut self,
        nic: u32,
        output: u32,
        now: Time,
        blocked: &mut Blocked,
    ) -> Option<(PacketIndex, u16)> {
        let head = self.nics[nic as usize].ends.head;
        if head == NO_PACKET {
            return None;
        }
        match self.injection_queue(output, Sending::of(&self.pool, head), now) {
            Ok(queue) => {
                self.nics[nic as usize].ends.pop(&self.pool);
                Some((head, queue))
            }
            Err(time) => {
                blocked.starve(time);
                None
            }
        }
    }

    /// A packet that is sent again.
    fn again_from(
        &mut self,
        nic: u32,
        output: u32,
        lossy: bool,
        now: Time,
        blocked: &mut Blocked,
    ) -> Option<(PacketIndex, u16)> {
        let list = &self.resends[nic as usize];
        if !lossy && list.due() > now {
            blocked.again = blocked.again.min(list.due());
            return None;
        }
        let Resend { to, origin } = *list.peek(lossy)?;
        let payload = self.about.payload(origin.message_bits, origin.part);
        let flits = self.about.flit.flits(payload) as u16;
        let class = if lossy {
            Classes::LOSSY
        } else {
            self.fixed.classes.data
        };
        let sending = Sending {
            destination: to,
            class,
            job: origin.job,
            flits,
        };
        match self.injection_queue(output, sending, now) {
            Ok(queue) => {
                self.resends[nic as usize].pop(lossy);
                let origin = Origin {
                    source: self.nics[nic as usize].id,
                    kind: PacketKind::DATA.number(),
                    ..origin.with_payload(payload as u32)
                };
                self.stats.resent(lossy);
                if self.fixed.can.reserves {
                    let (ring, which) = (
                        &mut self.nics[nic as usize].ring,
                        (origin.message, origin.part),
                    );
                    let first = self.sends.sent_withdrawn(nic, ring, to, which);
                    self.begin_message(nic, first, now);
                }
                let packet = blank(to, class, false, flits, now);
                Some((self.pool.insert(packet, origin), queue))
            }
            Err(time) => {
                blocked.starve(time);
                None
            }
        }
    }

    /// The next packet of a queue pair.
    pub(super) fn packet_of_pair(
        &mut self,
        nic: u32,
        pair: u32,
        output: u32,
        now: Time,
        blocked: &mut Blocked,
    ) -> Option<(PacketIndex, u16)> {
        let destination = self.sends.pair(pair).destination;
        let message = self.sends.message(self.sends.pair(pair).first);
        let flit = self.about.flit;
        let most = u64::from(self.fixed.max_packet) * u64::from(flit.0);
        let payload = message.left.min(most);
        let (first, last) = (message.left == message.bits, payload == message.left);
        let flits = flit.flits(payload) as u16;
        let class = if CC && self.fixed.can.drops {
            Classes::LOSSY
        } else {
            self.fixed.classes.data
        };
        let part = if CC && (self.fixed.can.retransmits || self.fixed.flows.managed) {
            ((message.bits - message.left) / most) as u32
        } else {
            0
        };
        let origin = Origin {
            payload_bits: payload as u32,
            part,
            ..message.origin(self.nics[nic as usize].id)
        };
        let sending = Sending {
            destination,
            class,
            job: origin.job,
            flits,
        };
        match self.injection_queue(output, sending, now) {
            Ok(queue) => {
                let packet = blank(destination, class, false, flits, now);
                let index = self.pool.insert(packet, origin);
                if first && self.fixed.log_flows {
                    self.flow_starts(destination, &origin, now);
                }
                let ring = &mut self.nics[nic as usize].ring;
                let next = self.sends.take(nic, ring, pair, payload);
                let leaves = !(CC && self.fixed.can.retransmits);
                if leaves && last && origin.stamp() != Stamp::NONE {
                    let tail = now + self.serialization(output, flits);
                    self.message_leaves(nic, destination, &origin, tail);
                }
                if CC && self.fixed.can.paces {
                    let tail = now + self.serialization(output, flits);
                    let packet = PacketView {
                        source: origin.source,
                        destination,
                        flits,
                        payload_bits: origin.payload_bits,
                        marked: false,
                    };
                    self.pool.hold_header(NO_PACKET);
                    self.at_nic(nic, now, |scheme, nic| scheme.on_sent(nic, &packet, tail));
                    self.pool.give_header(index);
                }
                if CC && last && self.fixed.can.messages {
                    self.pool.hold_header(NO_PACKET);
                    self.at_nic(nic, now, |scheme, nic| {
                        scheme.on_message_sent(nic, destination, &origin);
                    });
                }
                if CC && last && self.fixed.flows.managed {
                    self.flow_is_sent(nic, destination, now);
                }
                self.begin_message(nic, next, now);
                Some((index, queue))
            }
            Err(time) => {
                blocked.starve(time);
                None
            }
        }
    }

    /// How long a packet takes to pass an output, ps.
    fn serialization(&self, output: u32, flits: u16) -> Time {
        let timing = self.outputs[output as usize].timing;
        self.timings[timing as usize].rate.time(flits)
    }

    /// Tells a scheme that reserves of the message that has become the first of a queue pair, if there is one.
    #[inline]
    fn begin_message(&mut self, nic: u32, pair: Option<u32>, now: Time) {
        if !(CC && (self.fixed.can.reserves || self.fixed.flows.managed)) {
            return;
        }
        let Some(pair) = pair else {
            return;
        };
        if self.fixed.flows.managed {
            self.begin_flow(nic, pair, now);
        }
        if !self.fixed.can.reserves {
            return;
        }
        let (to, first) = (
            self.sends.pair(pair).destination,
            self.sends.pair(pair).first,
        );
        let origin = self.sends.message(first).origin(self.nics[nic as usize].id);
        self.pool.hold_header(NO_PACKET);
        self.at_nic(nic, now, |scheme, nic| scheme.on_message(nic, to, &origin));
    }

    /// A queue with credits for a packet, of the virtual channels in turn; or when to look again.
    #[inline]
    fn injection_queue(&mut self, output: u32, new: Sending, now: Time) -> Result<u16, Time> {
        let out = &self.outputs[output as usize];
        let (queues, base) = (out.queues, out.channel_base);
        let vcs = self.fixed.injection_vcs;
        let nic = &self.nics[(output - self.first_nic_output) as usize];
        if let Some(choice) = self.choice() {
            return self.chosen_injection(output, new, choice, now);
        }
        let (source, last) = (nic.id, nic.vc);
        let first = u32::from(new.class) * queues;
        let (flits, mut again) = (u32::from(new.flits), NEVER);
        for step in 1..=u16::from(vcs) {
            let turn = u16::from(last) + step;
            let vc = if turn < u16::from(vcs) {
                turn
            } else {
                turn - u16::from(vcs)
            };
            let within = match self.divided() {
                true => self.divided_injection(source, new, vc as u8, queues),
                false => u32::from(vc),
            };
            let queue = (first + within) as u16;
            let channel = self.channel(base, queue);
            if self.has_credit(channel, flits, now) {
                return Ok(queue);
            }
            let credit = &self.channels[self.home(channel)].credit;
            again = again.min(credit.enough_at(flits));
        }
        Err(again)
    }

    /// A queue with credits for a packet in the virtual network that the routing has the NIC choose; or when to look again. Of
    /// virtual channels that the packet may take, that with less in its queue; of equal ones the first in turn.
    #[inline(never)]
    fn chosen_injection(
        &mut self,
        output: u32,
        new: Sending,
        choice: NicChoice,
        now: Time,
    ) -> Result<u16, Time> {
        let out = &self.outputs[output as usize];
        let (queues, base) = (out.queues, out.channel_base);
        let nic = &self.nics[(output - self.first_nic_output) as usize];
        let (source, last) = (nic.id, u32::from(nic.vc));
        let vcs = u32::from(self.fixed.injection_vcs);
        let each = vcs / u32::from(choice.networks);
        let flits = u32::from(new.flits);
        let (mut best, mut again) = (None, NEVER);
        for step in 1..=vcs {
            let vc = (last + step) % vcs;
            let in_turn = (last / each + 1) % u32::from(choice.networks);
            if choice.by == NicRule::InTurn && vc / each != in_turn {
                continue;
            }
            let within = match self.fixed.divided {
                true => self.divided_injection(source, new, vc as u8, queues),
                false => vc,
            };
            let queue = (u32::from(new.class) * queues + within) as u16;
            let channel = self.channel(base, queue);
            let room = self.has_credit(channel, flits, now);
            let home = self.home(channel);
            let credit = &mut self.channels[home].credit;
            credit.collect(now);
            again = again.min(credit.enough_at(flits));
            let used = credit.capacity - credit.available;
            if room && best.is_none_or(|(least, _)| used < least) {
                best = Some((used, queue));
            }
        }
        best.map(|(_, queue)| queue).ok_or(again)
    }

    /// The queue of a packet in a virtual channel of its injection link that is divided into queues.
    #[inline(never)]
    fn divided_injection(&self, source: EndpointId, new: Sending, vc: u8, queues: u32) -> u32 {
        let vcs = self.fixed.injection_vcs;
        let each = queues / u32::from(vcs);
        let joining = Joining {
            from: None,
            kind: LinkKind::TERMINAL,
            vc,
            vcs,
            source,
            destination: new.destination,
            class: new.class,
            job: new.job,
        };
        u32::from(vc) * each + self.network.part(&joining, each)
    }

    /// A head leaves its NIC.
    fn inject(&mut self, index: PacketIndex, nic: u32, queue: u16, now: Time) {
        let (divided, choice) = (self.divided(), self.choice());
        let state = &mut self.nics[nic as usize];
        let sequence = state.next_packet;
        state.next_packet = sequence.wrapping_add(1);
        let output = self.first_nic_output + nic;
        let packet = self.pool.get_mut(index);
        packet.queue = queue;
        let queues = self.outputs[output as usize].queues;
        let within = u32::from(queue) - u32::from(packet.class) * queues;
        state.vc = if divided {
            within / (queues / u32::from(self.fixed.injection_vcs))
        } else {
            within
        } as u8;
        if let Some(choice) = choice {
            packet.flight.via = u32::from(state.vc / (self.fixed.injection_vcs / choice.networks));
        }
        packet.head = now;
        packet.injected = now;
        if self.watched == Some((state.id, sequence)) {
            // Numbers come again after 2³² packets.
            self.watched = None;
            packet.flight.flags |= Flight::WATCHED;
        }
        let origin = self.pool.origin_mut(index);
        origin.sequence = sequence;
        self.stats.injected(origin, nic, now);
        self.send(index, output, now);
    }

    /// A tail is at its endpoint.
    pub(super) fn arrive_at_endpoint(&mut self, nic: u32, now: Time) {
        if let Some(index) = self.nics[nic as usize].wire.pop(&self.pool) {
            self.deliver_packet(index, nic, now);
        }
    }

    /// A tail is at its endpoint at `now`, or will be.
    pub(super) fn deliver_packet(&mut self, index: PacketIndex, nic: u32, now: Time) {
        let packet = *self.pool.get(index);
        let origin = *self.pool.origin(index);
        if CC {
            self.pool.hold_header(index);
        }
        self.pool.remove(index);
        self.stats.delivered(&packet, &origin, nic, now);
        if !origin.is(PacketKind::DATA) {
            if CC {
                self.take_control(nic, &packet, &origin, now);
            }
            return;
        }
        if CC && self.fixed.flows.managed {
            self.check_order(nic, &origin);
        }
        if self.fixed.log_flows {
            self.flow_arrives(&origin, now);
        }
        if CC && self.fixed.can.receives {
            let view = PacketView::of(&packet, &origin);
            self.at_nic(nic, now, |scheme, nic| scheme.on_delivery(nic, &view));
        }
        let whole = self
            .partial
            .add(&origin, origin.source, packet.flight.destination);
        if whole {
            self.stats
                .received(&origin, packet.flight.destination, nic, now);
            if CC && self.fixed.can.messages {
                self.at_nic(nic, now, |scheme, nic| {
                    scheme.on_message_received(nic, &origin);
                });
            }
        }
        if self.fixed.acknowledge {
            let ack = self.at_nic(nic, now, |_, nic| {
                nic.queue(PacketKind::ACK, origin.source, 1, origin)
            });
            if CC {
                self.pool.get_mut(ack).flight.flags |= packet.flight.flags & Flight::MARKED;
                self.pool.give_header(ack);
            }
        }
        if self.fixed.acknowledge || (CC && (self.fixed.can.receives || self.fixed.can.messages)) {
            self.kick_nic(nic, now);
        }
        if whole && origin.stamp() != Stamp::NONE {
            self.message_arrives(nic, &origin, now);
        }
    }

    /// A control packet is at its endpoint.
    fn take_control(&mut self, nic: u32, packet: &Packet, origin: &Origin, now: Time) {
        if self.fixed.flows.managed && manages(&packet.flight, origin, self.fixed.flow_kinds) {
            return self.take_flow_packet(nic, packet, origin, now);
        }
        let can = &self.fixed.can;
        let (retransmits, windows) = (can.retransmits, can.windows);
        if self.fixed.heard & 1 << origin.kind != 0 {
            let marked = packet.flight.flags & Flight::MARKED != 0;
            self.at_nic(nic, now, |scheme, nic| {
                scheme.on_control(nic, origin, marked);
            });
        }
        if retransmits && self.fixed.timed & 1 << origin.kind != 0 && origin.is_beyond() {
            let job = self.traffic[usize::from(origin.job)].name.clone();
            self.fault.get_or_insert(RunError::GrantTooLate { job });
        }
        if retransmits || windows {
            self.kick_nic(nic, now);
        }
        let acknowledged = origin.is(PacketKind::ACK);
        if retransmits && acknowledged && origin.stamp() != Stamp::NONE {
            self.packet_acknowledged(nic, origin, now);
        }
    }

    /// Calls a hook at a NIC, then does what it asks for. The header that the hook sees is the one that the pool holds.
    #[inline]
    pub(super) fn at_nic<R>(
        &mut self,
        nic: u32,
        now: Time,
        hook: impl FnOnce(&mut dyn Scheme, &mut AtNic) -> R,
    ) -> R {
        let mut context = AtNic {
            now,
            nic,
            about: &self.about,
            control: self.fixed.classes.control,
            class_of: self.fixed.class_of,
            state: &mut self.nics[nic as usize],
            sends: &mut self.sends,
            pool: &mut self.pool,
            resends: self.resends.get_mut(nic as usize),
            actions: &mut self.actions,
        };
        let result = hook(self.scheme.as_mut(), &mut context);
        if CC && self.actions.any {
            self.carry_out(Speaker::Nic(nic), now);
        }
        result
    }
}
