//! Traffic that open-loop workloads offer to the links of each kind.

use super::flow::sent;
use crate::Plan;
use crate::config::Experiment;
use weir_fabric::{Drive, Traffic, empty};
use weir_model::{EndpointId, Time, stream};

/// Messages of a workload that are drawn.
const DRAWN: usize = 4096;

/// Traffic that open-loop workloads offer to each kind of link, by the kind's number: the share of
/// what all links of the kind carry, averaged over them; above 1 it is more than that. Packets take
/// the paths that they would in an empty network; those of links to endpoints lead to the endpoint.
/// With flits that messages do not fill, acknowledgements and control packets. The largest share
/// of any time; 0 for applications, which wait for what they send.
pub fn offered(experiment: &Experiment, plan: &Plan) -> Vec<f64> {
    let topology = &plan.network().topology;
    let mut carried = vec![0.0; topology.link_kinds().len()];
    for links in topology.links() {
        let directions = match links.link.kind.index() {
            0 => 1.0,
            _ => 2.0,
        };
        let bits = links.link.bandwidth.0 as f64 / 1e12 * links.count as f64;
        carried[links.link.kind.index()] += directions * bits;
    }
    let enabled = experiment.workloads.iter().filter(|one| one.enabled);
    let pairs = enabled.zip(&*plan.blueprint.traffic);
    let all: Vec<(&Traffic, Vec<f64>)> = pairs
        .filter_map(|(workload, traffic)| {
            let load = workload.pattern()?.load;
            Some((traffic, of_workload(plan, traffic, load)?))
        })
        .collect();
    // The sum is largest when one of them starts.
    let at = |time: Time| {
        let on = all.iter().filter(|(one, _)| one.on().contains(time));
        let mut sum = vec![0.0; carried.len()];
        for (_, bits) in on {
            sum.iter_mut()
                .zip(bits)
                .for_each(|(sum, bits)| *sum += bits);
        }
        sum
    };
    let mut most = vec![0.0_f64; carried.len()];
    for (one, _) in &all {
        let shares = at(one.start).into_iter().zip(&carried);
        let shares = shares.map(|(bits, carried)| bits / carried);
        most.iter_mut()
            .zip(shares)
            .for_each(|(most, share)| *most = most.max(share));
    }
    most
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
