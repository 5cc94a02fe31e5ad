//! Operations of tasks.

use std::ops::Range;

use serde::{Deserialize, Serialize};

use crate::tasks::group::{Group, Peer};
use weir_model::Time;

/// The tag of a message: from 0 to 65,535. (MPI promises no more than 32,767.)
pub type Tag = u32;

/// The tag of the messages of collective operations. A receive of any tag does not take them.
pub(in crate::tasks) const COLLECTIVE_TAG: Tag = 1 << 16;

/// The name of a nonblocking operation (MPI's request), unique among the operations of its task
/// that are not waited for yet.
pub type Label = u32;

/// The label of blocking operations, of which a task has one at a time.
pub(crate) const BLOCKING: Label = u32::MAX - 1;

/// The first label for collective operations.
pub(in crate::tasks) const FIRST_COLLECTIVE: Label = 1 << 31;

/// Labels from the first to the one before the last.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize, Serialize)]
pub struct Labels {
    /// The first.
    pub first: Label,
    /// The one after the last.
    pub end: Label,
}

impl Labels {
    /// All labels.
    pub const ALL: Labels = Labels {
        first: 0,
        end: Label::MAX,
    };

    /// A single label.
    pub fn one(label: Label) -> Labels {
        Labels {
            first: label,
            end: label + 1,
        }
    }

    /// True if `label` is among them.
    pub fn contains(self, label: Label) -> bool {
        (self.first..self.end).contains(&label)
    }

    /// Number of labels.
    pub fn count(self) -> u32 {
        self.end.saturating_sub(self.first)
    }
}

/// The tags of the lanes of a collective operation, parts whose messages may overtake those of
/// others.
const LANES: Range<Tag> = COLLECTIVE_TAG + 1..COLLECTIVE_TAG + 5;

impl Op {
    /// The tag of a message, which has this one in its collective operation, if that may overlap
    /// with others; `number` distinguishes them.
    pub(crate) fn collective_tag(number: u64, tag: Tag) -> Tag {
        let all = u64::from(LANES.end - COLLECTIVE_TAG);
        let number = (number * all + u64::from(tag - COLLECTIVE_TAG)) % u64::from(COLLECTIVE_TAG);
        COLLECTIVE_TAG + number as Tag
    }

    /// The tag of the messages in a lane of a collective operation, from 0.
    pub(in crate::tasks) fn lane_tag(lane: u32) -> Tag {
        let tag = LANES.start + lane;
        debug_assert!(LANES.contains(&tag), "lane {lane}");
        tag
    }
}

/// An operation of a task.
#[derive(Clone, Copy, Debug, PartialEq, Deserialize, Serialize)]
pub enum Op {
    /// Computes for this time, ps.
    Compute(Time),
    /// Sends, and continues when the send is complete.
    Send {
        /// Destination.
        to: Peer,
        /// Payload, bytes.
        bytes: u64,
        /// Tag.
        tag: Tag,
    },
    /// Starts to send.
    Isend {
        /// Destination.
        to: Peer,
        /// Payload, bytes.
        bytes: u64,
        /// Tag.
        tag: Tag,
        /// The name of this operation.
        label: Label,
    },
    /// Receives, and continues when the message has arrived.
    Recv {
        /// Source; None: any.
        from: Option<Peer>,
        /// Tag; None: any but that of collective operations.
        tag: Option<Tag>,
    },
    /// Starts to receive.
    Irecv {
        /// Source; None: any.
        from: Option<Peer>,
        /// Tag; None: any but that of collective operations.
        tag: Option<Tag>,
        /// The name of this operation.
        label: Label,
    },
    /// Continues when all of these are complete.
    WaitAll(Labels),
    /// Continues when one of these is complete (at once if there is none), and forgets that one.
    WaitAny(Labels),
    /// An operation of a group of tasks.
    Collective(Collective),
}

/// A collective operation that has been called.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize, Serialize)]
pub struct Collective {
    /// Kind of operation.
    pub kind: Kind,
    /// Participants.
    pub group: Group,
    /// The place of the root, if there is one.
    pub root: u32,
    /// Bytes of each task (of each pair for an alltoall; of a reduce_scatter, the share of a task).
    pub bytes: u64,
}

/// Collective operations.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize, Serialize)]
pub enum Kind {
    /// All wait for each other.
    Barrier,
    /// From the root to all.
    Bcast,
    /// Combined at the root.
    Reduce,
    /// Combined for all.
    Allreduce,
    /// All get the bytes of each.
    Allgather,
    /// Combined, and each gets its part.
    ReduceScatter,
    /// From each to each.
    Alltoall,
    /// From all to the root.
    Gather,
    /// From the root to all, each its own.
    Scatter,
    /// Each gets the combined bytes of the tasks before it (with or without its own: the messages
    /// are the same).
    Scan,
}

impl Kind {
    /// Its name.
    pub fn name(self) -> &'static str {
        match self {
            Kind::Barrier => "barrier",
            Kind::Bcast => "bcast",
            Kind::Reduce => "reduce",
            Kind::Allreduce => "allreduce",
            Kind::Allgather => "allgather",
            Kind::ReduceScatter => "reduce_scatter",
            Kind::Alltoall => "alltoall",
            Kind::Gather => "gather",
            Kind::Scatter => "scatter",
            Kind::Scan => "scan",
        }
    }
}
