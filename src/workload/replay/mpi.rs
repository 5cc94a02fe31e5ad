//! What MPI processes did, one call after the other, as graphs.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use super::check::check;
use super::graph::MOST_OPERATIONS;
use super::input::Fault;
use super::operations::{Call, Operations, Wrong};
use super::{Builder, Content, Coverage, Node, Places};
use crate::model::{LONGEST_MESSAGE, Time};
use crate::workload::tasks::Peer;

/// The processes of a trace. A call begins when the one before it is over, or has begun if that goes on in the background; a wait adds
/// to what the next call waits for.
pub struct Processes {
    builders: Vec<Builder>,
    /// For what the next call of each task waits: operations, and whether for their start only.
    before: Vec<Vec<(u32, bool)>>,
    /// Where operations stand.
    pub places: Places,
    /// What they do together.
    pub operations: Operations,
    /// What the trace holds.
    pub coverage: Coverage,
    /// The group of all of them.
    pub all: usize,
}

impl Processes {
    /// So many, before their first calls.
    pub fn new(tasks: u32) -> Processes {
        let mut builders = Vec::new();
        builders.resize_with(tasks as usize, Builder::default);
        let mut operations = Operations::default();
        let all: Arc<[Peer]> = (0..tasks).collect();
        Processes {
            builders,
            before: vec![Vec::new(); tasks as usize],
            places: Places::default(),
            all: operations.group(all),
            operations,
            coverage: Coverage::default(),
        }
    }

    /// How many there are.
    pub fn count(&self) -> u32 {
        self.builders.len() as u32
    }

    /// A call that the task waits for.
    ///
    /// # Errors
    /// If the task has too many.
    pub fn call(&mut self, task: Peer, node: Node, line: u64) -> Result<u32, Wrong> {
        let node = self.add(task, node, line)?;
        self.before[task as usize].push((node, false));
        Ok(node)
    }

    /// A call that goes on in the background.
    ///
    /// # Errors
    /// If the task has too many.
    pub fn start(&mut self, task: Peer, node: Node, line: u64) -> Result<u32, Wrong> {
        let node = self.add(task, node, line)?;
        self.before[task as usize].push((node, true));
        Ok(node)
    }

    /// The task computes; no time is no operation.
    ///
    /// # Errors
    /// If the task has too many operations.
    pub fn compute(&mut self, task: Peer, time: Time, line: u64) -> Result<(), Wrong> {
        self.coverage.simulated("computations", 1, 0);
        if time > 0 {
            self.call(task, Node::compute(time), line)?;
        }
        Ok(())
    }

    /// The task waits for what it has started before.
    pub fn wait(&mut self, task: Peer, node: u32) {
        self.before[task as usize].push((node, false));
    }

    /// A collective operation of a group; `goes_on`: in the background.
    ///
    /// # Errors
    /// If what the task says of it cannot be.
    pub fn collective(
        &mut self,
        task: Peer,
        group: usize,
        call: Call,
        goes_on: bool,
        line: u64,
    ) -> Result<u32, Wrong> {
        self.room(task)?;
        let builder = &mut self.builders[task as usize];
        let node = self
            .operations
            .part(builder, task, group, call, &self.places)?;
        self.places.set(task, node, line);
        self.follow(task, node);
        self.before[task as usize].push((node, goes_on));
        Ok(node)
    }

    fn add(&mut self, task: Peer, node: Node, line: u64) -> Result<u32, Wrong> {
        self.room(task)?;
        let node = self.builders[task as usize].add(node);
        self.places.set(task, node, line);
        self.follow(task, node);
        Ok(node)
    }

    fn room(&self, task: Peer) -> Result<(), Wrong> {
        match self.builders[task as usize].count() < MOST_OPERATIONS {
            true => Ok(()),
            false => Err((
                format!("task {task} has too many operations"),
                format!("at most {MOST_OPERATIONS} are possible"),
            )),
        }
    }

    fn follow(&mut self, task: Peer, node: u32) {
        let builder = &mut self.builders[task as usize];
        for (before, start) in self.before[task as usize].drain(..) {
            match start {
                true => builder.requires_start(node, before),
                false => builder.requires(node, before),
            }
        }
    }

    /// All calls are known.
    ///
    /// # Errors
    /// If operations are not complete, or messages have no receive.
    pub fn finish(mut self, sha256: String) -> Result<Content, Fault> {
        let places = &self.places;
        self.operations
            .finish(&mut self.builders, &mut self.coverage, places)?;
        let mut graphs: Vec<_> = self.builders.into_iter().map(Builder::build).collect();
        check(&mut graphs, &|task, node| places.of(task, node))?;
        Ok(Content {
            graphs,
            coverage: self.coverage,
            sha256,
        })
    }
}

/// A word of a trace for an error.
pub fn shown(word: &str) -> String {
    let word: String = word.chars().take(40).collect();
    format!("`{}`", crate::model::visible(&word))
}

/// A size of so many bytes, if such messages can be simulated.
///
/// # Errors
/// If they are too long.
pub fn length(bytes: u128) -> Result<u64, Wrong> {
    match bytes <= u128::from(LONGEST_MESSAGE / 8) {
        true => Ok(bytes as u64),
        false => Err((
            format!("a message of {bytes} bytes is too long"),
            format!("at most {} are possible", LONGEST_MESSAGE / 8),
        )),
    }
}

/// The files of all ranks: in the name of that of rank 0 the last number that is 0 stands for the rank, with as many digits.
///
/// # Errors
/// If the name has no such number.
pub fn rank_files(path: &Path) -> Result<Vec<PathBuf>, Fault> {
    let name = path.file_name().map(|name| name.to_string_lossy());
    let name = name.unwrap_or_default().into_owned();
    let Some((from, to)) = last_zero(&name) else {
        return Err(Fault::new(
            "its name has no number 0",
            "give the file of rank 0; those of other ranks have their ranks in place of the 0",
        ));
    };
    let width = to - from;
    let file =
        |rank: u32| path.with_file_name(format!("{}{rank:0width$}{}", &name[..from], &name[to..]));
    let mut files = vec![path.to_path_buf()];
    while file(files.len() as u32).exists() {
        files.push(file(files.len() as u32));
    }
    Ok(files)
}

/// Where the last run of digits that are all 0 is.
fn last_zero(name: &str) -> Option<(usize, usize)> {
    let mut found = None;
    let mut from = None;
    for (at, byte) in name.bytes().chain([b'.']).enumerate() {
        match (byte.is_ascii_digit(), from) {
            (true, None) => from = Some(at),
            (false, Some(start)) => {
                from = None;
                if name[start..at].bytes().all(|digit| digit == b'0') {
                    found = Some((start, at));
                }
            }
            _ => {}
        }
    }
    found
}

#[cfg(test)]
mod tests {
    use super::last_zero;

    #[test]
    fn the_rank_is_the_last_zero_of_a_name() {
        for (name, found) in [
            ("trace-0000.txt", Some((6, 10))),
            ("custom.0.et", Some((7, 8))),
            ("run10-0", Some((6, 7))),
            ("run0-rank0v10", Some((9, 10))),
            ("run10", None),
        ] {
            assert_eq!(last_zero(name), found, "{name}");
        }
    }
}
