//! Routes of control packets (`nic.control_routes`).

use crate::networks::direct::experiment;
use crate::support::Experiment;

/// Each of the eight endpoints of a group sends 0.2 flits per nanosecond to the next group, in
/// packets of a flit that are answered by one: 1.6 flits of answers for one link.
fn worst_case(routes: &str) -> Experiment {
    Experiment::dragonfly(2, 4, 2)
        .set("nic.control_routes", routes)
        .routing("par")
        .traffic("worst_case", 0.2)
        .message("1 flits")
        .until("40 us")
        .set("run.warmup", "20 us")
}

#[test]
fn minimal_answers_share_the_one_link_between_two_groups_and_others_go_around() {
    for (routes, share) in [("minimal", 1.0 / 8.0), ("as_data", 0.2)] {
        let data = worst_case(routes).run().data;
        let mut shares = data.scheme.shares.iter();
        let (_, ack) = shares
            .find(|(name, _)| name == "ejected_ack_share")
            .expect("acknowledgements");
        assert!((ack - share).abs() < 0.01 * share, "{routes}: {ack}");
    }
}

#[test]
fn all_arrives_on_every_way_of_control_packets_under_every_scheme() {
    let schemes = weir::catalog::catalog().schemes;
    for scheme in schemes.variants.iter().map(|variant| variant.name) {
        let experiment = Experiment::dragonfly(2, 4, 2)
            .set("nic.control_routes", "as_data")
            .set("congestion.scheme", scheme)
            .routing("par")
            .hotspot(20, 2, 0.4)
            .with("endpoints.count", 24)
            .with("endpoints.placement", "random")
            .message("60 flits")
            .with("stop", "3 us")
            .uniform(0.5)
            .with("endpoints", "rest")
            .message("60 flits")
            .to_completion("3 us");
        if scheme == "saa" {
            // Its packets follow the ones that announce their flow.
            assert!(experiment.try_plan().is_err());
            continue;
        }
        let summary = experiment.run().data.summary;
        assert_eq!(
            summary.messages_generated, summary.messages_received,
            "{scheme}"
        );
    }
}

#[test]
fn what_a_router_makes_takes_its_turn_in_the_orders_of_dimensions() {
    for network in [
        "kind = \"kns\"\nk = 4\nn = 2",
        "kind = \"mesh\"\nsizes = [4, 4]",
    ] {
        for scheme in ["srp", "smsrp"] {
            let data = experiment(network, "oblivious")
                .set("nic.control_routes", "as_data")
                .set("congestion.scheme", scheme)
                .traffic("hot_background", 0.9)
                .with("pattern.hot_fraction", 0.5)
                .message("24 flits")
                .to_completion("3 us")
                .run()
                .data;
            let counted = data
                .scheme
                .counters
                .iter()
                .find(|(name, _)| name == "packets_nack");
            assert!(
                counted.is_some_and(|(_, count)| *count > 0),
                "{scheme}: {counted:?}"
            );
            let summary = data.summary;
            assert_eq!(summary.messages_generated, summary.messages_received);
        }
    }
}

/// A source sends 24 flits to its place in the transposed mesh, over and over, and acknowledges what
/// comes from there by a flit. Half of the packets of a source take each order: the busiest
/// link has those of 3.5 sources, and by dimension order alone of 7.
#[test]
fn acknowledgements_do_not_use_up_the_turns_of_data() {
    for choose_at in ["router", "nic", "strict"] {
        let data = experiment("kind = \"mesh\"\nsizes = [8, 8]", "oblivious")
            .set("routing.choose_at", choose_at)
            .traffic("transpose", 0.1)
            .with("injection", "periodic")
            .message("24 flits")
            .until("40 us")
            .run()
            .data;
        let busiest = data.ports.busy_ps.iter().max().expect("ports");
        let share = *busiest as f64 / data.summary.simulated_ps as f64;
        let expected = 3.5 * 0.1 * 25.0 / 24.0;
        assert!(
            (share / expected - 1.0).abs() < 0.02,
            "{choose_at}: {share}, not {expected}"
        );
    }
}
