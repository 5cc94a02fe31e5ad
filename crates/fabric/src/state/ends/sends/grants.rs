//! Grants of rendezvous requests, which go before messages of other kinds
//! ([`NicOrder::ClearsFirst`](crate::NicOrder)).

use super::pair_ring::{NONE, PairRing};
use super::send_queues::SendQueues;

impl SendQueues {
    /// Puts the queue pair of a grant into the ring, behind the first message that is no grant: the
    /// one under way. The grant interrupts it when what is prepared of it now has left.
    #[inline(never)]
    pub(super) fn enter_grant(&mut self, nic: u32, state: &mut PairRing, pair: u32) {
        let Some(under_way) = self.search(state, |pair| !self.message(pair.first).is_clear())
        else {
            self.enter(nic, state, pair);
            return;
        };
        let mut behind = self.pair(under_way).next;
        for _ in 0..state.pairs {
            if behind == state.turn || !self.is_grant(behind) {
                break;
            }
            behind = self.pair(behind).next;
        }
        self.enter_before(nic, state, pair, behind);
        let left = self.message(self.pair(under_way).first).left;
        if left > self.prepared {
            self.interrupts.insert(pair, left - self.prepared);
            // At once, if nothing is prepared.
            self.interrupt(nic, state);
        }
    }

    /// Passes the turn to the next grant if the packets that were prepared when it came have left.
    #[inline]
    pub(super) fn interrupt(&mut self, nic: u32, state: &mut PairRing) {
        if !self.interrupts.is_empty() {
            self.interrupt_turn(nic, state);
        }
    }

    #[inline(never)]
    fn interrupt_turn(&mut self, nic: u32, state: &mut PairRing) {
        let turn = state.turn;
        if turn == NONE || self.is_grant(turn) {
            return;
        }
        let grant = self.pair(turn).next;
        let left = self.message(self.pair(turn).first).left;
        if self.interrupts.get(&grant).is_some_and(|&at| left <= at) {
            self.leave(nic, state, grant);
            self.enter(nic, state, grant);
            state.turn = grant;
        }
    }

    fn is_grant(&self, pair: u32) -> bool {
        self.message(self.pair(pair).first).is_clear()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::NicOrder;
    use crate::state::ends::sends::pair_ring::Message;
    use std::collections::VecDeque;
    use weir_workload::tasks::{Envelope, EnvelopeKind};

    /// Two machines that put packets of one bit into one queue: grants wholly, other messages one
    /// after the other, and no more packets of one than `places`.
    struct Machines {
        places: usize,
        /// Number of each packet's message, and if it is a grant.
        queue: VecDeque<(u32, bool)>,
        /// Messages with bits that are not in the queue.
        rest: VecDeque<(u32, u64)>,
    }

    impl Machines {
        fn add(&mut self, number: u32, bits: u64, grant: bool) {
            match grant {
                true => self.queue.extend((0..bits).map(|_| (number, true))),
                false => self.rest.push_back((number, bits)),
            }
            self.prepare();
        }

        fn prepare(&mut self) {
            while let Some((number, left)) = self.rest.front_mut() {
                let own = self.queue.iter().filter(|(_, grant)| !grant);
                let [own, others] = own.fold([0, 0], |[own, others], (of, _)| {
                    [
                        own + usize::from(of == number),
                        others + usize::from(of != number),
                    ]
                });
                if others > 0 || own == self.places {
                    return;
                }
                self.queue.push_back((*number, false));
                *left -= 1;
                if *left == 0 {
                    self.rest.pop_front();
                }
            }
        }

        /// The message of the next packet. Without places it goes straight to the link.
        fn next(&mut self) -> Option<u32> {
            let prepared = self.queue.pop_front().map(|(number, _)| number);
            let next = prepared.or_else(|| {
                let (number, left) = self.rest.front_mut()?;
                *left -= 1;
                Some(*number)
            });
            self.rest.retain(|&(_, left)| left > 0);
            self.prepare();
            next
        }
    }

    /// Grants leave in order, behind what is prepared when they come; the rest leaves in order.
    #[test]
    fn grants_go_before_what_is_not_prepared() {
        let rounds = if cfg!(miri) { 40 } else { 20_000 };
        for places in [0, 1, 2, 5, 100] {
            let mut queues = SendQueues::new(NicOrder::ClearsFirst, places as u64, false);
            let mut ring = PairRing::EMPTY;
            let mut machines = Machines {
                places,
                queue: VecDeque::new(),
                rest: VecDeque::new(),
            };
            let mut rng = weir_model::stream(1, &[]);
            let mut draw = |below| weir_model::below(&mut rng, below);
            for number in 0..rounds {
                if draw(13) < 2 {
                    let kinds = [EnvelopeKind::Clear, EnvelopeKind::Request];
                    let kind = kinds[draw(2) as usize];
                    let stamp = Envelope {
                        kind,
                        tag: 0,
                        number: 0,
                    }
                    .to_stamp();
                    let bits = 1 + u64::from(draw(9));
                    queues.add(0, &mut ring, 7, Message::new(0, bits, number, 0, stamp));
                    machines.add(number, bits, kind == EnvelopeKind::Clear);
                    continue;
                }
                let turn = ring.turn;
                let sent = (turn != NONE).then(|| {
                    let sent = queues.message(queues.pair(turn).first).number;
                    queues.take(0, &mut ring, turn, 1);
                    sent
                });
                assert_eq!(sent, machines.next(), "{places} places");
            }
            assert!(ring.pairs < 1_000, "{}", ring.pairs);
        }
    }
}
