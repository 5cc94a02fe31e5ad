//! A stretch of simulated time.

use super::Time;
use serde::{Deserialize, Serialize};

/// From a time on, until just before another.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Span {
    /// Its beginning, ps.
    pub from: Time,
    /// Its end, ps, which is not part of it.
    pub to: Time,
}

impl Span {
    /// True if a moment is in it.
    #[inline]
    pub fn contains(self, time: Time) -> bool {
        (self.from..self.to).contains(&time)
    }

    /// Length, ps; 0 if it ends before it begins.
    pub fn length(self) -> Time {
        self.to.saturating_sub(self.from)
    }

    /// Intersection of two spans.
    pub fn and(self, other: Span) -> Span {
        Span {
            from: self.from.max(other.from),
            to: self.to.min(other.to),
        }
    }

    /// Part of `amount` that falls within the span, if it arrives evenly from `head` to `tail`;
    /// rounded down. An amount that arrives at one moment falls within it or does not.
    #[inline]
    pub fn share(self, amount: u64, head: Time, tail: Time) -> u64 {
        if self.from <= head && tail < self.to {
            return amount;
        }
        let within = tail.min(self.to).saturating_sub(head.max(self.from));
        let whole = tail - head;
        if within < whole {
            return (u128::from(amount) * u128::from(within) / u128::from(whole)) as u64;
        }
        if whole == 0 && !self.contains(head) {
            return 0;
        }
        amount
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const SPAN: Span = Span { from: 100, to: 200 };

    #[test]
    fn an_amount_is_divided_at_the_edges() {
        let shares = [
            ((0, 100), 0),
            ((50, 150), 400),
            ((100, 200), 800),
            ((120, 130), 800),
            ((0, 400), 200),
            ((175, 275), 200),
            ((200, 300), 0),
            // At one moment, of which the first is in and the last is not.
            ((100, 100), 800),
            ((200, 200), 0),
        ];
        for ((head, tail), share) in shares {
            assert_eq!(SPAN.share(800, head, tail), share, "{head} to {tail}");
        }
        assert_eq!(SPAN.share(10, 99, 102), 6, "rounded down from 6.67");
        assert_eq!(SPAN.share(u64::MAX, 0, 400), u64::MAX / 4);
    }

    #[test]
    fn what_two_have_in_common_may_be_nothing() {
        let late = SPAN.and(Span { from: 150, to: 900 });
        assert_eq!(late, Span { from: 150, to: 200 });
        assert_eq!(late.length(), 50);
        let none = SPAN.and(Span { from: 300, to: 900 });
        assert_eq!((none.length(), none.share(8, 100, 400)), (0, 0));
    }
}
