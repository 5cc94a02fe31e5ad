//! Sets of files, one for each task, distinguished by a number in their names.

use std::io::ErrorKind;
use std::ops::Range;
use std::path::{Path, PathBuf};

use super::input::Fault;

/// The files of all tasks. In the name of the file of task 0 the last number that is 0 stands for
/// the task; numbers of other tasks have at least as many digits.
///
/// # Errors
/// The name has no such number, the file is that of another task, or files of the set are missing.
pub fn rank_files(path: &Path) -> Result<Vec<PathBuf>, Fault> {
    let name = name(path);
    let numbers = runs(&name);
    let zero = numbers.iter().rposition(|run| is_zero(&name[run.clone()]));
    let behind = zero.map_or(0, |zero| zero + 1);
    for run in &numbers[behind..] {
        if let Some(first) = first_of(path, &name, run) {
            return Err(member(&name[run.clone()], &first));
        }
    }
    let Some(zero) = zero else {
        return Err(Fault::new(
            "its name has no number 0",
            "give the file of task 0: the files of other tasks have their numbers instead of the 0",
        ));
    };
    let set = Set::new(path, &name, &numbers[zero]);
    let there = set.numbers()?;
    if there.is_empty() {
        // It cannot be read; opening it gives the reason.
        return Ok(vec![path.to_path_buf()]);
    }
    let missing = (0..)
        .zip(&there)
        .find(|(expected, found)| expected != *found);
    if let Some((missing, _)) = missing {
        let last = there.last().copied().unwrap_or(0);
        return Err(Fault::new(
            format!(
                "{} is missing: the files go up to {}",
                set.name(missing),
                set.name(last)
            ),
            "complete the set, or move files of other runs out of its folder",
        ));
    }
    // No other file differs in the 0, and some differ in another number: the latter is the task.
    for run in &numbers[behind..] {
        let others = Set::new(path, &name, run);
        if there.len() == 1 && others.numbers()?.len() > 1 {
            return Err(member(&name[run.clone()], &others.name(0)));
        }
    }
    Ok((0..there.len() as u32).map(|rank| set.file(rank)).collect())
}

/// The file of the next task, if this one is the first of a set of several.
pub fn second(path: &Path) -> Option<PathBuf> {
    let name = name(path);
    let numbers = runs(&name);
    let zero = numbers.iter().rfind(|run| is_zero(&name[(*run).clone()]))?;
    let second = Set::new(path, &name, zero).file(1);
    second.is_file().then_some(second)
}

fn member(number: &str, first: &str) -> Fault {
    let number: String = number.chars().take(20).collect();
    Fault::new(
        format!("this is the file of task {number} of a set"),
        format!("give that of task 0, `{first}`: weir finds the others by its name"),
    )
}

/// The name of a path's file.
pub fn name(path: &Path) -> String {
    let name = path.file_name().map(|name| name.to_string_lossy());
    name.unwrap_or_default().into_owned()
}

fn is_zero(digits: &str) -> bool {
    digits.bytes().all(|digit| digit == b'0')
}

/// The places of the numbers in a name.
fn runs(name: &str) -> Vec<Range<usize>> {
    let mut runs: Vec<Range<usize>> = Vec::new();
    for (at, byte) in name.bytes().enumerate() {
        if !byte.is_ascii_digit() {
            continue;
        }
        match runs.last_mut().filter(|run| run.end == at) {
            Some(run) => run.end += 1,
            None => runs.push(at..at + 1),
        }
    }
    runs
}

/// The name with 0 instead of a number, if there is such a file.
fn first_of(path: &Path, name: &str, run: &Range<usize>) -> Option<String> {
    [run.len(), 1]
        .map(|width| format!("{}{:0width$}{}", &name[..run.start], 0, &name[run.end..]))
        .into_iter()
        .find(|first| path.with_file_name(first).is_file())
}

/// Files whose names differ in one number.
struct Set<'a> {
    path: &'a Path,
    before: &'a str,
    width: usize,
    behind: &'a str,
}

impl<'a> Set<'a> {
    fn new(path: &'a Path, name: &'a str, run: &Range<usize>) -> Set<'a> {
        // Only leading zeros show the minimum number of digits.
        let width = match name[run.clone()].starts_with('0') {
            true => run.len(),
            false => 1,
        };
        Set {
            path,
            before: &name[..run.start],
            width,
            behind: &name[run.end..],
        }
    }

    fn name(&self, rank: u32) -> String {
        let width = self.width;
        format!("{}{rank:0width$}{}", self.before, self.behind)
    }

    fn file(&self, rank: u32) -> PathBuf {
        self.path.with_file_name(self.name(rank))
    }

    /// The numbers of the existing files, in order.
    fn numbers(&self) -> Result<Vec<u32>, Fault> {
        let folder = match self.path.parent() {
            Some(folder) if !folder.as_os_str().is_empty() => folder,
            _ => Path::new("."),
        };
        let fail = |error: std::io::Error| {
            Fault::new(
                format!("its folder cannot be read: {error}"),
                "the files of other tasks are looked for there",
            )
        };
        let entries = match std::fs::read_dir(folder) {
            Err(error) if error.kind() == ErrorKind::NotFound => return Ok(Vec::new()),
            entries => entries.map_err(fail)?,
        };
        let mut numbers = Vec::new();
        for entry in entries {
            let name = entry.map_err(fail)?.file_name();
            let digits = name.to_str().and_then(|name| {
                let rest = name.strip_prefix(self.before)?;
                rest.strip_suffix(self.behind)
            });
            let number = digits.and_then(|digits| digits.parse().ok());
            numbers.extend(number.filter(|&number| name.to_str() == Some(&self.name(number))));
        }
        numbers.sort_unstable();
        Ok(numbers)
    }
}

#[cfg(test)]
mod tests {
    use super::{rank_files, second};

    /// The names of the files that a name stands for among these, or the text of the error.
    fn found(name: &str, files: &[&str]) -> Result<Vec<String>, String> {
        let folder = tempfile::tempdir().unwrap();
        for file in files {
            std::fs::write(folder.path().join(file), "").unwrap();
        }
        match rank_files(&folder.path().join(name)) {
            Ok(files) => Ok(files.iter().map(|file| super::name(file)).collect()),
            Err(fault) => Err(format!("{} / {}", fault.message, fault.remedy)),
        }
    }

    #[test]
    fn the_task_is_the_last_zero_of_a_name() {
        for files in [
            vec!["trace-0000.txt", "trace-0001.txt", "trace-0002.txt"],
            vec!["custom.0.et", "custom.1.et"],
            vec!["run10-0", "run10-1"],
            vec!["run0-rank0v10", "run0-rank1v10"],
            vec!["0", "1", "2", "3", "4", "5", "6", "7", "8", "9", "10"],
            vec!["alone.0.et"],
        ] {
            // Other files are in the same folder.
            let beside = ["other.7.et", "trace.txt", "run1-rank5v10"];
            let all = [&files[..], &beside].concat();
            assert_eq!(found(files[0], &all).unwrap(), files);
        }
        assert!(
            found("run10", &["run10"])
                .unwrap_err()
                .contains("no number 0")
        );
        assert_eq!(found("no.0.et", &[]).unwrap(), ["no.0.et"]);
    }

    #[test]
    fn a_gap_is_refused_with_the_name_that_is_missing() {
        for (files, missing, last) in [
            (
                ["t.0.et", "t.1.et", "t.3.et"],
                "t.2.et is missing",
                "up to t.3.et",
            ),
            (["r-00", "r-01", "r-12"], "r-02 is missing", "up to r-12"),
        ] {
            let said = found(files[0], &files).unwrap_err();
            assert!(said.contains(missing) && said.contains(last), "{said}");
        }
        let said = found("t.0.et", &["t.1.et"]).unwrap_err();
        assert!(said.contains("t.0.et is missing"), "{said}");
    }

    #[test]
    fn the_file_of_another_task_is_refused_with_the_first() {
        for (name, files, first) in [
            ("t.3.et", vec!["t.0.et", "t.3.et"], "`t.0.et`"),
            (
                "r-0012.txt",
                vec!["r-0000.txt", "r-0012.txt"],
                "`r-0000.txt`",
            ),
            ("r-12.txt", vec!["r-0.txt", "r-12.txt"], "`r-0.txt`"),
            (
                "run0-t.3.et",
                vec!["run0-t.0.et", "run0-t.3.et"],
                "`run0-t.0.et`",
            ),
            (
                "run0-t.3.et",
                vec!["run0-t.3.et", "run0-t.4.et"],
                "`run0-t.0.et`",
            ),
        ] {
            let said = found(name, &files).unwrap_err();
            assert!(said.contains("is the file of task"), "{said}");
            assert!(said.contains(first), "{said}");
        }
    }

    #[test]
    fn the_second_of_a_set_lies_beside_the_first() {
        let folder = tempfile::tempdir().unwrap();
        let path = |name: &str| folder.path().join(name);
        std::fs::write(path("t0.txt"), "").unwrap();
        assert_eq!(second(&path("t0.txt")), None);
        std::fs::write(path("t1.txt"), "").unwrap();
        assert_eq!(second(&path("t0.txt")), Some(path("t1.txt")));
        assert_eq!(second(&path("t1.txt")), None);
    }
}
