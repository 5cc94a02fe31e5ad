//! Experiments that can be run and do nothing, or measure nothing, are reported before the run,
//! with a note in the result.

use std::fs;
use std::path::Path;

use crate::support::{Cli, Experiment};
use weir::catalog::catalog;
use weir::simulation::{Plan, Warning};

fn network() -> Experiment {
    Experiment::dragonfly(2, 4, 2).until("10 us")
}

fn uniform() -> Experiment {
    network().uniform(0.1).with("name", "u")
}

fn job(motif: &str, tasks: i64) -> Experiment {
    network().job(motif, tasks).with("name", "j")
}

fn warnings(experiment: &Experiment) -> Vec<Warning> {
    experiment.plan().warnings
}

/// One warning about each of these, of a kind and with such a text.
#[test]
fn what_does_nothing_is_told() {
    for (experiment, kind, text) in [
        (
            job("lammps", 1),
            "sends_nothing",
            "workload.0.tasks: a single task has nobody to send to, so \"j\"",
        ),
        (
            job("lammps", 8).with("motif.steps", 0),
            "sends_nothing",
            "workload.0.motif.steps: this is 0, so \"j\"",
        ),
        (
            job("ping_pong", 2).with("motif.iterations", 0),
            "sends_nothing",
            "workload.0.motif.iterations: this is 0, so \"j\"",
        ),
        (
            job("halo2d", 4).with("motif.iterations", 0),
            "sends_nothing",
            "workload.0.motif.iterations: this is 0, so \"j\"",
        ),
        (
            job("halo3d26", 1)
                .with("motif.reduce", false)
                .with("tasks", 1),
            "sends_nothing",
            "workload.0.tasks: a single task",
        ),
        (
            uniform()
                .routing("ugal")
                .set("router.output_queue", "unlimited"),
            "hidden_congestion",
            "router.output_queue: output queues without limit hold back nothing",
        ),
        (
            Experiment::tree(4, 3)
                .until("10 us")
                .uniform(0.1)
                .routing("adaptive_up")
                .set("router.top.output_queue", "unlimited"),
            "hidden_congestion",
            "router.top.output_queue: output queues without limit hold back nothing",
        ),
        (
            uniform().with("load", 1e-6),
            "sends_nothing",
            // 72 senders of 100 Gbps for 10 us, in messages of 4 flits of 100 bits.
            "workload.0.load: at this load \"u\" is to send about 0.18 messages",
        ),
        (
            uniform().with("stop", "2 us").set("run.warmup", "2 us"),
            "not_measured",
            "workload.0.stop: 2 us is not after the beginning",
        ),
        (
            uniform().with("start", "5 us").set("run.measure", "5 us"),
            "not_measured",
            "workload.0.start: 5 us is not before the end",
        ),
        (
            uniform()
                .with("pattern.kind", "hot_background")
                .with("pattern.from", "3 us")
                .with("stop", "3 us"),
            "diverts_nothing",
            "workload.0.pattern.from: 3 us is not before the last message (3 us)",
        ),
        (
            uniform().set("output.occupancy", "10 us"),
            "records_nothing",
            "output.occupancy: 10 us is not shorter than the run",
        ),
        (
            uniform().set("output.iterations", true),
            "records_nothing",
            "output.iterations: there is no application",
        ),
        (
            Experiment::tree(4, 2).uniform(0.1),
            "unused",
            "topology.local: the network has no local links",
        ),
        (
            Experiment::tree(4, 3)
                .set("topology.horizontal_width", 2)
                .set("topology.horizontal.bandwidth", "100 Gbps")
                .set("topology.horizontal.latency", "5 ns")
                .uniform(0.1),
            "unused",
            "topology.horizontal_width: no packet takes the horizontal links",
        ),
    ] {
        let found = warnings(&experiment);
        let [warning] = found.as_slice() else {
            panic!("{text}: {found:?}");
        };
        assert_eq!(warning.kind, kind, "{text}");
        assert!(warning.text.starts_with(text), "{}", warning.text);
        assert!(warning.shown.remedy().is_some(), "{text}");
    }
}

#[test]
fn control_packets_that_may_deadlock_are_told_of() {
    let of = |network: &str, scheme: &str| {
        let experiment = crate::networks::direct::experiment(network, "oblivious")
            .set("congestion.scheme", scheme)
            .uniform(0.5)
            .until("10 us");
        let found = warnings(&experiment).into_iter();
        let found = found.filter(|one| one.kind == "may_deadlock");
        found.map(|one| one.text).collect::<Vec<_>>()
    };
    let kns = "kind = \"kns\"\nk = 4\nn = 2";
    for scheme in ["srp", "smsrp"] {
        assert!(of(kns, scheme)[0].contains("in another order than all others"));
        assert!(of("kind = \"mesh\"\nsizes = [4, 4]", scheme).is_empty());
    }
    assert!(of(kns, "lhrp").is_empty() && of(kns, "ecn").is_empty());
}

/// The same with a message, a picosecond, or a task more.
#[test]
fn what_does_something_is_not() {
    for experiment in [
        job("lammps", 2),
        job("lammps", 8).with("motif.steps", 1),
        job("ping_pong", 2),
        // One message is to be expected of 72 senders: 400 bits of 72 Mbit.
        uniform().with("load", 5.6e-6),
        uniform()
            .with("stop", "2 us")
            .set("run.warmup", "1999999 ps"),
        uniform()
            .with("start", "4999999 ps")
            .set("run.measure", "5 us"),
        uniform()
            .with("pattern.kind", "hot_background")
            .with("pattern.from", "2999999 ps")
            .with("stop", "3 us"),
        uniform().set("output.occupancy", "9 us"),
        Experiment::tree(4, 3).uniform(0.1),
        uniform()
            .routing("ugal")
            .set("router.output_queue", "unlimited")
            .set("router.credit_at", "crossing"),
    ] {
        let found = warnings(&experiment);
        assert!(found.is_empty(), "{found:?}");
    }
}

#[test]
fn the_experiments_of_the_tests_do_something() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/experiments");
    let mut seen = 0;
    for entry in fs::read_dir(folder).expect("a folder") {
        let path = entry.expect("a file").path();
        let experiment = weir::config::Experiment::load_with(&path, &[], &catalog());
        let experiment = experiment.unwrap_or_else(|error| panic!("{}", error.render(false)));
        let plan = Plan::new(&experiment, None).expect("a plan");
        // One has queues without limit on purpose, one a small window, one routers that are down,
        // some small buffers, and one a load of more than a link.
        let meant = [
            "hidden_congestion",
            "throttles_idle",
            "cut_off",
            "credit_limited",
            "overload",
        ];
        let mut nothing = plan.warnings.iter();
        let nothing = nothing.find(|warning| !meant.contains(&warning.kind));
        assert!(nothing.is_none(), "{path:?}: {nothing:?}");
        seen += 1;
    }
    assert!(seen > 40, "{seen}");
}

/// Told with file and line by `check`, `run` and `sweep plan`, once on several ranks, not at all if
/// asked for quiet; in the summary and in the file.
#[test]
fn every_command_tells_it() {
    let text = uniform()
        .with("stop", "1 us")
        .set("run.warmup", "2 us")
        .text();
    let line = text
        .lines()
        .position(|line| line.contains("stop"))
        .expect("a line")
        + 1;
    let place = format!("experiment.toml:{line}:");
    let told = |stderr: &str| {
        assert!(
            stderr.contains("warning: workload.0.stop: 1 us is not after"),
            "{stderr}"
        );
        assert!(stderr.contains(&place), "{stderr}");
        assert!(stderr.contains("help: move the workload"), "{stderr}");
        assert_eq!(stderr.matches("warning: ").count(), 1, "{stderr}");
    };
    let check = Cli::check(&text).succeeds();
    told(&check.stderr);
    assert!(!check.stdout.contains("warning: "), "{}", check.stdout);
    told(
        &Cli::weir(&text, &["sweep", "plan", "experiment.toml"])
            .succeeds()
            .stderr,
    );
    for ranks in [1, 2] {
        let ran = Cli::run(&text).ranks(ranks).succeeds();
        told(&ran.stderr);
        assert!(
            ran.stdout.contains("warning     workload.0.stop: 1 us"),
            "{}",
            ran.stdout
        );
        let stored = weir::result::read(&ran.out().join("result.h5")).expect("a result");
        let notes = &stored.digest.notes;
        assert_eq!(notes[0].kind, "not_measured");
        assert_eq!(notes[0].job.as_deref(), Some("u"));
    }
    told(&Cli::run(&text).arg("--quiet").succeeds().stderr);
    // If only some points are concerned, their number is given.
}

/// A warning that differs in its numbers is told once, and at how many points.
#[test]
fn points_of_a_sweep_are_told_together() {
    let text = uniform()
        .with("shared", true)
        .set("run.warmup", "2 us")
        .text();
    let planned = |more: &str| {
        let job = format!("{text}\n{more}");
        let plan = Cli::weir(&job, &["sweep", "plan", "experiment.toml"]);
        plan.succeeds().stderr
    };
    for (stops, told) in [
        ("\"1 us\", \"3 us\", \"5 us\"", "(at 1 of 3 points)"),
        (
            "\"1 us\", \"3 us\", \"2 us\"",
            "(at 2 of 3 points, with other numbers)",
        ),
    ] {
        let axis = "[[axis]]\nname = \"stop\"\nkey = \"workload.u.stop\"";
        let stderr = planned(&format!("{axis}\nvalues = [{stops}]\n"));
        assert_eq!(stderr.matches("warning: ").count(), 1, "{stderr}");
        assert_eq!(stderr.matches(told).count(), 1, "{stderr}");
    }
    // Another key is another warning.
    let job = |stop: &str| {
        let traffic = "pattern = { kind = \"uniform\" }\nload = 0.1\nmessage = \"4 flits\"";
        format!("[[workload]]\n{traffic}\nshared = true\nstop = \"{stop}\"\n")
    };
    let stderr = planned(&format!("{}{}", job("1 us"), job("2 us")));
    assert_eq!(stderr.matches("warning: ").count(), 2, "{stderr}");
}

#[test]
fn links_that_a_tree_has_not_need_not_be_given() {
    let links = "bandwidth = \"100 Gbps\", latency = \"5 ns\"";
    let experiment = |kind: &str, inner: &str| {
        format!(
            "topology = {{ {kind}, terminal = {{ {links} }}{inner} }}\nrouting = {{ algorithm = \"dmodk\" }}\n\
             run = {{ until = \"2 us\" }}\n[[workload]]\npattern = {{ kind = \"uniform\" }}\nload = 0.1\nmessage = \"4 flits\"\n"
        )
    };
    let [global, both] = [
        format!(", global = {{ {links} }}"),
        format!(", global = {{ {links} }}, local = {{ {links} }}"),
    ];
    for (kind, inner) in [
        ("kind = \"kary_ntree\", k = 4, n = 1", ""),
        ("kind = \"kary_ntree\", k = 4, n = 2", &*global),
        ("kind = \"kary_ntree\", k = 2, n = 3", &*both),
        ("kind = \"folded_clos\", radix = 4, levels = 2", &*global),
        ("kind = \"folded_clos\", radix = 4, levels = 3", &*both),
    ] {
        let ran = Cli::check(&experiment(kind, inner)).succeeds();
        assert_eq!(ran.stderr, "", "{kind}");
    }
    for (kind, inner, key) in [
        ("kind = \"kary_ntree\", k = 4, n = 2", "", "global"),
        ("kind = \"kary_ntree\", k = 2, n = 3", &*global, "local"),
        (
            "kind = \"folded_clos\", radix = 4, levels = 3",
            &*global,
            "local",
        ),
    ] {
        let ran = Cli::check(&experiment(kind, inner)).go();
        assert_eq!(ran.code, Some(2), "{kind}");
        assert!(
            ran.stderr.contains(&format!("`{key}` is missing")),
            "{}",
            ran.stderr
        );
        assert!(
            ran.stderr.contains(&format!("add {key} = {{")),
            "{}",
            ran.stderr
        );
    }
}

#[test]
fn too_many_tasks_of_a_ready_file_name_the_key_that_can_be_written() {
    let text = "topology = { file = \"dragonfly-72\" }\nrouting = { algorithm = \"minimal\" }\nrun = { until = \"completion\" }\n\
                [[workload]]\nfile = \"lammps-512\"\n";
    let ran = Cli::check(text).go();
    assert_eq!(ran.code, Some(2), "{}", ran.stderr);
    let words: Vec<&str> = ran.stderr.split_whitespace().collect();
    let said = words.join(" ");
    for part in [
        "workload.0.tasks: 512 tasks are to have an endpoint each, and 72 of 72 are free",
        "workloads/lammps-512.toml:2:",
        "write `tasks = …` beside it",
    ] {
        assert!(said.contains(part), "{part}: {}", ran.stderr);
    }
    // That is so.
    Cli::check(&format!("{text}tasks = 64\n")).succeeds();
    let own = text.replace(
        "file = \"lammps-512\"",
        "tasks = 100\nmotif = \"ping_pong\"",
    );
    let ran = Cli::check(&own).go();
    assert!(ran.stderr.contains("experiment.toml:5:"), "{}", ran.stderr);
    assert!(!ran.stderr.contains("beside"), "{}", ran.stderr);
}

/// Texts of an experiment's notes on a scheme that does nothing.
fn idle(experiment: Experiment) -> Vec<String> {
    let notes = experiment.run().data.notes.into_iter();
    let idle = notes.filter(|note| note.kind == "scheme_idle");
    idle.map(|note| note.text).collect()
}

/// Each scheme names the decisive parameter, both if it sees nothing and if its actions have no
/// effect.
#[test]
fn a_scheme_that_does_nothing_says_so() {
    for (scheme, parameter) in [
        ("ecn", "threshold"),
        ("ib_cca", "threshold"),
        ("smsrp", "timeout"),
        ("lhrp", "threshold"),
        ("lhrp_srp", "threshold"),
        ("codes_cc", "threshold"),
        ("sst_cm", "threshold"),
    ] {
        let told = idle(uniform().set("congestion.scheme", scheme));
        let words = format!("{scheme} did nothing: it never");
        assert!(told[0].starts_with(&words), "{told:?}");
        assert!(told[0].contains(&format!("congestion.{parameter} ")));
    }
    let hot = || network().hotspot(9, 1, 0.9);
    for (scheme, parameter, value) in [("ecn", "increment", "0 ns"), ("ib_cca", "max_ipd", "1 ps")]
    {
        let scheme = |experiment: Experiment| experiment.set("congestion.scheme", scheme);
        assert!(idle(scheme(hot()).set("congestion.buffer", "2 packets")).is_empty());
        let weak = scheme(hot())
            .set("congestion.buffer", "2 packets")
            .set(&format!("congestion.{parameter}"), value);
        let told = idle(weak);
        assert!(told[0].contains("and never held a source back"), "{told:?}");
    }
    assert!(idle(uniform()).is_empty(), "no scheme owes anything");
    // One that only takes reservations does something.
    let reserving = uniform().set("congestion.scheme", "lhrp_srp");
    assert!(idle(reserving.set("congestion.reserve_from", "1 flits")).is_empty());
}

fn failure(text: &str) -> toml::Table {
    format!("{text}\ndown = true").parse().expect("TOML")
}

#[test]
fn a_failure_after_the_end_is_told() {
    let down = |at: &str| {
        failure(&format!(
            "links = [{{ router = 0, port = 2 }}]\nat = \"{at}\""
        ))
    };
    let found = warnings(&uniform().set("failure", vec![down("9 us"), down("10 us")]));
    assert_eq!(found.len(), 1, "{found:?}");
    assert_eq!(found[0].kind, "fails_nothing");
    let text = "failure.1.at: 10 us is not before the end of the run (10 us)";
    assert!(found[0].text.starts_with(text), "{}", found[0].text);
}

/// Of 8 global links 5% is less than half of one.
#[test]
fn a_share_that_is_no_whole_link_is_told() {
    let down = |share: f64| failure(&format!("links = \"global\"\nshare = {share}"));
    let told = |share: f64| warnings(&uniform().set("failure", vec![down(share)]));
    assert!(told(0.5).is_empty() && told(0.0).is_empty());
    let found = told(0.001);
    assert_eq!(found.len(), 1, "{found:?}");
    assert_eq!(found[0].kind, "fails_nothing");
    let text = "failure.0.share: 0.001 of all of the kind is less than half of one";
    assert!(found[0].text.starts_with(text), "{}", found[0].text);
}

/// Without drops before the last router nothing times out; a time in packet times is cut to what is
/// kept. Nothing is said of defaults.
#[test]
fn parameters_of_a_scheme_without_effect_are_told() {
    let keys = |scheme: &str, more: &[(&str, &str)]| {
        let mut experiment = uniform().set("congestion.scheme", scheme);
        for (key, value) in more {
            experiment = experiment.set(&format!("congestion.{key}"), *value);
        }
        let found = warnings(&experiment).into_iter();
        let own = found.filter(|one| one.kind == "unused");
        own.map(|one| one.text).collect::<Vec<_>>()
    };
    for scheme in ["lhrp", "lhrp_srp"] {
        assert!(keys(scheme, &[]).is_empty());
        assert!(keys(scheme, &[("preset", "jiang2015")]).is_empty());
        let found = keys(scheme, &[("timeout", "2 us")]);
        assert_eq!(found.len(), 1, "{found:?}");
        assert!(
            found[0].starts_with("congestion.timeout: the last router alone"),
            "{found:?}"
        );
    }
    assert!(keys("srp", &[("timeout", "16 us")]).is_empty());
    let found = keys("smsrp", &[("timeout", "9000 packet times")]);
    assert!(found[0].contains("kept up to 16.7 us only"), "{found:?}");
}

#[test]
fn settings_that_another_one_makes_useless_are_told() {
    let seeded = job("incast", 8)
        .with("placement", "linear")
        .with("placement_seed", 7);
    for (experiment, text) in [
        (
            job("incast", 8).with("background", true).until("9 us"),
            "workload.0.background: the run ends at a time",
        ),
        (
            job("incast", 8).with("compute.straggler_speed", 0.25),
            "workload.0.compute.straggler_speed: no node is slow",
        ),
        (
            job("allreduce", 8).with("compute.noise", 0.5),
            "workload.0.compute: the tasks compute nothing",
        ),
        (
            seeded,
            "workload.0.placement_seed: a linear placement draws nothing",
        ),
        (
            job("incast", 2).with("endpoints", vec![3, 9, 5]),
            "workload.0.endpoints: the last 1 of 3 have no task",
        ),
    ] {
        let found = warnings(&experiment);
        assert_eq!(found.len(), 1, "{text}: {found:?}");
        assert_eq!(found[0].kind, "changes_nothing");
        assert!(found[0].text.starts_with(text), "{}", found[0].text);
    }
}
