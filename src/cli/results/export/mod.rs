//! `weir export`: the messages of a run as a trace that can be replayed, a timeline of the run, or
//! its network.

mod refusal;
mod replay;
mod timeline;
mod topology;

use crate::cli::args::{ExportFormat, ExportOptions};
use crate::cli::out::check_new;
use crate::cli::process::failure::Failure;
use crate::cli::results::inspect::file_of;
use refusal::wrong_with;
use weir_result::ResultFile;
use weir_simulation::config::Catalog;

/// Writes a result in another format.
///
/// # Errors
/// If the file exists or cannot be written, or the result cannot be read or lacks what the format
/// needs.
pub fn export(options: &ExportOptions, catalog: &Catalog) -> Result<String, Failure> {
    let format = format(options);
    let path = file_of(&options.result);
    check_new(&options.file)?;
    if options.topology {
        return topology::export(options, format, catalog);
    }
    if !path.exists() {
        return Err(wrong_with(
            format!("there is no {}", path.display()),
            "give the directory that a run wrote (its --out), or its result.h5",
        ));
    }
    let wrong = |error| Failure::bad_input(format!("error: {error}"));
    let result = ResultFile::open(&path).map_err(wrong)?;
    match format {
        ExportFormat::Goal | ExportFormat::Vef => {
            let times = [&options.from, &options.to];
            if times.iter().any(|time| time.is_some()) || !options.router.is_empty() {
                let message = "--from, --to and --router choose parts of a timeline";
                return Err(wrong_with(
                    message,
                    "leave them out, or write --format perfetto",
                ));
            }
            replay::export(options, format, &path, &result)
        }
        ExportFormat::Perfetto => timeline::export(options, &path, &result),
        ExportFormat::Toml | ExportFormat::Csv | ExportFormat::Graphml | ExportFormat::Dot => {
            Err(wrong_with(
                "this is a format of networks",
                "write --topology for the network, or --format goal, vef or perfetto",
            ))
        }
    }
}

/// The given format, or that of the file's name.
fn format(options: &ExportOptions) -> ExportFormat {
    let ending = options.file.extension().and_then(|ending| ending.to_str());
    let by_name = match ending {
        Some("vef") => ExportFormat::Vef,
        Some("pftrace" | "perfetto-trace") => ExportFormat::Perfetto,
        Some("toml") => ExportFormat::Toml,
        Some("csv") => ExportFormat::Csv,
        Some("graphml") => ExportFormat::Graphml,
        Some("dot" | "gv") => ExportFormat::Dot,
        _ => ExportFormat::Goal,
    };
    options.format.unwrap_or(by_name)
}
