//! Circular lists of requests, for arbitration in turn.
//! A request is in two rings: its output's and its input's.

use crate::state::pool::Fifo;
pub use crate::state::{NO_REQUEST, RequestIndex, Ring};
use serde::{Deserialize, Serialize};

use crate::state::Request;
use weir_slots::{Slots, prefetch};

/// One of a request's two rings.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Side {
    /// The ring of its output.
    Output = 0,
    /// The ring of its input.
    Input = 1,
}

#[derive(Clone, Copy, Debug, Serialize, Deserialize)]
struct Links {
    next: RequestIndex,
    before: RequestIndex,
}

/// The requests of one domain.
#[derive(Debug, Default, Serialize, Deserialize)]
pub struct Requests {
    slab: Slots<(Request, [Links; 2])>,
    free: Vec<RequestIndex>,
}

impl Requests {
    /// True if requests that were read from a file name only requests that exist.
    pub fn are_sound(&self) -> bool {
        let known = |at: RequestIndex| at == NO_REQUEST || (at as usize) < self.slab.len();
        let free = self.free.iter().all(|&at| known(at) && at != NO_REQUEST);
        free && self.slab.iter().all(|(request, sides)| {
            let links = sides
                .iter()
                .all(|links| known(links.next) && known(links.before));
            links && known(request.others)
        })
    }

    /// Requests that wait.
    pub fn used(&self) -> impl Iterator<Item = &Request> {
        let mut used = vec![true; self.slab.len()];
        for &at in &self.free {
            used[at as usize] = false;
        }
        let all = self.slab.iter().zip(used);
        all.filter_map(|((request, _), used)| used.then_some(request))
    }

    /// Places of requests, free ones too.
    pub fn places(&self) -> usize {
        self.slab.len()
    }

    /// A request by its place.
    #[inline]
    pub fn get(&self, index: RequestIndex) -> &Request {
        &self.slab[index as usize].0
    }

    /// Begins to fetch a request, or none, into the cache.
    #[inline]
    pub fn prefetch(&self, index: RequestIndex) {
        if index != NO_REQUEST {
            prefetch(&self.slab[index as usize]);
        }
    }

    /// The packets of a request, to change.
    #[inline]
    pub fn queue_mut(&mut self, index: RequestIndex) -> &mut Fifo {
        &mut self.slab[index as usize].0.queue
    }

    /// The request after this one in a ring.
    #[inline]
    pub fn after(&self, index: RequestIndex, side: Side) -> RequestIndex {
        self.slab[index as usize].1[side as usize].next
    }

    /// Adds a request at the end of its two rings.
    #[inline]
    pub fn add(&mut self, request: Request, output: &mut Ring, input: &mut Ring) -> RequestIndex {
        let links = [Links {
            next: NO_REQUEST,
            before: NO_REQUEST,
        }; 2];
        let index = match self.free.pop() {
            Some(index) => {
                self.slab[index as usize] = (request, links);
                index
            }
            None => {
                assert!(
                    self.slab.len() < NO_REQUEST as usize,
                    "2³² requests in one domain"
                );
                self.slab.push((request, links));
                (self.slab.len() - 1) as RequestIndex
            }
        };
        self.link(index, output, Side::Output);
        self.link(index, input, Side::Input);
        index
    }

    /// Takes a request out of its rings and forgets it.
    #[inline]
    pub fn remove(&mut self, index: RequestIndex, output: &mut Ring, input: &mut Ring) {
        self.unlink(index, output, Side::Output);
        self.unlink(index, input, Side::Input);
        self.free.push(index);
    }

    /// Makes `other` a request for the same packet as `main`.
    pub fn join(&mut self, main: RequestIndex, other: RequestIndex) {
        let after = match self.get(main).others {
            NO_REQUEST => main,
            others => others,
        };
        self.slab[other as usize].0.others = after;
        self.slab[main as usize].0.others = other;
    }

    /// Takes one of the others for the same packet as `main` out of their circle, which is to be
    /// removed then.
    pub fn part(&mut self, main: RequestIndex) -> Option<RequestIndex> {
        let other = self.get(main).others;
        if other == NO_REQUEST {
            return None;
        }
        let after = self.get(other).others;
        self.slab[main as usize].0.others = if after == main { NO_REQUEST } else { after };
        Some(other)
    }

    /// The request that holds the packet which `at` is for.
    pub fn main(&self, at: RequestIndex) -> RequestIndex {
        let mut at = at;
        while self.get(at).also {
            at = self.get(at).others;
        }
        at
    }

    /// The queue that the first packet joins behind the output.
    pub fn set_out_queue(&mut self, main: RequestIndex, queue: u16) {
        self.slab[main as usize].0.out_queue = queue;
    }

    fn link(&mut self, index: RequestIndex, ring: &mut Ring, side: Side) {
        let s = side as usize;
        if ring.next == NO_REQUEST {
            self.slab[index as usize].1[s] = Links {
                next: index,
                before: index,
            };
            ring.next = index;
            return;
        }
        let next = ring.next;
        let before = self.slab[next as usize].1[s].before;
        self.slab[index as usize].1[s] = Links { next, before };
        self.slab[before as usize].1[s].next = index;
        self.slab[next as usize].1[s].before = index;
    }

    fn unlink(&mut self, index: RequestIndex, ring: &mut Ring, side: Side) {
        let s = side as usize;
        let Links { next, before } = self.slab[index as usize].1[s];
        if next == index {
            ring.next = NO_REQUEST;
            return;
        }
        self.slab[before as usize].1[s].next = next;
        self.slab[next as usize].1[s].before = before;
        if ring.next == index {
            ring.next = next;
        }
    }

    /// Bytes of memory held.
    pub fn memory_bytes(&self) -> usize {
        self.slab.capacity() * size_of::<(Request, [Links; 2])>() + self.free.capacity() * 4
    }
}
