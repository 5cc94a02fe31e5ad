//! `weir export`: the messages of a run as a trace that can be replayed.

use std::collections::HashMap;
use std::fs::File;
use std::io::{BufWriter, Write};
use std::path::Path;

use super::args::ExportOptions;
use super::launch::Failure;
use crate::config::{ConfigError, suggest};
use crate::trace::{ResultFile, TraceError, schema};
use crate::workload::replay::{Flow, write_goal};

/// Writes the messages of a job of a result as GOAL text.
///
/// # Errors
/// If the result cannot be read, has no such job or no messages, or the file cannot be written.
pub fn export(options: &ExportOptions) -> Result<String, Failure> {
    let wrong = |error: TraceError| Failure::bad_input(error.to_string());
    let inside = options.result.join(schema::FILE);
    let path = match options.result.is_dir() {
        true => &inside,
        false => &options.result,
    };
    let result = ResultFile::open(path).map_err(wrong)?;
    let name = job(&result, options.job.as_deref())?;
    let group = format!("data/jobs/{name}");
    let number = |attribute: &str| -> Result<u64, Failure> {
        let number = result.number(&group, attribute).map_err(wrong)?;
        Ok(number.unwrap_or(0.0) as u64)
    };
    let (index, start) = (number("index")?, number("start_ps")?);
    let endpoints = result.column(&group, "endpoint").map_err(wrong)?;
    let endpoints = endpoints.unwrap_or_default();
    let flows = flows(&result, index, start, &endpoints).map_err(wrong)?;
    let Some(flows) = flows else {
        let message = format!("{} has no messages", path.display());
        let remedy = "run the experiment with output.messages = true";
        return Err(wrong_with(message, remedy));
    };
    write(&options.file, &flows, endpoints.len() as u32)
        .map_err(|error| Failure::failed(format!("{}: {error}", options.file.display())))?;
    Ok(format!(
        "{}: {} messages of {} tasks\n",
        options.file.display(),
        flows.len(),
        endpoints.len()
    ))
}

fn wrong_with(message: impl Into<String>, remedy: impl Into<String>) -> Failure {
    Failure::wrong(&ConfigError::new(message, remedy))
}

/// The name of the job: the given one, or the only one.
fn job(result: &ResultFile, given: Option<&str>) -> Result<String, Failure> {
    let names = result.groups("data/jobs");
    let names = names.map_err(|error| Failure::bad_input(error.to_string()))?;
    let known: Vec<&str> = names.iter().map(String::as_str).collect();
    match (given, known.as_slice()) {
        (Some(name), known) if known.contains(&name) => Ok(name.to_string()),
        (Some(name), known) => Err(wrong_with(
            format!("there is no job {name:?}"),
            suggest(name, "jobs", known, '"'),
        )),
        (None, [only]) => Ok(only.to_string()),
        (None, known) => Err(wrong_with(
            format!("the run has {} jobs", known.len()),
            format!("choose one with --job: {}", known.join(", ")),
        )),
    }
}

/// The messages of a job, by sender in the order in which they were sent; None if none were recorded.
fn flows(
    result: &ResultFile,
    index: u64,
    start: u64,
    endpoints: &[u64],
) -> Result<Option<Vec<Flow>>, TraceError> {
    let columns = [
        "job",
        "source",
        "message",
        "destination",
        "bytes",
        "generated_ps",
    ];
    let Some([jobs, sources, numbers, destinations, bytes, times]) =
        result.table("data/messages", columns)?
    else {
        return Ok(None);
    };
    let tasks: HashMap<u64, u32> = endpoints.iter().copied().zip(0..).collect();
    let mut rows: Vec<(u64, Flow)> = (0..jobs.len())
        .filter(|&at| jobs[at] == index)
        .filter_map(|at| {
            let flow = Flow {
                from: *tasks.get(&sources[at])?,
                to: *tasks.get(&destinations[at])?,
                bytes: bytes[at],
                start: times[at].saturating_sub(start),
            };
            Some((numbers[at], flow))
        })
        .collect();
    rows.sort_unstable_by_key(|&(number, flow)| (flow.from, flow.start, number));
    Ok(Some(rows.into_iter().map(|(_, flow)| flow).collect()))
}

fn write(path: &Path, flows: &[Flow], tasks: u32) -> std::io::Result<()> {
    let mut out = BufWriter::new(File::create(path)?);
    write_goal(flows, tasks, &mut out)?;
    out.flush()
}
