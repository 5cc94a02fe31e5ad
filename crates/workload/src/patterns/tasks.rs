//! Task numbers and endpoints of a workload, in both directions in constant time.

use rustc_hash::FxHashMap;

use weir_model::{EndpointId, Rng, below};

/// Assignment of tasks to endpoints.
pub(super) enum Tasks {
    /// Task i runs on endpoint `first + i`: nothing is stored, whatever the number of endpoints.
    Range { first: EndpointId, count: u32 },
    /// Any other list, with its inverse.
    List {
        endpoints: Box<[EndpointId]>,
        inverse: Inverse,
    },
}

/// The task of an endpoint.
pub(super) enum Inverse {
    /// A table from the lowest to the highest member, for lists without large gaps.
    Table {
        lowest: EndpointId,
        tasks: Box<[u32]>,
    },
    /// For a few members far apart.
    Map(FxHashMap<EndpointId, u32>),
}

/// Marks endpoints without a task in `Inverse::Table`.
const NOBODY: u32 = u32::MAX;

/// Maximum ratio of table length to list length; beyond it a map is smaller.
const SPARSE: usize = 8;

impl Tasks {
    /// For task i on `endpoints[i]`; no endpoint twice.
    pub(super) fn new(endpoints: &[EndpointId]) -> Self {
        let count = endpoints.len() as u32;
        let first = endpoints.first().copied().unwrap_or(0);
        if endpoints
            .windows(2)
            .all(|pair| pair[1] == pair[0].wrapping_add(1))
        {
            return Tasks::Range { first, count };
        }
        Tasks::List {
            endpoints: endpoints.into(),
            inverse: Inverse::new(endpoints),
        }
    }

    /// Number of tasks.
    pub(super) fn count(&self) -> u32 {
        match self {
            Tasks::Range { count, .. } => *count,
            Tasks::List { endpoints, .. } => endpoints.len() as u32,
        }
    }

    /// The endpoint that `task` (less than `count`) runs on.
    #[inline]
    pub(super) fn endpoint(&self, task: u32) -> EndpointId {
        match self {
            Tasks::Range { first, .. } => first + task,
            Tasks::List { endpoints, .. } => endpoints[task as usize],
        }
    }

    /// The task on `endpoint`; None if it is not a member.
    #[inline]
    pub(super) fn task(&self, endpoint: EndpointId) -> Option<u32> {
        match self {
            Tasks::Range { first, count } => {
                let task = endpoint.wrapping_sub(*first);
                (task < *count).then_some(task)
            }
            Tasks::List {
                inverse: Inverse::Table { lowest, tasks },
                ..
            } => {
                let place = endpoint.wrapping_sub(*lowest) as usize;
                tasks.get(place).copied().filter(|&task| task != NOBODY)
            }
            Tasks::List {
                inverse: Inverse::Map(map),
                ..
            } => map.get(&endpoint).copied(),
        }
    }

    /// A random member other than `endpoint`; None if there is no other or `endpoint` is not a
    /// member.
    #[inline]
    pub(super) fn another(&self, endpoint: EndpointId, rng: &mut Rng) -> Option<EndpointId> {
        let task = self.task(endpoint)?;
        let others = self.count() - 1;
        if others == 0 {
            return None;
        }
        // The drawn number counts the other tasks: those from our own on are one higher.
        let drawn = below(rng, others);
        Some(self.endpoint(drawn + u32::from(drawn >= task)))
    }
}

impl Inverse {
    fn new(endpoints: &[EndpointId]) -> Self {
        let lowest = endpoints.iter().copied().min().unwrap_or(0);
        let highest = endpoints.iter().copied().max().unwrap_or(0);
        let span = (highest - lowest) as usize + 1;
        let numbered = endpoints.iter().copied().zip(0u32..);
        if span > SPARSE * endpoints.len() {
            return Inverse::Map(numbered.collect());
        }
        let mut tasks = vec![NOBODY; span].into_boxed_slice();
        for (endpoint, task) in numbered {
            tasks[(endpoint - lowest) as usize] = task;
        }
        Inverse::Table { lowest, tasks }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use weir_model::stream;

    fn both_ways(endpoints: &[EndpointId]) -> Tasks {
        let tasks = Tasks::new(endpoints);
        assert_eq!(tasks.count() as usize, endpoints.len());
        for (task, &endpoint) in endpoints.iter().enumerate() {
            assert_eq!(tasks.endpoint(task as u32), endpoint);
            assert_eq!(tasks.task(endpoint), Some(task as u32));
        }
        for other in [0, 4, 39, 45, 999, u32::MAX] {
            assert_eq!(
                tasks.task(other).is_some(),
                endpoints.contains(&other),
                "{other}"
            );
        }
        tasks
    }

    #[test]
    fn a_range_stores_no_list() {
        assert!(matches!(
            both_ways(&[40, 41, 42]),
            Tasks::Range {
                first: 40,
                count: 3
            }
        ));
        assert!(matches!(both_ways(&[7]), Tasks::Range { .. }));
        assert!(matches!(both_ways(&[]), Tasks::Range { count: 0, .. }));
    }

    #[test]
    fn near_members_use_a_table_and_far_ones_a_map() {
        let near = both_ways(&[42, 40, 44]);
        assert!(matches!(
            near,
            Tasks::List {
                inverse: Inverse::Table { .. },
                ..
            }
        ));
        let far = both_ways(&[1_000_000, 5]);
        assert!(matches!(
            far,
            Tasks::List {
                inverse: Inverse::Map(_),
                ..
            }
        ));
    }

    #[test]
    fn another_is_any_other_with_the_same_chance() {
        let tasks = Tasks::new(&[9, 3, 5, 4]);
        let mut rng = stream(7, &[]);
        let mut counts = [0u32; 10];
        for _ in 0..3_000 {
            counts[tasks.another(5, &mut rng).unwrap() as usize] += 1;
        }
        assert_eq!(
            counts.iter().sum::<u32>(),
            counts[9] + counts[3] + counts[4]
        );
        // 1,000 expected each; sigma is 26.
        for other in [9, 3, 4] {
            assert!((922..=1_078).contains(&counts[other]), "{counts:?}");
        }
        assert_eq!(tasks.another(6, &mut rng), None);
        assert_eq!(Tasks::new(&[6]).another(6, &mut rng), None);
    }
}
