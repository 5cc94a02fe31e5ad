//! Random choices that are made once, when a run is assembled.

use weir_model::{Rng, below};

/// Puts `items` in random order (Fisher–Yates): every order has the same chance.
pub(crate) fn shuffle(items: &mut [u32], rng: &mut Rng) {
    for last in (1..items.len()).rev() {
        let other = below(rng, last as u32 + 1) as usize;
        items.swap(last, other);
    }
}

/// Takes `count` of `pool` (all of it if there are fewer) out of it at random, in random order.
pub(crate) fn take(pool: &mut Vec<u32>, count: usize, rng: &mut Rng) -> Vec<u32> {
    let count = count.min(pool.len());
    let keep = pool.len() - count;
    for last in (keep..pool.len()).rev() {
        let other = below(rng, last as u32 + 1) as usize;
        pool.swap(last, other);
    }
    pool.split_off(keep)
}

#[cfg(test)]
mod tests {
    use super::*;
    use weir_model::stream;

    #[test]
    fn every_order_has_the_same_chance() {
        let mut rng = stream(1, &[]);
        let mut seen = [0u32; 27];
        for _ in 0..6_000 {
            let mut items = [0, 1, 2];
            shuffle(&mut items, &mut rng);
            seen[(items[0] * 9 + items[1] * 3 + items[2]) as usize] += 1;
        }
        let orders: Vec<u32> = seen.into_iter().filter(|&times| times > 0).collect();
        assert_eq!(orders.len(), 6);
        // 1,000 expected each; sigma is 29.
        assert!(
            orders.iter().all(|&times| (913..=1_087).contains(&times)),
            "{orders:?}"
        );
    }

    #[test]
    fn what_is_taken_is_gone_from_the_pool() {
        let mut rng = stream(2, &[]);
        let mut counts = [0u32; 10];
        for _ in 0..5_000 {
            let mut pool: Vec<u32> = (0..10).collect();
            let taken = take(&mut pool, 4, &mut rng);
            assert_eq!((taken.len(), pool.len()), (4, 6));
            let mut all = [taken.clone(), pool].concat();
            all.sort_unstable();
            assert_eq!(all, (0..10).collect::<Vec<u32>>());
            taken.iter().for_each(|&item| counts[item as usize] += 1);
        }
        // 2,000 expected each; sigma is 35.
        assert!(
            counts.iter().all(|&times| (1_895..=2_105).contains(&times)),
            "{counts:?}"
        );
    }

    #[test]
    fn taking_more_than_there_is_takes_all() {
        let mut pool = vec![7, 8];
        let mut taken = take(&mut pool, 5, &mut stream(3, &[]));
        taken.sort_unstable();
        assert_eq!((taken, pool), (vec![7, 8], vec![]));
    }
}
