//! Errors of result files and of their directories.

use std::path::{Path, PathBuf};

use thiserror::Error;

use super::hdf::Failure;
use super::hdf::seal::Unsealed;

/// Errors of a result file. All of them are fatal for the file, none for the run's numbers.
#[derive(Debug, Error)]
pub enum TraceError {
    /// The file could not be written: no space, no permission, no such directory.
    #[error("cannot write {}: {cause}", path.display())]
    Write {
        /// The file.
        path: PathBuf,
        /// Cause, as the operating system or the HDF5 library put it.
        cause: String,
    },
    /// The file could not be opened or read.
    #[error("cannot read {}: {cause}", path.display())]
    Read {
        /// The file.
        path: PathBuf,
        /// Cause.
        cause: String,
    },
    /// A file that is not, to the last bit, as weir wrote it.
    #[error(
        "{} is damaged, or was changed since weir wrote it: {what}; take a copy of it if there is \
         one, or run its experiment again",
        path.display()
    )]
    Damaged {
        /// The file.
        path: PathBuf,
        /// The part that does not fit.
        what: String,
    },
    /// A file that weir did not write, or a result that lacks something.
    #[error("{} is not a result of weir: {what}", path.display())]
    NotAResult {
        /// The file.
        path: PathBuf,
        /// The part that is missing or has the wrong type.
        what: String,
    },
    /// A result written with another version of the schema.
    #[error(
        "{} has schema version {found}, this weir reads version {}; read it with weir \
         {weir_version}, or run its experiment again",
        path.display(),
        super::schema::VERSION
    )]
    Schema {
        /// The file.
        path: PathBuf,
        /// Its version.
        found: u64,
        /// The program that wrote it.
        weir_version: String,
    },
    /// A name that cannot be the name of a group or column.
    #[error(
        "{what} {name:?} cannot be stored: a name is not empty, not \".\", has no '/' and no NUL"
    )]
    Name {
        /// The thing whose name it is.
        what: &'static str,
        /// The name.
        name: String,
    },
    /// Columns of one group that differ in length: a mistake in the program that assembled the
    /// result.
    #[error("{group}/{column} has {rows} rows where {expected} belong")]
    Uneven {
        /// The group.
        group: String,
        /// The column.
        column: String,
        /// Its rows.
        rows: usize,
        /// The rows of the group.
        expected: usize,
    },
}

/// The outermost directory of a path that does not exist; the path itself is none.
pub fn first_missing(path: &Path) -> Option<&Path> {
    let above: Vec<&Path> = path.ancestors().skip(1).collect();
    let mut above = above.into_iter().rev();
    above.find(|one| !one.as_os_str().is_empty() && !one.exists())
}

/// Reason why a file cannot be read or written.
/// If a directory on the path to it is gone, that says more than that there is no file.
fn cause_at(path: &Path, cause: impl ToString) -> String {
    match first_missing(path) {
        Some(missing) => format!("there is no directory {}", missing.display()),
        None => cause.to_string(),
    }
}

impl TraceError {
    pub(super) fn write(path: &Path, cause: impl ToString) -> Self {
        TraceError::Write {
            path: path.to_path_buf(),
            cause: cause_at(path, cause),
        }
    }

    pub(super) fn read(path: &Path, cause: impl ToString) -> Self {
        TraceError::Read {
            path: path.to_path_buf(),
            cause: cause_at(path, cause),
        }
    }

    /// A file that was not handed to HDF5.
    pub(super) fn unsealed(path: &Path, unsealed: Unsealed) -> Self {
        let path = path.to_path_buf();
        match unsealed {
            Unsealed::Io(error) => TraceError::read(&path, error),
            Unsealed::Foreign(what) => TraceError::NotAResult { path, what },
            Unsealed::Changed(what) => TraceError::Damaged { path, what },
            Unsealed::Version { found, weir } => TraceError::Schema {
                path,
                found,
                weir_version: weir,
            },
        }
    }

    /// A failure of the HDF5 layer while writing `path`.
    pub(super) fn while_writing(path: &Path, failure: Failure) -> Self {
        match failure {
            Failure::Library(cause) | Failure::Content(cause) => TraceError::write(path, cause),
            Failure::Name { what, name } => TraceError::Name { what, name },
            Failure::Uneven {
                group,
                column,
                rows,
                expected,
            } => TraceError::Uneven {
                group,
                column,
                rows,
                expected,
            },
        }
    }

    /// A failure of the HDF5 layer while reading `path`.
    pub(super) fn while_reading(path: &Path, failure: Failure) -> Self {
        match failure {
            Failure::Content(what) => TraceError::NotAResult {
                path: path.to_path_buf(),
                what,
            },
            Failure::Library(cause) => TraceError::read(path, cause),
            Failure::Name { name, .. } => TraceError::read(path, format!("the name {name:?}")),
            Failure::Uneven { group, column, .. } => TraceError::NotAResult {
                path: path.to_path_buf(),
                what: format!("{group}/{column} has another number of rows than its group"),
            },
        }
    }
}
