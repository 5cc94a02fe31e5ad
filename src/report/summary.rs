//! The summary of a run: a table for people, a JSON object for programs.

use serde_json::{Map, Value, json};

use super::format::{bytes, percent, scaled, shorten, simulated, wall, whole, wrap};
use crate::trace::{Digest, JobTotals, Run, Stats, Summary};

/// Widest line.
const WIDTH: usize = 80;
/// Where values start.
const LABEL: usize = 12;
/// Widest name of a job or class.
const NAME: usize = 20;

/// A summary of plain text, in lines of at most 80 characters, with a newline at the end.
///
/// `topology` is one line that says what was simulated ([`crate::topology::Topology::describe`]); empty for none.
/// `digest` comes from [`crate::trace::Data::digest`] or from a file.
pub fn table(topology: &str, digest: &Digest, run: &Run) -> String {
    let mut lines = Vec::new();
    if !topology.is_empty() {
        lines.extend(wrap(topology, WIDTH, "  "));
    }
    totals(&mut lines, &digest.summary);
    latencies(&mut lines, digest);
    if digest.jobs.len() > 1 {
        jobs(&mut lines, digest);
    }
    course(&mut lines, digest.summary.packet_hops, run);
    lines.push(String::new());
    lines.join("\n")
}

fn labelled(lines: &mut Vec<String>, label: &str, text: &str) {
    for (place, line) in wrap(text, WIDTH - LABEL, "").iter().enumerate() {
        let label = if place == 0 { label } else { "" };
        lines.push(format!("{label:<LABEL$}{line}"));
    }
}

fn totals(lines: &mut Vec<String>, summary: &Summary) {
    labelled(
        lines,
        "simulated",
        &format!(
            "{}, measured from {} to {}",
            simulated(summary.simulated_ps),
            simulated(summary.measured_from_ps),
            simulated(summary.measured_to_ps)
        ),
    );
    labelled(
        lines,
        "packets",
        &format!(
            "{} injected, {} delivered, {} in flight, {} dropped",
            whole(summary.packets_injected),
            whole(summary.packets_delivered),
            whole(summary.packets_in_flight),
            whole(summary.packets_dropped)
        ),
    );
    labelled(
        lines,
        "messages",
        &format!(
            "{} generated, {} received; {} of payload delivered",
            whole(summary.messages_generated),
            whole(summary.messages_received),
            bytes(summary.bytes_delivered)
        ),
    );
    labelled(
        lines,
        "load",
        &format!(
            "{} offered, {} accepted",
            percent(summary.offered_load),
            percent(summary.accepted_load)
        ),
    );
}

/// A unit in which the largest of some times still has at most five digits before the point: its name and length in
/// ps. One unit for a whole table makes its numbers comparable.
fn common_unit(largest_ps: u64) -> (&'static str, f64) {
    match largest_ps {
        0..100_000_000 => ("ns", 1e3),
        100_000_000..100_000_000_000 => ("us", 1e6),
        100_000_000_000..100_000_000_000_000 => ("ms", 1e9),
        _ => ("s", 1e12),
    }
}

fn in_unit(ps: f64, unit_ps: f64) -> String {
    if ps.is_finite() {
        format!("{:.1}", ps / unit_ps)
    } else {
        "-".to_string()
    }
}

/// Samples in full where they fit their column.
fn count(samples: u64) -> String {
    let text = whole(samples);
    if text.len() <= 13 {
        text
    } else {
        scaled(samples as f64)
    }
}

/// The classes of the whole network; those of jobs are in their own table or say the same.
fn latencies(lines: &mut Vec<String>, digest: &Digest) {
    let classes = digest.latency.iter();
    let classes: Vec<_> = classes
        .filter(|(class, _)| !class.starts_with("job."))
        .collect();
    if classes.is_empty() {
        return;
    }
    let largest = classes.iter().map(|(_, stats)| stats.max_ps).max();
    let (unit, unit_ps) = common_unit(largest.unwrap_or(0));
    lines.push(String::new());
    let head = format!("latency ({unit})");
    let [mean, p50, p99, p999, max] = ["mean", "p50", "p99", "p99.9", "max"];
    lines.push(format!(
        "{head:<NAME$}{:>14}{mean:>9}{p50:>9}{p99:>9}{p999:>9}{max:>9}",
        "samples"
    ));
    for (class, stats) in classes {
        let [mean, p50, p99, p999] = [stats.mean_ps, stats.p50_ps, stats.p99_ps, stats.p999_ps]
            .map(|ps| in_unit(ps, unit_ps));
        let max = match stats.samples {
            0 => "-".to_string(),
            _ => in_unit(stats.max_ps as f64, unit_ps),
        };
        lines.push(format!(
            "{:<NAME$}{:>14}{mean:>9}{p50:>9}{p99:>9}{p999:>9}{max:>9}",
            shorten(class, NAME),
            count(stats.samples)
        ));
    }
}

/// The message latency of a job, or the network latency if it has no messages.
fn job_latency<'a>(digest: &'a Digest, job: &JobTotals) -> Option<&'a Stats> {
    let kinds = ["message", "network"].iter();
    let mut stats = kinds.filter_map(|kind| digest.class(&format!("job.{}.{kind}", job.name)));
    stats.find(|stats| stats.samples > 0)
}

fn jobs(lines: &mut Vec<String>, digest: &Digest) {
    let latency: Vec<_> = digest
        .jobs
        .iter()
        .map(|job| job_latency(digest, job))
        .collect();
    let largest = latency.iter().flatten().map(|stats| stats.max_ps).max();
    let (unit, unit_ps) = common_unit(largest.unwrap_or(0));
    lines.push(String::new());
    let [mean, p99] = ["mean", "p99"].map(|what| format!("{what} ({unit})"));
    lines.push(format!(
        "{:<NAME$}{:>8}{:>10}{:>10}{:>10}{mean:>11}{p99:>11}",
        "job", "tasks", "offered", "accepted", "finish"
    ));
    for (job, stats) in digest.jobs.iter().zip(latency) {
        let value = |of: fn(&Stats) -> f64| {
            stats.map_or("-".to_string(), |stats| in_unit(of(stats), unit_ps))
        };
        let finish = match job.finish_ps {
            0 => "-".to_string(),
            ps => simulated(ps),
        };
        lines.push(format!(
            "{:<NAME$}{:>8}{:>10}{:>10}{finish:>10}{:>11}{:>11}",
            shorten(&job.name, NAME),
            job.tasks,
            percent(job.offered_load),
            percent(job.accepted_load),
            value(|stats| stats.mean_ps),
            value(|stats| stats.p99_ps),
        ));
    }
}

fn course(lines: &mut Vec<String>, packet_hops: u64, run: &Run) {
    lines.push(String::new());
    let ranks = match run.ranks {
        0 | 1 => "1 rank".to_string(),
        ranks => format!("{ranks} ranks on {}", hosts(run)),
    };
    labelled(
        lines,
        "run",
        &format!(
            "{}, {ranks}, {} of memory",
            wall(run.wall_seconds),
            bytes(run.peak_memory_bytes)
        ),
    );
    labelled(
        lines,
        "speed",
        &format!(
            "{} packet-hops, {}/s; {} events, {}/s",
            whole(packet_hops),
            scaled(run.per_second(packet_hops)),
            whole(run.events),
            scaled(run.per_second(run.events))
        ),
    );
    if let Some(why) = &run.stopped {
        labelled(lines, "incomplete", why);
    }
}

fn hosts(run: &Run) -> String {
    let mut hosts: Vec<_> = run.hosts.iter().collect();
    hosts.sort_unstable();
    hosts.dedup();
    match hosts.len() {
        1 => "1 host".to_string(),
        n => format!("{n} hosts"),
    }
}

/// The summary as one JSON object: `summary`, `jobs` and `latency` as under `/data`, and `complete`.
///
/// It is made of bit-identical values only, so it is the same for any number of ranks. A number that does not exist
/// (the mean of no samples) is null.
pub fn json(digest: &Digest, run: &Run) -> Value {
    let latency = digest.latency.iter();
    let jobs = digest.jobs.iter().enumerate();
    json!({
        "complete": run.stopped.is_none(),
        "summary": summary_json(&digest.summary),
        "jobs": jobs.map(|(index, job)| (job.name.clone(), job_json(index, job))).collect::<Map<_, _>>(),
        "latency": latency.map(|(class, stats)| (class.clone(), stats_json(stats))).collect::<Map<_, _>>(),
    })
}

fn summary_json(summary: &Summary) -> Value {
    json!({
        "simulated_ps": summary.simulated_ps,
        "measured_from_ps": summary.measured_from_ps,
        "measured_to_ps": summary.measured_to_ps,
        "packets_injected": summary.packets_injected,
        "packets_delivered": summary.packets_delivered,
        "packets_dropped": summary.packets_dropped,
        "packets_in_flight": summary.packets_in_flight,
        "messages_generated": summary.messages_generated,
        "messages_received": summary.messages_received,
        "packet_hops": summary.packet_hops,
        "bytes_delivered": summary.bytes_delivered,
        "offered_load": summary.offered_load,
        "accepted_load": summary.accepted_load,
    })
}

fn job_json(index: usize, job: &JobTotals) -> Value {
    json!({
        "index": index,
        "tasks": job.tasks,
        "start_ps": job.start_ps,
        "finish_ps": job.finish_ps,
        "communication_ps": job.communication_ps,
        "bytes_delivered": job.bytes_delivered,
        "offered_load": job.offered_load,
        "accepted_load": job.accepted_load,
    })
}

fn stats_json(stats: &Stats) -> Value {
    json!({
        "samples": stats.samples,
        "mean_ps": stats.mean_ps,
        "p50_ps": stats.p50_ps,
        "p90_ps": stats.p90_ps,
        "p99_ps": stats.p99_ps,
        "p999_ps": stats.p999_ps,
        "max_ps": stats.max_ps,
    })
}
