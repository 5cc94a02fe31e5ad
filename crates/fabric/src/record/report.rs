//! Report of a domain at the end of a run.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

use crate::domain::FabricDomain;
use crate::setup::network::failing::Failing;
use crate::setup::plain::Compiled;
use crate::state::mail::inbox::Inbox;
use crate::state::records::failing::FailingCounts;
use crate::state::records::flow_log::FlowReport;
use crate::state::records::series::Series;
use crate::state::records::stats::{JobStats, Tally};
use crate::state::records::task_log::{TaskEnd, TasksBehind};
use crate::state::records::waits::WaitsReport;
use crate::state::{OutIndex, Wire};
use weir_model::table::{IterationRow, LinkInterval, MessageRow, PacketRow, Summary, TaskInterval};
use weir_model::{LinkKind, NO_PACKET, PacketKind, PortId, RouterId, Time};
use weir_network::topology::Place;
use weir_workload::timeline::LeftOut;

/// The outgoing direction of a port that is used.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct PortCounts {
    pub router: RouterId,
    pub port: PortId,
    pub kind: LinkKind,
    pub flits: u64,
    pub packets: u64,
    /// Time for which packets had the link, with all times that they were sent again, ps.
    pub busy: Time,
    /// Time during which a packet was ready but had no credit, ps.
    pub stalled: Time,
    /// The most flits that were on their way out by it.
    pub peak: u64,
}

/// A queue whose credits are not all home.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct MissingCredit {
    pub router: RouterId,
    pub port: PortId,
    /// Its number over all classes.
    pub queue: u64,
    pub flits: i64,
}

/// Counts of a link that fails during the run, in one direction.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct FailingLink {
    /// Its beginning.
    pub place: Place,
    /// Its packets.
    pub counts: FailingCounts,
}

/// The counts of one domain that are added up, and are not in results as they are.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Totals {
    /// Packet counts by what became of them.
    pub tally: Tally,
    /// Messages that are not wholly sent.
    pub messages_waiting: u64,
    /// Payload received.
    pub delivered_bits: u64,
    /// Payload that came in at its receivers in the measurement window.
    pub accepted_bits: u64,
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
    /// Its part of the totals of the run.
    pub summary: Summary,
    pub totals: Totals,
    pub last_delivery: Time,
    pub jobs: Vec<JobStats>,
    /// Width of the time bins, ps.
    pub bin_width: Time,
    pub ejected: Vec<Series<u64>>,
    pub endpoints: Vec<u64>,
    /// Payload bits per bin of the endpoints of which that is recorded, in the order of
    /// `endpoints`.
    pub received: Vec<Series<u64>>,
    pub routers: Vec<u64>,
    pub ports: Vec<PortCounts>,
    pub packets: Vec<PacketRow>,
    pub messages: Vec<MessageRow>,
    /// Rows of each record of the scheme, one after another.
    pub scheme_rows: Vec<Vec<u64>>,
    pub occupancy: Vec<u64>,
    /// Interval of the contents of routers, ps.
    pub occupancy_interval: Time,
    /// Places of this domain's endpoints in the list of endpoints whose allowed rates are recorded.
    pub rated: Vec<u64>,
    /// Their rates, sample by sample, as the bits of an `f64`.
    pub rates: Vec<u64>,
    /// Interval of the rates, ps.
    pub rates_interval: Time,
    /// Tasks of applications here.
    pub tasks: Vec<TaskEnd>,
    /// Their iterations, if asked for.
    pub iterations: Vec<IterationRow>,
    /// Tasks that may still begin iterations.
    pub behind: Vec<TasksBehind>,
    /// Timelines of tasks, and the intervals that they left out.
    pub task_intervals: (Vec<TaskInterval>, LeftOut),
    /// Timelines of links, and the intervals that they left out.
    pub link_intervals: (Vec<LinkInterval>, LeftOut),
    /// Records of flows.
    pub flows: FlowReport,
    /// True if flows are left that are not over.
    pub flows_left: bool,
    /// Number of times a router kept a port for a flow, and number of times it had no room to.
    pub circuits: [u64; 2],
    /// Counters of the scheme.
    pub scheme: Vec<u64>,
    /// Backlog at ports, if that is recorded.
    pub waits: WaitsReport,
    /// Queues whose credits are not all home.
    pub credits_missing: Vec<MissingCredit>,
    /// Counts of the links that fail during the run.
    pub failing: Vec<FailingLink>,
}

impl<K: Compiled> FabricDomain<K> {
    /// The report of this domain at simulated time `end`.
    pub fn report(&mut self, end: Time) -> DomainReport {
        self.finish_samples(end);
        self.count_coming_in(end);
        debug_assert!(self.pool.len() > 0 || self.is_at_rest());
        let ports = self.port_rows(end);
        let (state, packets) = self.memory_bytes();
        let (occupancy_interval, rates_interval) = self.records.samples.intervals();
        let totals = Totals {
            tally: self.records.stats.tally,
            messages_waiting: self.ends.sends.messages_waiting() as u64,
            delivered_bits: self.records.stats.delivered_bits,
            accepted_bits: self.records.stats.accepted_bits,
            events: self.progress.events,
            memory_state: state as u64,
            memory_packets: packets as u64,
        };
        DomainReport {
            summary: self.summary(),
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
            rates: (self.records.stats.rates.drain(..))
                .map(f64::to_bits)
                .collect(),
            rates_interval,
            tasks: self.task_rows(end),
            iterations: self.iteration_rows(),
            behind: self.behind_rows(),
            task_intervals: self.task_intervals(end),
            link_intervals: self.link_intervals(end),
            flows: self.flow_report(),
            flows_left: !self.ends.flows.are_over(),
            circuits: self.ends.flows.counts,
            scheme: self.scheme.counts(end),
            waits: self.waits_report(),
            credits_missing: self.credits_missing(),
            failing: self.failing_links(),
        }
    }

    /// The totals of this domain.
    fn summary(&self) -> Summary {
        let jobs = self.records.stats.jobs.iter();
        let sum = |count: fn(&JobStats) -> u64| jobs.clone().map(count).sum::<u64>();
        let none = self.network.inside.map(|_| 0);
        let counted = &self.records.stats.summary;
        Summary {
            packets_injected: self.records.stats.tally.injected.iter().sum(),
            packets_dropped: self.records.stats.tally.dropped(),
            packets_in_flight: self.packets_in_flight(),
            messages_generated: sum(|job| job.messages_generated),
            messages_received: sum(|job| job.messages_received),
            protocol_messages_generated: Some(sum(|job| job.protocol_generated)),
            protocol_messages_received: Some(sum(|job| job.protocol_received)),
            packet_hops: self.progress.moved,
            inside_messages: counted.inside_messages.or(none),
            inside_bytes: counted.inside_bytes.or(none),
            ..counted.clone()
        }
    }

    fn failing_links(&self) -> Vec<FailingLink> {
        let counts = &self.records.failing;
        let row = |(output, failing): (&OutIndex, &Failing)| FailingLink {
            place: failing.place,
            counts: counts.get(output).copied().unwrap_or_default(),
        };
        self.failing.iter().map(row).collect()
    }

    /// Counts packets that are on the links to their endpoints when the run ends: the part that has
    /// come in belongs to the loads.
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

    /// Counts of each workload, with the packets that are still under way.
    /// All data packets of a domain's pool are injected, and each is in one domain.
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

    fn port_rows(&self, end: Time) -> Vec<PortCounts> {
        let mut rows = Vec::with_capacity(self.ports.outputs.len());
        let mut beyond = BTreeMap::<OutIndex, Time>::new();
        for one in &self.records.beyond {
            // A packet that is still on the link counts up to the end only.
            let time = one.end.saturating_sub(one.begin.max(end));
            let sum = beyond.entry(one.output).or_default();
            *sum = sum.saturating_add(time);
        }
        for router in self.ports.routers.iter() {
            for port in 0..router.ports {
                let output = router.base + u32::from(port);
                let out = &self.ports.outputs[output as usize];
                if matches!(out.wire, Wire::Unused) {
                    continue;
                }
                let beyond = beyond.get(&output).copied().unwrap_or(0);
                rows.push(PortCounts {
                    router: router.id,
                    port,
                    kind: out.kind,
                    flits: out.counts.flits,
                    packets: out.counts.packets,
                    busy: out.counts.busy.saturating_sub(beyond),
                    stalled: out.stalled_until(end),
                    peak: out.peak.into(),
                });
            }
        }
        rows
    }

    /// True if nothing is counted as waiting: so it must be when there are no packets.
    fn is_at_rest(&self) -> bool {
        let ports = &self.ports;
        ports.outputs.iter().all(|out| out.level() + out.lossy == 0)
            && ports.channels.iter().all(|channel| channel.flits == 0)
    }

    fn credits_missing(&self) -> Vec<MissingCredit> {
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
                        rows.push(MissingCredit {
                            router: router.id,
                            port,
                            queue: queue.into(),
                            flits: i64::from(credit.capacity) - i64::from(home),
                        });
                    }
                }
            }
        }
        rows
    }
}
