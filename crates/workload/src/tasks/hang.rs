//! Tasks that do not proceed, and the reasons in words.

use std::fmt;

use super::messages::requests::Request;
use super::program::op::COLLECTIVE_TAG;
use super::{Label, Peer, Tag};

/// Reasons why a task does not proceed.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Waiting {
    /// The task.
    pub task: Peer,
    /// Its first obstacles, at most [`Waiting::MOST`].
    pub obstacles: Vec<Obstacle>,
    /// Number of all its obstacles.
    pub count: usize,
}

impl Waiting {
    /// Maximum number of obstacles of a task that are named.
    pub const MOST: usize = 3;

    pub(super) fn new(task: Peer, open: &[(Label, Request)]) -> Waiting {
        let obstacles = open.iter().take(Waiting::MOST);
        Waiting {
            task,
            obstacles: obstacles
                .filter_map(|&(_, one)| Obstacle::of(one))
                .collect(),
            count: open.len(),
        }
    }
}

/// An operation or message that a task waits for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Obstacle {
    /// A message that was not sent, or that no other task can match.
    Message {
        /// Source; None: any.
        from: Option<Peer>,
        /// Tag; None: any.
        tag: Option<Tag>,
    },
    /// A message of a collective operation.
    Step {
        /// Source; None: any.
        from: Option<Peer>,
    },
    /// The content of a long message.
    Content {
        /// Source.
        from: Peer,
    },
    /// An outgoing message that does not leave.
    Leaving {
        /// Destination.
        to: Peer,
    },
    /// A receive at the other end of a long message.
    Receive {
        /// Destination.
        to: Peer,
    },
}

impl Obstacle {
    fn of(request: Request) -> Option<Obstacle> {
        match request {
            Request::Receive { from, tag } => Some(match tag {
                Some(tag) if tag >= COLLECTIVE_TAG => Obstacle::Step { from },
                tag => Obstacle::Message { from, tag },
            }),
            Request::Content { from } => Some(Obstacle::Content { from }),
            Request::Send { to } => Some(Obstacle::Leaving { to }),
            Request::LongSend { to } => Some(Obstacle::Receive { to }),
            Request::Done => None,
        }
    }
}

impl fmt::Display for Obstacle {
    fn fmt(&self, f: &mut fmt::Formatter) -> fmt::Result {
        match *self {
            Obstacle::Message { from, .. } | Obstacle::Step { from } => {
                match from {
                    Some(from) => write!(f, "a message from task {from}")?,
                    None => write!(f, "a message from any task")?,
                }
                match self {
                    Obstacle::Message { tag: Some(tag), .. } => write!(f, " with tag {tag}"),
                    Obstacle::Step { .. } => write!(f, " (of a collective operation)"),
                    _ => Ok(()),
                }
            }
            Obstacle::Content { from } => {
                write!(f, "the content of a long message from task {from}")
            }
            Obstacle::Leaving { to } => write!(f, "its own message to task {to} to leave"),
            Obstacle::Receive { to } => {
                write!(f, "task {to} to receive its long message")
            }
        }
    }
}

impl fmt::Display for Waiting {
    fn fmt(&self, f: &mut fmt::Formatter) -> fmt::Result {
        write!(f, "task {} waits for ", self.task)?;
        if self.obstacles.is_empty() {
            return write!(f, "nothing");
        }
        for (at, obstacle) in self.obstacles.iter().enumerate() {
            match at {
                0 => write!(f, "{obstacle}")?,
                _ => write!(f, ", {obstacle}")?,
            }
        }
        match self.count - self.obstacles.len() {
            0 => Ok(()),
            more => write!(f, " and {more} more"),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn steps_of_collective_operations_are_told_from_messages() {
        let words = |tag| {
            let request = Request::Receive { from: Some(1), tag };
            Waiting::new(0, &[(7, request)]).to_string()
        };
        let message = "task 0 waits for a message from task 1";
        assert_eq!(words(None), message);
        assert_eq!(words(Some(65_535)), format!("{message} with tag 65535"));
        let step = format!("{message} (of a collective operation)");
        assert_eq!(words(Some(COLLECTIVE_TAG)), step);
        // A tag of a trace may have any value.
        let own = Obstacle::Message {
            from: Some(1),
            tag: Some(1_000_003),
        };
        assert_eq!(own.to_string(), "a message from task 1 with tag 1000003");
    }
}
