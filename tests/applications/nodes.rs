//! Hosts with several NICs, the network inside them, and slow ones: times by arithmetic.

use super::{NS, SAME_ROUTER, network};
use crate::networks::direct;
use crate::support::Experiment;
use crate::variants::catalog::everywhere;
use weir::result::Data;

/// 250,000 bytes on a switch: 20,000 flits at 1 ns each.
const LONG: &str = "250000 B";
const LONG_FLITS: u64 = 20_000;

/// Nodes of two endpoints on one switch of eight.
fn pairs() -> Experiment {
    Experiment::tree(8, 1)
        .set("nic.acknowledge", false)
        .set("nodes.nics", 2)
}

/// A message from the first task to the last one.
fn one_message(run: Experiment, bytes: &str) -> Data {
    let send = format!("{{ to = \"tasks - 1\", bytes = \"{bytes}\" }}");
    let first = format!("{{ when = \"task == 0\", send = [{send}] }}");
    let last = "{ when = \"task == tasks - 1\", receive = [{ from = \"0\" }] }";
    let phases = format!("phases = [{first}, {last}]");
    let phases: toml::Table = phases.parse().expect("TOML");
    let run = run
        .with("motif.rounds", 1)
        .with("motif.phases", phases["phases"].clone())
        .with("mpi.preset", "nccl");
    run.run().data
}

fn finishes(data: &Data) -> &[u64] {
    &data.jobs[0].tasks.task_finish_ps
}

#[test]
fn a_message_inside_a_node_takes_its_network() {
    // Both directions of a ping-pong: 1,000 bytes at 8 ps each, and the latency.
    let run = pairs()
        .set("nodes.inside.bandwidth", "1 Tbps")
        .set("nodes.inside.latency", "300 ns")
        .job("ping_pong", 2)
        .with("motif.bytes", "1000 B")
        .with("motif.iterations", 5);
    let data = run.run().data;
    let once = 8 * NS + 300 * NS;
    assert_eq!(finishes(&data), [10 * once, 9 * once + 8 * NS]);
    let summary = &data.summary;
    assert_eq!(
        (summary.packets_injected, summary.messages_generated),
        (0, 0)
    );
    assert_eq!(
        (summary.inside_messages, summary.inside_bytes),
        (Some(10), Some(10_000))
    );
}

#[test]
fn without_a_network_inside_nothing_is_local() {
    let data = pairs()
        .job("ping_pong", 2)
        .with("motif.bytes", "250 B")
        .run()
        .data;
    assert_eq!(finishes(&data)[0], 2 * (SAME_ROUTER + 20 * NS));
    assert_eq!(data.summary.inside_messages, None);
}

/// All four tasks of a node send to each other at the same time.
fn exchange(shared: bool) -> Vec<u64> {
    let run = Experiment::tree(4, 1)
        .set("nodes.nics", 4)
        .set("nodes.inside.bandwidth", "1 Tbps")
        .set("nodes.inside.latency", "300 ns")
        .set("nodes.inside.shared", shared)
        .job("alltoall", 4)
        .with("motif.iterations", 1)
        .with("motif.bytes", "1000 B")
        .with("mpi.preset", "nccl");
    finishes(&run.run().data).to_vec()
}

#[test]
fn a_shared_network_takes_one_message_at_a_time() {
    // Three messages of each task, or all twelve, one after the other.
    assert_eq!(exchange(false), [(3 * 8 + 300) * NS; 4]);
    assert_eq!(exchange(true).iter().max(), Some(&((12 * 8 + 300) * NS)));
}

#[test]
fn nics_share_a_long_message() {
    let run = |nics: i64, choice: &str| {
        let run = Experiment::tree(8, 1)
            .set("nic.acknowledge", false)
            .set("nodes.nics", nics)
            .job("script", 8 / nics)
            .with("nics", nics);
        // One NIC leaves no choice.
        let run = match nics {
            1 => run,
            _ => run.with("nic_choice", choice),
        };
        let data = one_message(run, LONG);
        *finishes(&data).last().expect("a task")
    };
    for nics in [1, 2, 4] {
        assert_eq!(
            run(nics, "stripe"),
            SAME_ROUTER + LONG_FLITS / nics as u64 * NS
        );
        assert_eq!(run(nics, "destination"), SAME_ROUTER + LONG_FLITS * NS);
        assert_eq!(run(nics, "turn"), SAME_ROUTER + LONG_FLITS * NS);
    }
}

#[test]
fn nics_do_not_share_a_short_message() {
    let run = pairs().job("script", 4).with("nics", 2);
    // Shorter than two packets of 24 flits.
    let data = one_message(run, "500 B");
    assert_eq!(finishes(&data).last(), Some(&(SAME_ROUTER + 40 * NS)));
    assert_eq!(data.summary.messages_generated, 1);
}

#[test]
fn rails_keep_nodes_in_one_domain() {
    // Sixteen leaves of four endpoints; blocks of two leaves have the two rails of four nodes.
    let tree = || {
        Experiment::tree(4, 3)
            .set("nodes.nics", 2)
            .set("nodes.stride", 4)
            .set("nodes.inside.bandwidth", "1 Tbps")
            .set("nodes.inside.latency", "10 ns")
    };
    let run = tree()
        .job("alltoall", 16)
        .with("nics", 2)
        .with("placement", "nodes")
        .with("motif.bytes", "4 KiB");
    let data = run.clone().run().data;
    assert!(finishes(&data).iter().all(|&end| end > 0));
    // Tasks 0 and 1 are the first nodes of the first block: rails 0 at leaf 0, rails 1 at leaf 1.
    assert_eq!(data.jobs[0].tasks.endpoint[..5], [0, 1, 2, 3, 8]);
    let alone = tree().job("ping_pong", 2).with("endpoints", vec![1, 5]);
    assert_eq!(alone.run().data.summary.packets_injected, 0);
}

/// Whatever ranks and threads there are, and from a state in the middle, in which messages are
/// under way in parts and inside nodes; also if packets are dropped and sent again.
#[test]
fn the_bits_are_the_same_everywhere() {
    let text = include_str!("../experiments/nodes.toml");
    let table: toml::Table = text.parse().expect("TOML");
    for (seed, scheme) in (1..).zip(["none", "none", "srp", "lhrp", "codes_cc"]) {
        let run = Experiment::of(table.clone())
            .set("congestion.scheme", scheme)
            .set("run.seed", seed);
        let data = everywhere(&run);
        assert!(data.summary.inside_messages > Some(0));
        assert!(data.jobs.iter().all(|job| !job.is_cut_off()));
    }
}

#[test]
fn slow_nodes_compute_longer() {
    let run = |stragglers: i64| {
        let run = pairs()
            .job("allreduce", 8)
            .with("motif.iterations", 1)
            .with("motif.compute", "10 us")
            .with("compute.stragglers", stragglers)
            .with("compute.straggler_speed", 0.25);
        run.run().data.jobs[0].finish()
    };
    assert_eq!(run(1) - run(0), 30_000 * NS);
    assert_eq!(run(4), run(1));
}

/// The endpoints of the tasks of the only job.
fn endpoints(run: &Experiment) -> Vec<u32> {
    run.run().data.jobs[0].tasks.endpoint.clone()
}

/// Eight endpoints in four nodes of two; on rails node 1 has the endpoints 1 and 5.
#[test]
fn jobs_run_on_the_nodes_that_they_name() {
    let named = |run: Experiment, names: &str| run.set("nodes.names", names);
    for (stride, expected) in [(1, [6, 7, 2, 3]), (4, [3, 7, 1, 5])] {
        let run = named(pairs().set("nodes.stride", stride), "a,b[08-10]");
        let run = run.job("allreduce", 4).with("endpoints", "b10,b08");
        assert_eq!(endpoints(&run), expected);
    }
    for (names, endpoints, words) in [
        ("a,b[08-10]", "b11", "no node is called \"b11\""),
        ("a,b[08-10]", "a,a", "node \"a\" is listed twice"),
        ("a,b[08-11]", "b08", "5 names for 4 nodes"),
        ("a,b[08-09],a", "b08", "\"a\" appears twice"),
        ("a[", "b08", "is no list"),
    ] {
        let run = named(pairs(), names).job("allreduce", 2);
        let error = run.with("endpoints", endpoints).try_plan().map(|_| ());
        let error = error.expect_err(words).to_string();
        assert!(error.contains(words), "{error}");
    }
    let unnamed = pairs().job("allreduce", 2).with("endpoints", "a[0-1]");
    let error = unnamed.try_plan().map(|_| ()).expect_err("no names");
    assert!(error.render(false).contains("give nodes names"), "{error}");
}

/// The endpoints of a graph have the names of its table.
#[test]
fn jobs_run_on_the_hosts_of_an_imported_network() {
    let hosts = ["n03", "n01", "n02", "m"].map(|host| format!("{host},s,terminal\\n"));
    let links = format!("from,to,kind\\n{}", hosts.concat());
    let graph = format!("kind = \"graph\"\nlinks = \"{links}\"");
    let run = direct::experiment(&graph, "shortest").job("allreduce", 3);
    assert_eq!(endpoints(&run.with("endpoints", "m,n[01-02]")), [3, 1, 2]);
}

#[test]
fn what_does_not_fit_is_refused() {
    let job = |run: Experiment| run.job("allreduce", 4);
    let cases = [
        (
            job(pairs().set("nodes.nics", 3)),
            "3 NICs x a stride of 1 do not divide 8 endpoints",
        ),
        (
            pairs().job("allreduce", 2).with("nics", 4),
            "4 NICs of a task on nodes with 2",
        ),
        (
            job(pairs()).with("nics", 4),
            "16 NICs of tasks are asked for",
        ),
        (
            job(network()).with("nics", 2),
            "2 NICs of a task on nodes with 1",
        ),
        (
            job(pairs())
                .with("nics", 2)
                .with("endpoints", vec![0, 2, 1, 3, 4, 5, 6, 7]),
            "on different nodes",
        ),
        (
            job(pairs()).with("nic_choice", "turn"),
            "a task has one NIC, and no choice",
        ),
        (job(pairs()).with("compute.stragglers", 3), "3 of 2 nodes"),
        (job(pairs()).with("compute.speed", 0.0), "is 0.0"),
    ];
    for (run, expected) in cases {
        let error = run.try_plan().map(|_| ()).expect_err(expected).to_string();
        assert!(error.contains(expected), "{error}");
    }
}
