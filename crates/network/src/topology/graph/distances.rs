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
            // The neighbours of the farthest routers, most of all, need no look.
            let mut left = self.rows.len() - 1;
            while left > 0
                && let Some(at) = queue.pop_front()
            {
                let next = row[at as usize] + 1;
                if next == FAR {
                    break;
                }
                for &other in &self.neighbours[at as usize] {
                    let place = &mut row[other as usize];
                    if *place == FAR {
                        *place = next;
                        left -= 1;
                        queue.push_back(other);
                    }
                }
            }
            row.into()
        })
    }

    /// The longest distance between any two of some routers, and that of any router to one of
    /// these.
    pub fn longest(&self, homes: &[RouterId]) -> [u32; 2] {
        let mut longest = [None, None];
        for &to in homes {
            let row = self.to(to);
            let between = homes.iter().map(|&from| row[from as usize]).max();
            let all = row.iter().copied().max();
            longest = [longest[0].max(between), longest[1].max(all)];
        }
        longest.map(|far| far.unwrap_or(0).into())
    }
}
