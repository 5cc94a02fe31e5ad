//! The summary of a run: a table for people. The JSON object for programs: [`json()`](json::json).

pub mod json;

use super::format::{
    bytes, common_unit, in_unit, inside_nodes, measured, percent, protocol, scaled, shorten,
    simulated, wall, whole, wrap,
};
use super::parameters;
use weir_result::schema::BY_ARRIVAL;
use weir_result::{Digest, Job, Run, Shape, Stats, Summary};

/// Widest line.
const WIDTH: usize = 80;
/// Column where values start.
const LABEL: usize = 12;
/// Widest name of a latency class.
const NAME: usize = 12;
/// Widest name of a job.
const JOB: usize = 18;
/// Text below the loads of jobs.
const ABOUT_LOADS: &str = "(offered: of its senders' links, accepted: of its receivers' links, \
                           while the job is on in the measured time; each task of an \
                           application is both)";

/// A summary of plain text, in lines of at most 80 characters, with a newline at the end.
///
/// `topology` is one line on the simulated network (`weir_network::topology::Topology::describe`);
/// empty for none. `digest` comes from [`weir_result::Data::digest`] or from a file.
/// `experiment` is the resolved experiment.
pub fn table(topology: &str, experiment: &str, digest: &Digest, run: &Run) -> String {
    let mut lines = Vec::new();
    if !topology.is_empty() {
        lines.extend(wrap(topology, WIDTH, "  "));
    }
    let applications = parameters::applications(experiment);
    totals(&mut lines, &digest.summary);
    scheme(&mut lines, digest);
    latencies(&mut lines, digest);
    missing(&mut lines, digest);
    if digest.jobs.len() > 1 {
        jobs(&mut lines, digest);
    }
    communication(&mut lines, digest, &applications);
    cost(&mut lines, digest);
    phases(&mut lines, digest);
    notes(&mut lines, digest);
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
            "{}, {}",
            simulated(summary.simulated_ps),
            measured(summary.measured_from_ps, summary.measured_to_ps, simulated)
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
            "{} generated, {} received{}; {} of payload delivered{}",
            whole(summary.messages_generated),
            whole(summary.messages_received),
            protocol(summary),
            bytes(summary.bytes_delivered),
            inside_nodes(summary)
        ),
    );
    labelled(
        lines,
        "load",
        &format!(
            "{} offered, {} accepted, of the links of all endpoints",
            percent(summary.offered_load),
            percent(summary.accepted_load)
        ),
    );
}

/// Actions of the congestion-control scheme: its counters except those of sent packets.
fn scheme(lines: &mut Vec<String>, digest: &Digest) {
    let (name, counters) = &digest.scheme;
    let acts = counters
        .iter()
        .filter(|(name, _)| !name.starts_with("packets_"));
    let acts: Vec<String> = acts
        .map(|(name, count)| match name.strip_suffix("_ps") {
            Some(name) => format!("{} {}", name.replace('_', " "), simulated(*count)),
            None => format!("{} {}", name.replace('_', " "), whole(*count)),
        })
        .collect();
    if !acts.is_empty() {
        labelled(lines, "scheme", &format!("{name}: {}", acts.join(", ")));
    }
}

/// Cost of the routers' buffers.
fn cost(lines: &mut Vec<String>, digest: &Digest) {
    if let Some(cost) = &digest.cost {
        let text = format!(
            "{} of router buffers, {:.4} mm2; {} accesses, {:.4} mJ",
            bytes(cost.buffer_bytes),
            cost.area_mm2,
            scaled(cost.accesses as f64),
            cost.energy_nj * 1e-6,
        );
        labelled(lines, "cost", &text);
    }
}

/// A number of all samples: a lower bound if it depends on the missing ones.
fn of_all(stats: &Stats, number: fn(&Shape) -> f64, unit_ps: f64) -> String {
    let (ps, known) = stats.known(number);
    let text = in_unit(ps, unit_ps);
    match known {
        true => text,
        false => format!(">={text}"),
    }
}

/// Samples in full if they fit their column.
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
    let largest = classes.iter().map(|(_, stats)| stats.at_least.max_ps).max();
    let (unit, unit_ps) = common_unit(largest.unwrap_or(0));
    lines.push(String::new());
    let head = format!("latency ({unit})");
    let [mean, p50, p99, p999, max] = ["mean", "p50", "p99", "p99.9", "max"];
    lines.push(format!(
        "{head:<NAME$}{:>13}{mean:>11}{p50:>11}{p99:>11}{p999:>11}{max:>11}",
        "samples"
    ));
    for (class, stats) in classes {
        let text = |number| of_all(stats, number, unit_ps);
        let (mean, p50) = (text(|shape| shape.mean_ps), text(|shape| shape.p50_ps));
        let (p99, p999) = (text(|shape| shape.p99_ps), text(|shape| shape.p999_ps));
        let max = match stats.all() {
            0 => "-".to_string(),
            _ => text(|shape| shape.max_ps as f64),
        };
        let name = match class.ends_with(BY_ARRIVAL) {
            true => "  by arrival",
            false => class,
        };
        lines.push(format!(
            "{:<NAME$}{:>13}{mean:>11}{p50:>11}{p99:>11}{p999:>11}{max:>11}",
            shorten(name, NAME),
            count(stats.samples)
        ));
    }
}

/// Explanation of ">=" in the table of latencies.
fn missing(lines: &mut Vec<String>, digest: &Digest) {
    let parts = [("message", "messages"), ("network", "packets")].map(|(class, what)| {
        let stats = digest.class(class).filter(|stats| stats.missing > 0)?;
        Some(format!(
            "{} of {} {what}",
            whole(stats.missing),
            whole(stats.all())
        ))
    });
    let parts: Vec<String> = parts.into_iter().flatten().collect();
    if !parts.is_empty() {
        let text = format!(
            "{} of the measurement window had not arrived at the end; \">=\" counts each with its \
             age then",
            parts.join(" and ")
        );
        labelled(lines, "missing", &text);
    }
}

/// Number of phases that are shown.
const PHASES: usize = 8;

/// Time of each phase, beside the least that it could take for the paths that its flows took.
fn phases(lines: &mut Vec<String>, digest: &Digest) {
    let phases = &digest.phases;
    if !phases.job.is_empty() {
        lines.push(String::new());
    }
    for row in 0..phases.job.len().min(PHASES) {
        let job = digest.jobs.get(phases.job[row] as usize);
        let time = match phases.end_ps[row] {
            0 => "not over".to_string(),
            end => format!(
                "in {}, {:.4} of the optimum for their ways",
                simulated(end.saturating_sub(phases.begin_ps[row])),
                phases.stretch[row]
            ),
        };
        let text = format!(
            "{} {}: {} flows {time} ({}); up to {} flows on a link",
            job.map_or("?", |job| &job.name),
            phases.phase[row],
            whole(phases.flows[row]),
            simulated(phases.optimum_ps[row]),
            phases.contention[row],
        );
        labelled(lines, "phase", &text);
    }
    let more = phases.job.len().saturating_sub(PHASES);
    if more > 0 {
        labelled(lines, "", &format!("and {more} more, in --json"));
    }
}

/// Number of notes that are shown.
const NOTES: usize = 8;

fn notes(lines: &mut Vec<String>, digest: &Digest) {
    if digest.notes.is_empty() {
        return;
    }
    lines.push(String::new());
    for note in digest.notes.iter().take(NOTES) {
        let label = match note.kind.as_str() {
            own @ ("trace" | "fork") => own,
            _ => "warning",
        };
        labelled(lines, label, &note.text);
    }
    let more = digest.notes.len().saturating_sub(NOTES);
    if more > 0 {
        labelled(lines, "", &format!("and {more} more, in --json"));
    }
}

/// The message latency of a job, or the network latency if it has no messages.
fn job_latency<'a>(digest: &'a Digest, job: &Job) -> Option<&'a Stats> {
    let kinds = ["message", "network"].iter();
    let mut stats = kinds.filter_map(|kind| digest.class(&format!("job.{}.{kind}", job.name)));
    stats.find(|stats| stats.all() > 0)
}

fn jobs(lines: &mut Vec<String>, digest: &Digest) {
    let latency: Vec<_> = digest
        .jobs
        .iter()
        .map(|job| job_latency(digest, job))
        .collect();
    let largest = latency.iter().flatten();
    let largest = largest.map(|stats| stats.at_least.max_ps).max();
    let (unit, unit_ps) = common_unit(largest.unwrap_or(0));
    lines.push(String::new());
    let [mean, p99] = ["latency", "p99"].map(|what| format!("{what} ({unit})"));
    lines.push(format!(
        "{:<JOB$}{:>7}{:>10}{:>10}{:>10}{mean:>13}{p99:>12}",
        "job", "tasks", "offered", "accepted", "finish"
    ));
    let short: Vec<String> = (digest.jobs.iter())
        .map(|job| shorten(&job.name, JOB))
        .collect();
    for ((job, stats), name) in digest.jobs.iter().zip(latency).zip(&short) {
        // Of two that would look the same the whole names.
        let alike = short.iter().filter(|other| *other == name).count() > 1;
        if alike {
            lines.push(shorten(&job.name, WIDTH));
        }
        let name = if alike { "" } else { name };
        let value = |number| stats.map_or("-".into(), |stats| of_all(stats, number, unit_ps));
        let totals = &job.totals;
        let finish = match job.finish() {
            0 => "-".to_string(),
            ps => bound(job, simulated(ps)),
        };
        lines.push(format!(
            "{name:<JOB$}{:>7}{:>10}{:>10}{finish:>10}{:>13}{:>12}",
            totals.tasks,
            percent(totals.offered_load),
            percent(totals.accepted_load),
            value(|shape| shape.mean_ps),
            value(|shape| shape.p99_ps),
        ));
    }
    lines.extend(wrap(ABOUT_LOADS, WIDTH, "  "));
}

/// A time of a job, marked if it is a lower bound.
pub(super) fn bound(job: &Job, time: String) -> String {
    match job.is_cut_off() {
        true => format!(">{time}"),
        false => time,
    }
}

/// Number of applications that are shown.
const APPLICATIONS: usize = 8;

/// Communication time of applications: the largest of their tasks.
/// It has a separate line because the table of jobs has no room.
fn communication(lines: &mut Vec<String>, digest: &Digest, applications: &[String]) {
    let jobs = digest.jobs.iter();
    let jobs: Vec<String> = jobs
        .filter(|job| applications.contains(&job.name))
        .map(|job| {
            format!(
                "{} {}",
                job.name,
                bound(job, simulated(job.communication()))
            )
        })
        .collect();
    if jobs.is_empty() {
        return;
    }
    let more = match jobs.len().saturating_sub(APPLICATIONS) {
        0 => String::new(),
        more => format!(", and {more} more in --json"),
    };
    let shown = jobs.len().min(APPLICATIONS);
    if digest.jobs.len() == 1 {
        lines.push(String::new());
    }
    labelled(
        lines,
        "comm. time",
        &format!(
            "{}{more} (of a job's slowest task, without computation)",
            jobs[..shown].join(", ")
        ),
    );
}

fn course(lines: &mut Vec<String>, packet_hops: u64, run: &Run) {
    lines.push(String::new());
    let ranks = match run.ranks {
        0 | 1 => "1 rank".to_string(),
        ranks => format!("{ranks} ranks on {}", hosts(run)),
    };
    let threads = match run.threads {
        None | Some(1) => String::new(),
        Some(threads) if run.ranks > 1 => format!(" with {threads} threads each"),
        Some(threads) => format!(", {threads} threads"),
    };
    let (time, memory) = (wall(run.wall_seconds), bytes(run.peak_memory_bytes));
    let text = format!("{time}, {ranks}{threads}, {memory} of memory");
    labelled(lines, "run", &text);
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

#[cfg(test)]
mod tests {
    use super::*;
    use weir_model::Histogram;
    use weir_result::{Data, Latency, sample};

    #[test]
    fn the_table_says_what_happened() {
        let text = table(
            "dragonfly: 33 groups of 8 routers",
            "[[workload]]\nname = \"stencil\"\nmotif = { kind = \"halo2d\" }",
            &sample::data().digest(),
            &sample::run(),
        );
        insta::assert_snapshot!(text);
    }

    #[test]
    fn lines_fit_a_terminal_whatever_the_numbers() {
        let mut data = sample::data();
        data.jobs[0].name = "a_job_with_a_name_that_is_longer_than_its_column".into();
        data.jobs[0].totals.finish_at_least_ps = Some(u64::MAX);
        data.jobs[0].totals.offered_load = 123.456;
        let mut slow = Histogram::default();
        slow.add(u64::MAX / 4);
        let slow = Latency {
            arrived: slow.clone(),
            missing: slow,
        };
        data.latency = vec![
            ("network".into(), slow.clone()),
            (
                "a_class_with_a_very_long_name_indeed".into(),
                Latency::default(),
            ),
            (format!("job.{}.message", data.jobs[0].name), slow),
        ];
        let numbers = &mut data.summary;
        numbers.packets_injected = u64::MAX;
        numbers.packets_delivered = u64::MAX;
        numbers.packet_hops = u64::MAX;
        numbers.simulated_ps = u64::MAX;
        numbers.offered_load = f64::NAN;
        let mut run = sample::run();
        run.stopped = Some("it took longer than max_wall allows ".repeat(4));
        run.events = u64::MAX;
        let topology = "words and ".repeat(20);
        let text = table(&topology, "", &data.digest(), &run);
        for line in text.lines() {
            assert!(line.chars().count() <= WIDTH, "{line}");
        }
        assert!(!text.contains("NaN"), "{text}");
        assert!(text.contains("incomplete"), "{text}");
    }

    #[test]
    fn one_job_needs_no_table_of_jobs() {
        let mut data = sample::data();
        data.jobs.truncate(1);
        data.notes.clear();
        data.phases = None;
        let text = table("", "", &data.digest(), &sample::run());
        assert!(!text.contains("stencil"), "{text}");
        assert!(text.starts_with("simulated"), "{text}");
    }

    #[test]
    fn an_empty_run_has_a_table_too() {
        let text = table("", "", &Data::default().digest(), &Run::default());
        assert!(text.contains("0 injected"), "{text}");
        assert!(!text.contains("latency"), "{text}");
    }

    #[test]
    fn a_table_has_one_unit_of_time() {
        assert_eq!(common_unit(99_999_949), ("ns", 1e3));
        assert_eq!(common_unit(100_000_000), ("us", 1e6));
        assert_eq!(common_unit(u64::MAX), ("s", 1e12));
        for ps in [999u64, 99_999_999, 100_000_000, 99_999_999_999, u64::MAX] {
            let (_, unit) = common_unit(ps);
            assert!(in_unit(ps as f64, unit).len() <= 10, "{ps}");
        }
    }
}
