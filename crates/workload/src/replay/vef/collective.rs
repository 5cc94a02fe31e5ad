//! Collective operations as written in the file.

use super::header::Wrong;
use crate::tasks::Peer;
use crate::tasks::collectives::Kind;

/// A part in a collective operation as written in the file.
pub struct Written {
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

/// Kind, root and bytes of an operation.
pub fn meaning(operation: &Operation) -> Result<(Kind, Option<Peer>, u64), Wrong> {
    let parts = || operation.parts.iter();
    let root = |mark: &dyn Fn(&Written) -> u64| {
        let mut marked = parts().filter(|part| mark(part) == 0);
        match (marked.next(), marked.next()) {
            (Some(root), None) => Ok(Some(root.task)),
            _ => Err((
                "it is not said who the root is".to_string(),
                "the root alone has a size of 0: what it receives in a bcast or a scatter, what it \
                 sends in a reduce or a gather".to_string(),
            )),
        }
    };
    let send = parts().map(|part| part.send).max().unwrap_or(0);
    let receive = parts().map(|part| part.receive).max().unwrap_or(0);
    Ok(match operation.op {
        0 => (Kind::Bcast, root(&|part| part.receive)?, receive.max(send)),
        1 => (Kind::Reduce, root(&|part| part.send)?, send),
        2 => (Kind::Allreduce, None, send),
        3 => (Kind::Gather, root(&|part| part.send)?, send),
        4 => (Kind::Scatter, root(&|part| part.receive)?, receive),
        5 => (Kind::Allgather, None, send),
        6 => (Kind::Barrier, None, 0),
        7 => (Kind::Alltoall, None, send),
        op => {
            return Err((
                format!("{op} is no collective operation"),
                "0 to 7 are: bcast, reduce, allreduce, gather, scatter, allgather, barrier, \
                 alltoall"
                    .into(),
            ));
        }
    })
}
