//! Distances between routers.

use std::collections::VecDeque;
use std::sync::OnceLock;

use weir_model::RouterId;

/// No way leads there.
pub const FAR: u8 = u8::MAX;

/// The distance of each router to each, in links; of each router that is asked for.
pub struct Distances {
    neighbours: Box<[Box<[RouterId]>]>,
    rows: Box<[OnceLock<Box<[u8]>>]>,
}

impl Distances {
    /// For `routers` routers with these neighbours.
    pub fn new<I: Iterator<Item = RouterId>>(
        routers: usize,
        neighbours: impl Fn(RouterId) -> I,
    ) -> Distances {
        let own = |router: RouterId| {
            let mut list: Vec<RouterId> = neighbours(router).collect();
            list.sort_unstable();
            list.dedup();
            list.into_boxed_slice()
        };
        Distances {
            neighbours: (0..routers as RouterId).map(own).collect(),
            rows: (0..routers).map(|_| OnceLock::new()).collect(),
        }
    }

    /// The distance of each router to one: [`FAR`] if no way leads there, or one of more than 254
    /// links.
    pub fn to(&self, router: RouterId) -> &[u8] {
        self.rows[router as usize].get_or_init(|| {
            let mut row = vec![FAR; self.rows.len()];
            row[router as usize] = 0;
            let mut queue = VecDeque::from([router]);
            while let Some(at) = queue.pop_front() {
                let next = row[at as usize] + 1;
                if next == FAR {
                    break;
                }
                for &other in &self.neighbours[at as usize] {
                    let place = &mut row[other as usize];
                    if *place == FAR {
                        *place = next;
                        queue.push_back(other);
                    }
                }
            }
            row.into()
        })
    }

    /// The longest distance between any two of some routers, each of which may be there several
    /// times in a row.
    pub fn longest(&self, homes: impl Iterator<Item = RouterId>) -> u32 {
        let mut homes: Vec<RouterId> = homes.collect();
        homes.sort_unstable();
        homes.dedup();
        let to = |&to: &RouterId| {
            let row = self.to(to);
            homes.iter().map(|&from| row[from as usize]).max()
        };
        homes.iter().filter_map(to).max().unwrap_or(0).into()
    }
}
