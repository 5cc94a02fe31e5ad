//! `simgrid`: time-independent traces of SimGrid.

mod action;
mod arguments;
#[cfg(test)]
mod tests;

use std::path::{Path, PathBuf};

use rustc_hash::FxHashSet;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use sha2::Sha256;

use super::files::{name, second};
use super::input::{Fault, Lines, hexadecimal};
use super::mpi::{Processes, shown};
use super::{Build, Content, Refusal, Scale};
use action::Actions;
use arguments::Task;
use weir_input::Section;
use weir_input::registry::{Entry, Keys};
use weir_model::Invalid;

keys! {
    /// The actions of each MPI process, one per line, as SimGrid replays them: computation in
    /// floating-point operations, messages, collective operations of all processes. `file` has the
    /// actions of all processes, or the names of their files, a line for each process.
    struct Params {
        /// Floating-point operations per second of a task, which convert `compute` to time. Needed
        /// if the trace computes.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        flops_per_second: Option<f64>,
    }
}

pub const ENTRY: Entry<Build> = Entry {
    name: "simgrid",
    summary: "SimGrid's time-independent traces: what each MPI process did, in one file or one for \
              each.",
    source: "SimGrid's SMPI replay (Desprez et al., \"Improving the accuracy and efficiency of \
             time-independent trace replay\", PMBS 2012)",
    examples: &[r#"file = "trace.txt", flops_per_second = 1e9"#],
    parameters: Keys::of::<Params>(),
    build,
};

fn build(section: &Section, path: &Path, compute: Scale) -> Result<Content, Refusal> {
    let params: Params = section.parse()?;
    if let Some(rate) = params.flops_per_second
        && !(rate.is_finite() && rate > 0.0)
    {
        let invalid = Invalid::new(
            "flops_per_second",
            format!("{rate} is no number of operations in a second"),
            "write more than 0, such as 1e9",
        );
        return Err(section.refuse(invalid).into());
    }
    let mut hash = Sha256::default();
    let (tasks, files) = match first_word(path)? {
        Some(word) if word.bytes().all(|byte| byte.is_ascii_digit()) => (count(path)?, vec![]),
        _ => {
            let (files, read) = list(path, hash)?;
            hash = read;
            (files.len() as u32, files)
        }
    };
    let mut processes = Processes::new(tasks);
    processes.places.files = files.iter().map(|file| name(file)).collect();
    let mut actions = Actions::new(processes, params.flops_per_second, compute);
    match files.is_empty() {
        true => hash = file(path, None, &mut actions, hash)?,
        false => {
            for (path, task) in files.iter().zip(0..) {
                let own = file(path, Some(task), &mut actions, hash);
                hash = own.map_err(|fault| fault.within(&name(path)))?;
            }
        }
    }
    Ok(actions.end()?.finish(hexadecimal(hash))?)
}

/// The first word of a file.
fn first_word(path: &Path) -> Result<Option<String>, Fault> {
    let mut lines = Lines::open(path)?;
    while lines.advance()? {
        if let Some(word) = lines.text()?.split_whitespace().next()
            && !word.starts_with('#')
        {
            return Ok(Some(word.to_string()));
        }
    }
    Ok(None)
}

/// The number of processes in a file with the actions of all: one more than the highest, each of
/// which has a line.
fn count(path: &Path) -> Result<u32, Fault> {
    let mut lines = Lines::open(path)?;
    let mut processes: FxHashSet<u32> = FxHashSet::default();
    while lines.advance()? {
        let Some(word) = lines.text()?.split_whitespace().next() else {
            continue;
        };
        if word.starts_with('#') {
            continue;
        }
        let process = word.parse().ok().filter(|&process| process < u32::MAX);
        let Some(process) = process else {
            let message = format!("{} is no process", shown(word));
            return Err(lines.fault(message, "a line begins with the number of its process"));
        };
        processes.insert(process);
    }
    let highest = processes.iter().copied().max().unwrap_or(0);
    match processes.len() {
        1 if highest > 0 || has_second(path) => Err(Fault::new(
            format!("all its actions are of process {highest}: it is one file of a set"),
            "give a file with the names of the files of all processes, one a line, in their order",
        )),
        count if count as u32 == highest + 1 => Ok(highest + 1),
        _ => {
            let absent = (0..highest).find(|process| !processes.contains(process));
            Err(Fault::new(
                format!(
                    "it has a process {highest}, and process {} has no action",
                    absent.unwrap_or(0)
                ),
                "number processes from 0 on; each has an action",
            ))
        }
    }
}

/// True if the actions of process 1 are in a file beside that of process 0.
fn has_second(path: &Path) -> bool {
    let word = second(path).and_then(|second| first_word(&second).ok().flatten());
    word.is_some_and(|word| word == "1")
}

/// The files that a list names, relative to it.
fn list(path: &Path, hash: Sha256) -> Result<(Vec<PathBuf>, Sha256), Fault> {
    let mut lines = Lines::open_after(path, hash)?;
    let folder = path.parent().unwrap_or(Path::new(""));
    let mut files = Vec::new();
    while lines.advance()? {
        let file = lines.text()?.trim();
        if file.is_empty() || file.starts_with('#') {
            continue;
        }
        let file = folder.join(file);
        if !file.is_file() {
            let message = format!("there is no file {}", file.display());
            let remedy = "write the name of a file for each process, or `process action …`";
            return Err(lines.fault(message, remedy));
        }
        files.push(file);
    }
    Ok((files, lines.hasher()))
}

/// Reads a file, of one process or of all.
fn file(
    path: &Path,
    own: Option<Task>,
    actions: &mut Actions,
    hash: Sha256,
) -> Result<Sha256, Fault> {
    let mut lines = Lines::open_after(path, hash)?;
    while lines.advance()? {
        let words: Vec<&str> = lines.text()?.split_whitespace().collect();
        let line = lines.number();
        let done = match words.as_slice() {
            [] => Ok(()),
            [comment, ..] if comment.starts_with('#') => Ok(()),
            [task, action, arguments @ ..] => actions.action(own, task, action, arguments, line),
            [word] => Err((
                format!("{} is no action", shown(word)),
                "write `process action arguments`".to_string(),
            )),
        };
        done.map_err(|(message, remedy)| lines.fault(message, remedy))?;
    }
    Ok(lines.hasher())
}
