//! The directory that `weir run --out DIR` writes to.

use std::fs;
use std::path::{Path, PathBuf};

use thiserror::Error;

use super::read::read_header;
use super::schema;

/// Why a directory cannot be used for a result.
#[derive(Debug, Error)]
pub enum OutError {
    /// The path, or a part of it, is something else than a directory.
    #[error("{} is not a directory; name another one with --out", path.display())]
    NotADirectory {
        /// The part that is no directory.
        path: PathBuf,
    },
    /// The directory cannot be made or written.
    #[error("cannot write into {}: {cause}", path.display())]
    Unwritable {
        /// The directory.
        path: PathBuf,
        /// Why.
        cause: std::io::Error,
    },
    /// It holds the result of another experiment.
    #[error(
        "{} holds the result of another experiment ({difference}); write elsewhere with --out, or replace it with --force",
        path.display()
    )]
    OtherExperiment {
        /// The result.
        path: PathBuf,
        /// The first lines that differ.
        difference: String,
    },
    /// It holds a file in the result's place that cannot be read as one.
    #[error(
        "{} is in the way ({cause}); write elsewhere with --out, or replace it with --force",
        path.display()
    )]
    Unknown {
        /// The file.
        path: PathBuf,
        /// What is wrong with it.
        cause: String,
    },
}

/// A directory that is ready for a result.
///
/// Dropped without [`OutDir::keep`], it removes the directories that [`prepare`] made, as far as they are empty: a
/// run that fails leaves no directory behind, and nothing of anyone else's is ever removed.
#[derive(Debug)]
#[must_use = "without `keep` the directory is removed again"]
pub struct OutDir {
    dir: PathBuf,
    /// Innermost last.
    created: Vec<PathBuf>,
}

impl OutDir {
    /// Where the result belongs.
    pub fn result(&self) -> PathBuf {
        self.dir.join(schema::FILE)
    }

    /// The directory.
    pub fn path(&self) -> &Path {
        &self.dir
    }

    /// Leaves the directory in place: something worth keeping was written.
    pub fn keep(mut self) {
        self.created.clear();
    }
}

impl Drop for OutDir {
    fn drop(&mut self) {
        for dir in self.created.drain(..).rev() {
            // `remove_dir` refuses a directory that holds anything, and that is what is wanted.
            if fs::remove_dir(&dir).is_err() {
                break;
            }
        }
    }
}

/// Makes `dir` ready for the result of the experiment `resolved` (its resolved text): creates it where it is
/// missing and checks that it can be written.
///
/// A result of the same experiment may be replaced; anything else in the place of `result.h5` only with `force`.
///
/// # Errors
/// See [`OutError`]. Nothing is created then.
pub fn prepare(dir: &Path, resolved: &str, force: bool) -> Result<OutDir, OutError> {
    let dir = if dir.as_os_str().is_empty() {
        Path::new(".")
    } else {
        dir
    };
    let result = dir.join(schema::FILE);
    if result.is_dir() {
        return Err(OutError::Unknown {
            path: result,
            cause: "it is a directory".to_string(),
        });
    }
    if !force && result.exists() {
        check_same(&result, resolved)?;
    }
    let ready = OutDir {
        dir: dir.to_path_buf(),
        created: create(dir)?,
    };
    probe(dir)?;
    Ok(ready)
}

fn check_same(result: &Path, resolved: &str) -> Result<(), OutError> {
    let header = read_header(result).map_err(|error| OutError::Unknown {
        path: result.to_path_buf(),
        cause: error.to_string(),
    })?;
    if header.experiment == resolved {
        return Ok(());
    }
    Err(OutError::OtherExperiment {
        path: result.to_path_buf(),
        difference: difference(&header.experiment, resolved),
    })
}

/// The first line in which two texts differ, from both.
fn difference(there: &str, here: &str) -> String {
    let (mut old, mut new) = (there.lines(), here.lines());
    loop {
        match (old.next(), new.next()) {
            (Some(a), Some(b)) if a == b => {}
            (None, None) => return "only the ends of lines differ".to_string(),
            (a, b) => {
                let show = |line: Option<&str>| line.unwrap_or("nothing more").trim().to_string();
                return format!("there: {}, here: {}", show(a), show(b));
            }
        }
    }
}

/// Creates what is missing of `dir`; returns what was created, outermost first.
fn create(dir: &Path) -> Result<Vec<PathBuf>, OutError> {
    let missing: Vec<&Path> = dir
        .ancestors()
        .take_while(|part| !part.as_os_str().is_empty() && fs::symlink_metadata(part).is_err())
        .collect();
    if let Some(part) = dir.ancestors().find(|part| part.exists())
        && !part.is_dir()
    {
        return Err(OutError::NotADirectory {
            path: part.to_path_buf(),
        });
    }
    let mut made = OutDir {
        dir: dir.to_path_buf(),
        created: Vec::new(),
    };
    for part in missing.into_iter().rev() {
        match fs::create_dir(part) {
            Ok(()) => made.created.push(part.to_path_buf()),
            // Another run made it at the same moment.
            Err(_) if part.is_dir() => {}
            Err(cause) => {
                return Err(OutError::Unwritable {
                    path: dir.to_path_buf(),
                    cause,
                });
            }
        }
    }
    Ok(std::mem::take(&mut made.created))
}

/// Creates and removes a file, for permission bits do not tell (root, read-only file systems, access lists).
fn probe(dir: &Path) -> Result<(), OutError> {
    let name = dir.join(format!(".weir-probe-{}", std::process::id()));
    fs::File::create(&name)
        .and_then(|_| fs::remove_file(&name))
        .map_err(|cause| OutError::Unwritable {
            path: dir.to_path_buf(),
            cause,
        })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::trace::{Data, Run, sample, write};

    const MINE: &str = "[run]\nseed = 1\n";
    const OTHER: &str = "[run]\nseed = 2\n";

    fn folder() -> tempfile::TempDir {
        tempfile::tempdir().expect("a temporary directory")
    }

    fn put(dir: &Path, experiment: &str, run: &Run) {
        let path = dir.join(schema::FILE);
        write(&path, &Data::default(), run, experiment, 1).expect("writes");
    }

    fn entries(dir: &Path) -> usize {
        fs::read_dir(dir).expect("reads").count()
    }

    #[test]
    fn a_new_directory_is_made_and_removed_if_nothing_comes_of_it() {
        let dir = folder();
        let out = dir.path().join("a/b/c");
        let ready = prepare(&out, MINE, false).expect("ready");
        assert!(out.is_dir());
        assert_eq!(entries(&out), 0, "no trace of the probe");
        assert_eq!(ready.result(), out.join("result.h5"));
        assert_eq!(ready.path(), out);
        drop(ready);
        assert_eq!(entries(dir.path()), 0);
    }

    #[test]
    fn a_kept_directory_stays() {
        let dir = folder();
        let out = dir.path().join("a/b");
        let ready = prepare(&out, MINE, false).expect("ready");
        put(ready.path(), MINE, &Run::default());
        ready.keep();
        assert!(out.join("result.h5").is_file());
    }

    #[test]
    fn what_is_not_ours_is_never_removed() {
        let dir = folder();
        drop(prepare(dir.path(), MINE, false).expect("ready"));
        assert!(dir.path().is_dir(), "it was there before");
        let out = dir.path().join("a/b");
        let ready = prepare(&out, MINE, false).expect("ready");
        fs::write(dir.path().join("a/note"), "mine").expect("writes");
        drop(ready);
        assert!(!out.exists() && dir.path().join("a/note").exists());
    }

    #[test]
    fn the_same_experiment_may_be_run_again() {
        let dir = folder();
        put(dir.path(), MINE, &Run::default());
        prepare(dir.path(), MINE, false).expect("ready").keep();
        assert!(
            dir.path().join("result.h5").is_file(),
            "until it is replaced"
        );
    }

    #[test]
    fn another_experiment_is_kept_unless_forced() {
        let stopped = Run {
            stopped: Some("max_wall".into()),
            ..sample::run()
        };
        for run in [Run::default(), stopped] {
            let dir = folder();
            put(dir.path(), OTHER, &run);
            let error = prepare(dir.path(), MINE, false).expect_err("another experiment");
            let text = error.to_string();
            assert!(matches!(error, OutError::OtherExperiment { .. }), "{text}");
            assert!(text.contains("there: seed = 2, here: seed = 1"), "{text}");
            assert!(text.contains("--force"), "{text}");
            prepare(dir.path(), MINE, true).expect("forced").keep();
        }
    }

    #[test]
    fn a_file_that_is_no_result_is_not_overwritten() {
        let dir = folder();
        let path = dir.path().join("result.h5");
        fs::write(&path, "a diary").expect("writes");
        let error = prepare(dir.path(), MINE, false).expect_err("not ours");
        assert!(matches!(error, OutError::Unknown { .. }), "{error}");
        prepare(dir.path(), MINE, true).expect("forced").keep();
        fs::remove_file(&path).expect("removes");
        fs::create_dir(&path).expect("creates");
        for force in [false, true] {
            let error = prepare(dir.path(), MINE, force).expect_err("a directory");
            assert!(matches!(error, OutError::Unknown { .. }), "{error}");
        }
    }

    #[test]
    fn a_path_through_a_file_is_refused_and_nothing_is_made() {
        let dir = folder();
        let file = dir.path().join("file");
        fs::write(&file, "text").expect("writes");
        for out in [file.clone(), file.join("below"), file.join("far/below")] {
            let error = prepare(&out, MINE, false).expect_err("a file");
            assert!(
                matches!(&error, OutError::NotADirectory { path } if *path == file),
                "{error}"
            );
        }
        assert_eq!(entries(dir.path()), 1);
    }

    #[test]
    fn a_place_that_cannot_be_written_is_refused() {
        // Nobody, not even root, makes files there.
        for out in ["/proc/weir", "/proc", "/sys/weir"] {
            let error = prepare(Path::new(out), MINE, false).expect_err(out);
            assert!(matches!(error, OutError::Unwritable { .. }), "{error}");
            assert!(error.to_string().contains("cannot write into"), "{error}");
        }
    }

    #[test]
    fn the_first_difference_is_shown() {
        assert_eq!(difference("a\nb\n", "a\nc\n"), "there: b, here: c");
        assert_eq!(difference("a\n", "a\nc\n"), "there: nothing more, here: c");
        assert_eq!(difference("a", "a\n"), "only the ends of lines differ");
    }
}
