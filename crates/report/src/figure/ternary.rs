//! Three shares of a whole, counted in the cells of a triangle.

use std::collections::BTreeMap;

/// Cells along a side.
pub const CELLS: i64 = 40;

/// Shares of a whole.
#[derive(Clone, Debug, Default)]
pub struct Ternary {
    /// Names of the three shares: the corners at the top, the lower left and the lower right.
    pub corners: [String; 3],
    /// Non-negative; they are divided by their sum.
    pub points: Vec<[f64; 3]>,
    /// Things that are counted: `ports`.
    pub things: String,
    /// Most things in a cell that the colours reach to; None for that of this triangle.
    pub most: Option<usize>,
}

impl Ternary {
    /// Number of points in each cell, by the first two coordinates of the cell.
    pub fn counts(&self) -> BTreeMap<[i64; 2], usize> {
        let mut counts = BTreeMap::new();
        for point in &self.points {
            if let Some([a, b, _]) = cell(*point) {
                *counts.entry([a, b]).or_insert(0) += 1;
            }
        }
        counts
    }

    /// Most points in a cell.
    pub fn largest(&self) -> usize {
        self.counts().into_values().max().unwrap_or(0)
    }
}

/// The nearest cell: three whole numbers that sum to [`CELLS`]. None for values that are no shares.
fn cell(point: [f64; 3]) -> Option<[i64; 3]> {
    let sum: f64 = point.iter().sum();
    if !(sum.is_finite() && sum > 0.0 && point.iter().all(|share| *share >= 0.0)) {
        return None;
    }
    let exact = point.map(|share| share / sum * CELLS as f64);
    let mut whole = exact.map(f64::round);
    // The coordinate that was rounded most makes up for the others.
    let error = |i: usize| (whole[i] - exact[i]).abs();
    let worst = (0..3).fold(
        0,
        |worst, i| if error(i) > error(worst) { i } else { worst },
    );
    whole[worst] += CELLS as f64 - whole.iter().sum::<f64>();
    Some(whole.map(|n| n as i64))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_point_is_counted_once_in_a_cell_of_the_triangle() {
        let mut rng = weir_model::stream(2, &[]);
        use rand_core::Rng;
        let points: Vec<[f64; 3]> = (0..3_000)
            .map(|_| [0; 3].map(|_| (rng.next_u64() % 1_000) as f64 + 0.001))
            .collect();
        for point in &points {
            let cell = cell(*point).expect("a share");
            assert_eq!(cell.iter().sum::<i64>(), CELLS);
            let sum: f64 = point.iter().sum();
            for (n, share) in cell.iter().zip(point) {
                assert!((*n as f64 / CELLS as f64 - share / sum).abs() <= 1.0 / CELLS as f64);
            }
        }
        let all = points.len();
        let ternary = Ternary {
            points,
            ..Ternary::default()
        };
        assert_eq!(ternary.counts().values().sum::<usize>(), all);
        assert!(ternary.largest() < all);
    }

    #[test]
    fn what_is_no_share_is_left_out() {
        for point in [
            [0.0; 3],
            [f64::NAN, 1.0, 0.0],
            [-1.0, 1.0, 1.0],
            [f64::INFINITY, 0.0, 0.0],
        ] {
            assert_eq!(cell(point), None, "{point:?}");
        }
    }
}
