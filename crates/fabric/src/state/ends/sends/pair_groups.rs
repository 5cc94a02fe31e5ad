//! Queue pairs by group, and their places in the rings of NICs.

use super::ring_order::{FAR, Search, between};

use crate::state::ends::sends::groups::UNKNOWN;
use crate::state::ends::sends::pair_ring::PairRing;
use crate::state::ends::sends::send_queues::SendQueues;

impl SendQueues {
    /// Puts a queue pair that is in the ring and of which that is not known into the group that may
    /// join these queues.
    pub fn join_group(&mut self, nic: u32, state: &mut PairRing, at: u32, queues: u64) {
        let group = self.groups.find(queues);
        if group != UNKNOWN {
            self.change_group(nic, state, at, group);
            self.groups.join(nic, group);
            state.grouped += 1;
        }
    }

    /// A queue pair is in no group any more: its next packet may join other queues than the one
    /// before.
    pub fn leave_group(&mut self, nic: u32, state: &mut PairRing, at: u32) {
        let group = self.pairs[at as usize].group;
        if group != UNKNOWN {
            self.change_group(nic, state, at, UNKNOWN);
            self.groups.leave(nic, group);
            state.grouped -= 1;
        }
    }

    fn change_group(&mut self, nic: u32, state: &PairRing, at: u32, group: u8) {
        let pair = &mut self.pairs[at as usize];
        let before = std::mem::replace(&mut pair.group, group);
        if state.placed {
            self.ring_order.leave((nic, before), pair.place);
            self.ring_order.enter((nic, group), pair.place, at);
        }
    }

    /// The next queue pair of one of these groups, bit by group.
    pub fn next_of(
        &mut self,
        nic: u32,
        state: &mut PairRing,
        groups: u64,
        search: &mut Search,
    ) -> Option<u32> {
        if state.placed {
            let from = self.pairs[state.turn as usize].place;
            let (far, pair) = self.ring_order.next(nic, groups, from, search.least?)?;
            search.least = far.checked_add(1);
            return Some(pair);
        }
        while search.left > 0 {
            let at = search.at;
            let pair = &self.pairs[at as usize];
            (search.at, search.left) = (pair.next, search.left - 1);
            if groups >> pair.group & 1 != 0 {
                if state.pairs - search.left > FAR {
                    self.place_all(nic, state);
                    // The turn is at the first place.
                    search.least = self.pairs[at as usize].place.checked_add(1);
                }
                return Some(at);
            }
        }
        None
    }

    /// Assigns places to all queue pairs of a ring, with equal room between any two.
    fn place_all(&mut self, nic: u32, state: &mut PairRing) {
        self.ring_order.forget(nic);
        state.placed = true;
        let room = u64::MAX / u64::from(state.pairs);
        let mut at = state.turn;
        for number in 0..u64::from(state.pairs) {
            let pair = &mut self.pairs[at as usize];
            pair.place = number * room;
            self.ring_order.enter((nic, pair.group), pair.place, at);
            at = pair.next;
        }
    }

    /// Assigns a place to a queue pair that has come into the ring.
    pub(super) fn place(&mut self, nic: u32, state: &mut PairRing, at: u32) {
        let pair = &self.pairs[at as usize];
        let [before, after] = [pair.before, pair.next].map(|at| self.pairs[at as usize].place);
        match between(before, after) {
            Some(place) => {
                self.pairs[at as usize].place = place;
                self.ring_order.enter((nic, UNKNOWN), place, at);
            }
            None => self.place_all(nic, state),
        }
    }

    /// [`Groups::open`] of a NIC.
    pub fn open_groups(&self, nic: u32, state: &PairRing, open: u64) -> (u64, bool) {
        self.groups.open(nic, state.pairs - state.grouped, open)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::NicOrder;
    use crate::state::ends::sends::pair_ring::Message;
    use crate::state::ends::sends::ring_order::RingOrder;
    use weir_model::{Stamp, below};

    #[test]
    fn the_next_of_some_groups_is_found_round_the_ring() {
        let mut order = RingOrder::default();
        for (group, place) in [(1, 10), (2, 20), (1, 30), (1, u64::MAX)] {
            order.enter((7, group), place, place as u32);
        }
        order.enter((8, 1), 11, 11);
        let next = |order: &RingOrder, groups: u64, from, least| {
            order.next(7, groups, from, least).map(|(_, pair)| pair)
        };
        assert_eq!(next(&order, 0b010, 15, 0), Some(30));
        assert_eq!(next(&order, 0b110, 15, 0), Some(20));
        assert_eq!(next(&order, 0b100, 25, 0), Some(20), "round the end");
        assert_eq!(next(&order, 0b010, 10, 0), Some(10));
        assert_eq!(next(&order, 0b010, 10, 1), Some(30));
        assert_eq!(next(&order, 0b010, 30, 1), Some(u32::MAX));
        // Behind the last, and not again the one that it began with.
        let (far, pair) = order.next(7, 0b010, 30, u64::MAX - 29).expect("the first");
        assert_eq!((far, pair), (10u64.wrapping_sub(30), 10));
        assert_eq!(order.next(7, 0b010, 30, far + 1), None);
        assert_eq!(next(&order, 0b1000, 0, 0), None);
        order.leave((7, 2), 20);
        assert_eq!(next(&order, 0b100, 0, 0), None);
        order.forget(7);
        assert_eq!(order.next(7, 0b110, 0, 0), None);
        assert!(order.next(8, 0b010, 0, 0).is_some());
    }

    #[test]
    fn many_find_a_place_between_two() {
        let (mut before, after) = (5u64, 5u64.wrapping_add(1 << 30));
        let mut count = 0;
        while let Some(place) = between(before, after) {
            assert!(place > before && place < after);
            before = place;
            count += 1;
        }
        assert!(count > 500, "{count}");
        assert_eq!(between(3, 4), None);
        assert!(between(3, 3).is_some(), "a single one");
    }

    /// All queue pairs of some groups from the one whose turn it is on, by passing one after the
    /// other.
    fn walked(queues: &SendQueues, ring: &PairRing, groups: u64) -> Vec<u32> {
        let mut found = Vec::new();
        let mut at = ring.turn;
        for _ in 0..ring.pairs {
            let pair = queues.pair(at);
            if groups >> pair.group & 1 != 0 {
                found.push(at);
            }
            at = pair.next;
        }
        found
    }

    #[test]
    fn those_that_are_placed_are_found_in_the_order_of_the_ring() {
        let (mut queues, mut ring) = (SendQueues::new(NicOrder::Fair, 0, false), PairRing::EMPTY);
        let message = || Message::new(0, 100, 0, 0, Stamp::NONE);
        for to in 0..2 * FAR {
            queues.add(0, &mut ring, to, message());
        }
        let mut rng = weir_model::stream(1, &[2]);
        let mut searches = 0;
        let rounds = if cfg!(miri) { 40 } else { 4_000 };
        for _ in 0..rounds {
            let chance = below(&mut rng, 100);
            let to = below(&mut rng, 4 * FAR);
            match (chance, queues.find_pair(0, &ring, to, 0)) {
                (0..40, _) => drop(queues.add(0, &mut ring, to, message())),
                (40..70, Some(at)) if queues.pair(at).group == UNKNOWN => {
                    queues.join_group(0, &mut ring, at, 1 << (to % 7));
                }
                (40..70, Some(at)) => queues.leave_group(0, &mut ring, at),
                (70.., _) => {
                    let groups = 1 << below(&mut rng, 8) | 1 << below(&mut rng, 8);
                    let expected = walked(&queues, &ring, groups);
                    let mut search = Search::of(&ring);
                    for &at in &expected {
                        let found = queues.next_of(0, &mut ring, groups, &mut search);
                        assert_eq!(found, Some(at));
                    }
                    assert_eq!(queues.next_of(0, &mut ring, groups, &mut search), None);
                    if let Some(&first) = expected.first() {
                        queues.take(0, &mut ring, first, 100);
                    }
                    searches += 1;
                }
                _ => {}
            }
        }
        assert!(searches > rounds / 8, "{searches}");
        assert!(ring.placed || cfg!(miri));
    }
}
