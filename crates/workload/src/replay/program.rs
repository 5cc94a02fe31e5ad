//! A recorded application as the program of a job.

use std::sync::Arc;

use super::Trace;
use super::graph::{ANY, Kind};
use super::pace::STRETCH;
use super::walk::Walk;
use crate::tasks::{Algorithms, Motif, Op, Peer, Procedure, Process, Script};

/// Number of operations of a part, for counting.
const OPERATIONS: usize = 1_024;

/// A recorded application as the program of a job.
pub struct Replay {
    trace: Arc<Trace>,
    algorithms: Algorithms,
}

impl Replay {
    /// With these algorithms for collective operations.
    pub fn new(trace: Arc<Trace>, algorithms: Algorithms) -> Replay {
        Replay { trace, algorithms }
    }

    /// The trace that it replays.
    pub fn trace(&self) -> &Trace {
        &self.trace
    }
}

impl Motif for Replay {
    /// The operations in the order of the file, with the times at which they can be done, but
    /// without their dependencies.
    fn part(&self, part: u32, script: &mut Script) -> bool {
        let graph = self.trace.graph(script.task());
        let Some(rest) = graph.nodes.get(part as usize * OPERATIONS..) else {
            return false;
        };
        if rest.is_empty() {
            return false;
        }
        let pace = self.trace.pace(script.task());
        for (at, node) in rest[..OPERATIONS.min(rest.len())].iter().enumerate() {
            if let Some(pace) = pace.filter(|_| at % STRETCH == 0)
                && let later = pace[(part as usize * OPERATIONS + at) / STRETCH]
                && later > 0
            {
                script.compute(later);
            }
            let some = |number: u32| (number != ANY).then_some(number);
            match node.kind {
                Kind::Send => _ = script.isend(node.peer, node.amount, node.tag),
                Kind::Receive => _ = script.irecv(some(node.peer), some(node.tag)),
                Kind::Compute | Kind::Delay if pace.is_some() => {}
                Kind::Compute | Kind::Delay => script.compute(node.amount),
                Kind::Collective => {
                    let part = &graph.collectives[node.amount as usize];
                    let (mut ops, mut step) = (Vec::new(), 0);
                    while part.step(&self.algorithms, step, &mut ops) {
                        step += 1;
                    }
                    // Only the amounts sent count, not their order.
                    for op in ops {
                        if let Op::Send { to, bytes, .. } | Op::Isend { to, bytes, .. } = op {
                            script.isend(to, bytes, 0);
                        }
                    }
                }
            }
        }
        true
    }

    fn process(&self, task: Peer) -> Option<Box<dyn Process>> {
        Some(Walk::new(self.trace.graph(task)).into_process())
    }

    fn process_bytes(&self, task: Peer) -> Option<usize> {
        Some(Walk::bytes(&self.trace.graph(task)))
    }
}
