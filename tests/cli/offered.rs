//! `weir check` prints what patterns ask of the links.

use crate::support::{Cli, Experiment};

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
        let ran = Cli::weir(
            &torus(load)
                .set("topology.link.bandwidth", "200 Gbps")
                .text(),
            &["check", "experiment.toml", "--json", "--no-calibration"],
        );
        let json: serde_json::Value = serde_json::from_str(&ran.succeeds().stdout).expect("JSON");
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
