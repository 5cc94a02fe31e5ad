//! Geometrically distributed numbers, most of them without a logarithm.

use super::logarithm::{ln, ln_one_minus};
use weir_model::{Rng, fraction_53, next_53};

/// Numbers below this are in the table.
const KNOWN: usize = 32;

/// Number of upper bits of a draw that index the guide table.
const GUIDE_BITS: u32 = 6;

/// Bits of a draw.
const BITS: u32 = 53;

/// Number of failed trials before the first success: ⌊ln(1 - u) / ln(1 - p)⌋ for a uniformly
/// distributed u.
///
/// The number grows with u, so it is found by comparing u with the places where it changes. They
/// are computed by the formula itself, which is also used if a number is above the table: both give
/// the same for every u.
#[derive(Clone, Debug)]
pub(crate) struct Geometric {
    /// ln(1 - p).
    log_miss: f64,
    /// By number: the least draw that gives more.
    ends: [u64; KNOWN],
    /// By the upper bits of a draw: the least number that such a draw can give.
    guide: [u8; 1 << GUIDE_BITS],
}

impl Geometric {
    /// For trials that succeed with probability `p`, above 0 and below 1.
    pub fn new(p: f64) -> Self {
        let log_miss = ln_one_minus(p);
        let ends = std::array::from_fn(|number| end(number as u64, log_miss));
        let guide = std::array::from_fn(|upper| {
            let least = (upper as u64) << (BITS - GUIDE_BITS);
            ends.iter().take_while(|&&end| end <= least).count() as u8
        });
        Geometric {
            log_miss,
            ends,
            guide,
        }
    }

    /// Draws a number.
    #[inline]
    pub fn draw(&self, rng: &mut Rng) -> u64 {
        self.number(next_53(rng))
    }

    #[inline]
    fn number(&self, draw: u64) -> u64 {
        let mut number = usize::from(self.guide[(draw >> (BITS - GUIDE_BITS)) as usize]);
        while let Some(&end) = self.ends.get(number) {
            if draw < end {
                return number as u64;
            }
            number += 1;
        }
        formula(draw, self.log_miss)
    }
}

fn formula(draw: u64, log_miss: f64) -> u64 {
    (ln(1.0 - fraction_53(draw)) / log_miss) as u64
}

/// The least draw that gives more than `number`. The inverse of the formula gives an estimate;
/// draws nearby are then tried, because the place depends on the rounding of the formula.
fn end(number: u64, log_miss: f64) -> u64 {
    const ALL: u64 = 1 << BITS;
    let chance = -((number as f64 + 1.0) * log_miss).exp_m1();
    let guess = ((chance * ALL as f64) as u64).min(ALL);
    let above = |draw: u64| draw >= ALL || formula(draw, log_miss) > number;
    let (mut low, mut high) = (guess, guess);
    let mut reach = 1;
    while low > 0 && above(low - 1) {
        (high, low) = (low - 1, low.saturating_sub(reach));
        reach *= 2;
    }
    reach = 1;
    while !above(high) {
        (low, high) = (high + 1, (high + reach).min(ALL));
        reach *= 2;
    }
    while low < high {
        let middle = low + (high - low) / 2;
        if formula(middle, log_miss) > number {
            high = middle;
        } else {
            low = middle + 1;
        }
    }
    low
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;
    use weir_model::stream;

    #[test]
    fn the_table_gives_what_the_formula_gives() {
        let mut rng = stream(17, &[]);
        for p in [1e-9, 0.000_4, 0.05, 0.2, 0.5, 0.97, 1.0 - 1e-12] {
            let geometric = Geometric::new(p);
            let ends = geometric
                .ends
                .iter()
                .flat_map(|&end| end.saturating_sub(3)..end + 3);
            let random = (0..20_000).map(|_| next_53(&mut rng));
            let last = (1u64 << BITS) - 1;
            for draw in ends
                .chain(random)
                .chain([0, last])
                .map(|draw| draw.min(last))
            {
                let expected = formula(draw, geometric.log_miss);
                assert_eq!(geometric.number(draw), expected, "{p}: {draw}");
            }
        }
    }

    proptest! {
        #[test]
        fn the_ends_are_those_of_a_search_through_all_draws(
            p in prop_oneof![0.0..1.0f64, 1e-12..1e-3f64, 0.999..1.0f64],
            number in 0..KNOWN as u64,
        ) {
            prop_assume!(p > 0.0);
            let log_miss = ln_one_minus(p);
            let (mut low, mut high) = (0, 1u64 << BITS);
            while low < high {
                let middle = low + (high - low) / 2;
                if formula(middle, log_miss) > number {
                    high = middle;
                } else {
                    low = middle + 1;
                }
            }
            prop_assert_eq!(end(number, log_miss), low);
        }
    }

    #[test]
    fn the_mean_is_that_of_the_distribution() {
        let mut rng = stream(18, &[]);
        for p in [0.01, 0.2, 0.7] {
            let geometric = Geometric::new(p);
            let count = 200_000;
            let sum: u64 = (0..count).map(|_| geometric.draw(&mut rng)).sum();
            let (mean, expected) = (sum as f64 / count as f64, (1.0 - p) / p);
            // Five standard deviations.
            let bound = 5.0 * (1.0 - p).sqrt() / p / (count as f64).sqrt();
            assert!(
                (mean - expected).abs() < bound,
                "{p}: {mean}, not {expected}"
            );
        }
    }
}
