//! Tasks, and groups of them.

use serde::{Deserialize, Serialize};

/// A task of a job, from 0; `None` as the source of a receive means any.
pub type Peer = u32;

/// Tasks at equal distances from each other: all of a job, a row or a column of a grid. (A
/// communicator, in a form that takes no memory.)
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize, Serialize)]
pub struct Group {
    /// The first task.
    pub first: Peer,
    /// Distance from one task to the next.
    pub stride: u32,
    /// Number of tasks.
    pub count: u32,
}

impl Group {
    /// All `tasks` of a job.
    pub fn all(tasks: u32) -> Group {
        Group {
            first: 0,
            stride: 1,
            count: tasks,
        }
    }

    /// The member at a place.
    pub fn member(self, place: u32) -> Peer {
        self.first + self.stride * place
    }

    /// The place of a member; None if it is not one.
    pub fn place(self, task: Peer) -> Option<u32> {
        let away = task.checked_sub(self.first)?;
        let stride = self.stride.max(1);
        let place = away / stride;
        (away % stride == 0 && place < self.count).then_some(place)
    }
}
