//! Algorithms of the reduce-scatter and of the scan.

use super::halves::{Fold, halving};
use super::steps::{Steps, log2_ceil};

/// Each task sends every other its part directly.
pub(super) fn pairwise(steps: &mut Steps, step: u32, bytes: u64) -> bool {
    super::alltoall::ring(steps, step, bytes)
}

/// Around a ring: each step passes on the partial result of one part, which ends at its owner.
pub(super) fn ring(steps: &mut Steps, step: u32, bytes: u64) -> bool {
    if step + 1 >= steps.count {
        return false;
    }
    let (next, last) = (steps.after(1), steps.before(1));
    steps.exchange(next, bytes, last);
    true
}

/// Recursive halving: a task sends the half that its partner is responsible for.
fn halving_round(steps: &mut Steps, fold: Fold, round: u32, bytes: u64) {
    let Some(number) = fold.number(steps.me) else {
        return;
    };
    // The farthest partner first, so that a task is left with its own block.
    let (partner, given, _) = halving(number, fold.left, round, |r| fold.left >> (r + 1));
    let blocks = fold.blocks_before(given[1]) - fold.blocks_before(given[0]);
    let partner = fold.place(partner);
    steps.exchange(partner, u64::from(blocks).saturating_mul(bytes), partner);
}

/// A reduce-scatter by recursive halving; tasks beyond a power of two are folded into their
/// neighbours.
pub(super) fn halving_all(steps: &mut Steps, step: u32, bytes: u64) -> bool {
    let fold = Fold::of(steps.count);
    match step {
        0 => fold.fold_in(steps, bytes.saturating_mul(u64::from(steps.count))),
        round if round <= fold.rounds => halving_round(steps, fold, round - 1, bytes),
        last if last == fold.rounds + 1 => fold.fold_out(steps, bytes),
        _ => return false,
    }
    true
}

/// A scan by recursive doubling: in round r the partner differs in bit r, and both exchange their
/// partial results (Hillis and Steele, "Data parallel algorithms", CACM 29, 1986; as in MPICH).
pub(super) fn scan(steps: &mut Steps, step: u32, bytes: u64) -> bool {
    if step >= log2_ceil(steps.count) {
        return false;
    }
    let partner = steps.me ^ (1 << step);
    if partner < steps.count {
        steps.exchange(partner, bytes, partner);
    }
    true
}
