//! Collective operations as they are written.

use super::header::Wrong;
use crate::tasks::Peer;
use crate::tasks::collectives::Kind;

/// A part in a collective operation as it is written.
pub struct Written {
    /// Whose it is.
    pub task: Peer,
    /// What it sends, bytes.
    pub send: u64,
    /// What it receives, bytes.
    pub receive: u64,
    /// The place of its record.
    pub record: usize,
}

/// A collective operation as it is written.
pub struct Operation {
    /// The line of the first of its parts.
    pub line: u64,
    /// Its communicator.
    pub communicator: u64,
    /// Which operation it is, as a number.
    pub op: u64,
    /// All of them.
    pub parts: Vec<Written>,
}

/// Which operation it is, who its root is, and its bytes.
pub fn meaning(operation: &Operation) -> Result<(Kind, Option<Peer>, u64), Wrong> {
    let parts = || operation.parts.iter();
    let root = |mark: &dyn Fn(&Written) -> u64| {
        let mut marked = parts().filter(|part| mark(part) == 0);
        match (marked.next(), marked.next()) {
            (Some(root), None) => Ok(Some(root.task)),
            _ => Err((
                "it is not said who the root is".to_string(),
                "the root alone has a size of 0: what it receives in a bcast or a scatter, what it sends in a reduce or a gather".to_string(),
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
                "0 to 7 are: bcast, reduce, allreduce, gather, scatter, allgather, barrier, alltoall".into(),
            ));
        }
    })
}
