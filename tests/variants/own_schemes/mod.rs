//! Schemes that are not part of weir, each written against the public traits in one file: they show
//! that everything a scheme may need is available.

mod queue_stamps;
mod receiver_credits;
mod restless;
mod rtt_window;
mod twice;

use crate::support::Experiment;
use weir::congestion::Build;
use weir::simulation::Outcome;

/// Runs an experiment under a scheme of one's own.
fn run_under(experiment: &Experiment, build: Build) -> Outcome {
    experiment.clone().own_scheme(build).run()
}

/// Counter of the scheme.
fn counted(outcome: &Outcome, name: &str) -> u64 {
    let counters = &outcome.data.scheme.counters;
    let found = counters.iter().find(|(counter, _)| counter == name);
    found.unwrap_or_else(|| panic!("no counter {name}")).1
}

/// Links of 100 Gbps, flits of 100 bits: a flit takes 1 ns. Routers take 50 ns, links 5 ns at
/// endpoints, 20 ns in a group, 100 ns between groups.
fn network() -> Experiment {
    Experiment::dragonfly(2, 4, 2)
        .latencies("5 ns", "20 ns", "100 ns")
        .set("router.latency", "50 ns")
        .set("router.flit", "100 bits")
        .set("nic.max_packet", "24 flits")
        .set("nic.acknowledge", true)
}
