//! A flit-level simulator of one network, cycle by cycle, that shares no code with weir: the
//! dragonfly of 1,056 endpoints with input-queued wormhole routers, as in
//! `dragonfly1056_min_uniform_p4.csv` and `dragonfly1056_ugal_uniform_p4.csv`. It is here to say
//! which detail of a flit-level router makes which difference; each detail can be switched off
//! alone.
//!
//! Two allocation steps per cycle. An input virtual channel whose first flit is a head asks for the
//! virtual channel of its output (one step); once it has it, its flits ask for the crossbar one by
//! one (separable, input first: each input port picks one of its channels in turn, then each output
//! port one of the inputs). The tail sets the output's channel free. Output queues are unlimited
//! and feed the links at one flit per cycle.

mod allocation;

use std::collections::VecDeque;

use rand_core::{Rng as _, SeedableRng};
use rand_xoshiro::SplitMix64;

const P: usize = 4;
const A: usize = 8;
const H: usize = 4;
const ROUTERS: usize = 264;
const NODES: usize = P * ROUTERS;
const PORTS: usize = P + A - 1 + H;
const FIRST_GLOBAL: usize = P + A - 1;
/// Number of virtual channels; minimal routing has the first two.
const VCS: usize = 3;
const BUFFER: u32 = 256;
const FLITS: u32 = 4;
const STEPS: u64 = 2;
const CREDIT_DELAY: u64 = 2;
/// Cycles of warm-up, then as many measured.
const WINDOW: u64 = 750;
/// Longer than any delay.
const RING: usize = 128;

/// Details of a flit-level router.
#[derive(Clone, Copy)]
pub struct Details {
    /// A step passes between the tail of one packet and the head of the next on an output's virtual
    /// channel.
    pub gap: bool,
    /// Flits of packets on different virtual channels take turns; otherwise a packet continues once
    /// it has begun.
    pub interleave: bool,
}

/// Routing of packets.
#[derive(Clone, Copy, PartialEq)]
pub enum Way {
    /// Local, global, local: channel 1 from the global link on.
    Minimal,
    /// UGAL-L by the used credits of ports, decided when the head leaves its node. The channel is
    /// the phase: 0 on the way to a random router, 1 to the last global link, 2 from there on and
    /// inside a group.
    Ugal,
}

/// Whom nodes send to.
#[derive(Clone, Copy, PartialEq)]
pub enum Traffic {
    /// Any node.
    Uniform,
    /// Any node of the next group.
    Adversarial,
}

/// Cycles, means over the packets generated in the window; and flits per node and cycle.
pub struct Measured {
    pub packet_latency: f64,
    pub network_latency: f64,
    pub accepted: f64,
}

#[derive(Clone, Copy)]
struct Flit {
    packet: usize,
    number: u32,
    /// The step from which it may be allocated, or the cycle from which it may leave.
    from: u64,
}

struct Packet {
    source: usize,
    destination: usize,
    generated: u64,
    injected: u64,
    phase: usize,
    /// A router.
    via: usize,
}

#[derive(Clone, Copy, PartialEq)]
enum State {
    Idle,
    /// A head waits for the output's virtual channel.
    Asks,
    /// It has it.
    Active,
}

#[derive(Clone)]
struct Input {
    flits: VecDeque<Flit>,
    state: State,
    /// The step from which the state counts.
    from: u64,
    port: usize,
    vc: usize,
    /// A packet is half through.
    half: bool,
}

#[derive(Clone)]
struct Output {
    taken: bool,
    credit: u32,
    turn: usize,
}

struct Router {
    inputs: Vec<Input>,
    outputs: Vec<Output>,
    input_turn: [usize; PORTS],
    output_turn: [usize; PORTS],
    queues: Vec<VecDeque<(Flit, usize)>>,
}

#[derive(Default)]
struct Node {
    queue: VecDeque<usize>,
    sent: u32,
    vc: usize,
    used: [u32; VCS],
}

enum Arrival {
    Flit {
        router: usize,
        port: usize,
        vc: usize,
        flit: Flit,
    },
    Ejected(Flit),
    Credit {
        router: usize,
        port: usize,
        vc: usize,
    },
    NodeCredit {
        node: usize,
        vc: usize,
    },
}

/// The whole network.
pub struct Network {
    details: Details,
    way: Way,
    traffic: Traffic,
    chance: f64,
    random: SplitMix64,
    packets: Vec<Packet>,
    routers: Vec<Router>,
    nodes: Vec<Node>,
    ring: Vec<Vec<Arrival>>,
    sums: [u64; 3],
    ejected: u64,
}

fn latency(port: usize) -> u64 {
    match port {
        0..P => 1,
        P..FIRST_GLOBAL => 10,
        _ => 100,
    }
}

fn local_port(from: usize, to: usize) -> usize {
    P + to % A - usize::from(to % A > from % A)
}

/// The router and port of group `from` with the link to group `to`.
fn exit(from: usize, to: usize) -> (usize, usize) {
    let link = to - usize::from(to > from);
    (from * A + link / H, FIRST_GLOBAL + link % H)
}

fn peer(router: usize, port: usize) -> (usize, usize) {
    let (group, index) = (router / A, router % A);
    if port < FIRST_GLOBAL {
        let other = port - P;
        let other = group * A + other + usize::from(other >= index);
        return (other, local_port(other, router));
    }
    let link = index * H + port - FIRST_GLOBAL;
    exit(link + usize::from(link >= group), group)
}

fn route(router: usize, destination: usize) -> usize {
    let last = destination / P;
    if last == router {
        return destination % P;
    }
    if last / A == router / A {
        return local_port(router, last);
    }
    match exit(router / A, last / A) {
        (at, port) if at == router => port,
        (at, _) => local_port(router, at),
    }
}

/// The port by which a packet leaves a router, and the channel there.
fn turn(way: Way, router: usize, packet: &mut Packet) -> (usize, usize) {
    if way == Way::Minimal {
        let port = route(router, packet.destination);
        let away = packet.source / P / A != router / A;
        return (port, usize::from(away || port >= FIRST_GLOBAL));
    }
    if packet.phase == 0 && router == packet.via {
        packet.phase = 1;
    }
    let port = match packet.phase {
        0 => route(router, packet.via * P),
        _ => route(router, packet.destination),
    };
    if packet.phase == 1 && port >= FIRST_GLOBAL {
        packet.phase = 2;
    }
    (port, packet.phase)
}

impl Network {
    pub fn new(load: f64, seed: u64, details: Details, way: Way, traffic: Traffic) -> Network {
        let input = Input {
            flits: VecDeque::new(),
            state: State::Idle,
            from: 0,
            port: 0,
            vc: 0,
            half: false,
        };
        let output = Output {
            taken: false,
            credit: BUFFER,
            turn: 0,
        };
        let router = || Router {
            inputs: vec![input.clone(); PORTS * VCS],
            outputs: vec![output.clone(); PORTS * VCS],
            input_turn: [0; PORTS],
            output_turn: [0; PORTS],
            queues: vec![VecDeque::new(); PORTS],
        };
        Network {
            details,
            way,
            traffic,
            chance: load / f64::from(FLITS),
            random: SplitMix64::seed_from_u64(seed),
            packets: Vec::new(),
            routers: (0..ROUTERS).map(|_| router()).collect(),
            nodes: (0..NODES).map(|_| Node::default()).collect(),
            ring: (0..RING).map(|_| Vec::new()).collect(),
            sums: [0; 3],
            ejected: 0,
        }
    }

    /// Until all packets that were generated in the window have arrived.
    pub fn run(mut self) -> Measured {
        let mut cycle = 0;
        let mut sampled = 0;
        while cycle < 2 * WINDOW || self.sums[0] < sampled {
            self.arrivals(cycle);
            for node in 0..NODES {
                if (self.random.next_u64() >> 11) as f64 * (0.5_f64).powi(53) < self.chance {
                    let (first, count) = match self.traffic {
                        Traffic::Uniform => (0, NODES),
                        Traffic::Adversarial => ((node / (P * A) + 1) * P * A % NODES, P * A),
                    };
                    let destination =
                        first + (((self.random.next_u64() >> 32) as usize * count) >> 32);
                    self.nodes[node].queue.push_back(self.packets.len());
                    self.packets.push(Packet {
                        source: node,
                        destination,
                        generated: cycle,
                        injected: 0,
                        phase: 0,
                        via: 0,
                    });
                    sampled += u64::from((WINDOW..2 * WINDOW).contains(&cycle));
                }
                self.inject(node, cycle);
            }
            for router in 0..ROUTERS {
                for step in STEPS * cycle..STEPS * (cycle + 1) {
                    self.allocate(router, step);
                }
                self.send(router, cycle);
            }
            cycle += 1;
        }
        let [count, latency, network] = self.sums.map(|sum| sum as f64);
        Measured {
            packet_latency: latency / count,
            network_latency: network / count,
            accepted: self.ejected as f64 / (NODES as u64 * WINDOW) as f64,
        }
    }

    fn post(&mut self, cycle: u64, arrival: Arrival) {
        self.ring[cycle as usize % RING].push(arrival);
    }

    fn arrivals(&mut self, cycle: u64) {
        let measured = WINDOW..2 * WINDOW;
        for arrival in std::mem::take(&mut self.ring[cycle as usize % RING]) {
            match arrival {
                Arrival::Credit { router, port, vc } => {
                    self.routers[router].outputs[port * VCS + vc].credit += 1
                }
                Arrival::NodeCredit { node, vc } => self.nodes[node].used[vc] -= 1,
                Arrival::Flit {
                    router,
                    port,
                    vc,
                    flit,
                } => {
                    let from = STEPS * cycle;
                    let input = &mut self.routers[router].inputs[port * VCS + vc];
                    input.flits.push_back(Flit { from, ..flit });
                    if input.state == State::Idle {
                        let (port, vc) = turn(self.way, router, &mut self.packets[flit.packet]);
                        (input.state, input.from) = (State::Asks, from);
                        (input.port, input.vc) = (port, vc);
                    }
                }
                Arrival::Ejected(flit) => {
                    self.ejected += u64::from(measured.contains(&cycle));
                    let packet = &self.packets[flit.packet];
                    if flit.number == FLITS - 1 && measured.contains(&packet.generated) {
                        let taken = [1, cycle - packet.generated, cycle - packet.injected];
                        self.sums
                            .iter_mut()
                            .zip(taken)
                            .for_each(|(sum, more)| *sum += more);
                    }
                }
            }
        }
    }

    fn inject(&mut self, node: usize, cycle: u64) {
        let Some(&packet) = self.nodes[node].queue.front() else {
            return;
        };
        if self.nodes[node].sent == 0 {
            self.nodes[node].vc = match self.way {
                Way::Minimal => (self.random.next_u64() >> 63) as usize,
                Way::Ugal => ((self.random.next_u64() >> 32) as usize * VCS) >> 32,
            };
        }
        let state = &mut self.nodes[node];
        let (vc, number) = (state.vc, state.sent);
        if state.used[vc] == BUFFER {
            return;
        }
        state.used[vc] += 1;
        state.sent = (number + 1) % FLITS;
        if state.sent == 0 {
            state.queue.pop_front();
        }
        if number == 0 {
            self.packets[packet].injected = cycle;
            if self.way == Way::Ugal {
                self.decide(packet);
            }
        }
        let flit = Flit {
            packet,
            number,
            from: 0,
        };
        // A cycle in the node's pipeline, a cycle on the link.
        self.post(
            cycle + 2,
            Arrival::Flit {
                router: node / P,
                port: node % P,
                vc,
                flit,
            },
        );
    }

    /// Minimal, or through a random router.
    fn decide(&mut self, packet: usize) {
        let via = ((self.random.next_u64() >> 32) as usize * NODES) >> 32;
        let Packet {
            source,
            destination,
            ..
        } = self.packets[packet];
        let router = source / P;
        let used = |to: usize| -> u32 {
            let port = route(router, to);
            let outputs = &self.routers[router].outputs[port * VCS..(port + 1) * VCS];
            outputs.iter().map(|output| BUFFER - output.credit).sum()
        };
        let group = |node: usize| node / P / A;
        let phase = if group(destination) == group(source) {
            2
        } else if group(via) == group(source) || used(destination) <= 2 * used(via) + 30 {
            1
        } else {
            0
        };
        (self.packets[packet].phase, self.packets[packet].via) = (phase, via / P);
    }

    /// One flit onto each link.
    fn send(&mut self, router: usize, cycle: u64) {
        for port in 0..PORTS {
            let queue = &mut self.routers[router].queues[port];
            if queue.front().is_none_or(|(flit, _)| flit.from > cycle + 1) {
                continue;
            }
            let Some((flit, vc)) = queue.pop_front() else {
                continue;
            };
            let there = cycle + 1 + latency(port);
            if port < P {
                self.post(there, Arrival::Ejected(flit));
            } else {
                let (router, port) = peer(router, port);
                self.post(
                    there,
                    Arrival::Flit {
                        router,
                        port,
                        vc,
                        flit,
                    },
                );
            }
        }
    }
}
