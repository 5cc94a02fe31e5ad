//! Metrics of a result whose every number is known.

use crate::Metric;
use weir_model::LinkKind;
use weir_result::{
    Data, JobSeries, Latency, ResultFile, Run, SchemeColumn, SchemeRecord, sample, write,
};

fn jobs() -> Vec<String> {
    ["stencil", "aggressor-1"].map(str::to_string).to_vec()
}

fn metric(name: &str) -> Metric {
    Metric::parse(name, &jobs()).unwrap_or_else(|error| panic!("{error:?}"))
}

/// Values of metrics in a result with this content.
pub fn read(data: &Data, names: &[&str]) -> Vec<Option<f64>> {
    let folder = tempfile::tempdir().expect("a directory");
    let path = folder.path().join("result.h5");
    write(&path, data, &Run::default(), "", 1).expect("writes");
    let result = ResultFile::open(&path).expect("opens");
    let values = names
        .iter()
        .map(|name| metric(name).read(&result).expect(name));
    values.collect()
}

#[test]
fn attributes_are_found_and_times_are_in_ns() {
    let data = sample::data();
    let job = data
        .jobs
        .iter()
        .find(|job| job.name == "stencil")
        .expect("a job");
    let (class, network) = &data.latency[0];
    assert_eq!(class, "network");
    let values = read(
        &data,
        &[
            "summary.accepted_load",
            "summary.simulated",
            "latency.network.p99",
            "latency.network.samples",
            "latency.message.missing",
            "latency.message.missing_share",
            "latency.message.max_at_least",
            "summary.notes",
            "jobs.stencil.communication",
            "jobs.stencil.task_communication.mean",
            "jobs.stencil.task_communication.max",
        ],
    );
    let expected = [
        data.summary.accepted_load,
        data.summary.simulated_ps as f64 / 1e3,
        network.arrived.quantile(0.99) / 1e3,
        network.arrived.samples() as f64,
        500.0,
        500.0 / 2_500.0,
        data.latency[1].1.arrived.max() as f64 / 1e3,
        2.0,
        job.communication() as f64 / 1e3,
        70_000.002,
        70_000.004,
    ];
    assert_eq!(values, expected.map(Some));
    let headers = [
        "summary.simulated",
        "latency.network.p99",
        "summary.accepted_load",
    ];
    let headers = headers.map(|name| metric(name).header());
    assert_eq!(
        headers,
        [
            "summary.simulated [ns]",
            "latency.network.p99 [ns]",
            "summary.accepted_load"
        ]
    );
}

#[test]
fn no_samples_have_no_latency() {
    let data = Data {
        latency: vec![("message".into(), Latency::default())],
        ..Data::default()
    };
    let values = read(
        &data,
        &[
            "latency.message.mean",
            "latency.message.max",
            "latency.message.max_at_least",
            "latency.message.missing_share",
            "latency.message.samples",
            "latency.network.mean",
        ],
    );
    assert_eq!(values, [None, None, None, None, Some(0.0), None]);
}

/// Four bins of 1 us: 10, 20, 30, 40 bytes; 1, 0, 2, 1 messages of 100, 200, 400 ns each.
pub fn series() -> Data {
    let mut data = Data::default();
    data.summary.simulated_ps = 4_000_000;
    data.series.bin_ps = 1_000_000;
    data.series.bins = 4;
    let bins = JobSeries {
        injected_bytes: vec![0; 4],
        delivered_bytes: vec![10, 20, 30, 40],
        messages: vec![1, 0, 2, 1],
        message_latency_ps: vec![100_000, 0, 400_000, 400_000],
        packets: vec![0; 4],
        network_latency_ps: vec![0; 4],
    };
    data.series.jobs = vec![("stencil".into(), bins)];
    // 40 flits of 10 ns on one channel of 4 us: a tenth of its time.
    data.series.ejected_flits = vec![
        ("data".into(), vec![0, 10, 20, 0]),
        ("control".into(), vec![0, 5, 0, 5]),
    ];
    data.ports.router = vec![0, 0];
    data.ports.port = vec![0, 1];
    data.link_kinds = ["terminal", "global"].map(Into::into).to_vec();
    data.ports.kind = vec![LinkKind(0), LinkKind(1)];
    data.ports.peer_router = vec![-1, 0];
    data.ports.peer_port = vec![-1, 1];
    data.ports.endpoint = vec![0, -1];
    data.ports.bandwidth = vec![100_000_000_000; 2];
    data.ports.latency_ps = vec![5_000, 100_000];
    data.ports.bytes = vec![500, 0];
    data.ports.packets = vec![10, 0];
    data.ports.busy_ps = vec![400_000, 2_000_000];
    data.ports.stalled_ps = vec![0, 1_000_000];
    data.ports.idle_ps = vec![3_600_000, 1_000_000];
    data.ports.peak_occupancy_bytes = vec![7, 9];
    data
}

#[test]
fn shares_of_ports_and_of_ejection_channels() {
    let values = read(
        &series(),
        &[
            "ports.terminal.busy_share",
            "ports.global.stalled_share",
            "ports.all.idle_share",
            "ports.all.bytes",
            "ports.all.peak_occupancy",
            "ejection.data",
            "ejection.control",
            "ejection.data @ 1 us..3 us",
            "series.class.control.ejected_flits.sum",
        ],
    );
    let expected = [0.1, 0.25, 4.6 / 8.0, 500.0, 9.0, 0.075, 0.025, 0.15, 10.0];
    for (value, expected) in values.iter().zip(expected) {
        let value = value.expect("a value");
        assert!(
            (value - expected).abs() < 1e-12,
            "{value} instead of {expected}"
        );
    }
    assert_eq!(read(&series(), &["ejection.bulk"]), [None]);
}

#[test]
fn what_a_scheme_records() {
    let mut data = Data::default();
    data.scheme.counters = vec![("marks".into(), 12)];
    let column = |name: &str, values| SchemeColumn {
        name: name.into(),
        values,
        ..SchemeColumn::default()
    };
    data.scheme.records = vec![SchemeRecord {
        name: "cuts".into(),
        columns: vec![
            column("time_ps", vec![1, 2, 7]),
            column("rate", vec![5, 3, 4]),
        ],
        ..SchemeRecord::default()
    }];
    let values = read(
        &data,
        &[
            "scheme.marks",
            "scheme.cuts.rate.min",
            "scheme.cuts.rate.last",
            "scheme.drops",
            "scheme.cuts.rate",
            "scheme.cuts.price.last",
        ],
    );
    assert_eq!(
        values,
        [Some(12.0), Some(3.0), Some(4.0), None, None, None,]
    );
}

#[test]
fn what_endpoints_receive() {
    // In bin i endpoints 0, 1 and 17 receive 5 i, 3 i and i bytes.
    let values = read(
        &sample::data(),
        &[
            "series.endpoint.17.delivered_bytes.last",
            "series.endpoint.0-1.delivered_bytes.mean @ 10 us..12 us",
            "series.endpoint.0-1.delivered_bytes.variation @ 10 us..12 us",
            "series.endpoint.0-1.delivered_bytes.fairness",
            "series.endpoint.0-17.delivered_bytes.mean",
        ],
    );
    // 80 and 88; 8² / (2 · (5² + 3²)); not all of 0 to 17 are recorded.
    let expected = [99.0, 84.0, 4.0 / 84.0, 64.0 / 68.0];
    for (value, expected) in values.iter().zip(expected) {
        let value = value.expect("a value");
        assert!(
            (value - expected).abs() < 1e-12,
            "{value} instead of {expected}"
        );
    }
    assert_eq!(values[4], None);
}

#[test]
fn allowed_rates_of_one_and_of_all() {
    let values = read(
        &sample::data(),
        &[
            "rates.min",
            "rates.17.min",
            "rates.aggressor-1.1.mean",
            "rates.aggressor-1.1.last @ 0 us..1 us",
            "rates.aggressor-1.1.first_below_10",
            "rates.aggressor-1.1.last_below_50",
            "rates.first_below_1",
            "rates.aggressor-1.0.min",
            "rates.5.min",
        ],
    );
    let expected = [
        Some(0.01),
        Some(0.5),
        Some(0.42),
        Some(0.01),
        Some(500.0),
        Some(1000.0),
        None,
        None,
        None,
    ];
    assert_eq!(values, expected);
    assert_eq!(metric("rates.17.first_below_50").unit(), "ns");
    assert_eq!(metric("rates.17.min").unit(), "");
}

#[test]
fn iterations_of_one_job_and_of_several() {
    let values = read(
        &sample::data(),
        &[
            "iterations.stencil.0.begin",
            "iterations.stencil.0.end",
            "iterations.stencil.0.time",
            "iterations.stencil.1.begin",
            "iterations.stencil.1.end",
            "iterations.stencil.2.begin",
            "iterations.*.0.begin",
            "iterations.*.0.end",
            "iterations.*.0.begin.max",
        ],
    );
    let expected = [
        Some(1.0),
        Some(45_000.0),
        Some(44_999.0),
        Some(40_000.0),
        None,
        None,
        Some(1.0),
        None,
        Some(2.0),
    ];
    assert_eq!(values, expected, "what was not ended has no end");
    assert_eq!(metric("iterations.*.0.time").unit(), "ns");
}

#[test]
fn several_jobs_are_one_number() {
    let data = sample::data();
    let values = read(
        &data,
        &[
            "jobs.*.finish.max",
            "jobs.*.finish.min",
            "jobs.st*.tasks.sum",
            "jobs.*.accepted_load.mean",
        ],
    );
    let finishes = data.jobs.iter().map(|job| job.finish() as f64 / 1e3);
    let expected = [
        finishes.clone().reduce(f64::max),
        finishes.reduce(f64::min),
        Some(5.0),
        Some(0.375),
    ];
    assert_eq!(values, expected);
    let metric = Metric::parse("jobs.nobody-*.tasks.sum", &["nobody-0".to_string()]).expect("good");
    let folder = tempfile::tempdir().expect("a directory");
    let path = folder.path().join("result.h5");
    write(&path, &data, &Run::default(), "", 1).expect("writes");
    let result = ResultFile::open(&path).expect("opens");
    assert_eq!(
        metric.read(&result).expect("reads"),
        None,
        "none of them ran"
    );
}

#[test]
fn a_column_over_the_number_of_tasks() {
    let mut data = series();
    data.jobs = sample::data().jobs;
    let column = "series.job.stencil.delivered_bytes_per_task";
    let names = ["max", "sum", "sum @ 1 us..3 us", "variation @ 0 us..2 us"];
    let names = names.map(|how| format!("{column}.{how}"));
    let names: Vec<&str> = names.iter().map(String::as_str).collect();
    // 5 tasks; 10 and 20 bytes vary by a third, whatever they are divided by.
    let expected = [8.0, 20.0, 10.0, 1.0 / 3.0];
    assert_eq!(read(&data, &names), expected.map(Some));
}

#[test]
fn ports_that_were_stalled_for_long() {
    let values = read(
        &series(),
        &[
            "ports.all.stalled_beyond_24",
            "ports.all.stalled_beyond_25",
            "ports.fabric.stalled_beyond_24",
            "ports.fabric.busy_share",
            "ports.terminal.stalled_beyond_0",
        ],
    );
    let expected = [0.5, 0.0, 1.0, 0.5, 0.0];
    assert_eq!(values, expected.map(Some));
}

#[test]
fn what_routers_held() {
    // Samples of 4 routers at 0, 10 and 20 ps: 0 to 11 bytes.
    let values = read(
        &sample::data(),
        &[
            "occupancy.max",
            "occupancy.sum",
            "occupancy.p50",
            "occupancy.p90",
            "occupancy.mean @ 10 ps..20 ps",
            "occupancy.p50 @ 20 ps..30 ps",
            "occupancy.max @ 1 us..2 us",
        ],
    );
    let expected = [
        Some(11.0),
        Some(66.0),
        Some(5.0),
        Some(10.0),
        Some(5.5),
        Some(9.0),
        None,
    ];
    assert_eq!(values, expected);
}

#[test]
fn names_that_are_no_metric_are_refused_with_the_nearest() {
    for (name, words) in [
        ("sumary.accepted_load", "did you mean `summary`"),
        ("summary", "names there"),
        ("latency.message", "classes"),
        ("latency.message.p95", "`p90`"),
        ("latency.job.stencli.message.mean", "did you mean `stencil`"),
        ("jobs.stencil.comunication", "did you mean `communication`"),
        ("series.job.stencil.delivered_bytes", "ends"),
        (
            "series.job.stencil.delivered.max",
            "did you mean `delivered_bytes`",
        ),
        ("series.job.stencil.message_latency.sum", "mean, max"),
        ("series.time_ps.max", "class.<name>.ejected_flits"),
        ("series.endpoint.9-3.delivered_bytes.max", "endpoint.0-30."),
        ("series.endpoint.3.injected_bytes.max", "endpoint.0-30."),
        ("ports.Global.busy_share", "a kind of links of the network"),
        ("ports.global.busy", "did you mean `busy_share`"),
        (
            "summary.accepted_load @ 1 us..2 us",
            "only `series`, `ejection`, `occupancy`, `rates` and `settled`",
        ),
        ("ejection.data @ 1 us", "write two times"),
        ("ejection.data @ 2 us..1 us", "write two times"),
        ("ejection.data @ 1 parsec..2 us", "write two times"),
        ("scheme", "docs/job-file.md"),
        ("jobs.st*.communication", "max"),
        ("jobs.stencil.task_communication.p99", "`max`"),
        ("jobs.sten-*.communication.max", "did you mean `stencil`"),
        ("latency.job.st*.network.mean", "name one"),
        ("iterations.stencil.first.time", "iterations.halo.2.time"),
        ("iterations.stencil.0.duration", "`time`"),
        ("iterations.stencil.0.time.last", "`mean`"),
        ("rates.stencil.0.sum", "`first_below_50`"),
        ("rates.stencil.x.min", "rates.17.min"),
        ("rates.stencli.0.min", "did you mean `stencil`"),
        ("rates.0.first_below_0", "from 1 to 100"),
        ("occupancy.p95", "`p90`"),
        ("settled.stencli", "did you mean `stencil`"),
        ("ports.local.stalled_beyond_100", "`stalled_beyond_10`"),
    ] {
        let error = Metric::parse(name, &jobs()).expect_err(name);
        assert!(error.remedy.contains(words), "{name}: {error:?}");
    }
    assert_eq!(
        metric("ejection.data@1us .. 2 us").name(),
        "ejection.data @ 1 us..2 us",
        "one form"
    );
}
