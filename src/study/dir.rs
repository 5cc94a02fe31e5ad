//! The directory of a sweep: where everything lies, and in what state each point is.

use std::fs::{self, File};
use std::io::{self, Read, Seek, SeekFrom};
use std::path::{Path, PathBuf};

use serde::{Deserialize, Serialize};

use super::job_file::Options;
use crate::model::visible;
use crate::trace::{
    Header, Lock, Taken, began, here, read_header, remove_leftovers, replace, schema,
};

/// The directory of a sweep.
#[derive(Clone, Debug)]
pub struct SweepDir {
    root: PathBuf,
}

/// The directory of one point: `DIR/points/HASH`.
#[derive(Clone, Debug)]
pub struct PointDir {
    path: PathBuf,
}

/// What is in `status.toml`.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Status {
    /// What became of the point.
    pub state: StateName,
    /// Why it failed.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub reason: Option<Reason>,
    /// The last words of the run.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub message: Option<String>,
    /// The exit code; absent if a signal ended the run, or while it runs.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub exit_code: Option<i32>,
    /// From its start to its end.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub wall_seconds: Option<f64>,
    /// Wall-clock time at its start, RFC 3339, UTC.
    pub started: String,
    /// Where it runs.
    pub host: String,
    /// The process of the run.
    pub pid: u32,
    /// When that process began, in the units of the operating system: tells it from a later one of the same number.
    pub pid_began: u64,
    /// MPI ranks.
    pub ranks: u32,
}

/// The states in `status.toml`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum StateName {
    /// The result is there.
    Done,
    /// It ended without a result.
    Failed,
    /// It has begun.
    Running,
}

/// Why a point failed.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Reason {
    /// The run ended with an error.
    Error,
    /// Packets in flight could never move again.
    Stalled,
    /// It took longer than `run.max_wall`.
    #[serde(rename = "time limit")]
    TimeLimit,
    /// A signal ended it.
    Killed,
    /// It had a result, which cannot be read any more.
    Damaged,
}

impl Reason {
    /// Its name in `status.toml`.
    pub fn name(self) -> &'static str {
        match self {
            Reason::Error => "error",
            Reason::Stalled => "stalled",
            Reason::TimeLimit => "time limit",
            Reason::Killed => "killed",
            Reason::Damaged => "damaged",
        }
    }

    /// Whether the next run tries again without being asked to: the experiment is not to blame.
    pub fn passes(self) -> bool {
        matches!(self, Reason::Killed | Reason::Damaged)
    }
}

/// In what state a point is.
#[derive(Clone, Debug, PartialEq)]
pub enum State {
    /// Nothing was done yet, or what was begun was killed.
    Waiting,
    /// It is running now.
    Running,
    /// Its result is whole.
    Done,
    /// It failed.
    Failed(Reason, String),
}

impl State {
    /// Its name in tables.
    pub fn name(&self) -> &'static str {
        match self {
            State::Waiting => "waiting",
            State::Running => "running",
            State::Done => "done",
            State::Failed(..) => "failed",
        }
    }
}

/// `DIR/sweep.toml`: how the job file was changed from the command line.
#[derive(Clone, Debug, Serialize, Deserialize)]
struct Setup {
    /// The job file as it was named.
    file: PathBuf,
    #[serde(flatten)]
    options: Options,
}

impl SweepDir {
    /// A directory, whether it exists or not.
    pub fn new(root: &Path) -> SweepDir {
        SweepDir {
            root: root.to_path_buf(),
        }
    }

    /// Its path.
    pub fn root(&self) -> &Path {
        &self.root
    }

    /// `DIR/table.csv`.
    pub fn table(&self) -> PathBuf {
        self.root.join("table.csv")
    }

    /// `DIR/table.h5`.
    pub fn table_h5(&self) -> PathBuf {
        self.root.join("table.h5")
    }

    /// `DIR/claims.csv`.
    pub fn claims(&self) -> PathBuf {
        self.root.join("claims.csv")
    }

    /// `DIR/job.toml`: the job file as it was read.
    pub fn job(&self) -> PathBuf {
        self.root.join("job.toml")
    }

    /// The directory of the point with this hash.
    pub fn point(&self, hash: &str) -> PointDir {
        PointDir {
            path: self.root.join("points").join(hash),
        }
    }

    /// Makes the directory and writes down which study it is for.
    ///
    /// # Errors
    /// If it cannot be made or written, holds the result of a run, or is the directory of another job file.
    pub fn prepare(&self, path: &Path, text: &str, options: &Options) -> io::Result<()> {
        self.check_free(path, text)?;
        fs::create_dir_all(self.root.join("points"))?;
        remove_leftovers(&self.root);
        let setup = Setup {
            file: path.to_path_buf(),
            options: options.clone(),
        };
        let setup = toml::to_string(&setup).map_err(io::Error::other)?;
        replace(&self.job(), text.as_bytes())?;
        replace(&self.root.join("sweep.toml"), setup.as_bytes())
    }

    /// A job file that was edited goes on with the points that are left of it; one of another name and title would take this one's table.
    fn check_free(&self, path: &Path, text: &str) -> io::Result<()> {
        if self.root.join(schema::FILE).is_file() && !self.job().is_file() {
            return Err(io::Error::other("it holds the result of a run"));
        }
        match self.setup() {
            Ok((file, old, _))
                if old != text
                    && file.file_name() != path.file_name()
                    && !same_title(&old, text) =>
            {
                let file = visible(&file.display().to_string()).into_owned();
                Err(io::Error::other(format!("it holds the sweep of {file}")))
            }
            _ => Ok(()),
        }
    }

    /// The job file of the sweep that this directory holds, and how it was changed from the command line.
    ///
    /// # Errors
    /// If the directory holds no sweep.
    pub fn setup(&self) -> io::Result<(PathBuf, String, Options)> {
        let text = fs::read_to_string(self.job())?;
        let setup = fs::read_to_string(self.root.join("sweep.toml"))?;
        let setup: Setup = toml::from_str(&setup).map_err(io::Error::other)?;
        Ok((setup.file, text, setup.options))
    }
}

/// Whether two job files have the same title. (The Python package writes its own under new names.)
fn same_title(one: &str, other: &str) -> bool {
    let title = |text: &str| {
        let table: toml::Table = toml::from_str(text).ok()?;
        table.get("title")?.as_str().map(str::to_string)
    };
    title(one).is_some_and(|own| title(other) == Some(own))
}

impl PointDir {
    /// Its path.
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// The resolved experiment.
    pub fn experiment(&self) -> PathBuf {
        self.path.join("experiment.toml")
    }

    /// The result.
    pub fn result(&self) -> PathBuf {
        self.path.join(schema::FILE)
    }

    /// What the run printed.
    pub fn log(&self) -> PathBuf {
        self.path.join("log.txt")
    }

    fn status_file(&self) -> PathBuf {
        self.path.join("status.toml")
    }

    fn lock_file(&self) -> PathBuf {
        self.path.join("lock")
    }

    /// What `status.toml` says; None if there is none that can be read.
    pub fn status(&self) -> Option<Status> {
        let text = fs::read_to_string(self.status_file()).ok()?;
        toml::from_str(&text).ok()
    }

    pub(super) fn write_status(&self, status: &Status) -> io::Result<()> {
        let text = toml::to_string(status).map_err(io::Error::other)?;
        replace(&self.status_file(), text.as_bytes())
    }

    /// Makes a point that has failed one that is waiting; its log stays.
    ///
    /// # Errors
    /// If its status cannot be removed.
    pub fn try_again(&self) -> io::Result<()> {
        match fs::remove_file(self.status_file()) {
            Err(error) if error.kind() != io::ErrorKind::NotFound => Err(error),
            _ => Ok(()),
        }
    }

    pub(super) fn forget_status(&self) {
        // Without it the point is waiting; with it a later look finds that nobody runs it, which is the same.
        let _ = fs::remove_file(self.status_file());
    }

    /// Whether its result is whole and of this experiment.
    pub fn done(&self, resolved: &str) -> bool {
        read_header(&self.result()).is_ok_and(|header| is_done(&header, resolved))
    }

    /// In what state it is.
    pub fn state(&self, resolved: &str) -> State {
        match self.settled(resolved) {
            State::Done => State::Done,
            _ if self.locked() => State::Running,
            state => state,
        }
    }

    /// In what state it is as far as its files say, whoever holds the lock.
    pub(super) fn settled(&self, resolved: &str) -> State {
        let header = read_header(&self.result());
        if header
            .as_ref()
            .is_ok_and(|header| is_done(header, resolved))
        {
            return State::Done;
        }
        match self.status() {
            Some(Status {
                state: StateName::Running,
                pid,
                pid_began,
                host,
                ..
            }) if host == here() && began(pid) == Some(pid_began) => State::Running,
            Some(Status {
                state: StateName::Failed,
                reason,
                message,
                ..
            }) => State::Failed(reason.unwrap_or(Reason::Error), message.unwrap_or_default()),
            _ => match header {
                Err(error) if self.result().exists() => {
                    State::Failed(Reason::Damaged, error.to_string())
                }
                _ => State::Waiting,
            },
        }
    }

    fn locked(&self) -> bool {
        // Where there are no locks the process tells.
        Lock::is_held(&self.lock_file())
    }

    /// Takes the point for this process; None if it is somebody else's now.
    ///
    /// The lock is that of the open file: a run that inherits the file holds it until its own end, even if the sweep
    /// is killed before.
    pub(super) fn take(&self) -> io::Result<Option<Lock>> {
        fs::create_dir_all(&self.path)?;
        match Lock::take(&self.lock_file())? {
            Taken::Held(_) => Ok(None),
            Taken::Locked(lock) | Taken::Unlocked(lock, _) => {
                remove_leftovers(&self.path);
                Ok(Some(lock))
            }
        }
    }

    /// The last lines of the log, at most `most` bytes of them.
    pub fn last_words(&self, most: u64) -> String {
        let read = || -> io::Result<String> {
            let mut file = File::open(self.log())?;
            let length = file.metadata()?.len();
            file.seek(SeekFrom::Start(length.saturating_sub(most)))?;
            let mut bytes = Vec::new();
            file.read_to_end(&mut bytes)?;
            Ok(String::from_utf8_lossy(&bytes).into_owned())
        };
        read().unwrap_or_default().trim().to_string()
    }
}

fn is_done(header: &Header, resolved: &str) -> bool {
    header.complete && header.experiment == resolved
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_sweep_goes_on_in_its_own_directory_only() {
        let dir = tempfile::tempdir().expect("a directory");
        let sweep = SweepDir::new(&dir.path().join("out"));
        let options = Options::default();
        let prepare = |file: &str, text: &str| sweep.prepare(Path::new(file), text, &options);
        prepare("jobs/a.toml", "one").expect("a new one");
        prepare("a.toml", "edited").expect("the same, edited");
        prepare("copy.toml", "edited").expect("the same, under another name");
        for other in ["another", "title = \"of its own\""] {
            let error = prepare("b.toml", other).expect_err("another study");
            assert!(
                error.to_string().contains("the sweep of copy.toml"),
                "{error}"
            );
        }
        assert_eq!(sweep.setup().expect("reads").1, "edited");
        prepare("copy.toml", "title = \"mine\"").expect("the same, with a title");
        prepare("written.toml", "title = \"mine\"\nseeds = 2").expect("the same title");

        let run = SweepDir::new(dir.path());
        fs::write(dir.path().join(schema::FILE), "a result").expect("writes");
        let error = run.prepare(Path::new("a.toml"), "one", &options);
        let error = error.expect_err("a run's directory");
        assert!(error.to_string().contains("result of a run"), "{error}");
        assert!(!run.job().exists());
    }
}
