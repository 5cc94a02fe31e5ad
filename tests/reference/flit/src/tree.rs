//! A flit-level simulator of one network, cycle by cycle, that shares no code with weir: the 4-ary
//! 3-tree of 64 nodes with input-queued routers of four virtual channels and packets of one flit,
//! as in `fattree_k4n3_nca_uniform_p1.csv`. It measures the cost of the allocators of a flit-level
//! router; each detail can be left out.
//!
//! A flit at the head of its virtual channel asks for one of the virtual channels of its output (a
//! cycle); then for the crossbar (a cycle), which it takes a cycle to cross. Both allocators are
//! separable, input first: each input picks one of its requests, each output one of the inputs that
//! picked it, both in turn. Another round uses the rest.

use std::collections::VecDeque;

use rand_core::{Rng as _, SeedableRng};
use rand_xoshiro::SplitMix64;

const K: usize = 4;
const LEAVES: usize = 16;
const NODES: usize = K * LEAVES;
const ROUTERS: usize = 3 * LEAVES;
const PORTS: usize = 2 * K;
const VCS: usize = 4;
const BUFFER: usize = 16;
/// A router's own time in the return path of a credit, and the link's.
const CREDIT: u64 = 2 + 1;
/// Longer than any delay.
const RING: usize = 16;

/// Details of a flit-level router.
#[derive(Clone, Copy)]
pub struct Details {
    /// Rounds of both allocators. With one round per port nothing is left that could be matched.
    pub rounds: usize,
    /// A packet asks for its virtual channel when the one before it in its queue has gone, which
    /// takes a cycle; otherwise it has got it by then.
    pub gap: bool,
}

/// Cycles, a mean over the packets generated in the window; and flits per node and cycle.
pub struct Measured {
    pub packet_latency: f64,
    pub accepted: f64,
}

#[derive(Clone, Copy)]
struct Flit {
    destination: usize,
    generated: u64,
}

#[derive(Clone, Copy, PartialEq)]
enum State {
    Idle,
    /// For a virtual channel of a port.
    Asks(usize),
    /// It has that one.
    Has(usize, usize),
}

#[derive(Clone)]
struct Input {
    flits: VecDeque<Flit>,
    state: State,
    turn: usize,
}

#[derive(Clone)]
struct Output {
    taken: bool,
    credit: usize,
    turn: usize,
}

#[derive(Clone)]
struct Router {
    inputs: Vec<Input>,
    outputs: Vec<Output>,
    /// The turns of the crossbar's allocator: the channel of an input, the output, and the input
    /// that are examined first.
    channel_turn: [usize; PORTS],
    input_turn: [usize; PORTS],
    output_turn: [usize; PORTS],
}

#[derive(Clone, Default)]
struct Node {
    queue: VecDeque<Flit>,
    used: [usize; VCS],
    turn: usize,
}

enum Arrival {
    Flit(usize, usize, usize, Flit),
    Ejected(Flit),
    Credit(usize, usize, usize),
    NodeCredit(usize, usize),
}

/// The whole network.
pub struct Network {
    details: Details,
    /// Cycles of warm-up, then as many measured.
    window: u64,
    chance: f64,
    random: SplitMix64,
    routers: Vec<Router>,
    nodes: Vec<Node>,
    ring: Vec<Vec<Arrival>>,
    cycle: u64,
    count: u64,
    latency: u64,
    ejected: u64,
}

/// A leaf's or router's digit.
fn digit(of: usize, level: usize) -> usize {
    of / K.pow(level as u32) % K
}

/// The number with its digit of a level replaced.
fn with_digit(of: usize, level: usize, digit_there: usize) -> usize {
    let place = K.pow(level as u32);
    of + digit_there * place - digit(of, level) * place
}

/// The router and its port behind a port of a router; ports up follow ports down. None: an
/// endpoint.
fn peer(router: usize, port: usize) -> Option<(usize, usize)> {
    let (level, at) = (router / LEAVES, router % LEAVES);
    if port < K {
        let below = level.checked_sub(1)?;
        let there = below * LEAVES + with_digit(at, below, port);
        return Some((there, K + digit(at, below)));
    }
    let there = (level + 1) * LEAVES + with_digit(at, level, port - K);
    Some((there, digit(at, level)))
}

impl Network {
    pub fn new(load: f64, seed: u64, details: Details, window: u64) -> Network {
        let input = Input {
            flits: VecDeque::new(),
            state: State::Idle,
            turn: 0,
        };
        let output = Output {
            taken: false,
            credit: BUFFER,
            turn: 0,
        };
        let router = Router {
            inputs: vec![input; PORTS * VCS],
            outputs: vec![output; PORTS * VCS],
            channel_turn: [0; PORTS],
            input_turn: [0; PORTS],
            output_turn: [0; PORTS],
        };
        Network {
            details,
            window,
            chance: load,
            random: SplitMix64::seed_from_u64(seed),
            routers: vec![router; ROUTERS],
            nodes: vec![Node::default(); NODES],
            ring: (0..RING).map(|_| Vec::new()).collect(),
            cycle: 0,
            count: 0,
            latency: 0,
            ejected: 0,
        }
    }

    /// A random number below `below`.
    fn draw(&mut self, below: usize) -> usize {
        ((u128::from(self.random.next_u64()) * below as u128) >> 64) as usize
    }

    /// Until all packets that were generated in the window have arrived.
    pub fn run(mut self) -> Measured {
        let measured = self.window..2 * self.window;
        let mut sampled = 0;
        while self.cycle < measured.end || self.count < sampled {
            self.arrivals();
            for node in 0..NODES {
                if (self.draw(1 << 53) as f64) < self.chance * (1u64 << 53) as f64 {
                    let flit = Flit {
                        destination: self.draw(NODES),
                        generated: self.cycle,
                    };
                    self.nodes[node].queue.push_back(flit);
                    sampled += u64::from(measured.contains(&self.cycle));
                }
                self.inject(node);
            }
            for router in 0..ROUTERS {
                // Both see the state at the beginning of the cycle.
                let granted = self.channels(router);
                self.crossbar(router);
                self.take(router, granted);
                if !self.details.gap {
                    let granted = self.channels(router);
                    self.take(router, granted);
                }
            }
            self.cycle += 1;
        }
        Measured {
            packet_latency: self.latency as f64 / self.count as f64,
            accepted: self.ejected as f64 / (NODES as u64 * self.window) as f64,
        }
    }

    fn post(&mut self, after: u64, arrival: Arrival) {
        self.ring[(self.cycle + after) as usize % RING].push(arrival);
    }

    fn arrivals(&mut self) {
        let measured = self.window..2 * self.window;
        for arrival in std::mem::take(&mut self.ring[self.cycle as usize % RING]) {
            match arrival {
                Arrival::Credit(router, port, vc) => {
                    self.routers[router].outputs[port * VCS + vc].credit += 1;
                }
                Arrival::NodeCredit(node, vc) => self.nodes[node].used[vc] -= 1,
                Arrival::Flit(router, port, vc, flit) => {
                    let input = port * VCS + vc;
                    self.routers[router].inputs[input].flits.push_back(flit);
                    self.look(router, input);
                }
                Arrival::Ejected(flit) => {
                    self.ejected += u64::from(measured.contains(&self.cycle));
                    if measured.contains(&flit.generated) {
                        self.count += 1;
                        self.latency += self.cycle - flit.generated;
                    }
                }
            }
        }
    }

    /// The first flit of a channel that is idle asks for its output: a random one on the path up.
    fn look(&mut self, router: usize, at: usize) {
        let input = &self.routers[router].inputs[at];
        let (State::Idle, Some(flit)) = (input.state, input.flits.front()) else {
            return;
        };
        let (level, here, leaf) = (router / LEAVES, router % LEAVES, flit.destination / K);
        let below = (level..2).all(|level| digit(here, level) == digit(leaf, level));
        let port = match (below, level) {
            (true, 0) => flit.destination % K,
            (true, _) => digit(leaf, level - 1),
            (false, _) => K + self.draw(K),
        };
        self.routers[router].inputs[at].state = State::Asks(port);
    }

    fn inject(&mut self, node: usize) {
        let state = &mut self.nodes[node];
        let mut channels = (0..VCS).map(|vc| (state.turn + vc) % VCS);
        let Some(vc) = channels.find(|&vc| state.used[vc] < BUFFER) else {
            return;
        };
        if let Some(flit) = state.queue.pop_front() {
            state.used[vc] += 1;
            state.turn = vc + 1;
            // A cycle in the node's pipeline, a cycle on the link.
            self.post(2, Arrival::Flit(node / K, node % K, vc, flit));
        }
    }

    /// Allocates free virtual channels of outputs to inputs that ask.
    fn channels(&mut self, router: usize) -> Vec<(usize, State)> {
        let state = &mut self.routers[router];
        let mut granted = Vec::new();
        for _ in 0..self.details.rounds {
            let mut best: [Option<(usize, usize)>; PORTS * VCS] = [None; PORTS * VCS];
            for (at, input) in state.inputs.iter().enumerate() {
                let State::Asks(port) = input.state else {
                    continue;
                };
                if granted.iter().any(|&(other, _)| other == at) {
                    continue;
                }
                // In turn among all channels of all outputs: of a port above or below the last one
                // its first.
                let free = (0..VCS)
                    .map(|vc| port * VCS + vc)
                    .filter(|&output| !state.outputs[output].taken);
                let turn = |output: &usize| (output + PORTS * VCS - input.turn) % (PORTS * VCS);
                let Some(output) = free.min_by_key(turn) else {
                    continue;
                };
                let rank = (at + PORTS * VCS - state.outputs[output].turn) % (PORTS * VCS);
                if best[output].is_none_or(|(other, _)| rank < other) {
                    best[output] = Some((rank, at));
                }
            }
            for (output, best) in best.into_iter().enumerate() {
                let Some((_, at)) = best else {
                    continue;
                };
                let (port, vc) = (output / VCS, output % VCS);
                state.outputs[output].taken = true;
                state.outputs[output].turn = at + 1;
                state.inputs[at].turn = output + 1;
                granted.push((at, State::Has(port, vc)));
            }
        }
        granted
    }

    fn take(&mut self, router: usize, granted: Vec<(usize, State)>) {
        for (at, state) in granted {
            self.routers[router].inputs[at].state = state;
        }
    }

    fn crossbar(&mut self, router: usize) {
        let state = &self.routers[router];
        // Requests of each input to each output: the first of its channels in turn.
        let mut asks = [[None; PORTS]; PORTS];
        for (input, asks) in asks.iter_mut().enumerate() {
            for channel in 0..VCS {
                let at = input * VCS + (state.channel_turn[input] + channel) % VCS;
                if let State::Has(port, vc) = state.inputs[at].state {
                    let ejects = router < LEAVES && port < K;
                    let ready = ejects || state.outputs[port * VCS + vc].credit > 0;
                    if ready && asks[port].is_none() {
                        asks[port] = Some(at);
                    }
                }
            }
        }
        let (mut inputs, mut outputs) = ([false; PORTS], [false; PORTS]);
        for _ in 0..self.details.rounds {
            let state = &self.routers[router];
            let mut best: [Option<(usize, usize)>; PORTS] = [None; PORTS];
            for input in (0..PORTS).filter(|&input| !inputs[input]) {
                let mut wanted =
                    (0..PORTS).map(|output| (state.input_turn[input] + output) % PORTS);
                let Some(output) =
                    wanted.find(|&output| asks[input][output].is_some() && !outputs[output])
                else {
                    continue;
                };
                let rank = (input + PORTS - state.output_turn[output]) % PORTS;
                if best[output].is_none_or(|(other, _)| rank < other) {
                    best[output] = Some((rank, input));
                }
            }
            for (output, best) in best.into_iter().enumerate() {
                let Some((_, input)) = best else {
                    continue;
                };
                (inputs[input], outputs[output]) = (true, true);
                if let Some(at) = asks[input][output] {
                    self.cross(router, at);
                }
            }
        }
    }

    fn cross(&mut self, router: usize, at: usize) {
        let state = &mut self.routers[router];
        let input = &mut state.inputs[at];
        let State::Has(port, vc) = input.state else {
            return;
        };
        let flit = input.flits.pop_front().expect("a flit is ready");
        input.state = State::Idle;
        let (from, channel) = (at / VCS, at % VCS);
        state.channel_turn[from] = channel + 1;
        state.input_turn[from] = port + 1;
        state.output_turn[port] = from + 1;
        let output = &mut state.outputs[port * VCS + vc];
        output.taken = false;
        // Crossing, the output, the link.
        let there = peer(router, port);
        match there {
            None => self.post(3, Arrival::Ejected(flit)),
            Some((there, port)) => {
                output.credit -= 1;
                self.post(3, Arrival::Flit(there, port, vc, flit));
            }
        }
        let back = match peer(router, from) {
            None => Arrival::NodeCredit(router * K + from, channel),
            Some((router, port)) => Arrival::Credit(router, port, channel),
        };
        self.post(CREDIT, back);
        self.look(router, at);
    }
}
