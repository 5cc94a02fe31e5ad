//! Collective operations of traces in which each task names its own parts. As in MPI, the k-th part
//! of a task in the operations of a group belongs to the k-th operation of that group.

use std::sync::Arc;

use rustc_hash::FxHashMap;

use super::coverage::Coverage;
use super::graph::{Part, What};
use super::input::Fault;
use super::{Builder, Places};
use crate::tasks::collectives::Kind;
use crate::tasks::{Collective, Group, Peer, Vector, VectorKind};

/// A task's arguments of an operation in which it takes part. Roots are places in the group.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Call {
    /// An operation in which all have the same number of bytes, as [`crate::tasks::Collective`]
    /// counts them.
    Plain {
        /// Kind of operation.
        kind: Kind,
        /// Its root; 0 if there is none.
        root: u32,
        /// Bytes.
        bytes: u64,
    },
    /// A gather to or a scatter from a root; only the root knows all sizes.
    Rooted {
        /// Kind of operation.
        kind: VectorKind,
        /// Its root.
        root: u32,
        /// Bytes that this task sends (gather) or receives (scatter).
        own: u64,
        /// At the root: the bytes of all tasks.
        all: Option<Arc<[u64]>>,
    },
    /// An allgather or a reduce-scatter; all tasks know all sizes.
    Known {
        /// Kind of operation.
        kind: VectorKind,
        /// Bytes by place.
        all: Arc<[u64]>,
    },
    /// An alltoall.
    Alltoallv {
        /// Bytes that this task sends to each.
        sends: Arc<[u64]>,
        /// Bytes that it receives from each.
        receives: Arc<[u64]>,
    },
}

impl Call {
    fn name(&self) -> &'static str {
        match self {
            Call::Plain { kind, .. } => kind.name(),
            Call::Rooted { kind, .. } | Call::Known { kind, .. } => kind.name(),
            Call::Alltoallv { .. } => VectorKind::Alltoallv.name(),
        }
    }

    fn root(&self) -> Option<u32> {
        match self {
            Call::Plain { root, .. } | Call::Rooted { root, .. } => Some(*root),
            _ => None,
        }
    }

    /// Bytes of the task at `place` among `tasks`: what it gives, or of a bcast and a scatter gets.
    fn bytes(&self, place: u32, tasks: usize) -> u64 {
        let sum = |all: &[u64]| all.iter().fold(0, |sum: u64, &one| sum.saturating_add(one));
        match self {
            Call::Plain { kind, bytes, .. } => data(*kind, *bytes, tasks),
            Call::Rooted { own, .. } => *own,
            Call::Known {
                kind: VectorKind::Allgatherv,
                all,
            } => all[place as usize],
            Call::Known { all, .. } => sum(all),
            Call::Alltoallv { sends, .. } => sum(sends),
        }
    }

    /// True if two tasks may give these arguments for the same operation.
    fn fits(&self, other: &Call) -> bool {
        match (self, other) {
            (Call::Plain { .. }, _) | (Call::Known { .. }, _) => self == other,
            _ => self.name() == other.name() && self.root() == other.root(),
        }
    }
}

impl std::fmt::Display for Call {
    fn fmt(&self, f: &mut std::fmt::Formatter) -> std::fmt::Result {
        write!(f, "{}", self.name())?;
        if let Call::Plain { bytes, .. } = self {
            write!(f, " of {bytes} bytes")?;
        }
        match self.root() {
            Some(root) if root > 0 => write!(f, " with root {root}"),
            _ => Ok(()),
        }
    }
}

/// Bytes of a task in an operation of this number of tasks. Of an alltoall and a reduce-scatter,
/// `bytes` is for one pair or task.
pub fn data(kind: Kind, bytes: u64, tasks: usize) -> u64 {
    match kind {
        Kind::Alltoall | Kind::ReduceScatter => bytes.saturating_mul(tasks as u64),
        _ => bytes,
    }
}

/// A part with the arguments of a task.
#[derive(Debug)]
struct Written {
    task: Peer,
    place: u32,
    node: u32,
    call: Call,
}

#[derive(Debug, Default)]
struct Operation {
    number: u32,
    /// Number of tasks that have named their parts.
    count: u32,
    /// Bytes of those parts.
    bytes: u64,
    /// The first part; for operations with different sizes, all parts.
    parts: Vec<Written>,
}

#[derive(Debug)]
struct Known {
    members: Arc<[Peer]>,
    places: FxHashMap<Peer, u32>,
    /// The number of the next operation of each task, by place.
    next: Vec<u32>,
    operations: Vec<Operation>,
}

/// The operations of a trace, by the groups of tasks that carry them out.
#[derive(Debug, Default)]
pub struct Operations {
    groups: Vec<Known>,
    count: u32,
}

/// An error and its remedy.
pub type Wrong = (String, String);

impl Operations {
    /// Adds a group and returns its number. Its tasks must differ.
    pub fn group(&mut self, members: Arc<[Peer]>) -> usize {
        self.groups.push(Known {
            places: members.iter().copied().zip(0..).collect(),
            next: vec![0; members.len()],
            members,
            operations: Vec::new(),
        });
        self.groups.len() - 1
    }

    /// The tasks of a group.
    pub fn members(&self, group: usize) -> &Arc<[Peer]> {
        &self.groups[group].members
    }

    /// Adds a task's part in its next operation of a group; returns the number of the operation in
    /// its program.
    ///
    /// # Errors
    /// If the task is not in the group, its root or sizes do not fit the group, or the arguments of
    /// others for the operation differ.
    pub fn part(
        &mut self,
        builder: &mut Builder,
        task: Peer,
        group: usize,
        call: Call,
        places: &Places,
    ) -> Result<u32, Wrong> {
        let put = |part| builder.add_collective(part);
        self.put(put, task, group, call, places)
    }

    /// The same; `put` keeps the part in the task's program and returns its number there.
    ///
    /// # Errors
    /// As [`Operations::part`].
    pub fn put(
        &mut self,
        put: impl FnOnce(Part) -> u32,
        task: Peer,
        group: usize,
        call: Call,
        places: &Places,
    ) -> Result<u32, Wrong> {
        let known = &mut self.groups[group];
        let tasks = known.members.len();
        let Some(&place) = known.places.get(&task) else {
            return Err((
                format!("task {task} is not in the group of this operation"),
                "only its tasks take part".into(),
            ));
        };
        check(&call, tasks)?;
        let next = &mut known.next[place as usize];
        let at = *next as usize;
        *next += 1;
        if at == known.operations.len() {
            known.operations.push(Operation {
                number: self.count,
                ..Operation::default()
            });
            self.count += 1;
        }
        let operation = &mut known.operations[at];
        if let Some(first) = operation.parts.first()
            && !call.fits(&first.call)
        {
            let there = match places.of(first.task, first.node) {
                place if place.is_empty() => String::new(),
                place => format!(" ({place})"),
            };
            return Err((
                format!(
                    "collective operation {} of this group is a {call} here, and a {} of task \
                     {}{there}",
                    at + 1,
                    first.call,
                    first.task
                ),
                "all tasks of a group call the same operations in the same order".into(),
            ));
        }
        operation.count += 1;
        let bytes = call.bytes(place, tasks);
        operation.bytes = operation.bytes.saturating_add(bytes);
        // Vectors are set after all parts are known.
        let (kind, root, bytes) = match call {
            Call::Plain { kind, root, bytes } => (kind, root, bytes),
            _ => (Kind::Barrier, 0, 0),
        };
        let part = Part::new(kind, &known.members, place, root, bytes, operation.number);
        let node = put(part);
        if operation.parts.is_empty() || !matches!(call, Call::Plain { .. }) {
            operation.parts.push(Written {
                task,
                place,
                node,
                call,
            });
        }
        Ok(node)
    }

    /// Finishes the operations after all tasks have named their parts.
    ///
    /// # Errors
    /// If one does not take part in an operation, or sizes do not agree.
    pub fn finish(
        self,
        builders: &mut [Builder],
        coverage: &mut Coverage,
        places: &Places,
    ) -> Result<(), Fault> {
        for group in self.groups {
            let tasks = group.members.len();
            for (operation, at) in group.operations.into_iter().zip(0..) {
                let Some(first) = operation.parts.first() else {
                    continue;
                };
                let refuse = |part: &Written, message: String, remedy: &str| Fault {
                    place: places.of(part.task, part.node),
                    message,
                    remedy: remedy.into(),
                };
                if (operation.count as usize) < tasks {
                    let absent = group.next.iter().position(|&next| next <= at);
                    let absent = group.members[absent.unwrap_or(0)];
                    let message =
                        format!("task {absent} has no part in this {}", first.call.name());
                    return Err(refuse(first, message, "complete the trace"));
                }
                coverage.simulated("collective operations", 1, 0);
                if tasks > 1 && tasks < builders.len() {
                    coverage.simulated("of those on some of the tasks", 1, 0);
                }
                coverage.simulated("parts in them", tasks as u64, operation.bytes);
                if matches!(first.call, Call::Plain { .. }) {
                    continue;
                }
                coverage.simulated("of those with sizes for each task", 1, 0);
                let (number, mut parts) = (operation.number, operation.parts);
                parts.sort_by_key(|part| part.place);
                let vectors = vectors(&parts).map_err(|(place, message)| {
                    refuse(&parts[place as usize], message, "sizes have to agree")
                })?;
                for (part, what) in parts.iter().zip(vectors) {
                    let whole = Part {
                        what,
                        place: part.place,
                        members: group.members.clone(),
                        number,
                    };
                    builders[part.task as usize].set_collective(part.node, whole);
                }
            }
        }
        Ok(())
    }
}

/// Refuses roots and numbers of sizes that do not fit a group of this number of tasks.
fn check(call: &Call, tasks: usize) -> Result<(), Wrong> {
    if let Some(root) = call.root()
        && root as usize >= tasks
    {
        return Err((
            format!("the root {root} is none of the {tasks} tasks of the group"),
            format!("write a root from 0 to {}", tasks.saturating_sub(1)),
        ));
    }
    let sizes = match call {
        Call::Rooted { all: Some(all), .. } | Call::Known { all, .. } => all.len(),
        Call::Alltoallv { sends, receives } if sends.len() == tasks => receives.len(),
        Call::Alltoallv { sends, .. } => sends.len(),
        _ => tasks,
    };
    match sizes == tasks {
        true => Ok(()),
        false => Err((
            format!("{sizes} sizes for the {tasks} tasks of the group"),
            "write one for each task".into(),
        )),
    }
}

/// The parts of an operation, by place; or the place at which sizes do not fit.
fn vectors(parts: &[Written]) -> Result<Vec<What>, (u32, String)> {
    let none: Arc<[u64]> = Arc::new([]);
    let plain = |kind, bytes: Arc<[u64]>, root| {
        What::Vector(Vector {
            kind,
            root,
            bytes,
            receives: none.clone(),
        })
    };
    match &parts[0].call {
        Call::Plain { .. } => Ok(Vec::new()),
        Call::Known { kind, all } => Ok(vec![known(*kind, all); parts.len()]),
        Call::Rooted { kind, root, .. } => {
            let own = |part: &Written| match &part.call {
                Call::Rooted { own, .. } => *own,
                _ => 0,
            };
            let mut all: Arc<[u64]> = parts.iter().map(own).collect();
            if let Call::Rooted {
                all: Some(said), ..
            } = &parts[*root as usize].call
            {
                // The data that the root keeps does not use the network.
                let differs = |at: &usize| *at != *root as usize && said[*at] != all[*at];
                if let Some(at) = (0..all.len()).find(differs) {
                    let message = format!(
                        "task {} has {} bytes in this {}, and its root says {}",
                        parts[at].task,
                        all[at],
                        kind.name(),
                        said[at]
                    );
                    return Err((at as u32, message));
                }
                all = said.clone();
            }
            Ok(vec![plain(*kind, all, *root); parts.len()])
        }
        Call::Alltoallv { .. } => alltoallv(parts),
    }
}

/// An allgather or a reduce-scatter; with equal sizes it becomes the plain operation.
fn known(kind: VectorKind, all: &Arc<[u64]>) -> What {
    let equal = all.iter().all(|bytes| *bytes == all[0]);
    let same = match kind {
        VectorKind::Allgatherv => Kind::Allgather,
        _ => Kind::ReduceScatter,
    };
    match equal {
        true => What::Plain(Collective {
            kind: same,
            group: Group::all(all.len() as u32),
            root: 0,
            bytes: all[0],
        }),
        false => What::Vector(Vector {
            kind,
            root: 0,
            bytes: all.clone(),
            receives: Arc::new([]),
        }),
    }
}

fn alltoallv(parts: &[Written]) -> Result<Vec<What>, (u32, String)> {
    let sizes = |part: &Written| match &part.call {
        Call::Alltoallv { sends, receives } => [sends.clone(), receives.clone()],
        _ => [Arc::from([]), Arc::from([])],
    };
    let sizes: Vec<[Arc<[u64]>; 2]> = parts.iter().map(sizes).collect();
    for (from, [sends, _]) in sizes.iter().enumerate() {
        for (to, [_, receives]) in sizes.iter().enumerate() {
            if from != to && sends[to] != receives[from] {
                let message = format!(
                    "task {} sends {} bytes to task {}, which expects {}",
                    parts[from].task, sends[to], parts[to].task, receives[from]
                );
                return Err((from as u32, message));
            }
        }
    }
    let vectors = sizes.into_iter().map(|[bytes, receives]| {
        What::Vector(Vector {
            kind: VectorKind::Alltoallv,
            root: 0,
            bytes,
            receives,
        })
    });
    Ok(vectors.collect())
}
