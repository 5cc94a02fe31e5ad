//! The allreduce on two trees at once, as NCCL has it for short messages.
//!
//! Each tree carries half of the data, in chunks, up to its root and down again. A task that has
//! children in one tree is a leaf of the other, so all tasks send and receive about equally much
//! (Sanders, Speck and Träff, "Two-tree algorithms for full bandwidth broadcast, reduction and
//! scan", Parallel Computing 35, 2009).

use std::ops::Range;

use super::super::Label;
use super::steps::{Steps, log2_ceil};

/// Least and most bytes of a chunk, as in NCCL 2.
const CHUNK: [u64; 2] = [32 << 10, 512 << 10];

/// Most chunks: those of more than 16 GiB are longer.
const MOST: u64 = 1 << 14;

/// Chunks that fill a tree, for each doubling of the number of tasks: shorter messages have shorter
/// chunks.
const FILL: u64 = 4;

/// Chunks of a task that are under way at most, as in NCCL 2.
const AHEAD: u32 = 8;

/// Chunks that a leaf sends before their step: its parent need not wait until the same task gets to
/// that step in the other tree.
const EARLY: u32 = 6;

/// More than a task sends and receives in a step, with two children and a parent in each tree.
const LABELS: u32 = 32;

/// A task in one of the trees.
struct Node {
    parent: Option<u32>,
    children: Vec<u32>,
    /// Links to the root.
    depth: u32,
}

/// The parent of a place in the tree of `count` places: the one whose lowest bit is the next higher
/// one. The root is place 0, with one child.
fn parent(place: u32, count: u32) -> Option<u32> {
    if place == 0 {
        return None;
    }
    let bit = 1 << place.trailing_zeros();
    let without = place ^ bit;
    Some(without | (bit << 1))
        .filter(|&above| above < count)
        .or(Some(without))
}

fn children(place: u32, count: u32) -> Vec<u32> {
    if place == 0 {
        // Two tasks or more.
        return vec![1 << (count - 1).ilog2()];
    }
    let mut half = (1 << place.trailing_zeros()) / 2;
    let before = (half > 0).then(|| place - half);
    while half > 0 && place + half >= count {
        half /= 2;
    }
    let after = (half > 0).then(|| place + half);
    before.into_iter().chain(after).collect()
}

impl Node {
    /// A task in the first or the second tree. The second is the first in a mirror, or shifted by
    /// one if the number of tasks is odd.
    fn of(task: u32, tree: u32, count: u32) -> Node {
        let even = count.is_multiple_of(2);
        let place = match (tree, even) {
            (0, _) => task,
            (_, true) => count - 1 - task,
            (_, false) => (task + count - 1) % count,
        };
        let task_at = |place: u32| match (tree, even) {
            (0, _) => place,
            (_, true) => count - 1 - place,
            (_, false) => (place + 1) % count,
        };
        let above = std::iter::successors(parent(place, count), |&at| parent(at, count));
        Node {
            parent: parent(place, count).map(task_at),
            children: children(place, count).into_iter().map(task_at).collect(),
            depth: above.count() as u32,
        }
    }
}

/// The chunks of an operation, and a task in both trees.
struct Work {
    nodes: [Node; 2],
    halves: [u64; 2],
    chunk: u64,
    /// Chunks of a half, at most `MOST`.
    chunks: u32,
}

impl Work {
    fn of(steps: &Steps, bytes: u64) -> Work {
        let halves = [bytes - bytes / 2, bytes / 2];
        let wanted = FILL * u64::from(log2_ceil(steps.count));
        let chunk = halves[0].div_ceil(wanted).clamp(CHUNK[0], CHUNK[1]);
        let chunk = chunk.max(halves[0].div_ceil(MOST));
        Work {
            nodes: [0, 1].map(|tree| Node::of(steps.me, tree, steps.count)),
            halves,
            chunk,
            chunks: halves[0].div_ceil(chunk).max(1) as u32,
        }
    }

    fn size(&self, tree: usize, chunk: u32) -> u64 {
        let before = u64::from(chunk) * self.chunk;
        self.halves[tree].saturating_sub(before).min(self.chunk)
    }

    /// The chunk that comes down to a task in a step; none to the root.
    fn down(&self, node: &Node, step: u32) -> Option<u32> {
        node.parent?;
        let chunk = step.checked_sub(2 * node.depth)?;
        (chunk < self.chunks).then_some(chunk)
    }

    /// The chunk that goes up from a task with children.
    fn up(&self, node: &Node, step: u32) -> Option<u32> {
        (step < self.chunks && !node.children.is_empty()).then_some(step)
    }

    /// The chunks that leaves send in a step.
    fn early(&self, step: u32) -> Range<u32> {
        let from = if step == 0 { 0 } else { step + EARLY };
        from..(step + EARLY + 1).min(self.chunks)
    }

    fn send_down(&self, steps: &mut Steps, tree: usize, chunk: u32) {
        for &child in &self.nodes[tree].children {
            steps.isend_in(lane(tree, false), child, self.size(tree, chunk));
        }
    }

    /// Starts the receives of a step. Returns their labels in each tree: from children, and from
    /// the parent.
    fn receive(&self, steps: &mut Steps, step: u32) -> [[Range<Label>; 2]; 2] {
        [0, 1].map(|tree| {
            let node = &self.nodes[tree];
            let first = steps.label_count();
            for &child in node.children.iter().filter(|_| step < self.chunks) {
                steps.irecv_in(lane(tree, true), child);
            }
            let middle = steps.label_count();
            if let (Some(parent), Some(_)) = (node.parent, self.down(node, step)) {
                steps.irecv_in(lane(tree, false), parent);
            }
            [first..middle, middle..steps.label_count()]
        })
    }
}

/// In step s chunk s goes up. On its way down it is at a task of depth d in step s + 2d.
pub(super) fn allreduce(steps: &mut Steps, step: u32, bytes: u64) -> bool {
    let work = Work::of(steps, bytes);
    let nodes = &work.nodes;
    let last = work.chunks + 2 * nodes[0].depth.max(nodes[1].depth);
    if step > last {
        return false;
    }
    steps.labels_from(step * LABELS);
    if step == last {
        steps.wait_for(step.saturating_sub(AHEAD) * LABELS..step * LABELS);
        return true;
    }
    let comes = work.receive(steps, step);
    for (tree, node) in nodes.iter().enumerate() {
        if let (Some(parent), true) = (node.parent, node.children.is_empty()) {
            for chunk in work.early(step) {
                steps.isend_in(lane(tree, true), parent, work.size(tree, chunk));
            }
        }
    }
    for (tree, node) in nodes.iter().enumerate() {
        if let Some(chunk) = work.up(node, step) {
            steps.wait_for(comes[tree][0].clone());
            match node.parent {
                Some(parent) => steps.isend_in(lane(tree, true), parent, work.size(tree, chunk)),
                None => work.send_down(steps, tree, chunk),
            }
        }
    }
    for (tree, node) in nodes.iter().enumerate() {
        steps.wait_for(comes[tree][1].clone());
        if let Some(chunk) = work.down(node, step) {
            work.send_down(steps, tree, chunk);
        }
    }
    if let Some(before) = step.checked_sub(AHEAD) {
        steps.wait_for(before * LABELS..(before + 1) * LABELS);
    }
    true
}

/// Tells apart the messages of a task to another, in either tree and direction.
fn lane(tree: usize, up: bool) -> u32 {
    2 * tree as u32 + u32::from(up)
}
