//! The messages of a run as a trace that can be replayed.

use std::collections::HashMap;
use std::io::{BufWriter, Write};
use std::path::Path;

use super::refusal::{check_job, not_written, wrong_with};
use crate::cli::args::{ExportFormat, ExportOptions};
use crate::cli::process::failure::Failure;
use weir_input::Duration;
use weir_model::{Time, US};
use weir_result::{Partial, ResultFile, TraceError};
use weir_workload::replay::{Flow, write_goal, write_vef};

/// Writes the messages of a job of a result as a trace.
///
/// # Errors
/// If the result cannot be read, has no such job or no messages, or the file cannot be written.
pub fn export(
    options: &ExportOptions,
    format: ExportFormat,
    path: &Path,
    result: &ResultFile,
) -> Result<String, Failure> {
    let wrong = |error: TraceError| Failure::bad_input(error.to_string());
    let unit = unit(options)?;
    let name = job(result, &options.job)?;
    let group = format!("data/jobs/{name}");
    let number = |attribute: &str| -> Result<u64, Failure> {
        let number = result.number(&group, attribute).map_err(wrong)?;
        Ok(number.unwrap_or(0.0) as u64)
    };
    let (index, start) = (number("index")?, number("start_ps")?);
    let endpoints = result.column(&group, "endpoint").map_err(wrong)?;
    let endpoints = endpoints.unwrap_or_default();
    let flows = flows(result, index, start, &endpoints).map_err(wrong)?;
    let Some((flows, others)) = flows else {
        let message = format!("{} has no messages", path.display());
        let remedy = "run the experiment with output.messages = true";
        return Err(wrong_with(message, remedy));
    };
    if others > 0 {
        let message = format!(
            "{others} of {} messages of {name:?} have a sender or a receiver that is not the first \
             NIC of a task, and a trace has no place for them",
            others + flows.len()
        );
        let remedy = "export a job without `nics`, and traffic among its own endpoints";
        return Err(wrong_with(message, remedy));
    }
    let under_way = under_way(result).map_err(wrong)?;
    let tasks = endpoints.len() as u32;
    let name = match format {
        ExportFormat::Vef => "vef",
        _ => "goal",
    };
    let written = write(format, unit, &options.file, &flows, tasks);
    written.map_err(|error| not_written(&options.file, &error))?;
    let file = options.file.display();
    let begins = match start {
        0 => String::new(),
        start => format!(", start = \"{}\"", Duration(start)),
    };
    let rest = match under_way {
        0 => String::new(),
        rest => {
            format!("{rest} messages of the run were under way when it ended: they are not in it\n")
        }
    };
    Ok(format!(
        "{file}: {} messages of {tasks} tasks\n{rest}read it with trace = {{ format = \"{name}\", \
         file = \"{file}\", unit = \"{unit} ps\" }}, mpi.rendezvous_from = \"1000 GB\"{begins}\n",
        flows.len(),
    ))
}

/// Messages of all jobs that were generated and not received.
fn under_way(result: &ResultFile) -> Result<u64, TraceError> {
    let count = |name: &str| {
        let number = result.number("data/summary", name)?;
        Ok(number.unwrap_or(0.0) as u64)
    };
    Ok(count("messages_generated")?.saturating_sub(count("messages_received")?))
}

/// The unit of times, ps.
fn unit(options: &ExportOptions) -> Result<Time, Failure> {
    let Some(text) = &options.unit else {
        return Ok(1);
    };
    let refuse = |message: String| wrong_with(message, "write --unit \"1 ns\", from 1 ps to 1 us");
    let unit: Result<Duration, String> = text.parse();
    match unit.map_err(|error| refuse(format!("--unit: {error}")))?.0 {
        ps @ 1..=US => Ok(ps),
        _ => Err(refuse(format!("--unit: {text:?} is no unit of time"))),
    }
}

/// The name of the job: the given one, or the only one.
fn job(result: &ResultFile, given: &[String]) -> Result<String, Failure> {
    let names = result.groups("data/jobs");
    let names = names.map_err(|error| Failure::bad_input(error.to_string()))?;
    let known: Vec<&str> = names.iter().map(String::as_str).collect();
    match (given, known.as_slice()) {
        ([name], known) => check_job(name, known).map(|()| name.clone()),
        ([], [only]) => Ok(only.to_string()),
        ([], known) => Err(wrong_with(
            format!("the run has {} jobs", known.len()),
            format!("choose one with --job: {}", known.join(", ")),
        )),
        _ => Err(wrong_with(
            "a trace has the messages of one job",
            "write one --job",
        )),
    }
}

/// The messages of a job between its tasks, by sender in the order in which they were sent, and the
/// number of its others; None if none were recorded.
fn flows(
    result: &ResultFile,
    index: u64,
    start: u64,
    endpoints: &[u64],
) -> Result<Option<(Vec<Flow>, usize)>, TraceError> {
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
    let own: Vec<usize> = (0..jobs.len()).filter(|&at| jobs[at] == index).collect();
    let mut rows: Vec<(u64, Flow)> = (own.iter())
        .filter_map(|&at| {
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
    let others = own.len() - rows.len();
    let flows = rows.into_iter().map(|(_, flow)| flow).collect();
    Ok(Some((flows, others)))
}

fn write(
    format: ExportFormat,
    unit: Time,
    path: &Path,
    flows: &[Flow],
    tasks: u32,
) -> std::io::Result<()> {
    let mut partial = Partial::new(path)?;
    let mut out = BufWriter::new(partial.file());
    match format {
        ExportFormat::Vef => write_vef(flows, tasks, unit, &mut out)?,
        _ => write_goal(flows, tasks, unit, &mut out)?,
    }
    out.flush()?;
    drop(out);
    partial.settle()
}
