//! The actions of a time-independent trace.

use std::collections::VecDeque;
use std::sync::Arc;

use rustc_hash::FxHashMap;

use super::super::graph::ANY;
use super::super::mpi::{Processes, length, shown};
use super::super::operations::{Call, Wrong};
use super::super::{Fault, Node, Scale, task};
use crate::model::Time;
use crate::workload::tasks::VectorKind;
use crate::workload::tasks::collectives::Kind;

/// A process.
pub type Task = u32;

/// Bytes of the predefined data types by their numbers, in the order in which SimGrid registers them (on 64-bit Linux).
const TYPES: [u64; 60] = [
    8, 4, 1, 2, 8, 4, 1, 8, 1,
    1, // double, int, char, short, long, float, byte, long long, signed and unsigned char
    2, 4, 8, 8, 16, 4, 1, 1, 2,
    4, // unsigned short, int, long, long long; long double, wchar, bool, int8, int16, int32
    8, 1, 2, 4, 8, 8, 16, 32, 8,
    8, // int64, uint8 to uint64; complex float, double, long double; aint, offset
    8, 16, 16, 8, 8, 8, 16, 16, 4,
    4, // pairs with an int; 2int, 2float, 2double, 2long; real, real4
    8, 16, 8, 16, 16, 4, 2, 4, 8,
    16, // real8, real16, complex8 to complex32, integer1 to integer16
    32, 1, 8, 16, 32, 0, 0, 1, 8,
    8, // long double int; C++ types; bounds, packed, pointer, count
];

/// The type of sizes without one where `init` has an argument: double. Otherwise they are bytes.
const DEFAULT: u64 = 8;

/// What is started and not waited for: by source, destination and tag.
type Requests = FxHashMap<(i64, i64, i64), VecDeque<u32>>;

/// Reads actions, one after the other.
pub struct Actions {
    processes: Processes,
    /// Picoseconds of an operation.
    per_flop: Option<f64>,
    compute: Scale,
    /// Bytes of a type that is not named, by process.
    defaults: Vec<u64>,
    requests: Vec<Requests>,
    /// The last line of each process that waits for nothing, for what is missing.
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

    /// All of them are read.
    ///
    /// # Errors
    /// If a process does not come to its end.
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

    /// Reads an action; `own`: of this process alone.
    ///
    /// # Errors
    /// If it is none.
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
                format!("an action of process {process} in the file of another"),
                "the file of a process has its actions only; look at the order of the list",
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

    /// Computes as many operations as an argument says.
    fn flops(&mut self, one: &One, at: usize) -> Result<(), Wrong> {
        let flops = one.number(at)?;
        let time = match self.per_flop {
            _ if flops <= 0.0 => 0,
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
        let time = self.time(one.number(0)?.max(0.0) * 1e12)?;
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
        let (partner, tag) = (one.integer(0)?, one.integer(1)?);
        let sends = action.eq_ignore_ascii_case("send") || action.eq_ignore_ascii_case("isend");
        // Where the size is not known to the receiver it is -1.
        let bytes = match one.number(2)? <= 0.0 {
            true => 0,
            false => one.bytes(2, one.size_of(3)?)?,
        };
        let own = i64::from(one.task);
        let (node, key) = if sends {
            let to = task(u64::try_from(partner).unwrap_or(u64::MAX), one.tasks)?;
            let tag = u32::try_from(tag).ok().filter(|&tag| tag < ANY);
            let tag = tag.ok_or_else(|| wrong("a message without a tag", "write 0 or more"))?;
            self.processes.coverage.simulated("sends", 1, bytes);
            (Node::send(to, bytes, tag), (own, partner, i64::from(tag)))
        } else {
            // MPI_ANY_SOURCE and MPI_ANY_TAG are negative.
            let from = match u64::try_from(partner) {
                Ok(from) => task(from, one.tasks)?,
                Err(_) => ANY,
            };
            let wanted = u32::try_from(tag).unwrap_or(ANY);
            self.processes.coverage.simulated("receives", 1, bytes);
            (Node::receive(from, bytes, wanted), (partner, own, tag))
        };
        if action.len() == 4 {
            self.processes.call(one.task, node, one.line)?;
        } else {
            let node = self.processes.start(one.task, node, one.line)?;
            let requests = &mut self.requests[one.task as usize];
            requests.entry(key).or_default().push_back(node);
        }
        Ok(())
    }

    /// `source destination tag`.
    fn wait(&mut self, one: &One, test: bool) -> Result<(), Wrong> {
        one.arguments(3, 3)?;
        let key = (one.integer(0)?, one.integer(1)?, one.integer(2)?);
        let coverage = &mut self.processes.coverage;
        if test {
            let why = "what they look for is over at the next wait";
            coverage.ignored("tests", 1, 0, why);
            return Ok(());
        }
        let requests = &mut self.requests[one.task as usize];
        let open = requests.get_mut(&key).and_then(VecDeque::pop_front);
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
        // Where computation stands that comes behind it.
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
                plain(Kind::Gather, one.root(2)?, one.bytes(0, one.size_of(3)?)?)
            }
            "scatter" => {
                one.arguments(2, 5)?;
                plain(Kind::Scatter, one.root(2)?, one.bytes(1, one.size_of(4)?)?)
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
                // Types, displacements or both may follow.
                one.arguments(1 + tasks, 3 + 2 * tasks)?;
                let typed = matches!(one.words.len() - 1 - tasks, 1 | 2);
                let size = if typed {
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
                    "write one of those that SimGrid replays, such as `compute`, `send`, `waitall`, `allreduce`",
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

/// An action's arguments.
struct One<'a> {
    task: Task,
    line: u64,
    words: &'a [&'a str],
    /// Bytes of a type that is not named.
    default: u64,
    tasks: u32,
}

fn wrong(what: impl Into<String>, remedy: impl Into<String>) -> Wrong {
    (what.into(), remedy.into())
}

impl One<'_> {
    fn arguments(&self, least: usize, most: usize) -> Result<(), Wrong> {
        let count = self.words.len();
        match (least..=most).contains(&count) {
            true => Ok(()),
            false => Err(wrong(
                format!("{count} arguments"),
                match least == most {
                    true => format!("this action has {least}"),
                    false => format!("this action has {least} to {most}"),
                },
            )),
        }
    }

    fn word(&self, at: usize) -> Result<&str, Wrong> {
        let word = self.words.get(at);
        word.copied()
            .ok_or_else(|| wrong("the line ends too early", "write all arguments"))
    }

    fn number(&self, at: usize) -> Result<f64, Wrong> {
        let word = self.word(at)?;
        let number = word.parse().ok().filter(|number: &f64| number.is_finite());
        number.ok_or_else(|| wrong(format!("{} is no number", shown(word)), "write a number"))
    }

    fn integer(&self, at: usize) -> Result<i64, Wrong> {
        let word = self.word(at)?;
        word.parse().map_err(|_| {
            wrong(
                format!("{} is no whole number", shown(word)),
                "write a whole number",
            )
        })
    }

    /// Bytes of the type that an argument names, or of the usual one.
    fn size_of(&self, at: usize) -> Result<u64, Wrong> {
        if at >= self.words.len() {
            return Ok(self.default);
        }
        let kind = usize::try_from(self.integer(at)?).ok();
        let size = kind.and_then(|kind| TYPES.get(kind));
        size.copied().ok_or_else(|| {
            wrong(
                format!("there is no type {}", shown(self.words[at])),
                format!("write 0 to {}", TYPES.len() - 1),
            )
        })
    }

    fn bytes(&self, at: usize, size: u64) -> Result<u64, Wrong> {
        let count = self.number(at)?;
        if count < 0.0 {
            return Err(wrong(format!("{count} elements"), "write 0 or more"));
        }
        length((count * size as f64).round() as u128)
    }

    fn sizes(&self, from: usize, size: u64) -> Result<Arc<[u64]>, Wrong> {
        let places = from..from + self.tasks as usize;
        places.map(|at| self.bytes(at, size)).collect()
    }

    /// Sizes of all, if this is the root.
    fn at_root(&self, root: u32, from: usize, size: u64) -> Result<Option<Arc<[u64]>>, Wrong> {
        match root == self.task {
            true => Ok(Some(self.sizes(from, size)?)),
            false => Ok(None),
        }
    }

    /// The root that an argument names, or 0.
    fn root(&self, at: usize) -> Result<u32, Wrong> {
        if at >= self.words.len() {
            return Ok(0);
        }
        let root = self.integer(at)?;
        task(u64::try_from(root).unwrap_or(u64::MAX), self.tasks)
    }
}
