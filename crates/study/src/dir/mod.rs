//! The directory of a sweep: its layout, and the state of each point.

mod state;
mod values;

use std::collections::{BTreeMap, HashSet};
use std::fs::{self, File};
use std::io::{self, Read, Seek, SeekFrom};
use std::path::{Component, Path, PathBuf};

use rustix::fs::{Access, access};
use rustix::io::Errno;
use serde::{Deserialize, Serialize};

use super::job_file::keys::Options;
use super::points::Point;
use weir_model::program::MODEL_VERSION;
use weir_model::visible;
use weir_result::{
    Lock, Mark, Taken, began, first_missing, here, read_header, read_mark, remove_leftovers,
    replace, schema,
};

pub use state::{Reason, State, StateName, Status};
pub(crate) use values::{Reading, Stamp, Values};

/// Folder of the states that points share.
pub(crate) const FORKS: &str = "forks";

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

/// Description of a study in its directory.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
pub struct Setup {
    /// The job file as it was named.
    pub file: PathBuf,
    /// Its folder, absolute: traces are named relative to it.
    #[serde(default)]
    pub folder: PathBuf,
    /// The same from the directory of the study, in case both are moved: [`SweepDir::prepare`]
    /// fills it in.
    #[serde(default)]
    pub from_here: PathBuf,
    /// Changes from the command line.
    #[serde(flatten)]
    pub options: Options,
    /// Its text.
    #[serde(skip)]
    pub text: String,
    /// The texts of the files that it names.
    #[serde(skip)]
    pub inputs: BTreeMap<String, String>,
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

    /// `DIR/forks`: states that points share.
    pub(crate) fn forks(&self) -> PathBuf {
        self.root.join(FORKS)
    }

    /// `DIR/sweep.toml`: the name of the job file, and how it was changed from the command line.
    fn setup_file(&self) -> PathBuf {
        self.root.join("sweep.toml")
    }

    /// `DIR/inputs.toml`: the files that the job file names.
    fn inputs(&self) -> PathBuf {
        self.root.join("inputs.toml")
    }

    /// True if nothing can be written into it, regardless of its content.
    pub fn is_read_only(&self) -> bool {
        access(&self.root, Access::WRITE_OK).is_err_and(|why| {
            // Other errors are reported when it is written.
            [Errno::ACCESS, Errno::ROFS, Errno::PERM].contains(&why)
        })
    }

    /// `DIR/job.toml`: the job file as it was read.
    pub fn job(&self) -> PathBuf {
        self.root.join("job.toml")
    }

    /// The directories of all points that were ever begun, in any order. None if nothing was.
    pub fn begun(&self) -> Vec<PointDir> {
        let entries = fs::read_dir(self.root.join("points"));
        let entries = entries.into_iter().flatten().flatten();
        let dirs = entries.map(|entry| PointDir { path: entry.path() });
        dirs.collect()
    }

    /// The model version of a result here, if it is not that of this weir, in words. None if there
    /// is no such result. Reads the results one by one.
    pub fn outdated(&self) -> Option<String> {
        let own = u64::from(MODEL_VERSION);
        let old = self.begun().into_iter().find_map(|point| {
            let version = read_header(&point.result()).ok()?.model_version?;
            (version != own).then_some(version)
        })?;
        Some(format!(
            "its results are of model version {old}, and this weir has {own}"
        ))
    }

    /// The states of points, in their order.
    pub fn states(&self, points: &[Point]) -> Vec<State> {
        let begun: HashSet<String> = self.begun().iter().map(|one| one.hash().into()).collect();
        let state = |point: &Point| match begun.contains(&point.hash) {
            true => self.point(&point.hash).state(),
            false => State::Waiting,
        };
        points.iter().map(state).collect()
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
    /// If it cannot be made or written, holds the result of a run, or is the directory of another
    /// job file.
    pub fn prepare(&self, study: &Setup) -> io::Result<()> {
        self.check_free(&study.file, &study.text)?;
        let points = self.root.join("points");
        fs::create_dir_all(&points).map_err(about(&points))?;
        remove_leftovers(&self.root);
        let root = std::path::absolute(&self.root)?;
        let setup = Setup {
            from_here: way_between(&root, &study.folder),
            ..study.clone()
        };
        let setup = toml::to_string(&setup).map_err(io::Error::other)?;
        // Other points may have been begun with files that these do not name.
        let known = self.read_inputs()?;
        let mut inputs = known.clone();
        inputs.extend(study.inputs.clone());
        if inputs != known {
            let text = toml::to_string(&inputs).map_err(io::Error::other)?;
            write(&self.inputs(), text.as_bytes())?;
        }
        write(&self.job(), study.text.as_bytes())?;
        write(&self.setup_file(), setup.as_bytes())
    }

    fn read_inputs(&self) -> io::Result<BTreeMap<String, String>> {
        let path = self.inputs();
        match fs::read_to_string(&path) {
            Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(BTreeMap::new()),
            read => parsed(&path, read),
        }
    }

    /// A job file that was edited continues with its remaining points.
    /// One of another name and title would take this one's table.
    fn check_free(&self, path: &Path, text: &str) -> io::Result<()> {
        if self.root.join(schema::FILE).is_file() && !self.job().is_file() {
            return Err(io::Error::other("it holds the result of a run"));
        }
        match self.setup() {
            Ok(own)
                if own.text != text
                    && own.file.file_name() != path.file_name()
                    && !same_title(&own.text, text) =>
            {
                let file = visible(&own.file.display().to_string()).into_owned();
                Err(io::Error::other(format!("it holds the sweep of {file}")))
            }
            _ => Ok(()),
        }
    }

    /// Description of the study in the directory.
    ///
    /// # Errors
    /// If it holds no study.
    pub fn setup(&self) -> io::Result<Setup> {
        let (job, file) = (self.job(), self.setup_file());
        let text = fs::read_to_string(&job).map_err(about(&job))?;
        let mut setup: Setup = parsed(&file, fs::read_to_string(&file))?;
        setup.text = text;
        setup.inputs = self.read_inputs()?;
        if setup.folder.as_os_str().is_empty() {
            setup.folder = setup.file.parent().unwrap_or(Path::new("")).to_path_buf();
        }
        if !setup.folder.is_dir() && setup.from_here != Path::new("") {
            // Symbolic links and `..` included.
            let moved = fs::canonicalize(self.root.join(&setup.from_here));
            setup.folder = moved.unwrap_or(setup.folder);
        }
        Ok(setup)
    }
}

/// An error of the operating system with the path that it is about; if a directory is missing, with
/// the first that is.
pub fn about(path: &Path) -> impl Fn(io::Error) -> io::Error {
    move |error| {
        let missing = match error.kind() {
            io::ErrorKind::NotFound => first_missing(path),
            _ => None,
        };
        let path = path.display();
        let words = match missing {
            Some(missing) => format!("{path}: there is no directory {}", missing.display()),
            None => format!("{path}: {error}"),
        };
        io::Error::new(error.kind(), words)
    }
}

/// Writes a file as a whole.
pub(super) fn write(path: &Path, content: &[u8]) -> io::Result<()> {
    replace(path, content).map_err(about(path))
}

/// Content of a TOML file.
fn parsed<T: for<'de> Deserialize<'de>>(path: &Path, text: io::Result<String>) -> io::Result<T> {
    let text = text.map_err(about(path))?;
    toml::from_str(&text).map_err(|error| about(path)(io::Error::other(error.message())))
}

/// The relative path that leads from one absolute path to another; empty if that is not absolute.
fn way_between(from: &Path, to: &Path) -> PathBuf {
    if !to.is_absolute() {
        return PathBuf::new();
    }
    let parts = from.components().zip(to.components());
    let common = parts.take_while(|(a, b)| a == b).count();
    let up = from.components().skip(common).map(|_| Component::ParentDir);
    up.chain(to.components().skip(common)).collect()
}

/// True if two job files have the same title. (The Python package writes its own under new names.)
pub(crate) fn same_title(one: &str, other: &str) -> bool {
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

    /// The hash of the point.
    pub fn hash(&self) -> &str {
        let name = self.path.file_name();
        name.and_then(|name| name.to_str()).unwrap_or_default()
    }

    /// The resolved experiment.
    pub fn experiment(&self) -> PathBuf {
        self.path.join("experiment.toml")
    }

    /// The result.
    pub fn result(&self) -> PathBuf {
        self.path.join(schema::FILE)
    }

    /// Output of the run.
    pub fn log(&self) -> PathBuf {
        self.path.join("log.txt")
    }

    fn status_file(&self) -> PathBuf {
        self.path.join("status.toml")
    }

    fn lock_file(&self) -> PathBuf {
        self.path.join("lock")
    }

    /// Content of `status.toml`; None if there is none that can be read.
    pub fn status(&self) -> Option<Status> {
        let text = fs::read_to_string(self.status_file()).ok()?;
        toml::from_str(&text).ok()
    }

    pub(super) fn write_status(&self, status: &Status) -> io::Result<()> {
        let text = toml::to_string(status).map_err(io::Error::other)?;
        write(&self.status_file(), text.as_bytes())
    }

    /// Makes a point that has failed one that is waiting; its log stays.
    ///
    /// # Errors
    /// If its status cannot be removed.
    pub fn try_again(&self) -> io::Result<()> {
        let status = self.status_file();
        match fs::remove_file(&status) {
            Err(error) if error.kind() != io::ErrorKind::NotFound => Err(about(&status)(error)),
            _ => Ok(()),
        }
    }

    pub(super) fn forget_status(&self) {
        // Without it the point is waiting; with it a later check finds that no process runs it,
        // which is the same.
        let _ = fs::remove_file(self.status_file());
    }

    /// True if its result is whole and of its experiment.
    pub fn done(&self) -> bool {
        read_mark(&self.result()).is_ok_and(|mark| self.is_done(&mark))
    }

    fn is_done(&self, mark: &Mark) -> bool {
        mark.complete && mark.experiment == self.hash()
    }

    /// The state of the point.
    pub fn state(&self) -> State {
        match self.settled() {
            State::Done => State::Done,
            _ if self.locked() => State::Running,
            state => state,
        }
    }

    /// The state of the point as far as its files say, regardless of the lock.
    pub(super) fn settled(&self) -> State {
        let mark = read_mark(&self.result());
        if mark.as_ref().is_ok_and(|mark| self.is_done(mark)) {
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
            _ => match mark {
                Err(error) if self.result().exists() => {
                    State::Failed(Reason::Damaged, error.to_string())
                }
                _ => State::Waiting,
            },
        }
    }

    fn locked(&self) -> bool {
        // If there are no locks, the process tells.
        Lock::is_held(&self.lock_file())
    }

    /// Takes the point for this process; None if another process has it now.
    ///
    /// The lock is that of the open file: a run that inherits the file holds it until its own end,
    /// even if the sweep is killed before.
    pub(super) fn take(&self) -> io::Result<Option<Lock>> {
        // A directory of the study that was removed while it runs is not made again: the job file
        // would be missing there.
        match fs::create_dir(&self.path) {
            Err(error) if error.kind() != io::ErrorKind::AlreadyExists => {
                return Err(about(&self.path)(error));
            }
            _ => {}
        }
        let lock = self.lock_file();
        match Lock::take(&lock).map_err(about(&lock))? {
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_sweep_goes_on_in_its_own_directory_only() {
        let dir = tempfile::tempdir().expect("a directory");
        let sweep = SweepDir::new(&dir.path().join("out"));
        let study = |file: &str, text: &str| Setup {
            file: file.into(),
            text: text.into(),
            ..Setup::default()
        };
        let prepare = |file: &str, text: &str| sweep.prepare(&study(file, text));
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
        assert_eq!(sweep.setup().expect("reads").text, "edited");
        prepare("copy.toml", "title = \"mine\"").expect("the same, with a title");
        prepare("written.toml", "title = \"mine\"\nseeds = 2").expect("the same title");

        let run = SweepDir::new(dir.path());
        fs::write(dir.path().join(schema::FILE), "a result").expect("writes");
        let error = run.prepare(&study("a.toml", "one"));
        let error = error.expect_err("a run's directory");
        assert!(error.to_string().contains("result of a run"), "{error}");
        assert!(!run.job().exists());
    }
}
