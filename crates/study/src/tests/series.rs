//! Columns of the time series as one number: over bins, in windows, and whether they have settled.

use super::metrics::{read, series};
use weir_result::{Data, Job, JobSeries};

#[test]
fn columns_of_the_time_series_become_one_number() {
    let column = "series.job.stencil.delivered_bytes";
    let names = [
        "max",
        "min",
        "mean",
        "first",
        "last",
        "sum",
        "sum @ 1 us..3 us",
    ];
    let names: Vec<String> = names.iter().map(|how| format!("{column}.{how}")).collect();
    let names: Vec<&str> = names.iter().map(String::as_str).collect();
    let values = read(&series(), &names);
    let expected = [
        Some(40.0),
        Some(10.0),
        Some(25.0),
        Some(10.0),
        Some(40.0),
        Some(100.0),
        Some(50.0),
    ];
    assert_eq!(values, expected);
    let latency = "series.job.stencil.message_latency";
    let names = [
        "mean",
        "max",
        "min",
        "last",
        "mean @ 0 us..2 us",
        "mean @ 2 us..4 us",
        "mean @ 1 us..2 us",
    ];
    let names: Vec<String> = names.iter().map(|how| format!("{latency}.{how}")).collect();
    let names: Vec<&str> = names.iter().map(String::as_str).collect();
    let values = read(&series(), &names);
    let expected = [
        Some(225.0),
        Some(400.0),
        Some(100.0),
        Some(400.0),
        Some(100.0),
        Some(800.0 / 3.0),
        None,
    ];
    assert_eq!(values, expected, "messages, not bins, are averaged");
}

#[test]
fn nothing_comes_after_the_end_of_all_jobs() {
    // The run ends at 4 us: 30 and 40 bytes, then four bins without any.
    let columns = [
        ("delivered_bytes.mean @ 2 us..8 us", Some(70.0 / 6.0)),
        ("delivered_bytes.sum @ 2 us..8 us", Some(70.0)),
        ("delivered_bytes.max @ 2 us..8 us", Some(40.0)),
        ("delivered_bytes.min @ 2 us..8 us", Some(0.0)),
        ("delivered_bytes.last @ 2 us..8 us", Some(0.0)),
        ("delivered_bytes.max @ 9 us..10 us", Some(0.0)),
        ("delivered_bytes.mean @ 9 us..10 us", Some(0.0)),
        // Two bins with more than the 20 bytes before, and two empty ones.
        ("delivered_bytes.effectiveness @ 2 us..6 us", Some(0.5)),
        ("delivered_bytes.recovery_90 @ 2 us..6 us", None),
        ("message_latency.mean @ 2 us..8 us", Some(800.0 / 3.0)),
        ("message_latency.mean @ 9 us..10 us", None),
    ];
    let names: Vec<String> = columns
        .iter()
        .map(|(column, _)| format!("series.job.stencil.{column}"))
        .chain(["ejection.data @ 2 us..6 us".to_string()])
        .collect();
    let names: Vec<&str> = names.iter().map(String::as_str).collect();
    let values = read(&series(), &names);
    let expected = columns.iter().map(|(_, value)| *value);
    // 20 flits of 10 ns in 4 us.
    assert_eq!(values, expected.chain([Some(0.05)]).collect::<Vec<_>>());

    // Twice 35, and twice nothing: as far from the mean as the mean from 0.
    let mut level = series();
    level.series.jobs[0].1.delivered_bytes = vec![0, 0, 35, 35];
    let variation = "series.job.stencil.delivered_bytes.variation @ 2 us..6 us";
    assert_eq!(read(&level, &[variation]), [Some(1.0)]);
}

#[test]
fn a_bin_that_the_end_cuts_off_is_no_whole_one() {
    // The run ends at 3.5 us, in the middle of the last bin.
    let mut data = series();
    data.summary.simulated_ps = 3_500_000;
    let mut job = Job {
        name: "stencil".into(),
        ..Job::default()
    };
    job.totals.over = Some(false);
    data.jobs = vec![job];
    let columns = [
        ("delivered_bytes.min", Some(10.0)),
        ("delivered_bytes.max", Some(30.0)),
        ("delivered_bytes.last", Some(30.0)),
        ("delivered_bytes.mean", Some(20.0)),
        ("delivered_bytes.sum", Some(100.0)),
        // 30 of 20 before the window are not more than all of it.
        ("delivered_bytes.effectiveness @ 2 us..3500 ns", Some(1.0)),
        ("delivered_bytes.recovery_90 @ 2 us..3500 ns", Some(0.0)),
        ("message_latency.mean", Some(225.0)),
    ];
    let names: Vec<String> = columns
        .iter()
        .map(|(column, _)| format!("series.job.stencil.{column}"))
        .chain(["ejection.data @ 2 us..3500 ns".to_string()])
        .collect();
    let names: Vec<&str> = names.iter().map(String::as_str).collect();
    let values = read(&data, &names);
    let expected = columns.iter().map(|(_, value)| *value);
    // 20 flits of 10 ns in 1.5 us.
    let ejected = 200.0 / 1500.0;
    assert_eq!(values[..8], expected.collect::<Vec<_>>());
    assert!(
        (values[8].expect("measured") - ejected).abs() < 1e-12,
        "{values:?}"
    );
}

/// Ten bins of 1 us, the last of which is cut: one job levels off, another falls and is over.
#[test]
fn a_run_has_settled_if_its_jobs_have_that_are_not_over() {
    let mut data = Data::default();
    data.summary.simulated_ps = 9_500_000;
    (data.series.bin_ps, data.series.bins) = (1_000_000, 10);
    let bins = |delivered: [u64; 10]| JobSeries {
        injected_bytes: vec![0; 10],
        delivered_bytes: delivered.to_vec(),
        messages: vec![0; 10],
        message_latency_ps: vec![0; 10],
        packets: vec![0; 10],
        network_latency_ps: vec![0; 10],
    };
    let level = bins([0, 3, 5, 9, 11, 10, 10, 9, 11, 4]);
    let falls = bins([9, 9, 9, 9, 9, 9, 1, 1, 1, 0]);
    data.series.jobs = vec![("stencil".into(), level), ("aggressor-1".into(), falls)];
    data.jobs = [("stencil", false), ("aggressor-1", true)]
        .map(|(name, over)| {
            let mut job = Job {
                name: name.into(),
                ..Job::default()
            };
            job.totals.over = Some(over);
            job
        })
        .to_vec();
    let names = [
        "settled",
        "settled.stencil",
        "settled.aggressor-1",
        "settled @ 0 us..6 us",
    ];
    let values = read(&data, &names);
    assert_eq!(values, [Some(1.0), Some(1.0), Some(0.0), None]);
    data.jobs[0].totals.over = Some(true);
    assert_eq!(read(&data, &names[..1]), [None]);
}
