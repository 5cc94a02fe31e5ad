//! `weir explain`: the roots of congestion, the jobs that cause it, and the jobs that it holds up.

mod verify;

use crate::cli::args::ExplainOptions;
use crate::cli::process::console::tell;
use crate::cli::process::failure::Failure;
use crate::cli::results::inspect::{file_of, refuse_sweep};
use verify::{critical_paths, verify};
use weir_report::explanation;
use weir_result::ResultFile;
use weir_result::explain;
use weir_simulation::config::Catalog;

/// Explanation of waiting and its causes in the run of a directory, as text or JSON.
///
/// # Errors
/// Bad input if there is no result, if it is damaged, or if attribution was not recorded.
pub(in crate::cli) fn explain(
    options: &ExplainOptions,
    catalog: &Catalog,
) -> Result<String, Failure> {
    let dir = &options.dir;
    let bad =
        |cause: String, help: &str| Failure::bad_input(format!("error: {cause}\n  help: {help}"));
    let shown = dir.display();
    refuse_sweep(dir)?;
    let path = file_of(dir);
    if !path.exists() {
        let cause = match dir.exists() {
            true => format!("{shown} holds no result of a run"),
            false => format!("there is no directory {shown}"),
        };
        let help = "give the directory that a run wrote: its --out";
        return Err(bad(cause, help));
    }
    let wrong = |error| Failure::bad_input(format!("error: {error}"));
    let result = ResultFile::open(&path).map_err(wrong)?;
    let Some(mut all) = explain::explain(&result).map_err(wrong)? else {
        let cause = format!("{} does not say whose data waited where", path.display());
        let help = "run it again with output.attribution = \"jobs\" (or \"sources\"), which is the \
                    default";
        return Err(bad(cause, help));
    };
    let stored = weir_result::read(&path).map_err(wrong)?;
    let stopped = stored.run.stopped.iter();
    all.notes = stopped
        .map(|why| format!("this run is not complete: {why}"))
        .chain(stored.digest.notes.into_iter().map(|note| note.text))
        .collect();
    let text = &result.header().experiment;
    if options.critical_path || options.verify {
        let paths = critical_paths(text, catalog)?;
        all.lost = explain::lost_times(&result, &paths).map_err(wrong)?;
        if all.lost.is_empty() {
            tell("critical path: no application came to its end in this run, so there is none");
        }
    }
    if options.verify {
        all.verified = verify(text, &all, catalog)?;
    }
    if options.json {
        let text = serde_json::to_string_pretty(&all);
        let text = text.map_err(|error| Failure::failed(format!("error: {error}")))?;
        return Ok(text + "\n");
    }
    Ok(explanation::text(&shown.to_string(), &all))
}
