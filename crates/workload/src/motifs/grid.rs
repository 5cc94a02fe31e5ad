//! Tasks on a grid.

use crate::tasks::Peer;
use weir_input::{ConfigError, Section};
use weir_model::Invalid;

/// Tasks on a grid of `N` dimensions; the first dimension is the fastest.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Grid<const N: usize> {
    /// Tasks along each dimension.
    pub size: [u32; N],
    /// True if the ends of each dimension are neighbours.
    pub periodic: bool,
}

impl<const N: usize> Grid<N> {
    /// The grid given under `key` in a section, or the most even one: the one with the least sum of
    /// squares, and among those the one with the most tasks along the last dimension.
    pub fn new(
        section: &Section,
        key: &str,
        given: Option<[u32; N]>,
        tasks: u32,
        periodic: bool,
    ) -> Result<Self, ConfigError> {
        let Some(size) = given else {
            return Ok(Grid {
                size: even(tasks),
                periodic,
            });
        };
        let product = size
            .iter()
            .try_fold(1u32, |product, &n| product.checked_mul(n));
        if product != Some(tasks) {
            let product = product.map_or("too many".to_string(), |product| product.to_string());
            return Err(section.refuse(Invalid::new(
                key,
                format!("a grid of {size:?} has {product} tasks, and the job has {tasks}"),
                format!(
                    "give the job as many tasks as the grid has, or write {key} = {:?}",
                    even::<N>(tasks)
                ),
            )));
        }
        Ok(Grid { size, periodic })
    }

    /// The coordinates of a task.
    pub fn place(&self, task: Peer) -> [u32; N] {
        let mut rest = task;
        self.size.map(|n| {
            let at = rest % n;
            rest /= n;
            at
        })
    }

    /// The task at a distance from a place; None beyond the edge.
    pub fn at(&self, place: [u32; N], away: [i32; N]) -> Option<Peer> {
        let mut task = 0;
        for d in (0..N).rev() {
            let n = i64::from(self.size[d]);
            let at = i64::from(place[d]) + i64::from(away[d]);
            let at = match (0..n).contains(&at) {
                true => at,
                false if self.periodic => at.rem_euclid(n),
                false => return None,
            };
            task = task * self.size[d] + at as u32;
        }
        Some(task)
    }
}

/// The most even grid of this number of tasks.
fn even<const N: usize>(tasks: u32) -> [u32; N] {
    fn search(left: u32, size: &mut [u32], at: usize, best: &mut Option<(u64, Vec<u32>)>) {
        if at + 1 == size.len() {
            size[at] = left;
            let sum = size.iter().map(|&n| u64::from(n) * u64::from(n)).sum();
            if best.as_ref().is_none_or(|(least, _)| sum < *least) {
                *best = Some((sum, size.to_vec()));
            }
            return;
        }
        for n in divisors(left) {
            size[at] = n;
            search(left / n, size, at + 1, best);
        }
    }
    let mut best = None;
    search(tasks, &mut [1; N], 0, &mut best);
    let mut size = [1; N];
    if let Some((_, found)) = best {
        size.copy_from_slice(&found);
    }
    size
}

/// The divisors of a number, ascending.
pub(super) fn divisors(of: u32) -> Vec<u32> {
    let mut low = Vec::new();
    let mut high = Vec::new();
    let mut n = 1;
    while u64::from(n) * u64::from(n) <= u64::from(of) {
        if of.is_multiple_of(n) {
            low.push(n);
            if n != of / n {
                high.push(of / n);
            }
        }
        n += 1;
    }
    low.extend(high.into_iter().rev());
    low
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn grids_are_even() {
        assert_eq!(even::<3>(1_728), [12, 12, 12]);
        assert_eq!(even::<3>(8_000), [20, 20, 20]);
        assert_eq!(even::<4>(625), [5, 5, 5, 5]);
        assert_eq!(even::<4>(4_096), [8, 8, 8, 8]);
        assert_eq!(even::<3>(12), [2, 2, 3]);
        assert_eq!(even::<2>(7), [1, 7]);
    }

    #[test]
    fn neighbours_end_at_the_edge_or_come_around() {
        let mut grid = Grid {
            size: [3, 4],
            periodic: false,
        };
        assert_eq!(grid.place(11), [2, 3]);
        assert_eq!(grid.at([2, 3], [-1, -1]), Some(7));
        assert_eq!(grid.at([2, 3], [1, 0]), None);
        assert_eq!(grid.at([0, 0], [0, -1]), None);
        grid.periodic = true;
        assert_eq!(grid.at([2, 3], [1, 0]), Some(9));
        assert_eq!(grid.at([2, 3], [1, 1]), Some(0));
    }

    #[test]
    fn all_divisors() {
        assert_eq!(divisors(36), [1, 2, 3, 4, 6, 9, 12, 18, 36]);
        assert_eq!(divisors(7), [1, 7]);
    }
}
