//! What a domain reports at the end of a run, as words that cross to rank 0.

use super::domain::FabricDomain;
use super::hosts::{IterationRow, TaskRow};
use super::inbox::Inbox;
use super::series::Series;
use super::state::Wire;
use super::stats::{JobStats, MessageRow, PacketRow, Tally};
use crate::model::{Histogram, NEVER, NO_PACKET, Outstanding, PacketKind, Time};

/// One used port: router, port, kind, flits, packets, busy ps, stalled ps, peak flits.
pub type PortRow = [u64; 8];

/// The counts of one domain that are added up.
#[derive(Clone, Copy, Debug, Default, PartialEq, bytemuck::Pod, bytemuck::Zeroable)]
#[repr(C)]
pub struct Totals {
    /// Packets whose head left a NIC.
    pub injected: u64,
    /// Packets whose tail reached its endpoint.
    pub delivered: u64,
    /// What became of packets.
    pub tally: Tally,
    /// Packets in the domain.
    pub in_flight: u64,
    /// Messages that sources have made.
    pub messages_generated: u64,
    /// Messages that are received whole.
    pub messages_received: u64,
    /// Messages that are not wholly sent.
    pub messages_waiting: u64,
    /// Payload received.
    pub delivered_bits: u64,
    /// Payload that came in at its receivers in the measurement window.
    pub accepted_bits: u64,
    /// Packets that left a router.
    pub hops: u64,
    /// Events processed.
    pub events: u64,
    /// Bytes of the domain's state.
    pub memory_state: u64,
    /// Bytes for packets in flight.
    pub memory_packets: u64,
}

/// Everything rank 0 needs of one domain.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct DomainReport {
    pub totals: Totals,
    pub last_delivery: Time,
    pub jobs: Vec<JobStats>,
    /// Width of the time bins, ps.
    pub bin_width: Time,
    pub ejected: Vec<Series<1>>,
    pub endpoints: Vec<u64>,
    pub routers: Vec<u64>,
    pub ports: Vec<PortRow>,
    pub packets: Vec<PacketRow>,
    pub messages: Vec<MessageRow>,
    pub occupancy: Vec<u64>,
    /// Interval of the contents of routers, ps.
    pub occupancy_interval: Time,
    /// The places of this domain's endpoints among those whose allowed rates are recorded.
    pub rated: Vec<u64>,
    /// Their rates, sample by sample, as the bits of an `f64`.
    pub rates: Vec<u64>,
    /// Interval of the rates, ps.
    pub rates_interval: Time,
    /// Tasks of applications here.
    pub tasks: Vec<TaskRow>,
    /// Their iterations, if asked for.
    pub iterations: Vec<IterationRow>,
    /// What the scheme has counted.
    pub scheme: Vec<u64>,
    /// Channels whose credits are not all home: router, port, virtual channel, missing flits.
    pub credits_missing: Vec<[u64; 4]>,
}

impl<const CC: bool> FabricDomain<CC> {
    /// The report of this domain at simulated time `end`.
    pub fn report(&mut self, end: Time) -> DomainReport {
        self.finish_samples(end);
        self.count_coming_in(end);
        let ports = self.port_rows(end);
        let (state, packets) = self.memory_bytes();
        let (occupancy_interval, rates_interval) = self.samples.intervals();
        let totals = Totals {
            injected: self.stats.tally.injected.iter().sum(),
            delivered: self.stats.delivered,
            tally: self.stats.tally,
            in_flight: self.packets_in_flight(),
            messages_generated: self.stats.messages_generated,
            messages_received: self.stats.messages_received,
            messages_waiting: self.sends.messages_waiting() as u64,
            delivered_bits: self.stats.delivered_bits,
            accepted_bits: self.stats.accepted_bits,
            hops: self.moved,
            events: self.events,
            memory_state: state as u64,
            memory_packets: packets as u64,
        };
        DomainReport {
            totals,
            last_delivery: self.stats.last_delivery,
            jobs: self.job_stats(end),
            bin_width: self.stats.bin_width,
            ejected: self.stats.ejected.clone(),
            endpoints: self.nics.iter().map(|nic| u64::from(nic.id)).collect(),
            routers: self
                .routers
                .iter()
                .map(|router| u64::from(router.id))
                .collect(),
            ports,
            packets: std::mem::take(&mut self.stats.packet_rows),
            messages: std::mem::take(&mut self.stats.message_rows),
            occupancy: std::mem::take(&mut self.stats.occupancy),
            occupancy_interval,
            rated: self.samples.places().map(u64::from).collect(),
            rates: self.stats.rates.drain(..).map(f64::to_bits).collect(),
            rates_interval,
            tasks: self.task_rows(end),
            iterations: self.iteration_rows(),
            scheme: self.scheme.counts(),
            credits_missing: self.credits_missing(),
        }
    }

    /// Of packets that are on the links to their endpoints when the run ends, what has come in belongs to the loads.
    fn count_coming_in(&mut self, end: Time) {
        for nic in self.nics.iter() {
            let mut index = nic.wire.head;
            while index != NO_PACKET {
                let packet = self.pool.get(index);
                let tail = packet.tail();
                let origin = self.pool.origin(index);
                self.stats.came_in(packet, origin, tail, end);
                index = self.pool.after(index);
            }
        }
    }

    /// What is counted of each workload, with the packets that are still under way. All data packets of a domain's pool are
    /// injected, and each is in one domain.
    fn job_stats(&self, end: Time) -> Vec<JobStats> {
        let mut jobs = self.stats.jobs.clone();
        let coming = self.inboxes.iter().flat_map(Inbox::packets);
        let coming = coming.map(|mail| (&mail.packet, &mail.origin));
        for (packet, origin) in self.pool.packets().chain(coming) {
            if origin.kind == PacketKind::Data as u8 && self.stats.measured(packet.injected) {
                let missing = &mut jobs[usize::from(origin.job)].network_missing;
                missing.add(end.saturating_sub(packet.injected));
            }
        }
        jobs
    }

    fn port_rows(&self, end: Time) -> Vec<PortRow> {
        let mut rows = Vec::new();
        for router in self.routers.iter() {
            for port in 0..router.ports {
                let out = &self.outputs[router.base as usize + usize::from(port)];
                if matches!(out.wire, Wire::Unused) {
                    continue;
                }
                // A packet that is still on the link, or still waiting, counts up to the end only.
                let beyond = out.link_free.saturating_sub(end).min(out.counts.busy);
                let waiting = if out.stalled_since == NEVER {
                    0
                } else {
                    end.saturating_sub(out.stalled_since)
                };
                rows.push([
                    u64::from(router.id),
                    u64::from(port),
                    out.kind as u64,
                    out.counts.flits,
                    out.counts.packets,
                    out.counts.busy - beyond,
                    out.counts.stalled + waiting,
                    u64::from(out.peak),
                ]);
            }
        }
        rows
    }

    fn credits_missing(&self) -> Vec<[u64; 4]> {
        let mut rows = Vec::new();
        for router in self.routers.iter() {
            for port in 0..router.ports {
                let out = &self.outputs[router.base as usize + usize::from(port)];
                if matches!(out.wire, Wire::Unused | Wire::Endpoint(_)) {
                    continue;
                }
                for vc in 0..usize::from(out.vcs * self.fixed.classes.count()) {
                    let credit = &self.channels[out.channel_base as usize + vc].credit;
                    if !credit.is_home() {
                        let home = credit.available + credit.on_the_way();
                        let missing = i64::from(credit.capacity) - i64::from(home);
                        rows.push([
                            u64::from(router.id),
                            u64::from(port),
                            vc as u64,
                            missing as u64,
                        ]);
                    }
                }
            }
        }
        rows
    }
}

/// Writes lists of words.
#[derive(Default)]
struct Writer(Vec<u64>);

impl Writer {
    fn list(&mut self, words: &[u64]) {
        self.0.push(words.len() as u64);
        self.0.extend_from_slice(words);
    }
}

/// Reads what [`Writer`] wrote.
struct Reader<'a>(&'a [u64]);

impl Reader<'_> {
    fn word(&mut self) -> Option<u64> {
        let (&word, rest) = self.0.split_first()?;
        self.0 = rest;
        Some(word)
    }

    fn list(&mut self) -> Option<Vec<u64>> {
        let length = usize::try_from(self.word()?).ok()?;
        let (list, rest) = self.0.split_at_checked(length)?;
        self.0 = rest;
        Some(list.to_vec())
    }

    fn histogram(&mut self) -> Option<Histogram> {
        Histogram::from_words(&self.list()?)
    }

    fn rows<const N: usize>(&mut self) -> Option<Vec<[u64; N]>> {
        let words = self.list()?;
        let rows = words.chunks_exact(N).map(|row| row.try_into().ok());
        rows.collect()
    }
}

impl DomainReport {
    /// The report as words.
    pub fn to_words(&self) -> Vec<u64> {
        let mut out = Writer::default();
        out.list(bytemuck::cast_slice(&[self.totals]));
        out.0.push(self.last_delivery);
        out.0.push(self.jobs.len() as u64);
        for job in &self.jobs {
            job.write(&mut out);
        }
        out.0.push(self.bin_width);
        out.0.push(self.ejected.len() as u64);
        for series in &self.ejected {
            out.list(&series.to_words());
        }
        out.list(&self.endpoints);
        out.list(&self.routers);
        out.list(self.ports.as_flattened());
        out.list(self.packets.as_flattened());
        out.list(self.messages.as_flattened());
        out.list(&self.occupancy);
        out.0.push(self.occupancy_interval);
        out.list(&self.rated);
        out.list(&self.rates);
        out.0.push(self.rates_interval);
        out.list(self.tasks.as_flattened());
        out.list(self.iterations.as_flattened());
        out.list(&self.scheme);
        out.list(self.credits_missing.as_flattened());
        out.0
    }

    /// The inverse of [`DomainReport::to_words`], taking the report off the front of `words`; None if they make no
    /// sense.
    pub fn from_words(words: &mut &[u64]) -> Option<DomainReport> {
        let mut from = Reader(words);
        let scalars = from.list()?;
        let totals = *bytemuck::try_cast_slice(&scalars).ok()?.first()?;
        let last_delivery = from.word()?;
        let jobs = (0..from.word()?)
            .map(|_| JobStats::read(&mut from))
            .collect::<Option<_>>()?;
        let bin_width = from.word()?;
        let ejected = (0..from.word()?)
            .map(|_| Series::from_words(&from.list()?))
            .collect::<Option<_>>()?;
        let report = DomainReport {
            totals,
            last_delivery,
            jobs,
            bin_width,
            ejected,
            endpoints: from.list()?,
            routers: from.list()?,
            ports: from.rows()?,
            packets: from.rows()?,
            messages: from.rows()?,
            occupancy: from.list()?,
            occupancy_interval: from.word()?,
            rated: from.list()?,
            rates: from.list()?,
            rates_interval: from.word()?,
            tasks: from.rows()?,
            iterations: from.rows()?,
            scheme: from.list()?,
            credits_missing: from.rows()?,
        };
        *words = from.0;
        Some(report)
    }
}

impl JobStats {
    fn write(&self, out: &mut Writer) {
        out.list(&self.network.to_words());
        out.list(&self.message.to_words());
        out.list(&self.network_missing.to_words());
        out.list(&self.message_missing.to_words());
        out.list(&[
            self.generated_bits,
            self.accepted_bits,
            self.delivered_bits,
            self.finish,
        ]);
        out.list(&self.last);
        out.list(&self.series.to_words());
    }

    fn read(from: &mut Reader) -> Option<JobStats> {
        let network = from.histogram()?;
        let message = from.histogram()?;
        let network_missing = from.histogram()?;
        let message_missing = Outstanding::from_words(&from.list()?)?;
        let [generated_bits, accepted_bits, delivered_bits, finish] =
            from.list()?.try_into().ok()?;
        Some(JobStats {
            network,
            message,
            network_missing,
            message_missing,
            generated_bits,
            accepted_bits,
            delivered_bits,
            finish,
            last: from.list()?,
            series: Series::from_words(&from.list()?)?,
        })
    }
}
