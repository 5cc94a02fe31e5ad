//! Links whose buffers do not cover their credit round trip.

use std::collections::BTreeMap;

use super::super::plan::{Plan, Warning};
use super::offered;
use crate::config::Experiment;
use weir_fabric::{BufferPer, Network, Place, RouterParameters};
use weir_input::{Buffer, OutputQueue};
use weir_model::{Invalid, KindName, LinkKind, Time};
use weir_network::topology::Link;

/// Share of the bandwidth of the links of each kind, by its number, that one virtual channel can
/// take as built, at most 1: the least of its links, whatever failures change. All of it with time
/// steps, which are long enough for credits.
pub fn credit_shares(network: &Network) -> Vec<f64> {
    let least = least_carried(network).into_iter();
    least
        .map(|worst| worst.map_or(1.0, |(share, _)| share))
        .collect()
}

/// The least share of a link that a virtual channel can take, and where that link begins, for each
/// kind of link by its number; None if a channel can take all.
fn least_carried(network: &Network) -> Vec<Option<(f64, Place)>> {
    let topology = &network.topology;
    let mut least = vec![None; topology.link_kinds().len()];
    let covers = |router: &RouterParameters| matches!(router.buffer, Buffer::Auto);
    if network.step() > 0 || network.routers.iter().all(covers) {
        return least;
    }
    let routers = (0..topology.routers()).flat_map(|router| {
        let ports = 0..topology.ports(router);
        ports.map(move |port| Place::Router(router, port))
    });
    for from in routers.chain((0..topology.endpoints()).map(Place::Nic)) {
        let link = topology.link_from(from);
        let back = topology
            .far_end(from)
            .map_or(0, |far| topology.link_from(far).latency);
        let own = carried(network, from, &link, back);
        let least = &mut least[link.kind.index()];
        if own < least.map_or(1.0, |(share, _)| share) {
            *least = Some((own, from));
        }
    }
    least
}

/// Kinds of links that traffic asks for more than all their virtual channels can take.
pub(super) fn short_buffers(experiment: &Experiment, plan: &Plan) -> Vec<Warning> {
    let network = plan.network();
    let least = least_carried(network);
    if least.iter().all(Option::is_none) {
        return Vec::new();
    }
    let kinds = network.topology.link_kinds().iter().zip(0..);
    let kinds = kinds.zip(least).zip(offered(experiment, plan));
    let short = kinds.filter_map(|(((name, kind), least), offered)| {
        let (share, from) = least?;
        let shared = match network.topology.far_end(from) {
            Some(Place::Router(next, _)) => network.router(next).buffer_per == BufferPer::Port,
            _ => false,
        };
        let queues = if shared {
            1
        } else {
            network.queues(LinkKind(kind))
        };
        let all = (share * f64::from(queues)).min(1.0);
        (offered > all).then_some((name, all, from, offered))
    });
    let warn = |(name, all, from, offered): (&KindName, f64, Place, f64)| {
        let message = format!(
            "the buffers behind links of the kind \"{name}\" do not cover their credit round trip: \
             they let {:.0}% of the bandwidth through, and traffic asks for {:.0}%",
            100.0 * all,
            100.0 * offered
        );
        let remedy = "write \"auto\", which covers it, or a larger size";
        let invalid = Invalid::new(buffer_key(experiment, network, from), message, remedy);
        Warning::new("credit_limited", None, &experiment.file, invalid)
    };
    short.map(warn).collect()
}

/// The key of the size of the buffer behind a link.
fn buffer_key(experiment: &Experiment, network: &Network, from: Place) -> String {
    let topology = &network.topology;
    let name = match topology.far_end(from) {
        Some(Place::Router(router, _)) => {
            let kind = topology.router_kind(router).index();
            topology.router_kinds().get(kind)
        }
        _ => None,
    };
    let own = name.map(|name| format!("router.{name}.input_buffer"));
    own.filter(|key| experiment.file.has(key))
        .unwrap_or("router.input_buffer".into())
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
    let stored = match (next.switching.stores(), next.output_queue) {
        (false, _) => 0,
        (true, OutputQueue::None) => packet,
        (true, _) => network.crossbar(next, link).time(longest),
    };
    let parts = [
        crossing,
        link.latency,
        back,
        next.credit_delay,
        packet,
        stored,
    ];
    let trip = parts.into_iter().fold(0, Time::saturating_add);
    let packets = built / u64::from(longest);
    (packets as f64 * packet as f64 / trip as f64).min(1.0)
}
