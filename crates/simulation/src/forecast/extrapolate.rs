//! From the beginning of a run to all of it.

use super::flow::{Amount, Flow};
use super::work::{COPIES, Work};
use crate::{Sample, Trial};

/// Packet-hops per second of one core if nothing was measured yet: about the rate of large
/// networks.
pub const ASSUMED_RATE: f64 = 3e6;

/// Fewer packet-hops say nothing.
const FEWEST: u64 = 100;

/// Bytes of a packet that waits in the network, with its place in lists.
const PACKET: f64 = 120.0;
/// Memory of a packet without congestion.
/// It is also in events and credits, and in mail, where one letter is written while another is read
/// and a third is empty.
const FLYING: f64 = 3.0 * PACKET;
/// Lists grow by more than one place at a time, and a run has moments that are busier than its
/// beginning.
const SPARE: f64 = 1.15;
/// Maximum time of an application, as a multiple of its minimum time.
const MOST_HELD: f64 = 4.0;
/// Maximum hops of packets of applications, as a multiple of those of a shortest path.
const MOST_DETOURS: f64 = 2.0;

/// Cost of a run.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Forecast {
    /// Packet-hops in all.
    pub packet_hops: f64,
    /// Processor time, s.
    pub seconds: f64,
    /// The most memory that the process holds, bytes.
    pub bytes: f64,
    /// End of the run, ps of simulated time.
    pub end: f64,
    /// Basis of the forecast.
    pub basis: Basis,
}

/// Basis of a forecast.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Basis {
    /// The run came to its end.
    Whole,
    /// This part of its packet-hops was seen.
    Part(f64),
    /// Nothing was seen: shortest paths, no congestion, and this number of packet-hops per second.
    Assumed(f64),
}

impl Forecast {
    /// Memory of the program without the network, bytes: itself, its libraries, and the result
    /// while it is written.
    pub const PROGRAM: f64 = 19e6;

    /// Forecast if only the work of the run is known: a lower bound if there is congestion, or if
    /// packets take longer paths.
    pub fn assumed(work: &Work, rate: f64) -> Forecast {
        let end = work.least_end();
        let packet_hops = work.packet_hops();
        let (mut flying, mut started, mut waiting) = (0.0, 0.0, Waiting::default());
        for flow in &work.flows {
            let rate = flow.bits_until(end) / (end - flow.start).max(1.0);
            flying += under_way(flow, rate, work);
            if let Amount::Open {
                offered, accepted, ..
            } = flow.amount
            {
                waiting.add(flow, (offered - accepted) * flow.on_until(end));
            }
            started += flow.peers_bytes() + flow.started_bytes();
            started += PACKET * flow.open.packets.min(work.buffers);
        }
        let base = Forecast::PROGRAM + work.shared as f64;
        let held = flying + started + waiting.bytes(1.0, work.buffers);
        Forecast {
            packet_hops,
            seconds: packet_hops / rate,
            bytes: base + work.state as f64 + held + work.rows(end) + work.counted(),
            end,
            basis: Basis::Assumed(rate),
        }
    }

    /// From the beginning of the run.
    pub fn of(work: &Work, trial: &Trial) -> Forecast {
        let (Some(first), Some(last)) = (trial.samples.first(), trial.samples.last()) else {
            return Forecast::assumed(work, ASSUMED_RATE);
        };
        let base = Forecast::PROGRAM + work.shared as f64;
        let held = last.state as f64 + last.packets as f64;
        if trial.ended {
            let end = last.until as f64;
            return Forecast {
                packet_hops: last.packet_hops as f64,
                seconds: trial.build + last.seconds,
                bytes: base + held + work.rows(end) + COPIES * (last.series + last.counts) as f64,
                end,
                basis: Basis::Whole,
            };
        }
        let when_done = |part: f64| {
            let hops = part * last.packet_hops as f64;
            (trial.samples.iter())
                .find(|sample| sample.packet_hops as f64 >= hops && sample.until > 0)
                .unwrap_or(first)
        };
        let half = when_done(0.5);
        if last.packet_hops - half.packet_hops < FEWEST {
            return Forecast::assumed(work, ASSUMED_RATE);
        }
        let later = when_done(0.75);
        let seen = Seen { half, later, last };
        let end = seen.end(work);
        let hops = seen.hops_left(work, end);
        let packet_hops = last.packet_hops as f64 + hops;
        Forecast {
            packet_hops,
            seconds: trial.build + last.seconds + hops * seen.seconds_per_hop(),
            bytes: base
                + SPARE * (held + seen.more(work, end))
                + work.rows(end)
                + seen.recorded(work, end),
            end,
            basis: Basis::Part(last.packet_hops as f64 / packet_hops.max(1.0)),
        }
    }
}

/// Bytes of packets under way if `rate` bits of a workload arrive per ps, with the state that their
/// sources keep of them.
fn under_way(flow: &Flow, rate: f64, work: &Work) -> f64 {
    let packets = rate * flow.packets_per_bit * work.latency;
    let messages = match flow.amount {
        Amount::Open { message, .. } => rate / message,
        Amount::Closed { .. } => 0.0,
    };
    // A message is open until its last packet is acknowledged.
    FLYING * flow.copies * packets + flow.held.open * messages * 2.0 * work.latency
}

/// Messages that have been generated and have nowhere to go.
#[derive(Clone, Copy, Debug, Default)]
struct Waiting {
    packets: f64,
    /// Bytes, if all of it waits in the network.
    inside: f64,
    /// Bytes, if all of it waits at sources.
    outside: f64,
}

impl Waiting {
    /// Adds `bits` bits of a pattern.
    fn add(&mut self, flow: &Flow, bits: f64) {
        if let Amount::Open { message, .. } = flow.amount {
            let messages = bits.max(0.0) / message;
            let packets = bits.max(0.0) * flow.packets_per_bit;
            self.packets += packets;
            self.inside += packets * PACKET + messages * flow.held.open;
            self.outside +=
                messages * flow.held.message + messages.min(flow.pairs) * flow.held.pair;
        }
    }

    /// `inside` of it as packets in the network while `buffers` packets find room there, the rest
    /// as messages at NICs.
    fn bytes(&self, inside: f64, buffers: f64) -> f64 {
        let inside = inside.min(buffers.max(0.0) / self.packets.max(1.0));
        inside * self.inside + (1.0 - inside) * self.outside
    }
}

/// The latter half of a trial, in which the network is more as it will be.
struct Seen<'a> {
    half: &'a Sample,
    /// In the middle of it.
    later: &'a Sample,
    last: &'a Sample,
}

/// Threshold for a network that is still filling up.
/// If less than this part of what was missing at receivers in the first part of the samples is
/// missing in the second, the network carries what is offered: it was not yet full of the packets
/// under way.
const CATCHES_UP: f64 = 0.75;

impl Seen<'_> {
    fn seconds_per_hop(&self) -> f64 {
        let hops = (self.last.packet_hops - self.half.packet_hops).max(1) as f64;
        (self.last.seconds - self.half.seconds) / hops
    }

    /// Bytes by which the held memory will grow.
    fn more(&self, work: &Work, end: f64) -> f64 {
        self.filling(work) + self.waiting(work, end) + self.tasks(work, end)
    }

    /// Bytes of packets under way when the network has reached its capacity of them, if that was
    /// not seen: then the mail that they are in has gone round, too.
    fn filling(&self, work: &Work) -> f64 {
        if self.last.until as f64 >= work.settles() {
            return 0.0;
        }
        let bytes = |flow: &Flow| match flow.amount {
            Amount::Open { accepted, .. } => under_way(flow, accepted, work),
            Amount::Closed { .. } => 0.0,
        };
        let under_way: f64 = work.flows.iter().map(bytes).sum();
        (under_way - self.last.packets as f64).max(0.0)
    }

    /// Bytes by which the tasks of applications will grow, through their knowledge of each other:
    /// at the previous rate, for a while, and at least to the size that their programs imply.
    fn tasks(&self, work: &Work, end: f64) -> f64 {
        let closed = |flow: &Flow| matches!(flow.amount, Amount::Closed { .. });
        if !work.flows.iter().any(closed) {
            return 0.0;
        }
        let now = self.last.until as f64;
        let grown = self.last.state.saturating_sub(self.half.state) as f64;
        let slope = grown / (now - self.half.until as f64).max(1.0);
        let left = (end - now).clamp(0.0, 10.0 * now);
        let like_before = (slope * left).min(1.5 * self.last.state as f64);
        let known: f64 = work.flows.iter().map(Flow::peers_bytes).sum();
        let so_far = self.last.state.saturating_sub(work.state) as f64;
        like_before.max(known - so_far)
    }

    /// Bytes of the counts by time bin and by workload at the end, and of their copies.
    fn recorded(&self, work: &Work, end: f64) -> f64 {
        let times = work.records.chunks(end) / work.records.chunks(self.last.until as f64);
        let series = self.last.series as f64 * times.max(1.0);
        let counts = f64::max(self.last.counts as f64, work.records.counts);
        COPIES * (series + counts)
    }

    /// Progress of an application: in ps of the least time that it takes, and by which factor it
    /// has taken longer.
    fn pace(&self, job: usize, flow: &Flow, work: &Work) -> (f64, f64) {
        let Amount::Closed { bits, least } = flow.amount else {
            return (0.0, 1.0);
        };
        let place = |sample: &Sample| {
            // Data that has arrived was sent one network latency before.
            let took = (sample.until as f64 - flow.start - work.latency).max(0.0);
            let done = sample.delivered_bits[job] as f64 / bits;
            let at = least * flow.course.when(done.min(1.0), took / least);
            (at.min(took), took)
        };
        let ((before, began), (at, took)) = (place(self.half), place(self.last));
        // The start of a program, with messages that ask for leave first, differs from its later
        // course.
        let slow = match at > before {
            true => (took - began) / (at - before),
            false => took / at.max(1.0),
        };
        // A job that is held up by another is not held up for ever.
        (at, slow.clamp(1.0, MOST_HELD))
    }

    /// End of the run, ps, if all applications go on as they did.
    fn end(&self, work: &Work) -> f64 {
        let now = self.last.until as f64;
        let end = work.end_with(|job, flow, least| {
            let took = (now - flow.start).max(0.0);
            let (at, slow) = self.pace(job, flow, work);
            flow.start + took + (least - at) * slow
        });
        end.max(now)
    }

    /// Packet-hops from now on.
    fn hops_left(&self, work: &Work, end: f64) -> f64 {
        let (mut expected, mut open, mut closed) = (0.0, 0.0, 0.0);
        for (job, flow) in work.flows.iter().enumerate() {
            let came = self.last.delivered_bits[job] - self.half.delivered_bits[job];
            expected += came as f64 * flow.hops_per_bit;
            let left = self.bits_left(job, flow, work, end) * flow.hops_per_bit;
            match flow.amount {
                Amount::Open { .. } => open += left,
                Amount::Closed { .. } => closed += left,
            }
        }
        let hops = (self.last.packet_hops - self.half.packet_hops) as f64;
        // More than shortest paths: detours, packets that are sent again, control packets; and
        // packets that have not arrived, whose number stays as it is if more and more of them wait.
        let more = |expected: f64| match expected > 0.0 {
            true => hops / expected,
            false => 1.0,
        };
        // All of an application's packets arrive. Those under way are half way, on average.
        let half_way = |sample: &Sample| 0.5 * work.hops_per_packet() * sample.in_flight as f64;
        let arriving = expected + half_way(self.last) - half_way(self.half);
        let detours = more(arriving).max(1.0);
        let closed = (closed + half_way(self.last)) * detours.min(MOST_DETOURS);
        if (self.last.until as f64) < work.settles() {
            // While fewer packets have arrived than are on their way, nothing is known of the
            // packets that will wait.
            return closed + open * detours;
        }
        // When all buffers are full, no more enters than leaves.
        let room = (work.buffers - self.last.in_flight as f64).max(0.0);
        let full = (open + room * work.hops_per_packet()) * detours;
        closed + (open * more(expected)).min(full)
    }

    /// Bytes of messages generated and not delivered at the end, besides the existing ones.
    fn waiting(&self, work: &Work, end: f64) -> f64 {
        let mut waiting = Waiting::default();
        for (job, flow) in work.flows.iter().enumerate() {
            if let Amount::Open { offered, .. } = flow.amount {
                let on = flow.on_until(end) - flow.on_until(self.last.until as f64);
                let bits = offered * on - self.bits_left(job, flow, work, end);
                waiting.add(flow, bits);
            }
        }
        waiting.bytes(
            self.inside(work),
            work.buffers - self.last.packets as f64 / PACKET,
        )
    }

    /// Part of the backlog that is in the network, from the growth of the backlog in the second
    /// part of what was seen; all of it if nothing was added. Packets that are under way as in an
    /// empty network are no backlog.
    fn inside(&self, work: &Work) -> f64 {
        let more = |of: fn(&Sample) -> u64| of(self.last).saturating_sub(of(self.later)) as f64;
        let (mut messages, mut packets, mut moving) = (0.0, 0.0, 0.0);
        for flow in &work.flows {
            if let Amount::Open {
                offered,
                accepted,
                message,
            } = flow.amount
            {
                messages += offered / message;
                packets += offered * flow.packets_per_bit;
                moving += accepted * flow.packets_per_bit * flow.copies * work.latency;
            }
        }
        let beyond = (self.last.in_flight as f64 - moving).max(0.0);
        let inside = more(|sample| sample.in_flight).min(beyond);
        let outside = more(|sample| sample.waiting) * packets / messages.max(f64::MIN_POSITIVE);
        match inside + outside > 0.0 {
            true => inside / (inside + outside),
            false => 1.0,
        }
    }

    /// Bits of a workload that came in a ps between two samples while it was on, if it was.
    fn arrival_rate(&self, job: usize, flow: &Flow, from: &Sample, to: &Sample) -> Option<f64> {
        let on = flow.on_until(to.until as f64) - flow.on_until(from.until as f64);
        let came = to.delivered_bits[job] as f64 - from.delivered_bits[job] as f64;
        (on > 0.0).then_some(came / on)
    }

    /// True if arrivals still grow towards the accepted load.
    fn catches_up(&self, job: usize, flow: &Flow, accepted: f64) -> bool {
        let missing = |from, to| Some(accepted - self.arrival_rate(job, flow, from, to)?);
        let first = missing(self.half, self.later);
        let second = missing(self.later, self.last);
        matches!((first, second), (Some(first), Some(second)) if second < CATCHES_UP * first)
    }

    /// Bits of a workload that will arrive.
    fn bits_left(&self, job: usize, flow: &Flow, work: &Work, end: f64) -> f64 {
        let now = self.last.until as f64;
        let done = self.last.delivered_bits[job] as f64;
        match flow.amount {
            Amount::Closed { bits, least } => {
                let rest = (bits - done).max(0.0);
                if end < work.at_most {
                    return rest;
                }
                let (at, slow) = self.pace(job, flow, work);
                let on = (end - now.max(flow.start)).max(0.0);
                let by_then = bits * flow.course.at((at + on / slow) / least);
                rest.min(by_then - done).max(0.0)
            }
            Amount::Open { accepted, .. } => {
                // Traffic that the network does not carry does not arrive; but nothing arrives at
                // the beginning.
                let built = flow.start + flow.builds_up() + 1.5 * work.latency;
                let began = self.half.until as f64 > built;
                let rate = match self.arrival_rate(job, flow, self.half, self.last) {
                    Some(rate) if began && !self.catches_up(job, flow, accepted) => {
                        rate.min(accepted)
                    }
                    _ => accepted,
                };
                rate * (flow.on_until(end) - flow.on_until(now))
            }
        }
    }
}
