//! Calls of MPI processes, one after the other, as graphs.

use std::sync::Arc;

use super::check::check;
use super::graph::{Kind, MOST_OPERATIONS};
use super::input::Fault;
use super::operations::{Call, Operations, Wrong};
use super::{Builder, Content, Coverage, Node, Places};
use crate::tasks::Peer;
use weir_model::{LONGEST_MESSAGE, Time};

/// The processes of a trace.
///
/// A call begins when the previous one has ended, or has begun if that is nonblocking. A wait is
/// added to the operations that the next call waits for.
pub struct Processes {
    builders: Vec<Builder>,
    /// By task: the operations that the next call waits for, and true if only for their start.
    before: Vec<Vec<(u32, bool)>>,
    /// Positions of operations in the file.
    pub places: Places,
    /// Collective operations.
    pub operations: Operations,
    /// Operations of the trace.
    pub coverage: Coverage,
    /// The group of all processes.
    pub all: usize,
}

impl Processes {
    /// This number of processes, before their first calls.
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

    /// Number of processes.
    pub fn count(&self) -> u32 {
        self.builders.len() as u32
    }

    /// Adds a call that the task waits for.
    ///
    /// # Errors
    /// If the task has too many operations.
    pub fn call(&mut self, task: Peer, node: Node, line: u64) -> Result<u32, Wrong> {
        let node = self.add(task, node, line)?;
        self.before[task as usize].push((node, false));
        Ok(node)
    }

    /// Adds a nonblocking call.
    ///
    /// # Errors
    /// If the task has too many operations.
    pub fn start(&mut self, task: Peer, node: Node, line: u64) -> Result<u32, Wrong> {
        let node = self.add(task, node, line)?;
        self.before[task as usize].push((node, true));
        Ok(node)
    }

    /// Adds a computation of the task, unless its time is 0.
    ///
    /// # Errors
    /// If the task has too many operations.
    pub fn compute(&mut self, task: Peer, time: Time, line: u64) -> Result<(), Wrong> {
        self.coverage.timed("computations", 1, time);
        if time > 0 {
            self.call(task, Node::compute(time), line)?;
        }
        Ok(())
    }

    /// Drops a receive that was started before, as if it had never been posted. False if the
    /// operation is none.
    pub fn cancel(&mut self, task: Peer, node: u32) -> bool {
        let builder = &mut self.builders[task as usize];
        let one = builder.node(node);
        if one.kind != Kind::Receive {
            return false;
        }
        builder.empty(node);
        let why = "MPI_Cancel, which is taken to succeed";
        self.coverage.dropped("receives", 1, one.amount, why);
        true
    }

    /// Makes the task wait for an operation started before.
    pub fn wait(&mut self, task: Peer, node: u32) {
        self.before[task as usize].push((node, false));
    }

    /// Adds a collective operation of a group; `goes_on`: nonblocking.
    ///
    /// # Errors
    /// If the arguments of the task are invalid.
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

    /// Finishes the graphs after all calls.
    ///
    /// # Errors
    /// If operations are not complete, or messages have no receive.
    pub fn finish(mut self, sha256: String) -> Result<Content, Fault> {
        let places = &self.places;
        self.operations
            .finish(&mut self.builders, &mut self.coverage, places)?;
        let mut graphs: Vec<_> = self.builders.into_iter().map(Builder::build).collect();
        check(&mut graphs, &|task, node| places.of(task, node))?;
        Ok(Content::new(graphs, self.coverage, sha256))
    }
}

/// A word of a trace for an error.
pub fn shown(word: &str) -> String {
    let word: String = word.chars().take(40).collect();
    format!("`{}`", weir_model::visible(&word))
}

/// A size of this number of bytes, if such messages can be simulated.
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
