//! `weir report`: a page and figures of a run or a sweep.

use std::path::{Path, PathBuf};

use super::launch::Failure;
use crate::report::write::write;
use crate::report::{page::Page, run_page};
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

/// The last part of a path, also of `.`.
fn name_of(dir: &Path) -> String {
    let whole = dir.canonicalize();
    let whole = whole.as_deref().unwrap_or(dir);
    let name = whole.file_name().unwrap_or(whole.as_os_str());
    name.to_string_lossy().into_owned()
}
