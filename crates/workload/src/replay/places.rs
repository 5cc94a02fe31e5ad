//! Positions of operations in trace files, for errors.

use crate::tasks::Peer;

/// Positions of a trace's operations in their files, for error messages. (4 bytes for each
/// operation, while the trace is read.)
#[derive(Debug, Default)]
pub struct Places {
    /// By task and operation: the line or the byte; `NOWHERE` if it has none.
    at: Vec<Vec<u32>>,
    /// True if they are bytes.
    bytes: bool,
    /// The file of each task, if they have one each.
    pub files: Vec<String>,
}

const NOWHERE: u32 = u32::MAX;

impl Places {
    /// Positions in bytes, not lines.
    pub fn of_bytes() -> Places {
        Places {
            bytes: true,
            ..Places::default()
        }
    }

    /// Sets the line or the byte of an operation.
    pub fn set(&mut self, task: Peer, node: u32, at: u64) {
        let (task, node) = (task as usize, node as usize);
        if self.at.len() <= task {
            self.at.resize_with(task + 1, Vec::new);
        }
        let own = &mut self.at[task];
        if own.len() <= node {
            own.resize(node + 1, NOWHERE);
        }
        own[node] = u32::try_from(at).unwrap_or(NOWHERE);
    }

    /// Position of an operation: `line 7`, `rank-3.txt, line 7`.
    pub fn of(&self, task: Peer, node: u32) -> String {
        let own = self.at.get(task as usize);
        let at = own.and_then(|own| own.get(node as usize));
        let kind = if self.bytes { "byte" } else { "line" };
        let at = at
            .filter(|&&at| at != NOWHERE)
            .map(|at| format!("{kind} {at}"));
        let file = self.files.get(task as usize).cloned();
        let parts: Vec<String> = [file, at].into_iter().flatten().collect();
        parts.join(", ")
    }
}
