//! Traffic that open-loop workloads offer to the links of each kind.

use crate::Plan;
use crate::config::Experiment;
use weir_fabric::{Drive, Network, Place, Traffic, empty};
use weir_model::{EndpointId, NEVER, Time, stream};

/// Messages of a workload that are drawn.
const DRAWN: usize = 4096;

/// Traffic that open-loop workloads offer to each kind of link, by the kind's number: the share of
/// what all links of the kind carry, averaged over them; above 1 it is more than that. Packets take
/// the paths that they would in an empty network; those of links to endpoints lead to the endpoint.
/// With flits that messages do not fill, acknowledgements and control packets. The largest share
/// of any time; 0 for applications, which wait for what they send. Links that are down carry
/// nothing, and degraded ones what is left; times when nothing is left of a kind do not count.
pub fn offered(experiment: &Experiment, plan: &Plan) -> Vec<f64> {
    let network = plan.network();
    let built = built(network);
    let enabled = experiment.workloads.iter().filter(|one| one.enabled);
    let pairs = enabled.zip(&*plan.blueprint.traffic);
    let all: Vec<(&Traffic, Vec<f64>)> = pairs
        .filter_map(|(workload, traffic)| {
            let load = workload.pattern()?.load;
            Some((traffic, of_workload(plan, traffic, load)?))
        })
        .collect();
    let at = |time: Time| {
        let on = all.iter().filter(|(one, _)| one.on().contains(time));
        let mut sum = vec![0.0; built.len()];
        for (_, bits) in on {
            sum.iter_mut()
                .zip(bits)
                .for_each(|(sum, bits)| *sum += bits);
        }
        sum
    };
    // The share is largest when one of them starts, or links fail.
    let mut times: Vec<Time> = all.iter().map(|(one, _)| one.start).collect();
    let changed = network.failures.iter().map(|(_, own)| own.span.from);
    let down = network.failures.down().flat_map(|(_, all)| all);
    times.extend(changed.chain(down.map(|down| down.span.from)));
    let end = experiment.run.end().unwrap_or(NEVER);
    times.retain(|&time| time < end);
    times.sort_unstable();
    times.dedup();
    let mut most = vec![0.0_f64; built.len()];
    for time in times {
        let left = left(network, &built, time);
        for ((most, bits), left) in most.iter_mut().zip(at(time)).zip(left) {
            // Where no link is left, nothing is carried, and nothing queues.
            if bits > 0.0 && left > 0 {
                *most = most.max(bits / (left as f64 / 1e12));
            }
        }
    }
    most
}

/// Capacity of all links of each kind as built, bit/s, in both directions; of those to endpoints,
/// to these.
fn built(network: &Network) -> Vec<u128> {
    let mut all = vec![0; network.topology.link_kinds().len()];
    for links in network.topology.links() {
        let directions = match links.link.kind.index() {
            0 => 1,
            _ => 2,
        };
        let count = directions * u128::from(links.count);
        all[links.link.kind.index()] += count * u128::from(links.link.bandwidth.0);
    }
    all
}

/// Capacity that failures leave of it at a time.
fn left(network: &Network, built: &[u128], time: Time) -> Vec<u128> {
    let mut left = built.to_vec();
    let failures = &network.failures;
    let down = |from: Place| {
        let mut all = failures.down_at(from).iter();
        all.any(|down| down.span.contains(time))
    };
    let changed = failures.iter().filter(|(_, own)| own.span.contains(time));
    let changed = changed.filter(|&(from, _)| !down(from));
    let changed = changed.map(|(from, own)| (from, own.link.bandwidth.0));
    let gone = failures.down().map(|(from, _)| from);
    let gone = gone.filter(|&from| down(from)).map(|from| (from, 0));
    for (from, now) in changed.chain(gone) {
        let link = network.topology.link_from(from);
        // What endpoints send is not counted.
        if matches!(from, Place::Router(..)) {
            let less = link.bandwidth.0.saturating_sub(now);
            left[link.kind.index()] -= u128::from(less);
        }
    }
    left
}

/// Bits that a workload sends over all links of each kind in a ps; None for an application.
fn of_workload(plan: &Plan, traffic: &Traffic, load: f64) -> Option<Vec<f64>> {
    let Drive::Pattern(open) = &traffic.drive else {
        return None;
    };
    let network = plan.network();
    let topology = network.topology.as_ref();
    let mut bits = vec![0.0; topology.link_kinds().len()];
    let senders: Vec<EndpointId> = (traffic.tasks.iter().copied())
        .filter(|&one| traffic.sends(one))
        .collect();
    let step = (senders.len() / DRAWN).max(1);
    let drawn: Vec<EndpointId> = senders.iter().copied().step_by(step).collect();
    let rounds = DRAWN / drawn.len().max(1) + 1;
    let scale = senders.len() as f64 / (drawn.len() * rounds) as f64;
    let (mut payload, mut wire) = (0.0, 0.0);
    let mut rng = stream(1, &[]);
    for _ in 0..rounds {
        for &from in &drawn {
            let Some(to) = open.pattern.destination(from, traffic.start, &mut rng) else {
                continue;
            };
            let message = open.sizes.draw(&mut rng);
            payload += message as f64;
            wire += on_the_wire(plan, message);
            let rate = sent(network, from, load) * scale;
            let ends = (topology.attachment(from), to);
            empty::route(
                topology,
                network.routing.as_ref(),
                ends,
                &mut rng,
                |router, port| {
                    bits[topology.link(router, port).kind.index()] += rate;
                },
            );
        }
    }
    if payload > 0.0 {
        bits.iter_mut().for_each(|bits| *bits *= wire / payload);
    }
    Some(bits)
}

/// Bits of a message with everything that goes with it.
fn on_the_wire(plan: &Plan, message: u64) -> f64 {
    let about = &plan.network().about;
    let (packets, flits) = about.packets(message);
    let handshake = plan.scheme.handshake(message);
    let acknowledged = if plan.network().parameters.acknowledge {
        packets
    } else {
        0
    };
    let control = u64::from(handshake.asks + handshake.answers) + acknowledged;
    (flits + control) as f64 * f64::from(about.flit.0)
}

/// Bits that an endpoint sends in a ps at a load: all, unless its link carries less than it was
/// built to.
pub fn sent(network: &Network, endpoint: EndpointId, load: f64) -> f64 {
    let offered = load * bandwidth(network, endpoint);
    match network.failures.lasting(Place::Nic(endpoint)) {
        Some(changed) => offered.min(changed.link.bandwidth.0 as f64 / 1e12),
        None => offered,
    }
}

/// Bits that the link of an endpoint was built to carry in a ps, of which loads are shares.
pub fn bandwidth(network: &Network, endpoint: EndpointId) -> f64 {
    network.topology.link_from(Place::Nic(endpoint)).bandwidth.0 as f64 / 1e12
}
