//! Forks: a run that goes on from the state of another one, which was the same until then, has the
//! bits of a run from the beginning, on any number of ranks. A run that changes at a time is its
//! base until then. Changes that the state cannot follow are refused.

use toml::Value;
use weir::model::Time;
use weir::result::Data;
use weir::simulation::{Plan, fork};

use crate::networks::failures::failing;
use crate::support::attack::at_length;
use crate::support::{
    Experiment, assert_same, go_on_from, resume_on, run_counting, run_on, run_saving, run_sharing,
    same,
};

/// The start of the workload that differs, ps.
const START: Time = 3_000_000;

/// A hot spot that begins at [`START`] among uniform traffic and two applications, of which one
/// begins later.
fn experiment(scheme: &str) -> Experiment {
    let network = Experiment::dragonfly(2, 4, 2)
        .routing("par")
        .set("congestion.scheme", scheme);
    begun(network)
}

fn begun(network: Experiment) -> Experiment {
    network
        .uniform(0.5)
        .with("name", "early")
        .with("endpoints", "0..40")
        .with("shared", true)
        .with("injection", "poisson")
        .hotspot(7, 1, 0.9)
        .with("name", "late")
        .with("endpoints", "8..24")
        .with("shared", true)
        .with("start", "3 us")
        .job("halo3d26", 8)
        .with("name", "halo")
        .with("motif.cells", vec![6, 6, 6])
        .with("motif.iterations", 40)
        .with("motif.compute", "200 ns")
        .job("incast", 9)
        .with("name", "incast")
        .with("motif.bytes", "20 kB")
        .with("start", "4 us")
        .until("9 us")
        .set("output.bin", "500 ns")
}

/// Sets a key of a workload.
fn with(experiment: &Experiment, place: usize, key: &str, value: impl Into<Value>) -> Experiment {
    let mut table: toml::Table = experiment.text().parse().expect("TOML");
    let list = table["workload"].as_array_mut().expect("a list");
    let workload = list[place].as_table_mut().expect("a workload");
    match key.split_once('.') {
        Some((outer, inner)) => {
            let outer = workload[outer].as_table_mut().expect("a table");
            outer.insert(inner.into(), value.into())
        }
        None => workload.insert(key.into(), value.into()),
    };
    Experiment::of(table)
}

fn prefix(experiment: &Experiment, at: Time) -> Option<String> {
    fork::prefix(&experiment.checked(), &experiment.plan(), at)
}

/// Goes on with some experiments from the state of the first, on other ranks than that, and
/// compares with runs from the beginning.
fn all_go_on(experiments: &[Experiment], at: Time) {
    go_on_by_turns(experiments, at, 0);
}

/// The same, with numbers of ranks that begin at another one by turns.
fn go_on_by_turns(experiments: &[Experiment], at: Time, turn: usize) {
    let [first, others @ ..] = experiments else {
        panic!("none")
    };
    let common = prefix(first, at).expect("something happens before");
    let plan = first.plan();
    let most = plan.blueprint.schedule.interleaving.map_or(9, |_| 1);
    let (data, kept) = run_sharing(2.min(most), &plan, at, common.clone());
    let alone = |plan: &Plan| run_on(1, plan).expect("a good run");
    let unchanged = alone(&plan);
    assert_same(&data, &unchanged, "to write the state changes nothing");
    for (other, ranks) in others.iter().zip([3, 1, 2].into_iter().cycle().skip(turn)) {
        assert_eq!(prefix(other, at).as_ref(), Some(&common), "{other:?}");
        let plan = other.plan();
        let whole = alone(&plan);
        let (data, forked) = go_on_from(ranks.min(most), &plan, at, &kept);
        assert_same(&data, &whole, &format!("{ranks} ranks differ in {other:?}"));
        assert!(!same(&data, &unchanged), "{other:?}");
        let all = data.summary.packet_hops;
        assert!(forked.packet_hops > 0 && forked.packet_hops <= all);
    }
}

/// A change by turns; at length (`WEIR_ATTACK_CASES`) all of them.
#[test]
fn all_that_starts_later_may_differ_under_every_scheme() {
    for (turn, scheme) in weir::congestion::REGISTRY.iter().enumerate() {
        let one = experiment(scheme.name);
        let mut changed = vec![
            with(&one, 1, "load", 0.2),
            with(&one, 1, "start", "3500 ns"),
            with(&one, 3, "motif.bytes", "5 kB"),
        ];
        if !at_length() {
            changed = vec![changed.swap_remove(turn % 3)];
        }
        changed.insert(0, one);
        // Three changes in three turns, each with another number of ranks in the next three.
        go_on_by_turns(&changed, START, turn / 3 % 3);
    }
}

#[test]
fn patterns_messages_stops_sizes_and_ends_may_differ() {
    let one = experiment("none").set("output.messages", true);
    let mixed = with(
        &with(&one, 1, "message", "60 flits"),
        1,
        "injection",
        "periodic",
    );
    let uniform: toml::Table = "kind = \"uniform\"".parse().expect("TOML");
    all_go_on(
        &[
            one.clone(),
            mixed,
            with(&one, 1, "pattern", uniform),
            with(&one, 1, "endpoints", "16..32"),
            with(&one, 1, "stop", "5 us"),
            with(&one, 0, "stop", "4 us"),
            with(&one, 3, "tasks", 20),
            one.clone().until("7 us"),
        ],
        START,
    );
    // Also the other way round: sources that had stopped, and tasks that were fewer.
    let stopped = with(&with(&one, 0, "stop", "4 us"), 3, "tasks", 20);
    all_go_on(&[stopped.until("7 us"), one], START);
}

#[test]
fn other_networks_go_on_too() {
    let tree = Experiment::tree(4, 3).set("queueing.scheme", "vftree");
    for network in [tree, Experiment::clos(8, 3).set("nic.order", "fifo")] {
        let one = begun(network)
            .set("output.occupancy", "100 ns")
            .set("output.timeline.routers", "all");
        all_go_on(&[one.clone(), with(&one, 1, "load", 0.2)], START);
    }
}

/// A time within a window, and one far from any event.
#[test]
fn any_time_can_be_the_last_common_one() {
    for start in [3_000_001, 3_123_457, 8_499_999] {
        let one = with(&experiment("lhrp"), 1, "start", format!("{start} ps"));
        let one = with(&one, 3, "start", "8499999 ps");
        all_go_on(&[one.clone(), with(&one, 1, "load", 0.2)], start);
    }
    let pause = with(
        &with(&experiment("none"), 0, "stop", "1 us"),
        2,
        "motif.iterations",
        1,
    );
    let late = with(&with(&pause, 1, "start", "70 us"), 3, "start", "75 us").until("80 us");
    all_go_on(&[late.clone(), with(&late, 1, "load", 0.2)], 70_000_000);
}

#[test]
fn runs_that_differ_before_share_nothing() {
    let one = experiment("none");
    let common = prefix(&one, START);
    assert!(common.is_some());
    for other in [
        with(&one, 0, "load", 0.4),
        with(&one, 0, "stop", "2 us"),
        with(&one, 0, "endpoints", "0..41"),
        with(&one, 1, "start", "2 us"),
        with(&one, 2, "motif.iterations", 39),
        one.clone().set("run.seed", 2),
        one.clone().set("run.warmup", "1 us"),
        one.clone().set("router.latency", "11 ns"),
        one.clone().set("congestion.scheme", "ecn"),
        one.clone().set("output.packets", true),
        one.clone().until("completion"),
    ] {
        assert_ne!(prefix(&other, START), common, "{other:?}");
    }
    // A run that ends before, and one in which nothing happens until then.
    assert_eq!(prefix(&one, 9_000_001), None);
    let empty = Experiment::dragonfly(2, 4, 2)
        .uniform(0.1)
        .with("start", "4 us");
    assert_eq!(prefix(&empty, START), None);
}

/// An experiment with a fork.
fn forked(experiment: &Experiment, at: &str, set: &[(&str, Value)]) -> Experiment {
    let set: toml::Table = set
        .iter()
        .map(|(key, value)| (key.to_string(), value.clone()))
        .collect();
    experiment.clone().set("fork.at", at).set("fork.set", set)
}

/// The data without the note on the fork.
fn without_note(data: &Data) -> Data {
    let mut data = data.clone();
    data.notes.retain(|note| note.kind != "fork");
    data.summary.notes = 0;
    data
}

#[test]
fn a_fork_of_what_has_not_begun_is_the_plain_run() {
    for scheme in ["none", "lhrp", "saa", "window"] {
        let one = experiment(scheme);
        let fork = forked(&one, "2 us", &[("workload.late.load", 0.2.into())]);
        let data = run_on(2, &fork.plan()).expect("a good run");
        let plain = run_on(1, &with(&one, 1, "load", 0.2).plan()).expect("a good run");
        assert_same(&without_note(&data), &without_note(&plain), scheme);
        let note = data
            .notes
            .iter()
            .find(|note| note.kind == "fork")
            .expect("a note");
        assert!(note.text.contains("until 2 us"), "{}", note.text);
        assert_eq!(note.numbers, [("at_ps".to_string(), 2_000_000)]);
    }
    // Nothing differs: no fork.
    let one = experiment("none");
    let same = forked(&one, "2 us", &[("workload.late.load", 0.9.into())]);
    assert_eq!(same.checked().resolved, one.checked().resolved);
}

/// Nothing happens before the fork: the run is the one with the changed values from the beginning.
#[test]
fn a_fork_may_come_before_the_first_message() {
    let one = Experiment::dragonfly(2, 4, 2)
        .uniform(0.1)
        .with("name", "only")
        .with("start", "4 us")
        .until("9 us");
    let fork = forked(&one, "2 us", &[("workload.only.load", 0.3.into())]);
    let plain = run_on(1, &with(&one, 0, "load", 0.3).plan()).expect("a good run");
    for ranks in [1, 3] {
        let data = run_on(ranks, &fork.plan()).expect("a good run");
        assert_same(&without_note(&data), &without_note(&plain), "forked");
    }
}

/// Loads, seeds, schemes and parameters of routing and scheme.
fn forks() -> Vec<Experiment> {
    let ecn = experiment("ecn");
    let par = experiment("lhrp");
    let waiting = experiment("saa").set("congestion.wait", "1 us");
    let fork = |one: &Experiment, key: &str, value: Value| forked(one, "2500 ns", &[(key, value)]);
    vec![
        fork(&par, "workload.early.load", 0.9.into()),
        fork(&par, "workload.early.message", "60 flits".into()),
        fork(&par, "workload.incast.enabled", false.into()),
        fork(&ecn, "congestion.threshold", 0.2.into()),
        fork(&ecn, "routing.bias", "3 flits".into()),
        fork(&experiment("none"), "congestion.scheme", "ecn".into()),
        fork(&experiment("saa"), "congestion.wait", "3 us".into()),
        fork(&waiting, "congestion.wait", "3 us".into()),
    ]
}

#[test]
fn a_fork_is_its_base_until_then_on_any_ranks_and_resumed() {
    for fork in forks() {
        let config = fork.checked();
        let (plan, base) = (
            fork.plan(),
            config.fork.as_ref().expect("a fork").base.clone(),
        );
        let (data, places) = run_counting(&plan).expect("a good run");
        for ranks in [2, 3] {
            let again = run_on(ranks, &plan).expect("a good run");
            assert_same(&again, &data, &format!("{ranks} ranks differ in {fork:?}"));
        }
        for seed in 0..4 {
            let (shared, kept) = run_saving(2, &plan, places, seed).expect("a good run");
            assert_same(&shared, &data, &format!("on 2 ranks: {fork:?}"));
            let resumed = resume_on(3, &plan, &kept).expect("a good run");
            let what = format!("from {} ps: {fork:?}", kept.until());
            assert_same(&resumed, &data, &what);
        }
        // The resolved experiment is the same again.
        let text = Experiment::of(config.resolved.parse().expect("TOML"));
        assert_eq!(text.checked().resolved, config.resolved);
        let again = run_on(1, &text.plan()).expect("a good run");
        assert_same(&again, &data, "as resolved");
        // Bins of 500 ns: the first five are before the fork.
        let before = |data: &Data| data.series.jobs[0].1.injected_bytes[..5].to_vec();
        let base = Plan::new(&base, None).expect("a plan");
        let plain = run_on(1, &base).expect("a good run");
        assert_eq!(before(&data), before(&plain), "{fork:?}");
        assert!(
            !same(&without_note(&data), &without_note(&plain)),
            "{fork:?}"
        );
    }
}

/// A message reserves, or does not, from its beginning on.
#[test]
fn packets_that_were_dropped_are_sent_again_after_messages_become_large() {
    let one = Experiment::tree(8, 1)
        .latencies("500 ns", "20 ns", "50 ns")
        .set("congestion.scheme", "lhrp_srp")
        .set("congestion.threshold", "48 flits")
        .set("congestion.reserve_from", "300 flits")
        .traffic("hotspot", 0.3)
        .with("pattern.source_list", vec![0, 1, 2, 3, 4, 5])
        .with("pattern.destination_list", vec![7])
        .message("3000 B")
        .to_completion("10 us");
    for from in ["48 flits", "1 flits", "1000 flits"] {
        let fork = forked(&one, "5 us", &[("congestion.reserve_from", from.into())]);
        let summary = run_on(1, &fork.plan()).expect("a good run").summary;
        assert!(summary.packets_dropped > 0);
        let arrived = summary.messages_received;
        assert_eq!(arrived, summary.messages_generated, "{from}");
    }
}

/// With one dropped packet in recovery at a time, each costs a round trip; with any number, none
/// does. Down from 64, the limit holds as soon as the others are through.
#[test]
fn a_lower_limit_of_reservations_holds_from_a_fork_on() {
    let one = Experiment::tree(8, 1)
        .latencies("50 ns", "20 ns", "50 ns")
        .set("congestion.scheme", "smsrp")
        .set("congestion.timeout", "100 ns")
        .set("congestion.reservations", 64)
        .job("incast", 7)
        .with("motif.bytes", "100 kB")
        .with("motif.iterations", 1)
        .with("mpi.rendezvous_from", "1 GB");
    let takes = |experiment: &Experiment| {
        let data = run_on(1, &experiment.plan()).expect("a good run");
        data.summary.simulated_ps
    };
    let change = |limit: i64| [("congestion.reservations", limit.into())];
    let lowered = takes(&forked(&one, "10 us", &change(1)));
    let [many, few] =
        [64, 1].map(|limit| takes(&one.clone().set("congestion.reservations", limit)));
    assert!(
        (many + many / 4..few).contains(&lowered),
        "{many} {lowered} {few}"
    );
}

#[test]
fn forks_of_one_base_share_its_beginning() {
    let base = experiment("ecn");
    let fork = |load: f64| forked(&base, "2500 ns", &[("workload.early.load", load.into())]);
    all_go_on(&[base.clone(), fork(0.2), fork(0.7)], 2_500_000);
    all_go_on(&[fork(0.7), base.clone(), fork(0.2)], 2_500_000);
}

/// Keys, values and parts of the messages.
const REFUSED: &str = r#"
topology.groups | 9 | `topology.groups` cannot change
router.input_buffer | "40 flits" | `router.input_buffer` cannot change
run.warmup | "1 us" | `run.warmup` cannot change
output.packets | true | `output.packets` cannot change
routing.algorithm | "minimal" | packets and state of "par"
congestion.scheme | "ecn" | packets and state of "lhrp"
workload.early.endpoints | "0..30" | started on other endpoints
workload.early.start | "1 us" | the workload has started
workload.early.name | "other" | one name for a workload
workload.halo.motif.iterations | 3 | tasks of this application have begun
workload.incast.start | "1 us" | starts at the fork or later
run.seed | 2 | tasks of this application have begun
workload.late.laod | 0.1 | unknown key `laod`
workload.late.start | "1 us" | starts at the fork or later
workload.early.stop | "1 us" | it stops before the fork
"#;

/// The error of an experiment with a fork.
fn refused(one: &Experiment, at: &str, key: &str, value: Value) -> weir::config::ConfigError {
    let fork = forked(one, at, &[(key, value)]);
    let error = fork.try_plan().err();
    error.unwrap_or_else(|| panic!("{key} is accepted"))
}

#[test]
fn changes_that_the_state_cannot_follow_are_refused() {
    let one = experiment("lhrp");
    for line in REFUSED.trim().lines() {
        let parts: Vec<&str> = line.split(" | ").collect();
        let [key, value, words] = parts[..] else {
            panic!("{line}")
        };
        let table: toml::Table = format!("value = {value}").parse().expect("TOML");
        let error = refused(&one, "2 us", key, table["value"].clone());
        assert!(error.message.contains(words), "{key}: {error}");
        let shown = error.render(false);
        assert!(shown.contains("test.toml:"), "{shown}");
        assert!(shown.contains("help: "), "{shown}");
    }
    for scheme in ["lhrp", "srp", "window", "codes_cc", "sst_cm"] {
        let error = refused(
            &experiment("none"),
            "2 us",
            "congestion.scheme",
            scheme.into(),
        );
        let words = "cannot go on from the state";
        assert!(error.message.contains(words), "{error}");
    }
    let error = refused(&one, "6 us", "run.until", "5 us".into());
    let words = "it would end before the fork";
    assert!(error.message.contains(words), "{error}");
    for at in ["0 ns", "9 us"] {
        let error = refused(&one, at, "workload.late.load", 0.1.into());
        let words = "between its start and its end";
        assert!(error.message.contains(words), "{error}");
    }
}

/// Other failed links, recorded tasks, measured rates and ways of packets.
#[test]
fn changes_that_need_another_state_are_refused() {
    let one = experiment("lhrp");
    let down = "failure = [{ links = \"global\", count = 1, down = true }]";
    let fails = with(&failing(&one, down), 2, "start", "3 us");
    let fails = with(&fails, 2, "enabled", false);
    let timeline = one.clone().set("output.timeline.routers", "all");
    let codes = experiment("codes_cc");
    let mesh: toml::Table = "topology.file = \"mesh-64\"\nrouting.algorithm = \"dor\""
        .parse()
        .expect("TOML");
    let mesh = begun(Experiment::of(mesh));
    for (one, key, value, words) in [
        (&fails, "run.seed", Value::from(2), "other links would fail"),
        (
            &timeline,
            "workload.incast.enabled",
            false.into(),
            "would record other tasks",
        ),
        (
            &codes,
            "congestion.packets",
            3.into(),
            "depends on these parameters",
        ),
        (
            &mesh,
            "routing.order",
            "yx".into(),
            "packets under way keep to it",
        ),
    ] {
        let error = refused(one, "2 us", key, value);
        assert!(error.message.contains(words), "{key}: {error}");
    }
}
