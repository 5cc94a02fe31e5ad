//! Runs that have settled, and jobs that have not.

use super::metrics::read;
use weir_result::{Data, Job, JobSeries};

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
