//! Algorithms of the allgather, and a broadcast that ends with one.

use super::rooted;
use super::steps::{Steps, log2_ceil, log2_floor};

/// An allgather around a ring: each task passes on the block received last.
pub(super) fn ring(steps: &mut Steps, step: u32, bytes: u64) -> bool {
    if step + 1 >= steps.count {
        return false;
    }
    let (next, last) = (steps.after(1), steps.before(1));
    steps.exchange(next, bytes, last);
    true
}

/// An allgather among a power of two of tasks: the data of a task doubles in each round.
pub(super) fn recursive_doubling(steps: &mut Steps, step: u32, bytes: u64) -> bool {
    if step >= log2_floor(steps.count) {
        return false;
    }
    let partner = steps.me ^ (1 << step);
    steps.exchange(partner, bytes.saturating_mul(1 << step), partner);
    true
}

/// Bruck's allgather, for any number: in round r a task sends its data 2^r places back.
pub(super) fn bruck(steps: &mut Steps, step: u32, bytes: u64) -> bool {
    if step >= log2_ceil(steps.count) {
        return false;
    }
    let away = 1 << step;
    let blocks = away.min(steps.count - away);
    let (to, from) = (steps.before(away), steps.after(away));
    steps.exchange(to, u64::from(blocks).saturating_mul(bytes), from);
    true
}

/// A long broadcast: scattered down a binomial tree, then gathered around a ring.
pub(super) fn scatter_allgather(steps: &mut Steps, step: u32, root: u32, bytes: u64) -> bool {
    let count = steps.count;
    let block = bytes.div_ceil(u64::from(count)).max(1);
    let before = |number: u32| (u64::from(number) * block).min(bytes);
    if step == 0 {
        return rooted::scatter_ranges(steps, root, |from, to| before(to) - before(from));
    }
    if step >= count {
        return false;
    }
    let me = rooted::from_root(steps, root);
    let number = (me + count - (step - 1)) % count;
    let (next, last) = (steps.after(1), steps.before(1));
    steps.exchange(next, before(number + 1) - before(number), last);
    true
}
