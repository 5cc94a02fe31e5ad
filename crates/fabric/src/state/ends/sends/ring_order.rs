//! Places of queue pairs in the ring of their NIC, by group.
//! A full NIC has thousands of queue pairs, most of which have no credits. This index finds the
//! next one that may have some, instead of passing all those before it.

use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;

use crate::state::ends::sends::groups::MOST;
use crate::state::ends::sends::pair_ring::PairRing;

/// Number of queue pairs passed in one search from which a NIC keeps their places; to pass fewer
/// takes less time.
pub const FAR: u32 = 256;

/// Places in rings. A place is a number that grows along the ring from any queue pair to the next,
/// and begins again after its end.
#[derive(Debug, Default, Serialize, Deserialize)]
pub struct RingOrder {
    /// (NIC, group) → place → queue pair.
    places: rustc_hash::FxHashMap<(u32, u8), BTreeMap<u64, u32>>,
}

impl RingOrder {
    /// All queue pairs whose places are known.
    pub fn pairs(&self) -> impl Iterator<Item = u32> {
        self.places
            .values()
            .flat_map(|places| places.values().copied())
    }

    /// A queue pair of a NIC and group has this place.
    pub fn enter(&mut self, (nic, group): (u32, u8), place: u64, pair: u32) {
        let before = self
            .places
            .entry((nic, group))
            .or_default()
            .insert(place, pair);
        debug_assert!(before.is_none(), "a place is one queue pair's");
    }

    /// It has it no more.
    pub fn leave(&mut self, (nic, group): (u32, u8), place: u64) {
        let left = self
            .places
            .get_mut(&(nic, group))
            .and_then(|places| places.remove(&place));
        debug_assert!(left.is_some(), "queue pairs are where they entered");
    }

    /// The next queue pair of a NIC that is of one of the groups (bit by group): the first at least
    /// `least` places behind `from`, along the ring, and how far behind.
    pub fn next(&self, nic: u32, groups: u64, from: u64, least: u64) -> Option<(u64, u32)> {
        let mut rest = groups;
        let mut best: Option<(u64, u32)> = None;
        while rest != 0 {
            let group = rest.trailing_zeros() as u8;
            rest &= rest - 1;
            let Some(places) = self.places.get(&(nic, group)) else {
                continue;
            };
            let found = match from.checked_add(least) {
                Some(begin) => {
                    let ahead = places.range(begin..).next();
                    ahead.or_else(|| places.range(..from).next())
                }
                // Past the end of the numbers.
                None => places.range(from.wrapping_add(least)..from).next(),
            };
            if let Some((&place, &pair)) = found {
                let far = place.wrapping_sub(from);
                if best.is_none_or(|(least, _)| far < least) {
                    best = Some((far, pair));
                }
            }
        }
        best
    }

    /// A NIC keeps no order any more.
    pub fn forget(&mut self, nic: u32) {
        for group in 0..MOST {
            self.places.remove(&(nic, group as u8));
        }
    }

    /// Bytes of memory held, with what a tree keeps for the room in its nodes.
    pub fn memory_bytes(&self) -> usize {
        let places = self.places.values().map(BTreeMap::len).sum::<usize>();
        places * PLACE + self.places.capacity() * size_of::<((u32, u8), BTreeMap<u64, u32>)>()
    }
}

/// Bytes of a place: its number and queue pair, in nodes that are two thirds full.
pub const PLACE: usize = 18;

/// A place between two along the ring, nearer the first, if there is one.
/// Queue pairs are inserted one after the other before the same one: each takes a small part of the
/// remaining room.
pub fn between(before: u64, after: u64) -> Option<u64> {
    // From a queue pair to itself it is all numbers.
    let room = match after.wrapping_sub(before) {
        0 => u64::MAX,
        room => room,
    };
    match room {
        1 => None,
        _ => Some(before.wrapping_add((room / 64).max(1))),
    }
}

/// Position of a search through a ring that starts at the queue pair whose turn it is.
#[derive(Clone, Copy, Debug)]
pub struct Search {
    /// The queue pair that it is at.
    pub at: u32,
    /// Number of queue pairs left, if the search goes from one to the next.
    pub left: u32,
    /// Number of places behind the beginning where the search continues, if places are known.
    pub least: Option<u64>,
}

impl Search {
    /// At its beginning.
    pub fn of(state: &PairRing) -> Search {
        Search {
            at: state.turn,
            left: state.pairs,
            least: Some(0),
        }
    }
}
