//! Record of flows for the fluid model: when each began, and how much of it each link carried.

use crate::setup::plain::Compiled;
use crate::state::records::flow_log::{Arrived, FlowArrival, FlowBegin, FlowHop, FlowReport};

use crate::domain::FabricDomain;
use crate::state::OutIndex;
use weir_model::{EndpointId, Origin, PacketIndex, PacketKind, Stamp, Time};
use weir_workload::tasks::Envelope;

/// True if a message is a flow: not one by which tasks agree on something, and long enough.
fn is_flow(origin: &Origin, from_bits: u64) -> bool {
    let content = match Envelope::from_stamp(origin.stamp()) {
        Some(envelope) => envelope.is_content(),
        None => origin.stamp() == Stamp::NONE,
    };
    content && origin.message_bits >= from_bits
}

impl<K: Compiled> FabricDomain<K> {
    /// The first packet of a message leaves now.
    #[inline(never)]
    pub(crate) fn flow_starts(&mut self, destination: EndpointId, origin: &Origin, now: Time) {
        if !is_flow(origin, self.fixed.flows.from_bits) {
            return;
        }
        let iteration = self.iteration_of(origin);
        self.records.flow_log.rows.push(FlowBegin {
            source: origin.source,
            message: origin.message,
            destination,
            job: origin.job,
            bits: origin.message_bits,
            flits: self.about.packets(origin.message_bits).1,
            generated: origin.generated,
            started: now,
            iteration,
        });
    }

    /// The iteration of its task in which a message was generated.
    fn iteration_of(&self, origin: &Origin) -> u32 {
        let nic = self.nic_of(origin.source);
        let place = self.hosts.places.get(&(origin.job, nic));
        place.map_or(0, |&place| {
            let own = self.hosts.hosts[place as usize].task.iterations();
            let begun = own.partition_point(|one| one.begin <= origin.generated);
            begun.saturating_sub(1) as u32
        })
    }

    /// A data packet is at its endpoint.
    #[inline(never)]
    pub(crate) fn flow_arrives(&mut self, origin: &Origin, now: Time) {
        if !self.records.stats.measured(now) || !is_flow(origin, self.fixed.flows.from_bits) {
            return;
        }
        let key = (origin.source, origin.message);
        let (sent, bits) = (origin.injected, u64::from(origin.payload_bits));
        let arrived = self.records.flow_log.arrived.entry(key);
        let arrived = arrived.or_insert(Arrived {
            first: sent,
            last: (sent, bits),
            bits: 0,
        });
        arrived.first = arrived.first.min(sent);
        arrived.last = arrived.last.max((sent, bits));
        arrived.bits += bits;
    }

    /// A packet leaves a router.
    #[inline(never)]
    pub(crate) fn flow_hops(&mut self, index: PacketIndex, output: OutIndex) {
        let (flits, origin) = (self.pool.get(index).flits, self.pool.origin(index));
        if origin.is(PacketKind::DATA) && is_flow(origin, self.fixed.flows.from_bits) {
            let key = (output, origin.source, origin.message);
            *self.records.flow_log.hops.entry(key).or_default() += u64::from(flits);
        }
    }

    /// Recorded flows, in an order that depends on nothing but the run.
    pub(crate) fn flow_report(&mut self) -> FlowReport {
        let mut rows = std::mem::take(&mut self.records.flow_log.rows);
        rows.sort_unstable();
        let log = std::mem::take(&mut self.records.flow_log.hops).into_iter();
        let mut hops: Vec<FlowHop> = log
            .map(|((output, source, message), flits)| {
                let (router, port) = self.port_of(output);
                FlowHop {
                    router,
                    port,
                    source,
                    message,
                    flits,
                }
            })
            .collect();
        hops.sort_unstable();
        let arrived = std::mem::take(&mut self.records.flow_log.arrived).into_iter();
        let mut rates: Vec<FlowArrival> = arrived
            .map(|((source, message), arrived)| FlowArrival {
                source,
                message,
                first: arrived.first,
                last: arrived.last.0,
                bits: arrived.bits - arrived.last.1,
            })
            .collect();
        rates.sort_unstable();
        FlowReport { rows, rates, hops }
    }
}
