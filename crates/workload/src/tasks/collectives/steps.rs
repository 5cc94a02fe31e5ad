//! Collects the operations of one task in one step of an algorithm.

use std::ops::Range;

use super::super::{Group, Label, Op};
use crate::tasks::program::op::{COLLECTIVE_TAG, FIRST_COLLECTIVE, Labels, Tag};

/// Collects the operations of one task in one step. Tasks are named by their places in the group.
pub(super) struct Steps<'a> {
    ops: &'a mut Vec<Op>,
    group: Group,
    /// This task.
    pub me: u32,
    /// Number of tasks; 2 or more.
    pub count: u32,
    next: Label,
}

impl<'a> Steps<'a> {
    pub fn new(ops: &'a mut Vec<Op>, group: Group, me: u32) -> Self {
        Steps {
            ops,
            group,
            me,
            count: group.count,
            next: FIRST_COLLECTIVE,
        }
    }

    /// The task this number of places after this one, with wrap-around.
    pub fn after(&self, places: u32) -> u32 {
        ((u64::from(self.me) + u64::from(places)) % u64::from(self.count)) as u32
    }

    /// The task this number of places (at most `count`) before this one.
    pub fn before(&self, places: u32) -> u32 {
        self.after(self.count - places)
    }

    /// Counts the labels of this step from here on: for messages that later steps wait for.
    pub fn labels_from(&mut self, label: Label) {
        self.next = FIRST_COLLECTIVE + label;
    }

    /// The label of the next send or receive that is started.
    pub fn label_count(&self) -> Label {
        self.next - FIRST_COLLECTIVE
    }

    pub fn send(&mut self, to: u32, bytes: u64) {
        self.ops.push(Op::Send {
            to: self.group.member(to),
            bytes,
            tag: COLLECTIVE_TAG,
        });
    }

    pub fn recv(&mut self, from: u32) {
        self.ops.push(Op::Recv {
            from: Some(self.group.member(from)),
            tag: Some(COLLECTIVE_TAG),
        });
    }

    pub fn isend(&mut self, to: u32, bytes: u64) {
        self.start_send(COLLECTIVE_TAG, to, bytes);
    }

    /// The same in a lane ([`Op::lane_tag`]).
    pub fn isend_in(&mut self, lane: u32, to: u32, bytes: u64) {
        self.start_send(Op::lane_tag(lane), to, bytes);
    }

    fn start_send(&mut self, tag: Tag, to: u32, bytes: u64) {
        let label = self.label();
        self.ops.push(Op::Isend {
            to: self.group.member(to),
            bytes,
            tag,
            label,
        });
    }

    pub fn irecv(&mut self, from: u32) {
        self.start_recv(COLLECTIVE_TAG, from);
    }

    /// The same in a lane ([`Op::lane_tag`]).
    pub fn irecv_in(&mut self, lane: u32, from: u32) {
        self.start_recv(Op::lane_tag(lane), from);
    }

    fn start_recv(&mut self, tag: Tag, from: u32) {
        let label = self.label();
        self.ops.push(Op::Irecv {
            from: Some(self.group.member(from)),
            tag: Some(tag),
            label,
        });
    }

    /// Waits for the operations with these labels.
    pub fn wait_for(&mut self, labels: Range<Label>) {
        if !labels.is_empty() {
            self.ops.push(Op::WaitAll(Labels {
                first: FIRST_COLLECTIVE + labels.start,
                end: FIRST_COLLECTIVE + labels.end,
            }));
        }
    }

    /// Waits for all operations started in this step.
    pub fn wait(&mut self) {
        if self.next > FIRST_COLLECTIVE {
            self.ops.push(Op::WaitAll(Labels {
                first: FIRST_COLLECTIVE,
                end: self.next,
            }));
        }
    }

    /// Sends to one task and receives from another at the same time. Once per step.
    pub fn exchange(&mut self, to: u32, bytes: u64, from: u32) {
        self.irecv(from);
        self.send(to, bytes);
        self.wait();
    }

    fn label(&mut self) -> Label {
        self.next += 1;
        self.next - 1
    }
}

/// The number of halvings of the greatest power of two that is not above `count`.
pub(super) fn log2_floor(count: u32) -> u32 {
    count.max(1).ilog2()
}

/// The number of doublings that reach `count`.
pub(super) fn log2_ceil(count: u32) -> u32 {
    count.max(1).next_power_of_two().ilog2()
}
