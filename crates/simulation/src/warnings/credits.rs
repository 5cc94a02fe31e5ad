//! Links whose buffers do not cover their credit round trip.

use std::collections::BTreeMap;

use super::super::plan::{Plan, Warning};
use super::offered;
use crate::config::Experiment;
use weir_fabric::{Network, Place};
use weir_model::{Invalid, Time};
use weir_network::topology::Link;

/// Share of the bandwidth of the links of each kind, by its number, that one virtual channel can
/// take as built, at most 1: the least of its links, whatever failures change.
pub fn credit_shares(network: &Network) -> Vec<f64> {
    let topology = &network.topology;
    let mut least = vec![1.0_f64; topology.link_kinds().len()];
    let routers = (0..topology.routers()).flat_map(|router| {
        let ports = 0..topology.ports(router);
        ports.map(move |port| Place::Router(router, port))
    });
    for from in routers.chain((0..topology.endpoints()).map(Place::Nic)) {
        let link = topology.link_from(from);
        let back = topology
            .far_end(from)
            .map_or(0, |far| topology.link_from(far).latency);
        let least = &mut least[link.kind.index()];
        *least = least.min(carried(network, from, &link, back));
    }
    least
}

/// Kinds of links that traffic asks for more than a virtual channel of them can take.
pub(super) fn short_buffers(experiment: &Experiment, plan: &Plan) -> Vec<Warning> {
    let network = plan.network();
    let shares = credit_shares(network);
    if shares.iter().all(|&share| share >= 1.0) {
        return Vec::new();
    }
    let kinds = network.topology.link_kinds().iter().zip(shares);
    let kinds = kinds.zip(offered(experiment, plan));
    let short = kinds.filter(|((_, share), offered)| offered > share && *share < 1.0);
    let warn = |((kind, share), offered): ((_, f64), f64)| {
        let message = format!(
            "the buffers behind links of the kind \"{kind}\" do not cover their credit round trip: a \
             virtual channel carries {:.0}% of the bandwidth at most, and traffic asks for {:.0}%",
            100.0 * share,
            100.0 * offered
        );
        let remedy = "write \"auto\", which covers it, or a larger size";
        let invalid = Invalid::new("router.input_buffer", message, remedy);
        Warning::new("credit_limited", None, &experiment.file, invalid)
    };
    short.map(warn).collect()
}

/// Links of failures whose buffers, as built, do not cover their credit round trip.
pub(super) fn credit_limited(experiment: &Experiment, plan: &Plan) -> Vec<Warning> {
    let network = plan.network();
    let mut worst: BTreeMap<usize, (f64, usize)> = BTreeMap::new();
    for (from, changed) in network.failures.iter() {
        let built = network.topology.link_from(from);
        let carried = |link, back| carried(network, from, link, back);
        let now = carried(&changed.link, network.back(from));
        if now < carried(&built, built.latency) {
            let (least, links) = worst.entry(changed.failure).or_insert((1.0, 0));
            *least = least.min(now);
            *links += 1;
        }
    }
    let warn = |(failure, (carried, links))| {
        let message = format!(
            "the buffers behind {links} directions of links, as built, do not cover the longer \
             credit round trip: a virtual channel carries {:.0}% of the bandwidth at most",
            100.0 * carried
        );
        let remedy = "add less latency, or write router.input_buffer for links of that length";
        let invalid = Invalid::new(format!("failure.{failure}"), message, remedy);
        Warning::new("credit_limited", None, &experiment.file, invalid)
    };
    worst.into_iter().map(warn).collect()
}

/// Share of the bandwidth of a link that longest packets on one virtual channel can take for the
/// buffer behind it, as built; at most 1. Credits come back after the latency `back`, ps.
fn carried(network: &Network, from: Place, link: &Link, back: Time) -> f64 {
    let topology = &network.topology;
    let ends = match (from, topology.far_end(from)) {
        (Place::Router(router, _), Some(Place::Router(other, _))) => [router, other],
        (Place::Nic(_), Some(Place::Router(router, _))) => [router; 2],
        // An endpoint takes everything at once.
        _ => return 1.0,
    };
    let ends @ [own, next] = ends.map(|router| network.router(router));
    let longest = network.parameters.max_packet;
    let built = network.queue_flits(ends, &topology.link_from(from));
    let packet = network.rate(link).time(longest);
    let crossing = match own.credit_to_cross() && matches!(from, Place::Router(..)) {
        true => own.latency,
        false => 0,
    };
    let parts = [crossing, link.latency, back, next.credit_delay, packet];
    let trip = parts.into_iter().fold(0, Time::saturating_add);
    let packets = built / u64::from(longest);
    (packets as f64 * packet as f64 / trip as f64).min(1.0)
}
