//! How much of a window is run at once.

use std::time::{Duration, Instant};

use crate::model::Time;

/// The first piece of a run, ps: nothing is known of the load yet.
const FIRST: Time = 10_000;

/// No piece is longer than this, ps, so that a load that rises after a quiet time is noticed.
const LONGEST: Time = 10_000_000;

/// A piece is to take a fiftieth of the wall-clock time so far, and within these bounds: where a window takes longer it is
/// cut, which costs some of the cache.
const PART: u32 = 50;
const SHORT: Duration = Duration::from_millis(250);
const LONG: Duration = Duration::from_secs(5);

/// Measures how long pieces take on this rank, and says how long the next one may be. The ranks agree on the least of
/// what they say.
pub(super) struct Pace {
    started: Instant,
    begun: Instant,
    /// Where the piece begins in simulated time, ps.
    from: Time,
    /// How long it may be, ps.
    length: Time,
    most: Time,
}

impl Pace {
    /// For windows of this length, ps.
    pub fn new(window: Time) -> Pace {
        let now = Instant::now();
        let most = window.min(LONGEST);
        Pace {
            started: now,
            begun: now,
            from: 0,
            length: FIRST.min(most),
            most,
        }
    }

    /// How long the next piece may be, ps; at least 1.
    pub fn length(&self) -> Time {
        self.length
    }

    /// A piece begins at `from`, of a length that all ranks have agreed on.
    pub fn begin(&mut self, from: Time, length: Time) {
        self.begun = Instant::now();
        (self.from, self.length) = (from, length);
    }

    /// It has ended at `until`. Returns how long the next one may be, ps.
    pub fn end(&mut self, until: Time) -> Time {
        let (took, so_far) = (self.begun.elapsed(), self.started.elapsed());
        self.length = next_length(self.length, until - self.from, took, so_far).min(self.most);
        self.length
    }
}

/// How long the piece may be that follows one of `span` ps, which might have been `length` ps long.
fn next_length(length: Time, span: Time, took: Duration, so_far: Duration) -> Time {
    let wanted = (so_far / PART).clamp(SHORT, LONG);
    if took > wanted {
        (span / 2).max(1)
    } else if took < wanted / 2 {
        length.max(span.saturating_mul(2))
    } else {
        length
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const MS: Duration = Duration::from_millis(1);

    #[test]
    fn pieces_grow_while_they_take_little_and_shrink_when_they_take_long() {
        let next = |length, span, took: u32| next_length(length, span, took * MS, MS);
        assert_eq!(next(10, 10, 0), 20);
        assert_eq!(next(10, 10, 200), 10);
        assert_eq!(next(10, 10, 251), 5);
        assert_eq!(next(1, 1, 1_000), 1);
        // What the end of a window has cut off says nothing about a whole piece.
        assert_eq!(next(10, 3, 0), 10);
        assert_eq!(next(10, 4, 251), 2);
    }

    #[test]
    fn long_runs_have_longer_pieces_up_to_some_seconds() {
        let next = |took: u32, so_far: u32| next_length(8, 8, took * MS, so_far * MS);
        assert_eq!([next(900, 1_000), next(900, 100_000)], [4, 16]);
        assert_eq!([next(5_001, 10_000_000), next(4_000, 10_000_000)], [4, 8]);
    }

    #[test]
    fn no_piece_is_longer_than_its_window_or_ten_microseconds() {
        for (window, most) in [(3, 3), (50_000, 50_000), (1_000_000_000, LONGEST)] {
            let mut pace = Pace::new(window);
            let mut length = pace.length();
            assert!((1..=FIRST).contains(&length));
            for piece in 0..40 {
                pace.begin(piece * LONGEST, length);
                // At once, as far as the clock can tell: no machine takes an eighth of a second for that.
                pace.begun += Duration::from_secs(60);
                length = pace.end(piece * LONGEST + length);
            }
            assert_eq!(length, most);
        }
    }
}
