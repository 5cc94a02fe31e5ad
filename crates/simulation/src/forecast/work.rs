//! Estimated work of an experiment.

use std::sync::Arc;

use rustc_hash::FxHashMap;

use super::flow::{Amount, Flow, Receivers, received};
use crate::Plan;
use crate::config::{Experiment, Until};
use weir_fabric::{BufferPer, CHUNK, MOST_BINS, Network, Traffic};
use weir_model::{EndpointId, LinkKind, NEVER};
use weir_network::topology::Links;

/// Number of copies of the records while the result is put together.
pub(super) const COPIES: f64 = 4.0;
/// Numbers of the contents of routers in all, at most.
const MOST_NUMBERS: f64 = (1 << 24) as f64;

/// Estimated work of an experiment: from its numbers and its programs.
#[derive(Clone, Debug, PartialEq)]
pub struct Work {
    /// Endpoints of its network.
    pub endpoints: u32,
    /// Domains of its network.
    pub domains: u32,
    /// End of the run, ps; None: when its applications are done.
    pub end: Option<f64>,
    /// Its end in any case, ps; infinite if there is none.
    pub at_most: f64,
    /// The workloads that run.
    pub flows: Vec<Flow>,
    /// Bytes of the state of all domains before anything is sent.
    pub state: u64,
    /// Bytes of the traces that are replayed, and of what motifs have drawn, which all domains
    /// share.
    pub shared: u64,
    /// Zero-load time of a packet on a shortest path, ps.
    pub latency: f64,
    /// Packets that find room in all buffers of the network.
    pub buffers: f64,
    /// The records.
    pub records: Records,
}

impl Work {
    /// Estimates the work of an experiment.
    /// About `effort` operations of the programs of all applications are examined.
    pub fn of(experiment: &Experiment, plan: &Plan, effort: u64) -> Work {
        let network = plan.network();
        let run = &experiment.run;
        let end = run.end().unwrap_or(NEVER);
        let limit = run.end().map(|end| end as f64);
        let is_timed = matches!(run.until, Until::Time(_));
        // However many workloads there are, it takes no longer.
        let effort = effort / plan.blueprint.traffic.len().max(1) as u64;
        let enabled = experiment.workloads.iter().filter(|one| one.enabled);
        let pairs = enabled.zip(&*plan.blueprint.traffic);
        let (mut flows, receivers): (Vec<Flow>, Vec<Receivers>) = pairs
            .map(|(workload, traffic)| {
                let scheme = plan.scheme.as_ref();
                Flow::of(workload, traffic, network, scheme, end, effort)
            })
            .unzip();
        accept(&mut flows, &receivers, &plan.blueprint.traffic, network);
        let recording = &plan.blueprint.recording;
        Work {
            endpoints: network.topology.endpoints(),
            domains: network.partition.domains(),
            end: limit.filter(|_| is_timed),
            at_most: limit.unwrap_or(f64::INFINITY),
            latency: latency(&flows, network),
            buffers: buffers(&flows, network),
            flows,
            state: plan.expected_state(),
            shared: traces(experiment) + drawn(&plan.blueprint.traffic),
            records: Records {
                bin: recording.bin.max(1) as f64,
                occupancy: recording.occupancy as f64,
                routers: f64::from(network.topology.routers()),
                packets: recording.packets,
                messages: recording.messages,
                counts: counts(&plan.blueprint.traffic, network.partition.domains()),
            },
        }
    }

    /// Packet-hops of the whole run, if all packets take shortest paths and receivers take what
    /// their links carry.
    pub fn packet_hops(&self) -> f64 {
        let end = self.least_end();
        let hops = |flow: &Flow| flow.bits_until(end) * flow.hops_per_bit;
        self.flows.iter().map(hops).sum()
    }

    /// Time from which arrivals show what the network carries, ps.
    /// By then messages end as often as others begin, and the first packets after that have
    /// arrived, as have the answers to them and the packets that the answers release. A run that
    /// ends sooner never gets there.
    pub fn settles(&self) -> f64 {
        /// Traversals of the network.
        const WAYS: f64 = 3.0;
        let built = self.flows.iter().map(|flow| flow.start + flow.builds_up());
        let first = built.fold(f64::INFINITY, f64::min);
        (first + WAYS * self.latency).min(self.at_most)
    }

    /// Earliest end of the run, ps: no application can be done sooner.
    pub fn least_end(&self) -> f64 {
        self.end_with(|_, flow, least| flow.start + least)
    }

    /// End of the run, ps, if each application ends when `done` says, from its job, its flow and
    /// the least time that it takes, ps.
    pub fn end_with(&self, done: impl Fn(usize, &Flow, f64) -> f64) -> f64 {
        if let Some(end) = self.end {
            return end;
        }
        let ends = self.flows.iter().enumerate();
        let ends = ends.filter_map(|(job, flow)| match flow.amount {
            Amount::Closed { least, .. } => Some(done(job, flow, least)),
            // If all traffic stops, the run ends with the last packet.
            Amount::Open { .. } => Some(flow.stop).filter(|stop| stop.is_finite()),
        });
        ends.reduce(f64::max)
            .map_or(self.at_most, |last| last.min(self.at_most))
    }
}

/// Records of a run.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Records {
    /// Width of a time bin, ps.
    pub bin: f64,
    /// Interval of the contents of routers, ps; 0: they are not recorded.
    pub occupancy: f64,
    /// Number of routers.
    pub routers: f64,
    /// True if there is a row for each packet.
    pub packets: bool,
    /// True if there is a row for each message.
    pub messages: bool,
    /// Bytes of the other counts of all workloads: histograms of latencies mostly, in each domain
    /// in which they have tasks.
    pub counts: f64,
}

impl Work {
    /// Hops of a packet on a shortest path, on average.
    pub fn hops_per_packet(&self) -> f64 {
        mean_hops(&self.flows)
    }

    /// Bytes of the counts of all workloads, when the result is written.
    pub fn counted(&self) -> f64 {
        COPIES * self.records.counts
    }

    /// Bytes of the rows that are recorded until a time, ps, when the result is written.
    pub fn rows(&self, end: f64) -> f64 {
        let Records {
            occupancy,
            routers,
            packets,
            messages,
            ..
        } = self.records;
        let row = |kept: bool, words: f64| if kept { COPIES * 8.0 * words } else { 0.0 };
        let (packet, message) = (row(packets, 9.0), row(messages, 7.0));
        let contents = match occupancy > 0.0 {
            true => COPIES * 8.0 * routers * (end / occupancy).min(MOST_NUMBERS / routers),
            false => 0.0,
        };
        let of_flow = |flow: &Flow| {
            let bits = flow.bits_until(end);
            let count = match flow.amount {
                Amount::Open { message, .. } => bits / message,
                Amount::Closed { .. } => bits * flow.packets_per_bit,
            };
            packet * bits * flow.packets_per_bit + message * count
        };
        contents + self.flows.iter().map(of_flow).sum::<f64>()
    }
}

impl Records {
    /// Pieces in which counts by time bin are held, until a time, ps.
    pub fn chunks(&self, end: f64) -> f64 {
        (end / self.bin).min(MOST_BINS as f64) / CHUNK as f64 + 1.0
    }
}

/// Bytes of histograms of all workloads.
fn counts(traffic: &[Traffic], domains: u32) -> f64 {
    /// Histograms of packets and of messages; most samples by sending and by arrival share one.
    const HISTOGRAMS: f64 = 3.0;
    /// Up to some microseconds, in which most latencies are.
    const BUCKETS: f64 = 1_200.0;
    let domains_of = |traffic: &Traffic| traffic.tasks.len().min(domains as usize) as f64;
    8.0 * BUCKETS * HISTOGRAMS * traffic.iter().map(domains_of).sum::<f64>()
}

/// Bytes of the traces of all workloads that run, each once.
fn traces(experiment: &Experiment) -> u64 {
    let enabled = experiment.workloads.iter().filter(|one| one.enabled);
    let traces = enabled.filter_map(|one| one.job()?.program.trace());
    let each: FxHashMap<_, _> = traces.map(|trace| (Arc::as_ptr(trace), trace)).collect();
    each.values().map(|trace| trace.memory_bytes()).sum()
}

/// Bytes of what motifs have drawn.
fn drawn(traffic: &[Traffic]) -> u64 {
    let applications = traffic.iter().filter_map(|one| one.application());
    let bytes = applications.map(|one| one.job.motif.shared_bytes() as u64);
    bytes.sum()
}

/// Hops of a packet on a shortest path, on average.
fn mean_hops(flows: &[Flow]) -> f64 {
    let packets = flows.iter().map(|flow| flow.copies * flow.packets_per_bit);
    let hops: f64 = flows.iter().map(|flow| flow.hops_per_bit).sum();
    hops / packets.sum::<f64>().max(f64::MIN_POSITIVE)
}

/// Time that a packet is under way: its links and routers.
fn latency(flows: &[Flow], network: &Network) -> f64 {
    let links = network.topology.links();
    let count: f64 = links.iter().map(|links| links.count as f64).sum();
    let built = links
        .iter()
        .map(|links| links.count as f64 * links.link.latency as f64);
    // Of each direction, half a link.
    let added = network.failures.iter().map(|(from, changed)| {
        let built = network.topology.link_from(from).latency;
        0.5 * (changed.link.latency - built) as f64
    });
    let sum = built.chain(added).sum::<f64>();
    let hops = mean_hops(flows);
    hops * (sum / count.max(1.0) + network.typical().latency as f64)
}

/// Packets of a middling length that all buffers hold, of one traffic class.
fn buffers(flows: &[Flow], network: &Network) -> f64 {
    let parameters = &network.parameters;
    let router = network.typical();
    let output = f64::from(router.output_flits(parameters).unwrap_or(0));
    let flits = |links: &Links| {
        let (vcs, ends) = match links.link.kind {
            LinkKind::TERMINAL => (network.vcs(LinkKind::TERMINAL), 1.0),
            kind => (network.vcs(kind), 2.0),
        };
        let buffers = match router.buffer_per {
            BufferPer::Port | BufferPer::Divided => 1.0,
            BufferPer::Vc => f64::from(vcs),
        };
        let one = buffers
            * network
                .parameters
                .buffer_flits([router, router], &links.link) as f64
            + f64::from(vcs) * output;
        ends * links.count as f64 * one
    };
    let flits: f64 = network.topology.links().iter().map(flits).sum();
    // Packets for each bit, on average over the bits that are offered.
    let (mut bits, mut packets) = (0.0, 0.0);
    for flow in flows {
        let amount = match flow.amount {
            Amount::Open { offered, .. } => offered,
            Amount::Closed { bits, least } => bits / least.max(1.0),
        };
        bits += amount;
        packets += amount * flow.packets_per_bit;
    }
    let flit = f64::from(parameters.flit.0);
    let per_packet = (bits / packets.max(f64::MIN_POSITIVE) / flit).ceil();
    let least = f64::from(network.least_room());
    flits / per_packet.clamp(least, f64::from(parameters.max_packet))
}

/// Limits receivers to the capacity of their links.
/// The links also carry control traffic: for the data that the endpoints receive, and for the data
/// that they send, in equal proportion.
fn accept(flows: &mut [Flow], receivers: &[Receivers], traffic: &[Traffic], network: &Network) {
    let mut coming: FxHashMap<EndpointId, f64> = FxHashMap::default();
    for (flow, receivers) in flows.iter().zip(receivers) {
        for share in shares(flow, receivers) {
            *coming.entry(share.endpoint).or_default() += share.bits * (1.0 + flow.control[0]);
        }
    }
    let returning = returning(flows, traffic, network);
    for (flow, receivers) in flows.iter_mut().zip(receivers) {
        let taken: f64 = shares(flow, receivers)
            .map(|share| {
                let own = returning.get(share.endpoint as usize).copied();
                let data = coming.get(&share.endpoint).copied().unwrap_or(share.bits);
                let all = data + own.unwrap_or(0.0);
                let part = (received(network, share.endpoint) / all).min(1.0);
                share.endpoints * share.bits * part
            })
            .sum();
        if let Amount::Open { accepted, .. } = &mut flow.amount {
            *accepted = taken;
        }
    }
}

/// Bits of control packets that come to each endpoint in a ps for its own data; empty if there are
/// none.
fn returning(flows: &[Flow], traffic: &[Traffic], network: &Network) -> Vec<f64> {
    let mut returning = Vec::new();
    for (flow, traffic) in flows.iter().zip(traffic) {
        let Amount::Open { offered, .. } = flow.amount else {
            continue;
        };
        let each = offered * flow.control[1] / traffic.senders().max(1.0);
        if each > 0.0 {
            returning.resize(network.topology.endpoints() as usize, 0.0);
            let senders = traffic.tasks.iter().filter(|&&one| traffic.sends(one));
            senders.for_each(|&one| returning[one as usize] += each);
        }
    }
    returning
}

/// Traffic to an endpoint, which stands for some others.
struct Share {
    endpoint: EndpointId,
    endpoints: f64,
    /// Bits in a ps, to each.
    bits: f64,
}

/// Traffic to each receiver.
/// Receivers to which no more is drawn than by chance, if all get the same, are alike, and stand
/// for the receivers to which nothing is drawn.
fn shares<'a>(flow: &'a Flow, receivers: &'a Receivers) -> impl Iterator<Item = Share> + 'a {
    let offered = match flow.amount {
        Amount::Open { offered, .. } => offered,
        Amount::Closed { .. } => 0.0,
    };
    let all: u32 = receivers.drawn.iter().map(|(_, drawn)| drawn).sum();
    let all = f64::from(all).max(1.0);
    let mean = all / receivers.count.max(1) as f64;
    let most = mean + 6.0 * (1.0 + mean.sqrt());
    let alike = move |drawn: u32| f64::from(drawn) <= most;
    let drawn = receivers.drawn.iter();
    let chosen = drawn.clone().filter(|&&(_, drawn)| !alike(drawn)).count();
    let of_alike = drawn.clone().filter(|&&(_, drawn)| alike(drawn));
    let looked = of_alike.clone().count().max(1) as f64;
    let to_alike: f64 = of_alike.map(|&(_, drawn)| f64::from(drawn)).sum();
    let others = (receivers.count - chosen.min(receivers.count)).max(1) as f64;
    drawn.map(move |&(endpoint, drawn)| match alike(drawn) {
        true => Share {
            endpoint,
            endpoints: others / looked,
            bits: offered * to_alike / all / others,
        },
        false => Share {
            endpoint,
            endpoints: 1.0,
            bits: offered * f64::from(drawn) / all,
        },
    })
}
