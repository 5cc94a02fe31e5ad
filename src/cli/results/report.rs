//! `weir report`: a page and figures of a run or a sweep.

use std::path::{Path, PathBuf};

use crate::cli::out::make;
use crate::cli::process::failure::Failure;
use crate::cli::studies::sweep::Sweep as Kept;
use weir_report::page::Page;
use weir_report::run_page;
use weir_report::sweep::{self, Sweep};
use weir_report::write::write;
use weir_result::schema;
use weir_simulation::config::Catalog;
use weir_study::{SweepDir, Table};

/// Writes the report of `dir` into `out`, or else into `dir` itself, and gives the path of its
/// page.
///
/// # Errors
/// Bad input if `dir` holds neither a run nor a sweep, or a damaged one; a failure if the report
/// cannot be written.
pub fn report(dir: &Path, out: Option<&Path>, catalog: &Catalog) -> Result<PathBuf, Failure> {
    let page = page(dir, catalog)?;
    if let Some(out) = out {
        make(out, "--out")?;
    }
    let written = write(out.unwrap_or(dir), &page);
    written.map_err(|error| match out {
        None if SweepDir::new(dir).is_read_only() => Failure::bad_input(format!(
            "error: {error}\n  help: the directory is read-only; name another one with --out"
        )),
        _ => Failure::failed(format!("error: {error}")),
    })
}

fn page(dir: &Path, catalog: &Catalog) -> Result<Page, Failure> {
    let bad =
        |cause: String, help: &str| Failure::bad_input(format!("error: {cause}\n  help: {help}"));
    let shown = dir.display();
    if !dir.is_dir() {
        let cause = match dir.exists() {
            true => format!("{shown} is not a directory"),
            false => format!("there is no directory {shown}"),
        };
        return Err(bad(
            cause,
            "give the directory that a run or a sweep wrote: its --out",
        ));
    }
    let sweep = SweepDir::new(dir);
    if sweep.job().is_file() {
        return sweep_page(&sweep, catalog);
    }
    let result = dir.join(schema::FILE);
    if !result.exists() {
        let cause = format!("{shown} holds neither a run nor a sweep");
        return Err(bad(
            cause,
            "give the directory that a run or a sweep wrote: its --out",
        ));
    }
    let name = name_of(dir);
    run_page::page(&result, &name).map_err(|error| Failure::bad_input(format!("error: {error}")))
}

/// The page of a sweep, with its table and its claims as they are now.
fn sweep_page(dir: &SweepDir, catalog: &Catalog) -> Result<Page, Failure> {
    let bad = |error: &dyn std::fmt::Display| Failure::bad_input(format!("error: {error}"));
    let kept = Kept::kept(dir.root(), catalog)?;
    let points = kept.points()?;
    let table =
        Table::collect(&kept.study, &kept.catalog, &points, dir).map_err(|error| bad(&error))?;
    kept.must_have_results(&table)?;
    let verdicts = kept.study.verdicts(&table);
    let sweep = Sweep::new(&kept.study, &kept.catalog, &points, dir, &table);
    let sweep = sweep.map_err(|error| Failure::wrong(&error))?;
    sweep::page::page(&sweep, &verdicts).map_err(|error| bad(&error))
}

/// The last part of a path, also of `.`.
fn name_of(dir: &Path) -> String {
    let whole = dir.canonicalize();
    let whole = whole.as_deref().unwrap_or(dir);
    let name = whole.file_name().unwrap_or(whole.as_os_str());
    name.to_string_lossy().into_owned()
}
