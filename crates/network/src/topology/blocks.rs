//! Blocks of a grid: boxes of about the same size and shape, by which it is divided into domains.

use super::DOMAIN_PORTS;
use super::grid::Grid;
use weir_model::DomainId;

/// Number of blocks at most, if there are fewer slabs.
const MOST_BLOCKS: u64 = 1024;

/// Division of a grid into blocks: each of its dimensions into a number of parts whose lengths
/// differ by one at most.
#[derive(Clone, Debug)]
pub(super) struct Blocks {
    parts: Vec<u32>,
}

impl Blocks {
    /// Divides a grid of routers with `ports` ports in the dimensions in which it `may` be. There
    /// are as many blocks as slabs, or more if slabs are large.
    pub fn new(grid: &Grid, ports: u64, may: impl Fn(usize) -> bool) -> Blocks {
        let all = u64::from(grid.places()) * ports;
        let enough = all.div_ceil(DOMAIN_PORTS).min(MOST_BLOCKS);
        let enough = enough.max(grid.slabs().into());
        let mut parts = vec![1; grid.dimensions()];
        let count = |parts: &[u32]| parts.iter().map(|&n| u64::from(n)).product::<u64>();
        while count(&parts) < enough {
            // The longest side is divided into more parts.
            let sides = (0..parts.len()).filter(|&d| may(d) && parts[d] < grid.size(d));
            let longer = |&a: &usize, &b: &usize| {
                let [a, b] = [[a, b], [b, a]]
                    .map(|[one, other]| u64::from(grid.size(one)) * u64::from(parts[other]));
                a.cmp(&b)
            };
            match sides.max_by(longer) {
                Some(d) => parts[d] = more(parts[d], grid.size(d)),
                None => break,
            }
        }
        Blocks { parts }
    }

    /// Number of blocks.
    pub fn count(&self) -> u32 {
        self.parts.iter().product()
    }

    /// The block of a place; x runs fastest.
    pub fn of(&self, grid: &Grid, place: u32) -> DomainId {
        let dimensions = self.parts.iter().enumerate().rev();
        dimensions.fold(0, |block, (d, &parts)| {
            let part =
                u64::from(grid.coordinate(place, d)) * u64::from(parts) / u64::from(grid.size(d));
            block * parts + part as u32
        })
    }
}

/// The next larger number of parts of a side: of equal ones, if that takes no more than twice the
/// number.
fn more(parts: u32, size: u32) -> u32 {
    let mut larger = parts + 1..=(2 * parts).min(size);
    larger
        .find(|&number| size.is_multiple_of(number))
        .unwrap_or(parts + 1)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Routers of each block.
    fn sizes(grid: &[u32], ports: u64, may: impl Fn(usize) -> bool) -> Vec<u32> {
        let grid = Grid::new(grid, "sizes").unwrap();
        let blocks = Blocks::new(&grid, ports, may);
        let mut sizes = vec![0; blocks.count() as usize];
        (0..grid.places()).for_each(|place| sizes[blocks.of(&grid, place) as usize] += 1);
        sizes
    }

    #[test]
    fn large_grids_are_divided_into_cubes() {
        // 4,096 routers of 7 ports: 56 blocks or more, so 4 in each dimension.
        assert_eq!(sizes(&[16, 16, 16], 7, |_| true), [64; 64]);
        // 8,192 ports: at least 16 blocks, and the last dimension is twice as long.
        assert_eq!(sizes(&[8, 8, 16], 8, |_| true), [64; 16]);
        // Parts of 8 and of 6 are equal ones; parts of 7 are not.
        assert_eq!(sizes(&[48, 48], 5, |_| true), [48; 48]);
    }

    #[test]
    fn small_grids_have_as_many_blocks_as_slabs() {
        assert_eq!(sizes(&[4, 4], 5, |_| true), [4; 4]);
        assert_eq!(sizes(&[3, 3, 2], 7, |_| true).len(), 4);
        assert_eq!(sizes(&[8, 8], 5, |_| true), [8; 8]);
        assert_eq!(sizes(&[9], 3, |_| true), [1; 9]);
    }

    #[test]
    fn only_what_may_be_divided_is() {
        assert_eq!(sizes(&[16, 16, 16], 7, |d| d == 1), [256; 16]);
    }
}
