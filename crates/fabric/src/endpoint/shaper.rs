//! Injection disciplines: the packet that a NIC sends next, among flows whose rates a scheme sets
//! (Birk and Zdornov, section 6.2).
//!
//! Let r be the rate of a flow, d the length of its packet and D what has been sent of its message.
//!
//! - `ipd`: each flow by itself, a packet every d / r; the permitted flow that has waited longest
//!   sends.
//! - `svc` (shaped virtual clock): the same, and the permitted flow with the least D / r sends.
//! - `ps` (periodic selection): the NIC sends a packet every d / R, R the sum of the rates of all
//!   flows with something to send; the packet is one of the flow with the least D / r. A NIC that
//!   is held back by its router does not catch up.
//!
//! A flow without a rate may always send, before all others.

use crate::setup::plain::Compiled;

use crate::Discipline;
use crate::domain::FabricDomain;
use crate::endpoint::sending::Blocked;
use weir_congestion::FlowRate;
use weir_model::{PacketIndex, Time};

/// A flow that may send, apart from its rate.
#[derive(Clone, Copy, Debug)]
struct Candidate {
    /// Its queue pair.
    pair: u32,
    /// Flits per picosecond; None: as fast as it can.
    rate: Option<f64>,
    /// Part of its message that has been sent, divided by the rate.
    served: f64,
    /// Time when it may send at its own rate.
    eligible: Time,
}

impl<K: Compiled> FabricDomain<K> {
    /// The next packet of a NIC whose flows are sent by a discipline.
    pub(crate) fn next_shaped(
        &mut self,
        discipline: Discipline,
        nic: u32,
        output: u32,
        now: Time,
        blocked: &mut Blocked,
    ) -> Option<(PacketIndex, u16)> {
        let candidates = self.candidates(nic, now, blocked);
        let (chosen, time) = self.choose(discipline, nic, &candidates, now)?;
        if time > now {
            self.records.stats.tally.held_back += 1;
            blocked.again = blocked.again.min(time);
            return None;
        }
        let to = self.ends.sends.pair(chosen.pair).destination;
        let found = self.packet_of_pair(nic, chosen.pair, output, now, blocked)?;
        if chosen.rate.is_some() {
            let flits = self.pool.get(found.0).flits;
            // If only the next time step was waited for, later packets are not put off.
            let since = if now - time < self.fixed.step {
                time
            } else {
                now
            };
            self.ends.shaper.sent(nic, to, flits, since);
            self.forget_idle(now);
        }
        Some(found)
    }

    /// The queue pairs of a NIC that nothing but their rates keeps from sending, from the one whose
    /// turn it is on.
    fn candidates(&mut self, nic: u32, now: Time, blocked: &mut Blocked) -> Vec<Candidate> {
        let ring = self.ends.nics[nic as usize].ring;
        let link = self.nic_link(nic);
        let mut at = ring.turn;
        let mut list = Vec::with_capacity(ring.pairs as usize);
        for _ in 0..self.ends.sends.candidates(&ring) {
            let pair = *self.ends.sends.pair(at);
            let to = pair.destination;
            if !self.fixed.flows.managed || self.ends.flows.may_send(nic, to) {
                let time = self.scheme.ready_at(nic, to, now);
                if time > now {
                    self.records.stats.tally.held_back += 1;
                    blocked.again = blocked.again.min(time);
                } else {
                    let rate = self.scheme.rate((nic, link), to, now);
                    let rate = rate.map(FlowRate::flits_per_ps);
                    let message = self.ends.sends.message(pair.first);
                    let sent = (message.bits - message.left) as f64;
                    let last = self.ends.shaper.of_flow(nic, to);
                    list.push(Candidate {
                        pair: at,
                        rate,
                        served: rate.map_or(-1.0, |rate| sent / rate),
                        eligible: rate.zip(last).map_or(0, |(rate, last)| last.next(rate)),
                    });
                }
            }
            at = pair.next;
        }
        list
    }

    /// The candidate that sends next, and its time.
    fn choose(
        &self,
        discipline: Discipline,
        nic: u32,
        all: &[Candidate],
        now: Time,
    ) -> Option<(Candidate, Time)> {
        // The first of equals, which is the one whose turn comes first.
        let least_served = |list: &mut dyn Iterator<Item = &Candidate>| {
            list.copied()
                .reduce(|best, one| if one.served < best.served { one } else { best })
        };
        let first_due = || {
            let due = all.iter().copied().reduce(|best, one| {
                if one.eligible < best.eligible {
                    one
                } else {
                    best
                }
            });
            due.map(|one| (one, one.eligible))
        };
        if let Some(free) = all.iter().find(|one| one.rate.is_none()) {
            return Some((*free, 0));
        }
        match discipline {
            Discipline::Ps => {
                let rates: f64 = all.iter().filter_map(|one| one.rate).sum();
                let last = self.ends.shaper.of_nic(nic);
                let time = last.map_or(0, |last| last.next(rates));
                least_served(&mut all.iter()).map(|one| (one, time))
            }
            Discipline::Ipd => first_due(),
            Discipline::Svc => {
                let mut eligible = all.iter().filter(|one| one.eligible <= now);
                let one = least_served(&mut eligible);
                one.map(|one| (one, one.eligible)).or_else(first_due)
            }
        }
    }

    /// Forgets flows that may send at once, when many have been added.
    fn forget_idle(&mut self, now: Time) {
        let scheme = self.scheme.as_mut();
        let first = self.first_nic_output;
        let (outputs, timings) = (&self.ports.outputs, &self.timings);
        self.ends.shaper.forget(|nic, to, last| {
            let output = &outputs[(first + nic) as usize];
            let link = timings[output.timing as usize].rate;
            let rate = scheme
                .rate((nic, link), to, now)
                .map(FlowRate::flits_per_ps);
            rate.is_some_and(|rate| last.next(rate) > now)
        });
    }
}
