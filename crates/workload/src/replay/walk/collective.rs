//! Collective operations of a walk, one step after another.

use super::{Due, Held, WalkState};
use crate::replay::graph::TaskGraph;
use crate::tasks::{BLOCKING, Calls, Label, Labels, Op};

/// The first label of the messages of collective operations; those of sends and receives are their
/// numbers.
const FIRST_OF_COLLECTIVES: Label = 1 << 31;

/// Number of labels for them.
const LABELS: Label = 1 << 30;

impl WalkState {
    /// Continues a collective operation until it has to wait.
    pub(super) fn go_on(&mut self, graph: &TaskGraph, slot: usize, calls: &mut Calls) {
        while let Some(Some(running)) = self.running.get_mut(slot) {
            match running.held {
                Held::No => {}
                Held::Labels(_) if running.awaited == 0 => running.held = Held::No,
                _ => return,
            }
            let Some(&op) = running.ops.get(running.next) else {
                let part = graph.nodes[running.node as usize].amount;
                let part = &graph.collectives[part as usize];
                running.ops.clear();
                running.next = 0;
                let step = running.step;
                running.step += 1;
                if !part.step(&calls.job.algorithms, step, &mut running.ops) {
                    if running.open > 0 {
                        running.step -= 1;
                        running.awaited = running.open;
                        running.held = Held::Labels(Labels::ALL);
                        continue;
                    }
                    let node = running.node;
                    self.running[slot] = None;
                    self.finish(graph, node);
                }
                continue;
            };
            running.next += 1;
            self.one_of_collective(slot, op, calls);
        }
    }

    fn one_of_collective(&mut self, slot: usize, op: Op, calls: &mut Calls) {
        let label = FIRST_OF_COLLECTIVES + self.next_label;
        let Some(Some(running)) = self.running.get_mut(slot) else {
            return;
        };
        let own = match op {
            Op::Isend { label, .. } | Op::Irecv { label, .. } => label,
            _ => BLOCKING,
        };
        let complete = match op {
            Op::Send { to, bytes, tag } | Op::Isend { to, bytes, tag, .. } => {
                calls.send(to, bytes, tag, label);
                false
            }
            Op::Recv { from, tag } | Op::Irecv { from, tag, .. } => calls.receive(from, tag, label),
            Op::Compute(time) => {
                running.held = Held::Busy;
                return self.time(calls.now + time, Due::Collective(slot));
            }
            Op::WaitAll(labels) => {
                let open = self.owners.values();
                let awaited = open.filter(|(of, own)| *of == slot && labels.contains(*own));
                running.awaited = awaited.count() as u32;
                running.held = Held::Labels(labels);
                return;
            }
            // Steps of collective operations wait for all, and contain no collective operations.
            Op::WaitAny(_) | Op::Collective(_) => return,
        };
        self.next_label = (self.next_label + 1) % LABELS;
        running.open += 1;
        self.owners.insert(label, (slot, own));
        let per_call = calls.job.exchange.protocol.per_call;
        if own == BLOCKING {
            running.held = Held::One(label);
        } else if per_call > 0 {
            running.held = Held::Busy;
            self.time(calls.now + per_call, Due::Collective(slot));
        }
        if complete {
            self.complete.push_back(label);
        }
    }
}
