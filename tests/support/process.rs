//! Runs that are watched and disturbed from outside.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::thread::sleep;
use std::time::{Duration, Instant};

use weir::result::Holder;

use super::Cli;

/// The file that says which run works in a directory.
pub const LOCK: &str = ".result.h5.lock";

/// The run that works in this directory, as soon as it does.
pub fn holder_of(out: &Path) -> Holder {
    wait_for("the start", || {
        toml::from_str(&fs::read_to_string(out.join(LOCK)).ok()?).ok()
    })
}

/// Waits for something that must happen; after a minute it has failed.
pub fn wait_for<T>(what: &str, mut look: impl FnMut() -> Option<T>) -> T {
    let start = Instant::now();
    loop {
        if let Some(found) = look() {
            return found;
        }
        assert!(
            start.elapsed() < Duration::from_secs(60),
            "{what} did not happen"
        );
        sleep(Duration::from_millis(20));
    }
}

/// Starts the program, with its output kept for later.
pub fn start(cli: &Cli) -> Child {
    let mut command = cli.command();
    command.stdout(Stdio::piped()).stderr(Stdio::piped());
    command.spawn().expect("started")
}

/// SIGKILL.
pub fn kill(process: u32) {
    let status = Command::new("kill")
        .args(["-9", &process.to_string()])
        .status();
    assert!(status.expect("kill").success());
}

/// Every file below a directory.
pub fn files(folder: &Path) -> Vec<PathBuf> {
    let Ok(entries) = fs::read_dir(folder) else {
        return Vec::new();
    };
    let paths = entries.map(|entry| entry.expect("an entry").path());
    paths
        .flat_map(|path| {
            if path.is_dir() {
                files(&path)
            } else {
                vec![path]
            }
        })
        .collect()
}

/// The processes that `parent` has started: the ranks below `mpirun`.
pub fn ranks_of(parent: u32) -> Vec<u32> {
    let file = format!("/proc/{parent}/task/{parent}/children");
    let text = fs::read_to_string(file).unwrap_or_default();
    text.split_whitespace()
        .filter_map(|id| id.parse().ok())
        .collect()
}

/// A separate file system that is almost full.
pub struct SmallDisk {
    folder: tempfile::TempDir,
}

impl SmallDisk {
    /// A disk of `size`, as mount takes it. None where none can be mounted, which is told.
    pub fn new(size: &str) -> Option<SmallDisk> {
        SmallDisk::mounted(size)
            .inspect_err(|why| eprintln!("skipped: no small disk can be mounted here ({why})"))
            .ok()
    }

    fn mounted(size: &str) -> Result<SmallDisk, String> {
        let folder = tempfile::TempDir::new().map_err(|error| error.to_string())?;
        let options = format!("size={size}");
        let mount = Command::new("mount")
            .args(["-t", "tmpfs", "-o", &options, "weir-test"])
            .arg(folder.path())
            .output()
            .map_err(|error| error.to_string())?;
        match mount.status.success() {
            true => Ok(SmallDisk { folder }),
            false => Err(String::from_utf8_lossy(&mount.stderr).trim().to_string()),
        }
    }

    /// Where it is.
    pub fn path(&self) -> &Path {
        self.folder.path()
    }
}

impl Drop for SmallDisk {
    fn drop(&mut self) {
        let _ = Command::new("umount").arg(self.folder.path()).status();
    }
}
