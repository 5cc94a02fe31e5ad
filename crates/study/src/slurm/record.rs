//! Record of a submission: `DIR/slurm/1`, `DIR/slurm/2` … with the scripts and the numbers of their
//! jobs.

use std::collections::{BTreeSet, HashSet};
use std::fs;
use std::io;
use std::path::{Path, PathBuf};

use serde::{Deserialize, Serialize};

use super::queue::TaskId;
use crate::about;

/// The file in the directory of a submission.
const FILE: &str = "jobs.toml";

/// A submission.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Submission {
    /// The job that makes the table.
    pub collect: u64,
    /// Name of the jobs.
    pub name: String,
    /// The arrays.
    pub array: Vec<Submitted>,
}

/// One of its arrays.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Submitted {
    /// Its job.
    pub job: u64,
    /// The hashes of the points of each task.
    pub tasks: Vec<Vec<String>>,
}

impl Submission {
    /// Writes it into the directory of the submission.
    ///
    /// # Errors
    /// If that cannot be done.
    pub fn write(&self, folder: &Path) -> io::Result<()> {
        let text = toml::to_string(self).map_err(io::Error::other)?;
        let path = folder.join(FILE);
        fs::write(&path, text).map_err(about(&path))
    }

    /// The submission of a directory; None if it came to none.
    pub fn read(folder: &Path) -> Option<Submission> {
        toml::from_str(&fs::read_to_string(folder.join(FILE)).ok()?).ok()
    }

    /// The hashes of the points whose tasks are among `alive`.
    pub fn points_of<'a>(&'a self, alive: &'a HashSet<TaskId>) -> impl Iterator<Item = &'a str> {
        let tasks = self.array.iter().flat_map(|array| {
            let places = array.tasks.iter().enumerate();
            places.map(|(place, points)| ((array.job, place), points))
        });
        let waiting = tasks.filter(|(task, _)| alive.contains(task));
        waiting.flat_map(|(_, points)| points.iter().map(String::as_str))
    }
}

fn numbers(root: &Path) -> BTreeSet<u32> {
    let entries = fs::read_dir(root).into_iter().flatten().flatten();
    let names = entries.filter_map(|entry| entry.file_name().to_str()?.parse().ok());
    // Nobody submits so often; the next one has a number, too.
    names.filter(|number| *number < u32::MAX).collect()
}

/// The directories of all submissions below `root`, `DIR/slurm`, in their order.
pub fn folders(root: &Path) -> Vec<PathBuf> {
    let numbers = numbers(root).into_iter();
    numbers
        .map(|number| root.join(number.to_string()))
        .collect()
}

/// The directory that the next submission gets.
pub fn next_folder(root: &Path) -> PathBuf {
    let last = numbers(root).last().copied().unwrap_or(0);
    root.join((last + 1).to_string())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn submissions_are_numbered_and_read_back() {
        let dir = tempfile::tempdir().expect("a directory");
        let root = dir.path().join("slurm");
        assert_eq!(next_folder(&root), root.join("1"), "nothing is there yet");
        let task = |names: &[&str]| names.iter().map(|name| name.to_string()).collect();
        let array = |job, tasks| Submitted { job, tasks };
        let mine = Submission {
            collect: 44,
            name: "weir-x".into(),
            array: vec![
                array(12, vec![task(&["a", "b"]), task(&["c"])]),
                array(13, vec![task(&["d"])]),
            ],
        };
        for number in ["1", "2", "10"] {
            fs::create_dir_all(root.join(number)).expect("makes");
        }
        mine.write(&root.join("10")).expect("writes");
        fs::write(root.join("note.txt"), "mine").expect("writes");
        assert_eq!(next_folder(&root), root.join("11"));
        let found: Vec<Option<Submission>> = folders(&root)
            .iter()
            .map(|folder| Submission::read(folder))
            .collect();
        assert_eq!(found, [None, None, Some(mine.clone())]);
        let alive = HashSet::from([(12, 0), (13, 0), (13, 1), (99, 1)]);
        assert_eq!(mine.points_of(&alive).collect::<Vec<_>>(), ["a", "b", "d"]);
    }
}
