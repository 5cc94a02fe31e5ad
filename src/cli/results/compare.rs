//! `weir compare`: differences of runs, or of sweeps.

use std::path::{Path, PathBuf};

use clap::Args;

use crate::cli::out::make;
use crate::cli::process::failure::Failure;
use crate::cli::results::inspect::file_of;
use crate::cli::studies::sweep::Sweep;
use weir_input::ConfigError;
use weir_report::compare::{json, of_runs, of_sweeps, page, text};
use weir_report::figure::Figure;
use weir_report::parameters;
use weir_report::write::write;
use weir_result::{out_dir, read, schema};
use weir_simulation::config::Catalog;
use weir_study::compare::{Comparison, RunResult, SweepResult, compare_runs, compare_sweeps};
use weir_study::{Points, SweepDir, Table};

/// `weir compare`.
#[derive(Args, Debug)]
pub struct CompareOptions {
    /// Runs (each a result.h5, or its directory) or directories of sweeps, 26 at most. The first
    /// one is the baseline.
    #[arg(required = true, num_args = 2..=MOST)]
    pub results: Vec<PathBuf>,
    /// Print equal numbers and keys too, and all metrics of the tables of sweeps.
    #[arg(long)]
    pub all: bool,
    /// Print one JSON object on standard output, and nothing else there.
    #[arg(long)]
    pub json: bool,
    /// Make a page and figures, too: DIR/report.html, DIR/figures.
    #[arg(long, value_name = "DIR")]
    pub report: Option<PathBuf>,
}

/// One for each letter.
const MOST: usize = 26;

/// Compares the results, and gives the text to print.
///
/// # Errors
/// Bad input if a result cannot be read, or a comparison would mislead; a failure if the report
/// cannot be written.
pub fn compare(options: &CompareOptions, catalog: &Catalog) -> Result<String, Failure> {
    let paths = &options.results;
    let sweeps = paths.iter().filter(|path| is_sweep(path)).count();
    let (comparison, figures) = match sweeps {
        0 => of_results(paths)?,
        all if all == paths.len() => of_studies(paths, catalog)?,
        _ => return Err(mixed(paths)),
    };
    let written = match &options.report {
        Some(dir) => Some(report(dir, &comparison, figures, options.all)?),
        None => None,
    };
    if options.json {
        let mut value = json(&comparison);
        if let Some(file) = written {
            value["page"] = file.display().to_string().into();
        }
        return Ok(format!("{value:#}\n"));
    }
    let mut said = text(&comparison, options.all);
    if let Some(file) = written {
        said.push_str(&format!("{}\n", file.display()));
    }
    Ok(said)
}

fn is_sweep(path: &Path) -> bool {
    SweepDir::new(path).job().is_file()
}

fn refused(message: impl Into<String>, remedy: impl Into<String>) -> Failure {
    Failure::wrong(&ConfigError::new(message, remedy))
}

fn mixed(paths: &[PathBuf]) -> Failure {
    if let Some(missing) = paths.iter().find(|path| !path.exists()) {
        return refused(
            format!("there is no {}", missing.display()),
            "give the directories that runs or sweeps wrote: their --out",
        );
    }
    let named = |sweep: bool| {
        let one = paths.iter().find(|path| is_sweep(path) == sweep);
        one.map_or(String::new(), |path| path.display().to_string())
    };
    refused(
        format!("{} is a sweep and {} is a run", named(true), named(false)),
        "compare runs with runs, and sweeps with sweeps; the runs of a sweep are in its directory \
         `points`",
    )
}

fn of_results(paths: &[PathBuf]) -> Result<(Comparison, Vec<Figure>), Failure> {
    let runs = paths.iter().map(|path| run(path));
    let runs = runs.collect::<Result<Vec<RunResult>, Failure>>()?;
    let mut comparison = compare_runs(&runs).map_err(|error| Failure::wrong(&error))?;
    for (input, run) in comparison.inputs.iter_mut().zip(&runs) {
        let summary = &run.stored.digest.summary;
        input.about = parameters::line(&input.experiment, Some(summary));
    }
    let figures = of_runs(&comparison, &runs);
    Ok((comparison, figures))
}

fn run(path: &Path) -> Result<RunResult, Failure> {
    let file = file_of(path).into_owned();
    let name = path.display().to_string();
    if path.is_dir() && !file.exists() {
        return Err(match out_dir::under_way(path) {
            Some(far) => refused(far.words(), "wait until the run has ended"),
            None => refused(
                format!("{name} holds neither a run nor a sweep"),
                format!(
                    "give the directory that a run or a sweep wrote: its --out, with {}",
                    schema::FILE
                ),
            ),
        });
    }
    let stored = read(&file).map_err(|error| Failure::bad_input(format!("error: {error}")))?;
    Ok(RunResult { name, file, stored })
}

/// A sweep with its numbers.
struct Collected {
    sweep: Sweep,
    points: Points,
    table: Table,
}

fn of_studies(paths: &[PathBuf], catalog: &Catalog) -> Result<(Comparison, Vec<Figure>), Failure> {
    let collect = |path: &PathBuf| {
        let sweep = Sweep::kept(path, catalog)?;
        let points = sweep.points()?;
        let table = Table::collect(&sweep.study, &sweep.catalog, &points, &sweep.dir)
            .map_err(|error| Failure::bad_input(format!("error: {error}")))?;
        Ok(Collected {
            sweep,
            points,
            table,
        })
    };
    let all = paths.iter().map(collect);
    let all = all.collect::<Result<Vec<Collected>, Failure>>()?;
    let sweeps = all.iter().zip(paths).map(|(own, path)| SweepResult {
        name: path.display().to_string(),
        study: &own.sweep.study,
        catalog: &own.sweep.catalog,
        points: &own.points,
        dir: &own.sweep.dir,
        table: &own.table,
    });
    let sweeps: Vec<SweepResult> = sweeps.collect();
    let comparison = compare_sweeps(&sweeps).map_err(|error| Failure::wrong(&error))?;
    let figures = of_sweeps(&comparison);
    Ok((comparison, figures))
}

/// Writes the page into a directory. That of a run or a sweep has its own page.
fn report(
    dir: &Path,
    comparison: &Comparison,
    figures: Vec<Figure>,
    all: bool,
) -> Result<PathBuf, Failure> {
    if is_sweep(dir) || dir.join(schema::FILE).exists() {
        return Err(refused(
            format!(
                "{} holds a run or a sweep, whose page `weir report` makes",
                dir.display()
            ),
            "name another directory with --report",
        ));
    }
    make(dir, "--report")?;
    let written = write(dir, &page(comparison, figures, all));
    written.map_err(|error| Failure::failed(format!("error: {error}")))
}
