//! Nonblocking operations of a process, by the addresses of their requests.

use rustc_hash::FxHashMap;

/// Operations under way. A trace gives the requests that a call tests, not which of them it found
/// complete.
///
/// A call that waits for any of several completes at least one: after as many such calls as
/// requests were open, all of them have ended. A request that a call has tested has also ended when
/// another operation gets its address. Before that no operation waits for it.
#[derive(Debug)]
pub struct Requests {
    /// Bytes from one request to the next in an array.
    step: u64,
    open: FxHashMap<u64, Open>,
    /// Arrays with calls that have waited for any of their requests.
    arrays: Vec<Array>,
}

#[derive(Clone, Copy, Debug)]
struct Open {
    node: u32,
    /// True if a call has tested it, and may have found it complete.
    seen: bool,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Array {
    first: u64,
    count: u64,
    /// Minimum number of its requests that have ended; the trace does not tell which.
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
    /// No requests, in arrays with this number of bytes per request.
    pub fn new(step: u64) -> Requests {
        Requests {
            step,
            open: FxHashMap::default(),
            arrays: Vec::new(),
        }
    }

    /// Starts an operation.
    pub fn start(&mut self, address: u64, node: u32) {
        self.open.insert(address, Open { node, seen: false });
    }

    /// The operation of an address, if it is open.
    pub fn open(&self, address: u64) -> Option<u32> {
        self.open.get(&address).map(|open| open.node)
    }

    /// The addresses of an array.
    pub fn addresses(&self, count: u64, first: u64) -> impl Iterator<Item = u64> + use<> {
        let step = self.step;
        (0..count).map_while(move |at| first.checked_add(at.checked_mul(step)?))
    }

    /// Frees an address for another operation. Returns its previous operation if that was tested,
    /// and has therefore ended.
    pub fn reuse(&mut self, address: u64) -> Option<u32> {
        let open = self.remove(address)?;
        open.seen.then_some(open.node)
    }

    /// Takes the operation that a call waits for, or frees.
    pub fn take(&mut self, address: u64) -> Option<u32> {
        self.remove(address).map(|open| open.node)
    }

    fn remove(&mut self, address: u64) -> Option<Open> {
        let open = self.open.remove(&address)?;
        let step = self.step;
        // It may be one of the requests that have ended already; fewer of the others then have for
        // certain.
        for array in &mut self.arrays {
            if open.seen && array.has(address, step) {
                array.over = array.over.saturating_sub(1);
            }
        }
        Some(open)
    }

    /// Takes all operations of an array that a call waits for.
    pub fn take_all(&mut self, count: u64, first: u64) -> Vec<u32> {
        let mut all = self.within(count, first);
        all.sort_unstable();
        self.arrays
            .retain(|array| (array.first, array.count) != (first, count));
        let nodes = all.iter().filter_map(|&address| self.take(address));
        nodes.collect()
    }

    /// Records that a call tests an array, and may find any of its requests complete.
    pub fn look(&mut self, count: u64, first: u64) {
        for address in self.within(count, first) {
            if let Some(open) = self.open.get_mut(&address) {
                open.seen = true;
            }
        }
    }

    /// Records that a call waits for any of an array. Returns the operations that have ended after
    /// it for certain: all of them or none.
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
        // One of three has ended, and it is this one.
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
