//! The same bits for any number of ranks, and other bits for another seed.

use crate::support::{Experiment, assert_same, difference, run_on, run_plan};

/// Everything under `/data` of one process, and of as many ranks as the network allows, up to 8, in
/// all splits into ranks and threads.
fn same_on_all_ranks(experiment: &Experiment) {
    same_on(&[2, 3, 4, 8], experiment);
}

/// Ranks times threads of each. The ranks are threads here, too.
pub fn same_on(ranks: &[u32], experiment: &Experiment) {
    let (plan, text) = (experiment.plan(), experiment.text());
    let alone = run_plan(&plan).unwrap_or_else(|error| panic!("{error}\n{text}"));
    let domains = plan.network().topology.domains();
    // Signals that take no time are for one rank.
    let most = plan.blueprint.schedule.interleaving.map_or(domains, |_| 1);
    for &workers in ranks.iter().filter(|&&n| n <= domains) {
        for ranks in (1..=workers.min(most)).filter(|ranks| workers % ranks == 0) {
            let split = (ranks, (workers / ranks) as usize);
            let shared = run_on(split, &plan).unwrap_or_else(|error| panic!("{error}\n{text}"));
            let what = format!("{split:?} ranks and threads differ from one process in\n{text}");
            assert_same(&shared, &alone.data, &what);
        }
    }
}

/// The same with results that the program wrote, started by mpirun.
fn same_over_mpi(ranks: &[u32], experiment: &Experiment) {
    let alone = experiment.cli().succeeds();
    for &ranks in ranks {
        let shared = experiment.cli().ranks(ranks).succeeds();
        let found = difference(&alone, &shared);
        assert_eq!(
            found,
            "",
            "{ranks} ranks differ from one process in\n{}",
            experiment.text()
        );
    }
}

/// A hot spot beside uniform traffic, with acknowledgements and everything recorded.
pub fn busy(experiment: Experiment) -> Experiment {
    experiment
        .hotspot(6, 2, 0.3)
        .with("endpoints.count", 8)
        .with("endpoints.placement", "random")
        .uniform(0.5)
        .with("endpoints", "rest")
        .set("output.packets", true)
        .set("output.messages", true)
        .set("output.occupancy", "1 us")
        .set("output.rates.interval", "700 ns")
        .set("output.rates.endpoints", vec![5, 0])
        .set("output.rates.tasks.workload0", vec![7, 0])
        .set("output.bin", "1 us")
        .until("15 us")
}

#[test]
fn a_full_dragonfly() {
    // 9 groups: 2, 4 and 8 ranks have shares of unequal size.
    let experiment = busy(Experiment::dragonfly(2, 4, 2).routing("par"));
    same_on_all_ranks(&experiment);
    same_over_mpi(&[1, 2, 8], &experiment);
}

#[test]
fn a_dragonfly_with_several_links_between_its_groups() {
    // 5 groups where 9 were possible: two links join each pair.
    same_on_all_ranks(&busy(
        Experiment::dragonfly(2, 4, 2).groups(5).routing("ugal"),
    ));
}

#[test]
fn a_dragonfly_whose_ranks_have_one_domain_each() {
    same_on_all_ranks(&busy(
        Experiment::dragonfly(1, 8, 1).groups(8).routing("valiant"),
    ));
}

#[test]
fn a_run_to_completion() {
    let experiment = Experiment::dragonfly(2, 4, 2)
        .uniform(1.0)
        .message("100 flits")
        .set("output.occupancy", "300 ns")
        .to_completion("5 us");
    same_on_all_ranks(&experiment);
}

#[test]
fn a_dragonfly_of_small_shared_buffers_without_virtual_output_queues() {
    let experiment = busy(Experiment::dragonfly(2, 3, 2).routing("par"))
        .set("router.buffer_per", "port")
        .set("queueing.scheme", "single")
        .set("router.input_buffer", "50 flits")
        .set("router.arbitration", "oldest")
        .set("nic.injection_vcs", 3);
    same_on_all_ranks(&experiment);
}

#[test]
fn a_folded_clos() {
    same_on_all_ranks(&busy(Experiment::clos(8, 2).routing("adaptive_up")));
}

#[test]
fn a_tree_of_three_levels() {
    same_on_all_ranks(&busy(Experiment::tree(3, 3).routing("random_up")));
}

#[test]
fn two_seeds_differ() {
    let experiment = Experiment::dragonfly(2, 4, 2).uniform(0.4);
    let first = experiment.cli().set("run.seed=1").succeeds();
    let again = experiment.cli().set("run.seed=1").succeeds();
    let second = experiment.cli().set("run.seed=2").succeeds();
    assert_eq!(difference(&first, &again), "");
    assert!(difference(&first, &second).contains("differences found"));
}

/// A hot spot under a scheme with everything that it can do.
fn same_under(scheme: &str, settings: &[(&str, toml::Value)]) {
    let network = Experiment::dragonfly(2, 4, 2)
        .routing("par")
        .set("congestion.scheme", scheme);
    let experiment = settings.iter().fold(network, |experiment, (key, value)| {
        experiment.set(&format!("congestion.{key}"), value.clone())
    });
    same_on_all_ranks(&busy(experiment).message("60 flits"));
}

#[test]
fn explicit_congestion_notification() {
    same_under("ecn", &[]);
}

#[test]
fn reservations() {
    same_under("srp", &[("loss", 0.05.into())]);
    same_under("smsrp", &[("timeout", "300 ns".into())]);
}

#[test]
fn last_hop_reservations() {
    let settings = [
        ("fabric_drop", true.into()),
        ("threshold", "60 flits".into()),
        ("timeout", "200 ns".into()),
        ("retries", 1.into()),
    ];
    same_under("lhrp", &settings);
    same_under("lhrp_srp", &settings);
}

#[test]
fn signals_past_the_queues() {
    // Signals that cross between domains as fast as packets can, and slower.
    let many = [
        ("buffer", "100 flits".into()),
        ("latency", "100 ns".into()),
        ("period", "1 us".into()),
    ];
    same_under("codes_cc", &many);
    let late = [
        ("threshold", 0.1.into()),
        ("latency", "1300 ns".into()),
        ("ports", "last_hop".into()),
    ];
    same_under("codes_cc", &late);
    let few = [
        ("streams", 2.into()),
        ("threshold", "100 flits".into()),
        ("smallest", "1 flits".into()),
    ];
    same_under("sst_cm", &few);
}

#[test]
fn several_applications_beside_traffic_that_never_stops() {
    let experiment = Experiment::dragonfly(2, 4, 2)
        .routing("par")
        .uniform(0.3)
        .with("endpoints", "rest")
        .applications()
        .set("output.iterations", true)
        .set("output.messages", true);
    same_on_all_ranks(&experiment);
}

#[test]
fn applications_whose_packets_are_dropped() {
    for scheme in ["srp", "lhrp_srp"] {
        let experiment = Experiment::dragonfly(2, 4, 2)
            .routing("par")
            .applications()
            .set("congestion.scheme", scheme)
            .set("congestion.loss", 0.05)
            .set("output.messages", true);
        same_on(&[1, 2, 4], &experiment);
    }
}

#[test]
fn applications_on_a_tree() {
    let experiment = Experiment::clos(4, 3)
        .routing("adaptive_up")
        .job("alltoall", 7)
        .with("motif.bytes", "9 kB")
        .with("mpi.send_jitter", "5 ns")
        .with("placement", "random")
        .job("sweep3d", 6)
        .with("name", "sweep")
        .with("motif.cells", vec![10, 10, 4])
        .with("motif.compute", "100 ns");
    same_on_all_ranks(&experiment);
}
