//! The length of windows changes no result: the outcome of a run does not depend on when domains
//! hear of each other's packets and credits.

use crate::same_results::same_bits::{busy, same_on};
use crate::support::attack::at_length;
use crate::support::{Experiment, assert_same, run_plan};
use crate::variants::catalog::{
    crowded, examples, failing, first_networks, first_networks_by_turns, networks,
};
use weir::catalog::catalog;
use weir::model::Time;

/// Runs with windows of the plan's length and of each of these shorter ones, in ps.
fn same_in_windows_of(lengths: &[Time], experiment: &Experiment) {
    let mut plan = experiment.plan();
    let fail = |error| panic!("{error}\n{}", experiment.text());
    let long = run_plan(&plan).map_or_else(fail, |outcome| outcome.data);
    let whole = plan.blueprint.schedule.window;
    for &length in lengths {
        assert!(
            length < whole,
            "windows of {whole} ps are no longer than {length}"
        );
        plan.blueprint.schedule.window = length;
        let short = run_plan(&plan).map_or_else(fail, |outcome| outcome.data);
        let text = experiment.text();
        let what = format!("windows of {length} ps differ from such of {whole} ps in\n{text}");
        assert_same(&short, &long, &what);
    }
}

/// Windows of a half and of a seventh, by turns; at length (`WEIR_ATTACK_CASES`) both.
fn same_in_shorter_windows(experiments: impl Iterator<Item = Experiment>) {
    for (experiment, turn) in experiments.zip(0..) {
        let whole = experiment.plan().blueprint.schedule.window;
        let lengths = [whole / 2, whole / 7];
        match at_length() {
            true => same_in_windows_of(&lengths, &experiment),
            false => same_in_windows_of(&[lengths[turn % 2]], &experiment),
        }
    }
}

/// Routers of all makes, by the event that decides when their ports are served.
fn with_routers(network: &Experiment) -> Vec<Experiment> {
    let queued = || network.clone().set("router.output_queue", "none");
    let all = [
        network.clone(),
        queued().set("router.speedup", 1.0),
        (queued().set("router.speedup", 1.5)).set("router.arbitration", "oldest"),
        queued().set("router.speedup", "infinite"),
        network.clone().set("router.credit_at", "crossing"),
        network.clone().set("router.vc_allocation", "3 ns"),
        queued()
            .set("router.vc_allocation", "1 ns")
            .set("router.route_computation", "2 ns"),
    ];
    // Some go with some networks only.
    let good = all
        .into_iter()
        .filter(|experiment| experiment.try_plan().is_ok());
    good.collect()
}

/// Every other one, beginning with the first or the second by turns; at length
/// (`WEIR_ATTACK_CASES`) all of them.
fn every_other(all: Vec<Experiment>, turn: usize) -> Vec<Experiment> {
    match at_length() {
        true => all,
        false => all.into_iter().skip(turn % 2).step_by(2).collect(),
    }
}

#[test]
fn of_every_routing_on_every_topology() {
    let all = networks().into_iter().zip(0..);
    same_in_shorter_windows(all.flat_map(|(network, turn)| {
        let networks = with_routers(&crowded(network, "800 ns"));
        assert!(networks.len() >= 4);
        every_other(networks, turn)
    }));
}

#[test]
fn of_every_queueing() {
    let (mut turn, mut all) = (0, Vec::new());
    for variant in &catalog().queueing.variants {
        for example in examples("scheme", variant) {
            turn += 1;
            for (network, nth) in first_networks_by_turns(turn).into_iter().zip(0..) {
                let network = crowded(network, "800 ns").set("queueing", example.clone());
                // Trees and graphs come back after four turns.
                all.extend(every_other(with_routers(&network), turn + turn / 4 + nth));
            }
        }
    }
    same_in_shorter_windows(all.into_iter());
}

#[test]
fn of_every_scheme() {
    let (mut turn, mut all) = (0, Vec::new());
    for variant in &catalog().schemes.variants {
        for example in examples("scheme", variant) {
            turn += 1;
            for network in first_networks_by_turns(turn) {
                let crowded = crowded(network, "2 us").set("congestion", example.clone());
                // Signals that take no time have windows of their own.
                if crowded.plan().blueprint.schedule.interleaving.is_none() {
                    all.push(crowded);
                }
            }
        }
    }
    same_in_shorter_windows(all.into_iter());
}

/// Also with signals that take the time of the links on their way.
#[test]
fn over_links_that_differ() {
    same_in_shorter_windows(first_networks().into_iter().flat_map(|network| {
        let plain = crowded(failing(network), "800 ns");
        let signals = plain.clone().set("congestion.scheme", "sst_cm");
        assert!(signals.plan().blueprint.schedule.interleaving.is_none());
        with_routers(&plain).into_iter().chain([signals])
    }));
}

/// Long windows are cut if the clock requires it.
#[test]
fn that_are_cut_by_the_clock() {
    let dragonfly = || Experiment::dragonfly(2, 4, 2).routing("par");
    let signals = |latency: &str| {
        dragonfly()
            .set("congestion.scheme", "codes_cc")
            .set("congestion.latency", latency)
    };
    let networks = [
        dragonfly(),
        dragonfly().set("congestion.scheme", "lhrp"),
        signals("0 ns"),
        signals("150 ns"),
        Experiment::tree(3, 3).routing("adaptive_up"),
    ];
    for network in networks {
        same_in_windows_of(&[41_000, 997], &busy(network).message("60 flits"));
    }
}

/// Windows are longer than the links between domains if crossings are settled before.
#[test]
fn that_are_longer_than_links() {
    let networks = [
        ("kind = \"kns\"\nk = 4\nn = 2", "hybrid_dor"),
        ("kind = \"torus\"\nsizes = [4, 4]", "source_adaptive"),
    ];
    // 20 ns of the link and 50 in the router, or a shorter time: a packet of 1 ns for each of its
    // flits.
    for ((network, routing), message, window) in [
        (networks[0], "240 flits", 44_000),
        (networks[0], "66 flits", 38_000),
        (networks[1], "24 flits", 44_000),
    ] {
        let experiment = crate::networks::direct::experiment(network, routing)
            .set("router.output_queue", "none")
            .set("router.speedup", "infinite")
            .set("router.input_buffer", "60 flits")
            .set("nic.acknowledge", false)
            .set("output.packets", true)
            .set("output.occupancy", "1 us")
            .uniform(0.9)
            .message(message)
            .until("5 us");
        let plan = experiment.plan();
        assert_eq!(
            (plan.blueprint.schedule.window, plan.lookahead),
            (window, window)
        );
        same_in_windows_of(&[20_000, 7_901], &experiment);
        same_on(&[2, 4], &experiment);
    }
    // Packets that a router sends at once, an acknowledgement of one flit, and a run that ends with
    // a window.
    let (network, routing) = networks[0];
    let base = || {
        let experiment = crate::networks::direct::experiment(network, routing);
        experiment.uniform(0.5).until("1 us")
    };
    let slow = || base().set("router.output_queue", "none");
    let none = || slow().set("router.speedup", "infinite");
    for (experiment, window) in [
        (base().set("nic.acknowledge", false), 20_000),
        (slow().set("router.speedup", 1.0), 21_000),
        (none(), 21_000),
        (none().set("congestion.scheme", "lhrp"), 20_000),
    ] {
        assert_eq!(experiment.plan().blueprint.schedule.window, window);
    }
}
