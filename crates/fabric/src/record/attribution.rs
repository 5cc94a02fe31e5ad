//! Backlog by owner, place and cause: the input of `weir explain`.
//!
//! All ports of a domain are examined at fixed times, so that nothing is counted per packet: queues
//! and rings hold the information already. A port with queued packets reports for each job the
//! flits that wait because its link carries others, and the flits that lack credit for the buffer
//! behind it. An input whose buffer is filling up reports for which outputs its flits wait. From
//! these two the analysis follows the congestion from port to port, over domains and ranks, when
//! the result is read.

use crate::state::records::attribution::Attribution;

use crate::domain::FabricDomain;
use crate::setup::plain::Compiled;
use crate::state::ends::sends::pair_ring::NONE;
use crate::state::ports::ring::Side;
use crate::state::records::waits::{Kind, Pressure, Wait, WaitsReport, Who};
use crate::state::{NO_REQUEST, RequestIndex};
use crate::state::{OutIndex, Wire};
use weir_model::{PacketIndex, Time};

/// A link is full after this number of full intervals in a row.
const IN_A_ROW: u64 = 2;

impl<K: Compiled> FabricDomain<K> {
    /// Looks at all ports.
    #[inline(never)]
    pub(crate) fn sample_waits(&mut self, now: Time) {
        let mut notes = std::mem::take(&mut self.records.attribution);
        let since = notes.begin(now, self.fixed.max_packet.into());
        // Most domains of a large network that has little to do are empty.
        let empty = self.pool.len() == 0 && self.messages_waiting() == 0;
        let waiting = !empty && self.look_around((now, since), &mut notes);
        let later = match waiting {
            true => now + 1,
            // Nothing waits before something happens again.
            false => self.queue.next_time().min(self.progress.until).max(now + 1),
        };
        notes.end(self.progress.moved, later);
        self.records.attribution = notes;
    }

    /// Looks at all ports, a time `since` after the last sample. True if something waits at any.
    fn look_around(&self, (now, since): (Time, Time), notes: &mut Attribution) -> bool {
        let mut waiting = false;
        for router in self.ports.routers.iter() {
            for output in router.base..router.base + u32::from(router.ports) {
                let out = &self.ports.outputs[output as usize];
                if u64::from(out.waiting) + u64::from(out.queued) > 0 {
                    waiting = true;
                    self.look_at(output, (now, since), notes);
                }
            }
            notes.press();
        }
        for nic in 0..self.ends.nics.len() as u32 {
            let output = self.first_nic_output + nic;
            if self.ports.outputs[output as usize].is_stalled() {
                waiting = true;
                self.look_at_nic(nic, output, notes);
            }
        }
        waiting
    }

    /// Looks at an output of a router at which something waits, a time `since` after the last
    /// sample.
    fn look_at(&self, output: OutIndex, (now, since): (Time, Time), notes: &mut Attribution) {
        let out = &self.ports.outputs[output as usize];
        let timing = &self.timings[out.timing as usize];
        let before = notes.seen[output as usize];
        let prepaid = Self::is_prepaid(timing);
        let seen = before.next(out, (now, since), notes.looks.weight, prepaid);
        notes.seen[output as usize] = seen;
        let full = seen.full >= IN_A_ROW;
        let own = if full { Kind::Full } else { Kind::Queued };
        let requests = self.requests_of(output, notes);
        // An endpoint takes everything at once. Packets that have taken their credit wait for the
        // link.
        let endpoint = matches!(out.wire, Wire::Endpoint(_));
        // All credits of the only queue are on their way while it fills the link.
        let needs_none = endpoint || full && self.is_one_queue(output, &requests);
        let at_link = !needs_none && !prepaid;
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
            let about = (first, kind, self.fixed.least_room);
            notes.look(&self.pool, channel.queue, now, about);
        }
        let own = (own, needs_none);
        for &at in &requests {
            self.look_at_request(at, output, now, own, notes);
        }
        notes.requests = requests;
        notes.keep(output);
    }

    /// True if all packets that wait for an output are for one of its queues.
    fn is_one_queue(&self, output: OutIndex, requests: &[RequestIndex]) -> bool {
        let first = self.next_ready(output, 0, u32::MAX);
        let more = |queue: u16| self.next_ready(output, u32::from(queue) + 1, u32::MAX);
        let mut wanted = requests.iter().map(|&at| self.wanted_queue(at));
        let Some(one) = first.or_else(|| wanted.next()) else {
            return true;
        };
        first.and_then(more).is_none() && wanted.all(|queue| queue == one)
    }

    /// The queue of its output that the head of a queue at an input goes to.
    fn wanted_queue(&self, at: RequestIndex) -> u16 {
        let request = self.ports.requests.get(at);
        match self.has_alternatives() {
            true => request.out_queue,
            false => self.pool.get(request.queue.head).queue,
        }
    }

    /// The queues at the inputs of a router with packets that wait for an output.
    fn requests_of(&self, output: OutIndex, notes: &mut Attribution) -> Vec<RequestIndex> {
        let classes = usize::from(self.fixed.classes.count());
        let mut requests = std::mem::take(&mut notes.requests);
        requests.clear();
        for class in 0..classes {
            let first = self.ports.rings.outputs[output as usize * classes + class].next;
            let mut at = first;
            while at != NO_REQUEST {
                let request = self.ports.requests.get(at);
                if !request.also {
                    // Packets are anywhere in memory: the last ones are fetched while the first
                    // ones are examined.
                    self.pool.fetch_all(request.queue.head);
                    requests.push(at);
                }
                at = self.ports.requests.after(at, Side::Output);
                if at == first {
                    break;
                }
            }
        }
        requests
    }

    /// Looks at the packets of a queue at an input that wait for an output. `own`: their reason if
    /// they have credit, and true if they need none.
    fn look_at_request(
        &self,
        at: RequestIndex,
        output: OutIndex,
        now: Time,
        (own, needs_none): (Kind, bool),
        notes: &mut Attribution,
    ) {
        let request = *self.ports.requests.get(at);
        let out = &self.ports.outputs[output as usize];
        let timing = &self.timings[out.timing as usize];
        let queue = self.wanted_queue(at);
        let place = match out.wire {
            _ if needs_none => None,
            // Packets that have their credit and wait for the full link are the reason why the
            // others lack credit.
            _ if own == Kind::Full && Self::is_prepaid(timing) => None,
            _ => self.used_channel(out.channel_base, queue),
        };
        let starved = place.is_some_and(|place| {
            let ahead = self.ports.channels[place].queue;
            // If packets need no credit to cross, the first one in the output queue is the one that
            // waits for it.
            let first = match timing.credit_to_cross || ahead.is_empty() {
                true => request.queue.head,
                false => ahead.head,
            };
            self.is_short(place, first, now)
        });
        let kind = if starved { Kind::Starved } else { own };
        let first = notes.here.len();
        let about = (first, kind, self.fixed.least_room);
        let mut room = notes.look(&self.pool, request.queue, now, about);
        if !self.fixed.voq {
            let base = self.ports.inputs[request.input as usize].queue_base;
            if let Some(behind) = self
                .ports
                .fifos
                .behind(base, request.input, request.in_queue)
            {
                room += notes.look(&self.pool, behind, now, about);
            }
        }
        let queues = notes.buffers[request.input as usize].queues.max(1);
        let part = u32::from(request.in_queue) / queues;
        notes.held.push(((request.input, part), output, room));
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

    /// True if a queue has no credit for the packet. Leaves the credits unchanged.
    fn is_short(&self, channel: usize, index: PacketIndex, now: Time) -> bool {
        let (credit, room) = (
            &self.ports.channels[self.home(channel)].credit,
            self.room_for(index),
        );
        credit.available < room && credit.enough_at(room) > now
    }

    /// Recorded backlog of a run that is over.
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
        // Packets that a router sends itself come in by no port.
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
