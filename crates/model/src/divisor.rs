//! Exact division by a number that is known early, done by a multiplication; common divisors.

/// The greatest common divisor; of a number and 0 the number.
pub fn gcd(a: u32, b: u32) -> u32 {
    match b {
        0 => a,
        _ => gcd(b, a % b),
    }
}

/// Division by a number that is known early and used often, done by a multiplication.
///
/// Exact for all 32-bit numbers n: with m = ⌊(2⁶⁴ - 1) / d⌋ the quotient (n + 1) · m / 2⁶⁴ is less
/// than (n + 1) / d, by at most 2⁻³² and so by less than 1 / d.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Divisor {
    divisor: u32,
    factor: u64,
}

impl Divisor {
    /// A divisor; 0 is taken as 1.
    pub fn new(divisor: u32) -> Divisor {
        let divisor = divisor.max(1);
        Divisor {
            divisor,
            factor: u64::MAX / u64::from(divisor),
        }
    }

    /// The divisor itself.
    #[inline]
    pub fn get(self) -> u32 {
        self.divisor
    }

    /// `n` divided, rounded down.
    #[inline]
    pub fn divide(self, n: u32) -> u32 {
        (((u128::from(n) + 1) * u128::from(self.factor)) >> 64) as u32
    }

    /// Remainder of `n`.
    #[inline]
    pub fn rest(self, n: u32) -> u32 {
        n - self.divide(n) * self.divisor
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn divides_like_a_division(n: u32, d in 1u32..) {
            prop_assert_eq!((Divisor::new(d).divide(n), Divisor::new(d).rest(n)), (n / d, n % d));
        }

        #[test]
        fn small_ones_too(n in 0u32..5_000, d in 1u32..200) {
            prop_assert_eq!((Divisor::new(d).divide(n), Divisor::new(d).rest(n)), (n / d, n % d));
        }
    }

    #[test]
    fn the_edges() {
        for d in [1, 2, 3, u32::MAX - 1, u32::MAX] {
            for n in [0, 1, d - 1, d, u32::MAX - 1, u32::MAX] {
                assert_eq!(Divisor::new(d).divide(n), n / d, "{n} / {d}");
            }
        }
    }
}
