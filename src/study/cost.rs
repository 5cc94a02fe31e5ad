//! What a point will take, before it runs.

use crate::config::{Experiment, Until};
use crate::fabric::Drive;
use crate::model::{EndpointId, below, stream};
use crate::simulation::Plan;
use crate::topology::Topology;

/// Packet-hops per second of one core where nothing was measured yet: about what large networks reach.
pub const ASSUMED_RATE: f64 = 3e6;

/// Pairs of endpoints whose distance is looked at.
const PAIRS: u64 = 256;

/// How large a point is.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Cost {
    /// Endpoints of its network.
    pub endpoints: u32,
    /// Domains of its network: the most ranks that it can use.
    pub domains: u32,
    /// Packets times routers on a shortest way, about; None for a run to completion or an
    /// application, whose length nobody knows.
    pub packet_hops: Option<f64>,
}

impl Cost {
    /// Endpoints x load x simulated time over the size of a packet, times the mean distance.
    pub(super) fn of(experiment: &Experiment, plan: &Plan) -> Cost {
        let topology = &plan.network().topology;
        let hops = distance(&**topology);
        let packets = packets(experiment, plan);
        Cost {
            endpoints: topology.endpoints(),
            domains: topology.domains(),
            packet_hops: packets.map(|packets| packets * hops),
        }
    }
}

/// Packets that all workloads send, and their acknowledgements.
fn packets(experiment: &Experiment, plan: &Plan) -> Option<f64> {
    let end = match experiment.run.until {
        Until::Time(end) => Some(end.0),
        Until::Completion => None,
    };
    let flit = f64::from(experiment.router.flit_size().0);
    let longest = experiment.max_packet_flits() as f64 * flit;
    let copies = if experiment.nic.acknowledge { 2.0 } else { 1.0 };
    let mut packets = 0.0;
    let enabled = experiment.workloads.iter().filter(|one| one.enabled);
    for (workload, traffic) in enabled.zip(&*plan.blueprint.traffic) {
        // Nobody knows what an application sends by when.
        let (pattern, Drive::Pattern(open)) = (workload.pattern()?, &traffic.drive) else {
            return None;
        };
        let stop = match (pattern.stop, end) {
            (Some(stop), Some(end)) => stop.0.min(end),
            (Some(stop), None) => stop.0,
            (None, end) => end?,
        };
        let seconds = stop.saturating_sub(workload.start.0) as f64 / 1e12;
        let topology = &plan.network().topology;
        let sending = |endpoint: &EndpointId| traffic.sends(*endpoint);
        let bandwidth = |endpoint: &EndpointId| {
            let (router, port) = topology.attachment(*endpoint);
            topology.link(router, port).bandwidth.0 as f64
        };
        let senders = traffic.tasks.iter().filter(|endpoint| sending(endpoint));
        let bits: f64 = senders.map(bandwidth).sum::<f64>() * pattern.load * seconds;
        let message = open.sizes.mean_bits();
        packets += copies * (bits / message) * (message / longest).ceil();
    }
    Some(packets)
}

/// Routers on a shortest way, on average over some pairs.
fn distance(topology: &dyn Topology) -> f64 {
    let endpoints = topology.endpoints();
    let mut rng = stream(1, &[]);
    let pair = |_| {
        let (a, b) = (below(&mut rng, endpoints), below(&mut rng, endpoints));
        f64::from(topology.minimal_routers(a, b))
    };
    (0..PAIRS).map(pair).sum::<f64>() / PAIRS as f64
}
