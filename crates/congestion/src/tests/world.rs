//! A small network with random events: every hook that a scheme declares is called, and all its
//! answers and requests are recorded.

use super::super::testing::{Seen, at, nic};
use super::super::{About, Actions, Capabilities, PacketView, Port, Scheme};
use weir_model::{
    EndpointId, FlowStep, LinkRate, Origin, PacketKind, Rng, Signal, Stamp, Time, below, stream,
};

/// Endpoints, each with a NIC and a router's output of its number.
pub const NICS: u32 = 6;
/// Outputs: those to endpoints, and two within the network.
pub const OUTPUTS: u32 = NICS + 2;

/// A data packet.
#[derive(Clone, Debug)]
struct Data {
    origin: Origin,
    to: EndpointId,
    flits: u16,
    marked: bool,
    lossy: bool,
    header: Vec<u64>,
    output: u32,
}

/// A control packet on its way, and the header that it brings.
#[derive(Clone, Debug)]
struct Control {
    to: EndpointId,
    origin: Origin,
    header: Vec<u64>,
    marked: bool,
}

/// A message with unsent packets.
#[derive(Clone, Debug)]
struct Message {
    to: EndpointId,
    origin: Origin,
    next: u32,
    parts: u32,
}

/// The place of a timer.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum Place {
    Nic(u32),
    Output(u32),
}

/// The network and the record of its events.
#[derive(Clone)]
pub struct World {
    about: About,
    can: Capabilities,
    words: usize,
    rng: Rng,
    now: Time,
    messages: Vec<Message>,
    sent: u32,
    /// Packets on their way to an output.
    flying: Vec<Data>,
    /// Packets at an output.
    waiting: Vec<Data>,
    controls: Vec<Control>,
    signals: Vec<Signal>,
    /// NIC, flow, and header of each.
    probes: Vec<(u32, EndpointId, Vec<u64>)>,
    timers: Vec<(Time, Place, u64)>,
    pub log: Vec<String>,
}

impl World {
    pub fn new(scheme: &dyn Scheme, about: &About, seed: u64) -> World {
        World {
            about: *about,
            can: scheme.capabilities(),
            words: scheme.header_words(),
            rng: stream(seed, &[]),
            now: 0,
            messages: Vec::new(),
            sent: 0,
            flying: Vec::new(),
            waiting: Vec::new(),
            controls: Vec::new(),
            signals: Vec::new(),
            probes: Vec::new(),
            timers: Vec::new(),
            log: Vec::new(),
        }
    }

    fn chance(&mut self, n: u32) -> u32 {
        below(&mut self.rng, n)
    }

    /// Takes a random element out of a list.
    fn one<T>(&mut self, list: fn(&mut World) -> &mut Vec<T>) -> Option<T> {
        let length = list(self).len() as u32;
        let place = (length > 0).then(|| self.chance(length))?;
        Some(list(self).remove(place as usize))
    }

    fn note(&mut self, what: &str, value: impl std::fmt::Debug) {
        self.log.push(format!("{} {what} {value:?}", self.now));
    }

    /// Makes one random event happen.
    pub fn step(&mut self, scheme: &mut dyn Scheme) {
        let next = self.now + 1_000 * Time::from(1 + self.chance(60));
        self.timers.sort_unstable();
        match self.timers.first().copied() {
            Some((time, place, number)) if time <= next => {
                self.timers.remove(0);
                self.now = time.max(self.now);
                return self.timer(scheme, place, number);
            }
            _ => self.now = next,
        }
        match self.chance(12) {
            0..=1 => self.generate(scheme),
            2..=3 => self.send(scheme),
            4..=6 => self.arrive(scheme),
            7..=8 => self.depart(scheme),
            9..=10 => self.control(scheme),
            _ => {
                self.signal(scheme);
                self.probe(scheme);
            }
        }
    }

    /// Records the actions of a hook at a NIC, and carries them out.
    fn seen(&mut self, seen: Seen) {
        let doings = (&seen.controls, &seen.again, &seen.timers, &seen.rows);
        self.note("at NIC", (seen.nic, &seen.header, doings, &seen.probes));
        let place = Place::Nic(seen.nic);
        for (time, number) in seen.timers {
            self.timers.push((time, place, number));
        }
        for to in seen.probes {
            self.probes.push((seen.nic, to, seen.header.clone()));
        }
        for (to, origin) in seen.controls {
            self.add_control(to, origin, Vec::new(), false);
        }
        for (lossy, to, origin) in seen.again {
            self.flying.push(self.data(to, origin, lossy));
        }
        self.tell(seen.nic, Signal::ENDPOINT, seen.signals);
    }

    /// Records the actions of a hook at an output, and carries them out.
    fn done(&mut self, output: u32, actions: Actions) {
        let rows = (&actions.controls, &actions.timers, &actions.rows);
        self.note("at output", (output, rows));
        for (time, number) in actions.timers {
            self.timers.push((time, Place::Output(output), number));
        }
        for control in actions.controls {
            let origin = Origin {
                source: control.from,
                kind: control.kind.number(),
                ..control.origin
            };
            self.add_control(control.to, origin, Vec::new(), false);
        }
        self.tell(output, 7, actions.signals);
    }

    fn add_control(&mut self, to: EndpointId, origin: Origin, header: Vec<u64>, marked: bool) {
        assert!(to < self.about.endpoints, "address {to} is out of bounds");
        self.controls.push(Control {
            to,
            origin,
            header,
            marked,
        });
    }

    /// Signals of one hook take effect in the order of their content.
    fn tell(&mut self, from: u32, port: u16, signals: Vec<(EndpointId, u16, [u64; 2])>) {
        let signal = |(to, kind, words)| Signal {
            time: self.now,
            to,
            from,
            port,
            kind,
            spare: 0,
            words,
        };
        let mut signals: Vec<Signal> = signals.into_iter().map(signal).collect();
        signals.sort_unstable();
        for signal in signals {
            assert!(
                signal.to < self.about.endpoints,
                "address {} is out of bounds",
                signal.to
            );
            self.note("signal", signal);
            self.signals.push(signal);
        }
    }

    fn at_nic(&self, nic: u32, header: Vec<u64>) -> Seen {
        Seen {
            nic,
            header,
            ..Seen::at(self.now)
        }
    }

    fn port(&self, output: u32) -> Port {
        let there = self.waiting.iter().filter(|one| one.output == output);
        Port {
            output,
            last_hop: output < NICS,
            // Scaled up, so that few packets amount to a large backlog.
            level: 8 * there.map(|one| u32::from(one.flits)).sum::<u32>(),
            capacity: 512,
            rate: LinkRate::new(self.about.bandwidth, self.about.flit),
        }
    }

    /// A message is handed to its NIC.
    fn generate(&mut self, scheme: &mut dyn Scheme) {
        let (nic, to) = (self.chance(NICS), self.chance(NICS));
        let same = |one: &Message| (one.origin.source, one.to) == (nic, to);
        // Only one message of a flow, or of a queue pair, is first.
        let alone = self.can.announces || self.can.by_pair;
        if nic == to || alone && self.messages.iter().any(same) {
            return;
        }
        let bits = u64::from(1 + self.chance(5 * 24 * 512));
        let origin = Origin::of_message(nic, self.sent, 0, self.now, bits, Stamp::NONE);
        self.sent += 1;
        let mut seen = self.at_nic(nic, vec![0; self.words]);
        if self.can.messages {
            scheme.on_submit(&mut seen, to, &origin);
        }
        if self.can.announces {
            scheme.on_flow_start(&mut seen, to, &origin);
            self.announce(scheme, &mut seen, to, FlowStep::Start);
        }
        if self.can.reserves {
            scheme.on_message(&mut seen, to, &origin);
        }
        self.seen(seen);
        let parts = self.about.packets(bits).0 as u32;
        self.messages.push(Message {
            to,
            origin,
            next: 0,
            parts,
        });
    }

    /// A control packet travels along the path of a flow and back.
    fn announce(
        &mut self,
        scheme: &mut dyn Scheme,
        seen: &mut Seen,
        to: EndpointId,
        step: FlowStep,
    ) {
        for output in [NICS, to] {
            scheme.on_flow_packet(&self.port(output), step, &mut seen.header);
        }
        scheme.on_flow_back(seen, to, step);
    }

    /// A NIC sends the next packet of a message, if it may.
    fn send(&mut self, scheme: &mut dyn Scheme) {
        let Some(mut message) = self.one(|world| &mut world.messages) else {
            return;
        };
        let (own, to) = (message.origin.source, message.to);
        if self.can.paces {
            let ready = scheme.ready_at(own, to, self.now);
            let rate = self.can.rates.then(|| scheme.rate(nic(own), to, self.now));
            let allowed = scheme.allowed_rate(nic(own), self.now);
            self.note("may send", (own, to, ready, rate, allowed));
            if ready > self.now {
                return self.messages.push(message);
            }
        }
        let origin = Origin {
            part: message.next,
            payload_bits: self
                .about
                .payload(message.origin.message_bits, message.next)
                as u32,
            ..message.origin
        };
        message.next += 1;
        let mut seen = self.at_nic(own, vec![0; self.words]);
        let mut data = self.data(to, origin, self.can.drops);
        let tail = self.now + self.about.link_time(data.flits.into());
        scheme.on_sent(&mut seen, &view(&data), tail);
        data.header.clone_from(&seen.header);
        self.flying.push(data);
        if message.next < message.parts {
            self.messages.push(message);
        } else {
            if self.can.messages {
                scheme.on_message_sent(&mut seen, to, &message.origin);
            }
            if self.can.announces {
                scheme.on_flow_end(&mut seen, to, &message.origin);
                self.announce(scheme, &mut seen, to, FlowStep::End);
            }
        }
        self.seen(seen);
    }

    /// A data packet that leaves a NIC.
    fn data(&self, to: EndpointId, origin: Origin, lossy: bool) -> Data {
        let bits = self.about.payload(origin.message_bits, origin.part);
        Data {
            origin,
            to,
            flits: self.about.flit.flits(bits.max(1)) as u16,
            marked: false,
            lossy,
            header: vec![0; self.words],
            output: NICS + (origin.message & 1),
        }
    }

    /// A data packet reaches a router, which may drop it.
    fn arrive(&mut self, scheme: &mut dyn Scheme) {
        let Some(mut data) = self.one(|world| &mut world.flying) else {
            return;
        };
        let (view, output) = (view(&data), data.output);
        let mut actions = Actions {
            recorded: u32::MAX,
            ..Actions::default()
        };
        if data.lossy {
            let limit = scheme.queueing_limit(&self.port(output));
            self.note("limit", limit);
            if limit == 0 || self.chance(8) == 0 {
                let mut port = at(&mut actions, self.port(output), self.now);
                scheme.on_drop(&mut port, &view, &data.origin);
                return self.done(output, actions);
            }
        }
        self.waiting.push(data.clone());
        if self.can.observes {
            let mut port = at(&mut actions, self.port(output), self.now);
            port.header = &mut data.header;
            scheme.on_route(&mut port, &view);
        }
        self.done(output, actions);
    }

    /// A data packet leaves an output.
    fn depart(&mut self, scheme: &mut dyn Scheme) {
        let Some(mut data) = self.one(|world| &mut world.waiting) else {
            return;
        };
        let (output, port) = (data.output, self.port(data.output));
        let mut actions = Actions::default();
        if self.can.marks {
            let room = self.chance(2) == 0;
            data.marked |= scheme.mark(&port, &view(&data), room);
        }
        if self.can.stamps {
            scheme.stamp(&port, &view(&data), &mut data.header, self.now);
        }
        if self.can.observes {
            scheme.on_departure(&mut at(&mut actions, port, self.now), &view(&data));
        }
        self.note("left", &data);
        self.done(output, actions);
        if output < NICS {
            self.deliver(scheme, data);
        } else {
            data.output = data.to;
            self.flying.push(data);
        }
    }

    fn deliver(&mut self, scheme: &mut dyn Scheme, data: Data) {
        let mut seen = self.at_nic(data.to, data.header.clone());
        if self.can.receives {
            scheme.on_delivery(&mut seen, &view(&data));
        }
        self.seen(seen);
        let ack = Origin {
            source: data.to,
            kind: PacketKind::ACK.number(),
            ..data.origin
        };
        self.add_control(data.origin.source, ack, data.header, data.marked);
    }

    /// A control packet arrives: at the last router, then at the NIC.
    fn control(&mut self, scheme: &mut dyn Scheme) {
        let Some(control) = self.one(|world| &mut world.controls) else {
            return;
        };
        let (kind, nic, origin) = (PacketKind::of(&control.origin), control.to, control.origin);
        if self.can.intercepts.contains(&kind) {
            let (mut actions, port) = (Actions::default(), self.port(nic));
            let view = PacketView {
                source: origin.source,
                destination: nic,
                flits: 1,
                payload_bits: 0,
                marked: false,
            };
            let mut port = at(&mut actions, port, self.now);
            let taken = scheme.intercept(&mut port, &view, &origin);
            self.done(nic, actions);
            if taken {
                return;
            }
        }
        if self.can.listens.contains(&kind) {
            let mut seen = self.at_nic(nic, control.header);
            let own = |one: &Message| {
                let name = (one.origin.source, one.to, one.origin.message);
                name == (nic, origin.source, origin.message)
            };
            let first = self.messages.iter().position(own);
            let left = first.map_or(0..0, |first| {
                self.messages[first].next..self.messages[first].parts
            });
            seen.left = left.clone();
            scheme.on_control(&mut seen, &origin, control.marked);
            if let (Some(first), true) = (first, seen.left != left) {
                self.messages.remove(first);
            }
            self.seen(seen);
        }
    }

    fn signal(&mut self, scheme: &mut dyn Scheme) {
        let Some(signal) = self.one(|world| &mut world.signals) else {
            return;
        };
        let signal = Signal {
            time: self.now,
            ..signal
        };
        if signal.to < NICS && !scheme.absorb_signal(signal.to, &signal) {
            scheme.on_signal(signal.to, &signal);
        }
    }

    fn probe(&mut self, scheme: &mut dyn Scheme) {
        let Some((nic, to, header)) = self.one(|world| &mut world.probes) else {
            return;
        };
        let mut seen = self.at_nic(nic, header);
        self.announce(scheme, &mut seen, to, FlowStep::Probe);
        self.seen(seen);
    }

    fn timer(&mut self, scheme: &mut dyn Scheme, place: Place, number: u64) {
        match place {
            Place::Nic(nic) => {
                let mut seen = self.at_nic(nic, vec![0; self.words]);
                scheme.on_nic_timer(&mut seen, number);
                self.seen(seen);
            }
            Place::Output(output) => {
                let mut actions = Actions::default();
                scheme.on_port_timer(&mut at(&mut actions, self.port(output), self.now));
                self.done(output, actions);
            }
        }
    }
}

fn view(data: &Data) -> PacketView {
    PacketView {
        source: data.origin.source,
        destination: data.to,
        flits: data.flits,
        payload_bits: data.origin.payload_bits,
        marked: data.marked,
    }
}
