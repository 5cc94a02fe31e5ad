//! Experiments that are accepted: defaults, all keys, the resolved text.

use super::*;
use crate::config::*;

fn good(text: &str, sets: &[&str]) -> Experiment {
    load(text, sets).unwrap_or_else(|e| panic!("{}", e.render(false)))
}

#[test]
fn the_defaults_are_the_documented_ones() {
    let experiment = good(LEAST, &[]);
    let (router, nic) = (&experiment.router, &experiment.nic);
    assert_eq!(router.flit, Size::Bits(100));
    assert_eq!(router.latency, Duration(10_000));
    assert_eq!(router.credit_delay, Duration(0));
    assert_eq!(router.input_buffer, Buffer::Auto);
    assert_eq!(router.buffer_per, BufferPer::Vc);
    assert_eq!(experiment.queueing.kind().unwrap(), "voq_sw");
    assert_eq!(router.speedup, Speedup::Times(2.0));
    assert_eq!(router.output_queue, OutputQueue::Size(Size::Packets(16)));
    assert_eq!(router.arbitration, Arbitration::RoundRobin);
    assert_eq!(nic.max_packet, Size::Flits(24));
    assert_eq!((nic.acknowledge, nic.injection_vcs), (true, 1));
    assert_eq!(experiment.congestion.kind().unwrap(), "none");
    let workload = &experiment.workloads[0];
    assert_eq!(workload.name, "workload0");
    assert_eq!(workload.endpoints, Endpoints::All);
    let open = workload.pattern().unwrap();
    assert_eq!((workload.start, open.stop), (Duration(0), None));
    assert_eq!(open.injection, Injection::Bernoulli);
    assert!(!workload.shared);
    let run = &experiment.run;
    assert_eq!(run.until, Until::Time(Duration(500_000_000)));
    assert_eq!((run.warmup, run.measure, run.seed), (Duration(0), None, 1));
    assert_eq!(run.max_wall, None);
    assert_eq!(experiment.output.bin, Duration(10_000_000));
    assert_eq!(experiment.output.occupancy, None);
    assert!(!experiment.output.packets && !experiment.output.messages);
    assert_eq!(experiment.max_packet_flits(), 24);
}

#[test]
fn every_key_is_read() {
    let text = r#"
topology = { kind = "ring", routers = 6, wire = { latency = "5 ns" } }
routing.algorithm = "valiant"
congestion.scheme = "ecn"
queueing.scheme = "single"
router = { flit = "64 B", latency = "0.1 us", credit_delay = "2 ns", input_buffer = "4 KiB", buffer_per = "port", speedup = "infinite", output_queue = "none", arbitration = "oldest" }
nic = { max_packet = "2 KiB", acknowledge = false, injection_vcs = 2 }
run = { until = "completion", warmup = "1 us", measure = "5 us", seed = 9, max_wall = "2 h" }
output = { bin = "1 us", occupancy = "2 us", packets = true, messages = true }

[[workload]]
name = "hot"
endpoints = { count = 3, placement = "random_groups", seed = 4 }
shared = true
start = "1 us"
stop = "9 us"
load = 1.5
message = [{ size = "4 flits", share = 1 }, { size = "2 packets", share = 3 }]
injection = "poisson"
pattern = { kind = "shift", by = 2 }

[[workload]]
endpoints = "1..3"
stop = "2 us"
load = 1
message = "1 KiB"
pattern.kind = "uniform"

[[workload]]
endpoints = [3, 1, 4]
stop = "2 us"
load = 0.1
message = "1 KiB"
injection = "periodic"
pattern.kind = "uniform"

[[workload]]
endpoints = "rest"
stop = "2 us"
load = 0.1
message = "1 KiB"
pattern.kind = "uniform"
"#;
    let experiment = good(text, &[]);
    let router = &experiment.router;
    assert_eq!(router.flit_size().0, 512);
    assert_eq!(router.latency, Duration(100_000));
    assert_eq!(router.input_buffer, Buffer::Size(Size::Bits(8 * 4096)));
    assert_eq!(router.buffer_per, BufferPer::Port);
    assert_eq!(router.speedup, Speedup::Infinite);
    assert_eq!(router.output_queue, OutputQueue::None);
    assert_eq!(router.arbitration, Arbitration::Oldest);
    assert_eq!(experiment.max_packet_flits(), 32);
    assert_eq!(experiment.run.until, Until::Completion);
    assert_eq!(experiment.run.measure, Some(Duration(5_000_000)));
    assert_eq!(experiment.output.occupancy, Some(Duration(2_000_000)));
    let names: Vec<&str> = experiment
        .workloads
        .iter()
        .map(|w| w.name.as_str())
        .collect();
    assert_eq!(names, ["hot", "workload1", "workload2", "workload3"]);
    let who: Vec<&Endpoints> = experiment.workloads.iter().map(|w| &w.endpoints).collect();
    let count = Endpoints::Count {
        count: 3,
        placement: Placement::RandomGroups,
        seed: Some(4),
    };
    assert_eq!(
        who,
        [
            &count,
            &Endpoints::Range(1, 3),
            &Endpoints::List(vec![3, 1, 4]),
            &Endpoints::Rest
        ]
    );
    assert_eq!(
        experiment.workloads[0].pattern().unwrap().message,
        Message::Mix(vec![(Size::Flits(4), 0.25), (Size::Packets(2), 0.75)])
    );
    assert_eq!(experiment.workloads[1].pattern().unwrap().load, 1.0);
    assert_eq!(
        experiment.workloads[0]
            .pattern()
            .unwrap()
            .pattern
            .kind()
            .unwrap(),
        "shift"
    );
    assert_same_again(&experiment);
}

/// Loading the resolved text gives the same resolved text.
fn assert_same_again(experiment: &Experiment) {
    let again = good(&experiment.resolved, &[]);
    assert_eq!(again.resolved, experiment.resolved);
}

#[test]
fn the_resolved_text_has_every_default() {
    let experiment = good(LEAST, &[]);
    insta::assert_snapshot!(experiment.resolved, @r#"
    [topology]
    kind = "ring"
    routers = 12
    wire = { latency = "50 ns", bandwidth = "100 Gbps" }
    ageing = 0.0
    memory = "1 MiB"

    [routing]
    algorithm = "minimal"

    [queueing]
    scheme = "voq_sw"

    [router]
    flit = "100 bits"
    credit_unit = "flit"
    latency = "10 ns"
    switching = "cut_through"
    credit_delay = "0 ns"
    input_buffer = "auto"
    buffer_per = "vc"
    speedup = 2.0
    vc_allocation = "0 ns"
    route_computation = "0 ns"
    output_queue = "16 packets"
    credit_at = "link"
    arbitration = "round_robin"
    overtaking = false
    backlog = "ahead"

    [nic]
    max_packet = "24 flits"
    acknowledge = true
    control_routes = "minimal"
    injection_vcs = 1
    order = "fair"

    [congestion]
    scheme = "none"

    [[workload]]
    name = "workload0"
    endpoints = "all"
    shared = false
    start = "0 ns"
    load = 0.4
    message = "4 flits"
    injection = "bernoulli"
    pattern = { kind = "uniform" }

    [run]
    until = "500 us"
    warmup = "0 ns"
    seed = 1

    [output]
    bin = "10 us"
    packets = false
    messages = false
    "#);
    assert_same_again(&experiment);
}

#[test]
fn two_ways_to_write_the_same_experiment_resolve_alike() {
    let other = "
[run]
until = \"0.5 ms\"
[[workload]]
pattern = { kind = \"uniform\" }
message = \"4 flit\"
load = 4e-1
[routing]
algorithm = \"minimal\"
[topology]
memory = \"1024 KiB\"
chord = { latency = \"0.02 us\" }
ageing = 1
wire.latency = \"0.05 us\"
routers = 12
kind = \"ring\"
";
    let sets = ["topology.chord={latency=\"20 ns\"}", "topology.ageing=1.0"];
    let one = good(LEAST, &sets);
    assert_eq!(good(other, &[]).resolved, one.resolved);
    assert!(
        one.resolved
            .contains("chord = { latency = \"20 ns\", bandwidth = \"100 Gbps\" }")
    );
    assert!(one.resolved.contains("ageing = 1.0"));
    assert_same_again(&one);
}

#[test]
fn a_routing_has_the_parameters_of_the_one_for_the_topology() {
    let text = LEAST
        .replace("kind = \"ring\"\nrouters = 12\n", "kind = \"star\"\n")
        .replace(
            "algorithm = \"minimal\"",
            "algorithm = \"minimal\"\nevery = \"2000 ns\"",
        );
    let star = good(&text, &[]);
    let expected = "[routing]\nalgorithm = \"minimal\"\nby = 0\nevery = \"2 us\"\n";
    assert!(star.resolved.contains(expected), "{}", star.resolved);
    assert_same_again(&star);
}

#[test]
fn shares_that_do_not_divide_evenly_resolve_alike() {
    let parts = "workload.0.message=[{size='1 flit',share=1},{size='2 flits',share=1},{size='3 flits',share=5}]";
    assert_same_again(&good(LEAST, &[parts]));
}

#[test]
fn a_ready_network_can_be_named_and_changed() {
    let text = LEAST.replace("kind = \"ring\"\nrouters = 12", "file = \"ring-12\"");
    let experiment = good(&text, &[]);
    assert_eq!(experiment.resolved, good(LEAST, &[]).resolved);
    let text = LEAST.replace(
        "kind = \"ring\"\nrouters = 12",
        "file = \"ring-12\"\nwire.latency = \"7 ns\"",
    );
    let ring: Ring = good(&text, &["topology.routers=13"])
        .topology
        .parse()
        .unwrap();
    assert_eq!((ring.routers, ring.wire.latency), (13, Duration(7_000)));
}

#[test]
fn a_network_file_is_found_beside_the_experiment() {
    let folder = tempfile::tempdir().unwrap();
    std::fs::write(
        folder.path().join("net.toml"),
        "kind = \"ring\"\nrouters = 5\n",
    )
    .unwrap();
    let job = folder.path().join("job.toml");
    let text = LEAST.replace("kind = \"ring\"\nrouters = 12", "file = \"net.toml\"");
    std::fs::write(&job, text).unwrap();
    let experiment = Experiment::load_with(&job, &[], &catalog()).unwrap();
    assert!(experiment.resolved.contains("routers = 5\n"));
    std::fs::write(
        folder.path().join("net.toml"),
        "kind = \"ring\"\n\nroters = 5\n",
    )
    .unwrap();
    let error = Experiment::load_with(&job, &[], &catalog()).unwrap_err();
    assert!(error.file().unwrap().ends_with("net.toml"));
    assert_eq!(error.line(), Some(3), "{}", error.render(false));
    // A key that is missing is missing there.
    std::fs::write(folder.path().join("net.toml"), "kind = \"ring\"\n").unwrap();
    let error = Experiment::load_with(&job, &[], &catalog()).unwrap_err();
    assert!(error.file().unwrap().ends_with("net.toml"));
    assert_eq!(error.message, "topology: the key `routers` is missing");
}

#[test]
fn sets_reach_everything() {
    let text = LEAST.replace("load = 0.4", "name = \"hot\"\nload = 0.4");
    let experiment = good(
        &text,
        &[
            "congestion.scheme=ecn",
            "run.seed=7",
            "run.until=\"2 us\"",
            "run.warmup = 1 us",
            "workload.0.load=0.5",
            "workload.hot.stop=2 us",
            "workload.hot.pattern={ kind = \"shift\", by = 3 }",
            "workload.0.endpoints=1..3",
            "queueing.scheme=single",
            "output.bin=1 us",
        ],
    );
    assert_eq!(experiment.congestion.kind().unwrap(), "ecn");
    assert_eq!(experiment.run.seed, 7);
    assert_eq!(experiment.run.until, Until::Time(Duration(2_000_000)));
    assert_eq!(experiment.run.warmup, Duration(1_000_000));
    let workload = &experiment.workloads[0];
    let open = workload.pattern().unwrap();
    assert_eq!((open.load, open.stop), (0.5, Some(Duration(2_000_000))));
    assert_eq!(open.pattern.kind().unwrap(), "shift");
    assert_eq!(workload.endpoints, Endpoints::Range(1, 3));
    assert_eq!(experiment.queueing.kind().unwrap(), "single");
    let by_default_name = good(LEAST, &["workload.workload0.load=0.9"]);
    assert_eq!(by_default_name.workloads[0].pattern().unwrap().load, 0.9);
}

#[test]
fn windows_line_ends_change_nothing() {
    let experiment = good(&LEAST.replace('\n', "\r\n"), &[]);
    assert_eq!(experiment.resolved, good(LEAST, &[]).resolved);
}

#[test]
fn a_file_says_where_tasks_are() {
    let folder = tempfile::tempdir().unwrap();
    let write = |text: &str| std::fs::write(folder.path().join("hosts.txt"), text).unwrap();
    let text = "routing.algorithm = \"minimal\"\n[topology]\nkind = \"star\"\n[[workload]]\nload = 0.4\nmessage = \"4 flits\"\n\
                endpoints = { file = \"hosts.txt\" }\npattern = { kind = \"uniform\" }\n[run]\nuntil = \"5 us\"\n";
    let read = |text: &str| Experiment::from_text("e.toml", text, folder.path(), &[], &catalog());
    write("# task 0\n7 3\n\n5   # and one more\n");
    let experiment = read(text).unwrap_or_else(|error| panic!("{}", error.render(false)));
    assert_eq!(
        experiment.workloads[0].endpoints,
        Endpoints::List(vec![7, 3, 5])
    );
    // The experiment stands alone.
    assert!(
        experiment.resolved.contains("[7, 3, 5]"),
        "{}",
        experiment.resolved
    );
    write("7 3\n5 x\n");
    let error = read(text).unwrap_err().render(false);
    assert!(
        error.contains("hosts.txt:2:3") && error.contains("\"x\" is not the number"),
        "{error}"
    );
    write("7 3\n5 3\n");
    let error = read(text).unwrap_err().render(false);
    assert!(error.contains("endpoint 3 is listed twice"), "{error}");
    let error = read(&text.replace("hosts.txt", "none.txt"))
        .unwrap_err()
        .render(false);
    assert!(error.contains("none.txt cannot be read"), "{error}");
    let both = text.replace("\"hosts.txt\"", "\"hosts.txt\", count = 3");
    assert!(
        read(&both)
            .unwrap_err()
            .render(false)
            .contains("leave the other keys out")
    );
}
