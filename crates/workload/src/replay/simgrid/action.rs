//! The actions of a time-independent trace.

use std::collections::VecDeque;

use rustc_hash::FxHashMap;

use super::super::graph::ANY;
use super::super::mpi::{Processes, shown};
use super::super::operations::{Call, Wrong};
use super::super::{Fault, Node, Scale, task};
use super::arguments::{ANY_SOURCE, ANY_TAG, One, Partner, Task, wrong};
use crate::tasks::VectorKind;
use crate::tasks::collectives::Kind;
use weir_model::Time;

/// Bytes of a size without a type if `init` has an argument: double. Otherwise sizes are bytes.
const DEFAULT: u64 = 8;

/// The size of a receive that the receiver does not know.
const UNKNOWN: f64 = -1.0;

/// Operations started and not waited for: by source, destination and tag.
type Requests = FxHashMap<(i64, i64, i64), VecDeque<u32>>;

/// Reads actions, one after the other.
pub struct Actions {
    processes: Processes,
    /// Picoseconds of an operation.
    per_flop: Option<f64>,
    compute: Scale,
    /// Bytes of an unnamed type, by process.
    defaults: Vec<u64>,
    requests: Vec<Requests>,
    /// By process: true after its `finalize`.
    finalized: Vec<bool>,
}

impl Actions {
    /// For these processes.
    pub fn new(processes: Processes, flops_per_second: Option<f64>, compute: Scale) -> Actions {
        let count = processes.count() as usize;
        Actions {
            per_flop: flops_per_second.map(|rate| 1e12 / rate),
            compute,
            defaults: vec![1; count],
            requests: vec![Requests::default(); count],
            finalized: vec![false; count],
            processes,
        }
    }

    /// Finishes after all actions have been read.
    ///
    /// # Errors
    /// If a process does not reach its end.
    pub fn end(self) -> Result<Processes, Fault> {
        match self.finalized.iter().position(|done| !done) {
            None => Ok(self.processes),
            Some(task) => Err(Fault {
                place: self
                    .processes
                    .places
                    .files
                    .get(task)
                    .cloned()
                    .unwrap_or_default(),
                message: format!("process {task} does not end with `finalize`"),
                remedy: "the trace is not complete".into(),
            }),
        }
    }

    /// Reads an action; `own`: the process, if the file is of this process alone.
    ///
    /// # Errors
    /// If it is invalid.
    pub fn action(
        &mut self,
        own: Option<Task>,
        process: &str,
        action: &str,
        words: &[&str],
        line: u64,
    ) -> Result<(), Wrong> {
        let tasks = self.processes.count();
        let process: u64 = process.parse().map_err(|_| {
            wrong(
                format!("{} is no process", shown(process)),
                "write a number",
            )
        })?;
        let process = task(process, tasks)?;
        if own.is_some_and(|own| own != process) {
            return Err(wrong(
                format!(
                    "an action of process {process} in the file of process {}",
                    own.unwrap_or(0)
                ),
                "the list names a file for each process, from process 0 on, and none is missing",
            ));
        }
        if self.finalized[process as usize] {
            return Err(wrong(
                format!("process {process} has come to its end already"),
                "remove what is behind `finalize`",
            ));
        }
        let one = One {
            task: process,
            line,
            words,
            default: self.defaults[process as usize],
            tasks,
        };
        match action.to_ascii_lowercase().as_str() {
            "init" => {
                self.defaults[process as usize] = if words.is_empty() { 1 } else { DEFAULT };
                Ok(())
            }
            "finalize" => {
                self.finalized[process as usize] = true;
                Ok(())
            }
            "comm_size" | "comm_split" | "comm_dup" => {
                let why = "a trace says nothing else of communicators";
                let coverage = &mut self.processes.coverage;
                coverage.ignored("actions on communicators", 1, 0, why);
                Ok(())
            }
            "location" => Ok(()),
            "compute" => {
                one.arguments(1, 1)?;
                self.flops(&one, 0)
            }
            "sleep" => self.sleep(&one),
            "send" | "isend" | "recv" | "irecv" => self.message(&one, action),
            "sendrecv" => self.sendrecv(&one),
            "wait" | "test" => self.wait(&one, action.eq_ignore_ascii_case("test")),
            "waitall" => {
                let mut open: Vec<u32> = std::mem::take(&mut self.requests[process as usize])
                    .into_values()
                    .flatten()
                    .collect();
                open.sort_unstable();
                open.into_iter()
                    .for_each(|node| self.processes.wait(process, node));
                Ok(())
            }
            name => self.collective(&one, name),
        }
    }

    /// Adds a computation of the number of operations given by an argument.
    fn flops(&mut self, one: &One, at: usize) -> Result<(), Wrong> {
        let flops = one.number(at)?;
        if flops < 0.0 {
            let word = shown(one.words[at]);
            return Err(wrong(format!("{word} operations"), "write 0 or more"));
        }
        let time = match self.per_flop {
            _ if flops == 0.0 => 0,
            Some(per_flop) => self.time(flops * per_flop)?,
            None => {
                return Err(wrong(
                    "the trace computes, and it is not said how fast a task is",
                    "write `flops_per_second = 1e9`",
                ));
            }
        };
        self.processes.compute(one.task, time, one.line)
    }

    fn time(&self, ps: f64) -> Result<Time, Wrong> {
        // Casts saturate.
        self.compute.of(ps.round() as u128).ok_or_else(|| {
            wrong(
                "this takes longer than can be simulated",
                "at most 1,000,000 s are possible: look at `flops_per_second` and `compute`",
            )
        })
    }

    fn sleep(&mut self, one: &One) -> Result<(), Wrong> {
        one.arguments(1, 1)?;
        let seconds = one.number(0)?;
        if seconds < 0.0 {
            let word = shown(one.words[0]);
            return Err(wrong(format!("{word} is no time"), "write 0 or more"));
        }
        let time = self.time(seconds * 1e12)?;
        self.processes.coverage.simulated("sleeps", 1, 0);
        self.processes.call(one.task, Node::delay(time), one.line)?;
        Ok(())
    }

    /// `partner tag size [type]`.
    fn message(&mut self, one: &One, action: &str) -> Result<(), Wrong> {
        if one.words.len() < 3 {
            return Err(wrong(
                "a message has a partner, a tag and a size",
                "older versions of SimGrid wrote no tag: write one, such as 0",
            ));
        }
        one.arguments(3, 4)?;
        let receives = !action.to_ascii_lowercase().ends_with("send");
        let partner = one.partner(0, receives)?;
        let tag = one.tag(1, receives)?.unwrap_or(ANY);
        let bytes = match receives && one.number(2)? == UNKNOWN {
            true => 0,
            false => one.bytes(2, one.size_of(3)?)?,
        };
        let Some(node) = self.node(partner, bytes, tag, receives) else {
            return Ok(());
        };
        if action.len() == 4 {
            self.processes.call(one.task, node, one.line)?;
        } else {
            let node = self.processes.start(one.task, node, one.line)?;
            let (own, partner) = (i64::from(one.task), one.integer(0)?);
            let key = match receives {
                true => (partner, own, one.integer(1)?),
                false => (own, partner, one.integer(1)?),
            };
            let requests = &mut self.requests[one.task as usize];
            requests.entry(key).or_default().push_back(node);
        }
        Ok(())
    }

    /// A send or a receive; None if the partner is no process.
    fn node(&mut self, partner: Partner, bytes: u64, tag: u32, receives: bool) -> Option<Node> {
        let coverage = &mut self.processes.coverage;
        let peer = match partner {
            Partner::One(task) => task,
            Partner::Any => ANY,
            Partner::Nobody => {
                coverage.ignored("messages with nobody", 1, 0, "MPI_PROC_NULL");
                return None;
            }
        };
        Some(match receives {
            true => {
                coverage.simulated("receives", 1, bytes);
                Node::receive(peer, bytes, tag)
            }
            false => {
                coverage.simulated("sends", 1, bytes);
                Node::send(peer, bytes, tag)
            }
        })
    }

    /// `size destination size source [types]`: a send and a receive of tag 0 at once.
    fn sendrecv(&mut self, one: &One) -> Result<(), Wrong> {
        one.arguments(4, 6)?;
        let mut both = Vec::new();
        for (place, kind, receives) in [(2, 5, true), (0, 4, false)] {
            let bytes = one.bytes(place, one.size_of(kind)?)?;
            let partner = one.partner(place + 1, receives)?;
            if let Some(node) = self.node(partner, bytes, 0, receives) {
                let node = self.processes.start(one.task, node, one.line)?;
                both.push(node);
            }
        }
        for node in both {
            self.processes.wait(one.task, node);
        }
        Ok(())
    }

    /// `source destination tag`.
    fn wait(&mut self, one: &One, test: bool) -> Result<(), Wrong> {
        one.arguments(3, 3)?;
        let [source, own, tag] = [one.integer(0)?, one.integer(1)?, one.integer(2)?];
        let coverage = &mut self.processes.coverage;
        if test {
            let why = "what they look for is over at the next wait";
            coverage.ignored("tests", 1, 0, why);
            return Ok(());
        }
        let requests = &mut self.requests[one.task as usize];
        // A wait for a receive of any source or tag may name the message that it got.
        let sources = [source].into_iter().chain(ANY_SOURCE);
        let mut keys = sources.flat_map(|source| {
            let tags = [tag].into_iter().chain(ANY_TAG);
            tags.map(move |tag| (source, own, tag))
        });
        let open = keys.find_map(|key| requests.get_mut(&key)?.pop_front());
        match open {
            Some(node) => self.processes.wait(one.task, node),
            None => {
                let why = "nothing is open";
                coverage.ignored("waits for nothing", 1, 0, why);
            }
        }
        Ok(())
    }

    fn collective(&mut self, one: &One, name: &str) -> Result<(), Wrong> {
        let tasks = one.tasks as usize;
        let plain = |kind, root, bytes| Call::Plain { kind, root, bytes };
        // Position of a following computation time in the arguments.
        let mut computation = None;
        let call = match name {
            "barrier" => {
                one.arguments(0, 0)?;
                plain(Kind::Barrier, 0, 0)
            }
            "bcast" => {
                one.arguments(1, 3)?;
                plain(Kind::Bcast, one.root(1)?, one.bytes(0, one.size_of(2)?)?)
            }
            "reduce" => {
                one.arguments(2, 4)?;
                computation = Some(1);
                plain(Kind::Reduce, one.root(2)?, one.bytes(0, one.size_of(3)?)?)
            }
            "allreduce" | "scan" | "exscan" => {
                one.arguments(2, 3)?;
                computation = Some(1);
                let kind = if name == "allreduce" {
                    Kind::Allreduce
                } else {
                    Kind::Scan
                };
                plain(kind, 0, one.bytes(0, one.size_of(2)?)?)
            }
            "alltoall" | "allgather" => {
                one.arguments(2, 4)?;
                let kind = if name == "alltoall" {
                    Kind::Alltoall
                } else {
                    Kind::Allgather
                };
                plain(kind, 0, one.bytes(0, one.size_of(2)?)?)
            }
            "gather" => {
                one.arguments(2, 5)?;
                plain(Kind::Gather, one.root(2)?, one.part([1, 0])?)
            }
            "scatter" => {
                one.arguments(2, 5)?;
                plain(Kind::Scatter, one.root(2)?, one.part([0, 1])?)
            }
            "gatherv" => {
                one.arguments(1 + tasks, tasks + 4)?;
                let root = one.root(1 + tasks)?;
                Call::Rooted {
                    kind: VectorKind::Gatherv,
                    root,
                    own: one.bytes(0, one.size_of(2 + tasks)?)?,
                    all: one.at_root(root, 1, one.size_of(3 + tasks)?)?,
                }
            }
            "scatterv" => {
                one.arguments(1 + tasks, tasks + 4)?;
                let root = one.root(1 + tasks)?;
                Call::Rooted {
                    kind: VectorKind::Scatterv,
                    root,
                    own: one.bytes(tasks, one.size_of(3 + tasks)?)?,
                    all: one.at_root(root, 0, one.size_of(2 + tasks)?)?,
                }
            }
            "allgatherv" => {
                one.arguments(1 + tasks, 3 + 2 * tasks)?;
                let size = if one.is_typed(1 + tasks) {
                    one.size_of(1 + tasks)?
                } else {
                    one.default
                };
                Call::Known {
                    kind: VectorKind::Allgatherv,
                    all: one.sizes(1, size)?,
                }
            }
            "reducescatter" => {
                one.arguments(1 + tasks, 2 + tasks)?;
                computation = Some(tasks);
                Call::Known {
                    kind: VectorKind::ReduceScatter,
                    all: one.sizes(0, one.size_of(1 + tasks)?)?,
                }
            }
            "alltoallv" => {
                one.arguments(2 + 2 * tasks, 4 + 2 * tasks)?;
                Call::Alltoallv {
                    sends: one.sizes(1, one.size_of(2 + 2 * tasks)?)?,
                    receives: one.sizes(2 + tasks, one.size_of(3 + 2 * tasks)?)?,
                }
            }
            _ => {
                return Err(wrong(
                    format!("{} is no action", shown(name)),
                    "write an action that SimGrid replays, such as `compute`, `send`, `waitall`, `allreduce`",
                ));
            }
        };
        let all = self.processes.all;
        self.processes
            .collective(one.task, all, call, false, one.line)?;
        match computation {
            Some(at) => self.flops(one, at),
            None => Ok(()),
        }
    }
}
