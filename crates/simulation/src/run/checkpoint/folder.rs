//! The folder of checkpoints: what is in it, and what leaves it.

use std::fs::{self, File};
use std::io::{self, ErrorKind};
use std::path::{Path, PathBuf};

use super::manifest;
use weir_model::Time;

/// Folder of the checkpoints in the directory of a result.
pub const FOLDER: &str = "checkpoint";

/// The checkpoint that is being written, or removed.
pub const NEW: &str = ".new";

/// The checkpoints in the directory of a result: simulated time in ps and folder, the newest first.
pub fn list(dir: &Path) -> Vec<(Time, PathBuf)> {
    let entries = fs::read_dir(dir.join(FOLDER));
    let paths = entries.into_iter().flatten().flatten();
    let timed = paths.filter_map(|entry| {
        let name = entry.file_name();
        let time = name.to_str()?.strip_suffix("ps")?.parse().ok()?;
        let path = entry.path();
        let whole = manifest::file(&path).is_file();
        whole.then_some((time, path))
    });
    let mut all: Vec<(Time, PathBuf)> = timed.collect();
    all.sort_unstable_by(|one, other| other.cmp(one));
    all
}

/// Removes all checkpoints in the directory of a result, and nothing else.
///
/// # Errors
/// If they cannot be removed.
pub fn remove(dir: &Path) -> io::Result<()> {
    let folder = dir.join(FOLDER);
    clear(&folder.join(NEW))?;
    for (_, one) in list(dir) {
        discard(&one)?;
    }
    match fs::remove_dir(&folder) {
        // Nothing of a run, or something of somebody else.
        Err(error) if is_none(&error) || error.kind() == ErrorKind::DirectoryNotEmpty => Ok(()),
        other => other,
    }
}

/// Removes the checkpoints after a simulated time.
///
/// # Errors
/// If one cannot be removed.
pub fn remove_after(dir: &Path, until: Time) -> io::Result<()> {
    let mut all = list(dir).into_iter();
    all.try_for_each(|(time, one)| if time > until { discard(&one) } else { Ok(()) })
}

/// Removes a checkpoint: first its name, so that there is never a part of one. If something of
/// somebody else is in its folder, that stays there.
///
/// # Errors
/// If it cannot be removed.
pub fn discard(checkpoint: &Path) -> io::Result<()> {
    let unfinished = checkpoint.with_file_name(NEW);
    clear(&unfinished)?;
    fs::rename(checkpoint, &unfinished)?;
    match clear(&unfinished) {
        Err(error) if error.kind() == ErrorKind::DirectoryNotEmpty => {
            fs::rename(&unfinished, checkpoint)
        }
        cleared => cleared,
    }
}

/// Removes the folder of an unfinished checkpoint with its files, if it exists.
///
/// # Errors
/// If it cannot be removed.
pub fn clear(folder: &Path) -> io::Result<()> {
    let entries = match fs::read_dir(folder) {
        Err(error) if is_none(&error) => return Ok(()),
        entries => entries?,
    };
    for entry in entries {
        let entry = entry?;
        if manifest::is_file_of(&entry.file_name()) {
            fs::remove_file(entry.path())?;
        }
    }
    fs::remove_dir(folder)
}

/// True if there is no such file or folder.
fn is_none(error: &io::Error) -> bool {
    matches!(error.kind(), ErrorKind::NotFound | ErrorKind::NotADirectory)
}

/// Waits until the names in a folder have reached the disk.
///
/// # Errors
/// If the disk refuses them.
pub fn sync_folder(folder: &Path) -> io::Result<()> {
    File::open(folder)?.sync_all()
}
