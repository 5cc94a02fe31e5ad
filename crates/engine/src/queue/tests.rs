//! The event queue gives the same order as a sorted list.

use super::*;
use proptest::prelude::*;
use std::collections::BTreeSet;

/// Keys of 256 events: the kind in the upper two bits, the place in the lower six.
const KEYS: usize = 256;
const PLACES: EventKey = 63;

/// Checks that pushes and windows in any order give the same as a sorted list.
fn check(horizon: Time, delays: &[(Time, EventKey)], window: Time) {
    let mut queue = EventQueue::new(horizon, KEYS, PLACES);
    let mut reference = Vec::new();
    let mut got = Vec::new();
    let (first, later) = delays.split_at(delays.len() / 2);
    for &(delay, key) in first {
        queue.push(delay, key);
        reference.push((delay, key));
    }
    let mut later = later.iter();
    let mut limit = window;
    while queue.next_time() != NEVER {
        while let Some((time, key)) = queue.pop_before(limit) {
            got.push((time, key));
            if let Some(&(delay, key)) = later.next() {
                queue.push(time + delay, key);
                reference.push((time + delay, key));
            }
        }
        let next = queue.next_time();
        assert!(next >= limit);
        // An event arrives at the window's end, before the pending ones.
        if let Some(&(delay, key)) = later.next() {
            queue.push(limit + delay % window, key);
            reference.push((limit + delay % window, key));
        }
        limit += window;
    }
    let times: Vec<Time> = got.iter().map(|event| event.0).collect();
    assert!(times.is_sorted());
    got.sort_unstable();
    reference.sort_unstable();
    assert_eq!(got, reference);
}

proptest! {
    #[test]
    fn behaves_like_a_sorted_list(
        delays in prop::collection::vec((0u64..5_000_000, 0..KEYS as EventKey), 1..400),
        grain in prop::sample::select(vec![1, 20_000, 1_000_000]),
        horizon in 1_000u64..3_000_000,
        window in 20_000u64..2_000_000,
    ) {
        let on_grain = |&(delay, key): &(Time, EventKey)| (delay - delay % grain, key);
        let delays: Vec<_> = delays.iter().map(on_grain).collect();
        check(horizon, &delays, window);
    }

    #[test]
    fn simultaneous_events_come_in_an_order_that_only_they_decide(
        mut events in prop::collection::vec((0u64..4, 0..KEYS as EventKey), 1..200),
        twice in any::<bool>(),
    ) {
        // One time is a moment with all of its events different, or not; the others are anything.
        events.extend((0..if twice { 2 } else { 1 }).flat_map(|_| (0..60).map(|key| (7, 3 * key))));
        let orders = [events.clone(), events.iter().rev().copied().collect()].map(|pushed| {
            let mut queue = EventQueue::new(1_000, KEYS, PLACES);
            pushed.iter().for_each(|&(time, key)| queue.push(time, key));
            std::iter::from_fn(|| queue.pop_before(NEVER)).collect::<Vec<_>>()
        });
        let queue = EventQueue::new(1_000, KEYS, PLACES);
        events.sort_unstable_by_key(|&(time, key)| (time, key ^ queue.mask(time)));
        prop_assert_eq!(&orders[0], &events);
        prop_assert_eq!(&orders[1], &events);
    }

    #[test]
    fn events_that_come_during_a_moment_take_their_places_in_it(
        later in prop::collection::vec((0usize..40, 0u64..3, 0..KEYS as EventKey), 1..60),
    ) {
        let mut queue = EventQueue::new(1_000, KEYS, PLACES);
        let mut left: Vec<_> = (0..60).map(|key| (7, 4 * key)).collect();
        left.iter().for_each(|&(time, key)| queue.push(time, key));
        let mut now = 7;
        for (pops, delay, key) in later {
            for _ in 0..pops {
                let next = queue.pop_before(NEVER);
                let first = left
                    .iter()
                    .enumerate()
                    .min_by_key(|(_, (time, key))| (*time, key ^ queue.mask(*time)))
                    .map(|(place, _)| place);
                prop_assert_eq!(next, first.map(|place| left.swap_remove(place)));
                now = next.map_or(now, |(time, _)| time);
            }
            queue.push(now + delay, key);
            left.push((now + delay, key));
        }
    }
}

#[test]
#[cfg_attr(miri, ignore = "180,000 events")]
fn buckets_follow_how_much_happens() {
    let mut queue = EventQueue::new(500_000, KEYS, PLACES);
    let first = queue.shift;
    let (mut now, mut pending, mut shifts) = (0, BTreeSet::new(), Vec::new());
    // About an event in a nanosecond, in a picosecond, in a microsecond.
    for gap in [3_000, 2, 3_000_000] {
        for nth in 0..60_000 {
            let time = now + gap * (1 + nth * 7_919 % 5);
            let key = nth as EventKey % KEYS as EventKey;
            queue.push(time, key);
            pending.insert((time, key ^ queue.mask(time), nth, key));
            if pending.len() > 8
                && let Some((time, _, _, key)) = pending.pop_first()
            {
                assert_eq!(queue.pop_before(NEVER), Some((time, key)));
                now = time;
            }
        }
        shifts.push(queue.shift);
    }
    assert!(shifts[0] > first + 3, "{shifts:?}");
    assert_eq!(shifts[1..], [first, first + DOUBLINGS]);
}

#[test]
fn what_happens_decides_before_where() {
    let mut queue = EventQueue::new(1_000, KEYS, PLACES);
    (0..KEYS as EventKey).for_each(|key| queue.push(100, key));
    let keys = std::iter::from_fn(|| queue.pop_before(NEVER)).map(|event| event.1 / 64);
    assert!(keys.is_sorted());
}

#[test]
fn an_event_for_now_comes_between_those_of_the_moment() {
    let mut queue = EventQueue::new(1_000, KEYS, 0);
    (0..100).for_each(|key| queue.push(5, 2 * key));
    let mut keys = Vec::new();
    while let Some((time, key)) = queue.pop_before(NEVER) {
        if key == 20 {
            queue.push(time, 31);
            queue.push(time + 1, 7);
        }
        keys.push((time, key));
    }
    let mut expected: Vec<_> = (0..100)
        .map(|key| (5, 2 * key))
        .chain([(5, 31), (6, 7)])
        .collect();
    expected.sort_unstable();
    assert_eq!(keys, expected);
}

#[test]
fn neither_of_two_places_always_comes_first() {
    let queue = EventQueue::new(1_000, KEYS, PLACES);
    let before = |time| 4 ^ queue.mask(time) < 5 ^ queue.mask(time);
    let count = (0..1_000u64).filter(|time| before(time * 1_000)).count();
    assert!((400..600).contains(&count), "{count}");
}
