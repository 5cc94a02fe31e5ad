//! Algorithms of the allreduce.

use super::halves::{Fold, halving};
use super::steps::Steps;

/// All bytes are exchanged with partners 1, 2, 4 … away.
pub(super) fn recursive_doubling(steps: &mut Steps, step: u32, bytes: u64) -> bool {
    let fold = Fold::of(steps.count);
    match step {
        0 => fold.fold_in(steps, bytes),
        round if round <= fold.rounds => {
            if let Some(number) = fold.number(steps.me) {
                let partner = fold.place(number ^ (1 << (round - 1)));
                steps.exchange(partner, bytes, partner);
            }
        }
        last if last == fold.rounds + 1 => fold.fold_out(steps, bytes),
        _ => return false,
    }
    true
}

/// Rabenseifner's: a reduce-scatter by recursive halving, then an allgather by recursive doubling.
pub(super) fn rabenseifner(steps: &mut Steps, step: u32, bytes: u64) -> bool {
    let fold = Fold::of(steps.count);
    let block = bytes / u64::from(fold.left);
    // The last block also has the remainder of the division.
    let size = |[from, to]: [u32; 2]| match to == fold.left {
        true => bytes - block * u64::from(from),
        false => block * u64::from(to - from),
    };
    let rounds = 2 * fold.rounds;
    match step {
        0 => fold.fold_in(steps, bytes),
        round if round <= rounds => {
            if let Some(number) = fold.number(steps.me) {
                let back = round > fold.rounds;
                let level = if back { rounds - round } else { round - 1 };
                let (partner, given, kept) = halving(number, fold.left, level, |r| 1 << r);
                let partner = fold.place(partner);
                steps.exchange(partner, size(if back { kept } else { given }), partner);
            }
        }
        last if last == rounds + 1 => fold.fold_out(steps, bytes),
        _ => return false,
    }
    true
}

/// A reduce-scatter and an allgather around a ring, in as many blocks as there are tasks.
pub(super) fn ring(steps: &mut Steps, step: u32, bytes: u64) -> bool {
    let count = steps.count;
    if step >= 2 * (count - 1) {
        return false;
    }
    // In step s task i sends block i - s; in the second half block i + 1 - s.
    let (round, ahead) = match step < count - 1 {
        true => (step, 0),
        false => (step - (count - 1), 1),
    };
    let number = (u64::from(steps.me) + u64::from(ahead + count - round)) % u64::from(count);
    let block = bytes / u64::from(count) + u64::from(number < bytes % u64::from(count));
    let (next, last) = (steps.after(1), steps.before(1));
    steps.exchange(next, block, last);
    true
}
