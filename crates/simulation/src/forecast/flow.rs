//! Estimated traffic of one workload.

use super::course::Course;
use super::volume::{Open, Volume};
use crate::config::WorkloadConfig;
use crate::warnings::{bandwidth, sent};
use weir_congestion::{Handshake, Scheme};
use weir_fabric::{
    Application, Drive, Network, Open as OpenLoop, PARKED_PAIR, QUEUE_PAIR, QUEUED_MESSAGE,
    TIMED_PACKET, Traffic,
};
use weir_model::{EndpointId, NEVER, Rng, Time, stream};
use weir_network::topology::Place;
use weir_workload::tasks::{Entries, OF_A_PEER, OF_A_RECEIVE, OF_A_SEND};

/// Messages of a pattern, and sizes of messages, that are drawn.
const DRAWN: usize = 4_096;
/// Minimum number of them for each of very many workloads.
const FEWEST: usize = 32;

/// Mean capacity of a list that grows by doubling, as a multiple of its content;
const DOUBLED: f64 = 1.5;
/// one that grows by a quarter;
const BY_A_QUARTER: f64 = 1.125;
/// a table besides leaves an eighth free, and has a byte for each place.
const TABLE: f64 = 8.0 / 7.0 * DOUBLED;

/// Estimated traffic of one workload, if the network carries all that its ends can send and
/// receive.
#[derive(Clone, Debug, PartialEq)]
pub struct Flow {
    /// Time when it starts, ps.
    pub start: f64,
    /// Time when it stops, ps; infinite if it continues to the end of the run, or until its program
    /// is over.
    pub stop: f64,
    /// Amount of traffic.
    pub amount: Amount,
    /// Course of an application's traffic over time.
    pub course: Course,
    /// Time of a mean message on its sender's link, ps; 0 of an application.
    pub message_time: f64,
    /// Pairs of an endpoint that sends and one that receives; of a pattern.
    pub pairs: f64,
    /// Data packets for each bit.
    pub packets_per_bit: f64,
    /// Packets for each data packet, including itself: its acknowledgement, and its part of its
    /// message's handshake.
    pub copies: f64,
    /// Packets times routers on a shortest path for each bit, with those others.
    pub hops_per_bit: f64,
    /// Bits of control packets for each bit of data, to its destination and back from there.
    pub control: [f64; 2],
    /// Memory at its source for a message, and for others that wait.
    pub held: Held,
    /// State that the tasks of an application hold of each other.
    pub open: Open,
}

/// Bytes that sources hold.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Held {
    /// For each message that waits, itself.
    pub message: f64,
    /// For each queue that one waits in.
    pub pair: f64,
    /// For each message that is under way.
    pub open: f64,
}

impl Flow {
    /// Time after its start in which the number of its messages under way still grows, ps.
    pub fn builds_up(&self) -> f64 {
        2.0 * self.message_time
    }

    /// Bytes of the tasks' knowledge of each other in the end.
    pub fn peers_bytes(&self) -> f64 {
        self.open.peers * entry(OF_A_PEER)
    }

    /// Bytes of operations started and not completed, at the worst moment: at the tasks, and at
    /// their NICs.
    pub fn started_bytes(&self) -> f64 {
        let Open {
            sends, receives, ..
        } = self.open;
        let at_nics = self.held.message + self.held.pair;
        sends * (at_nics + entry(OF_A_SEND)) + receives * entry(OF_A_RECEIVE)
    }
}

/// Bytes of an entry, with the spare room of its list and its table, and with the memory freed when
/// they grew.
fn entry(Entries { lists, tables }: Entries) -> f64 {
    /// The memory of a table before it doubled is half of the new one, and mostly of no use to
    /// others.
    const OUTGROWN: f64 = 1.5;
    DOUBLED * lists as f64 + OUTGROWN * TABLE * tables as f64
}

/// Amount that a workload sends.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Amount {
    /// A pattern: without end.
    Open {
        /// Bits generated in a ps.
        offered: f64,
        /// Bits that its receivers can take in a ps.
        accepted: f64,
        /// Mean length of a message, bits.
        message: f64,
    },
    /// An application: until its program is over.
    Closed {
        /// Bits in all.
        bits: f64,
        /// No program takes less than this, ps.
        least: f64,
    },
}

/// Receivers of the messages of a pattern.
#[derive(Default)]
pub(super) struct Receivers {
    /// Receivers that were drawn, with the number of messages to each.
    pub drawn: Vec<(EndpointId, u32)>,
    /// Number of endpoints that receive, drawn or not.
    pub count: usize,
}

impl Flow {
    /// Estimates a traffic in a run that ends at `end`; `effort`: operations of programs to examine
    /// ([`Volume::of`]). Returns the receivers of the drawn messages, too.
    pub(super) fn of(
        workload: &WorkloadConfig,
        traffic: &Traffic,
        network: &Network,
        scheme: &dyn Scheme,
        end: Time,
        effort: u64,
    ) -> (Flow, Receivers) {
        let ((mut flow, message), receivers) = match &traffic.drive {
            Drive::Pattern(open) => {
                let load = workload.pattern().map_or(0.0, |pattern| pattern.load);
                open_loop(load, open, traffic, end, network, effort)
            }
            Drive::Motif(application) => (
                application_flow(application, traffic, network, effort),
                Receivers::default(),
            ),
        };
        flow.add_control(network, scheme.handshake(message as u64), message);
        (flow, receivers)
    }

    /// Adds the packets besides data packets, for messages of a mean length in bits.
    fn add_control(&mut self, network: &Network, handshake: Handshake, message: f64) {
        let packets = (self.packets_per_bit * message).max(1.0);
        let asks = f64::from(handshake.asks) / packets;
        let answers = f64::from(handshake.answers) / packets;
        let acknowledged = f64::from(u8::from(network.parameters.acknowledge));
        self.copies = 1.0 + acknowledged + asks + answers;
        self.hops_per_bit *= self.copies;
        let flit = self.packets_per_bit * f64::from(network.parameters.flit.0);
        self.control = [flit * asks, flit * (acknowledged + answers)];
        self.held = Held {
            message: BY_A_QUARTER * QUEUED_MESSAGE as f64,
            pair: DOUBLED * QUEUE_PAIR as f64,
            open: TABLE * handshake.kept as f64,
        };
        if handshake.answers > 0 {
            // The first of each queue has asked, and waits for the time that it was given.
            let timed = packets * TIMED_PACKET as f64 + PARKED_PAIR as f64;
            self.held.pair += self.held.open + DOUBLED * timed;
        }
    }
}

impl Flow {
    /// For how long it is on until a time, both ps.
    pub fn on_until(&self, time: f64) -> f64 {
        (time.min(self.stop) - self.start).max(0.0)
    }

    /// Bits that have arrived by a time, ps, if the ends alone limit it; of an application all of
    /// them.
    pub fn bits_until(&self, time: f64) -> f64 {
        match self.amount {
            Amount::Open { accepted, .. } => accepted * self.on_until(time),
            Amount::Closed { bits, least } => bits * self.course.at((time - self.start) / least),
        }
    }
}

fn longest_bits(network: &Network) -> f64 {
    let flit = f64::from(network.parameters.flit.0);
    f64::from(network.parameters.max_packet) * flit
}

/// Bits that the link to an endpoint carries in a ps.
pub(super) fn received(network: &Network, endpoint: EndpointId) -> f64 {
    let (router, port) = network.topology.attachment(endpoint);
    network.link(Place::Router(router, port)).bandwidth.0 as f64 / 1e12
}

/// A pattern, with the mean length of its messages in bits, and their destinations.
fn open_loop(
    load: f64,
    open: &OpenLoop,
    traffic: &Traffic,
    end: Time,
    network: &Network,
    effort: u64,
) -> ((Flow, f64), Receivers) {
    let draws = (effort as usize).clamp(FEWEST, DRAWN);
    let length = match traffic.stop.min(end) {
        NEVER => 0,
        stop => stop.saturating_sub(traffic.start),
    };
    let mut rng = stream(1, &[]);
    let step = traffic.tasks.len().div_ceil(DRAWN).max(1);
    let looked = || traffic.tasks.iter().copied().step_by(step);
    let senders: Vec<EndpointId> = looked().filter(|&one| traffic.sends(one)).collect();
    let of_all = traffic.tasks.len() as f64 / looked().count().max(1) as f64;
    let carried: f64 = senders.iter().map(|&one| sent(network, one, load)).sum();
    let fastest = senders.first().map(|&one| sent(network, one, 1.0));
    // Messages without a destination are not sent.
    let mut drawn = Drawn::default();
    for at in 0..draws {
        let Some(&from) = senders.get(at % senders.len().max(1)) else {
            break;
        };
        let now = traffic.start + (length as f64 * at as f64 / draws as f64) as u64;
        drawn.message(open, from, now, network, &mut rng);
    }
    let sent = drawn.sent as f64 / drawn.messages.max(1) as f64;
    let offered = carried * of_all * sent;
    let message = open.sizes.mean_bits();
    let packets = packets_per_message(open, longest_bits(network), &mut rng) / message;
    let hops = drawn.routers / drawn.sent.max(1) as f64;
    let stop = match traffic.stop {
        NEVER => f64::INFINITY,
        stop => stop as f64,
    };
    let most = open
        .pattern
        .receivers()
        .map_or(traffic.tasks.len(), |list| list.len());
    let flow = Flow {
        start: traffic.start as f64,
        stop,
        amount: Amount::Open {
            offered,
            accepted: offered,
            message,
        },
        course: Course::default(),
        message_time: fastest.map_or(0.0, |rate| message / rate),
        pairs: senders.len() as f64 * of_all * most as f64,
        packets_per_bit: packets,
        copies: 1.0,
        hops_per_bit: packets * hops,
        control: [0.0; 2],
        held: Held::default(),
        open: Open::default(),
    };
    ((flow, message), drawn.receivers(most))
}

/// Messages that were drawn.
#[derive(Default)]
struct Drawn {
    messages: usize,
    sent: usize,
    routers: f64,
    to: Vec<EndpointId>,
}

impl Drawn {
    /// Adds one message.
    fn message(
        &mut self,
        open: &OpenLoop,
        from: EndpointId,
        now: Time,
        network: &Network,
        rng: &mut Rng,
    ) {
        self.messages += 1;
        if let Some(to) = open.pattern.destination(from, now, rng) {
            self.sent += 1;
            self.routers += f64::from(network.topology.minimal_routers(from, to));
            self.to.push(to);
        }
    }

    /// Receivers of a pattern that has at most `most` of them.
    fn receivers(mut self, most: usize) -> Receivers {
        self.to.sort_unstable();
        let chunks = self.to.chunk_by(|a, b| a == b);
        let drawn: Vec<_> = chunks.map(|same| (same[0], same.len() as u32)).collect();
        Receivers {
            count: most.max(drawn.len()),
            drawn,
        }
    }
}

fn packets_per_message(open: &OpenLoop, longest: f64, rng: &mut Rng) -> f64 {
    let packets = |bits: f64| (bits / longest).ceil().max(1.0);
    if open.sizes.largest() as f64 == open.sizes.mean_bits() {
        return packets(open.sizes.mean_bits());
    }
    let drawn = (0..DRAWN).map(|_| packets(open.sizes.draw(rng) as f64));
    drawn.sum::<f64>() / DRAWN as f64
}

/// An application, with the mean length of its messages in bits.
fn application_flow(
    application: &Application,
    traffic: &Traffic,
    network: &Network,
    effort: u64,
) -> (Flow, f64) {
    let longest = longest_bits(network);
    let topology = &network.topology;
    let weigh = |from: u32, to: u32, bytes: u64| {
        let packets = (8.0 * bytes as f64 / longest).ceil().max(1.0);
        let ends = [from, to].map(|task| traffic.tasks[task as usize]);
        if network.inside(ends).is_some() {
            return [0.0; 2];
        }
        let routers = topology.minimal_routers(ends[0], ends[1]);
        [packets, packets * f64::from(routers)]
    };
    let job = &application.job;
    // The number of runs of a background job depends on the others: one stands for that.
    let rounds = match traffic.background {
        true => 1,
        false => job.repetitions,
    };
    let (volume, steps) = Volume::of(job, rounds, effort, weigh);
    // A message of no bytes is a packet all the same.
    let bits = (8.0 * volume.bytes).max(volume.messages).max(1.0);
    let [packets, hops] = volume.weight;
    let link = traffic
        .tasks
        .first()
        .map_or(1.0, |&one| bandwidth(network, one));
    let (latency, _) = network.latency_range();
    let way = (hops / packets.max(1.0) + 1.0) * latency as f64 + network.typical().latency as f64;
    let wire = 8.0 * volume.sent.max(volume.received) / link;
    let flow = Flow {
        start: traffic.start as f64,
        stop: f64::INFINITY,
        amount: Amount::Closed {
            bits,
            least: (volume.computed + volume.waits * way).max(wire),
        },
        message_time: 0.0,
        pairs: 0.0,
        course: Course::of(&steps, f64::from(rounds), way, 8.0 / link),
        packets_per_bit: packets / bits,
        copies: 1.0,
        hops_per_bit: hops / bits,
        control: [0.0; 2],
        held: Held::default(),
        open: volume.open,
    };
    (flow, bits / volume.messages.max(1.0))
}
