//! Recorded applications: every format gives the same on any ranks, under every kind of network and
//! scheme; a written run can be replayed; another reader counts the same.

mod hostile;

use std::collections::BTreeMap;
use std::path::Path;
use std::process::Command;

use toml::{Table, Value};
use weir::catalog::catalog;
use weir::result::{Data, Note};
use weir::workload::replay::{Flow, write_goal, write_vef};

use crate::support::{Cli, Experiment, run_on};
use crate::variants::catalog::{examples, first_networks};

/// Format, file, and other keys of the traces in `tests/traces`.
const TRACES: [(&str, &str, &str); 11] = [
    ("goal", "mixed.goal", "compute = \"x 0.5\""),
    ("goal", "mixed.goal.bin", ""),
    ("simgrid", "mixed.ti", "flops_per_second = 1e9"),
    ("allprof", "allprof/rank-0.txt", ""),
    ("chakra", "chakra/npu.0.et", "groups = \"groups.json\""),
    ("simai", "step.simai", "compute = \"x 0.1\""),
    ("flows", "flows.csv", ""),
    ("matrix", "matrix.csv", ""),
    ("matrix", "matrix.csv", "order = \"phases\""),
    ("connections", "chain.cm", ""),
    ("vef", "mixed.vef", ""),
];

fn section(format: &str, file: &str, keys: &str) -> Value {
    let mut table: Table = toml::from_str(keys).expect(keys);
    let path = format!("{}/tests/traces/{file}", env!("CARGO_MANIFEST_DIR"));
    table.insert("format".into(), format.into());
    table.insert("file".into(), path.into());
    table.into()
}

fn with_trace(network: Experiment, trace: &Value) -> Experiment {
    // A job without a motif: the key is put there and taken away.
    let mut table: Table = toml::from_str(&network.text()).expect("TOML");
    let mut workload = Table::new();
    workload.insert("trace".into(), trace.clone());
    workload.insert("placement".into(), "random".into());
    let list = table.entry("workload").or_insert(Value::Array(vec![]));
    list.as_array_mut().expect("a list").push(workload.into());
    Experiment::of(table).until("completion")
}

fn note(data: &Data) -> &Note {
    let mut notes = data.notes.iter();
    notes.find(|note| note.kind == "trace").expect("a note")
}

#[test]
fn every_format_has_a_trace_here() {
    for variant in &catalog().traces.variants {
        let there = TRACES.iter().any(|(format, ..)| *format == variant.name);
        assert!(there, "{}", variant.name);
    }
}

/// The examples of all schemes but none.
fn schemes() -> Vec<Value> {
    let schemes = &catalog().schemes.variants;
    let some = schemes.iter().filter(|scheme| scheme.name != "none");
    some.flat_map(|scheme| examples("scheme", scheme)).collect()
}

/// Beside a motif each format runs under another scheme on each network, with the same bits on
/// several ranks: two and three by turns, as both take long on small networks with short windows.
#[test]
fn every_format_on_every_topology_with_congestion_control_and_ranks() {
    let schemes = schemes();
    let mut next = schemes.iter().cycle();
    for (network, kind) in first_networks().into_iter().zip(0..) {
        for ((format, file, keys), number) in TRACES.into_iter().zip(0..) {
            let rounds: i64 = 1 + number % 2;
            let scheme = next.next().expect("a scheme").clone();
            let network = network.clone().set("congestion", scheme);
            let experiment = with_trace(network, &section(format, file, keys))
                .with("repetitions", rounds)
                .set("output.iterations", true)
                .job("allreduce", 3)
                .with("placement", "random");
            let plan = experiment.plan();
            let data = run_on(1, &plan).unwrap_or_else(|error| panic!("{error}\n{experiment:?}"));
            // Signals that take no time are for one rank.
            if plan.blueprint.schedule.interleaving.is_none() {
                let ranks = 2 + (kind + number as u32) % 2;
                let again = run_on(ranks, &plan).expect("it ran on one");
                assert!(again == data, "{ranks} ranks differ: {experiment:?}");
            }
            let summary = &data.summary;
            assert_eq!(summary.messages_generated, summary.messages_received);
            // Everything that the trace sends to others arrives.
            let sent = rounds as u64 * plain_bytes(file);
            assert!(
                data.jobs[0].totals.bytes_delivered >= sent,
                "{experiment:?}"
            );
            let name = file.rsplit('/').next().expect("a name");
            assert!(note(&data).text.contains(name));
        }
    }
}

/// Bytes that tasks of a trace send to others, counted by hand.
fn plain_bytes(file: &str) -> u64 {
    match file {
        "mixed.goal" | "mixed.goal.bin" => 2 * 20_000 + 2 * 64 + 4 * 10_000 + 2 * 30_000,
        // Messages, not operations of all.
        "mixed.ti" => 6 * (20_000 + 3_000) + 3 * 30_000,
        "allprof/rank-0.txt" => 4 * (20_000 + 400 + 4) + 2 * 32_000,
        "chakra/npu.0.et" => 4 * 20_000,
        // Of each of 8 tasks: weights of 4 replicas, then pairs of tasks, layer by layer.
        "step.simai" => {
            let pairs = 20_000 + 2 * 10_000 + 2 * 20_000 + 15_000 + 2 * 10_000;
            8 * (60_000 * 3 / 4 + pairs + 2 * 50_000 * 3 / 4)
        }
        "mixed.vef" => 1_000 + 2 * 20_000 + 64 + 2 * 30_000,
        "flows.csv" => 4_096 + 4_096 + 20_000 + 100_000 + 1 + 64 + 50_000 + 50_000,
        "matrix.csv" => 2 * 100 + 2 * 2_000 + 30_000 + 1 + 4 * 64 + 5 * 9_000 + 12_000,
        _ => 30_000 + 2 * 20_000 + 3 * 40_000,
    }
}

#[test]
fn another_reader_counts_the_same() {
    for (format, file, keys) in TRACES {
        let network = Experiment::dragonfly(2, 4, 2);
        let data = with_trace(network, &section(format, file, keys)).run().data;
        let numbers: BTreeMap<String, u64> = note(&data).numbers.iter().cloned().collect();
        let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests");
        let output = Command::new("python3")
            .arg(root.join("python/traces/count_trace.py"))
            .args([format, root.join("traces").join(file).to_str().unwrap()])
            .output()
            .expect("python3");
        let said = String::from_utf8(output.stdout).expect("text");
        let error = String::from_utf8_lossy(&output.stderr);
        let theirs: BTreeMap<String, u64> =
            serde_json::from_str(&said).unwrap_or_else(|why| panic!("{why}: {said}{error}"));
        assert!(!theirs.is_empty());
        for (name, count) in theirs {
            let there = numbers.get(&name).copied().unwrap_or(0);
            assert_eq!(there, count, "{file}: {name} of {numbers:?}");
        }
    }
}

#[test]
fn converted_traces_run() {
    let folder = tempfile::tempdir().expect("a directory");
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests");
    let output = Command::new("python3")
        .arg(root.join("python/traces/check_tools.py"))
        .arg(folder.path())
        .output()
        .expect("python3");
    let said = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success(), "{said}");
    for (file, bytes, lost, why) in [
        (
            "dumpi.goal",
            2 * (400 + 32) + 40 + 24,
            "MPI_Barrier",
            "2 MPI_Barrier (ignored: nothing tells how its communicator was made)",
        ),
        (
            "otf2.goal",
            2 * (600 + 32),
            "parts_in_allreduce",
            "4 parts in allreduce of 144 bytes in all (2 ignored: they are of a single rank)",
        ),
    ] {
        let mut trace = section("goal", "", "");
        trace["file"] = folder.path().join(file).to_str().expect("UTF-8").into();
        let data = with_trace(Experiment::dragonfly(2, 4, 2), &trace)
            .run()
            .data;
        assert_eq!(data.jobs[0].totals.bytes_delivered, bytes, "{file}");
        // The result tells what the converter left out.
        let note = note(&data);
        assert!(note.text.contains(why), "{}", note.text);
        let ignored = (format!("{lost}_ignored"), 2);
        assert!(note.numbers.contains(&ignored), "{:?}", note.numbers);
    }
}

#[test]
fn a_resolved_experiment_runs_the_same_file_or_none() {
    let trace = section("goal", "mixed.goal", "");
    let experiment = with_trace(Experiment::dragonfly(2, 4, 2), &trace);
    let resolved = experiment.checked().resolved;
    assert!(resolved.contains("sha256 = \""), "{resolved}");
    let again = Experiment::of(toml::from_str(&resolved).expect("TOML"));
    assert_eq!(again.checked().resolved, resolved);
    assert_eq!(again.run().data, experiment.run().data);
    let other = resolved.replace("mixed.goal", "flows.csv");
    let other = other.replace("format = \"goal\"", "format = \"flows\"");
    let other = Experiment::of(toml::from_str(&other).expect("TOML"));
    let error = other.try_plan().map(|_| ()).expect_err("another file");
    assert!(
        error.message.contains("the file is another one now"),
        "{}",
        error.message
    );
}

/// Traffic of a run, as flows of the job's tasks.
fn flows(data: &Data, job: usize) -> Vec<Flow> {
    let task = |endpoint: u32| {
        let place = data.jobs[job]
            .tasks
            .endpoint
            .iter()
            .position(|&one| one == endpoint);
        place.expect("a task") as u32
    };
    let messages = data.messages.as_ref().expect("they are recorded");
    let mut rows: Vec<usize> = (0..messages.source.len()).collect();
    rows.sort_by_key(|&row| (messages.generated_ps[row], messages.message[row]));
    let rows = rows
        .into_iter()
        .filter(|&row| messages.job[row] == job as u32);
    rows.map(|row| Flow {
        from: task(messages.source[row]),
        to: task(messages.destination[row]),
        bytes: messages.bytes[row],
        start: messages.generated_ps[row],
    })
    .collect()
}

#[test]
fn what_a_run_sent_is_replayed_to_the_same_bits() {
    let network = || {
        Experiment::dragonfly(2, 4, 2)
            .routing("par")
            .set("output.messages", true)
            .set("output.packets", true)
    };
    let halo = network()
        .job("halo3d26", 18)
        .with("motif.cells", vec![6, 6, 6])
        .with("motif.iterations", 3)
        .with("motif.compute", "1 us");
    // Long messages that ask for leave, and a barrier of empty ones.
    let transpose = network().job("ptrans", 36).with("motif.order", 240);
    for (motif, tasks) in [(halo, 18), (transpose, 36)] {
        let motif = motif.run().data;
        let sent = flows(&motif, 0);
        assert!(sent.len() > 200);
        for format in ["goal", "vef"] {
            let folder = tempfile::tempdir().expect("a directory");
            let path = folder.path().join("again");
            let mut file = std::fs::File::create(&path).expect("a file");
            match format {
                "goal" => write_goal(&sent, tasks, 1, &mut file).expect("written"),
                _ => write_vef(&sent, tasks, 1, &mut file).expect("written"),
            }
            let mut trace = section(format, "", "unit = \"1 ps\"");
            trace["file"] = path.to_str().expect("UTF-8").into();
            let replayed = with_trace(network(), &trace)
                .with("placement", "linear")
                .with("mpi.rendezvous_from", "1 GB")
                .run()
                .data;
            assert_eq!(flows(&replayed, 0), sent, "{format}");
            assert_eq!(replayed.messages, motif.messages, "{format}");
            assert_eq!(replayed.packets, motif.packets, "{format}");
        }
    }
}

#[test]
fn messages_are_exported_from_a_result() {
    let run = Experiment::dragonfly(2, 4, 2)
        .job("incast", 5)
        .with("name", "inwards")
        .with("start", "3 us")
        .set("output.messages", true)
        .cli()
        .succeeds();
    let result = run.result();
    let export = |job: &str| {
        let arguments = ["export", result.to_str().unwrap(), "out.goal", "--job", job];
        let mut command = Command::new(env!("CARGO_BIN_EXE_weir"));
        command.args(arguments).current_dir(run.out());
        command.output().expect("it runs")
    };
    let refused = |job: &str, expected: &str| {
        let output = export(job);
        let said = String::from_utf8_lossy(&output.stderr).into_owned();
        assert_eq!(output.status.code(), Some(2), "{said}");
        assert!(said.contains(expected), "{said}");
    };
    refused("inward", "did you mean \"inwards\"");
    let output = export("inwards");
    refused("inwards", "out.goal exists");
    let said = String::from_utf8_lossy(&output.stdout);
    assert!(
        said.contains("messages of 5 tasks"),
        "{said}{:?}",
        output.stderr
    );
    let text = std::fs::read_to_string(run.out().join("out.goal")).expect("written");
    assert!(
        text.contains("num_ranks 5") && text.contains("send"),
        "{text}"
    );
    let arguments = [
        "export",
        result.to_str().unwrap(),
        "out.vef",
        "--unit",
        "1 ns",
    ];
    let mut command = Command::new(env!("CARGO_BIN_EXE_weir"));
    let output = command
        .args(arguments)
        .current_dir(run.out())
        .output()
        .expect("it runs");
    let said = String::from_utf8_lossy(&output.stdout);
    assert!(
        said.contains("format = \"vef\"") && said.contains("unit = \"1000 ps\""),
        "{said}"
    );
    let text = std::fs::read_to_string(run.out().join("out.vef")).expect("written");
    assert!(text.starts_with("VEF3 5 "), "{text}");
    let mut command = Command::new(env!("CARGO_BIN_EXE_weir"));
    let output = command
        .args(["export", result.to_str().unwrap(), "x", "--unit", "0 ns"])
        .output();
    let output = output.expect("it runs");
    assert_eq!(output.status.code(), Some(2), "{output:?}");
}

/// A trace has no place for messages by other NICs and to endpoints of others: that is said, and no
/// file is written. A message under way at the end, and the start, are told.
#[test]
fn an_export_loses_no_message_silently() {
    let exported = |experiment: &Experiment| {
        let run = experiment
            .clone()
            .set("output.messages", true)
            .cli()
            .succeeds();
        let mut command = Command::new(env!("CARGO_BIN_EXE_weir"));
        let result = run.result();
        let command = command.args(["export", result.to_str().unwrap(), "out.goal"]);
        let output = command.current_dir(run.out()).output().expect("it runs");
        let said = [output.stdout, output.stderr].concat();
        let written = run.out().join("out.goal").exists();
        let said = String::from_utf8_lossy(&said)
            .split_whitespace()
            .collect::<Vec<_>>()
            .join(" ");
        (output.status.code(), written, said)
    };
    let network = || Experiment::dragonfly(2, 4, 2);
    // Two halves of each message from each task to each other, by NICs of their own.
    let nics = network()
        .set("nodes.nics", 2)
        .job("alltoall", 8)
        .with("motif.bytes", "20 kB")
        .with("nics", 2);
    // 152 of some 600 messages stay among the six senders.
    let outside = network()
        .uniform(0.3)
        .with("endpoints", "0..6")
        .with("pattern.to", "network")
        .until("5 us");
    for (experiment, others) in [
        (nics, "112 of 224"),
        (outside, "not the first NIC of a task"),
    ] {
        let (code, written, said) = exported(&experiment);
        assert_eq!((code, written), (Some(2), false), "{said}");
        assert!(said.contains(others), "{said}");
    }
    let (code, _, said) = exported(&network().uniform(0.3).with("start", "1 us").until("5 us"));
    assert_eq!(code, Some(0), "{said}");
    assert!(said.contains("were under way when it ended"), "{said}");
    assert!(said.contains("start = \"1 us\""), "{said}");
}

#[test]
fn what_is_wrong_with_a_trace_is_said_before_anything_runs() {
    let refusal = |trace: Value| {
        let experiment = with_trace(Experiment::dragonfly(2, 4, 2), &trace);
        let ran = Cli::run(&experiment.text()).go();
        assert_eq!(ran.code, Some(2), "{}", ran.stderr);
        let words: Vec<&str> = ran.stderr.split_whitespace().collect();
        words.join(" ")
    };
    for (trace, parts) in [
        (
            section("gaol", "mixed.goal", ""),
            ["did you mean \"goal\"", "weir list traces"],
        ),
        (
            section("goal", "nothing.goal", ""),
            ["there is no such file", "relative to the experiment"],
        ),
        (
            section("goal", "", ""),
            ["it is no regular file", "workload.0.trace.file"],
        ),
        (section("goal", "flows.csv", ""), ["line 1", "num_ranks"]),
        (
            section("flows", "flows.csv", "tasks = 4294967295"),
            ["4294967295 endpoints are asked for", "72 of 72 are free"],
        ),
        (
            section("chakra", "chakra/npu.2.et", ""),
            ["the file of task 2 of a set", "`npu.0.et`"],
        ),
        (
            section("allprof", "allprof/rank-3.txt", ""),
            ["the file of task 3 of a set", "`rank-0.txt`"],
        ),
        (
            section("goal", "mixed.goal", "compute = 2.0"),
            ["x 0.5", "compute"],
        ),
        (
            section("goal", "mixed.goal", "compute = \"x -2\""),
            ["is no factor", "x 0.5"],
        ),
        (
            section("goal", "mixed.goal", "order = \"phases\""),
            ["unknown key `order`", "weir list traces goal"],
        ),
    ] {
        let said = refusal(trace.clone());
        for part in parts {
            assert!(said.contains(part), "{trace}: {said}\nlacks {part:?}");
        }
    }
    let both = with_trace(
        Experiment::dragonfly(2, 4, 2),
        &section("goal", "mixed.goal", ""),
    );
    let said = both.clone().with("motif.kind", "allreduce").try_plan();
    let said = said.map(|_| ()).expect_err("both").message;
    assert!(said.contains("`motif` says already"), "{said}");
    let said = both.with("tasks", 5).with("placement", "linear").try_plan();
    let said = said.map(|_| ()).expect_err("tasks").message;
    assert!(said.contains("the trace has 12 tasks, not 5"), "{said}");
}
