//! Shared parts of recursive halving and doubling: tasks beyond the greatest power of two are
//! folded into their neighbours, and ranges of blocks are halved.

use super::steps::{Steps, log2_floor};

/// The tasks that are left after folding: a power of two. In the first `2 · rest` tasks, every even
/// one hands its data to the next and waits for the result.
#[derive(Clone, Copy)]
pub(super) struct Fold {
    /// Tasks that are left.
    pub left: u32,
    /// Doublings to that number.
    pub rounds: u32,
    rest: u32,
}

impl Fold {
    pub fn of(count: u32) -> Fold {
        let rounds = log2_floor(count);
        let left = 1 << rounds;
        Fold {
            left,
            rounds,
            rest: count - left,
        }
    }

    /// The number of a task among the remaining ones; None if it is folded into the next one.
    pub fn number(self, place: u32) -> Option<u32> {
        if place >= 2 * self.rest {
            Some(place - self.rest)
        } else if place % 2 == 1 {
            Some(place / 2)
        } else {
            None
        }
    }

    /// The place of the task with this number.
    pub fn place(self, number: u32) -> u32 {
        if number < self.rest {
            2 * number + 1
        } else {
            number + self.rest
        }
    }

    /// Number of original tasks whose data the remaining tasks below this number represent.
    pub fn blocks_before(self, number: u32) -> u32 {
        number + number.min(self.rest)
    }

    /// Folded tasks hand over their data.
    pub fn fold_in(self, steps: &mut Steps, bytes: u64) {
        if steps.me >= 2 * self.rest {
            return;
        }
        match self.number(steps.me) {
            None => steps.send(steps.me + 1, bytes),
            Some(_) => steps.recv(steps.me - 1),
        }
    }

    /// Folded tasks get the result.
    pub fn fold_out(self, steps: &mut Steps, bytes: u64) {
        if steps.me >= 2 * self.rest {
            return;
        }
        match self.number(steps.me) {
            None => steps.recv(steps.me + 1),
            Some(_) => steps.send(steps.me - 1, bytes),
        }
    }
}

/// The partner of task `number` in round `round` of a recursive halving among a power of two of
/// tasks, and the ranges of blocks that it gives away and keeps. (In the doubling that undoes it,
/// it gives what it kept.) `bit` gives the bit in which the numbers of partners differ in a round.
pub(super) fn halving(
    number: u32,
    left: u32,
    round: u32,
    bit: impl Fn(u32) -> u32,
) -> (u32, [u32; 2], [u32; 2]) {
    let mut range = [0, left];
    let mut round_now = 0;
    loop {
        let bit = bit(round_now);
        let middle = (range[0] + range[1]) / 2;
        let (low, high) = ([range[0], middle], [middle, range[1]]);
        let (given, kept) = match number & bit == 0 {
            true => (high, low),
            false => (low, high),
        };
        if round_now == round {
            return (number ^ bit, given, kept);
        }
        range = kept;
        round_now += 1;
    }
}
