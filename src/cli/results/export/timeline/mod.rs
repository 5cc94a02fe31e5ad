//! A timeline of a run for <https://ui.perfetto.dev>: tasks, messages, links, events of the scheme.

mod jobs;
mod links;
mod perfetto;
mod scheme;
mod selection;

use std::io::BufWriter;
use std::path::Path;

use super::refusal::{check_job, not_written, wrong_with};
use crate::cli::args::ExportOptions;
use crate::cli::process::failure::Failure;
use perfetto::Writer;
use selection::{Counts, Selection, Trouble};
use weir_input::Duration;
use weir_model::Time;
use weir_report::format::{simulated, whole};
use weir_result::{Partial, ResultFile, TraceError};

/// Writes a timeline of a result.
///
/// # Errors
/// If the result cannot be read, or has nothing that a timeline shows, if the options choose what
/// the run did not have, or if the file cannot be written.
pub fn export(
    options: &ExportOptions,
    path: &Path,
    result: &ResultFile,
) -> Result<String, Failure> {
    let wrong = |error: TraceError| Failure::bad_input(error.to_string());
    if options.unit.is_some() {
        let message = "--unit: the unit of Perfetto's clock is 1 ns";
        return Err(wrong_with(message, "leave it out"));
    }
    let end = result.number("data/summary", "simulated_ps");
    let end = end.map_err(wrong)?.unwrap_or(0.0) as Time;
    let from = time("--from", options.from.as_deref(), 0)?;
    let to = time("--to", options.to.as_deref(), end)?.min(end);
    if from >= to {
        let message = format!("nothing is between {} and {}", Duration(from), Duration(to));
        let remedy = format!("the run ended at {}: write other times", Duration(end));
        return Err(wrong_with(message, remedy));
    }
    let mut jobs = selection::jobs(result).map_err(wrong)?;
    let names: Vec<&str> = jobs.iter().map(|job| job.name.as_str()).collect();
    options
        .job
        .iter()
        .try_for_each(|name| check_job(name, &names))?;
    if !options.job.is_empty() {
        jobs.retain(|job| options.job.contains(&job.name));
    }
    let selection = Selection {
        from,
        to,
        some_jobs: !options.job.is_empty(),
        jobs: &jobs,
        routers: &options.router,
    };
    links::check(result, &selection)?;
    if !holds_something(result).map_err(wrong)? {
        let message = format!("{} has nothing that a timeline shows", path.display());
        let remedy = "run the experiment with output.timeline = {} and output.messages = true";
        return Err(wrong_with(message, remedy));
    }
    let failed = |trouble: Trouble| match trouble {
        Trouble::Read(error) => wrong(error),
        Trouble::Write(error) => not_written(&options.file, &error),
    };
    let counts = write(result, &selection, &options.file).map_err(failed)?;
    summary(result, &selection, &counts, &options.file).map_err(wrong)
}

/// The given time, or the usual one.
fn time(option: &str, given: Option<&str>, usual: Time) -> Result<Time, Failure> {
    let Some(text) = given else {
        return Ok(usual);
    };
    let time: Result<Duration, String> = text.parse();
    time.map(|time| time.0).map_err(|error| {
        wrong_with(
            format!("{option}: {error}"),
            "write a time such as \"10 us\"",
        )
    })
}

fn holds_something(result: &ResultFile) -> Result<bool, TraceError> {
    let timeline = result.number("data/timeline", "to_ps")?.is_some();
    let messages = !result.columns("data/messages")?.is_empty();
    Ok(timeline || messages || !result.groups("data/scheme")?.is_empty())
}

/// Writes the file, which exists when it is whole.
fn write(result: &ResultFile, selection: &Selection, path: &Path) -> Result<Counts, Trouble> {
    let mut partial = Partial::new(path)?;
    let mut counts = Counts::default();
    let mut writer = Writer::new(BufWriter::new(partial.file()));
    jobs::write(result, selection, &mut writer, &mut counts)?;
    links::write(result, selection, &mut writer, &mut counts)?;
    scheme::write(result, selection, &mut writer, &mut counts)?;
    writer.finish()?;
    partial.settle()?;
    Ok(counts)
}

/// Contents of the file, and what the result lacks.
fn summary(
    result: &ResultFile,
    selection: &Selection,
    counts: &Counts,
    path: &Path,
) -> Result<String, TraceError> {
    let (from, to) = (simulated(selection.from), simulated(selection.to));
    let parts = [
        (counts.messages, "messages"),
        (counts.intervals, "intervals of tasks"),
        (counts.links, "intervals of links"),
        (
            (counts.events > 0).then_some(counts.events),
            "events of congestion control",
        ),
    ];
    let there = parts
        .iter()
        .filter_map(|(count, what)| Some(format!("{} {what}", whole((*count)?))));
    let there: Vec<String> = there.collect();
    let mut text = format!(
        "{}: {}, from {from} to {to}\n",
        path.display(),
        there.join(", ")
    );
    let missing = [
        (
            counts.messages.is_none(),
            "messages",
            "output.messages = true",
        ),
        (counts.intervals.is_none(), "tasks", "output.timeline = {}"),
        (
            counts.links.is_none(),
            "links",
            "output.timeline.routers = \"all\"",
        ),
    ];
    for (_, what, key) in missing.iter().filter(|(lacks, ..)| *lacks) {
        text += &format!("without {what}: run the experiment with {key} to record them\n");
    }
    for what in ["tasks", "links"] {
        let number = |name: &str| result.number("data/timeline", &format!("{what}_{name}"));
        let left_out = number("left_out")?.unwrap_or(0.0) as u64;
        let until = number("until_ps")?.unwrap_or(0.0) as Time;
        if left_out > 0 && until < selection.to {
            text += &format!(
                "{what} are whole until {}: the result left out {} later intervals\n",
                simulated(until),
                whole(left_out)
            );
        }
    }
    text += "open it at https://ui.perfetto.dev\n";
    Ok(text)
}
