//! Network interfaces: queue pairs, segmentation, the turn of each destination, reassembly and acknowledgements.

use super::domain::FabricDomain;
use super::pool::Fifo;
use super::slots::Slots;
use crate::model::{
    CLASS_CONTROL, CLASS_DATA, EndpointId, Flight, NEVER, NO_PACKET, Origin, Packet, PacketIndex,
    PacketKind, Time,
};

const NONE: u32 = u32::MAX;

/// Up to so many queue pairs of a NIC are searched one by one; it takes less than an index does.
const SEARCHED: u32 = 8;

/// A network interface.
#[derive(Clone, Debug)]
pub struct Nic {
    /// Its endpoint.
    pub id: EndpointId,
    /// Packets on the wire from its router, in order of arrival.
    pub wire: Fifo,
    /// Control packets that wait to be sent.
    pub control: Fifo,
    /// The queue pair whose turn is next, in a ring of those that have something to send.
    turn: u32,
    /// Queue pairs in that ring.
    pairs: u32,
    /// Whether the queue pairs of this NIC are in the index.
    indexed: bool,
    /// Number of the next message.
    pub next_message: u32,
    /// Number of the next packet.
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
            control: Fifo::EMPTY,
            turn: NONE,
            pairs: 0,
            indexed: false,
            next_message: 0,
            next_packet: 0,
            vc: 0,
        }
    }

    /// True if nothing waits to be sent.
    pub fn is_idle(&self) -> bool {
        self.turn == NONE && self.control.is_empty()
    }
}

/// A send queue for one destination. Exists from its first message until it is empty.
#[derive(Clone, Copy, Debug)]
struct QueuePair {
    destination: EndpointId,
    first: u32,
    last: u32,
    next: u32,
    before: u32,
}

/// A message that is being sent.
#[derive(Clone, Copy, Debug)]
struct Message {
    generated: Time,
    bits: u64,
    left: u64,
    number: u32,
    job: u16,
    next: u32,
}

/// The queue pairs and messages of a domain's NICs.
#[derive(Debug, Default)]
pub struct SendQueues {
    pairs: Slots<QueuePair>,
    free_pairs: Vec<u32>,
    messages: Slots<Message>,
    free_messages: Vec<u32>,
    /// (NIC, destination) → queue pair, for NICs with many.
    index: rustc_hash::FxHashMap<(u32, EndpointId), u32>,
}

impl SendQueues {
    /// Adds a message to the queue pair of a NIC and a destination.
    fn add(&mut self, nic: u32, state: &mut Nic, destination: EndpointId, message: Message) {
        let at = match self.free_messages.pop() {
            Some(at) => {
                self.messages[at as usize] = message;
                at
            }
            None => {
                self.messages.push(message);
                (self.messages.len() - 1) as u32
            }
        };
        if let Some(pair) = self.find_pair(nic, state, destination) {
            let last = std::mem::replace(&mut self.pairs[pair as usize].last, at);
            self.messages[last as usize].next = at;
            return;
        }
        let pair = self.add_pair(QueuePair {
            destination,
            first: at,
            last: at,
            next: NONE,
            before: NONE,
        });
        if state.turn == NONE {
            state.turn = pair;
            self.pairs[pair as usize].next = pair;
            self.pairs[pair as usize].before = pair;
        } else {
            let next = state.turn;
            let before = std::mem::replace(&mut self.pairs[next as usize].before, pair);
            self.pairs[before as usize].next = pair;
            self.pairs[pair as usize].next = next;
            self.pairs[pair as usize].before = before;
        }
        state.pairs += 1;
        if state.indexed {
            self.index.insert((nic, destination), pair);
        } else if state.pairs > SEARCHED {
            self.index_all(nic, state);
        }
    }

    /// The queue pair for a destination, if there is one: by search among a few, through the index among many.
    fn find_pair(&self, nic: u32, state: &Nic, destination: EndpointId) -> Option<u32> {
        if state.indexed {
            return self.index.get(&(nic, destination)).copied();
        }
        let mut at = state.turn;
        for _ in 0..state.pairs {
            let pair = &self.pairs[at as usize];
            if pair.destination == destination {
                return Some(at);
            }
            at = pair.next;
        }
        None
    }

    fn index_all(&mut self, nic: u32, state: &mut Nic) {
        state.indexed = true;
        let mut at = state.turn;
        for _ in 0..state.pairs {
            let pair = &self.pairs[at as usize];
            self.index.insert((nic, pair.destination), at);
            at = pair.next;
        }
    }

    fn add_pair(&mut self, pair: QueuePair) -> u32 {
        match self.free_pairs.pop() {
            Some(at) => {
                self.pairs[at as usize] = pair;
                at
            }
            None => {
                self.pairs.push(pair);
                (self.pairs.len() - 1) as u32
            }
        }
    }

    /// Takes `payload` bits of the message whose turn it is, and passes the turn on.
    fn take(&mut self, nic: u32, state: &mut Nic, payload: u64) {
        let at = state.turn;
        let pair = self.pairs[at as usize];
        state.turn = pair.next;
        let message = &mut self.messages[pair.first as usize];
        message.left -= payload;
        if message.left > 0 {
            return;
        }
        let next = message.next;
        self.free_messages.push(pair.first);
        self.pairs[at as usize].first = next;
        if next != NONE {
            return;
        }
        if state.indexed {
            self.index.remove(&(nic, pair.destination));
        }
        state.pairs -= 1;
        state.indexed &= state.pairs > 0;
        self.free_pairs.push(at);
        if pair.next == at {
            state.turn = NONE;
        } else {
            self.pairs[pair.before as usize].next = pair.next;
            self.pairs[pair.next as usize].before = pair.before;
        }
    }

    /// Messages that are not wholly sent.
    pub fn messages_waiting(&self) -> usize {
        self.messages.len() - self.free_messages.len()
    }

    /// Bytes of memory held.
    pub fn memory_bytes(&self) -> usize {
        self.pairs.capacity() * size_of::<QueuePair>()
            + self.messages.capacity() * size_of::<Message>()
            + (self.free_pairs.capacity() + self.free_messages.capacity()) * 4
            + self.index.capacity() * 24
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
}

impl FabricDomain {
    /// Hands a message to a NIC.
    pub(super) fn submit(&mut self, new: NewMessage, now: Time) {
        let nic = &mut self.nics[new.nic as usize];
        let number = nic.next_message;
        nic.next_message = number.wrapping_add(1);
        let NewMessage {
            destination,
            bits,
            job,
            ..
        } = new;
        let message = Message {
            generated: now,
            bits,
            left: bits,
            number,
            job,
            next: NONE,
        };
        self.sends.add(new.nic, nic, destination, message);
        self.stats.generated(job, bits, now);
        self.kick_nic(new.nic, now);
    }

    /// Looks at a NIC that has got something to send, unless it is busy or waiting already.
    fn kick_nic(&mut self, nic: u32, now: Time) {
        let output = self.first_nic_output + nic;
        let out = &self.outputs[output as usize];
        if out.link_free > now {
            let time = out.link_free;
            self.wake_link(output, time);
        } else if out.link_wake > now {
            self.serve_nic(nic, now);
        }
    }

    /// Sends the next packet of a NIC: control first, then the queue pair whose turn it is.
    pub(super) fn serve_nic(&mut self, nic: u32, now: Time) {
        let output = self.first_nic_output + nic;
        if self.outputs[output as usize].link_free > now {
            let time = self.outputs[output as usize].link_free;
            self.wake_link(output, time);
            return;
        }
        let mut again = NEVER;
        let control = self.nics[nic as usize].control.head;
        if control != NO_PACKET {
            let flits = self.pool.get(control).flits;
            match self.injection_vc(output, CLASS_CONTROL, flits, now) {
                Ok(vc) => {
                    self.nics[nic as usize].control.pop(&self.pool);
                    self.inject(control, nic, vc, now);
                    return self.after_injection(nic, output, now);
                }
                Err(time) => again = again.min(time),
            }
        }
        let turn = self.nics[nic as usize].turn;
        if turn != NONE {
            let (index, flits, payload) = self.next_packet(turn);
            match self.injection_vc(output, CLASS_DATA, flits, now) {
                Ok(vc) => {
                    let index = self.build_packet(nic, index, flits, payload, now);
                    self.sends.take(nic, &mut self.nics[nic as usize], payload);
                    self.inject(index, nic, vc, now);
                    return self.after_injection(nic, output, now);
                }
                Err(time) => again = again.min(time),
            }
        }
        if !self.nics[nic as usize].is_idle() {
            self.outputs[output as usize].stall(now);
            self.wake_link(output, again);
        }
    }

    fn after_injection(&mut self, nic: u32, output: u32, now: Time) {
        let out = &mut self.outputs[output as usize];
        out.unstall(now);
        if !self.nics[nic as usize].is_idle() {
            let time = out.link_free;
            self.wake_link(output, time);
        }
    }

    /// A virtual channel with credits for a packet, in turn; or when to look again.
    fn injection_vc(&mut self, output: u32, class: u8, flits: u16, now: Time) -> Result<u8, Time> {
        let out = &self.outputs[output as usize];
        let last = self.nics[(output - self.first_nic_output) as usize].vc;
        let mut again = NEVER;
        for step in 1..=out.vcs {
            let turn = last + step;
            let vc = class * out.vcs + if turn < out.vcs { turn } else { turn - out.vcs };
            let channel = out.channel_base as usize + usize::from(vc);
            let home = channel - self.channels[channel].share as usize;
            let credit = &mut self.channels[home].credit;
            credit.collect(&mut self.credits, now);
            if credit.available >= u32::from(flits) {
                return Ok(vc);
            }
            again = again.min(credit.enough_at(&self.credits, u32::from(flits)));
        }
        Err(again)
    }

    /// The message, flits and payload bits of the next packet of a queue pair.
    fn next_packet(&self, pair: u32) -> (u32, u16, u64) {
        let at = self.sends.pairs[pair as usize].first;
        let left = self.sends.messages[at as usize].left;
        let flit = self.network.parameters.flit;
        let most = u64::from(self.fixed.max_packet) * u64::from(flit.0);
        let payload = left.min(most);
        (at, flit.flits(payload) as u16, payload)
    }

    fn build_packet(
        &mut self,
        nic: u32,
        message: u32,
        flits: u16,
        payload: u64,
        now: Time,
    ) -> PacketIndex {
        let state = &self.nics[nic as usize];
        let destination = self.sends.pairs[state.turn as usize].destination;
        let message = &self.sends.messages[message as usize];
        let origin = Origin {
            generated: message.generated,
            message_bits: message.bits,
            payload_bits: payload as u32,
            source: state.id,
            message: message.number,
            sequence: 0,
            job: message.job,
            kind: PacketKind::Data as u8,
            spare: [0; 5],
        };
        let packet = self.blank_packet(destination, CLASS_DATA, flits, now);
        self.pool.insert(packet, origin)
    }

    fn blank_packet(&self, destination: EndpointId, class: u8, flits: u16, now: Time) -> Packet {
        let control = u8::from(class != CLASS_DATA);
        Packet {
            head: now,
            tail_lag: 0,
            next: NO_PACKET,
            flight: Flight {
                destination,
                via: 0,
                phase: 0,
                steps: 0,
                control,
                vc: 0,
            },
            flits,
            out_port: 0,
            out_vc: 0,
            in_vc: 0,
            class,
            flags: 0,
            routers: 0,
            spare: 0,
            injected: now,
        }
    }

    /// A head leaves its NIC.
    fn inject(&mut self, index: PacketIndex, nic: u32, vc: u8, now: Time) {
        let state = &mut self.nics[nic as usize];
        let sequence = state.next_packet;
        state.next_packet = sequence.wrapping_add(1);
        let output = self.first_nic_output + nic;
        state.vc = vc - self.pool.get(index).class * self.outputs[output as usize].vcs;
        let packet = self.pool.get_mut(index);
        packet.out_vc = vc;
        packet.head = now;
        packet.injected = now;
        packet.flight.vc = state.vc;
        if self.watched == Some((state.id, sequence)) {
            packet.flags |= Packet::WATCHED;
        }
        let origin = self.pool.origin_mut(index);
        origin.sequence = sequence;
        self.stats.injected(origin, nic, now);
        self.send(index, output, now);
    }

    /// A tail is at its endpoint.
    pub(super) fn arrive_at_endpoint(&mut self, nic: u32, now: Time) {
        let Some(index) = self.nics[nic as usize].wire.pop(&self.pool) else {
            return;
        };
        let packet = *self.pool.get(index);
        let origin = *self.pool.origin(index);
        self.pool.remove(index);
        self.stats.delivered(&packet, &origin, now);
        if origin.kind != PacketKind::Data as u8 {
            return;
        }
        if self.reassemble(&origin, packet.flight.destination) {
            self.stats
                .received(&origin, packet.flight.destination, nic, now);
        }
        if self.fixed.acknowledge {
            let reply = Origin {
                source: packet.flight.destination,
                payload_bits: 0,
                kind: PacketKind::Ack as u8,
                ..origin
            };
            let ack = self.blank_packet(origin.source, CLASS_CONTROL, 1, now);
            let ack = self.pool.insert(ack, reply);
            self.nics[nic as usize].control.push(&mut self.pool, ack);
            self.kick_nic(nic, now);
        }
    }

    /// True when the last packet of a message is in. Packets of one message may overtake each other.
    fn reassemble(&mut self, origin: &Origin, destination: EndpointId) -> bool {
        let payload = u64::from(origin.payload_bits);
        if payload == origin.message_bits {
            return true;
        }
        let key = (origin.source, origin.message, destination);
        let got = self.partial.entry(key).or_insert(0);
        *got += payload;
        if *got < origin.message_bits {
            return false;
        }
        self.partial.remove(&key);
        true
    }
}
