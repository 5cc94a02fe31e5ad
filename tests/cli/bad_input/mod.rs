//! Bad input is refused before anything runs: exit code 2, the place named, a remedy, and no trace
//! left behind.

mod names;
mod ranks;

use std::fs;
use std::process::Command;

use crate::support::{Cli, Experiment, Ran};

fn good() -> Experiment {
    Experiment::dragonfly(2, 4, 2).uniform(0.1).until("2 us")
}

/// Checks that it was refused, and that the message has all of this. It had no effect, on one rank
/// or on two.
fn refused(ran: &Ran, says: &[&str]) {
    assert_eq!(ran.code, Some(2), "{}{}", ran.stdout, ran.stderr);
    // The line breaks of a message depend on the terminal's width.
    let message: Vec<&str> = ran.stderr.split_whitespace().collect();
    let message = message.join(" ");
    for part in says {
        assert!(message.contains(part), "{part:?} is not in\n{}", ran.stderr);
    }
    assert!(message.contains("help: "), "no remedy in\n{}", ran.stderr);
    assert_eq!(ran.stdout, "");
    assert!(!ran.out().exists(), "an output directory was left behind");
}

/// Line of the text `wrong` in `experiment.toml`, in the form of messages.
fn line_of(text: &str, wrong: &str) -> String {
    let line = text.lines().position(|line| line.contains(wrong));
    format!("experiment.toml:{}", line.expect(wrong) + 1)
}

/// The file is refused at the line that holds `wrong`.
fn refused_at(experiment: &Experiment, wrong: &str, says: &[&str]) {
    let text = experiment.text();
    let place = line_of(&text, wrong);
    let says = [says, &[place.as_str()]].concat();
    refused(&Cli::run(&text).arg("--json").go(), &says);
}

#[test]
fn an_unknown_key() {
    let experiment = good().set("router.speedupp", 2.0);
    refused_at(
        &experiment,
        "speedupp",
        &["unknown key `speedupp`", "did you mean `speedup`"],
    );
}

#[test]
fn an_unknown_section() {
    let experiment = good().set("runn.until", "2 us");
    refused_at(&experiment, "runn", &["did you mean"]);
}

#[test]
fn a_wrong_unit() {
    let experiment = good().set("router.latency", "10 flits");
    refused_at(&experiment, "10 flits", &["router.latency"]);
}

#[test]
fn a_number_without_a_unit() {
    let experiment = good().set("router.latency", 10);
    refused_at(&experiment, "latency = 10", &["router.latency", "unit"]);
}

#[test]
fn a_size_of_nothing() {
    let experiment = good().message("0 flits");
    refused_at(&experiment, "0 flits", &["message"]);
}

#[test]
fn a_negative_size() {
    let experiment = good().message("-4 flits");
    refused_at(&experiment, "-4 flits", &["message"]);
}

#[test]
fn a_load_of_nothing() {
    let experiment = good().with("load", 0.0);
    refused_at(&experiment, "load = 0", &["load"]);
}

#[test]
fn more_groups_than_global_links_can_join() {
    let experiment = good().groups(10);
    refused_at(&experiment, "groups = 10", &["groups", "9"]);
}

#[test]
fn a_dragonfly_of_no_endpoints() {
    let experiment = good().set("topology.endpoints_per_router", 0);
    refused_at(
        &experiment,
        "endpoints_per_router = 0",
        &["endpoints_per_router"],
    );
}

#[test]
fn endpoints_of_two_workloads() {
    let experiment = good()
        .with("endpoints", "0..10")
        .uniform(0.2)
        .with("endpoints", "9..12");
    refused_at(&experiment, "9..12", &["9"]);
}

#[test]
fn more_workloads_than_packets_can_tell_apart() {
    for copies in [0, 66_000] {
        let experiment = good().with("shared", true).with("copies", copies);
        let wrong = format!("copies = {copies}");
        refused_at(&experiment, &wrong, &["copies", "from 1 to 65535"]);
    }
    let half = |experiment: Experiment| experiment.with("shared", true).with("copies", 40_000);
    let both = half(half(good()).uniform(0.1));
    refused(
        &Cli::run(&both.text()).go(),
        &["these are 80000 workloads", "at most 65535"],
    );
}

#[test]
fn endpoints_that_do_not_exist() {
    let experiment = good().with("endpoints", "0..1000");
    refused_at(&experiment, "0..1000", &["72"]);
}

#[test]
fn stages_of_a_router_that_do_not_fit() {
    let experiment = good().set("router.vc_allocation", "12 ns");
    refused_at(
        &experiment,
        "12 ns",
        &["parts of the router's latency", "10 ns"],
    );
    let experiment = good()
        .set("router.route_computation", "2 ns")
        .set("queueing.scheme", "voq_sw");
    refused_at(&experiment, "2 ns", &["virtual output queues"]);
}

#[test]
fn time_steps_that_not_all_packets_keep() {
    let experiment = good().set("router.switching", "time_steps");
    refused_at(&experiment, "time_steps", &["output queues", "\"none\""]);
    let tree = Experiment::tree(2, 3)
        .uniform(0.1)
        .set("router.output_queue", "none")
        .set("router.leaf.switching", "time_steps");
    refused(
        &Cli::run(&tree.text()).go(),
        &["\"inner\" have no time steps", "all kinds"],
    );
    let every = tree
        .set("router.top.switching", "time_steps")
        .set("router.inner.switching", "time_steps");
    assert_eq!(Cli::check(&every.text()).go().code, Some(0));
}

#[test]
fn buffers_that_hold_no_packet() {
    let experiment = good().set("router.input_buffer", "8 flits");
    refused_at(&experiment, "8 flits", &["input_buffer", "24"]);
    let experiment = good().set("router.output_queue", "8 flits");
    refused_at(&experiment, "8 flits", &["output_queue", "24"]);
}

#[test]
fn unknown_kinds() {
    let experiment = good().set("topology.kind", "dragonfli");
    refused_at(&experiment, "dragonfli", &["did you mean \"dragonfly\""]);
    let experiment = good().routing("minimum");
    refused_at(&experiment, "minimum", &["minimal"]);
    let experiment = good().with("pattern.kind", "unifrom");
    refused_at(&experiment, "unifrom", &["did you mean \"uniform\""]);
    let experiment = good().set("congestion.scheme", "nome");
    refused_at(&experiment, "nome", &["none"]);
}

#[test]
fn a_routing_for_another_topology() {
    let experiment = good().routing("dmodk");
    refused_at(&experiment, "dmodk", &["dmodk"]);
}

#[test]
fn text_that_is_no_toml() {
    let text = good().text() + "\n[output\n";
    let place = line_of(&text, "[output");
    refused(&Cli::run(&text).arg("--json").go(), &[&place]);
}

#[test]
fn a_file_that_is_not_there() {
    let cli = Cli::weir("", &["run", "nothing.toml", "--out", "out", "--json"]);
    refused(&cli.go(), &["nothing.toml", "there is no such file"]);
}

/// `weir check` of a path that is no file to be read.
fn unreadable(path: &str, says: &str) {
    let cli = Cli::weir("", &["check", path]);
    fs::create_dir(cli.folder().join("folder.toml")).unwrap();
    let long = "#".repeat(5 << 20);
    fs::write(cli.folder().join("long.toml"), long).unwrap();
    let pipe = Command::new("mkfifo")
        .arg(cli.folder().join("pipe.toml"))
        .status();
    assert!(pipe.expect("mkfifo").success());
    refused(&cli.go(), &[path, "cannot be read", says]);
}

#[test]
fn what_is_no_file_or_never_ends() {
    unreadable("/dev/zero", "it is a pipe or a device");
    unreadable("pipe.toml", "it is a pipe or a device");
    unreadable("folder.toml", "it is a directory");
    unreadable("long.toml", "it has more than 4 MiB");
}

#[test]
fn counts_that_no_run_could_reach() {
    let paths = good().routing("ugal").set("routing.candidates", 65);
    refused_at(&paths, "candidates = 65", &["candidates", "at most 64"]);
    let steps = [
        ("allreduce", "iterations", 8),
        ("lammps", "steps", 8),
        ("periodic_aggressor", "rounds", 72),
    ];
    for (motif, key, tasks) in steps {
        let too_many = Experiment::dragonfly(2, 4, 2)
            .job(motif, tasks)
            .with(&format!("motif.{key}"), 1_000_001);
        let wrong = format!("{key} = 1000001");
        refused_at(&too_many, &wrong, &[key, "at most 1000000"]);
    }
    let rounds = Experiment::dragonfly(2, 4, 2)
        .job("periodic_aggressor", 72)
        .with("motif.senders", 10)
        .with("motif.rounds", 1_000_000)
        .with("motif.iterations", 1_000_000);
    refused_at(&rounds, "rounds", &["fewer rounds"]);
    let again = Experiment::dragonfly(2, 4, 2)
        .job("allreduce", 8)
        .with("repetitions", 1_000_001);
    refused_at(&again, "repetitions", &["from 1 to 1000000"]);
}

#[test]
fn more_tasks_than_can_be_simulated() {
    let many = Experiment::dragonfly(8, 16, 8)
        .uniform(0.1)
        .with("shared", true)
        .with("copies", 65_000);
    refused(
        &Cli::run(&many.text()).go(),
        &["the workloads have 67121280 tasks", "at most 67108864"],
    );
}

#[test]
fn a_network_file_that_is_not_there() {
    let text = "[topology]\nfile = \"./nothing.toml\"\n[routing]\nalgorithm = \"minimal\"\n[[workload]]\nload = 0.1\nmessage = \"4 flits\"\npattern = { kind = \"uniform\" }\n[run]\nuntil = \"1 us\"\n";
    refused(&Cli::run(text).go(), &["experiment.toml:2", "nothing.toml"]);
}

#[test]
fn an_override_of_nothing() {
    refused(
        &good().cli().set("run.sed=7").go(),
        &["--set", "run.sed", "`seed`"],
    );
}

#[test]
fn an_override_without_a_value() {
    refused(&good().cli().set("run.seed").go(), &["--set", "run.seed"]);
}

#[test]
fn an_override_of_the_wrong_type() {
    refused(
        &good().cli().set("nic.acknowledge=maybe").go(),
        &["--set", "acknowledge"],
    );
}

#[test]
fn a_packet_that_is_none() {
    for name in ["17", "17:", "a:b", "17:-3", "1:2:3"] {
        let ran = good().cli().arg("--watch-packet").arg(name).go();
        refused(&ran, &["--watch-packet", name]);
    }
    let ran = good().cli().arg("--watch-packet").arg("72:0").go();
    refused(&ran, &["--watch-packet", "no endpoint 72", "0 to 71"]);
}

#[test]
fn an_output_path_below_a_file() {
    let ran = good().cli().arg("--quiet");
    fs::write(ran.folder().join("out"), "something else").unwrap();
    let ran = ran.go();
    assert_eq!(ran.code, Some(2), "{}", ran.stderr);
    assert!(ran.stderr.contains("is not a directory") && ran.stderr.contains("--out"));
    assert_eq!(fs::read_to_string(ran.out()).unwrap(), "something else");

    let text = good().text();
    let cli = Cli::weir(
        &text,
        &[
            "run",
            "experiment.toml",
            "--out",
            "experiment.toml/deep/out",
        ],
    );
    let ran = cli.go();
    assert_eq!(ran.code, Some(2), "{}", ran.stderr);
    assert!(ran.stderr.contains("experiment.toml is not a directory"));
}

#[test]
fn the_result_of_another_experiment_is_kept() {
    let text = good().text();
    let cli = Cli::run(&text);
    let first = cli.command().output().unwrap();
    assert!(first.status.success());
    let result = cli.folder().join("out/result.h5");
    let before = fs::read(&result).unwrap();

    let again = cli
        .command()
        .args(["--set", "run.seed=5", "--json"])
        .output()
        .unwrap();
    let message = String::from_utf8(again.stderr).unwrap();
    assert_eq!(again.status.code(), Some(2), "{message}");
    assert!(
        message.contains("another experiment") && message.contains("--force"),
        "{message}"
    );
    assert!(
        message.contains("seed = 1") && message.contains("seed = 5"),
        "{message}"
    );
    assert!(again.stdout.is_empty());
    assert!(
        fs::read(&result).unwrap() == before,
        "the result was touched"
    );

    let forced = cli
        .command()
        .args(["--set", "run.seed=5", "--force"])
        .output()
        .unwrap();
    assert!(forced.status.success());
    assert!(
        fs::read(&result).unwrap() != before,
        "--force replaces the result"
    );
}

#[test]
fn the_same_experiment_may_be_run_again() {
    let cli = good().cli();
    assert!(cli.command().output().unwrap().status.success());
    cli.succeeds();
}

#[test]
fn a_file_in_the_place_of_the_result_is_kept() {
    let cli = good().cli();
    fs::create_dir(cli.folder().join("out")).unwrap();
    fs::write(cli.folder().join("out/result.h5"), "my notes").unwrap();
    let ran = cli.go();
    assert_eq!(ran.code, Some(2), "{}", ran.stderr);
    assert!(ran.stderr.contains("is in the way") && ran.stderr.contains("--force"));
    assert_eq!(fs::read_to_string(ran.result()).unwrap(), "my notes");
}

#[test]
fn unknown_options_and_commands() {
    for arguments in [
        &["run", "experiment.toml", "--sett", "a=1"][..],
        &["runn"],
        &["list", "topologiez"],
    ] {
        let ran = Cli::weir(&good().text(), arguments).go();
        assert_eq!(ran.code, Some(2), "{arguments:?}: {}", ran.stderr);
        assert_eq!(ran.stdout, "");
        assert!(!ran.stderr.is_empty());
    }
}

/// A key of the other sort of workloads, a key of another section's choice, and ranks are refused
/// with the place where they belong.
#[test]
fn keys_of_other_places_are_told_where_they_belong() {
    let base = || Experiment::dragonfly(2, 4, 2).uniform(0.3).until("1 us");
    for (set, message, remedy) in [
        (
            "workload.0.tasks=4",
            "a key of applications",
            "`motif` or `trace`",
        ),
        (
            "workload.0.repetitions=4",
            "a key of applications",
            "`motif` or `trace`",
        ),
        (
            "workload.0.mpi.header=\"4 B\"",
            "a key of applications",
            "`motif` or `trace`",
        ),
        (
            "routing.kind=\"par\"",
            "unknown key `kind`",
            "did you mean `algorithm`?",
        ),
        (
            "topology.scheme=\"par\"",
            "unknown key `scheme`",
            "did you mean `kind`?",
        ),
        (
            "topology.bandwidth=\"1 Gbps\"",
            "unknown key `bandwidth`",
            "did you mean `terminal.bandwidth`?",
        ),
        ("run.ranks=4", "unknown key `ranks`", "mpirun -n 4 weir run"),
    ] {
        let ran = Cli::weir(&base().text(), &["check", "experiment.toml", "--set", set]).go();
        assert_eq!(ran.code, Some(2), "{set}");
        let said: String = ran.stderr.split_whitespace().collect::<Vec<_>>().join(" ");
        assert!(
            said.contains(message) && said.contains(remedy),
            "{set}: {said}"
        );
    }
    let job = Experiment::tree(4, 2)
        .job("alltoall", 8)
        .until("completion");
    let ran = Cli::weir(
        &job.text(),
        &["check", "experiment.toml", "--set", "workload.0.load=0.1"],
    )
    .go();
    assert_eq!(ran.code, Some(2));
    assert!(
        ran.stderr.contains("a key of traffic with a `pattern`"),
        "{}",
        ran.stderr
    );
    for option in ["--ranks", "--np", "-n"] {
        let ran = Cli::weir(&base().text(), &["run", "experiment.toml", option, "4"]).go();
        assert_eq!(ran.code, Some(2), "{option}");
        assert!(
            ran.stderr.contains("mpirun -n 4 weir run"),
            "{option}: {}",
            ran.stderr
        );
    }
}
