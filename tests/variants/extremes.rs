//! Whatever numbers an experiment file has, weir runs it or refuses it: it does not panic, hang or
//! run out of memory.
//!
//! Every integer, number, time, size and bandwidth that `weir schema` knows takes extreme values,
//! one or two at a time, in a small experiment of each variant. `WEIR_ATTACK_CASES` sets how many
//! such experiments there are (60 by default), `WEIR_ATTACK_SEED` which is the first; case n is
//! that of seed n in every run.

use std::process::Command;
use std::time::Duration;

use crate::support::{Cli, Experiment};
use serde_json::Value as Json;
use toml::Value;
use weir::catalog::catalog;
use weir::model::{Rng, below, stream};

/// A key below a section, with dots.
#[derive(Clone, Debug)]
struct Key {
    path: String,
    kind: Kind,
}

#[derive(Clone, Copy, Debug, PartialEq)]
enum Kind {
    Integer,
    Number,
    Time,
    Rate,
    Size,
    /// A list of this many integers or numbers.
    List(usize, bool),
}

const INTEGERS: [i64; 18] = [
    0,
    1,
    2,
    3,
    7,
    100,
    255,
    256,
    65_535,
    65_536,
    1 << 31,
    (1 << 32) - 1,
    1 << 32,
    (1 << 53) + 1,
    i64::MAX - 1,
    i64::MAX,
    -1,
    i64::MIN,
];
const NUMBERS: [f64; 14] = [
    0.0, 1e-300, 1e-12, 0.001, 0.5, 1.0, 1.0000001, 2.0, 1_000.0, 1e6, 1e15, 1e19, 1e300, -1.0,
];
const TIMES: [&str; 15] = [
    "0 ns",
    "1 ps",
    "2 ps",
    "999 ps",
    "7 ns",
    "4294967295 ps",
    "4294967296 ps",
    "281474976710655 ps",
    "281474976710656 ps",
    "1 h",
    "999999 s",
    "1000000 s",
    "1000000000000000001 ps",
    "9223372036854775808 ps",
    "18446744073709551615 ps",
];
const RATES: [&str; 10] = [
    "1 bps",
    "999 bps",
    "6553500 bps",
    "500 kbps",
    "1 Gbps",
    "99 Tbps",
    "100 Tbps",
    "12800000 Tbps",
    "18446744073709551614 bps",
    "18446744073709551615 bps",
];
const SIZES: [&str; 22] = [
    "1 bits",
    "7 bits",
    "8 bits",
    "1 B",
    "65536 bits",
    "513 MiB",
    "4294967295 bits",
    "4294967296 bits",
    "1000000000000000000 bits",
    "1000000000000000001 bits",
    "18446744073709551615 bits",
    "1 flits",
    "2 flits",
    "65535 flits",
    "65536 flits",
    "4294967295 flits",
    "4294967296 flits",
    "18446744073709551615 flits",
    "1 packets",
    "65536 packets",
    "4294967296 packets",
    "18446744073709551615 packets",
];

fn one_of<T: Copy>(list: &[T], rng: &mut Rng) -> T {
    list[below(rng, list.len() as u32) as usize]
}

impl Kind {
    fn draw(self, rng: &mut Rng) -> Value {
        match self {
            Kind::Integer => one_of(&INTEGERS, rng).into(),
            Kind::Number => one_of(&NUMBERS, rng).into(),
            Kind::Time => one_of(&TIMES, rng).into(),
            Kind::Rate => one_of(&RATES, rng).into(),
            Kind::Size => one_of(&SIZES, rng).into(),
            Kind::List(count, whole) => {
                let kind = if whole { Kind::Integer } else { Kind::Number };
                (0..count)
                    .map(|_| kind.draw(rng))
                    .collect::<Vec<_>>()
                    .into()
            }
        }
    }
}

/// All keys of numbers below a schema.
fn keys(schema: &Json, root: &Json, path: &str, found: &mut Vec<Key>) {
    let add = |kind: Kind, found: &mut Vec<Key>| {
        let path = path.to_string();
        found.push(Key { path, kind });
    };
    if let Some(name) = schema["$ref"].as_str() {
        let name = name.rsplit('/').next().unwrap();
        match name {
            "Duration" | "TimeSpan" | "Until" => add(Kind::Time, found),
            "Rate" => add(Kind::Rate, found),
            "Size" | "Allowance" | "Buffer" | "OutputQueue" | "Message" => add(Kind::Size, found),
            "Speedup" => add(Kind::Number, found),
            _ => keys(&root["$defs"][name], root, path, found),
        }
        return;
    }
    for part in ["anyOf", "allOf"] {
        let parts = schema[part].as_array().into_iter().flatten();
        // Variants have their own keys, for sections that choose them.
        for schema in parts.filter(|part| !part["properties"]["kind"].is_object()) {
            keys(schema, root, path, found);
        }
    }
    let is = |kind: &str| {
        let own = &schema["type"];
        own == kind
            || own
                .as_array()
                .is_some_and(|list| list.contains(&kind.into()))
    };
    if is("integer") {
        add(Kind::Integer, found);
    } else if is("number") {
        add(Kind::Number, found);
    } else if is("array") {
        let of = schema["items"]["type"].as_str();
        let count = schema["minItems"].as_u64().unwrap_or(1).max(1) as usize;
        if let Some(of @ ("integer" | "number")) = of {
            add(Kind::List(count, of == "integer"), found);
        }
    }
    for (key, schema) in schema["properties"].as_object().into_iter().flatten() {
        let path = [path, key].join(if path.is_empty() { "" } else { "." });
        keys(schema, root, &path, found);
    }
}

/// The variants of a family in the schema: name and schema.
fn variants<'a>(schema: &'a Json, dispatch: &str) -> Vec<(&'a str, &'a Json)> {
    let list = schema["oneOf"].as_array().or(schema["anyOf"].as_array());
    let list = list.expect("variants");
    let named = list.iter().filter_map(|variant| {
        let name = variant["properties"][dispatch]["const"].as_str()?;
        Some((name, variant))
    });
    named.collect()
}

/// Function that sets the keys of a section.
type Set = fn(Experiment, &str, Value) -> Experiment;

/// A small experiment that can be run, and the keys that can be changed in it.
struct Base {
    experiment: Experiment,
    keys: Vec<(Key, Set)>,
}

fn of_file(experiment: Experiment, path: &str, value: Value) -> Experiment {
    experiment.set(path, value)
}

fn of_workload(experiment: Experiment, path: &str, value: Value) -> Experiment {
    experiment.with(path, value)
}

/// A link that fails, with this key.
fn of_failure(experiment: Experiment, key: &str, value: Value) -> Experiment {
    let mut failure = toml::toml! {
        links = "all"
        bandwidth = 0.5
    };
    if key != "share" {
        failure.insert("count".into(), 1.into());
    }
    failure.insert(key.into(), value);
    experiment.set("failure", vec![failure])
}

/// The base experiment of a case: its topology, routing, scheme and workload are drawn.
fn base(schema: &Json, rng: &mut Rng) -> Base {
    let sections = &schema["properties"];
    let mut all = Vec::new();
    let add = |part: &Json, path: &str, set: Set, all: &mut Vec<(Key, Set)>| {
        let mut found = Vec::new();
        keys(part, schema, path, &mut found);
        all.extend(found.into_iter().map(|key| (key, set)));
    };
    let (experiment, topology) = match below(rng, 3) {
        0 => (Experiment::dragonfly(2, 2, 1), "dragonfly"),
        1 => (Experiment::clos(4, 2), "folded_clos"),
        _ => (Experiment::tree(3, 2), "kary_ntree"),
    };
    let catalog = catalog();
    let names = catalog.routings_of(topology).map(|one| one.name);
    let routing_name = one_of(&names.collect::<Vec<_>>(), rng);
    let experiment = experiment.routing(routing_name);
    let kinds = variants(&sections["topology"], "kind");
    let (_, kind) = kinds.iter().find(|(name, _)| *name == topology).unwrap();
    add(kind, "topology", of_file, &mut all);
    let routings = variants(&sections["routing"], "algorithm");
    for (_, routing) in routings.iter().filter(|(name, one)| {
        let topologies = one["x-topologies"].as_array().expect("a list");
        *name == routing_name && topologies.iter().any(|own| own == topology)
    }) {
        add(routing, "routing", of_file, &mut all);
    }
    let queueing = variants(&sections["queueing"], "scheme");
    let (queues, parameters) = one_of(&queueing, rng);
    add(parameters, "queueing", of_file, &mut all);
    let schemes = variants(&sections["congestion"], "scheme");
    let (scheme, parameters) = one_of(&schemes, rng);
    add(parameters, "congestion", of_file, &mut all);
    for section in ["router", "nic", "run", "output"] {
        add(&sections[section], section, of_file, &mut all);
    }
    add(&sections["failure"]["items"], "", of_failure, &mut all);
    let experiment = experiment
        .set("queueing.scheme", queues)
        .set("congestion.scheme", scheme)
        .set("run.max_wall", "2 s");
    let (part, family) = match below(rng, 2) {
        0 => ("TrafficSection", "pattern"),
        _ => ("ApplicationSection", "motif"),
    };
    let workload = &schema["$defs"][part];
    add(workload, "", of_workload, &mut all);
    let kinds = variants(&workload["properties"][family], "kind");
    let (name, kind) = one_of(&kinds, rng);
    add(kind, family, of_workload, &mut all);
    let experiment = match family {
        "pattern" => patterned(experiment, name),
        _ => {
            let job = experiment.job(name, 6).until("1 us");
            match name {
                "periodic_aggressor" => job.with("motif.senders", 3),
                "lammps" => job.with("motif.steps", 1),
                _ => job,
            }
        }
    };
    // The test has its own time limit.
    all.retain(|(key, _)| key.path != "run.max_wall");
    Base {
        experiment,
        keys: all,
    }
}

fn patterned(experiment: Experiment, name: &str) -> Experiment {
    let traffic = experiment.traffic(name, 0.2).until("1 us");
    match name {
        "hotspot" => traffic
            .with("pattern.sources", 3)
            .with("pattern.destinations", 1),
        _ => traffic,
    }
}

/// The experiment of a seed.
fn experiment(schema: &Json, seed: u64) -> (Experiment, Vec<String>) {
    let mut rng = stream(seed, &[]);
    let Base {
        mut experiment,
        keys,
    } = base(schema, &mut rng);
    let mut changed: Vec<String> = Vec::new();
    for _ in 0..=below(&mut rng, 2) {
        let (key, set) = &keys[below(&mut rng, keys.len() as u32) as usize];
        if changed
            .iter()
            .any(|one| one.starts_with(key.path.split('.').next().unwrap()))
        {
            // A number, and keys below it, cannot be in one file. (Those of one section wait for
            // another seed.)
            continue;
        }
        let value = key.kind.draw(&mut rng);
        changed.push(format!("{} = {value}", key.path));
        experiment = set(experiment, &key.path, value);
    }
    (experiment, changed)
}

/// More is no result but a defect. (The program itself and its libraries take most of a gigabyte of
/// addresses.)
const MOST_MEMORY_KB: u64 = 6_000_000;

/// Runs `weir` with bounds on its time and its memory; None if it was ended by them or by itself.
fn outcome(experiment: &Experiment, command: &str) -> (Option<i32>, String) {
    let arguments: &[&str] = match command {
        "check" => &["check", "experiment.toml"],
        _ => &["run", "experiment.toml", "--out", "out"],
    };
    let cli = Cli::weir(&experiment.text(), arguments);
    let mut bounded = Command::new("sh");
    bounded
        .args(["-c", &format!("ulimit -v {MOST_MEMORY_KB}; exec \"$@\"")])
        .args(["sh", env!("CARGO_BIN_EXE_weir")])
        .args(arguments)
        .current_dir(cli.folder());
    let mut bounded = assert_cmd::Command::from_std(bounded);
    let output = bounded.timeout(Duration::from_secs(120)).output().unwrap();
    let text = String::from_utf8_lossy(&output.stderr).into_owned();
    (output.status.code(), text)
}

/// An environment variable that is a number.
fn number(name: &str, default: u64) -> u64 {
    let given = std::env::var(name).ok();
    given.map_or(default, |text| text.parse().expect(name))
}

#[test]
fn extreme_values_are_run_or_refused() {
    let output = Command::new(env!("CARGO_BIN_EXE_weir"))
        .arg("schema")
        .output();
    let schema = output.expect("weir schema").stdout;
    let schema: Json = serde_json::from_slice(&schema).expect("JSON");
    let first = number("WEIR_ATTACK_SEED", 1);
    let mut failed = Vec::new();
    let mut codes = [0; 3];
    for seed in first..first + number("WEIR_ATTACK_CASES", 60) {
        let (experiment, changed) = experiment(&schema, seed);
        for command in ["check", "run"] {
            let (code, stderr) = outcome(&experiment, command);
            match code {
                Some(0) => codes[0] += 1,
                // It can be run, and takes longer than this test has time.
                Some(1) if stderr.contains("stopped early (max_wall)") => codes[0] += 1,
                Some(2) => codes[1] += 1,
                code => {
                    let stderr: Vec<&str> = stderr.lines().take(12).collect();
                    failed.push(format!(
                        "seed {seed}, weir {command}, {code:?}: {changed:?}\n{}\n{}",
                        stderr.join("\n"),
                        experiment.text()
                    ));
                    codes[2] += 1;
                }
            }
        }
    }
    println!("{codes:?} were run, refused, and neither, from seed {first} on");
    assert!(failed.is_empty(), "{}", failed.join("\n\n"));
    // Otherwise the experiments would say nothing.
    assert!(codes[0] > 0 && codes[1] > 0, "{codes:?}");
}
