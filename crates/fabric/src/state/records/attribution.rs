//! Backlog by owner, place and cause: the input of `weir explain`.
//!
//! All ports of a domain are examined at fixed times, so that nothing is counted per packet: queues
//! and rings hold the information already. A port with queued packets reports for each job the
//! flits that wait because its link carries others, and the flits that lack credit for the buffer
//! behind it. An input whose buffer is filling up reports for which outputs its flits wait. From
//! these two the analysis follows the congestion from port to port, over domains and ranks, when
//! the result is read.

use rustc_hash::FxHashMap;
use serde::{Deserialize, Serialize};

use crate::state::RequestIndex;
use crate::state::pool::{Fifo, Pool};
use crate::state::records::looks::Looks;
use crate::state::records::waits::{Kind, Who, merge};
use crate::state::{InIndex, OutIndex, Output};
use weir_model::{NEVER, NO_PACKET, Time};

/// A link is full if it was busy this share of the time, 9 of 10, at …
const FULL: [Time; 2] = [9, 10];

/// But not if it was without credit for more than this part of that time: a twentieth.
const STALLED: Time = 20;

/// Part of a buffer that must wait for it to press on the ports before it: a quarter.
const PRESSES: u64 = 4;

/// The most rows of a domain.
/// With more rows, the ports are examined half as often, for bins of twice the width.
const MOST_ROWS: usize = 1 << 18;

/// Division of the buffer of an input.
#[derive(Clone, Copy, Debug, Serialize, Deserialize)]
pub struct Divided {
    /// Flits of a part.
    pub flits: u32,
    /// Queues that share one.
    pub queues: u32,
}

/// Flits times samples, by [`Kind`].
type Sums = [u64; Kind::COUNT];

/// Record of a domain's backlog.
#[derive(Debug, Default, Serialize, Deserialize)]
pub struct Attribution {
    /// Times when the ports are examined.
    pub looks: Looks,
    /// True if sources and destinations are told apart.
    pub sources: bool,
    /// By input.
    pub buffers: Vec<Divided>,
    /// By output: when something last waited there.
    pub seen: Vec<Seen>,
    /// Backlog in this bin.
    pub waits: FxHashMap<(OutIndex, Who), Sums>,
    /// Backlog in this bin in buffers that are filling up, by input and output.
    pub pressure: FxHashMap<(InIndex, OutIndex), u64>,
    /// Backlog of earlier bins: by bin, output and owner.
    pub rows: Vec<((Time, OutIndex, Who), Sums)>,
    /// By bin, input and output.
    pub pressure_rows: Vec<((Time, InIndex, OutIndex), u64)>,
    /// Backlog at places where it is not worth a row, by bin and job.
    pub elsewhere: Vec<((Time, u16), u64)>,
    /// Notes at the port that is examined.
    pub here: Vec<(Who, Kind, u64)>,
    /// Requests at the output that is examined.
    pub requests: Vec<RequestIndex>,
    /// Contents of the router's inputs: input and part of its buffer, output, flits.
    pub held: Vec<((InIndex, u32), OutIndex, u64)>,
}

/// Counters of an output at the time when packets last waited there.
#[derive(Clone, Copy, Debug, Serialize, Deserialize)]
pub struct Seen {
    /// [`NEVER`] if nothing has.
    pub time: Time,
    /// Time with flits on the link.
    pub busy: Time,
    /// Time without credit for a ready packet.
    pub stalled: Time,
    /// For how many intervals on end the link had been full.
    pub full: u64,
}

impl Seen {
    const NOTHING: Seen = Seen {
        time: NEVER,
        busy: 0,
        stalled: 0,
        full: 0,
    };

    /// Counters at `now`, a time `step` after the last sample; `self` holds the previous ones.
    /// `prepaid`: packets take their credit to cross. So packets in the output queue lack none, and
    /// packets that wait to cross say nothing about the link.
    pub fn next(self, out: &Output, (now, step): (Time, Time), weight: u64, prepaid: bool) -> Seen {
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

impl Attribution {
    /// Looks at the ports every `interval` ps (0: never).
    pub fn new(
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
    pub fn none() -> Attribution {
        Attribution::new(0, false, Vec::new(), 0)
    }

    /// True if it is of as many ports as another one.
    pub fn fits(&self, other: &Attribution) -> bool {
        (self.buffers.len(), self.seen.len()) == (other.buffers.len(), other.seen.len())
    }

    /// Bytes of memory held.
    pub fn memory_bytes(&self) -> usize {
        self.buffers.capacity() * size_of::<Divided>()
            + self.seen.capacity() * size_of::<Seen>()
            + self.waits.capacity() * size_of::<((OutIndex, Who), Sums)>()
            + self.pressure.capacity() * size_of::<((InIndex, OutIndex), u64)>()
            + self.rows.capacity() * size_of::<((Time, OutIndex, Who), Sums)>()
            + self.pressure_rows.capacity() * size_of::<((Time, InIndex, OutIndex), u64)>()
    }

    /// Takes note of the packets of a queue that wait at `now`: on their way through the router
    /// they do not yet. The notes of the queue begin at `first` in [`Attribution::here`]. Returns
    /// the flits of all packets, each of which takes the room of `least` at least.
    #[inline]
    pub fn look(
        &mut self,
        pool: &Pool,
        queue: Fifo,
        now: Time,
        (first, kind, least): (usize, Kind, u16),
    ) -> u64 {
        let (mut index, mut room, mut count) = (queue.head, 0, 0);
        while index != NO_PACKET {
            let packet = pool.get(index);
            room += u64::from(packet.flits.max(least));
            count += 1;
            if packet.head <= now {
                let flits = u64::from(packet.flits);
                let who = Who::of(pool.origin(index), packet.flight.destination, self.sources);
                match self.here[first..].last_mut() {
                    Some((last, _, sum)) if *last == who => *sum += flits,
                    _ => self.here.push((who, kind, flits)),
                }
            }
            index = pool.after(index);
        }
        self.looks.add(count);
        room
    }

    /// Adds the notes of a port to its bin.
    pub fn keep(&mut self, output: OutIndex) {
        for (who, kind, flits) in self.here.drain(..) {
            let sums = self.waits.entry((output, who)).or_default();
            sums[kind as usize] += flits * self.looks.weight;
        }
    }

    /// Notes the inputs of a router whose buffers are filling up, and the outputs that they wait
    /// for, after all its ports were examined.
    pub fn press(&mut self) {
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

    /// Time when the ports are examined next; [`NEVER`] if they are not.
    #[inline]
    pub fn next(&self) -> Time {
        self.looks.next
    }

    /// Begins a look at the time up to `now`. Returns the time since the last one.
    pub fn begin(&mut self, now: Time, longest: u64) -> Time {
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

    /// True if they take too much memory. With senders and receivers told apart they may: that is
    /// asked for.
    pub fn has_too_many_rows(&self) -> bool {
        !self.sources && self.rows.len() + self.pressure_rows.len() > MOST_ROWS
    }

    /// Ends a look, after `hops` packet-hops in all; the next one is not before `time`.
    pub fn end(&mut self, hops: u64, time: Time) {
        if self.looks.is_too_much(hops) {
            self.halve();
        }
        self.looks.at_earliest(time);
    }

    /// Halves the frequency at which ports are examined, for bins of twice the width.
    pub fn halve(&mut self) {
        self.looks.halve();
        self.rows.iter_mut().for_each(|(key, _)| key.0 /= 2);
        let pressure = self.pressure_rows.iter_mut();
        pressure.for_each(|(key, _)| key.0 /= 2);
        self.elsewhere.iter_mut().for_each(|(key, _)| key.0 /= 2);
        self.merge();
    }

    pub fn merge(&mut self) {
        merge(&mut self.rows, add);
        merge(&mut self.pressure_rows, |sum, flits| *sum += flits);
        merge(&mut self.elsewhere, |sum, flits| *sum += flits);
    }

    /// Ends a bin of that width.
    /// A port has no rows if nothing waited there for credit or for a full link, and no more than a
    /// packet of `longest` flits waited on average.
    pub fn close(&mut self, bin: Time, width: Time, longest: u64) {
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

pub fn add(sum: &mut Sums, own: &Sums) {
    for (sum, own) in sum.iter_mut().zip(own) {
        *sum += own;
    }
}
