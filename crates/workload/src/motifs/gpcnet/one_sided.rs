//! GPCNeT's puts and gets to the memory of one task.

use serde::{Deserialize, Serialize};

use crate::tasks::{
    Calls, Iteration, Job, Label, Labels, Messages, Motif, Peer, Procedure, Process, Script,
    Waiting,
};
use crate::timeline::WAIT;
use weir_model::Time;

/// The task whose memory the others use.
const ROOT: Peer = 0;

/// Puts into or gets from the memory of the first task, each complete (flushed) before the next: a
/// message to it and one back.
///
/// The first task's NIC answers independently of its program, which does nothing.
pub struct OneSided {
    /// Operations of each other task.
    pub iterations: u32,
    /// Tasks, including the first.
    pub tasks: u32,
    /// Length of a message to the first task, bytes.
    pub request: u64,
    /// Length of a reply, bytes.
    pub reply: u64,
}

impl Motif for OneSided {
    fn part(&self, part: u32, script: &mut Script) -> bool {
        if part >= self.iterations {
            return false;
        }
        let mark = script.mark();
        if script.task() == ROOT {
            // All operations of the first task, for counting only; not in this order.
            for from in 1..self.tasks {
                script.irecv(from, 0);
                script.isend(from, self.reply, 0);
            }
        } else {
            script.irecv(ROOT, 0);
            script.isend(ROOT, self.request, 0);
        }
        script.wait_all(script.since(mark));
        true
    }

    fn process(&self, task: Peer) -> Option<Box<dyn Process>> {
        let target = Target {
            tasks: self.tasks,
            reply: self.reply,
            each: self.iterations,
        };
        (task == ROOT).then(|| target.into_process())
    }
}

/// Answers each request on arrival.
#[derive(Debug)]
struct Target {
    tasks: u32,
    reply: u64,
    /// Expected requests of each task, per repetition of the program.
    each: u32,
}

/// Outstanding requests and replies.
#[derive(Debug, Default, Deserialize, Serialize)]
struct Answers {
    /// By task: expected requests. Empty before the start.
    left: Vec<u64>,
    /// Tasks whose requests have arrived.
    asked: Vec<Peer>,
    /// Expected requests, and replies under way.
    open: u64,
    next: Label,
}

/// Labels of receives are the numbers of their tasks; labels of replies cycle from there up to
/// this.
const LAST: Label = 1 << 30;

impl Target {
    fn begin(&self, state: &mut Answers, calls: &mut Calls) {
        let each = u64::from(self.each) * u64::from(calls.job.repetitions);
        state.left = vec![each; self.tasks as usize];
        state.open = each * u64::from(self.tasks - 1);
        if each > 0 {
            for from in 1..self.tasks {
                Target::expect(state, from, calls);
            }
        }
    }

    fn expect(state: &mut Answers, from: Peer, calls: &mut Calls) {
        if calls.receive(Some(from), Some(0), from) {
            state.asked.push(from);
        }
    }

    fn answer(&self, state: &mut Answers, to: Peer, calls: &mut Calls) {
        calls.messages.forget(to);
        calls.send(to, self.reply, 0, state.next);
        state.next += 1;
        if state.next == LAST {
            state.next = self.tasks;
        }
        let left = &mut state.left[to as usize];
        *left -= 1;
        if *left > 0 {
            Target::expect(state, to, calls);
        }
    }
}

impl Procedure for Target {
    type State = Answers;

    fn start(&self) -> Answers {
        Answers {
            next: self.tasks,
            ..Answers::default()
        }
    }

    fn fits(&self, state: &Answers, _job: &Job, _task: Peer) -> bool {
        [0, self.tasks as usize].contains(&state.left.len())
            && state.asked.iter().all(|&from| from < self.tasks)
    }

    fn proceed(&self, state: &mut Answers, calls: &mut Calls) -> bool {
        if state.left.is_empty() {
            self.begin(state, calls);
            calls.begin(WAIT);
        }
        if !state.asked.is_empty() {
            calls.begin(WAIT);
        }
        while let Some(to) = state.asked.pop() {
            self.answer(state, to, calls);
        }
        state.open == 0
    }

    fn woken(&self, _: &mut Answers, _now: Time) {}

    fn completed(&self, state: &mut Answers, label: Label, messages: &mut Messages) {
        if label < self.tasks {
            state.asked.push(label);
        } else {
            messages.forget(label);
            state.open -= 1;
        }
    }

    fn waiting(&self, _: &Answers, messages: &Messages) -> Option<Waiting> {
        Some(messages.waiting(Labels::ALL))
    }

    fn computed(&self, _: &Answers) -> Time {
        0
    }

    fn iterations<'a>(&self, _: &'a Answers) -> &'a [Iteration] {
        &[]
    }

    fn memory_bytes(&self, state: &Answers) -> usize {
        size_of::<Target>()
            + size_of::<Answers>()
            + state.left.capacity() * 8
            + state.asked.capacity() * 4
    }
}

#[cfg(test)]
mod tests {
    use super::super::super::testing::motif;
    use crate::tasks::ideal::{Ideal, job};

    /// A near task makes more requests than a far one in the same time: tasks do not wait for each
    /// other.
    #[test]
    fn requests_are_answered_as_they_come() {
        let mut job = job(motif("gpcnet_put_incast", "iterations = 4", 5), 5);
        job.repetitions = 3;
        let mut ideal = Ideal::new(job);
        // Every third message is late.
        ideal.jitter = |number| if number % 3 == 0 { 50_000 } else { 0 };
        let ideal = ideal.finish();
        for task in 1..5 {
            assert_eq!(ideal.sent_by(task).len(), 12);
        }
        let replies: Vec<u32> = ideal.sent_by(0).iter().map(|sent| sent.0).collect();
        let half = &replies[..24];
        let of = |task: u32| half.iter().filter(|&&to| to == task).count();
        assert!((1..5).any(|task| of(task) != of(1)), "{half:?}");
    }
}
