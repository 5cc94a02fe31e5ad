//! Whose data waits where, and for what: what `weir explain` is worked out from.
//!
//! All ports of a domain are looked at at fixed times, so that nothing is counted on a packet's way: what waits is known there
//! already, in queues and rings. A port that something waits at says for each job how many flits wait because its link
//! carries others, and how many because there is no credit for the buffer behind it; an input whose buffer is filling up says
//! for which outputs what is in it waits. From these two the analysis follows the congestion from port to port, over domains
//! and ranks, when the result is read.

mod looks;
pub(crate) mod waits;

use rustc_hash::FxHashMap;
use serde::{Deserialize, Serialize};

use crate::domain::FabricDomain;
use crate::setup::plain::Compiled;
use crate::state::ends::pair_ring::NONE;
use crate::state::pool::{Fifo, Pool};
use crate::state::ports::ring::Side;
use crate::state::{InIndex, OutIndex, Output, Wire};
use crate::state::{NO_REQUEST, RequestIndex};
use looks::Looks;
use waits::{Kind, Pressure, Wait, WaitsReport, Who, merge};
use weir_model::{NEVER, NO_PACKET, PacketIndex, Time};

/// The most rows of a domain: when there are more, the ports are looked at half as often, for bins of twice the width.
const MOST_ROWS: usize = 1 << 18;
/// Packets of a queue that are looked at where jobs alone matter; the others are taken to be as those are.
const LOOKED_AT: usize = 4;
/// The same of those behind the first one of a queue without virtual output queues, of which the others do not count.
const LOOKED_AT_BEHIND: usize = 32;
/// A link is full if it was busy this share of the time, 9 of 10, at …
const FULL: [Time; 2] = [9, 10];
/// … so many intervals in a row.
const IN_A_ROW: u64 = 2;
/// But not if it was without credit for more than this part of that time: a twentieth.
const STALLED: Time = 20;
/// A buffer presses on what comes before it when this part of it waits: a quarter.
const PRESSES: u64 = 4;

/// How the buffer of an input is divided.
#[derive(Clone, Copy, Debug, Serialize, Deserialize)]
pub(crate) struct Divided {
    /// Flits of a part.
    pub flits: u32,
    /// Queues that share one.
    pub queues: u32,
}

/// Flits times samples, by [`Kind`].
type Sums = [u64; Kind::COUNT];

/// What a domain records about what waits.
#[derive(Debug, Default, Serialize, Deserialize)]
pub(crate) struct Attribution {
    /// When the ports are looked at.
    looks: Looks,
    /// Whether sources and destinations are told apart.
    sources: bool,
    /// By input.
    buffers: Vec<Divided>,
    /// By output: when something last waited there.
    seen: Vec<Seen>,
    /// What has waited in this bin.
    waits: FxHashMap<(OutIndex, Who), Sums>,
    /// What has waited in this bin in buffers that are filling up, by input and output.
    pressure: FxHashMap<(InIndex, OutIndex), u64>,
    /// Of earlier bins: by bin, output and owner.
    rows: Vec<((Time, OutIndex, Who), Sums)>,
    /// By bin, input and output.
    pressure_rows: Vec<((Time, InIndex, OutIndex), u64)>,
    /// Of what waited where it is not worth a row, by bin and job.
    elsewhere: Vec<((Time, u16), u64)>,
    /// At the port that is looked at.
    here: Vec<(Who, Kind, u64)>,
    queues: Vec<Looked>,
    /// The requests at the output that is looked at.
    requests: Vec<RequestIndex>,
    /// What the inputs of the router hold: input and part of its buffer, output, flits.
    held: Vec<((InIndex, u32), OutIndex, u64)>,
}

/// What an output had done by the time when something last waited there.
#[derive(Clone, Copy, Debug, Serialize, Deserialize)]
struct Seen {
    /// [`NEVER`] if nothing has.
    time: Time,
    /// Time with flits on the link.
    busy: Time,
    /// Time without credit for what was ready.
    stalled: Time,
    /// For how many intervals on end the link had been full.
    full: u64,
}

impl Seen {
    const NOTHING: Seen = Seen {
        time: NEVER,
        busy: 0,
        stalled: 0,
        full: 0,
    };

    /// At `now`, a time `step` after the last sample; `self` is what was seen before. `prepaid`: packets take their credit to cross, so
    /// what is in the output queue lacks none, and those that wait to cross say nothing about the link.
    fn next(self, out: &Output, (now, step): (Time, Time), weight: u64, prepaid: bool) -> Seen {
        let ahead = out.link_free.saturating_sub(now);
        let busy = out.counts.busy.saturating_sub(ahead);
        let stalled = out.stalled_until(now);
        let worked = busy.saturating_sub(self.busy);
        let lacked = match prepaid {
            true => step.saturating_sub(worked),
            false => stalled.saturating_sub(self.stalled),
        };
        let full = self.time.checked_add(step) == Some(now)
            && worked * FULL[1] >= step * FULL[0]
            && lacked * STALLED <= step;
        Seen {
            time: now,
            busy,
            stalled,
            full: if full { self.full + weight } else { 0 },
        }
    }
}

/// A queue at an input.
#[derive(Clone, Copy, Debug, Serialize, Deserialize)]
struct Looked {
    input: InIndex,
    part: u32,
    flits: u64,
    /// Where its packets stand in [`Attribution::here`].
    first: usize,
    /// Whether there are more than were looked at.
    more: bool,
}

impl Attribution {
    /// Looks at the ports every `interval` ps (0: never).
    pub(crate) fn new(
        interval: Time,
        sources: bool,
        buffers: Vec<Divided>,
        outputs: usize,
    ) -> Attribution {
        Attribution {
            looks: Looks::new(interval),
            sources,
            buffers,
            seen: vec![Seen::NOTHING; if interval > 0 { outputs } else { 0 }],
            ..Attribution::default()
        }
    }

    /// Nothing is recorded.
    pub(crate) fn none() -> Attribution {
        Attribution::new(0, false, Vec::new(), 0)
    }

    /// True if it is of as many ports as another one.
    pub(crate) fn fits(&self, other: &Attribution) -> bool {
        (self.buffers.len(), self.seen.len()) == (other.buffers.len(), other.seen.len())
    }

    /// Bytes of memory held.
    pub(crate) fn memory_bytes(&self) -> usize {
        self.buffers.capacity() * size_of::<Divided>()
            + self.seen.capacity() * size_of::<Seen>()
            + self.waits.capacity() * size_of::<((OutIndex, Who), Sums)>()
            + self.pressure.capacity() * size_of::<((InIndex, OutIndex), u64)>()
            + self.rows.capacity() * size_of::<((Time, OutIndex, Who), Sums)>()
            + self.pressure_rows.capacity() * size_of::<((Time, InIndex, OutIndex), u64)>()
    }

    /// Takes note of packets of a queue, whose first one stands at `first` of [`Attribution::here`]. Gives their flits, and
    /// whether there are more than were looked at.
    #[inline]
    fn look(
        &mut self,
        pool: &Pool,
        queue: Fifo,
        most: usize,
        (first, kind): (usize, Kind),
    ) -> (u64, bool) {
        let most = if self.sources { usize::MAX } else { most };
        let (mut index, mut sum, mut count) = (queue.head, 0, 0);
        while index != NO_PACKET && count < most {
            let packet = pool.get(index);
            let flits = u64::from(packet.flits);
            let who = Who::of(pool.origin(index), packet.flight.destination, self.sources);
            match self.here[first..].last_mut() {
                Some((last, _, sum)) if *last == who => *sum += flits,
                _ => self.here.push((who, kind, flits)),
            }
            sum += flits;
            count += 1;
            index = pool.after(index);
        }
        self.looks.add(count);
        (sum, index != NO_PACKET)
    }

    /// Makes what was noted of `flits` flits of a queue stand for `more` besides.
    fn scale(&mut self, places: std::ops::Range<usize>, flits: u64, more: u64) {
        if more > 0 && flits > 0 {
            for (.., own) in &mut self.here[places] {
                *own += *own * more / flits;
            }
        }
    }

    /// What was noted at a port is added to that of its bin.
    fn keep(&mut self, output: OutIndex) {
        for (who, kind, flits) in self.here.drain(..) {
            let sums = self.waits.entry((output, who)).or_default();
            sums[kind as usize] += flits * self.looks.weight;
        }
    }

    /// All ports of a router have been looked at: which of its inputs' buffers are filling up, and what for.
    fn press(&mut self) {
        self.held.sort_unstable();
        for part in self.held.chunk_by(|a, b| a.0 == b.0) {
            let input = part[0].0.0;
            let held: u64 = part.iter().map(|&(.., flits)| flits).sum();
            if held * PRESSES >= u64::from(self.buffers[input as usize].flits) {
                for &(_, output, flits) in part {
                    *self.pressure.entry((input, output)).or_default() += flits * self.looks.weight;
                }
            }
        }
        self.held.clear();
    }

    /// When the ports are looked at next; [`NEVER`] if they are not.
    #[inline]
    pub(crate) fn next(&self) -> Time {
        self.looks.next
    }

    /// A look at the time up to `now` begins. Gives the time since the last one.
    fn begin(&mut self, now: Time, longest: u64) -> Time {
        let width = self.looks.bin_width();
        let (since, over) = self.looks.begin(now);
        if let Some(bin) = over {
            self.close(bin, width, longest);
        }
        while self.looks.has_too_many_bins() || self.looks.bin > 0 && self.has_too_many_rows() {
            self.halve();
        }
        since
    }

    /// Whether they take too much memory. With senders and receivers told apart they may: that is asked for.
    fn has_too_many_rows(&self) -> bool {
        !self.sources && self.rows.len() + self.pressure_rows.len() > MOST_ROWS
    }

    /// A look is over, after so many packet-hops in all; the next one is not before `time`.
    fn end(&mut self, hops: u64, time: Time) {
        if self.looks.is_too_much(hops) {
            self.halve();
        }
        self.looks.at_earliest(time);
    }

    /// The ports are looked at half as often, for bins of twice the width.
    fn halve(&mut self) {
        self.looks.halve();
        self.rows.iter_mut().for_each(|(key, _)| key.0 /= 2);
        let pressure = self.pressure_rows.iter_mut();
        pressure.for_each(|(key, _)| key.0 /= 2);
        self.elsewhere.iter_mut().for_each(|(key, _)| key.0 /= 2);
        self.merge();
    }

    fn merge(&mut self) {
        merge(&mut self.rows, add);
        merge(&mut self.pressure_rows, |sum, flits| *sum += flits);
        merge(&mut self.elsewhere, |sum, flits| *sum += flits);
    }

    /// A bin of that width is over. A port at which nothing waited for credit, nor for a full link, nor more than a packet of `longest`
    /// flits on average has no rows.
    fn close(&mut self, bin: Time, width: Time, longest: u64) {
        let mut waits: Vec<_> = self.waits.drain().collect();
        waits.sort_unstable();
        let most = width / self.looks.interval * longest;
        for port in waits.chunk_by(|a, b| a.0.0 == b.0.0) {
            let sum = |kind: Kind| {
                let flits = port.iter().map(|(_, sums)| sums[kind as usize]);
                flits.sum::<u64>()
            };
            let queued = sum(Kind::Queued);
            let small = sum(Kind::Full) + sum(Kind::Starved) == 0 && queued < most;
            for &((output, who), sums) in port {
                match small {
                    true => {
                        let queued = sums[Kind::Queued as usize];
                        self.elsewhere.push(((bin, who.job), queued));
                    }
                    false => self.rows.push(((bin, output, who), sums)),
                }
            }
        }
        merge(&mut self.elsewhere, |sum, flits| *sum += flits);
        let pressure = self.pressure.drain();
        let pressure = pressure.map(|((input, output), flits)| ((bin, input, output), flits));
        self.pressure_rows.extend(pressure);
    }
}

fn add(sum: &mut Sums, own: &Sums) {
    for (sum, own) in sum.iter_mut().zip(own) {
        *sum += own;
    }
}

impl<K: Compiled> FabricDomain<K> {
    /// Looks at all ports.
    #[inline(never)]
    pub(crate) fn sample_waits(&mut self, now: Time) {
        let mut notes = std::mem::take(&mut self.records.attribution);
        let since = notes.begin(now, self.fixed.max_packet.into());
        let mut waiting = false;
        for router in self.ports.routers.iter() {
            for output in router.base..router.base + u32::from(router.ports) {
                let out = &self.ports.outputs[output as usize];
                if u64::from(out.waiting) + u64::from(out.queued) > 0 {
                    waiting = true;
                    self.look_at(output, (now, since), &mut notes);
                }
            }
            notes.press();
        }
        for nic in 0..self.ends.nics.len() as u32 {
            let output = self.first_nic_output + nic;
            if self.ports.outputs[output as usize].is_stalled() {
                waiting = true;
                self.look_at_nic(nic, output, &mut notes);
            }
        }
        let later = match waiting {
            true => now + 1,
            // Nothing waits before something happens again.
            false => self.queue.next_time().min(self.progress.until).max(now + 1),
        };
        notes.end(self.progress.moved, later);
        self.records.attribution = notes;
    }

    /// Looks at an output of a router at which something waits, a time `since` after the last sample.
    fn look_at(&self, output: OutIndex, (now, since): (Time, Time), notes: &mut Attribution) {
        let out = &self.ports.outputs[output as usize];
        let timing = &self.timings[out.timing as usize];
        let before = notes.seen[output as usize];
        let prepaid = Self::is_prepaid(timing);
        let seen = before.next(out, (now, since), notes.looks.weight, prepaid);
        notes.seen[output as usize] = seen;
        let full = seen.full >= IN_A_ROW;
        let own = if full { Kind::Full } else { Kind::Queued };
        // An endpoint takes whatever comes. What has taken its place already waits for the link.
        let endpoint = matches!(out.wire, Wire::Endpoint(_));
        let at_link = !endpoint && !prepaid;
        let mut from = 0;
        while let Some(queue) = self.next_ready(output, from, u32::MAX) {
            from = u32::from(queue) + 1;
            let Some(place) = self.used_channel(out.channel_base, queue) else {
                continue;
            };
            let channel = &self.ports.channels[place];
            let head = self.pool.get(channel.queue.head);
            if head.head > now {
                continue;
            }
            let starved = at_link && self.is_short(place, channel.queue.head, now);
            let kind = if starved { Kind::Starved } else { own };
            let first = notes.here.len();
            let (flits, _) = notes.look(&self.pool, channel.queue, LOOKED_AT, (first, kind));
            let more = u64::from(channel.flits).saturating_sub(flits);
            notes.scale(first..notes.here.len(), flits, more);
        }
        self.look_at_inputs(output, now, own, notes);
        notes.keep(output);
    }

    /// Looks at what waits at the inputs of a router for an output. `own`: what it waits for if there is credit.
    fn look_at_inputs(&self, output: OutIndex, now: Time, own: Kind, notes: &mut Attribution) {
        let classes = usize::from(self.fixed.classes.count());
        let mut requests = std::mem::take(&mut notes.requests);
        for class in 0..classes {
            let first = self.ports.rings.outputs[output as usize * classes + class].next;
            let mut at = first;
            while at != NO_REQUEST {
                let request = self.ports.requests.get(at);
                if !request.also {
                    // They are anywhere in memory: those of the last ones come while the first ones are looked at.
                    self.pool.fetch_all(request.queue.head);
                    requests.push(at);
                }
                at = self.ports.requests.after(at, Side::Output);
                if at == first {
                    break;
                }
            }
        }
        for at in requests.drain(..) {
            self.look_at_request(at, output, now, own, notes);
        }
        notes.requests = requests;
        // What was not looked at is shared out among the queues that are longer.
        let seen: u64 = notes.queues.iter().map(|queue| queue.flits).sum();
        let longer = notes.queues.iter().filter(|queue| queue.more).count() as u64;
        let rest = u64::from(self.ports.outputs[output as usize].waiting).saturating_sub(seen);
        let each = rest.checked_div(longer).unwrap_or(0);
        let mut end = notes.here.len();
        while let Some(queue) = notes.queues.pop() {
            let more = if queue.more { each } else { 0 };
            notes.scale(queue.first..end, queue.flits, more);
            end = queue.first;
            let held = (queue.input, queue.part);
            notes.held.push((held, output, queue.flits + more));
        }
    }

    /// Looks at the packets of a queue at an input that wait for an output.
    fn look_at_request(
        &self,
        at: RequestIndex,
        output: OutIndex,
        now: Time,
        own: Kind,
        notes: &mut Attribution,
    ) {
        let request = *self.ports.requests.get(at);
        let out = &self.ports.outputs[output as usize];
        let timing = &self.timings[out.timing as usize];
        let packet = self.pool.get(request.queue.head);
        let queue = match self.has_alternatives() {
            true => request.out_queue,
            false => packet.queue,
        };
        let place = match out.wire {
            Wire::Endpoint(_) => None,
            // What has its credit and waits for the full link is what the others lack it for.
            _ if own == Kind::Full && Self::is_prepaid(timing) => None,
            _ => self.used_channel(out.channel_base, queue),
        };
        let starved = place.is_some_and(|place| {
            let ahead = self.ports.channels[place].queue;
            // Where packets need no credit to cross, it is the first one in the output queue that waits for it.
            let first = match timing.credit_to_cross || ahead.is_empty() {
                true => request.queue.head,
                false => ahead.head,
            };
            self.is_short(place, first, now)
        });
        let kind = if starved { Kind::Starved } else { own };
        let first = notes.here.len();
        let (mut flits, mut more) = notes.look(&self.pool, request.queue, LOOKED_AT, (first, kind));
        if !self.fixed.voq {
            let base = self.ports.inputs[request.input as usize].queue_base;
            if let Some(behind) = self
                .ports
                .fifos
                .behind(base, request.input, request.in_queue)
            {
                flits += notes
                    .look(&self.pool, behind, LOOKED_AT_BEHIND, (first, kind))
                    .0;
            }
            more = false;
        }
        let queues = notes.buffers[request.input as usize].queues.max(1);
        notes.queues.push(Looked {
            input: request.input,
            part: u32::from(request.in_queue) / queues,
            flits,
            first,
            more,
        });
    }

    /// Looks at a NIC that has something to send and no credit for it.
    fn look_at_nic(&self, nic: u32, output: OutIndex, notes: &mut Attribution) {
        let turn = self.ends.nics[nic as usize].ring.turn;
        if turn == NONE {
            return;
        }
        let pair = self.ends.sends.pair(turn);
        let message = self.ends.sends.message(pair.first);
        let most = u64::from(self.fixed.max_packet) * u64::from(self.about.flit.0);
        let flits = self.about.flit.flits(message.left.min(most));
        let origin = message.origin(self.ends.nics[nic as usize].id);
        let who = Who::of(&origin, pair.destination, notes.sources);
        notes.here.push((who, Kind::Starved, flits));
        notes.keep(output);
    }

    /// Whether a queue has no credit for so many flits. Leaves the credits as they are.
    fn is_short(&self, channel: usize, index: PacketIndex, now: Time) -> bool {
        let (credit, room) = (
            &self.ports.channels[self.home(channel)].credit,
            self.room_for(index),
        );
        credit.available < room && credit.enough_at(room) > now
    }

    /// What was recorded of what waits, of a run that is over.
    pub(crate) fn waits_report(&mut self) -> WaitsReport {
        let mut notes = std::mem::replace(&mut self.records.attribution, Attribution::none());
        if notes.looks.interval == 0 {
            return WaitsReport::default();
        }
        notes.close(
            notes.looks.bin,
            notes.looks.bin_width(),
            self.fixed.max_packet.into(),
        );
        notes.merge();
        let waits = notes.rows.iter().map(|&((bin, output, who), flits)| {
            let nic = output >= self.first_nic_output;
            let at = match self.ports.outputs[output as usize].wire {
                Wire::Router(input) if nic => input,
                _ => output,
            };
            let (router, port) = self.port_of(at);
            Wait {
                bin,
                router,
                port,
                nic,
                who,
                flits,
            }
        });
        let pressure = notes.pressure_rows.iter();
        let pressure = pressure.map(|&((bin, input, output), flits)| {
            let ((router, from), (_, to)) = (self.port_of(input), self.port_of(output));
            Pressure {
                bin,
                router,
                from,
                to,
                flits,
            }
        });
        // What a router sends itself comes in by no port.
        let topology = &self.network.topology;
        let real = |row: &Pressure| row.from < topology.ports(row.router);
        WaitsReport {
            interval: notes.looks.interval,
            bin_width: notes.looks.bin_width(),
            waits: waits.collect(),
            pressure: pressure.filter(real).collect(),
            elsewhere: (notes.elsewhere.iter())
                .map(|&((bin, job), flits)| (bin, job, flits))
                .collect(),
        }
    }
}
