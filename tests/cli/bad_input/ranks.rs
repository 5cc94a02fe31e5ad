//! Mistakes on several ranks are told once, and all ranks must have the same experiment.

use std::path::Path;

use super::good;
use crate::support::{Cli, Experiment};

#[test]
fn more_ranks_than_domains() {
    let ran = good().groups(3).cli().ranks(4).go();
    assert_eq!(ran.code, Some(2), "{}", ran.stderr);
    assert_eq!(
        ran.stderr
            .matches("4 ranks cannot share the 3 domains")
            .count(),
        1
    );
    assert!(ran.stderr.contains("at most 3 ranks"));
    assert!(!ran.out().exists());
}

/// Signals that take no time are for one rank: that is said before anything runs, of a study too.
#[test]
fn signals_without_time_are_for_one_rank() {
    let instant = good().set("congestion.scheme", "codes_cc");
    let ran = instant.cli().ranks(2).go();
    assert_eq!(ran.code, Some(2), "{}", ran.stderr);
    assert!(
        ran.stderr.contains("the signals of codes_cc take 0 ns"),
        "{}",
        ran.stderr
    );
    let text = Cli::check(&instant.text()).succeeds().stdout;
    assert!(
        text.contains("(one rank: signals of the scheme take no time)"),
        "{text}"
    );
    let ran = Cli::weir(
        &instant.text(),
        &["check", "experiment.toml", "--ranks", "2"],
    )
    .go();
    assert_eq!(ran.code, Some(2), "{}", ran.stderr);
    let arguments = [
        "sweep",
        "run",
        "experiment.toml",
        "--ranks",
        "2",
        "--out",
        "out",
    ];
    let ran = Cli::weir(&instant.text(), &arguments).go();
    assert_eq!(ran.code, Some(2), "{}", ran.stderr);
    assert!(
        ran.stderr.contains("2 ranks cannot run all points"),
        "{}",
        ran.stderr
    );
}

#[test]
fn a_mistake_is_told_once_by_all_ranks_together() {
    let ran = good().set("router.speedupp", 2.0).cli().ranks(3).go();
    assert_eq!(ran.code, Some(2), "{}", ran.stderr);
    assert_eq!(
        ran.stderr.matches("unknown key").count(),
        1,
        "{}",
        ran.stderr
    );
    assert!(!ran.out().exists());
}

/// Runs rank 0 on one experiment and rank 1 on another, each with its options. Returns the exit
/// code, the output, and whether there is a result.
fn ranks_apart(ranks: [(&str, &[&str]); 2]) -> (Option<i32>, String, bool) {
    let folder = tempfile::tempdir().expect("a directory");
    let weir = Path::new(env!("CARGO_BIN_EXE_weir"));
    let mut command = Cli::program(weir, 1);
    for (rank, (text, options)) in ranks.into_iter().enumerate() {
        let file = format!("{rank}.toml");
        std::fs::write(folder.path().join(&file), text).expect("a file");
        if rank == 1 {
            command.args([":", "-n", "1"]).arg(weir);
        }
        command.args(["run", &file, "--out", "out", "--quiet"]);
        command.args(options);
    }
    let output = assert_cmd::Command::from_std(command)
        .current_dir(folder.path())
        .timeout(std::time::Duration::from_secs(120))
        .output()
        .expect("it can be started");
    let said = String::from_utf8_lossy(&output.stderr).into_owned();
    let written = folder.path().join("out/result.h5").exists();
    (output.status.code(), said, written)
}

#[test]
fn ranks_with_different_experiments_are_refused() {
    let experiment = || Experiment::dragonfly(2, 4, 2).uniform(0.3).until("20 us");
    let first = experiment().text();
    let others = [
        (experiment().with("load", 0.6), "load = 0.6"),
        // A rank that ended sooner would have the other wait for ever.
        (experiment().until("10 us"), "until = \"10 us\""),
        (
            experiment().set("topology.global.latency", "2 us"),
            "latency = \"2 us\"",
        ),
    ];
    for (other, line) in others {
        let (code, said, written) = ranks_apart([(&first, &[]), (&other.text(), &[])]);
        assert_eq!((code, written), (Some(2), false), "{said}");
        let mut lines = said.lines();
        let told = lines.find(|line| line.contains("rank 1 has another experiment than rank 0"));
        let own = told.and_then(|told| told.split(", not ").next());
        assert!(own.is_some_and(|own| own.contains(line)), "{said}");
    }
}

/// Traces are part of the experiment.
#[test]
fn ranks_with_different_traces_are_refused() {
    let folder = tempfile::tempdir().expect("a directory");
    let text = |name: &str, bytes: u32| {
        let path = folder.path().join(name);
        let csv = format!("source,destination,bytes,start\n0,1,{bytes},0\n");
        std::fs::write(&path, csv).expect("a file");
        format!(
            "topology = {{ file = \"dragonfly-72\" }}\nrouting = {{ algorithm = \"minimal\" }}\n\
             run = {{ until = \"completion\" }}\n[[workload]]\n\
             trace = {{ format = \"flows\", file = \"{}\" }}\n",
            path.display()
        )
    };
    let [first, other] = [text("a.csv", 64), text("b.csv", 65)];
    let (code, said, written) = ranks_apart([(&first, &[]), (&other, &[])]);
    assert_eq!((code, written), (Some(2), false), "{said}");
    assert!(said.contains("rank 1 has another experiment"), "{said}");
}

#[test]
fn ranks_with_different_options_are_refused_and_numbers_of_threads_may_differ() {
    let text = Experiment::dragonfly(2, 4, 2).uniform(0.3).until("2 us");
    let text = &text.text();
    let watched: &[&str] = &["--watch-packet", "3:1"];
    for ranks in [[watched, &[]], [&[], watched]] {
        let (code, said, written) = ranks_apart(ranks.map(|options| (text.as_str(), options)));
        assert_eq!((code, written), (Some(2), false), "{said}");
        let told = said.matches("rank 1 has other options than rank 0").count();
        assert_eq!(told, 1, "{said}");
    }
    for threads in ["1", "3"] {
        let threads: &[&str] = &["-j", threads];
        let (code, said, written) = ranks_apart([(text, threads), (text, &[])]);
        assert_eq!((code, written), (Some(0), true), "{said}");
    }
}
