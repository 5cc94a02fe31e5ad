//! Allocation of the virtual channels and of the crossbar of a router.

use super::{
    Arrival, CREDIT_DELAY, FLITS, Flit, Network, P, PORTS, STEPS, State, VCS, latency, peer, turn,
};

impl Network {
    pub(super) fn allocate(&mut self, router: usize, step: u64) {
        let mut granted = self.channels(router, step, step);
        self.crossbar(router, step);
        if !self.details.gap {
            // Channels whose tail has just gone are given on at once.
            granted.extend(self.channels(router, step, step + 1));
        }
        for at in granted {
            let input = &mut self.routers[router].inputs[at];
            (input.state, input.from) = (State::Active, step + 1);
        }
    }

    /// Allocates free virtual channels of outputs to inputs that have asked since `asked` or
    /// before, in turn.
    fn channels(&mut self, router: usize, step: u64, asked: u64) -> Vec<usize> {
        let mut granted: Vec<usize> = Vec::new();
        let mut best: [Option<(usize, usize)>; PORTS * VCS] = [None; PORTS * VCS];
        let state = &mut self.routers[router];
        for (at, input) in state.inputs.iter().enumerate() {
            let Some(flit) = input.flits.front() else {
                continue;
            };
            if input.state != State::Asks || input.from > asked || flit.from > step {
                continue;
            }
            let output = input.port * VCS + input.vc;
            let rank = (at + PORTS * VCS - state.outputs[output].turn) % (PORTS * VCS);
            if !state.outputs[output].taken && best[output].is_none_or(|(other, _)| rank < other) {
                best[output] = Some((rank, at));
            }
        }
        for (output, best) in best.into_iter().enumerate() {
            if let Some((_, at)) = best {
                state.outputs[output].taken = true;
                state.outputs[output].turn = at + 1;
                state.inputs[at].state = State::Idle;
                granted.push(at);
            }
        }
        granted
    }

    fn crossbar(&mut self, router: usize, step: u64) {
        let keep = !self.details.interleave;
        let mut best: [Option<(usize, usize)>; PORTS] = [None; PORTS];
        let state = &self.routers[router];
        for port in 0..PORTS {
            let ready = |&at: &usize| {
                let input = &state.inputs[at];
                let credit = state.outputs[input.port * VCS + input.vc].credit;
                let flit = input.flits.front().is_some_and(|flit| flit.from <= step);
                input.state == State::Active
                    && input.from <= step
                    && flit
                    && (input.port < P || credit > 0)
            };
            let turn = |vc| port * VCS + (state.input_turn[port] + vc) % VCS;
            let begun = (0..VCS)
                .map(turn)
                .filter(|&at| keep && state.inputs[at].half);
            let Some(at) = begun.chain((0..VCS).map(turn)).find(ready) else {
                continue;
            };
            let output = state.inputs[at].port;
            let rank = match keep && state.inputs[at].half {
                true => 0,
                false => 1 + (port + PORTS - state.output_turn[output]) % PORTS,
            };
            if best[output].is_none_or(|(other, _)| rank < other) {
                best[output] = Some((rank, at));
            }
        }
        for at in best.into_iter().flatten().map(|(_, at)| at) {
            self.cross(router, at, step);
        }
    }

    fn cross(&mut self, router: usize, at: usize, step: u64) {
        let (port, cycle) = (at / VCS, step / STEPS);
        let state = &mut self.routers[router];
        let input = &mut state.inputs[at];
        let flit = input.flits.pop_front().expect("a flit is ready");
        let (out, tail) = (input.port, flit.number == FLITS - 1);
        let output = &mut state.outputs[out * VCS + input.vc];
        if out >= P {
            output.credit -= 1;
        }
        // A step to cross, then the next cycle.
        let from = (step + 1) / STEPS + 1;
        state.queues[out].push_back((Flit { from, ..flit }, input.vc));
        state.input_turn[port] = at + 1;
        state.output_turn[out] = port + 1;
        input.half = !tail;
        if tail {
            output.taken = false;
            (input.state, input.from) = (State::Idle, step + 1);
            if let Some(next) = input.flits.front() {
                input.state = State::Asks;
                let packet = &mut self.packets[next.packet];
                (input.port, input.vc) = turn(self.way, router, packet);
            }
        }
        let back = cycle + latency(port) + CREDIT_DELAY;
        let vc = at % VCS;
        if port < P {
            let node = router * P + port;
            self.post(back, Arrival::NodeCredit { node, vc });
        } else {
            let (router, port) = peer(router, port);
            self.post(back, Arrival::Credit { router, port, vc });
        }
    }
}
