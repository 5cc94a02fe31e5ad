//! Queueing theory: the mean waiting time at one output equals the formulae for fixed service
//! times.
//!
//! The statistical error. Waiting times that follow each other are alike, so that the standard
//! deviation of the mean of n of them is far more than their own over √n. In the limit of heavy
//! traffic (reflected Brownian motion with drift 1 - ρ and variance 1 per service time) it is
//! `S · √(1 / 2n) / (1 - ρ)²`, and less for lighter traffic. Every run here is long enough for that
//! to be 0.45% of the mean or less, so that 1% is more than two of these (the seeds are fixed: a
//! test that passes once passes always).

use crate::support::Experiment;

/// The service time: a packet of 4 flits of 1 ns.
const S: f64 = 4.0;

/// M/D/1: Poisson arrivals.
fn poisson(rho: f64) -> f64 {
    rho * S / (2.0 * (1.0 - rho))
}

/// n/Geo/D/1: in each ns each of n sources has an arrival with chance ρ / (S · n). Work in ns
/// behind one another gives W = ρ (S - 1/n) / (2 (1 - ρ)): with one source no two packets come at
/// once, and with many it is M/D/1.
fn bernoulli(rho: f64, sources: f64) -> f64 {
    rho * (S - 1.0 / sources) / (2.0 * (1.0 - rho))
}

/// Packets that bring the error down to 0.45% of the M/D/1 mean.
fn packets(rho: f64) -> f64 {
    let error = 0.0045 * poisson(rho);
    0.5 * (S / error).powi(2) / (1.0 - rho).powi(4)
}

/// A workload's end that lets this many messages of 4 flits through at a rate of `rho` flits per ns
/// in all.
fn stop(rho: f64, messages: f64) -> String {
    format!("{} ns", (messages * S / rho).ceil() as u64)
}

/// The mean time from generation to delivery, and from injection to delivery, of everything, ns.
fn means(experiment: &Experiment) -> (f64, f64) {
    let data = experiment.run().data;
    let mean = |class: &str| {
        let (_, histogram) = data
            .latency
            .iter()
            .find(|(name, _)| name == class)
            .expect("a class");
        histogram.arrived.mean() / 1e3
    };
    (mean("message"), mean("network"))
}

fn check(what: &str, waited: f64, expected: f64) {
    let off = waited / expected - 1.0;
    println!(
        "{what}: waited {waited:.4} ns, expected {expected:.4} ns, {:+.2}%",
        100.0 * off
    );
    assert!(
        off.abs() < 0.01,
        "{what}: {waited} ns, expected {expected} ns"
    );
}

#[test]
fn a_nic_is_a_separate_queue() {
    // 36 pairs on 36 routers, each with its own NIC queue. After it nothing waits: 20 ns and the
    // flits.
    let mut members: Vec<i64> = (0..36).map(|pair| 2 * pair).collect();
    members.extend((0..36).map(|pair| 2 * pair + 1));
    for rho in [0.5, 0.8] {
        for (injection, expected) in [
            ("poisson", poisson(rho)),
            ("bernoulli", bernoulli(rho, 1.0)),
            ("periodic", 0.0),
        ] {
            let run = Experiment::dragonfly(2, 4, 2)
                .set("nic.acknowledge", false)
                .traffic("fixed_pairs", rho)
                .with("endpoints", members.clone())
                .with("injection", injection)
                .to_completion(&stop(rho, packets(rho) / 36.0));
            let (message, network) = means(&run);
            assert!((network - 24.0).abs() < 1e-9, "{network}");
            let waited = message - network;
            match expected {
                0.0 => assert!(waited.abs() < 1e-9, "{waited}"),
                _ => check(&format!("NIC, {injection}, load {rho}"), waited, expected),
            }
        }
    }
}

/// Everyone in `members` but the first sends to the first, at `rho` in all.
fn concentrate(network: Experiment, sources: i64, injection: &str, rho: f64) -> Experiment {
    network
        .set("nic.acknowledge", false)
        .traffic("hotspot", rho / sources as f64)
        .with("endpoints", format!("0..{}", sources + 1))
        .with("pattern.source_list", (1..=sources).collect::<Vec<i64>>())
        .with("pattern.destination_list", vec![0])
        .with("injection", injection)
        .to_completion(&stop(rho, packets(rho)))
}

// If queues with links of one speed lead into each other, the last link is never idle while a
// packet is anywhere before it (cut-through brings its first flit there at once). So the number of
// packets in all queues together is that of one queue with all the arrivals. By Little's law so is
// the mean of the time spent in all of them together.

#[test]
fn many_sources_at_one_router_are_one_queue() {
    // A router with 64 endpoints: 63 NICs and then the output to endpoint 0, for any router
    // parameters.
    let router = || Experiment::tree(64, 1);
    for rho in [0.5, 0.8] {
        for (injection, expected) in [
            ("poisson", poisson(rho)),
            ("bernoulli", bernoulli(rho, 63.0)),
        ] {
            let (message, _) = means(&concentrate(router(), 63, injection, rho));
            check(
                &format!("router, {injection}, load {rho}"),
                message - 24.0,
                expected,
            );
        }
    }
    // The order in which packets are served makes no difference to the mean: the link is never idle
    // in vain.
    let short = |network: Experiment| {
        means(&concentrate(network, 63, "poisson", 0.8).to_completion("500 us")).0
    };
    let expected = short(router());
    for (key, value) in [
        ("output_queue", "none"),
        ("arbitration", "first_come"),
        ("arbitration", "oldest"),
        ("speedup", "infinite"),
    ] {
        let other = short(router().set(&format!("router.{key}"), value));
        assert!(
            (other - expected).abs() < 1e-9,
            "{key} {value}: {other}, not {expected}"
        );
    }
}

#[test]
fn a_tree_of_queues_waits_like_one() {
    // 63 sources below a tree of three levels. 3 of the sources are at endpoint 0's own router (24
    // ns), 12 in its pod (84 ns), 48 beyond (204 ns).
    let (message, _) = means(&concentrate(Experiment::tree(4, 3), 63, "poisson", 0.8));
    let idle = (3.0 * 24.0 + 12.0 * 84.0 + 48.0 * 204.0) / 63.0;
    check("tree, load 0.8", message - idle, poisson(0.8));
}
