//! Locks: who works in a directory, for everybody else to see.

use std::fs::{self, File};
use std::io::{self, Read, Seek, SeekFrom, Write};
use std::os::unix::fs::{MetadataExt, OpenOptionsExt};
use std::path::{Path, PathBuf};
use std::time::{Duration, SystemTime, UNIX_EPOCH};
use std::{fmt, thread};

use rustix::fs::{FlockOperation, OFlags, flock};
use rustix::io::Errno;
use serde::{Deserialize, Serialize};

/// Number of checks of a held lock for the name of its holder, which may be about to be written.
const LOOKS: u32 = 50;
/// Between two looks.
const PAUSE: Duration = Duration::from_millis(10);
/// Longer than the text of a lock file on its holder, in bytes.
const LONGEST: u64 = 4096;

/// A process that holds a lock, as its lock file says.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Holder {
    /// Its number.
    pub pid: u32,
    /// Its start, in the units of the operating system: tells it from a later one of the same
    /// number.
    pub began: u64,
    /// The computer on which it runs.
    pub host: String,
    /// Wall-clock time at which it took the lock, RFC 3339, UTC.
    pub since: String,
}

impl Holder {
    fn this() -> Holder {
        let pid = std::process::id();
        Holder {
            pid,
            began: began(pid).unwrap_or_default(),
            host: here(),
            since: date(),
        }
    }

    fn read(file: &mut File) -> Option<Holder> {
        let mut text = String::new();
        file.seek(SeekFrom::Start(0)).ok()?;
        file.take(LONGEST).read_to_string(&mut text).ok()?;
        toml::from_str(&text).ok()
    }

    fn write(&self, file: &mut File) -> io::Result<()> {
        let text = toml::to_string(self).map_err(io::Error::other)?;
        file.set_len(0)?;
        file.seek(SeekFrom::Start(0))?;
        file.write_all(text.as_bytes())
    }

    /// True if it is alive; None for a process of another computer.
    fn alive(&self) -> Option<bool> {
        (self.host == here()).then(|| began(self.pid) == Some(self.began))
    }
}

impl fmt::Display for Holder {
    fn fmt(&self, f: &mut fmt::Formatter) -> fmt::Result {
        write!(
            f,
            "process {} on {}, since {}",
            self.pid, self.host, self.since
        )
    }
}

/// A lock, held until it is dropped or, by a child that was given [`Lock::file`], until that has
/// ended.
#[derive(Debug)]
pub struct Lock {
    file: File,
    path: PathBuf,
}

/// Outcome of asking for a lock.
#[derive(Debug)]
pub enum Taken {
    /// This process has it.
    Locked(Lock),
    /// The file system has no locks.
    /// No process of this computer works there. The last holder, if any is named, was on another
    /// computer, and whether that process still runs cannot be known.
    Unlocked(Lock, Option<Holder>),
    /// Another process has it; None if it does not say who it is.
    Held(Option<Holder>),
}

impl Lock {
    /// Takes the lock `path`, a file that is made if it is missing, and writes its holder into it.
    ///
    /// The operating system frees a lock when its process ends, however that happens: files that a
    /// killed process has left behind are no obstacle.
    ///
    /// # Errors
    /// If the file cannot be made or opened, or is a symbolic link or something else than a file.
    pub fn take(path: &Path) -> io::Result<Taken> {
        let mut looks = 0;
        loop {
            let mut file = open(path)?;
            match flock(&file, FlockOperation::NonBlockingLockExclusive) {
                // The previous holder may have removed the file between the two steps: then the
                // lock is on a file that no other process will find.
                Ok(()) if !is_at(&file, path) => {}
                Ok(()) => return Lock::held(file, path).map(Taken::Locked),
                Err(Errno::WOULDBLOCK) => {
                    let holder = Holder::read(&mut file);
                    looks += 1;
                    // A process that has ended is the holder before this one, whose name is about
                    // to be written, or somebody only looks ([`Lock::is_held`]), or its child still
                    // has it.
                    let ended = |holder: &Holder| holder.alive() == Some(false);
                    if looks == LOOKS || holder.as_ref().is_some_and(|holder| !ended(holder)) {
                        return Ok(Taken::Held(holder));
                    }
                    thread::sleep(PAUSE);
                }
                Err(Errno::INTR) => {}
                Err(_) => return Lock::without(file, path),
            }
        }
    }

    /// On a file system that has no locks the name of the holder has to do.
    fn without(mut file: File, path: &Path) -> io::Result<Taken> {
        let other = Holder::read(&mut file).filter(|holder| holder.pid != std::process::id());
        if other.as_ref().and_then(Holder::alive) == Some(true) {
            return Ok(Taken::Held(other));
        }
        let unknown = other.filter(|holder| holder.alive().is_none());
        Ok(Taken::Unlocked(Lock::held(file, path)?, unknown))
    }

    /// The lock of this process, with its name in the file. The file is removed if that cannot be
    /// written.
    fn held(file: File, path: &Path) -> io::Result<Lock> {
        let path = path.to_path_buf();
        let mut lock = Lock { file, path };
        match Holder::this().write(&mut lock.file) {
            Ok(()) => Ok(lock),
            Err(error) => {
                lock.remove();
                Err(error)
            }
        }
    }

    /// True if another process has the lock `path` now. On a file system without locks: false.
    pub fn is_held(path: &Path) -> bool {
        File::open(path).is_ok_and(|file| {
            flock(&file, FlockOperation::NonBlockingLockShared) == Err(Errno::WOULDBLOCK)
        })
    }

    /// Holder of the lock `path`, as the file says.
    pub fn holder(path: &Path) -> Option<Holder> {
        Holder::read(&mut File::open(path).ok()?)
    }

    /// The open file that the lock belongs to: a child that inherits it holds the lock until its
    /// own end.
    pub fn file(&self) -> &File {
        &self.file
    }

    /// Frees the lock and removes its file.
    pub fn remove(self) {
        if is_at(&self.file, &self.path) {
            // A file that stays is no obstacle.
            let _ = fs::remove_file(&self.path);
        }
    }
}

fn open(path: &Path) -> io::Result<File> {
    let file = File::options()
        .read(true)
        .write(true)
        .create(true)
        .truncate(false)
        .custom_flags(OFlags::NOFOLLOW.bits() as i32)
        .open(path)
        .map_err(|error| match Errno::from_io_error(&error) {
            Some(Errno::LOOP) => io::Error::new(error.kind(), "it is a symbolic link"),
            _ => error,
        })?;
    match file.metadata()?.is_file() {
        true => Ok(file),
        false => Err(io::Error::other("it is not a plain file")),
    }
}

/// True if this open file is the one that has this name now.
fn is_at(file: &File, path: &Path) -> bool {
    let (Ok(open), Ok(named)) = (file.metadata(), fs::symlink_metadata(path)) else {
        return false;
    };
    (open.dev(), open.ino()) == (named.dev(), named.ino())
}

/// The wall-clock time, RFC 3339, UTC, whole seconds: the nearest that can be written in four
/// digits of the year, since a clock may be wrong.
pub fn date() -> String {
    const LAST: Duration = Duration::from_secs(253_402_300_799);
    let now = SystemTime::now().clamp(UNIX_EPOCH, UNIX_EPOCH + LAST);
    humantime::format_rfc3339_seconds(now).to_string()
}

/// The name of this computer.
pub fn here() -> String {
    rustix::system::uname()
        .nodename()
        .to_string_lossy()
        .into_owned()
}

/// Start of a process of this computer, in clock ticks since boot; None if there is no such
/// process.
pub fn began(pid: u32) -> Option<u64> {
    let text = fs::read_to_string(format!("/proc/{pid}/stat")).ok()?;
    // The name of the program is in brackets and may hold anything.
    let (_, rest) = text.rsplit_once(')')?;
    let mut words = rest.split_whitespace();
    let zombie = words.next()? == "Z";
    // The 22nd word of the line; the first two are gone and so is the state.
    let began = words.nth(18)?.parse().ok()?;
    (!zombie).then_some(began)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn folder() -> tempfile::TempDir {
        tempfile::tempdir().expect("a temporary directory")
    }

    fn locked(path: &Path) -> Lock {
        match Lock::take(path).expect("takes") {
            Taken::Locked(lock) => lock,
            other => panic!("{other:?}"),
        }
    }

    #[test]
    fn the_second_is_told_who_was_first() {
        let dir = folder();
        let path = dir.path().join("lock");
        let first = locked(&path);
        let Taken::Held(Some(holder)) = Lock::take(&path).expect("looks") else {
            panic!("two at once");
        };
        assert_eq!((holder.pid, &holder.host), (std::process::id(), &here()));
        assert_eq!(holder.alive(), Some(true));
        assert!(Lock::is_held(&path));
        drop(first);
        assert!(!Lock::is_held(&path));
        locked(&path).remove();
        assert!(!path.exists());
    }

    #[test]
    fn a_lock_file_that_was_left_behind_is_in_nobodys_way() {
        let dir = folder();
        let path = dir.path().join("lock");
        for left in ["", "pid = 1\n", "nonsense \0", &"long".repeat(5_000)] {
            fs::write(&path, left).expect("writes");
            drop(locked(&path));
        }
    }

    #[test]
    fn a_lock_on_a_file_that_was_removed_is_none() {
        let dir = folder();
        let path = dir.path().join("lock");
        let old = locked(&path);
        fs::remove_file(&path).expect("removes");
        let new = locked(&path);
        // The old one must not remove the file of the new one.
        old.remove();
        assert!(path.exists() && Lock::is_held(&path));
        new.remove();
    }

    #[test]
    fn a_link_is_not_followed() {
        let dir = folder();
        let (path, target) = (dir.path().join("lock"), dir.path().join("target"));
        fs::write(&target, "mine").expect("writes");
        std::os::unix::fs::symlink(&target, &path).expect("links");
        let error = Lock::take(&path).expect_err("a link");
        assert!(error.to_string().contains("symbolic link"), "{error}");
        assert_eq!(fs::read_to_string(&target).expect("reads"), "mine");
    }

    #[test]
    fn without_locks_the_name_decides() {
        let dir = folder();
        let path = dir.path().join("lock");
        let with = |holder: &Holder| {
            let mut file = open(&path).expect("opens");
            holder.write(&mut file).expect("writes");
            Lock::without(file, &path).expect("looks")
        };
        let parent = std::os::unix::process::parent_id();
        let alive = Holder {
            pid: parent,
            began: began(parent).expect("the parent"),
            ..Holder::this()
        };
        assert!(matches!(with(&alive), Taken::Held(Some(holder)) if holder == alive));
        // The number was given to another process since.
        let gone = Holder {
            began: alive.began + 1,
            ..alive.clone()
        };
        assert!(matches!(with(&gone), Taken::Unlocked(_, None)));
        let elsewhere = Holder {
            host: "elsewhere".into(),
            ..alive
        };
        assert!(matches!(with(&elsewhere), Taken::Unlocked(_, Some(other)) if other == elsewhere));
        let own = Holder::read(&mut open(&path).expect("opens")).expect("a holder");
        assert_eq!(own.pid, std::process::id());
    }
}
