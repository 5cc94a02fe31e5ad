//! The page of one run.

use std::path::Path;

use super::congestion;
use super::name_of;
use crate::format::{bytes, inside_nodes, percent, protocol, scaled, wall, whole};
use crate::page::{Page, Part, Row, Rows};
use crate::parameters::{self, time};
use crate::summary::bound;
use weir_result::explain::explain;
use weir_result::{
    Digest, Header, ResultFile, Run, Shape, Stats, Stored, Summary, TraceError, read,
};

/// The page of the result at `path`; `name` is the name of the run.
///
/// # Errors
/// As for [`weir_result::read()`].
pub fn page(path: &Path, name: &str) -> Result<Page, TraceError> {
    let stored = read(path)?;
    let result = ResultFile::open(path)?;
    let digest = &stored.digest;
    let mut parts = vec![Part::Table(totals(&digest.summary))];
    parts.extend(latencies(digest).map(Part::Table));
    parts.push(Part::Table(jobs(digest)));
    let explanation = explain(&result)?;
    let roots = explanation.as_ref().and_then(congestion::table);
    parts.extend(roots.map(Part::Table));
    parts.push(Part::Figures);
    parts.push(Part::Table(parameter_table(&stored.header.experiment)));
    parts.push(Part::Table(course(&stored)));
    parts.push(Part::Text {
        title: "Experiment file".into(),
        text: stored.header.experiment.clone(),
    });
    let mut warnings = Vec::new();
    if !stored.header.complete {
        let why = stored
            .run
            .stopped
            .as_deref()
            .unwrap_or("it did not reach its end");
        warnings.push(format!("This run is not complete: {why}."));
    }
    warnings.extend(digest.notes.iter().map(|note| format!("{}.", note.text)));
    let line = parameters::line(&stored.header.experiment, Some(&digest.summary));
    let spread = explanation
        .as_ref()
        .and_then(|all| congestion::figure(all, &line));
    let trees = explanation.and_then(|all| congestion::trees(&all, &line));
    let mut figures = super::figures(&result, &stored)?;
    figures.extend(spread);
    figures.extend(trees);
    Ok(Page {
        title: name.to_string(),
        lead: vec![line],
        warnings,
        parts,
        figures,
    })
}

fn pairs<const N: usize>(title: &str, pairs: [(&str, String); N]) -> Rows {
    Rows {
        title: title.into(),
        rows: pairs
            .into_iter()
            .map(|(name, value)| Row::new([name.to_string(), value]))
            .collect(),
        ..Rows::default()
    }
}

fn totals(summary: &Summary) -> Rows {
    let [from, to] = [summary.measured_from_ps, summary.measured_to_ps].map(|ps| time(ps as f64));
    pairs(
        "Summary",
        [
            ("simulated", time(summary.simulated_ps as f64)),
            ("measured", format!("from {from} to {to}")),
            (
                "offered load",
                format!(
                    "{} of the bandwidth of all endpoints",
                    percent(summary.offered_load)
                ),
            ),
            (
                "accepted load",
                format!(
                    "{} of the bandwidth of all endpoints",
                    percent(summary.accepted_load)
                ),
            ),
            (
                "packets",
                format!(
                    "{} injected, {} delivered, {} in flight at the end, {} dropped",
                    whole(summary.packets_injected),
                    whole(summary.packets_delivered),
                    whole(summary.packets_in_flight),
                    whole(summary.packets_dropped)
                ),
            ),
            (
                "messages",
                format!(
                    "{} generated, {} received{}{}",
                    whole(summary.messages_generated),
                    whole(summary.messages_received),
                    protocol(summary),
                    inside_nodes(summary)
                ),
            ),
            ("payload delivered", bytes(summary.bytes_delivered)),
        ],
    )
}

fn latency(ps: f64) -> String {
    if ps.is_finite() { time(ps) } else { "-".into() }
}

/// Mean, percentiles and maximum of all samples; lower bounds if they may be those of missing ones.
fn times(stats: &Stats) -> [String; 6] {
    if stats.all() == 0 {
        return std::array::from_fn(|_| "-".into());
    }
    let numbers: [fn(&Shape) -> f64; 6] = [
        |shape| shape.mean_ps,
        |shape| shape.p50_ps,
        |shape| shape.p90_ps,
        |shape| shape.p99_ps,
        |shape| shape.p999_ps,
        |shape| shape.max_ps as f64,
    ];
    numbers.map(|number| match stats.known(number) {
        (ps, true) => latency(ps),
        (ps, false) => format!("≥ {}", latency(ps)),
    })
}

fn latencies(digest: &Digest) -> Option<Rows> {
    let rows = digest.latency.iter().map(|(class, stats)| {
        let kind = class.rsplit('.').next().unwrap_or(class);
        let mut cells = vec![name_of(class).to_string(), kind.replace('_', " ")];
        cells.extend([stats.samples, stats.missing].map(whole));
        cells.extend(times(stats));
        Row::new(cells)
    });
    let rows: Vec<_> = rows.collect();
    (!rows.is_empty()).then(|| Rows {
        title: "Latency".into(),
        note: "message: from being generated to all of it received; network: a packet, from its \
               head leaving the NIC to its tail at its endpoint. The difference is source \
               queueing: messages that wait in their NIC, for a congested network or for a scheme, \
               are not yet in the network. Of what was generated (of packets: injected) in the \
               measurement window; what had not arrived when the run ended is missing, and counts \
               with the age that it had then: ≥. By arrival: of what arrived in it, whenever it \
               was sent."
            .into(),
        head: [
            "job", "of", "samples", "missing", "mean", "median", "p90", "p99", "p99.9", "max",
        ]
        .map(String::from)
        .to_vec(),
        rows,
    })
}

fn jobs(digest: &Digest) -> Rows {
    let rows = digest.jobs.iter().map(|job| {
        let totals = &job.totals;
        let finish = match job.finish() {
            0 => "-".to_string(),
            ps => bound(job, time(ps as f64)),
        };
        Row::new([
            job.name.clone(),
            whole(totals.tasks),
            time(totals.start_ps as f64),
            finish,
            bound(job, time(job.communication() as f64)),
            percent(totals.offered_load),
            percent(totals.accepted_load),
            bytes(totals.bytes_delivered),
        ])
    });
    Rows {
        title: "Jobs".into(),
        note:
            "Loads are shares of the bandwidth of the endpoints that send, or that receive. Finish: \
               the last message was received, and an application's last task has ended."
            .into(),
        head: [
            "job",
            "tasks",
            "start",
            "finish",
            "communication",
            "offered",
            "accepted",
            "delivered",
        ]
        .map(String::from)
        .to_vec(),
        rows: rows.collect(),
    }
}

/// Every key of the experiment.
fn parameter_table(experiment: &str) -> Rows {
    Rows {
        title: "Parameters".into(),
        head: ["section", "key", "value"].map(String::from).to_vec(),
        rows: parameters::all(experiment)
            .into_iter()
            .map(Row::new)
            .collect(),
        ..Rows::default()
    }
}

/// The model, the commit and the features of the program that made a result.
pub fn program(header: &Header, run: &Run) -> String {
    let Some(model) = header.model_version else {
        return "model version not recorded".into();
    };
    let [commit, features] = [&run.commit, &run.features].map(|text| text.as_deref());
    let (commit, features) = (commit.unwrap_or_default(), features.unwrap_or_default());
    format!("model version {model}, commit {commit}, features {features}")
}

fn course(stored: &Stored) -> Rows {
    let run: &Run = &stored.run;
    let mut hosts = run.hosts.clone();
    hosts.sort_unstable();
    hosts.dedup();
    let hops = stored.digest.summary.packet_hops;
    let mut rows = pairs(
        "How it ran",
        [
            ("started", run.started.clone()),
            ("took", wall(run.wall_seconds)),
            ("ranks", format!("{} on {}", run.ranks, hosts.join(", "))),
            ("memory", bytes(run.peak_memory_bytes)),
            (
                "packet-hops",
                format!("{}, {}/s", whole(hops), scaled(run.per_second(hops))),
            ),
            (
                "events",
                format!(
                    "{}, {}/s",
                    whole(run.events),
                    scaled(run.per_second(run.events))
                ),
            ),
            (
                "weir",
                format!(
                    "{}, {}",
                    stored.header.weir_version,
                    program(&stored.header, run)
                ),
            ),
            ("command", run.command.clone().unwrap_or_default()),
            (
                "MPI",
                run.mpi_version.lines().next().unwrap_or("none").to_string(),
            ),
            ("HDF5", run.hdf5_version.clone()),
        ],
    );
    let begun = began(run).map(|text| Row::new(["begun".to_string(), text]));
    rows.rows.splice(1..1, begun);
    rows
}

/// The beginning of a run that did not simulate everything in one go.
fn began(run: &Run) -> Option<String> {
    let times = |count| match count {
        1 => "once".to_string(),
        count => format!("{count} times"),
    };
    let forked = run.forked_ps.map(|ps| {
        let shared = time(ps as f64);
        format!("until {shared} it is another run, which it shares")
    });
    let resumed =
        (run.resumed).map(|count| format!("it went on from a checkpoint {}", times(count)));
    let parts: Vec<String> = forked.into_iter().chain(resumed).collect();
    (!parts.is_empty()).then(|| parts.join("; "))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_run_says_where_it_began() {
        let run = |resumed, forked_ps| Run {
            resumed,
            forked_ps,
            ..Run::default()
        };
        let said = |resumed, forked| began(&run(resumed, forked));
        assert_eq!(said(None, None), None);
        let once = said(Some(1), None).expect("a text");
        assert_eq!(once, "it went on from a checkpoint once");
        let both = said(Some(3), Some(12_500_000)).expect("a text");
        assert!(both.starts_with("until 12.5"), "{both}");
        assert!(both.ends_with("from a checkpoint 3 times"), "{both}");
    }
}
