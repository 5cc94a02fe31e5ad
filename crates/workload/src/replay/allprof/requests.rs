//! What goes on in the background of a process, by the addresses of its requests.

use rustc_hash::FxHashMap;

/// What goes on. A trace says which requests a call looks at, not which of them it found complete.
///
/// A call that waits for any of several completes one at least: after as many such calls as requests were open all of them are over. So
/// is a request that a call has looked at when another operation gets its address. Before that nothing waits for it.
#[derive(Debug)]
pub struct Requests {
    /// Bytes from one request to the next in an array.
    step: u64,
    open: FxHashMap<u64, Open>,
    /// Arrays of which calls have waited for any.
    arrays: Vec<Array>,
}

#[derive(Clone, Copy, Debug)]
struct Open {
    node: u32,
    /// A call has looked at it, and may have found it complete.
    seen: bool,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Array {
    first: u64,
    count: u64,
    /// So many of its requests are over at least, nobody knows which.
    over: u64,
}

impl Array {
    fn has(&self, address: u64, step: u64) -> bool {
        address
            .checked_sub(self.first)
            .is_some_and(|bytes| bytes.is_multiple_of(step) && bytes / step < self.count)
    }
}

impl Requests {
    /// None, in arrays of so many bytes for each.
    pub fn new(step: u64) -> Requests {
        Requests {
            step,
            open: FxHashMap::default(),
            arrays: Vec::new(),
        }
    }

    /// An operation goes on from now.
    pub fn start(&mut self, address: u64, node: u32) {
        self.open.insert(address, Open { node, seen: false });
    }

    /// Another operation is to get this address: what had it and was looked at is over, and is given back.
    pub fn reuse(&mut self, address: u64) -> Option<u32> {
        let open = self.remove(address)?;
        open.seen.then_some(open.node)
    }

    /// A call waits for it, or lets go of it.
    pub fn take(&mut self, address: u64) -> Option<u32> {
        self.remove(address).map(|open| open.node)
    }

    fn remove(&mut self, address: u64) -> Option<Open> {
        let open = self.open.remove(&address)?;
        let step = self.step;
        // It may be one of those that were over already: fewer of the others are, for certain.
        for array in &mut self.arrays {
            if open.seen && array.has(address, step) {
                array.over = array.over.saturating_sub(1);
            }
        }
        Some(open)
    }

    /// A call waits for all of an array.
    pub fn take_all(&mut self, count: u64, first: u64) -> Vec<u32> {
        let mut all = self.within(count, first);
        all.sort_unstable();
        self.arrays
            .retain(|array| (array.first, array.count) != (first, count));
        let nodes = all.iter().filter_map(|&address| self.take(address));
        nodes.collect()
    }

    /// A call looks whether those of an array are complete, and may find any of them.
    pub fn look(&mut self, count: u64, first: u64) {
        for address in self.within(count, first) {
            if let Some(open) = self.open.get_mut(&address) {
                open.seen = true;
            }
        }
    }

    /// A call waits for any of an array: what is over after it for certain, all of them or none.
    pub fn any(&mut self, count: u64, first: u64) -> Vec<u32> {
        self.look(count, first);
        let open = self.within(count, first).len() as u64;
        let known = |array: &Array| (array.first, array.count) == (first, count);
        let at = match self.arrays.iter().position(known) {
            Some(at) => at,
            None => {
                self.arrays.push(Array {
                    first,
                    count,
                    over: 0,
                });
                self.arrays.len() - 1
            }
        };
        self.arrays[at].over += 1;
        match self.arrays[at].over >= open {
            true => self.take_all(count, first),
            false => Vec::new(),
        }
    }

    /// The addresses of an array that are in use.
    fn within(&self, count: u64, first: u64) -> Vec<u64> {
        let array = Array {
            first,
            count,
            over: 0,
        };
        match count < self.open.len() as u64 {
            true => (0..count)
                .filter_map(|at| first.checked_add(at.checked_mul(self.step)?))
                .filter(|address| self.open.contains_key(address))
                .collect(),
            false => {
                let open = self.open.keys().copied();
                open.filter(|&address| array.has(address, self.step))
                    .collect()
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::Requests;

    /// Three receives at 100, 108 and 116.
    fn three() -> Requests {
        let mut requests = Requests::new(8);
        for (address, node) in [(100, 1), (108, 2), (116, 3)] {
            requests.start(address, node);
        }
        requests
    }

    #[test]
    fn as_many_waits_for_any_as_there_are_requests_wait_for_all() {
        let mut requests = three();
        requests.start(200, 9);
        assert_eq!(requests.any(3, 100), [0u32; 0]);
        assert_eq!(requests.any(3, 100), [0u32; 0]);
        assert_eq!(requests.any(3, 100), [1, 2, 3]);
        assert_eq!(requests.any(3, 100), [0u32; 0]);
        assert_eq!(requests.take(200), Some(9));
    }

    #[test]
    fn a_request_that_is_used_again_was_over_if_somebody_has_looked() {
        let mut requests = three();
        assert_eq!(requests.reuse(100), None);
        requests.start(100, 4);
        assert_eq!(requests.any(3, 100), [0u32; 0]);
        // One of three is over, and this is the one.
        assert_eq!(requests.reuse(108), Some(2));
        requests.start(108, 5);
        assert_eq!(requests.any(3, 100), [0u32; 0]);
        assert_eq!(requests.any(3, 100), [0u32; 0]);
        assert_eq!(requests.any(3, 100), [4, 5, 3]);
        requests.start(100, 6);
        requests.look(1, 100);
        assert_eq!(requests.reuse(100), Some(6));
    }

    #[test]
    fn arrays_at_the_end_of_memory_are_no_harm() {
        let mut requests = three();
        assert_eq!(requests.any(u64::MAX, u64::MAX - 1), [0u32; 0]);
        assert_eq!(requests.take_all(u64::MAX, 100), [1, 2, 3]);
        assert_eq!(requests.take_all(2, u64::MAX - 4), [0u32; 0]);
    }
}
