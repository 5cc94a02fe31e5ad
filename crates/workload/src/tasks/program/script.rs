//! Collects operations from a motif, which calls it like MPI.

use super::op::{COLLECTIVE_TAG, Labels};
use crate::tasks::collectives::Kind;
use crate::tasks::{Collective, Group, Label, Op, Peer, Tag};
use weir_model::Time;

/// Collects a part of a program: a motif calls it like MPI.
///
/// Nonblocking operations get consecutive labels, so that [`Script::mark`] and [`Script::since`]
/// name a range of them.
#[derive(Debug)]
pub struct Script<'a> {
    ops: &'a mut Vec<Op>,
    task: Peer,
    tasks: u32,
    next_label: Label,
}

impl<'a> Script<'a> {
    /// For a task of a job of `tasks`; operations are added to `ops`.
    pub fn new(ops: &'a mut Vec<Op>, task: Peer, tasks: u32) -> Script<'a> {
        Script {
            ops,
            task,
            tasks,
            next_label: 0,
        }
    }

    /// The task whose program this is.
    pub fn task(&self) -> Peer {
        self.task
    }

    /// Number of tasks of the job.
    pub fn tasks(&self) -> u32 {
        self.tasks
    }

    /// Computes for `time` ps.
    pub fn compute(&mut self, time: Time) {
        if time > 0 {
            self.ops.push(Op::Compute(time));
        }
    }

    /// Sends, and waits until that is complete. Panics if there is no such task, or if the tag is
    /// 65,536 or more.
    pub fn send(&mut self, to: Peer, bytes: u64, tag: Tag) {
        self.check_send(to, tag);
        self.ops.push(Op::Send { to, bytes, tag });
    }

    /// Starts to send; as [`Script::send`].
    pub fn isend(&mut self, to: Peer, bytes: u64, tag: Tag) -> Label {
        self.check_send(to, tag);
        let label = self.label();
        self.ops.push(Op::Isend {
            to,
            bytes,
            tag,
            label,
        });
        label
    }

    /// Receives, and waits until the message has arrived.
    pub fn recv(&mut self, from: impl Into<Option<Peer>>, tag: impl Into<Option<Tag>>) {
        let (from, tag) = (from.into(), tag.into());
        self.ops.push(Op::Recv { from, tag });
    }

    /// Starts to receive.
    pub fn irecv(&mut self, from: impl Into<Option<Peer>>, tag: impl Into<Option<Tag>>) -> Label {
        let label = self.label();
        let (from, tag) = (from.into(), tag.into());
        self.ops.push(Op::Irecv { from, tag, label });
        label
    }

    /// Sends to one task and receives from another at the same time: the receive is posted first.
    pub fn sendrecv(&mut self, to: Peer, bytes: u64, from: Peer, tag: Tag) {
        let label = self.irecv(from, tag);
        self.send(to, bytes, tag);
        self.wait(label);
    }

    /// Waits for one operation.
    pub fn wait(&mut self, label: Label) {
        self.wait_all(Labels::one(label));
    }

    /// Waits for all of them.
    pub fn wait_all(&mut self, labels: Labels) {
        self.check_labels(&labels);
        if labels.count() > 0 {
            self.ops.push(Op::WaitAll(labels));
        }
    }

    /// Waits for the first of them that is complete.
    pub fn wait_any(&mut self, labels: Labels) {
        self.check_labels(&labels);
        if labels.count() > 0 {
            self.ops.push(Op::WaitAny(labels));
        }
    }

    /// A motif that sends elsewhere would be mistaken for another one.
    fn check_send(&self, to: Peer, tag: Tag) {
        let (task, tasks) = (self.task, self.tasks);
        assert!(to < tasks, "task {task} sends to task {to} of {tasks}");
        assert!(
            tag < COLLECTIVE_TAG,
            "task {task} sends with tag {tag}: tags from {COLLECTIVE_TAG} on are those of \
             collective operations"
        );
    }

    /// Nothing would ever have to be waited for.
    fn check_labels(&self, labels: &Labels) {
        assert!(
            labels.end <= self.next_label,
            "task {} waits for what it has not started: label {}",
            self.task,
            labels.end.saturating_sub(1)
        );
    }

    /// The next label, for [`Script::since`].
    pub fn mark(&self) -> Label {
        self.next_label
    }

    /// The operations started since a mark.
    pub fn since(&self, mark: Label) -> Labels {
        Labels {
            first: mark,
            end: self.next_label,
        }
    }

    /// All tasks wait for each other.
    pub fn barrier(&mut self) {
        self.collective(Kind::Barrier, self.all(), 0, 0);
    }

    /// `bytes` go from `root` to all tasks.
    pub fn bcast(&mut self, root: Peer, bytes: u64) {
        self.collective(Kind::Bcast, self.all(), root, bytes);
    }

    /// `bytes` of all tasks are combined at `root`.
    pub fn reduce(&mut self, root: Peer, bytes: u64) {
        self.collective(Kind::Reduce, self.all(), root, bytes);
    }

    /// `bytes` of all tasks are combined, and all get the result.
    pub fn allreduce(&mut self, bytes: u64) {
        self.collective(Kind::Allreduce, self.all(), 0, bytes);
    }

    /// All tasks get `bytes` of each.
    pub fn allgather(&mut self, bytes: u64) {
        self.collective(Kind::Allgather, self.all(), 0, bytes);
    }

    /// The data of all tasks is combined, and each gets `bytes` of the result.
    pub fn reduce_scatter(&mut self, bytes: u64) {
        self.collective(Kind::ReduceScatter, self.all(), 0, bytes);
    }

    /// `bytes` go from each task to each other.
    pub fn alltoall(&mut self, bytes: u64) {
        self.collective(Kind::Alltoall, self.all(), 0, bytes);
    }

    /// `bytes` of each task go to `root`.
    pub fn gather(&mut self, root: Peer, bytes: u64) {
        self.collective(Kind::Gather, self.all(), root, bytes);
    }

    /// `bytes` for each task come from `root`.
    pub fn scatter(&mut self, root: Peer, bytes: u64) {
        self.collective(Kind::Scatter, self.all(), root, bytes);
    }

    /// A collective operation of some tasks. `root` is a place in the group. Nothing for a task
    /// that is not in it.
    pub fn collective(&mut self, kind: Kind, group: Group, root: u32, bytes: u64) {
        if group.place(self.task).is_some() {
            self.ops.push(Op::Collective(Collective {
                kind,
                group,
                root,
                bytes,
            }));
        }
    }

    fn all(&self) -> Group {
        Group::all(self.tasks)
    }

    fn label(&mut self) -> Label {
        self.next_label += 1;
        self.next_label - 1
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn script(write: impl Fn(&mut Script)) {
        write(&mut Script::new(&mut Vec::new(), 1, 4));
    }

    #[test]
    #[should_panic = "task 1 sends to task 4 of 4"]
    fn only_to_tasks_that_there_are() {
        script(|script| script.send(4, 8, 0));
    }

    #[test]
    #[should_panic = "with tag 65536"]
    fn not_with_tags_of_collective_operations() {
        script(|script| _ = script.isend(0, 8, 65_536));
    }

    #[test]
    #[should_panic = "waits for what it has not started: label 1"]
    fn only_for_what_was_started() {
        script(|script| {
            let label = script.irecv(0, 0);
            script.wait(label);
            script.wait(label + 1);
        });
    }
}
