//! No number overflows without a word: at each limit the largest value that is accepted gives the
//! right result, and the next one is refused.

use crate::networks::direct::experiment;
use crate::support::Experiment;
use weir::fabric::Fault;
use weir::simulation::{Plan, RunError};

/// Two endpoints at one router, links of 5 ns. Endpoint 0 sends messages of this size to
/// endpoint 1.
fn pair(size: &str) -> Experiment {
    Experiment::tree(2, 1)
        .set("nic.acknowledge", false)
        .traffic("fixed_pairs", 0.5)
        .with("injection", "periodic")
        .message(size)
        .set("output.packets", true)
}

/// Checks the error of an experiment: the key, and the whole message.
#[track_caller]
fn refused(experiment: &Experiment, key: &str) {
    let ran = experiment.cli().go();
    let words: Vec<&str> = ran.stderr.split_whitespace().collect();
    let message = words.join(" ");
    assert_eq!(ran.code, Some(2), "{message}\n{}", experiment.text());
    assert!(message.contains(&format!("{key}: ")), "{key}: {message}");
    assert!(message.contains("help: "), "{message}");
}

/// It can be assembled, which is when everything is checked.
#[track_caller]
fn accepted(experiment: &Experiment) -> Plan {
    experiment.plan()
}

/// The network latencies of all packets of a run, which are all alike.
#[track_caller]
fn latency(experiment: &Experiment) -> u64 {
    let packets = experiment.run().data.packets.expect("a log");
    let times = packets.delivered_ps.iter().zip(&packets.injected_ps);
    let mut latencies: Vec<u64> = times.map(|(end, begin)| end - begin).collect();
    latencies.dedup();
    assert_eq!(latencies.len(), 1, "{latencies:?}");
    latencies[0]
}

#[test]
fn a_packet_may_take_a_second_on_a_link() {
    // 600 KiB at 1 Gbps take 4,915.2 us, more than 2³² ps; two links of 5 ns and a router of 10 ns.
    let slow = |size: &str, rate: &str| {
        pair(size)
            .set("nic.max_packet", size)
            .set("topology.terminal.bandwidth", rate)
    };
    let experiment = slow("600 KiB", "1 Gbps").until("20 ms");
    assert_eq!(latency(&experiment), 4_915_200_000 + 20_000);
    // 65,535 flits of 100 bits at as many bits per second.
    let second = slow("65535 flits", "6553500 bps").until("4 s");
    assert_eq!(latency(&second), 1_000_000_000_000 + 20_000);
    let longer = slow("65535 flits", "6553499 bps").until("4 s");
    refused(&longer, "topology.terminal.bandwidth");
}

#[test]
fn a_tail_keeps_the_lag_of_a_slow_link_on_faster_ones() {
    // Terminal, local, global, local, terminal; the global link takes 4,915.2 us for 600 KiB, the
    // others a hundredth.
    let experiment = Experiment::dragonfly(1, 2, 1)
        .set("nic.acknowledge", false)
        .set("nic.max_packet", "600 KiB")
        .set("topology.global.bandwidth", "1 Gbps")
        .traffic("fixed_pairs", 0.001)
        .with("endpoints", vec![0, 5])
        .with("injection", "periodic")
        .message("600 KiB")
        .set("output.packets", true)
        .until("100 ms");
    let packets = experiment.run().data.packets.expect("a log");
    let routers = packets.routers[0];
    let ways = 2 * 5_000 + 100_000 + u64::from(routers - 2) * 20_000 + u64::from(routers) * 10_000;
    assert!(!packets.source.is_empty());
    for (end, begin) in packets.delivered_ps.iter().zip(&packets.injected_ps) {
        assert_eq!(end - begin, 4_915_200_000 + ways);
    }
}

#[test]
fn a_flit_may_take_a_picosecond() {
    let fast = |rate: &str| {
        pair("24 flits")
            .set("topology.terminal.bandwidth", rate)
            .until("40 ns")
            .with("load", 0.01)
    };
    // 24 flits of 100 bits; two links of 5 ns and a router of 10 ns.
    assert_eq!(latency(&fast("100 Tbps")), 24 + 20_000);
    let faster = fast("100000000000001 bps");
    refused(&faster, "topology.terminal.bandwidth");
}

#[test]
fn a_packet_may_have_2_to_the_32_bits_less_one() {
    // 65,535 · 65,537 are 2³² - 1.
    let large = |flit: &str| {
        pair("65535 flits")
            .set("router.flit", flit)
            .set("nic.max_packet", "65535 flits")
            .with("stop", "100 ms")
            .until("completion")
    };
    let data = large("65537 bits").run().data;
    assert!(data.summary.packets_delivered > 0);
    assert_eq!(
        data.summary.bytes_delivered,
        data.summary.messages_received * ((1 << 32) - 1) / 8
    );
    refused(&large("65538 bits"), "nic.max_packet");
}

#[test]
fn buffers_of_a_router_are_counted_together() {
    // Two ports of one virtual channel and one class: 2³² - 1 - 2³⁰ - 2²⁸ flits at most.
    let buffer = |flits: &str| pair("1 flits").set("router.input_buffer", flits);
    accepted(&buffer("1476395007 flits"));
    refused(&buffer("1476395008 flits"), "router.input_buffer");
    // "auto": the round trip of 2 · 5 ms and two packets of 24 flits. 100 Tbps of 100 bits are a
    // flit in a ps.
    let long = |latency: &str| {
        pair("1 flits")
            .set("topology.terminal.bandwidth", "100 Tbps")
            .set("topology.terminal.latency", latency)
            .set("run.until", "1 ps")
    };
    accepted(&long("738197479 ps"));
    refused(&long("738197480 ps"), "router.input_buffer");
    let queue = |flits: &str| pair("1 flits").set("router.output_queue", flits);
    accepted(&queue("1073741824 flits"));
    refused(&queue("1073741825 flits"), "router.output_queue");
}

#[test]
fn an_unlimited_queue_that_cannot_be_counted_ends_the_run() {
    // Two sources at full load to one destination: its queue of 2³⁰ flits, 16,384 packets, is full
    // after twice as many.
    let hot = |until: &str| {
        Experiment::tree(3, 1)
            .set("nic.acknowledge", false)
            .set("router.flit", "8 bits")
            .set("nic.max_packet", "65535 flits")
            .set("router.output_queue", "unlimited")
            .set("router.speedup", "infinite")
            .traffic("hotspot", 1.0)
            .with("pattern.source_list", vec![0, 1])
            .with("pattern.destination_list", vec![2])
            .with("injection", "periodic")
            .message("65535 flits")
            .until(until)
    };
    // A packet takes 5.2428 us.
    let data = hot("80 ms").run().data;
    let ports = &data.ports;
    let most = ports.peak_occupancy_bytes.iter().max().expect("ports");
    assert!((15_000 * 65_535..16_384 * 65_535).contains(most), "{most}");
    let error = hot("90 ms").try_run().err();
    assert!(
        matches!(
            error,
            Some(RunError::Fault(Fault::QueueFull { port: 2, .. }))
        ),
        "{error:?}"
    );
}

#[test]
fn time_ends_after_a_million_seconds() {
    // One message for 10⁶ s of the link, at a random time.
    let until = |end: &str| pair("10000 flits").with("load", 1e-11).until(end);
    let data = until("1000000 s").run().data;
    assert_eq!(data.summary.simulated_ps, 1_000_000_000_000_000_000);
    assert!((1..=2).contains(&data.summary.messages_received));
    refused(&until("1000000000000000001 ps"), "run.until");
    let late = |start: &str| {
        Experiment::tree(2, 1)
            .job("ping_pong", 2)
            .with("start", start)
    };
    let data = late("999999 s").run().data;
    assert_eq!(data.summary.messages_received, 2);
    assert!(matches!(
        late("1000000 s").try_run(),
        Err(RunError::Endless)
    ));
    let error = late("999999 s")
        .with("mpi.send_delay", "1 s")
        .try_run()
        .err();
    assert!(matches!(error, Some(RunError::Endless)), "{error:?}");
    assert_eq!(error.map(|error| error.exit_code()), Some(2));
}

#[test]
fn latencies_near_the_end_of_time() {
    let far = |latency: &str| {
        Experiment::dragonfly(1, 2, 1)
            .uniform(0.1)
            .set("topology.global.latency", latency)
            .set("router.input_buffer", "100 flits")
            .until("2 us")
    };
    // Nothing crosses, and everything else continues as with a latency of 100 s.
    let [long, longest] = ["100 s", "1000000 s"].map(|latency| far(latency).run().data);
    assert_eq!(long.jobs, longest.jobs);
    refused(&far("18446744073709551615 ps"), "topology.global.latency");
}

/// A hot spot of 30 us that begins at `start`, under a scheme that drops packets.
fn late_hot_spot(scheme: &str, start: u64) -> Experiment {
    Experiment::dragonfly(2, 4, 2)
        .set("congestion.scheme", scheme)
        .hotspot(20, 2, 0.4)
        .message("24 flits")
        .with("start", format!("{start} us"))
        .to_completion(&format!("{} us", start + 30))
}

#[test]
fn grants_are_the_same_at_any_time_of_the_run() {
    for scheme in ["srp", "smsrp", "lhrp", "lhrp_srp"] {
        // 2⁴⁸ ps are 281 s.
        let [early, late, later] = [0, 300_000_000, 900_000_000_000].map(|start| {
            let data = late_hot_spot(scheme, start).run().data;
            data.summary.packets_dropped as f64
        });
        assert!(early > 100.0, "{scheme}: {early}");
        // The order of events at the same time depends on the time. (Cut at 281 s, grants changed
        // 17%.)
        for late in [late, later] {
            assert!(
                (late / early - 1.0).abs() < 0.05,
                "{scheme}: {early} {late}"
            );
        }
    }
}

#[test]
fn a_grant_that_is_too_late_ends_the_run() {
    // A packet of 2,400 bits takes 240 ms; a schedule books 1.05 times that. The second of two
    // reservations is granted when the message of the first has had its time.
    let slow = |packets: u32| {
        Experiment::tree(3, 1)
            .set("topology.terminal.bandwidth", "10 kbps")
            .set("router.latency", "10 ns")
            .set("congestion.scheme", "srp")
            .job("incast", 3)
            .with("motif.iterations", 1)
            .with("motif.bytes", format!("{} B", 300 * packets))
            .with("mpi.rendezvous_from", "1 GB")
    };
    // 277.2 s.
    let data = slow(1_100).run().data;
    assert_eq!(data.summary.messages_received, 2);
    // 289.8 s.
    let error = slow(1_150).try_run().err();
    assert!(
        matches!(error, Some(RunError::Fault(Fault::GrantTooLate { .. }))),
        "{error:?}"
    );
}

#[test]
fn a_message_may_have_10_to_the_18_bits() {
    let open = |size: &str| pair(size).until("100 ns");
    let data = open("125000000 GB").run().data;
    assert_eq!(data.summary.messages_received, 0);
    refused(&open("1000000000000000001 bits"), "workload.0.message");
    let job = |key: &str, value: &str| {
        Experiment::tree(2, 1)
            .job("ping_pong", 2)
            .with(key, value)
            .until("1 us")
    };
    accepted(&job("motif.bytes", "125000000 GB"));
    refused(
        &job("motif.bytes", "1000000000000000008 bits"),
        "workload.0.motif.bytes",
    );
    refused(
        &job("mpi.control", "18446744073709551615 flits"),
        "workload.0.mpi.control",
    );
}

#[test]
fn messages_of_motifs_are_products_that_fit() {
    let halo = |kind: &str, cells: [i64; 3]| {
        Experiment::tree(2, 1)
            .job(kind, 2)
            .with("motif.cells", cells.to_vec())
            .with("motif.compute", "0 ns")
            .until("1 us")
    };
    for kind in ["halo3d", "halo3d26"] {
        // 8 bytes for each of 2³¹ · 7,275,957 and of one more column of cells: 125 · 10¹⁵ at most.
        accepted(&halo(kind, [1 << 31, 7_275_957, 1]));
        refused(
            &halo(kind, [1 << 31, 7_275_958, 1]),
            "workload.0.motif.cells",
        );
        refused(&halo(kind, [1 << 31, 1, 1 << 31]), "workload.0.motif.cells");
    }
    // The sum of the messages that all tasks send to the root of a tree.
    let gather = Experiment::tree(2, 1)
        .job("alltoall", 2)
        .with("motif.bytes", "125000000 GB")
        .with("mpi.collectives.alltoall", "bruck");
    assert!(gather.plan().completes);
    let many = Experiment::tree(2, 2)
        .job("alltoall", 4)
        .with("motif.bytes", "100000000 GB")
        .with("mpi.collectives.alltoall", "bruck")
        .with("mpi.rendezvous_from", "1 B")
        .until("1 ms");
    let error = many.try_run().err();
    // Two blocks of 10¹⁷ bytes.
    assert!(
        matches!(error, Some(RunError::Fault(Fault::Oversized { bytes, .. })) if bytes == 200_000_000_000_000_000),
        "{error:?}"
    );
}

#[test]
fn cubes_and_faces_of_motifs_have_an_end() {
    let job = |kind: &str, key: &str, value: i64| {
        Experiment::tree(2, 2)
            .job(kind, 4)
            .with(&format!("motif.{key}"), value)
            .until("1 us")
    };
    let fourier = |key: &str, value: i64| job("fft3d", key, value).with("motif.ns_per_point", 0.0);
    accepted(&fourier("points", 1 << 17));
    refused(&fourier("points", (1 << 17) + 1), "workload.0.motif.points");
    // A face of n² points of 8 bytes.
    let nekbone = |points: i64| {
        Experiment::tree(2, 2)
            .job("nekbone", 4)
            .with("motif.points", vec![points])
            .until("1 us")
    };
    accepted(&nekbone(125_000_000));
    refused(&nekbone(125_000_001), "workload.0.motif.points");
}

#[test]
fn a_program_that_takes_no_time_ends_or_is_named() {
    let alone = |repetitions: i64| {
        Experiment::tree(2, 1)
            .job("allreduce", 1)
            .with("motif.iterations", 1)
            .with("motif.compute", "0 ns")
            .with("repetitions", repetitions)
    };
    // A repetition is its part and the look for the next one.
    let outcome = alone(400_000).run();
    assert_eq!(outcome.data.summary.messages_generated, 0);
    let error = alone(1_000_000).try_run().err();
    assert!(
        matches!(error, Some(RunError::Fault(Fault::Idle { task: 0, .. }))),
        "{error:?}"
    );
}

#[test]
fn the_routers_that_a_packet_visits_are_counted_in_a_byte() {
    // A line of as many routers as can be counted, and one more.
    let line = |routers: u32| {
        let topology = format!("kind = \"mesh\"\nsizes = [{routers}]");
        experiment(&topology, "dor").uniform(0.001).until("1 us")
    };
    accepted(&line(255));
    refused(&line(256), "topology.sizes");
}
