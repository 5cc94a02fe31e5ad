//! Operations with a root: binomial trees, binary trees and stars. Tasks are numbered from the
//! root.

use super::steps::{Steps, log2_ceil};

/// This task's number, counted from the root.
pub(super) fn from_root(steps: &Steps, root: u32) -> u32 {
    (steps.me + steps.count - root % steps.count) % steps.count
}

fn place(steps: &Steps, root: u32, number: u32) -> u32 {
    ((u64::from(number) + u64::from(root)) % u64::from(steps.count)) as u32
}

/// In a binomial tree the parent of a number is the number without its lowest bit; its children are
/// below that bit. Returns the level of that bit (for the root: the height of the tree).
fn level(steps: &Steps, number: u32) -> u32 {
    match number {
        0 => log2_ceil(steps.count),
        _ => number.trailing_zeros(),
    }
}

/// The children in a binomial tree, and the end of their subtrees; the largest first.
fn children(steps: &Steps, number: u32) -> impl Iterator<Item = (u32, u32)> + use<> {
    let count = steps.count;
    (0..level(steps, number))
        .rev()
        .map(move |bit| number + (1 << bit))
        .zip((0..level(steps, number)).rev())
        .filter(move |&(child, _)| child < count)
        .map(move |(child, bit)| (child, (child + (1 << bit)).min(count)))
}

/// From the root down a binomial tree; `size` gives the bytes sent to a child from the numbers of
/// its subtree.
fn down(steps: &mut Steps, root: u32, size: impl Fn(u32, u32) -> u64) -> bool {
    let me = from_root(steps, root);
    if me > 0 {
        let parent = place(steps, root, me & (me - 1));
        steps.recv(parent);
    }
    for (child, end) in children(steps, me) {
        let to = place(steps, root, child);
        steps.send(to, size(child, end));
    }
    true
}

/// Up a binomial tree to the root; the smallest subtrees first.
fn up(steps: &mut Steps, root: u32, size: impl Fn(u32, u32) -> u64) -> bool {
    let me = from_root(steps, root);
    let below: Vec<(u32, u32)> = children(steps, me).collect();
    for &(child, _) in below.iter().rev() {
        let from = place(steps, root, child);
        steps.recv(from);
    }
    if me > 0 {
        let parent = place(steps, root, me & (me - 1));
        let end = below.first().map_or(me + 1, |&(_, end)| end);
        steps.send(parent, size(me, end));
    }
    true
}

/// A broadcast down a binomial tree.
pub(super) fn binomial_down(steps: &mut Steps, step: u32, root: u32, bytes: u64) -> bool {
    step == 0 && down(steps, root, |_, _| bytes)
}

/// A reduction up a binomial tree.
pub(super) fn binomial_up(steps: &mut Steps, step: u32, root: u32, bytes: u64) -> bool {
    step == 0 && up(steps, root, |_, _| bytes)
}

/// A scatter down a binomial tree: a child gets the data of its whole subtree.
pub(super) fn scatter_down(steps: &mut Steps, step: u32, root: u32, bytes: u64) -> bool {
    step == 0
        && scatter_ranges(steps, root, |from, to| {
            u64::from(to - from).saturating_mul(bytes)
        })
}

/// A scatter whose parts have different sizes.
pub(super) fn scatter_ranges(steps: &mut Steps, root: u32, size: impl Fn(u32, u32) -> u64) -> bool {
    down(steps, root, size)
}

/// A gather up a binomial tree.
pub(super) fn gather_up(steps: &mut Steps, step: u32, root: u32, bytes: u64) -> bool {
    step == 0
        && up(steps, root, |from, to| {
            u64::from(to - from).saturating_mul(bytes)
        })
}

/// A gather in which all send to the root.
pub(super) fn gather_linear(steps: &mut Steps, step: u32, root: u32, bytes: u64) -> bool {
    if step > 0 {
        return false;
    }
    if from_root(steps, root) > 0 {
        steps.send(root, bytes);
        return true;
    }
    for number in 1..steps.count {
        steps.irecv(place(steps, root, number));
    }
    steps.wait();
    true
}

/// A scatter in which the root sends to all.
pub(super) fn scatter_linear(steps: &mut Steps, step: u32, root: u32, bytes: u64) -> bool {
    if step > 0 {
        return false;
    }
    if from_root(steps, root) > 0 {
        steps.recv(root);
        return true;
    }
    for number in 1..steps.count {
        steps.isend(place(steps, root, number), bytes);
    }
    steps.wait();
    true
}

/// The children in a binary tree (a heap).
fn pair(steps: &Steps, number: u32) -> impl Iterator<Item = u32> + use<> {
    let count = u64::from(steps.count);
    let first = 2 * u64::from(number) + 1;
    (first..first + 2)
        .filter(move |&child| child < count)
        .map(|child| child as u32)
}

/// A reduction up a binary tree.
pub(super) fn tree_up(steps: &mut Steps, step: u32, root: u32, bytes: u64) -> bool {
    if step > 0 {
        return false;
    }
    let me = from_root(steps, root);
    for child in pair(steps, me) {
        let from = place(steps, root, child);
        steps.irecv(from);
    }
    steps.wait();
    if me > 0 {
        let parent = place(steps, root, (me - 1) / 2);
        steps.send(parent, bytes);
    }
    true
}

/// A broadcast down a binary tree.
pub(super) fn tree_down(steps: &mut Steps, step: u32, root: u32, bytes: u64) -> bool {
    if step > 0 {
        return false;
    }
    let me = from_root(steps, root);
    if me > 0 {
        let parent = place(steps, root, (me - 1) / 2);
        steps.recv(parent);
    }
    for child in pair(steps, me) {
        let to = place(steps, root, child);
        steps.isend(to, bytes);
    }
    steps.wait();
    true
}

/// Up a binary tree and down again: an allreduce, or a barrier with empty messages.
pub(super) fn up_and_down(steps: &mut Steps, step: u32, bytes: u64) -> bool {
    match step {
        0 => tree_up(steps, 0, 0, bytes),
        1 => tree_down(steps, 0, 0, bytes),
        _ => false,
    }
}
