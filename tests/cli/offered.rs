//! `weir check` prints what patterns ask of the links.

use crate::networks::failures::failing;
use crate::support::{Cli, Experiment};

fn checked(experiment: &Experiment) -> serde_json::Value {
    let args = ["check", "experiment.toml", "--json", "--no-calibration"];
    let ran = Cli::weir(&experiment.text(), &args);
    serde_json::from_str(&ran.succeeds().stdout).expect("JSON")
}

/// If half of the links are down, the others carry all: half of that by detours over two of them,
/// if routers know it from the beginning.
#[test]
fn links_that_fail_carry_less() {
    let network = Experiment::dragonfly(4, 8, 4).uniform(0.4).until("9 us");
    let share = |failure: &str| {
        checked(&failing(&network, failure))["offered"]["global"]
            .as_f64()
            .expect("a share")
    };
    let whole = checked(&network)["offered"]["global"]
        .as_f64()
        .expect("a share");
    for (failure, times) in [
        ("share = 0.5, down = true", 3.0),
        ("share = 0.5, down = true, at = \"2 us\"", 2.0),
        ("share = 1.0, bandwidth = 0.25", 4.0),
        ("share = 0.5, down = true, at = \"9 us\"", 1.0),
        ("share = 1.0, down = true, at = \"2 us\"", 1.0),
    ] {
        let own = share(&format!("failure = [{{ links = \"global\", {failure} }}]"));
        assert!(
            (own / whole / times - 1.0).abs() < 0.02,
            "{failure}: {own}, {whole}"
        );
    }
}

/// A packet of 24 flits goes out at 1 ns a flit, and its place comes back after 2 x 1 us and its
/// own 24 ns: buffers of 40 packets have that many under way, which is less than 0.5 of the link.
#[test]
fn buffers_below_the_credit_round_trip_are_told() {
    let network = |load: f64, buffer: &str| {
        Experiment::dragonfly(2, 4, 2)
            .uniform(load)
            .set("nic.acknowledge", false)
            .set("topology.global.latency", "1 us")
            .set("router.credit_delay", "0 ns")
            .set("router.input_buffer", buffer)
            .until("9 us")
    };
    let short = network(0.9, "40 packets");
    let expected = 40.0 * 24.0 / (2_000.0 + 24.0);
    let share = checked(&short)["credit_shares"]["global"].as_f64();
    assert!(
        (share.expect("a share") - expected).abs() < 1e-9,
        "{share:?}"
    );
    // Stored, it leaves at twice the rate of the link after it is whole, 12 ns later, or at its
    // rate.
    let stored = short.clone().set("router.switching", "store_and_forward");
    for (more, kept) in [("16 packets", 12.0), ("none", 24.0)] {
        let own = stored.clone().set("router.output_queue", more);
        let crossing = if more == "none" { 10.0 } else { 0.0 };
        let expected = 40.0 * 24.0 / (2_000.0 + 24.0 + kept + crossing);
        let share = checked(&own)["credit_shares"]["global"].as_f64();
        let share = share.expect("a share");
        assert!((share - expected).abs() < 1e-9, "{share} {expected}");
    }
    assert!(checked(&network(0.9, "auto"))["credit_shares"]["global"].is_null());
    let warned = |experiment: &Experiment| {
        let plan = experiment.plan();
        plan.warnings.iter().any(|one| one.kind == "credit_limited")
    };
    assert!(warned(&short));
    assert!(!warned(&network(0.9, "auto")));
    assert!(!warned(&network(0.1, "40 packets")), "it asks for less");
    // Links from endpoints, too.
    let terminal = |load: f64| {
        let all = network(load, "40 packets").set("topology.global.latency", "10 ns");
        all.set("topology.terminal.latency", "1 us")
    };
    assert!(warned(&terminal(0.9)) && !warned(&terminal(0.1)));
    let steps = network(0.9, "40 packets").set("router.switching", "time_steps");
    let steps = steps.set("router.output_queue", "none");
    assert!(!warned(&steps), "steps cover the round trip");
    let text = Cli::check(&short.text()).succeeds().stdout;
    assert!(
        text.contains("# credits    global 47% of the bandwidth"),
        "{text}"
    );
}

/// 40, meant as 40%.
#[test]
fn a_load_above_one_is_told() {
    for (load, told) in [(40.0, true), (1.0, false)] {
        let plan = Experiment::dragonfly(2, 4, 2)
            .uniform(load)
            .until("1 us")
            .plan();
        let warned = plan.warnings.iter().any(|one| one.kind == "overload");
        assert_eq!(warned, told, "{load}");
    }
}

/// A packet in a ring of 16 takes 4 hops on average, by both directions of its link; one to itself
/// is not sent.
#[test]
fn the_load_of_links_is_that_of_arithmetic() {
    let torus = |load: f64| {
        let torus =
            crate::networks::direct::experiment("kind = \"torus\"\nsizes = [16, 16, 16]", "dor");
        let torus = torus
            .set("nic.acknowledge", false)
            .set("router.flit", "64 B");
        torus.uniform(load).message("256 B").until("2 us")
    };
    for load in [0.4, 0.9] {
        let json = checked(&torus(load).set("topology.link.bandwidth", "200 Gbps"));
        let offered = |kind: &str| json["offered"][kind].as_f64().expect("a share");
        assert!((offered("terminal") - load).abs() < 1e-6);
        for kind in ["x", "y", "z"] {
            let expected = load * 4.0 / 2.0 / 2.0 * 4096.0 / 4095.0;
            assert!(
                (offered(kind) / expected - 1.0).abs() < 0.02,
                "{kind}: {}",
                offered(kind)
            );
        }
    }
    // A message of 8 bytes takes a flit of 64, and another one for its acknowledgement.
    let small = torus(0.05).message("8 B").set("nic.acknowledge", true);
    let ran = Cli::check(&small.text()).succeeds();
    assert!(
        ran.stdout.contains("# offered    terminal 80%,"),
        "{}",
        ran.stdout
    );
    let text = Cli::check(&torus(0.9).text());
    assert!(text.succeeds().stdout.contains("more than they carry"));
    let closed = Experiment::dragonfly(2, 4, 2).applications().text();
    assert!(!Cli::check(&closed).succeeds().stdout.contains("# offered"));
}
