//! What `weir check` and `weir sweep plan` expect is near what a run then takes, and they take little themselves.

use std::process::Command;

use crate::support::{Cli, Experiment};
use weir::congestion::Capabilities;
use weir::fabric::FabricDomain;
use weir::simulation::Plan;

/// Bytes of the state of all domains, built.
fn built(plan: &Plan) -> u64 {
    let (blueprint, scheme) = (&plan.blueprint, plan.scheme.as_ref());
    let one = |id| match scheme.capabilities() {
        Capabilities::NONE => FabricDomain::<false>::new(id, blueprint, scheme).memory_bytes(),
        _ => FabricDomain::<true>::new(id, blueprint, scheme).memory_bytes(),
    };
    let domains = 0..blueprint.network.topology.domains();
    domains.map(|id| one(id).0 as u64).sum()
}

#[test]
fn the_state_of_a_network_is_known_without_building_it() {
    let dragonfly = || Experiment::dragonfly(4, 8, 4).uniform(0.4);
    let networks = [
        dragonfly(),
        dragonfly().groups(9).routing("par"),
        dragonfly()
            .set("queueing.scheme", "single")
            .routing("valiant"),
        dragonfly().set("congestion.scheme", "lhrp"),
        dragonfly().set("congestion.scheme", "codes_cc"),
        dragonfly().set("congestion.scheme", "sst_cm"),
        Experiment::tree(8, 3).hotspot(100, 4, 0.1),
        Experiment::clos(16, 2).routing("adaptive_up").uniform(1.0),
    ];
    for network in networks {
        let plan = network.plan();
        let built = built(&plan) as f64;
        let ratio = plan.expected_state() as f64 / built;
        assert!((0.8..1.25).contains(&ratio), "{ratio}: {network:?}");
    }
}

/// A million endpoints and twenty million ports of routers, which take gigabytes, are counted and not built.
#[test]
fn a_large_network_is_checked_in_little_memory() {
    let large = Experiment::tree(2, 20).uniform(0.1);
    let cli = Cli::check(&large.text());
    let shell = ["-c", "ulimit -v 400000; exec \"$0\" \"$@\""];
    let mut command = Command::new("sh");
    command
        .args(shell)
        .arg(env!("CARGO_BIN_EXE_weir"))
        .args(["check", "experiment.toml"])
        .current_dir(cli.folder());
    let output = command.output().expect("a shell");
    let ran = cli.ran(output);
    assert_eq!(ran.code, Some(0), "{}", ran.stderr);
    assert!(
        ran.stdout.contains("# endpoints  1048576"),
        "{}",
        ran.stdout
    );
}
