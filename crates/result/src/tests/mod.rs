//! Promises of result files: a file is read as it was written, equal data make equal files, and the
//! manual is right.

mod broken;
mod manual;

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use tempfile::TempDir;

use super::sample::{self, EXPERIMENT};
use super::*;
use weir_model::table::{Table, Values};

const SEED: u64 = u64::MAX - 1;

fn write_sample(dir: &Path, name: &str) -> PathBuf {
    let path = dir.join(name);
    write(&path, &sample::data(), &sample::run(), EXPERIMENT, SEED).expect("writes");
    path
}

fn folder() -> TempDir {
    tempfile::tempdir().expect("a temporary directory")
}

fn names(dir: &Path) -> Vec<String> {
    let mut names: Vec<_> = fs::read_dir(dir)
        .expect("reads")
        .map(|entry| {
            entry
                .expect("entry")
                .file_name()
                .into_string()
                .expect("UTF-8")
        })
        .collect();
    names.sort();
    names
}

/// Output of a program that must succeed.
fn output_of(program: &str, arguments: &[&str]) -> String {
    let output = Command::new(program).args(arguments).output();
    let output = output.unwrap_or_else(|error| panic!("{program}: {error}"));
    let text = String::from_utf8_lossy(&output.stdout).into_owned();
    let errors = String::from_utf8_lossy(&output.stderr);
    assert!(
        output.status.success(),
        "{program} {arguments:?}: {}\n{text}{errors}",
        output.status
    );
    text
}

#[test]
fn what_is_written_is_read() {
    let dir = folder();
    let path = write_sample(dir.path(), "result.h5");
    let (data, stored) = (sample::data(), read(&path).expect("reads"));

    let header = &stored.header;
    assert_eq!(
        (header.schema_version, header.seed),
        (schema::VERSION, SEED)
    );
    assert_eq!(header.experiment, EXPERIMENT);
    assert_eq!(header.weir_version, env!("CARGO_PKG_VERSION"));
    assert!(header.complete);
    assert_eq!(read_header(&path).expect("reads"), *header);

    let run = Run {
        events_per_second: stored.run.events_per_second,
        packet_hops_per_second: stored.run.packet_hops_per_second,
        hdf5_version: stored.run.hdf5_version.clone(),
        ..sample::run()
    };
    assert_eq!(stored.run, run);
    assert_eq!(
        format!("{:?}", stored.digest.summary),
        format!("{:?}", data.summary)
    );
    assert_eq!(stored.digest.jobs, data.digest().jobs);
    assert_eq!(stored.scheme, "ecn");

    assert_eq!(stored.latency.len(), data.latency.len());
    for (stored, (class, latency)) in stored.latency.iter().zip(&data.latency) {
        assert_eq!(&stored.class, class, "classes keep their order");
        let rows = |counts: &[u64]| {
            let rows = stored
                .buckets
                .lower_ps
                .iter()
                .copied()
                .zip(counts.iter().copied());
            rows.filter(|&(_, count)| count > 0).collect::<Vec<_>>()
        };
        assert_eq!(
            rows(&stored.buckets.count),
            latency.arrived.rows().collect::<Vec<_>>()
        );
        assert_eq!(
            rows(&stored.buckets.missing),
            latency.missing.rows().collect::<Vec<_>>()
        );
        // As text, for NaN is like NaN here.
        assert_eq!(
            format!("{:?}", stored.stats),
            format!("{:?}", Stats::of(latency))
        );
    }
    assert_eq!(stored.digest.notes, data.notes);
    assert_eq!(names(dir.path()), ["result.h5"], "no temporary file stays");
}

fn unit_and_name(dataset: &hdf5::Dataset) -> [String; 2] {
    ["units", "long_name"].map(|name| hdf::get_text(dataset, name).expect(name))
}

fn same<T: hdf5::H5Type + PartialEq>(dataset: &hdf5::Dataset, values: &[T]) -> bool {
    let kind = dataset.dtype().expect("a type");
    kind.is::<T>() && dataset.read_raw::<T>().expect("rows") == values
}

/// Compares the columns of a table, whose names begin with `prefix`, with those of a file.
fn same_columns(file: &hdf5::File, prefix: &str, table: &impl Table) {
    for (column, values) in table.pairs() {
        let name = format!("data/{prefix}{}", column.name);
        let dataset = file.dataset(&name).expect(&name);
        let same = match &values {
            Values::I32(values) => same(&dataset, values),
            Values::U16(values) => same(&dataset, values),
            Values::U32(values) => same(&dataset, values),
            Values::U64(values) => same(&dataset, values),
            Values::F64(values) => same(&dataset, values),
            Values::Kinds(values) => dataset.size() == values.len(),
        };
        assert!(same, "{name}");
        assert_eq!(unit_and_name(&dataset), [column.units, column.long_name]);
    }
}

#[test]
fn every_column_holds_its_values_unit_and_name() {
    let dir = folder();
    let path = write_sample(dir.path(), "result.h5");
    let data = sample::data();
    let file = hdf5::File::open(&path).expect("opens");
    same_columns(&file, "ports/", &data.ports);
    same_columns(&file, "routers/", &data.routers);
    for job in &data.jobs {
        same_columns(&file, &format!("jobs/{}/", job.name), &job.tasks);
    }
    for (name, bins) in &data.series.jobs {
        same_columns(&file, &format!("series/job.{name}."), bins);
    }
    same_columns(&file, "rates/", &data.rates.expect("rates"));
    same_columns(&file, "iterations/", &data.iterations.expect("iterations"));
    same_columns(&file, "packets/", &data.packets.expect("packets"));
    same_columns(&file, "phases/", &data.phases.expect("phases"));
    same_columns(&file, "flows/", &data.flows.expect("flows"));
    same_columns(&file, "messages/", &data.messages.expect("messages"));
    let timeline = data.timeline.expect("timeline");
    same_columns(&file, "timeline/tasks/", &timeline.tasks);
    same_columns(&file, "timeline/links/", &timeline.links);
    let attribution = data.attribution.expect("attribution");
    same_columns(&file, "attribution/waits/", &attribution.waits);
    same_columns(&file, "attribution/pressure/", &attribution.pressure);
    same_columns(&file, "attribution/elsewhere/", &attribution.elsewhere);
    for (name, values, units) in [
        (
            "series/class.control.ejected_flits",
            &data.series.ejected_flits[1].1,
            "flits",
        ),
        (
            "series/endpoint.17.delivered_bytes",
            &data.series.received[2].1,
            "B",
        ),
        ("routers/axis.index.coordinate", &wide(&data.axes[1].1), "1"),
        ("occupancy/bytes", &(0..12).collect(), "B"),
        ("scheme/cuts/endpoint", &vec![0, 9, 0], "1"),
    ] {
        let dataset = file.dataset(&format!("data/{name}")).expect(name);
        assert_eq!(&dataset.read_raw::<u64>().expect(name), values, "{name}");
        assert_eq!(unit_and_name(&dataset)[0], units, "{name}");
    }
    let occupancy = file.dataset("data/occupancy/bytes").expect("occupancy");
    assert_eq!(occupancy.shape(), [3, 4]);
    let kinds = file.dataset("data/ports/kind").expect("kind");
    let kinds = kinds.read_raw::<hdf5::types::FixedAscii<8>>();
    let expected = data
        .ports
        .kind
        .iter()
        .map(|kind| &*data.link_kinds[kind.index()]);
    assert!(
        kinds
            .expect("kind")
            .iter()
            .map(|kind| kind.as_str())
            .eq(expected)
    );
}

fn wide(values: &[u32]) -> Vec<u64> {
    values.iter().map(|&value| value.into()).collect()
}

#[test]
fn long_columns_are_chunked_and_compressed() {
    let dir = folder();
    let path = write_sample(dir.path(), "result.h5");
    let file = hdf5::File::open(&path).expect("opens");
    let chunk = |name: &str| file.dataset(name).expect(name).chunk();
    assert_eq!(chunk("data/ports/bytes"), Some(vec![65_536]), "70,000 rows");
    assert_eq!(
        chunk("data/packets/injected_ps"),
        Some(vec![1_000]),
        "one chunk"
    );
    for short in ["packets/source", "occupancy/bytes"] {
        assert_eq!(chunk(&format!("data/{short}")), None, "kept as it is");
    }
    assert_eq!(
        chunk("data/latency/job.aggressor-1.network/count"),
        None,
        "nothing to chunk"
    );
    let dump = output_of("h5dump", &["-H", "-p", path.to_str().expect("UTF-8")]);
    let datasets = dump.matches("DATASET \"").count();
    let empty = dump.matches("SIMPLE { ( 0 ) / ( 0 ) }").count();
    let compact = dump.matches("COMPACT").count();
    assert!(empty >= 4 && compact >= 4, "{dump}");
    for filter in ["PREPROCESSING SHUFFLE", "COMPRESSION DEFLATE"] {
        let long = dump.matches(filter).count();
        assert!(long >= 4, "{dump}");
        assert_eq!(long, datasets - empty - compact, "{dump}");
    }
}

#[test]
fn equal_data_make_equal_files() {
    let dir = folder();
    let first = write_sample(dir.path(), "first.h5");
    // A time stamp of a second's resolution would show.
    std::thread::sleep(std::time::Duration::from_millis(1_100));
    let second = write_sample(dir.path(), "second.h5");
    assert_eq!(
        fs::read(&first).expect("reads"),
        fs::read(&second).expect("reads")
    );
}

#[test]
fn h5diff_sees_the_data_and_only_the_data() {
    let dir = folder();
    let first = write_sample(dir.path(), "first.h5");
    let second = dir.path().join("second.h5");
    let other_run = Run {
        wall_seconds: 9.0,
        ranks: 1,
        hosts: vec!["elsewhere".into()],
        ..sample::run()
    };
    write(&second, &sample::data(), &other_run, EXPERIMENT, SEED).expect("writes");
    let third = dir.path().join("third.h5");
    let mut data = sample::data();
    data.ports.stalled_ps[69_999] += 1;
    write(&third, &data, &sample::run(), EXPERIMENT, SEED).expect("writes");

    let diff = |other: &Path| {
        let output = Command::new("h5diff")
            .arg("-c")
            .args([first.as_path(), other, Path::new("/data")])
            .output()
            .expect("h5diff");
        let text = String::from_utf8_lossy(&output.stdout).into_owned();
        (output.status.code(), text)
    };
    let (code, text) = diff(&second);
    assert_eq!(code, Some(0), "{text}");
    // It says of columns without rows that they cannot be compared, and nothing else.
    for line in text.lines() {
        assert!(line.contains("empty") || line.contains("zero"), "{line}");
    }
    let (code, text) = diff(&third);
    assert_eq!(code, Some(1), "{text}");
    assert!(text.contains("stalled_ps"), "{text}");
}

#[test]
fn an_empty_result_is_a_result() {
    let dir = folder();
    let path = dir.path().join("result.h5");
    let data = Data {
        latency: vec![("network".into(), Latency::default())],
        jobs: vec![Job {
            name: "idle".into(),
            ..Job::default()
        }],
        occupancy: Some(Occupancy::default()),
        rates: Some(Rates::default()),
        iterations: Some(Iterations::default()),
        packets: Some(Packets::default()),
        phases: Some(Phases::default()),
        flows: Some(Flows::default()),
        messages: Some(Messages::default()),
        timeline: Some(Timeline::default()),
        ..Data::default()
    };
    write(&path, &data, &Run::default(), "", 0).expect("writes");
    let stored = read(&path).expect("reads");
    assert!(stored.header.complete);
    assert!(stored.run.hosts.is_empty());
    let stats = stored.digest.class("network").expect("network");
    assert_eq!((stats.samples, stats.missing), (0, 0));
    assert!(stats.missing_share().is_nan());
    for shape in [stats.arrived, stats.at_least, stats.at_most] {
        assert_eq!(shape.max_ps, 0);
        assert!(shape.mean_ps.is_nan() && shape.p50_ps.is_nan() && shape.p999_ps.is_nan());
    }
    assert!(
        stored.datasets.iter().all(|entry| entry.shape.contains(&0)),
        "{:?}",
        stored.datasets
    );
}

#[test]
fn large_texts_fit() {
    let dir = folder();
    let path = dir.path().join("result.h5");
    // More than an attribute of the old format can hold.
    let experiment = "# a long experiment\n".repeat(20_000);
    let run = Run {
        hosts: vec!["a-node-with-a-name".into(); 10_000],
        ..sample::run()
    };
    write(&path, &sample::data(), &run, &experiment, 1).expect("writes");
    let stored = read(&path).expect("reads");
    assert_eq!(stored.header.experiment, experiment);
    assert_eq!(stored.run.hosts, run.hosts);
}

#[test]
fn a_stopped_run_is_not_complete() {
    let dir = folder();
    let path = dir.path().join("result.h5");
    let run = Run {
        stopped: Some("max_wall of 1 h".into()),
        ..sample::run()
    };
    write(&path, &sample::data(), &run, EXPERIMENT, SEED).expect("writes");
    let stored = read(&path).expect("reads");
    assert!(!stored.header.complete);
    assert_eq!(stored.run.stopped.as_deref(), Some("max_wall of 1 h"));
}

/// A Python with h5py, if there is one.
fn python() -> Option<String> {
    let candidates = ["python3", "/usr/bin/python3"].map(String::from);
    let named = std::env::var("WEIR_TEST_PYTHON").ok();
    named.into_iter().chain(candidates).find(|python| {
        let probe = Command::new(python).args(["-c", "import h5py"]).output();
        probe.is_ok_and(|output| output.status.success())
    })
}

#[test]
fn h5py_reads_it_and_the_examples_of_the_manual_run() {
    let Some(python) = python() else {
        // On the build machine it must not be skipped in silence.
        assert!(std::env::var_os("CI").is_none(), "no python3 with h5py");
        eprintln!("skipped: no python3 with h5py");
        return;
    };
    let dir = folder();
    for sub in ["a", "b"] {
        fs::create_dir(dir.path().join(sub)).expect("creates");
        write_sample(dir.path(), &format!("{sub}/result.h5"));
    }
    let root = concat!(env!("CARGO_MANIFEST_DIR"), "/../..");
    let at = dir.path().to_str().expect("UTF-8");
    let check = format!("{root}/tests/python/check_result.py");
    let file = format!("{at}/a/result.h5");
    let told = output_of(&python, &[&check, &file]);
    assert!(told.contains("ok"), "{told}");
    let examples = format!("{root}/tests/python/run_examples.py");
    let told = output_of(
        &python,
        &[&examples, &format!("{root}/docs/result-file.md"), at],
    );
    assert!(told.contains("ran "), "{told}");
}

#[test]
fn the_names_of_kinds_are_as_long_as_they_like() {
    for length in [1, 8, 9, 16, 17, 32, 33, 64] {
        let mut data = sample::data();
        let name = "x".repeat(length);
        data.link_kinds[1] = name.clone().into();
        let dir = folder();
        let path = dir.path().join("result.h5");
        write(&path, &data, &sample::run(), "", 1).expect("written");
        let file = hdf5::File::open(&path).expect("opens");
        let kinds = file.dataset("data/ports/kind").expect("kind");
        let kinds = kinds.read_raw::<hdf5::types::FixedAscii<64>>();
        assert_eq!(kinds.expect("texts")[1].as_str(), name);
    }
}
