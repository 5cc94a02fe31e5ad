//! A report on the disk: the page, and every figure as SVG, PNG and CSV (without the feature
//! `figures` as CSV alone).

use std::fs;
use std::io;
use std::path::{Path, PathBuf};

use thiserror::Error;

use super::Page;
use crate::draw::{self, DrawError};
use weir_result::remove_leftovers;

/// The page inside the directory.
pub const FILE: &str = "report.html";

/// The folder of the figures.
pub const FOLDER: &str = "figures";

/// Reasons why a report cannot be written.
#[derive(Debug, Error)]
pub enum WriteError {
    /// A file or folder.
    #[error("{} cannot be written: {cause}", path.display())]
    File {
        /// The file.
        path: PathBuf,
        /// Cause.
        cause: io::Error,
    },
    /// A figure.
    #[error("the figure {id} {cause}")]
    Figure {
        /// The figure.
        id: String,
        /// Cause.
        cause: DrawError,
    },
}

/// Writes `page` into `dir`: `report.html` and `figures/ID.svg`, `.png`, `.csv`.
/// Files of an earlier report are replaced, one at a time; the page comes last, so that it never
/// names a missing figure. Returns the path of the page.
///
/// # Errors
/// If a figure cannot be drawn or a file cannot be written.
pub fn write(dir: &Path, page: &Page) -> Result<PathBuf, WriteError> {
    let folder = dir.join(FOLDER);
    remove_leftovers(dir);
    remove_leftovers(&folder);
    if !page.figures.is_empty() {
        fs::create_dir_all(&folder).map_err(|cause| WriteError::File {
            path: folder.clone(),
            cause,
        })?;
    }
    for figure in &page.figures {
        let failed = |cause| WriteError::Figure {
            id: figure.id.clone(),
            cause,
        };
        let drawn = draw::files(figure).map_err(failed)?;
        let file = |ending: &str| folder.join(format!("{}.{ending}", figure.id));
        for (ending, content) in draw::ENDINGS.iter().zip(&drawn) {
            replace(&file(ending), content)?;
        }
        replace(&file("csv"), figure.data.csv().as_bytes())?;
    }
    let html = page.html().map_err(|cause| WriteError::Figure {
        id: "of the page".into(),
        cause,
    })?;
    let path = dir.join(FILE);
    replace(&path, html.as_bytes())?;
    Ok(path)
}

/// Writes a file so that there is always a whole one.
fn replace(path: &Path, content: &[u8]) -> Result<(), WriteError> {
    weir_result::replace(path, content).map_err(|cause| WriteError::File {
        path: path.to_path_buf(),
        cause,
    })
}
