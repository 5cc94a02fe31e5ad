//! The directory that `weir run --out DIR` writes to: one run at a time, and one experiment's
//! result.

pub(crate) mod lock;
pub(crate) mod partial;

use std::fs;
use std::path::{Path, PathBuf};
use std::thread;
use std::time::Duration;

use thiserror::Error;

use crate::error::TraceError;
use crate::hdf::seal::{MAX_WALL, lasting};
use crate::read::read_header;
use crate::results::Data;
use crate::schema::{self, Run};
use crate::write::{settle, written};
use lock::{Holder, Lock, Taken};
use partial::{process_mark, remove_leftovers};

/// The file whose lock a run holds while it works on the directory.
const LOCK: &str = ".result.h5.lock";

/// The file in which a run writes how far it is.
const PROGRESS: &str = ".result.h5.progress";

/// A run that has not written its result yet.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct UnderWay {
    /// Its directory.
    pub dir: PathBuf,
    /// The process at work; None if there is none any more: it was killed.
    pub holder: Option<String>,
    /// Its progress, in its own words, with the time of that report; None if it has just begun.
    pub progress: Option<String>,
}

impl UnderWay {
    /// In words, a line each.
    pub fn words(&self) -> String {
        let far = self.progress.as_deref().unwrap_or("it has just begun");
        let dir = self.dir.display();
        match &self.holder {
            Some(holder) => {
                format!("{dir}: a run goes on ({holder}); its result is not there yet\n{far}")
            }
            None => format!("{dir}: a run was here and ended without a result\n{far}"),
        }
    }
}

/// Progress of the run that works in `dir`, or has left nothing but that behind.
/// None if there is no sign of a run.
pub fn under_way(dir: &Path) -> Option<UnderWay> {
    let progress = fs::read_to_string(dir.join(PROGRESS)).ok();
    let progress = progress.map(|text| text.trim().to_string());
    let lock = dir.join(LOCK);
    let held = Lock::is_held(&lock);
    (held || progress.is_some()).then(|| UnderWay {
        dir: dir.to_path_buf(),
        holder: held.then(|| {
            Lock::holder(&lock).map_or("which does not say who it is".to_string(), |one| {
                one.to_string()
            })
        }),
        progress,
    })
}

/// Reasons why a directory cannot be used for a result.
#[derive(Debug, Error)]
pub enum OutError {
    /// The path, or a part of it, is something else than a directory.
    #[error("{} is not a directory; name another one with --out", path.display())]
    NotADirectory {
        /// The part that is no directory.
        path: PathBuf,
    },
    /// The directory cannot be made or written.
    #[error("cannot write into {}: {cause}; write elsewhere with --out", path.display())]
    Unwritable {
        /// The directory.
        path: PathBuf,
        /// Cause.
        cause: std::io::Error,
    },
    /// It holds the result of another experiment.
    #[error(
        "{} holds the result of another experiment ({difference}); write elsewhere with --out, or \
         replace it with --force",
        path.display()
    )]
    OtherExperiment {
        /// The result.
        path: PathBuf,
        /// The first lines that differ.
        difference: String,
    },
    /// It is the directory of a sweep.
    #[error("{} holds a sweep, whose table a result does not belong to; write elsewhere with \
             --out", path.display())]
    Sweep {
        /// The directory.
        path: PathBuf,
    },
    /// It holds a file in the result's place that cannot be read as one.
    #[error(
        "{} is in the way ({cause}); write elsewhere with --out, or replace it with --force",
        path.display()
    )]
    Unknown {
        /// The file.
        path: PathBuf,
        /// The problem with it.
        cause: String,
    },
    /// Another run works there now.
    #[error(
        "{} is in use by another run of weir ({}); wait until it has ended, or write elsewhere \
         with --out (--force does not help here)",
        path.display(),
        holder.as_ref().map_or("which does not say who it is".to_string(), Holder::to_string)
    )]
    Busy {
        /// The directory.
        path: PathBuf,
        /// The process of that run.
        holder: Option<Holder>,
    },
    /// While this run went on, another file was put in the place of its result.
    #[error("{cause}; that appeared while this run went on, so its result is {} \
             instead", kept.display())]
    Overtaken {
        /// The problem with the file that is now in the result's place.
        cause: Box<OutError>,
        /// Path of this run's result.
        kept: PathBuf,
    },
    /// The result cannot be written.
    #[error(transparent)]
    Write(#[from] TraceError),
}

/// A directory that is ready for a result, locked against other runs.
///
/// Dropped without [`OutDir::put`], it removes the directories that [`prepare`] made, as far as
/// they are empty: a run that fails leaves no directory behind, and nothing of anyone else's is
/// ever removed.
#[derive(Debug)]
#[must_use = "dropped, the directory is removed again"]
pub struct OutDir {
    dir: PathBuf,
    /// Innermost last.
    created: Vec<PathBuf>,
    lock: Option<Lock>,
    /// A process that may also be at work, if the file system has no locks.
    unlocked: Option<String>,
    /// The resolved experiment.
    resolved: String,
    force: bool,
}

impl OutDir {
    /// Final path of the result.
    pub fn result(&self) -> PathBuf {
        self.dir.join(schema::FILE)
    }

    /// The directory.
    pub fn path(&self) -> &Path {
        &self.dir
    }

    /// File in which the run writes its progress. It is removed with the lock.
    pub fn progress(&self) -> PathBuf {
        self.dir.join(PROGRESS)
    }

    /// Warning for the user if the file system has no locks.
    pub fn warning(&self) -> Option<&str> {
        self.unlocked.as_deref()
    }

    /// Writes the result; the directory stays in place from then on. Gives the path of the result:
    /// a run that was stopped early does not replace one of the same experiment that was not, and
    /// gets another name then.
    ///
    /// The existing file is checked once more before it is replaced: a file system may have no
    /// locks, and programs other than weir do not know them.
    ///
    /// # Errors
    /// [`OutError::Write`]; [`OutError::Overtaken`] if another experiment's result, or something
    /// else, is in its place now. That file is kept, and this result gets another name.
    pub fn put(&mut self, data: &Data, run: &Run, seed: u64) -> Result<PathBuf, OutError> {
        let path = self.result();
        let partial = written(&path, data, run, &self.resolved, seed)?;
        let free = check_free(&path, &self.resolved, self.force);
        let whole = run.stopped.is_some() && is_whole(&path, &self.resolved);
        let place = match free {
            Ok(()) if !whole => path,
            _ => self.dir.join(format!("result-{}.h5", process_mark())),
        };
        settle(partial, &place)?;
        self.created.clear();
        match free {
            Ok(()) => Ok(place),
            Err(cause) => {
                let (cause, kept) = (Box::new(cause), place);
                Err(OutError::Overtaken { cause, kept })
            }
        }
    }
}

/// True for a result of this experiment whose run reached its end.
fn is_whole(result: &Path, resolved: &str) -> bool {
    read_header(result)
        .is_ok_and(|header| header.complete && difference(&header.experiment, resolved).is_none())
}

impl Drop for OutDir {
    fn drop(&mut self) {
        // Most runs are over before they have said anything.
        let _ = fs::remove_file(self.progress());
        if let Some(lock) = self.lock.take() {
            lock.remove();
        }
        remove_empty(&mut self.created);
    }
}

/// Makes `dir` ready for the result of the experiment `resolved` (its resolved text): creates it if
/// it is missing, locks it against other runs, and checks that it can be written. Files that killed
/// runs have left there are removed.
///
/// A result of the same experiment may be replaced; any other `result.h5` only with `force`.
///
/// # Errors
/// See [`OutError`]. Nothing is created or changed then.
pub fn prepare(dir: &Path, resolved: &str, force: bool) -> Result<OutDir, OutError> {
    let dir = if dir.as_os_str().is_empty() {
        Path::new(".")
    } else {
        dir
    };
    if dir.join("job.toml").is_file() && dir.join("sweep.toml").is_file() {
        let path = dir.to_path_buf();
        return Err(OutError::Sweep { path });
    }
    let mut ready = OutDir {
        dir: dir.to_path_buf(),
        created: create(dir)?,
        lock: None,
        unlocked: None,
        resolved: resolved.to_string(),
        force,
    };
    ready.lock()?;
    check_free(&ready.result(), resolved, force)?;
    probe(dir)?;
    remove_leftovers(dir);
    Ok(ready)
}

/// Number of looks at a directory that is in use.
const LOOKS: u32 = 20;
/// Between two looks.
const PAUSE: Duration = Duration::from_millis(100);

impl OutDir {
    fn lock(&mut self) -> Result<(), OutError> {
        let path = self.dir.join(LOCK);
        let take = || {
            Lock::take(&path).map_err(|cause| OutError::Unwritable {
                path: self.dir.clone(),
                cause: std::io::Error::new(cause.kind(), format!("{LOCK}: {cause}")),
            })
        };
        let mut taken = take()?;
        for _ in 0..LOOKS {
            if !matches!(taken, Taken::Held(_)) {
                break;
            }
            // A run that was killed just now takes a moment to end.
            thread::sleep(PAUSE);
            taken = take()?;
        }
        match taken {
            Taken::Locked(lock) => self.lock = Some(lock),
            Taken::Unlocked(lock, other) => {
                self.lock = Some(lock);
                let other = other.map_or(String::new(), |holder| {
                    format!(" There was a run already ({holder}), which may still go on.")
                });
                self.unlocked = Some(format!(
                    "the file system of {} has no locks: nothing stops runs on several computers \
                     from writing there at once, and of several results of this experiment the \
                     last one stays.{other}",
                    self.dir.display()
                ));
            }
            Taken::Held(holder) => {
                return Err(OutError::Busy {
                    path: self.dir.clone(),
                    holder,
                });
            }
        }
        Ok(())
    }
}

/// Checks that no file is in the place of the result that must not be replaced.
fn check_free(result: &Path, resolved: &str, force: bool) -> Result<(), OutError> {
    if result.is_dir() {
        return Err(OutError::Unknown {
            path: result.to_path_buf(),
            cause: "it is a directory".to_string(),
        });
    }
    match force || fs::symlink_metadata(result).is_err() {
        true => Ok(()),
        false => check_same(result, resolved),
    }
}

fn check_same(result: &Path, resolved: &str) -> Result<(), OutError> {
    let header = read_header(result).map_err(|error| OutError::Unknown {
        path: result.to_path_buf(),
        cause: match error {
            TraceError::Damaged { what, .. } | TraceError::NotAResult { what, .. } => what,
            TraceError::Schema { found, .. } => format!("it has schema version {found}"),
            TraceError::Read { cause, .. } => cause,
            other => other.to_string(),
        },
    })?;
    match difference(&header.experiment, resolved) {
        None => Ok(()),
        Some(difference) => Err(OutError::OtherExperiment {
            path: result.to_path_buf(),
            difference,
        }),
    }
}

/// The first line in which two resolved experiments differ, from both. None if they are the same,
/// or differ in `run.max_wall` only, which matters to nothing but the clock.
pub fn difference(there: &str, here: &str) -> Option<String> {
    let tables = [there, here].map(|text| lasting(text).ok());
    match tables {
        [Some(there), Some(here)] if there == here => None,
        _ if there == here => None,
        _ => Some(first_difference(there, here)),
    }
}

fn first_difference(there: &str, here: &str) -> String {
    let kept = |line: &&str| !line.starts_with(MAX_WALL);
    let [mut old, mut new] = [there, here].map(|text| text.lines().filter(kept));
    loop {
        match (old.next(), new.next()) {
            (Some(a), Some(b)) if a == b => {}
            (None, None) => return "they differ within a text".to_string(),
            (a, b) => {
                let show = |line: Option<&str>| line.unwrap_or("nothing more").trim().to_string();
                return format!("there: {}, here: {}", show(a), show(b));
            }
        }
    }
}

/// Creates the missing directories of `dir`; returns the created ones, outermost first.
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
    let mut made = Vec::new();
    for part in missing.into_iter().rev() {
        match fs::create_dir(part) {
            Ok(()) => made.push(part.to_path_buf()),
            // Another run made it at the same moment.
            Err(_) if part.is_dir() => {}
            Err(cause) => {
                remove_empty(&mut made);
                return Err(OutError::Unwritable {
                    path: dir.to_path_buf(),
                    cause,
                });
            }
        }
    }
    Ok(made)
}

/// Removes directories, innermost last, as far as they are empty.
fn remove_empty(made: &mut Vec<PathBuf>) {
    for dir in made.drain(..).rev() {
        // `remove_dir` refuses a directory that holds anything, as intended.
        if fs::remove_dir(&dir).is_err() {
            break;
        }
    }
}

/// Creates and removes a file, for permission bits do not tell (root, read-only file systems,
/// access lists).
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
mod tests;
