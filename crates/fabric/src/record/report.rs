//! What a domain reports at the end of a run.

use crate::setup::plain::Compiled;
use serde::{Deserialize, Serialize};

use super::attribution::waits::WaitsReport;
use super::flow_log::FlowReport;
use super::series::Series;
use super::stats::{JobStats, MessageRow, PacketRow, Tally};
use crate::domain::FabricDomain;
use crate::endpoint::hosts::{BehindRow, IterationRow, TaskRow};
use crate::state::Wire;
use crate::state::mail::inbox::Inbox;
use weir_model::{NO_PACKET, PacketKind, Time};

/// One used port: router, port, kind, flits, packets, busy ps, stalled ps, peak flits.
pub type PortRow = [u64; 8];

/// The counts of one domain that are added up.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
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
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct DomainReport {
    pub totals: Totals,
    pub last_delivery: Time,
    pub jobs: Vec<JobStats>,
    /// Width of the time bins, ps.
    pub bin_width: Time,
    pub ejected: Vec<Series<1>>,
    pub endpoints: Vec<u64>,
    /// Payload bits per bin of the endpoints of which that is recorded, in the order of `endpoints`.
    pub received: Vec<Series<1>>,
    pub routers: Vec<u64>,
    pub ports: Vec<PortRow>,
    pub packets: Vec<PacketRow>,
    pub messages: Vec<MessageRow>,
    /// Of each record of the scheme its rows, one after another.
    pub scheme_rows: Vec<Vec<u64>>,
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
    /// Tasks that may still begin iterations.
    pub behind: Vec<BehindRow>,
    /// What is recorded of flows.
    pub flows: FlowReport,
    /// Whether flows are left that are not over.
    pub flows_left: bool,
    /// How often a router kept a port for a flow, and how often there was no room to.
    pub circuits: [u64; 2],
    /// What the scheme has counted.
    pub scheme: Vec<u64>,
    /// What waited at ports, if that is recorded.
    pub waits: WaitsReport,
    /// Queues whose credits are not all home: router, port, queue over all classes, missing flits.
    pub credits_missing: Vec<[u64; 4]>,
}

impl<K: Compiled> FabricDomain<K> {
    /// The report of this domain at simulated time `end`.
    pub fn report(&mut self, end: Time) -> DomainReport {
        self.finish_samples(end);
        self.count_coming_in(end);
        let ports = self.port_rows(end);
        let (state, packets) = self.memory_bytes();
        let (occupancy_interval, rates_interval) = self.records.samples.intervals();
        let jobs = self.records.stats.jobs.iter();
        let totals = Totals {
            injected: self.records.stats.tally.injected.iter().sum(),
            delivered: self.records.stats.delivered,
            tally: self.records.stats.tally,
            in_flight: self.packets_in_flight(),
            messages_generated: jobs.clone().map(|job| job.messages_generated).sum(),
            messages_received: jobs.map(|job| job.messages_received).sum(),
            messages_waiting: self.ends.sends.messages_waiting() as u64,
            delivered_bits: self.records.stats.delivered_bits,
            accepted_bits: self.records.stats.accepted_bits,
            hops: self.progress.moved,
            events: self.progress.events,
            memory_state: state as u64,
            memory_packets: packets as u64,
        };
        DomainReport {
            totals,
            last_delivery: self.records.stats.last_delivery,
            jobs: self.job_stats(end),
            bin_width: self.records.stats.bin_width,
            ejected: self.records.stats.ejected.clone(),
            endpoints: self.ends.nics.iter().map(|nic| u64::from(nic.id)).collect(),
            received: std::mem::take(&mut self.records.stats.received),
            routers: self
                .ports
                .routers
                .iter()
                .map(|router| u64::from(router.id))
                .collect(),
            ports,
            packets: std::mem::take(&mut self.records.stats.packet_rows),
            messages: std::mem::take(&mut self.records.stats.message_rows),
            scheme_rows: std::mem::take(&mut self.records.stats.scheme_rows),
            occupancy: std::mem::take(&mut self.records.stats.occupancy),
            occupancy_interval,
            rated: self.records.samples.places().map(u64::from).collect(),
            rates: self
                .records
                .stats
                .rates
                .drain(..)
                .map(f64::to_bits)
                .collect(),
            rates_interval,
            tasks: self.task_rows(end),
            iterations: self.iteration_rows(),
            behind: self.behind_rows(),
            flows: self.flow_report(),
            flows_left: !self.ends.flows.are_over(),
            circuits: self.ends.flows.counts,
            scheme: self.scheme.counts(),
            waits: self.waits_report(),
            credits_missing: self.credits_missing(),
        }
    }

    /// Of packets that are on the links to their endpoints when the run ends, what has come in belongs to the loads.
    fn count_coming_in(&mut self, end: Time) {
        for nic in self.ends.nics.iter() {
            let mut index = nic.wire.head;
            while index != NO_PACKET {
                let packet = self.pool.get(index);
                let tail = packet.tail();
                let origin = self.pool.origin(index);
                self.records.stats.came_in(packet, origin, tail, end);
                index = self.pool.after(index);
            }
        }
    }

    /// What is counted of each workload, with the packets that are still under way. All data packets of a domain's pool are
    /// injected, and each is in one domain.
    fn job_stats(&self, end: Time) -> Vec<JobStats> {
        let mut jobs = self.records.stats.jobs.clone();
        let coming = self.mail.inboxes.iter().flat_map(Inbox::packets);
        let coming = coming.map(|mail| (&mail.packet, &mail.origin));
        for (_, origin) in self.pool.packets().chain(coming) {
            if origin.is(PacketKind::DATA) && self.records.stats.measured(origin.injected) {
                let missing = &mut jobs[usize::from(origin.job)].network_missing;
                missing.add(end.saturating_sub(origin.injected));
            }
        }
        if self.records.stats.recording.iteration_times {
            self.add_iteration_times(&mut jobs, end);
        }
        jobs
    }

    fn port_rows(&self, end: Time) -> Vec<PortRow> {
        let mut rows = Vec::new();
        for router in self.ports.routers.iter() {
            for port in 0..router.ports {
                let out = &self.ports.outputs[router.base as usize + usize::from(port)];
                if matches!(out.wire, Wire::Unused) {
                    continue;
                }
                // A packet that is still on the link counts up to the end only.
                let beyond = out.link_free.saturating_sub(end).min(out.counts.busy);
                rows.push([
                    u64::from(router.id),
                    u64::from(port),
                    u64::from(out.kind.0),
                    out.counts.flits,
                    out.counts.packets,
                    out.counts.busy - beyond,
                    out.stalled_until(end),
                    u64::from(out.peak),
                ]);
            }
        }
        rows
    }

    fn credits_missing(&self) -> Vec<[u64; 4]> {
        let mut rows = Vec::new();
        for router in self.ports.routers.iter() {
            for port in 0..router.ports {
                let out = &self.ports.outputs[router.base as usize + usize::from(port)];
                if matches!(out.wire, Wire::Unused) {
                    continue;
                }
                for (queue, channel) in self.used_channels(out) {
                    let credit = &self.ports.channels[channel].credit;
                    if !credit.is_home() {
                        let home = credit.available + credit.on_the_way();
                        let missing = i64::from(credit.capacity) - i64::from(home);
                        rows.push([
                            u64::from(router.id),
                            u64::from(port),
                            u64::from(queue),
                            missing as u64,
                        ]);
                    }
                }
            }
        }
        rows
    }
}
