//! Notes about remarkable facts of a run that its other numbers may hide.
//! Examples are a job that came to a standstill, latencies of a few that arrived out of many, and
//! packets that are dropped and not delivered. They are plain data, made from the result.

use crate::config::{Experiment, WorkloadConfig};
use weir_congestion::{Act, Acts};
use weir_input::Duration;
use weir_model::Time;
use weir_result::{Data, Job, JobSeries, Latency, Note, Stats, Timeline};
use weir_workload::tasks::Mpi;

/// A job came to a standstill if it delivered less than one part in this number of the capacity of
/// its endpoints' links …
const STANDSTILL_LOAD: u128 = 100;
/// … and more than this number of messages were missing for each one that it received.
const STANDSTILL_MESSAGES: u64 = 100;
/// Samples are noted if more than one in this number is missing …
const MISSING_SHARE: u64 = 10;
/// … and at least this number are.
const MISSING_LEAST: u64 = 10;
/// Drops are noted if there are more than this number for each data packet that is delivered.
const DROPS: u64 = 10;

/// Everything remarkable about a result, job by job, then about the whole run. `awaited`: the
/// applications that are not in the background.
pub fn notes(data: &Data, awaited: &[&str]) -> Vec<Note> {
    let mut notes = Vec::new();
    for (job, (_, series)) in data.jobs.iter().zip(&data.series.jobs) {
        notes.extend(unfinished(job).filter(|_| awaited.contains(&job.name.as_str())));
        let kinds = ["message", "network"].map(|kind| class(data, &job.name, kind));
        if let [Some(messages), Some(packets)] = kinds {
            notes.extend(standstill(data, job, series, messages));
            notes.extend(missing(job, messages, packets));
        }
    }
    notes.extend(drops(data));
    notes.extend(data.timeline.iter().flat_map(cut_timelines));
    notes
}

/// Notes on each application that replays a trace: the content of the trace, and the part of it
/// that is simulated.
pub fn traces(experiment: &Experiment) -> Vec<Note> {
    let enabled = experiment.workloads.iter().filter(|one| one.enabled);
    let note = |workload: &WorkloadConfig| {
        let job = workload.job()?;
        let trace = job.program.trace()?;
        let mut text = format!(
            "\"{}\" replays {}: {}",
            workload.name, trace.name, trace.coverage
        );
        let mut numbers = trace.coverage.numbers();
        // Errors in it were reported when the job was made.
        let mpi: Mpi = job.mpi.parse().unwrap_or_default();
        let used = trace.algorithms(&mpi.algorithms());
        for (one, at) in used.iter().zip(0..) {
            let lead = if at == 0 { "; in collectives " } else { ", " };
            text += &format!("{lead}{one}");
            let name = format!("{}_of_{}_by_{}", one.operation, one.tasks, one.algorithm);
            numbers.push((name, one.count));
        }
        Some(Note {
            kind: "trace".into(),
            job: Some(workload.name.clone()),
            text,
            numbers,
        })
    };
    enabled.filter_map(note).collect()
}

fn class<'a>(data: &'a Data, job: &str, kind: &str) -> Option<&'a Latency> {
    let name = format!("job.{job}.{kind}");
    let (_, latency) = data.latency.iter().find(|(class, _)| *class == name)?;
    Some(latency)
}

fn note(kind: &str, job: Option<&Job>, text: String, numbers: &[(&str, u64)]) -> Note {
    Note {
        kind: kind.into(),
        job: job.map(|job| job.name.clone()),
        text,
        numbers: (numbers.iter())
            .map(|&(name, value)| (name.to_string(), value))
            .collect(),
    }
}

/// The job received next to nothing in the second half of its measurement window while messages
/// from the first half were waiting. The half begins with the bin of the time series that its first
/// moment is in.
fn standstill(data: &Data, job: &Job, series: &JobSeries, messages: &Latency) -> Option<Note> {
    let (summary, bin) = (&data.summary, data.series.bin_ps);
    let (from, to) = (job.totals.on_from_ps, summary.measured_to_ps);
    let middle = from + to.saturating_sub(from) / 2;
    let bins = usize::try_from(middle / bin).ok()?..usize::try_from(to.div_ceil(bin)).ok()?;
    let sum = |series: &[u64]| Some(series.get(bins.clone())?.iter().sum::<u64>());
    let (bytes, received) = (sum(&series.delivered_bytes)?, sum(&series.messages)?);
    // A bandwidth times a time is more than 64 bits hold.
    let links = job.totals.senders.min(job.totals.receivers);
    let links = u128::from(summary.endpoint_bandwidth) * u128::from(links);
    let capacity = links * u128::from(to.saturating_sub(middle)) / 1_000_000_000_000;
    let idle = u128::from(bytes) * 8 * STANDSTILL_LOAD < capacity;
    let age = summary.simulated_ps.saturating_sub(middle);
    let old = messages.missing.rows().any(|(lower, _)| lower >= age);
    let missing = messages.missing.samples();
    let waiting = missing > received.saturating_mul(STANDSTILL_MESSAGES);
    (idle && old && waiting).then(|| {
        let name = &job.name;
        let text = format!(
            "{name} came to a standstill: in the second half of the measurement window {received} \
             of its messages were received, and {missing} were waiting when the run ended"
        );
        let numbers = [("received", received), ("missing", missing)];
        note("standstill", Some(job), text, &numbers)
    })
}

/// The run ended before the application did.
fn unfinished(job: &Job) -> Option<Note> {
    job.is_cut_off().then(|| {
        let (name, all) = (&job.name, job.tasks.task_finish_ps.len());
        let finishes = job.tasks.task_finish_ps.iter();
        let left = finishes.filter(|finish| **finish == 0).count();
        let text = format!(
            "{name} was not over when the run ended: {left} of its {all} tasks were not done, so \
             its finish and its communication time are lower bounds"
        );
        let numbers = [("tasks_unfinished", left as u64), ("tasks", all as u64)];
        note("unfinished", Some(job), text, &numbers)
    })
}

/// True if a share of all samples is missing that leaves the others with little meaning.
pub fn is_much(missing: u64, all: u64) -> bool {
    missing >= MISSING_LEAST && missing.saturating_mul(MISSING_SHARE) > all
}

/// Many samples of a job's latencies are missing.
fn missing(job: &Job, messages: &Latency, packets: &Latency) -> Option<Note> {
    let [messages, packets] = [messages, packets].map(Stats::of);
    let many = |stats: &Stats| is_much(stats.missing, stats.all());
    let mut parts = Vec::new();
    for (stats, what) in [
        (&messages, "messages generated"),
        (&packets, "packets injected"),
    ] {
        if many(stats) {
            let (missing, all) = (stats.missing, stats.all());
            parts.push(format!("{missing} of {all} {what}"));
        }
    }
    (!parts.is_empty()).then(|| {
        let text = format!(
            "of {}, {} in the measurement window had not arrived when the run ended: its latencies \
             count them with their ages (\">=\"), or are of the others",
            job.name,
            parts.join(" and ")
        );
        let numbers = [
            ("messages_missing", messages.missing),
            ("messages_received", messages.samples),
            ("packets_missing", packets.missing),
            ("packets_delivered", packets.samples),
        ];
        note("missing", Some(job), text, &numbers)
    })
}

/// The scheme noticed nothing, or noticed something and did nothing about it.
pub fn inaction(acts: &Acts, data: &Data) -> Option<Note> {
    let own = &data.scheme;
    let count = |act: &Act| -> u64 {
        let counters = own.counters.iter();
        let counted = counters.filter(|(name, _)| act.counters.contains(&name.as_str()));
        counted.fold(0, |sum, (_, count)| sum.saturating_add(*count))
    };
    let [noticed, responded] = [&acts.notices, &acts.responds].map(count);
    let name = &own.name;
    let text = match (noticed, responded) {
        (0, 0) => {
            let Act { did, parameter, .. } = acts.notices;
            format!(
                "{name} did nothing: it never {did}; if the network was congested, look at \
                 congestion.{parameter} (`weir check` says what it comes to)"
            )
        }
        (_, 0) => {
            let Act { did, parameter, .. } = acts.responds;
            format!(
                "{name} noticed congestion {noticed} times and never {did}: look at \
                 congestion.{parameter} (`weir check` says what it comes to)"
            )
        }
        _ => return None,
    };
    let numbers = [("noticed", noticed), ("responded", responded)];
    Some(note("scheme_idle", None, text, &numbers))
}

/// There were more intervals than a timeline keeps.
fn cut_timelines(timeline: &Timeline) -> Vec<Note> {
    let own = &timeline.numbers;
    let parts = [
        ("tasks", own.tasks_left_out, own.tasks_until_ps),
        ("links", own.links_left_out, own.links_until_ps),
    ];
    let cut = parts.into_iter().filter(|(_, left_out, _)| *left_out > 0);
    let note = |(what, left_out, until): (&str, u64, Time)| {
        let text = format!(
            "the timeline of {what} is whole until {}; {left_out} later intervals were left out: \
             set output.timeline.from and to, or choose fewer {what}",
            Duration(until)
        );
        let numbers = [("left_out", left_out), ("until_ps", until)];
        note("timeline_cut", None, text, &numbers)
    };
    cut.map(note).collect()
}

/// Packets are lost because links are down: on these links, and at routers without a way to their
/// destination.
pub fn losses([lost, cut_off]: [u64; 2]) -> Option<Note> {
    (lost + cut_off > 0).then(|| {
        let text = format!(
            "{lost} packets were lost on links that were down, and {cut_off} at routers without a \
             way to their destination"
        );
        let numbers = [("lost", lost), ("cut_off", cut_off)];
        note("lost_packets", None, text, &numbers)
    })
}

/// Packets are dropped far more often than they are delivered.
fn drops(data: &Data) -> Option<Note> {
    let dropped = data.summary.packets_dropped;
    let jobs = data.series.jobs.iter();
    let delivered = jobs.flat_map(|(_, job)| &job.packets).sum::<u64>();
    (dropped > delivered.saturating_mul(DROPS)).then(|| {
        let text = format!(
            "data packets were dropped far more often than delivered: {dropped} times, and \
             {delivered} were delivered"
        );
        let numbers = [("dropped", dropped), ("delivered", delivered)];
        note("drops", None, text, &numbers)
    })
}
