//! `weir import`: configurations of BookSim2 and CODES as experiments.

mod networks;
mod refused;

use std::path::{Path, PathBuf};

use toml::{Table, Value};

use crate::comparisons::dragonfly::booksim;
use crate::support::{Cli, run_plan};
use weir::catalog::catalog;
use weir::config::Experiment;
use weir::simulation::Plan;

/// The configurations, and the simulators they are for. Their settings are those of the
/// comparisons in `tests/reference/`, or of examples of the simulators, as each says.
const ALL: [(&str, &str); 11] = [
    ("booksim", "torus88-example"),
    ("booksim", "torus88"),
    ("booksim", "mesh88"),
    ("booksim", "fattree"),
    ("booksim", "dragonfly1056-min"),
    ("booksim", "dragonfly1056-ugal"),
    ("codes", "dragonfly1056.conf"),
    ("codes", "codes-cc.conf"),
    ("codes", "fattree.conf"),
    ("codes", "torus.conf"),
    ("codes", "simplenet.conf"),
];

fn path(name: &str) -> PathBuf {
    let root = Path::new(env!("CARGO_MANIFEST_DIR"));
    root.join("tests/cli/import/configurations").join(name)
}

/// The imported experiment, and what was said beside it.
fn imported(simulator: &str, name: &str) -> (String, String) {
    let path = path(name);
    let path = path.to_str().expect("UTF-8");
    let ran = Cli::weir("", &["import", simulator, path]).succeeds();
    (ran.stdout, ran.stderr)
}

/// The same of a text.
fn imported_text(simulator: &str, text: &str) -> (String, String) {
    let ran = Cli::weir(text, &["import", simulator, "experiment.toml"]).succeeds();
    (ran.stdout, ran.stderr)
}

fn experiment(text: &str, sets: &[&str]) -> Experiment {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR"));
    let sets: Vec<String> = sets.iter().map(|set| set.to_string()).collect();
    Experiment::from_text("a", text, folder, &sets, &catalog())
        .unwrap_or_else(|error| panic!("{}", error.render(false)))
}

/// All values, with defaults.
fn resolved(text: &str, sets: &[&str]) -> Table {
    let experiment = experiment(text, sets);
    experiment.resolved.parse().expect("TOML")
}

/// The experiment of a job file, without axes and figures.
fn job(name: &str) -> String {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("jobs/reference");
    let text = std::fs::read_to_string(path.join(name)).expect(name);
    let text = text.split("\n[[axis]]").next().expect("an experiment");
    let study = |line: &&str| !line.starts_with("title") && !line.starts_with("seeds");
    text.lines().filter(study).collect::<Vec<_>>().join("\n")
}

fn at<'a>(table: &'a Table, path: &str) -> Option<&'a Value> {
    let mut parts = path.split('.');
    let first = table.get(parts.next()?)?;
    parts.try_fold(first, |value, part| match part.parse::<usize>() {
        Ok(at) => value.get(at),
        Err(_) => value.get(part),
    })
}

#[test]
fn every_entry_is_listed_with_its_line_and_the_experiment_passes_the_check() {
    for (simulator, name) in ALL {
        let (text, said) = imported(simulator, name);
        Cli::check(&text).succeeds();
        let input = std::fs::read_to_string(path(name)).expect(name);
        let mut entries = 0;
        for (number, line) in input.lines().enumerate() {
            let code = line.split("//").next().unwrap_or_default();
            if ["#", "/*"]
                .iter()
                .any(|comment| code.trim().starts_with(comment))
            {
                continue;
            }
            for part in code.split(';').filter(|part| part.contains('=')) {
                let (key, _) = part.split_once('=').expect("an equals sign");
                let key = key.split('{').next_back().expect("a key").trim();
                let key = key.split_whitespace().next_back().expect("a key");
                let place = format!("line {}: ", number + 1);
                let listed = text.lines().any(|line| {
                    let line = line.trim_start_matches("#   ");
                    let rest = line.strip_prefix(&place).unwrap_or_default();
                    let (found, _) = rest.split_once(" = ").unwrap_or_default();
                    found == key || found.ends_with(&format!(".{key}"))
                });
                assert!(listed, "{name}: {place}{key} in\n{text}");
                entries += 1;
            }
        }
        assert!(entries > 5, "{name}: {entries} entries");
        // What is not taken over is said, too.
        let others = text.split("Not taken over").nth(1).expect("a list");
        let others = others
            .lines()
            .skip(1)
            .map(|line| line.trim_start_matches("#   "));
        for line in others {
            assert!(said.contains(line), "{name}: {line} in\n{said}");
        }
    }
}

#[test]
fn imported_values_are_those_of_the_comparisons() {
    const COMMON: [&str; 13] = [
        "topology",
        "routing",
        "queueing",
        "router.flit",
        "router.latency",
        "router.credit_delay",
        "router.input_buffer",
        "router.speedup",
        "router.output_queue",
        "router.route_computation",
        "nic.max_packet",
        "nic.injection_vcs",
        "nic.acknowledge",
    ];
    const BOOKSIM: [&str; 4] = [
        "router.vc_allocation",
        "workload.0.load",
        "workload.0.message",
        "workload.0.pattern",
    ];
    let torus: &[&str] = &[
        "topology.kind=torus",
        "topology.link.latency=\"2 ns\"",
        "workload.0.load=0.005",
        "workload.0.message=\"1 flits\"",
        "nic.max_packet=\"1 flits\"",
    ];
    let cases: [(&str, &str, &[&str]); 6] = [
        ("mesh88", "booksim-mesh-torus.toml", &[]),
        ("torus88", "booksim-mesh-torus.toml", torus),
        // Its job leaves the stage that allocates channels out of the order of packets.
        (
            "fattree",
            "booksim-fattree.toml",
            &["router.vc_allocation=\"1 ns\""],
        ),
        ("dragonfly1056-min", "booksim-dragonfly1056.toml", &[]),
        ("dragonfly1056-ugal", "booksim-dragonfly1056-ugal.toml", &[]),
        (
            "dragonfly1056.conf",
            "codes-1056.toml",
            &["routing.algorithm=par"],
        ),
    ];
    for (name, by_hand, sets) in cases {
        let simulator = if name.ends_with(".conf") {
            "codes"
        } else {
            "booksim"
        };
        let got = resolved(&imported(simulator, name).0, &[]);
        let expected = resolved(&job(by_hand), sets);
        let more = if simulator == "booksim" {
            &BOOKSIM[..]
        } else {
            &[]
        };
        for key in COMMON.iter().chain(more) {
            let values = [at(&got, key), at(&expected, key)];
            assert_eq!(values[0], values[1], "{name}: {key}");
        }
        assert!(at(&got, "topology").is_some(), "{name}");
    }
}

/// Mean packet latency, ns.
fn latency(text: &str) -> f64 {
    let experiment = experiment(text, &[]);
    let plan =
        Plan::new(&experiment, None).unwrap_or_else(|error| panic!("{}", error.render(false)));
    let data = run_plan(&plan).expect("a good end").data;
    let found = data.latency.iter().find(|(name, _)| name == "message");
    found.expect("a class").1.arrived.mean() / 1e3
}

#[test]
fn imported_tori_have_the_latency_of_booksim() {
    // BookSim2 prints 33.66 cycles for its example.
    let example = latency(&imported("booksim", "torus88-example").0);
    assert!((example / 33.66 - 1.0).abs() < 0.01, "{example}");
    // The reference curve, almost without load.
    let curve = include_str!("../../reference/torus88_dor_uniform_p1.csv");
    let idle = latency(&imported("booksim", "torus88").0);
    let expected = booksim(curve, 0.005)[0];
    assert!((idle / expected - 1.0).abs() < 0.02, "{idle}, {expected}");
}

#[test]
fn missing_keys_have_the_defaults_of_the_other_simulator() {
    let (text, _) = imported_text("booksim", "routing_function = dim_order;");
    let values = resolved(&text, &[]);
    let expect = |key: &str, value: Value| assert_eq!(at(&values, key), Some(&value), "{key}");
    expect("topology.kind", "torus".into());
    expect("topology.sizes", vec![8, 8].into());
    expect("routing.vcs", 16.into());
    expect("router.latency", "4 ns".into());
    expect("router.input_buffer", "8 flits".into());
    expect("workload.0.load", 0.1.into());
    let least = "PARAMS { modelnet_order=(\"dragonfly_dally\"); num_groups=\"9\"; \
                 num_routers=\"4\"; num_global_channels=\"2\"; packet_size=\"512\"; }";
    let (text, _) = imported_text("codes", least);
    let values = resolved(&text, &[]);
    let expect = |key: &str, value: Value| assert_eq!(at(&values, key), Some(&value), "{key}");
    expect("topology.endpoints_per_router", 2.into());
    expect("routing.algorithm", "minimal".into());
    expect("router.latency", "100 ns".into());
    expect("router.input_buffer", "1 KiB".into());
    expect("nic.order", "fifo".into());
    // 512 bytes at 5.25 GiB/s take 90.8257… ns.
    expect("topology.local.latency", "90826 ps".into());
    expect("topology.local.bandwidth", "5376 MiB/s".into());
}

#[test]
fn traffic_is_that_of_booksim() {
    let rates = "topology = mesh; k = 4; routing_function = dor; classes = 2; \
                 traffic = {tornado,bitrev}; packet_size = {{1,4},2}; \
                 packet_size_rate = {{3,1},1}; injection_rate = {0.1,0.2};";
    let values = resolved(&imported_text("booksim", rates).0, &[]);
    let number = |key: &str| {
        at(&values, key)
            .and_then(Value::as_float)
            .expect("a number")
    };
    // Three packets of 1 flit and one of 4: 1.75 flits on average, 4/7 of them in long ones.
    assert!((number("workload.0.load") - 0.175).abs() < 1e-12);
    assert!((number("workload.0.message.1.share") - 4.0 / 7.0).abs() < 1e-12);
    assert!((number("workload.1.load") - 0.4).abs() < 1e-12);
    // In each dimension of 4 routers one place further: (0, 0) to (1, 1), (3, 3) to (0, 0).
    let list = |key: &str| -> Vec<i64> {
        let list = at(&values, key).and_then(Value::as_array).expect("a list");
        list.iter()
            .map(|one| one.as_integer().expect("whole"))
            .collect()
    };
    let tornado = list("workload.0.pattern.list");
    assert_eq!([tornado[0], tornado[3], tornado[15]], [5, 4, 0]);
    // 0, 6, 9 and 15 are the same backwards; among the others, 1 sends to 8.
    let senders = list("workload.1.endpoints");
    let bitrev = list("workload.1.pattern.list");
    assert_eq!(senders.len(), 12);
    assert_eq!([senders[0], senders[bitrev[0] as usize]], [1, 8]);
}

#[test]
fn congestion_control_and_traffic_of_codes_are_taken_over() {
    let values = resolved(&imported("codes", "codes-cc.conf").0, &[]);
    let expect = |key: &str, value: Value| assert_eq!(at(&values, key), Some(&value), "{key}");
    expect("congestion.scheme", "codes_cc".into());
    expect("congestion.threshold", 0.4.into());
    expect("congestion.release", 0.05.into());
    expect("congestion.period", "20 us".into());
    expect("congestion.buffer", "16 KiB".into());
    expect("congestion.count", "packets".into());
    expect("router.credit_unit", "packet".into());
    // Packets of two chunks take the room of their own.
    let (text, _) = imported("codes", "torus.conf");
    assert!(text.contains("credit_unit = \"flit\""), "{text}");
    expect("routing.algorithm", "ugal".into());
    expect("routing.candidates", 3.into());
    // 1,024 bytes of 64-byte flits.
    expect("routing.bias", "16 flits".into());
    expect("nic.order", "message".into());
    expect("workload.0.stop", "5 us".into());
    // Eight endpoints are a group.
    expect("workload.0.pattern.list.70", 6.into());
    let load = at(&values, "workload.0.load").and_then(Value::as_float);
    // 1,024 bytes in 500 ns, of 5.25 GiB/s.
    let expected = 1024.0 / 500.0 / (5.25 * 1.073741824);
    assert!((load.expect("a load") - expected).abs() < 1e-9, "{load:?}");
}

#[test]
fn lone_packets_take_the_time_of_the_models_of_codes() {
    let cases = [
        // The start-up time, and 512 bytes of 20,000 MiB/s.
        ("simplenet.conf", 1.5 + 512.0 / (20_000.0 * 1.048576e-3)),
        // A router's delay, and 512 bytes of 12.5 GB/s on two links.
        ("fattree.conf", 90.0 + 2.0 * 512.0 / 12.5),
        // A torus has an endpoint per router: two routers of 50 ns, and three links of 10 GiB/s.
        ("torus.conf", 2.0 * 50.0 + 3.0 * 512.0 / 10.737_418_24),
    ];
    for (name, expected) in cases {
        let sets = ["output.packets=true", "workload.0.load=0.01"];
        let experiment = experiment(&imported("codes", name).0, &sets);
        let plan =
            Plan::new(&experiment, None).unwrap_or_else(|error| panic!("{}", error.render(false)));
        let rows = run_plan(&plan).expect("a good end").data.packets;
        let rows = rows.expect("packets are recorded");
        let times = rows.delivered_ps.iter().zip(&rows.injected_ps);
        let least = times.map(|(end, start)| end - start).min();
        let least = least.expect("a packet") as f64 / 1e3;
        // A picosecond for each rounding: links, routers, serialization.
        assert!(
            (least - expected).abs() < 0.006,
            "{name}: {least}, {expected}"
        );
    }
}
