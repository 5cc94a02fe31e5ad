//! `weir report`: a page and figures of a run or a sweep.

use std::path::{Path, PathBuf};

use super::launch::Failure;
use crate::catalog::catalog;
use crate::config::ConfigError;
use crate::report::page::Page;
use crate::report::run_page;
use crate::report::sweep::{self, Sweep};
use crate::report::write::write;
use crate::study::{Study, SweepDir, Table};
use crate::trace::schema;

/// Writes the report of `dir` into it, and gives the path of its page.
///
/// # Errors
/// Bad input if `dir` holds neither a run nor a sweep, or a damaged one; a failure if the report cannot be written.
pub fn report(dir: &Path) -> Result<PathBuf, Failure> {
    let page = page(dir)?;
    write(dir, &page).map_err(|error| Failure::failed(format!("error: {error}")))
}

fn page(dir: &Path) -> Result<Page, Failure> {
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
        return sweep_page(&sweep);
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
fn sweep_page(dir: &SweepDir) -> Result<Page, Failure> {
    let bad = |error: &dyn std::fmt::Display| Failure::bad_input(format!("error: {error}"));
    let wrong = |error: ConfigError| Failure::wrong(&error);
    let (file, text, options) = dir.setup().map_err(|error| {
        bad(&format!(
            "{} holds a sweep that cannot be read: {error}",
            dir.root().display()
        ))
    })?;
    let folder = file.parent().unwrap_or(Path::new(""));
    let study = Study::parse(&text, folder, &options).map_err(wrong)?;
    let points = study.points(&catalog()).map_err(wrong)?;
    let table = Table::collect(&study, &points, dir).map_err(|error| bad(&error))?;
    let verdicts = study.verdicts(&table);
    let sweep = Sweep {
        study: &study,
        points: &points,
        dir,
        table: &table,
    };
    sweep::page::page(&sweep, &verdicts).map_err(|error| bad(&error))
}

/// The last part of a path, also of `.`.
fn name_of(dir: &Path) -> String {
    let whole = dir.canonicalize();
    let whole = whole.as_deref().unwrap_or(dir);
    let name = whole.file_name().unwrap_or(whole.as_os_str());
    name.to_string_lossy().into_owned()
}
