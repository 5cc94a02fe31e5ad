use crate::model::{below, stream};
use crate::workload::tasks::Peer;

/// GPCNeT's seed: every measurement has the same rings.
const SEED: u64 = 8_675_309;

/// Random rings of all tasks.
pub struct Rings(Vec<Ring>);

/// Of each task the one to its left and the one to its right.
struct Ring {
    left: Vec<Peer>,
    right: Vec<Peer>,
}

impl Rings {
    /// So many rings, always the same ones of a number of tasks.
    pub fn new(rings: u32, tasks: u32) -> Rings {
        Rings((0..rings).map(|number| Ring::new(number, tasks)).collect())
    }

    /// How many there are.
    pub fn len(&self) -> u32 {
        self.0.len() as u32
    }

    /// Whom a task has to its left and to its right in a ring.
    pub fn neighbours(&self, ring: u32, task: Peer) -> [Peer; 2] {
        let Ring { left, right } = &self.0[ring as usize];
        [left[task as usize], right[task as usize]]
    }
}

impl Ring {
    /// Sattolo's shuffle: a permutation that is a single cycle.
    fn new(number: u32, tasks: u32) -> Ring {
        let mut rng = stream(SEED, &[u64::from(number)]);
        let mut right: Vec<Peer> = (0..tasks).collect();
        for last in (1..tasks).rev() {
            right.swap(last as usize, below(&mut rng, last) as usize);
        }
        let mut left = vec![0; tasks as usize];
        for (task, &to) in right.iter().enumerate() {
            left[to as usize] = task as Peer;
        }
        Ring { left, right }
    }
}

#[cfg(test)]
mod tests {
    use super::Rings;

    #[test]
    fn a_ring_leads_through_all_tasks_and_home() {
        let rings = Rings::new(3, 101);
        for ring in 0..rings.len() {
            let mut at = 0;
            for step in 1..=101 {
                let [_, right] = rings.neighbours(ring, at);
                assert_eq!(rings.neighbours(ring, right)[0], at);
                at = right;
                assert_eq!(at == 0, step == 101, "ring {ring}, step {step}");
            }
        }
        let next = |ring| (0..101).map(move |task| Rings::new(3, 101).neighbours(ring, task)[1]);
        assert!(next(0).ne(next(1)));
        assert!(next(2).eq(next(2)));
    }
}
