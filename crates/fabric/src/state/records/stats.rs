//! Counters of a domain. They are whole numbers only, so that adding up domains is exact.

use crate::setup::recording::Recording;
use serde::{Deserialize, Serialize};

use crate::state::records::series::{MOST_BINS, Series};
use weir_model::table::{MessageRow, PacketRow, Summary};
use weir_model::{
    EndpointId, Histogram, NEVER, Origin, Outstanding, Packet, PacketKind, Span, Time,
};

/// Latencies by sending and by arrival in the measurement window, in three histograms: most samples
/// are both.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Latencies {
    both: Histogram,
    only_sent: Histogram,
    only_arrived: Histogram,
}

impl Latencies {
    #[inline]
    fn add(&mut self, sent: Time, arrived: Time, window: Span) {
        if window.from <= sent && arrived < window.to {
            self.both.add(arrived - sent);
        } else {
            self.add_across(sent, arrived, window);
        }
    }

    /// Adds a sample that was not both sent and received in the window.
    #[inline(never)]
    fn add_across(&mut self, sent: Time, arrived: Time, window: Span) {
        if window.contains(sent) {
            self.only_sent.add(arrived - sent);
        } else if window.contains(arrived) {
            self.only_arrived.add(arrived - sent);
        }
    }

    /// Latencies of what was sent in the measurement window.
    pub fn by_sending(&self) -> [&Histogram; 2] {
        [&self.both, &self.only_sent]
    }

    /// Latencies of what arrived in the measurement window.
    pub fn by_arrival(&self) -> [&Histogram; 2] {
        [&self.both, &self.only_arrived]
    }
}

impl JobStats {
    /// Bytes held, except the counts by time bin.
    fn memory_bytes(&self) -> usize {
        let latencies = [&self.network, &self.message];
        let latencies = latencies
            .into_iter()
            .flat_map(|one| [&one.both, &one.only_sent, &one.only_arrived]);
        let others = [
            &self.network_missing,
            &self.iteration,
            &self.iteration_missing,
        ];
        let histograms = latencies.chain(others).map(Histogram::memory_bytes);
        size_of::<JobStats>()
            + histograms.sum::<usize>()
            + self.message_missing.memory_bytes()
            + self.last.capacity() * size_of::<Time>()
    }
}

/// Counters of one workload in one domain.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct JobStats {
    pub network: Latencies,
    pub message: Latencies,
    /// Ages at the end of the run of the packets that were injected in the measurement window and
    /// have not arrived. Empty before the end.
    pub network_missing: Histogram,
    /// Generation times, after the start of the measurement window, of messages generated in it
    /// that have not arrived.
    pub message_missing: Outstanding,
    /// Durations of iterations that tasks began in the measurement window. Empty before the end.
    pub iteration: Histogram,
    /// Ages of iterations that were not over at the end.
    pub iteration_missing: Histogram,
    /// Messages generated over the whole run.
    pub messages_generated: u64,
    /// Messages received whole.
    pub messages_received: u64,
    /// Messages of MPI's protocol among those generated.
    pub protocol_generated: u64,
    /// Messages of MPI's protocol among those received.
    pub protocol_received: u64,
    /// Payload generated in the measurement window.
    pub generated_bits: u64,
    /// Payload that came in at its receivers while the job was on, within the measurement window.
    pub accepted_bits: u64,
    /// Payload of the packets that were delivered.
    pub delivered_bits: u64,
    /// By NIC of the domain: when it last received a message or injected a packet of this job.
    pub last: Vec<Time>,
    /// Time when the job's last message was received here.
    pub finish: Time,
    /// By time bin.
    pub series: Series<BinCounts>,
}

/// Counts of one workload in one time bin.
#[derive(Clone, Copy, Debug, Default, PartialEq, bytemuck::Pod, bytemuck::Zeroable)]
#[repr(C)]
pub struct BinCounts {
    /// Payload injected.
    pub injected_bits: u64,
    /// Payload delivered.
    pub delivered_bits: u64,
    /// Messages received.
    pub messages: u64,
    /// Sum of their latencies, ps.
    pub message_latency: u64,
    /// Packets delivered.
    pub packets: u64,
    /// Sum of their network latencies, ps.
    pub network_latency: u64,
}

/// The place of a NIC whose received payload is not recorded.
const NOBODY: usize = u32::MAX as usize;

/// Outcome of packets, by purpose. All counts except `ejected_bits` are over the whole run.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Tally {
    /// Packets that a NIC or a router sent, by [`PacketKind`].
    pub injected: [u64; PacketKind::MOST],
    /// Bits of flits that came in at endpoints in the measurement window, by [`PacketKind`].
    pub ejected_bits: [u64; PacketKind::MOST],
    /// Packets dropped before their last router.
    pub dropped_fabric: u64,
    /// Packets dropped at their last router.
    pub dropped_last_hop: u64,
    /// Packets lost on links that were down.
    pub lost: u64,
    /// Packets lost at routers without a way to their destination.
    pub cut_off: u64,
    /// Packets sent without loss at a time that was given: dropped ones, and what a grant found
    /// unsent of its message.
    pub resent_granted: u64,
    /// Packets sent again in the lossy class.
    pub resent_speculative: u64,
    /// Packets that a router marked, once for each router.
    pub marked: u64,
    /// Reservations that a router took for an endpoint.
    pub absorbed: u64,
    /// Number of times a NIC found something to send that had to wait for the scheme.
    pub held_back: u64,
}

impl Tally {
    /// Packets dropped or lost.
    pub fn dropped(&self) -> u64 {
        self.dropped_fabric + self.dropped_last_hop + self.lost_by_failures()
    }

    /// Packets lost because of links that were down.
    pub fn lost_by_failures(&self) -> u64 {
        self.lost + self.cut_off
    }
}

/// Counters of one domain.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct Stats {
    pub recording: Recording,
    pub jobs: Vec<JobStats>,
    /// Part of the measurement window in which each job is on.
    on: Vec<Span>,
    flit_bits: u64,
    /// Payload that came in at its receivers in the measurement window.
    pub accepted_bits: u64,
    /// Width of the time bins, ps: [`Recording::bin`], doubled as often as there would have been
    /// more than [`MOST_BINS`].
    pub bin_width: Time,
    /// The bin asked for last, and its beginning: most events fall into the same bin as the one
    /// before.
    recent: (usize, Time),
    /// Ejected flits per class and bin.
    pub ejected: Vec<Series<u64>>,
    /// Totals that are counted as they are in results.
    pub summary: Summary,
    pub tally: Tally,
    pub delivered_bits: u64,
    /// Time of the last delivery, ps.
    pub last_delivery: Time,
    pub packet_rows: Vec<PacketRow>,
    pub message_rows: Vec<MessageRow>,
    /// Rows of each record of the scheme, one after another.
    pub scheme_rows: Vec<Vec<u64>>,
    pub occupancy: Vec<u64>,
    pub rates: Vec<f64>,
    /// Place of each NIC in `received`, or a number beyond; empty if nothing is recorded there.
    receiver: Vec<u32>,
    /// Payload bits received per bin, of the endpoints that were chosen, in the order of the NICs.
    pub received: Vec<Series<u64>>,
}

impl Stats {
    /// True if they are of as many jobs and NICs as others, and record the same.
    pub fn fit(&self, other: &Stats) -> bool {
        let of = |stats: &Stats| {
            let lists = (stats.jobs.len(), stats.ejected.len(), stats.received.len());
            (lists, stats.recording, stats.receiver.clone())
        };
        of(self) == of(other)
    }

    /// For jobs that are on in these stretches of time, which may reach beyond the measurement
    /// window.
    pub fn new(
        recording: Recording,
        on: impl Iterator<Item = Span>,
        flit_bits: u64,
        classes: u8,
        nics: usize,
    ) -> Self {
        let job = JobStats {
            last: vec![0; nics],
            ..JobStats::default()
        };
        let on: Vec<Span> = on.map(|on| on.and(recording.window)).collect();
        Stats {
            recording,
            jobs: vec![job; on.len()],
            on,
            flit_bits,
            accepted_bits: 0,
            bin_width: recording.bin,
            recent: (0, 0),
            ejected: vec![Series::default(); usize::from(classes)],
            summary: Summary::default(),
            tally: Tally::default(),
            delivered_bits: 0,
            last_delivery: 0,
            packet_rows: Vec::new(),
            message_rows: Vec::new(),
            scheme_rows: vec![Vec::new(); (u32::BITS - recording.scheme.leading_zeros()) as usize],
            occupancy: Vec::new(),
            rates: Vec::new(),
            receiver: Vec::new(),
            received: Vec::new(),
        }
    }

    /// Goes on as the counters of another run, which has counted nothing yet.
    pub fn go_on_as(&mut self, other: &Stats) {
        self.recording = other.recording;
        self.on.clone_from(&other.on);
        self.jobs.truncate(other.jobs.len());
        let more = &other.jobs[self.jobs.len()..];
        self.jobs.extend_from_slice(more);
    }

    /// Bytes of the counts by time bin, and of the histograms and times of workloads. Rows that are
    /// recorded are in neither.
    pub fn memory_bytes(&self) -> [usize; 2] {
        let series = self.jobs.iter().map(|job| job.series.memory_bytes());
        let ejected = self.ejected.iter().map(Series::memory_bytes);
        let jobs = self.jobs.iter().map(JobStats::memory_bytes).sum();
        [series.chain(ejected).sum(), jobs]
    }

    /// Records the received payload of these of the domain's own endpoints.
    pub fn record_received(&mut self, own: &[EndpointId], chosen: &[EndpointId]) {
        if chosen.is_empty() {
            return;
        }
        for endpoint in own {
            let found = chosen.binary_search(endpoint).is_ok();
            let place = if found { self.received.len() } else { NOBODY };
            self.receiver.push(place as u32);
            if found {
                self.received.push(Series::default());
            }
        }
    }

    #[inline]
    fn bin(&mut self, time: Time) -> usize {
        let (bin, from) = self.recent;
        match time.wrapping_sub(from) < self.bin_width {
            true => bin,
            false => self.other_bin(time),
        }
    }

    #[inline(never)]
    fn other_bin(&mut self, time: Time) -> usize {
        if time / self.bin_width >= MOST_BINS {
            self.widen_bins(time);
        }
        let bin = time / self.bin_width;
        self.recent = (bin as usize, bin * self.bin_width);
        bin as usize
    }

    /// Doubles the width of the time bins until there is one for `time`.
    #[cold]
    fn widen_bins(&mut self, time: Time) {
        while time / self.bin_width >= MOST_BINS {
            self.bin_width *= 2;
            self.jobs.iter_mut().for_each(|job| job.series.coarsen());
            self.ejected.iter_mut().for_each(Series::coarsen);
            self.received.iter_mut().for_each(Series::coarsen);
        }
    }

    /// True if samples of this time count.
    pub fn measured(&self, time: Time) -> bool {
        self.recording.window.contains(time)
    }

    /// A message has been generated.
    #[inline]
    pub fn generated(&mut self, job: u16, bits: u64, now: Time) {
        let measured = self.measured(now);
        let job = &mut self.jobs[usize::from(job)];
        job.messages_generated += 1;
        if measured {
            // A sum that stays at the largest number ends the run with an error.
            job.generated_bits = job.generated_bits.saturating_add(bits);
            job.message_missing.begin(now - self.recording.window.from);
        }
    }

    /// A head has left its NIC.
    #[inline]
    pub fn injected(&mut self, origin: &Origin, nic: u32, now: Time) {
        self.tally.injected[usize::from(origin.kind)] += 1;
        if origin.is(PacketKind::DATA) {
            let bin = self.bin(now);
            let job = &mut self.jobs[usize::from(origin.job)];
            job.series.at(bin).injected_bits += u64::from(origin.payload_bits);
            let last = &mut job.last[nic as usize];
            *last = now.max(*last);
        }
    }

    /// A router has made a packet.
    #[inline]
    pub fn injected_by_router(&mut self, kind: PacketKind) {
        self.tally.injected[kind.index()] += 1;
    }

    /// A router has dropped a packet.
    #[inline]
    pub fn dropped(&mut self, last_hop: bool) {
        match last_hop {
            true => self.tally.dropped_last_hop += 1,
            false => self.tally.dropped_fabric += 1,
        }
    }

    /// A packet is sent again.
    #[inline]
    pub fn resent(&mut self, lossy: bool) {
        match lossy {
            true => self.tally.resent_speculative += 1,
            false => self.tally.resent_granted += 1,
        }
    }

    /// Counts for the loads the part of a packet that has come in at its endpoint by `end`; its
    /// tail arrives at `tail`. Counting whole packets would be too much or too little at the edges
    /// of the measurement window.
    #[inline(never)]
    pub fn came_in(&mut self, packet: &Packet, origin: &Origin, tail: Time, end: Time) {
        let share = |span: Span, bits| {
            let to = span.to.min(end);
            Span { to, ..span }.share(bits, packet.head, tail)
        };
        let window = self.recording.window;
        let bits = u64::from(packet.flits) * self.flit_bits;
        self.tally.ejected_bits[usize::from(origin.kind)] += share(window, bits);
        if origin.is(PacketKind::DATA) {
            let (job, bits) = (usize::from(origin.job), u64::from(origin.payload_bits));
            self.accepted_bits += share(window, bits);
            self.jobs[job].accepted_bits += share(self.on[job], bits);
        }
    }

    /// A tail has reached its endpoint.
    #[inline]
    pub fn delivered(&mut self, packet: &Packet, origin: &Origin, nic: u32, now: Time) {
        self.summary.packets_delivered += 1;
        self.last_delivery = self.last_delivery.max(now);
        let bin = self.bin(now);
        *self.ejected[usize::from(packet.class)].at(bin) += u64::from(packet.flits);
        let window = self.recording.window;
        if !origin.is(PacketKind::DATA) {
            self.came_in(packet, origin, now, NEVER);
            return;
        }
        let bits = u64::from(origin.payload_bits);
        // Mostly all of it comes in while its job is on, which is within the window.
        let on = self.on[usize::from(origin.job)];
        let all = on.from <= packet.head && now < on.to;
        if all {
            self.tally.ejected_bits[usize::from(origin.kind)] +=
                u64::from(packet.flits) * self.flit_bits;
            self.accepted_bits += bits;
        } else {
            self.came_in(packet, origin, now, NEVER);
        }
        let latency = now - origin.injected;
        self.delivered_bits += bits;
        if let Some(&place) = self.receiver.get(nic as usize)
            && let Some(series) = self.received.get_mut(place as usize)
        {
            *series.at(bin) += bits;
        }
        let job = &mut self.jobs[usize::from(origin.job)];
        job.accepted_bits += if all { bits } else { 0 };
        job.delivered_bits += bits;
        job.network.add(origin.injected, now, window);
        let counts = job.series.at(bin);
        counts.delivered_bits += bits;
        counts.packets += 1;
        counts.network_latency = counts.network_latency.saturating_add(latency);
        if self.recording.packets {
            self.packet_rows.push(PacketRow {
                source: origin.source,
                sequence: origin.sequence,
                destination: packet.flight.destination,
                job: origin.job.into(),
                flits: packet.flits.into(),
                routers: packet.flight.routers.into(),
                generated_ps: origin.generated,
                injected_ps: origin.injected,
                delivered_ps: now,
            });
        }
    }

    /// A message has been received whole.
    #[inline]
    pub fn received(&mut self, origin: &Origin, destination: EndpointId, nic: u32, now: Time) {
        let latency = now - origin.generated;
        let (bin, sent) = (self.bin(now), self.measured(origin.generated));
        let window = self.recording.window;
        let job = &mut self.jobs[usize::from(origin.job)];
        job.messages_received += 1;
        job.message.add(origin.generated, now, window);
        if sent {
            job.message_missing
                .end(origin.generated - self.recording.window.from);
        }
        let last = &mut job.last[nic as usize];
        *last = now.max(*last);
        job.finish = now.max(job.finish);
        let counts = job.series.at(bin);
        counts.messages += 1;
        counts.message_latency = counts.message_latency.saturating_add(latency);
        if self.recording.messages || self.recording.flows {
            self.message_rows.push(MessageRow {
                source: origin.source,
                message: origin.message,
                destination,
                job: origin.job.into(),
                bytes: origin.message_bits / 8,
                generated_ps: origin.generated,
                received_ps: now,
            });
        }
    }
}
