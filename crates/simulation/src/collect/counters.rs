//! The numbers of `/data/scheme`: packets by purpose and by outcome.

use weir_congestion::{ABSORBED, DROPPED_FABRIC, DROPPED_LAST_HOP, HELD_BACK, MARKED};
use weir_fabric::{DomainReport, Network, Tally};
use weir_model::PacketKind;
use weir_result::Scheme;

use super::jobs::share;

/// A number of `/data/scheme` that the fabric counts.
struct Counter {
    name: &'static str,
    /// True for schemes that do what it counts.
    of: fn(&dyn weir_congestion::Scheme) -> bool,
    count: fn(&Tally) -> u64,
}

const COUNTERS: [Counter; 7] = [
    Counter {
        name: DROPPED_FABRIC,
        of: |own| own.capabilities().drops,
        count: |tally| tally.dropped_fabric,
    },
    Counter {
        name: DROPPED_LAST_HOP,
        of: |own| own.capabilities().drops,
        count: |tally| tally.dropped_last_hop,
    },
    Counter {
        name: "resent_granted",
        of: |own| own.capabilities().retransmits,
        count: |tally| tally.resent_granted,
    },
    Counter {
        name: "resent_speculative",
        of: |own| own.capabilities().retransmits,
        count: |tally| tally.resent_speculative,
    },
    Counter {
        name: MARKED,
        of: |own| own.capabilities().marks,
        count: |tally| tally.marked,
    },
    // For schemes that have nothing else to show that they act.
    Counter {
        name: HELD_BACK,
        of: |own| (own.acts()).is_some_and(|acts| acts.responds.counters.contains(&HELD_BACK)),
        count: |tally| tally.held_back,
    },
    Counter {
        name: ABSORBED,
        of: |own| !own.capabilities().intercepts.is_empty(),
        count: |tally| tally.absorbed,
    },
];

/// Names for routings that keep circuits: number of times a router kept a port for a flow, and
/// number of times it had no room to.
const CIRCUITS: [&str; 2] = ["circuits_kept", "circuits_refused"];

/// True if a number of `/data/scheme` is recorded only by schemes that do what it counts, so that
/// it is 0 for all others. Such numbers are counted alike by the fabric and by schemes.
pub fn counts_as_nothing(name: &str) -> bool {
    let counter = COUNTERS.iter().any(|counter| counter.name == name);
    let share = name
        .strip_prefix("ejected_")
        .and_then(|rest| rest.strip_suffix("_share"));
    let kind = name.strip_prefix("packets_").or(share);
    counter
        || CIRCUITS.contains(&name)
        || kind.is_some_and(|kind| kind == "ack" || weir_congestion::is_shared_kind(kind))
}

/// The names of the numbers that a run under a scheme has in `/data/scheme`.
pub fn scheme_numbers(own: &dyn weir_congestion::Scheme, network: &Network) -> Vec<String> {
    let Scheme {
        counters, shares, ..
    } = scheme(own, network, &[], 0.0);
    let counters = counters.into_iter().map(|(name, _)| name);
    counters
        .chain(shares.into_iter().map(|(name, _)| name))
        .collect()
}

/// The kinds of packets of a run, with their names in results.
pub(super) fn kinds(network: &Network) -> Vec<(PacketKind, &'static str)> {
    let mut kinds = vec![(PacketKind::DATA, "data")];
    if network.parameters.acknowledge {
        kinds.push((PacketKind::ACK, "ack"));
    }
    let own = (0..).zip(&network.kinds);
    kinds.extend(own.map(|(place, kind)| (PacketKind::own(place), kind.name)));
    kinds
}

/// Counts of packets by purpose and by outcome.
pub(super) fn scheme(
    own: &dyn weir_congestion::Scheme,
    network: &Network,
    reports: &[DomainReport],
    capacity: f64,
) -> Scheme {
    let sum = |field: &dyn Fn(&Tally) -> u64| -> u64 {
        reports.iter().map(|r| field(&r.totals.tally)).sum()
    };
    let kinds = kinds(network);
    let mut counters: Vec<(String, u64)> = kinds
        .iter()
        .map(|(kind, name)| {
            let count = sum(&|tally| tally.injected[kind.index()]);
            (format!("packets_{name}"), count)
        })
        .collect();
    let of_it = COUNTERS.iter().filter(|counter| (counter.of)(own));
    counters.extend(of_it.map(|counter| (counter.name.to_string(), sum(&counter.count))));
    if network.flows.cache.is_some() {
        for (at, name) in CIRCUITS.into_iter().enumerate() {
            let count = reports.iter().map(|report| report.circuits[at]).sum();
            counters.push((name.into(), count));
        }
    }
    counters.extend(own.counters().iter().enumerate().map(|(at, name)| {
        let counts = reports.iter().filter_map(|report| report.scheme.get(at));
        // A sum of times may be too large: then it stays at the largest number.
        (
            name.to_string(),
            counts.fold(0u64, |sum, count| sum.saturating_add(*count)),
        )
    }));
    let shares = kinds.iter().map(|(kind, name)| {
        let bits = sum(&|tally| tally.ejected_bits[kind.index()]);
        let name = format!("ejected_{name}_share");
        (name, share(bits, capacity))
    });
    Scheme {
        counters,
        shares: shares.collect(),
        ..Scheme::default()
    }
}
