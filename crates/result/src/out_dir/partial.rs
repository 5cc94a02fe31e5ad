//! Files that are written under a name of their own and get their place when they are whole.

use std::ffi::OsString;
use std::fs::{self, File};
use std::hash::{BuildHasher, RandomState};
use std::io::{self, Write};
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};

use rustix::io::Errno;
use rustix::process::{Pid, geteuid, test_kill_process};

use super::lock::here;

/// Suffix of the name of a partial file.
const END: &str = ".partial";
/// Most characters of the final name in that of the partial file: a file system has a longest name.
const MOST_NAME: usize = 32;

/// A file in the making: `.NAME.HOST-PID-RANDOM.partial` in the directory of the file `NAME` that
/// it will be.
///
/// No other process uses that name, and an existing one, for example a symbolic link, is never
/// opened. Dropped before it is settled it is removed.
#[derive(Debug)]
pub struct Partial {
    path: PathBuf,
    file: File,
    target: PathBuf,
    settled: bool,
}

impl Partial {
    /// Begins the file that will be `target`.
    ///
    /// # Errors
    /// If it cannot be made there, or `target` has no file name.
    pub fn new(target: &Path) -> io::Result<Partial> {
        let name = target.file_name().ok_or_else(|| {
            io::Error::new(io::ErrorKind::InvalidInput, "the path has no file name")
        })?;
        loop {
            let path = target.with_file_name(partial_name(&name.to_string_lossy()));
            // Made anew or not at all: O_CREAT and O_EXCL follow no link.
            let made = File::options()
                .read(true)
                .write(true)
                .create_new(true)
                .open(&path);
            match made {
                Err(error) if error.kind() == io::ErrorKind::AlreadyExists => {}
                Err(error) => return Err(error),
                Ok(file) => {
                    return Ok(Partial {
                        path,
                        file,
                        target: target.to_path_buf(),
                        settled: false,
                    });
                }
            }
        }
    }

    /// Its name for now.
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// The open file.
    pub fn file(&mut self) -> &mut File {
        &mut self.file
    }

    /// Waits until the content has reached the disk: quotas and network file systems may refuse
    /// data that they had accepted.
    ///
    /// # Errors
    /// If they do.
    pub fn sync(&self) -> io::Result<()> {
        self.file.sync_all()
    }

    /// Puts the finished file in its place.
    ///
    /// # Errors
    /// If it cannot be moved there; then it is removed.
    pub fn settle(self) -> io::Result<()> {
        let target = self.target.clone();
        self.settle_at(&target)
    }

    /// Puts the finished file in another place of the same directory.
    ///
    /// # Errors
    /// If it cannot be moved there; then it is removed.
    pub fn settle_at(mut self, target: &Path) -> io::Result<()> {
        fs::rename(&self.path, target)?;
        self.settled = true;
        Ok(())
    }
}

impl Drop for Partial {
    fn drop(&mut self) {
        if !self.settled {
            // The failure itself is reported; that the remainder is gone already is no second
            // error.
            let _ = fs::remove_file(&self.path);
        }
    }
}

/// Writes a small file, replacing any existing one: it exists whole or not at all.
///
/// # Errors
/// If it cannot be written.
pub fn replace(path: &Path, content: &[u8]) -> io::Result<()> {
    let mut partial = Partial::new(path)?;
    partial.file().write_all(content)?;
    partial.settle()
}

/// A mark that tells this process from all others, for names of files.
pub(super) fn process_mark() -> String {
    format!("{}-{}", host_mark(), std::process::id())
}

fn host_mark() -> String {
    let plain = |c: char| match c.is_ascii_alphanumeric() || c == '.' || c == '-' {
        true => c,
        false => '_',
    };
    here().chars().map(plain).collect()
}

fn partial_name(name: &str) -> OsString {
    let short: String = name.chars().take(MOST_NAME).collect();
    let random = RandomState::new().hash_one(&short);
    format!(".{short}.{}-{random:016x}{END}", process_mark()).into()
}

/// Removes the partial files in a directory that processes of this computer and user have left
/// behind when they were killed. Those of other computers stay: whether their writers are gone
/// cannot be known here.
pub fn remove_leftovers(dir: &Path) {
    let Ok(entries) = fs::read_dir(dir) else {
        return;
    };
    for entry in entries.flatten() {
        let name = entry.file_name();
        let of_the_dead = name.to_str().and_then(writer).is_some_and(is_gone);
        // Metadata of the entry itself: a link is none of ours.
        let is_ours = |file: fs::Metadata| file.is_file() && file.uid() == geteuid().as_raw();
        if of_the_dead && entry.metadata().is_ok_and(is_ours) {
            // Another run may be removing it, too.
            let _ = fs::remove_file(entry.path());
        }
    }
}

/// The process of this computer that wrote the partial file of this name.
fn writer(name: &str) -> Option<u32> {
    let rest = name.strip_prefix('.')?.strip_suffix(END)?;
    let (rest, random) = rest.rsplit_once('-')?;
    let (rest, pid) = rest.rsplit_once('-')?;
    let ours = random.len() == 16 && random.bytes().all(|c| c.is_ascii_hexdigit());
    let here = rest.strip_suffix(&host_mark())?.ends_with('.');
    (ours && here).then(|| pid.parse().ok())?
}

fn is_gone(pid: u32) -> bool {
    let pid = i32::try_from(pid).ok().and_then(Pid::from_raw);
    pid.is_some_and(|pid| test_kill_process(pid) == Err(Errno::SRCH))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn names(dir: &Path) -> Vec<String> {
        let entries = fs::read_dir(dir).expect("reads");
        let name = |entry: io::Result<fs::DirEntry>| {
            let name = entry.expect("an entry").file_name();
            name.into_string().expect("UTF-8")
        };
        let mut names: Vec<String> = entries.map(name).collect();
        names.sort();
        names
    }

    /// The number of a process that has ended.
    fn dead() -> u32 {
        let mut child = std::process::Command::new("true").spawn().expect("starts");
        child.wait().expect("ends");
        child.id()
    }

    #[test]
    fn two_of_one_file_do_not_meet() {
        let dir = tempfile::tempdir().expect("a temporary directory");
        let target = dir.path().join("result.h5");
        let mut both = [0, 1].map(|_| Partial::new(&target).expect("begins"));
        for (text, partial) in ["first", "second"].iter().zip(&mut both) {
            partial.file().write_all(text.as_bytes()).expect("writes");
        }
        assert_eq!(names(dir.path()).len(), 2);
        let [first, second] = both;
        first.settle().expect("settles");
        assert_eq!(fs::read_to_string(&target).expect("reads"), "first");
        drop(second);
        assert_eq!(names(dir.path()), ["result.h5"]);
    }

    #[test]
    fn what_the_killed_have_left_is_removed_and_nothing_else() {
        let dir = tempfile::tempdir().expect("a temporary directory");
        let at = |name: &str| dir.path().join(name);
        let mark = |host: &str, pid: u32| format!(".result.h5.{host}-{pid}-0123456789abcdef{END}");
        let (dead, alive) = (dead(), std::process::id());
        let host = host_mark();
        fs::write(at(&mark(&host, dead)), "left").expect("writes");
        let others = [
            mark(&host, alive),
            mark("elsewhere", dead),
            mark(&format!("not{host}"), dead),
            format!(".result.h5{END}"),
            format!(".mine-{dead}-0123{END}"),
            "result.h5".into(),
        ];
        for name in &others {
            fs::write(at(name), "stays").expect("writes");
        }
        // A link with such a name is not one of ours.
        let link = mark(&host, dead).replace("result", "link");
        std::os::unix::fs::symlink(at("result.h5"), at(&link)).expect("links");
        remove_leftovers(dir.path());
        let mut expected: Vec<String> = others.into_iter().chain([link]).collect();
        expected.sort();
        assert_eq!(names(dir.path()), expected);
    }

    #[test]
    fn a_name_is_taken_apart_as_it_was_put_together() {
        for name in ["result.h5", "a-b-c.csv", &"é".repeat(120)] {
            let partial = partial_name(name).into_string().expect("UTF-8");
            assert!(partial.len() <= 255, "{partial}");
            assert_eq!(writer(&partial), Some(std::process::id()), "{partial}");
            assert_ne!(partial_name(name), partial.as_str());
        }
    }
}
