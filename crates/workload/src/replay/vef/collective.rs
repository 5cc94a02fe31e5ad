//! Collective operations as written in the file.

use std::sync::Arc;

use super::super::graph::{Part, What};
use super::super::input::Fault;
use super::super::operations::data;
use crate::tasks::collectives::Kind;
use crate::tasks::{Peer, Vector, VectorKind};

/// A part in a collective operation as written in the file.
pub struct Written {
    /// Its line.
    pub line: u64,
    /// Its task.
    pub task: Peer,
    /// Bytes sent.
    pub send: u64,
    /// Bytes received.
    pub receive: u64,
    /// The place of its record.
    pub record: usize,
}

/// A collective operation as written in the file.
pub struct Operation {
    /// The line of the first of its parts.
    pub line: u64,
    /// Its communicator.
    pub communicator: u64,
    /// Number of the kind of operation.
    pub op: u64,
    /// All its parts.
    pub parts: Vec<Written>,
}

/// An operation with its sizes.
pub struct Meaning {
    /// Its kind; of operations with different sizes the plain one.
    pub kind: Kind,
    /// The task that is its root, if it has one.
    pub root: Option<Peer>,
    /// Bytes of the parts.
    pub sizes: PartSizes,
}

/// Bytes of the parts of an operation.
pub enum PartSizes {
    /// All have the same.
    Equal(u64),
    /// Each task has its own number, which this returns.
    Each(VectorKind, fn(&Written) -> u64),
}

impl Meaning {
    /// The operation as a group carries it out, and the bytes of all parts. `place` gives the place
    /// of a task in the group.
    ///
    /// # Errors
    /// If a task has no place.
    pub fn what(
        &self,
        parts: &[Written],
        members: &Arc<[Peer]>,
        place: impl Fn(Peer) -> Result<u32, Fault>,
    ) -> Result<(What, u64), Fault> {
        let root = self.root.map_or(Ok(0), &place)?;
        match self.sizes {
            PartSizes::Equal(bytes) => {
                let all = data(self.kind, bytes, parts.len()).saturating_mul(parts.len() as u64);
                Ok((Part::new(self.kind, members, 0, root, bytes, 0).what, all))
            }
            PartSizes::Each(kind, size) => {
                let mut bytes = vec![0; members.len()];
                for part in parts {
                    bytes[place(part.task)? as usize] = size(part);
                }
                let all = bytes.iter().copied().fold(0, u64::saturating_add);
                let vector = Vector {
                    kind,
                    root,
                    bytes: bytes.into(),
                    receives: Arc::new([]),
                };
                Ok((What::Vector(vector), all))
            }
        }
    }
}

/// An error in a line, and its remedy.
type Refused = (u64, String, String);

fn send(part: &Written) -> u64 {
    part.send
}

fn receive(part: &Written) -> u64 {
    part.receive
}

/// Kind, root and sizes of an operation.
///
/// # Errors
/// If the sizes of its parts cannot belong to one operation.
pub fn meaning(operation: &Operation) -> Result<Meaning, Refused> {
    let parts = &operation.parts;
    let plain = |kind, root, bytes| Meaning {
        kind,
        root,
        sizes: PartSizes::Equal(bytes),
    };
    // Only copies may differ in length: values of different numbers cannot be combined.
    let each = |kind, vector, root, size: fn(&Written) -> u64| {
        let mut sizes = parts
            .iter()
            .filter(|part| Some(part.task) != root)
            .map(size);
        let first = sizes.next().unwrap_or(0);
        match sizes.all(|bytes| bytes == first) {
            true => plain(kind, root, first),
            false => Meaning {
                kind,
                root,
                sizes: PartSizes::Each(vector, size),
            },
        }
    };
    Ok(match operation.op {
        0 => {
            let root = root(operation, receive)?;
            plain(Kind::Bcast, Some(root), rooted(parts, root, receive, send)?)
        }
        1 => {
            let root = root(operation, send)?;
            plain(
                Kind::Reduce,
                Some(root),
                rooted(parts, root, send, receive)?,
            )
        }
        2 => plain(Kind::Allreduce, None, equal(parts, send, SAME)?),
        3 => {
            let root = root(operation, send)?;
            each(Kind::Gather, VectorKind::Gatherv, Some(root), send)
        }
        4 => {
            let root = root(operation, receive)?;
            each(Kind::Scatter, VectorKind::Scatterv, Some(root), receive)
        }
        5 => each(Kind::Allgather, VectorKind::Allgatherv, None, send),
        6 => plain(Kind::Barrier, None, 0),
        7 => {
            let bytes = equal(parts, send, SAME)?;
            // A receive of 1 says that the bytes are those for all tasks together.
            let split = |part: &Written| u64::from(part.receive == 1);
            let remedy = "write a receive of 1 at all tasks (their sizes are for all others \
                          together), or 0 at all";
            let count = match equal(parts, split, remedy)? {
                1 => parts.len() as u64,
                _ => 1,
            };
            plain(Kind::Alltoall, None, bytes.div_ceil(count))
        }
        op => {
            return Err((
                operation.line,
                format!("{op} is no collective operation"),
                "0 to 7 are: bcast, reduce, allreduce, gather, scatter, allgather, barrier, \
                 alltoall"
                    .into(),
            ));
        }
    })
}

/// The only task with a size of 0.
fn root(operation: &Operation, size: fn(&Written) -> u64) -> Result<Peer, Refused> {
    let mut marked = operation.parts.iter().filter(|part| size(part) == 0);
    match (marked.next(), marked.next()) {
        (Some(root), None) => Ok(root.task),
        _ => Err((
            operation.line,
            "it is not said who the root is".to_string(),
            "the root alone has a size of 0: what it receives in a bcast or a scatter, what it \
             sends in a reduce or a gather"
                .to_string(),
        )),
    }
}

/// The one size of all tasks but the root, and of the root's other direction.
fn rooted(
    parts: &[Written],
    root: Peer,
    others: fn(&Written) -> u64,
    own: fn(&Written) -> u64,
) -> Result<u64, Refused> {
    let size = |part: &Written| match part.task == root {
        true => own(part),
        false => others(part),
    };
    equal(parts, size, SAME)
}

/// Remedy for sizes that differ.
const SAME: &str = "give all tasks the same size; only a gather, a scatter and an allgather may \
                    have different ones";

/// The size that all parts have.
fn equal(parts: &[Written], size: impl Fn(&Written) -> u64, remedy: &str) -> Result<u64, Refused> {
    let Some(first) = parts.first() else {
        return Ok(0);
    };
    let bytes = size(first);
    match parts.iter().find(|part| size(part) != bytes) {
        None => Ok(bytes),
        Some(other) => {
            let message = format!(
                "the size of task {} is {} in this operation, and that of task {} is {bytes} \
                 (line {})",
                other.task,
                size(other),
                first.task,
                first.line
            );
            Err((other.line, message, remedy.into()))
        }
    }
}
