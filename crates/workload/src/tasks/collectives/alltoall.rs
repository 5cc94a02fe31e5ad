//! Algorithms of the alltoall and of the barrier by dissemination.

use super::steps::{Steps, log2_ceil};

/// A barrier: in round r each task notifies the one 2^r after it, with an empty message.
pub(super) fn dissemination(steps: &mut Steps, step: u32) -> bool {
    if step >= log2_ceil(steps.count) {
        return false;
    }
    let (to, from) = (steps.after(1 << step), steps.before(1 << step));
    steps.exchange(to, 0, from);
    true
}

/// An alltoall in which each step pairs the tasks: by exclusive or if their number is a power of
/// two, else by a shift.
pub(super) fn pairwise(steps: &mut Steps, step: u32, bytes: u64) -> bool {
    if !steps.count.is_power_of_two() {
        return ring(steps, step, bytes);
    }
    if step + 1 >= steps.count {
        return false;
    }
    let partner = steps.me ^ (step + 1);
    steps.exchange(partner, bytes, partner);
    true
}

/// An alltoall by shifts of 1, 2, 3 … places.
pub(super) fn ring(steps: &mut Steps, step: u32, bytes: u64) -> bool {
    if step + 1 >= steps.count {
        return false;
    }
    let (to, from) = (steps.after(step + 1), steps.before(step + 1));
    steps.exchange(to, bytes, from);
    true
}

/// An alltoall with all receives and sends at once.
pub(super) fn linear(steps: &mut Steps, step: u32, bytes: u64) -> bool {
    if step > 0 {
        return false;
    }
    for places in 1..steps.count {
        steps.irecv(steps.before(places));
    }
    for places in 1..steps.count {
        steps.isend(steps.after(places), bytes);
    }
    steps.wait();
    true
}

/// Bruck's alltoall: in round r the blocks whose number has bit r set move 2^r places on, in one
/// message.
pub(super) fn bruck(steps: &mut Steps, step: u32, bytes: u64) -> bool {
    if step >= log2_ceil(steps.count) {
        return false;
    }
    let bit = 1u64 << step;
    let count = u64::from(steps.count);
    // Number of values in 0..count with this bit: full periods of 2·bit, and the part of the last
    // one.
    let blocks = count / (2 * bit) * bit + (count % (2 * bit)).saturating_sub(bit);
    let (to, from) = (steps.after(1 << step), steps.before(1 << step));
    steps.exchange(to, blocks.saturating_mul(bytes), from);
    true
}
