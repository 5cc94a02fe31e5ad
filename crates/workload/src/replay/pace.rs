//! Completion times of a graph's operations if messages take no time, for lower bounds of the
//! duration of a replay.

use std::cmp::Reverse;
use std::collections::BinaryHeap;

use super::graph::{Kind, TaskGraph};
use weir_model::Time;

/// Number of operations, in the order of the file, that share one time.
pub const STRETCH: usize = 64;

/// By stretch of a graph: additional time over all previous ones, ps.
///
/// None if computations keep one processor and no other operation takes time: they follow each
/// other.
pub fn pace(graph: &TaskGraph) -> Option<Box<[Time]>> {
    let side_by_side = graph.cpus > 1 || graph.nodes.iter().any(|one| one.kind == Kind::Delay);
    if !side_by_side {
        return None;
    }
    let mut so_far = 0;
    let later = |time: Time| {
        let later = time.saturating_sub(so_far);
        so_far += later;
        later
    };
    Some(done(graph).into_iter().map(later).collect())
}

/// By stretch: completion time of the last of its operations, ps.
fn done(graph: &TaskGraph) -> Vec<Time> {
    let mut left = graph.degrees();
    let mut from: Vec<Time> = vec![0; graph.nodes.len()];
    let mut free: Vec<Time> = vec![0; usize::from(graph.cpus)];
    let mut done = vec![0; graph.nodes.len().div_ceil(STRETCH)];
    let waits_for_none = left.iter().zip(0..).filter(|(left, _)| **left == 0);
    let mut ready: BinaryHeap<Reverse<(Time, u32)>> =
        waits_for_none.map(|(_, node)| Reverse((0, node))).collect();
    while let Some(Reverse((at, node))) = ready.pop() {
        let one = graph.nodes[node as usize];
        let (start, end) = match one.kind {
            Kind::Compute => {
                let free = &mut free[usize::from(one.cpu)];
                let start = at.max(*free);
                *free = start.saturating_add(one.amount);
                (start, *free)
            }
            Kind::Delay => (at, at.saturating_add(one.amount)),
            Kind::Send | Kind::Receive | Kind::Collective => (at, at),
        };
        let last = &mut done[node as usize / STRETCH];
        *last = end.max(*last);
        graph.dependents(node, |after, started| {
            let (from, left) = (&mut from[after as usize], &mut left[after as usize]);
            *from = (*from).max(if started { start } else { end });
            *left -= 1;
            if *left == 0 {
                ready.push(Reverse((*from, after)));
            }
        });
    }
    done
}

#[cfg(test)]
mod tests {
    use super::super::{Builder, Node};
    use super::*;

    /// Sends at these times after the start, as in VEF: a time for each, in parallel.
    fn at_times(times: &[Time]) -> TaskGraph {
        let mut graph = Builder::default();
        let sends: Vec<u32> = times
            .iter()
            .map(|_| graph.add(Node::send(1, 8, 0)))
            .collect();
        for (send, &time) in sends.into_iter().zip(times) {
            let delay = graph.add(Node::delay(time));
            graph.requires(send, delay);
        }
        graph.build()
    }

    #[test]
    fn times_beside_each_other_are_not_added_up() {
        let times: Vec<Time> = (1..=3 * STRETCH as Time).collect();
        let pace = pace(&at_times(&times)).expect("they go on side by side");
        let stretch = STRETCH as Time;
        assert_eq!(pace[..3], [stretch, stretch, stretch]);
        assert!(pace[3..].iter().all(|&later| later == 0), "{pace:?}");
    }

    #[test]
    fn a_processor_does_one_computation_after_the_other() {
        let on = |cpus: &[u8]| {
            let mut graph = Builder::default();
            for &cpu in cpus {
                graph.add(Node::compute(10).on(cpu));
            }
            pace(&graph.build()).map(|pace| pace.iter().sum::<Time>())
        };
        assert_eq!(on(&[0, 0, 0]), None);
        assert_eq!(on(&[0, 1, 0]), Some(20));
    }
}
