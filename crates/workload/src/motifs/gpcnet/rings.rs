//! GPCNeT's random rings.

use crate::motifs::{Invalid, at_least, check_count};
use crate::tasks::Peer;
use weir_input::{ConfigError, Section};
use weir_model::{below, stream};

/// GPCNeT's seed: every measurement has the same rings.
const SEED: u64 = 8_675_309;

/// Maximum number of places in all rings of a test: 128 MiB.
const MOST_PLACES: u64 = 1 << 24;

/// Random rings of all tasks, one after the other, each for some iterations.
pub struct Rings {
    rings: Vec<Ring>,
    warm_up: u32,
    /// Iterations of a ring, including warm-up.
    each: u32,
}

/// Left and right neighbours, by task.
struct Ring {
    left: Vec<Peer>,
    right: Vec<Peer>,
}

impl Rings {
    /// A number of rings, the same ones for each number of tasks, each with this number of
    /// iterations after the warm-up.
    pub fn new(
        section: &Section,
        tasks: u32,
        rings: u32,
        [warm_up, iterations]: [u32; 2],
    ) -> Result<Rings, ConfigError> {
        at_least(section, tasks, 2)?;
        let each = u64::from(warm_up) + u64::from(iterations);
        check_count(section, "rings", u64::from(rings) * each)?;
        if u64::from(rings) * u64::from(tasks) > MOST_PLACES {
            return Err(section.refuse(Invalid::new(
                "rings",
                format!("{rings} rings of {tasks} tasks are too many"),
                format!("write at most {}", MOST_PLACES / u64::from(tasks)),
            )));
        }
        Ok(Rings {
            rings: (0..rings).map(|number| Ring::new(number, tasks)).collect(),
            warm_up,
            each: each as u32,
        })
    }

    /// True if the time of an iteration counts.
    pub fn counts(&self, part: u32) -> bool {
        part.checked_rem(self.each)
            .is_some_and(|at| at >= self.warm_up)
    }

    /// The left and right neighbours of a task in an iteration; None after the last.
    pub fn neighbours(&self, part: u32, task: Peer) -> Option<[Peer; 2]> {
        let Ring { left, right } = self.rings.get(part.checked_div(self.each)? as usize)?;
        Some([left[task as usize], right[task as usize]])
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
    use super::super::super::testing::refusal;
    use super::{Ring, Rings};

    #[test]
    fn a_ring_leads_through_all_tasks_and_home() {
        let rings = Rings {
            rings: (0..3).map(|number| Ring::new(number, 101)).collect(),
            warm_up: 0,
            each: 1,
        };
        let neighbours = |ring, task| rings.neighbours(ring, task).expect("an iteration");
        for ring in 0..3 {
            let mut at = 0;
            for step in 1..=101 {
                let [_, right] = neighbours(ring, at);
                assert_eq!(neighbours(ring, right)[0], at);
                at = right;
                assert_eq!(at == 0, step == 101, "ring {ring}, step {step}");
            }
        }
        let next = |ring| (0..101).map(move |task| neighbours(ring, task)[1]);
        assert!(next(0).ne(next(1)));
        assert_eq!(Ring::new(2, 101).right, next(2).collect::<Vec<_>>());
        assert_eq!(rings.neighbours(3, 0), None);
    }

    #[test]
    fn rings_that_no_memory_holds_are_refused() {
        for motif in ["gpcnet_ring", "gpcnet_bw_sync"] {
            let none = "rings = 4000000000\nwarm_up = 0\niterations = 0";
            assert!(refusal(motif, none, 8).contains("at most 2097152"));
            let many = "rings = 1000000\nwarm_up = 0\niterations = 1";
            assert!(refusal(motif, many, 1024).contains("at most 16384"));
        }
    }
}
