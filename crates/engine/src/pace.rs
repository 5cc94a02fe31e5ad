//! Length of the pieces in which a window is run.

use std::time::{Duration, Instant};

use weir_model::Time;

/// The first piece of a run, ps: nothing is known of the load yet.
const FIRST: Time = 10_000;

/// No piece is longer than this, ps, so that a load that rises after a quiet time is noticed.
const LONGEST: Time = 10_000_000;

/// Measures the time of pieces on this rank, and sets the maximum length of the next one.
/// The ranks agree on the minimum.
pub(super) struct Pace {
    begun: Instant,
    /// Beginning of the piece in simulated time, ps.
    from: Time,
    /// Maximum length of the piece, ps.
    length: Time,
    most: Time,
    /// Maximum wall-clock time of a piece.
    wanted: Duration,
}

impl Pace {
    /// For windows of this length, ps, and pieces that take no longer than `wanted` of wall-clock
    /// time. A window that takes longer is cut, which costs some of the cache.
    pub fn new(window: Time, wanted: Duration) -> Pace {
        let most = window.min(LONGEST);
        Pace {
            wanted,
            begun: Instant::now(),
            from: 0,
            length: FIRST.min(most),
            most,
        }
    }

    /// Maximum length of the next piece, ps; at least 1.
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
        let (span, took) = (until - self.from, self.begun.elapsed());
        self.length = next_length(self.length, span, took, self.wanted).min(self.most);
        self.length
    }
}

/// Maximum length of the piece after one of `span` ps that might have been `length` ps long.
fn next_length(length: Time, span: Time, took: Duration, wanted: Duration) -> Time {
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
        let next = |length, span, took: u32| next_length(length, span, took * MS, 250 * MS);
        assert_eq!(next(10, 10, 0), 20);
        assert_eq!(next(10, 10, 200), 10);
        assert_eq!(next(10, 10, 251), 5);
        assert_eq!(next(1, 1, 1_000), 1);
        // A piece that the end of a window cut short is no measure of a whole piece.
        assert_eq!(next(10, 3, 0), 10);
        assert_eq!(next(10, 4, 251), 2);
    }

    #[test]
    fn no_piece_is_longer_than_its_window_or_ten_microseconds() {
        for (window, most) in [(3, 3), (50_000, 50_000), (1_000_000_000, LONGEST)] {
            let mut pace = Pace::new(window, Duration::from_secs(600));
            let mut length = pace.length();
            assert!((1..=FIRST).contains(&length));
            for piece in 0..40 {
                pace.begin(piece * LONGEST, length);
                // At once, as far as the clock can tell: no machine takes an eighth of a second for
                // that.
                pace.begun += Duration::from_secs(60);
                length = pace.end(piece * LONGEST + length);
            }
            assert_eq!(length, most);
        }
    }
}
