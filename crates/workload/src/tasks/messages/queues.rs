//! Many first-in, first-out queues in one list.

use std::hash::Hash;

use rustc_hash::FxHashMap;
use serde::{Deserialize, Deserializer, Serialize, Serializer};

use weir_model::codec::SavedMap;

/// No entry.
const NONE: u32 = u32::MAX;

/// First-in, first-out queues by key, all in one list. A queue exists while it holds entries, and
/// its only own memory is its key. Access takes constant time.
#[derive(Clone, Debug)]
pub struct Queues<K, T> {
    slots: Vec<Slot<T>>,
    /// The first free slot; free slots are linked like queues.
    free: u32,
    ends: FxHashMap<K, Ends>,
    count: usize,
}

#[derive(Clone, Copy, Debug)]
struct Slot<T> {
    value: T,
    next: u32,
}

#[derive(Clone, Copy, Debug)]
struct Ends {
    first: u32,
    last: u32,
}

impl<K, T> Default for Queues<K, T> {
    fn default() -> Self {
        Queues {
            slots: Vec::new(),
            free: NONE,
            ends: FxHashMap::default(),
            count: 0,
        }
    }
}

impl<K: Eq + Hash + Copy, T: Copy> Queues<K, T> {
    /// Adds one to the end of a queue.
    pub fn push(&mut self, key: K, value: T) {
        let slot = Slot { value, next: NONE };
        let at = match self.free {
            NONE => {
                self.slots.push(slot);
                self.slots.len() as u32 - 1
            }
            at => {
                self.free = std::mem::replace(&mut self.slots[at as usize], slot).next;
                at
            }
        };
        self.count += 1;
        let new = Ends {
            first: at,
            last: at,
        };
        let ends = self.ends.entry(key).or_insert(new);
        if ends.last != at {
            self.slots[ends.last as usize].next = at;
            ends.last = at;
        }
    }

    /// The first of a queue.
    pub fn first(&self, key: K) -> Option<T> {
        let ends = self.ends.get(&key)?;
        Some(self.slots[ends.first as usize].value)
    }

    /// Takes the first out of a queue.
    pub fn pop(&mut self, key: K) -> Option<T> {
        let ends = self.ends.get_mut(&key)?;
        let at = ends.first;
        let slot = &mut self.slots[at as usize];
        ends.first = std::mem::replace(&mut slot.next, self.free);
        let (value, rest) = (slot.value, ends.first);
        self.free = at;
        self.count -= 1;
        if rest == NONE {
            self.ends.remove(&key);
        }
        if self.count == 0 {
            // Memory taken by a burst is freed after it.
            self.slots.clear();
            self.free = NONE;
            self.slots.shrink_to(KEPT);
            self.ends.shrink_to(KEPT);
        }
        Some(value)
    }

    /// The first entries of all queues, in no order.
    pub fn firsts(&self) -> impl Iterator<Item = (K, T)> + '_ {
        let firsts = self.ends.iter();
        firsts.map(|(&key, ends)| (key, self.slots[ends.first as usize].value))
    }

    /// All entries, in no order.
    pub fn values(&self) -> impl Iterator<Item = T> + '_ {
        self.ends.values().flat_map(|ends| self.queue(ends))
    }

    /// A queue, first to last.
    fn queue(&self, ends: &Ends) -> impl Iterator<Item = T> + '_ {
        let next = |&at: &u32| Some(self.slots[at as usize].next).filter(|&at| at != NONE);
        std::iter::successors(Some(ends.first), next).map(|at| self.slots[at as usize].value)
    }

    /// Number of entries in all queues.
    pub fn len(&self) -> usize {
        self.count
    }

    /// Bytes of memory held.
    pub fn memory_bytes(&self) -> usize {
        self.slots.capacity() * size_of::<Slot<T>>() + self.ends.capacity() * size_of::<(K, Ends)>()
    }
}

/// A queue for each key, first to last: positions in the list are not saved.
impl<K: Eq + Hash + Copy + Ord + Serialize, T: Copy + Serialize> Serialize for Queues<K, T> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let queue = |ends: &Ends| self.queue(ends).collect();
        let queues = self.ends.iter().map(|(&key, ends)| (key, queue(ends)));
        let queues: SavedMap<K, Vec<T>> = queues.collect();
        queues.serialize(serializer)
    }
}

impl<'a, K, T> Deserialize<'a> for Queues<K, T>
where
    K: Eq + Hash + Copy + Ord + Deserialize<'a>,
    T: Copy + Deserialize<'a>,
{
    #[expect(clippy::iter_over_hash_type, reason = "each queue has its own order")]
    fn deserialize<D: Deserializer<'a>>(deserializer: D) -> Result<Self, D::Error> {
        let saved = SavedMap::<K, Vec<T>>::deserialize(deserializer)?;
        let mut queues = Queues::default();
        for (&key, values) in saved.iter() {
            for &value in values {
                queues.push(key, value);
            }
        }
        Ok(queues)
    }
}

/// Bytes of an entry that is alone under its key: in the list, and in the table.
pub(super) const fn entry_bytes<K, T>() -> [usize; 2] {
    [size_of::<Slot<T>>(), size_of::<(K, Ends)>()]
}

/// Number of entries whose memory is kept when all queues are empty.
const KEPT: usize = 16;

#[cfg(test)]
mod tests {
    use std::collections::{HashMap, VecDeque};

    use proptest::prelude::*;

    use super::*;

    proptest! {
        /// They behave like a deque for each key.
        #[test]
        fn each_is_a_queue(acts in prop::collection::vec((0..4u8, any::<bool>()), 0..200)) {
            let mut queues = Queues::<u8, usize>::default();
            let mut model: HashMap<u8, VecDeque<usize>> = HashMap::new();
            for (number, (key, push)) in acts.into_iter().enumerate() {
                if push {
                    queues.push(key, number);
                    model.entry(key).or_default().push_back(number);
                } else {
                    let expected = model.entry(key).or_default().pop_front();
                    prop_assert_eq!(queues.first(key), expected);
                    prop_assert_eq!(queues.pop(key), expected);
                }
                let mut all: Vec<usize> = queues.values().collect();
                all.sort_unstable();
                let mut expected: Vec<usize> = model.values().flatten().copied().collect();
                expected.sort_unstable();
                prop_assert_eq!(queues.len(), all.len());
                prop_assert_eq!(all, expected);
            }
        }
    }
}
