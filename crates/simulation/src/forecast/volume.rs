//! Amount that a job sends and computes, from its programs: nothing is simulated.

use rustc_hash::{FxHashMap, FxHashSet};

use super::course::Step;
use weir_workload::tasks::{Collective, Job, Op, Peer, RendezvousCompletes, Script};

/// Tasks of a large job that are examined, if their programs are not too long for that.
const TASKS: u64 = 64;
/// Minimum number of examined tasks of a large job, and parts of a long program.
const FEWEST: u32 = 16;
/// Number of tasks whose times of sending are kept,
const COURSES: usize = 8;
/// in at most this number of steps,
const STEPS: usize = 4_096;
/// of at most this number of operations each.
const STEP_OPS: usize = 64;

/// Work of all tasks of a job.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Volume {
    /// Messages handed to NICs, those of the rendezvous protocol included.
    pub messages: f64,
    /// Their content, bytes.
    pub bytes: f64,
    /// Weights of their messages, added up ([`Volume::of`]): packets first.
    pub weight: [f64; 2],
    /// The most that a task computes, ps.
    pub computed: f64,
    /// The most times that a task waits for others.
    pub waits: f64,
    /// The most bytes that a task sends.
    pub sent: f64,
    /// The most bytes that come to a task.
    pub received: f64,
    /// State that all tasks hold of each other in the end, and at the worst moment.
    pub open: Open,
    /// True if all of it was counted; else some tasks and some parts of their programs were, and
    /// scaled up.
    pub exact: bool,
}

/// State that tasks hold, added up over them.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Open {
    /// Pairs of a task and one that it has sent to or received from.
    pub peers: f64,
    /// Messages that tasks send at once, at most.
    pub sends: f64,
    /// Their packets.
    pub packets: f64,
    /// Messages that tasks wait for at once, at most.
    pub receives: f64,
}

impl Open {
    fn add(&mut self, other: Open, tasks: f64) {
        self.peers += tasks * other.peers;
        self.sends += tasks * other.sends;
        self.packets += tasks * other.packets;
        self.receives += tasks * other.receives;
    }

    fn most(&mut self, now: Open) {
        self.sends = self.sends.max(now.sends);
        self.packets = self.packets.max(now.packets);
        self.receives = self.receives.max(now.receives);
    }
}

impl Volume {
    const NOTHING: Volume = Volume {
        messages: 0.0,
        bytes: 0.0,
        weight: [0.0; 2],
        computed: 0.0,
        waits: 0.0,
        sent: 0.0,
        received: 0.0,
        open: Open {
            peers: 0.0,
            sends: 0.0,
            packets: 0.0,
            receives: 0.0,
        },
        exact: true,
    };

    /// Counts the messages of a job whose program is run `rounds` times.
    /// About `effort` operations are examined. In a large job these are of the first task and
    /// others, spread evenly; in a long program they are of some parts. `weigh` gives further
    /// weights of a message (from, to, bytes) to be added up. The steps of some of the tasks in one
    /// round are returned as well.
    pub fn of(
        job: &Job,
        rounds: u32,
        effort: u64,
        weigh: impl FnMut(Peer, Peer, u64) -> [f64; 2],
    ) -> (Volume, Vec<Vec<Step>>) {
        let mut count = Count {
            job,
            weigh,
            effort,
            ops: Vec::new(),
            step_ops: Vec::new(),
            looked: 0,
            parts: 0,
            own: Volume::NOTHING,
            sent: Vec::new(),
            received: FxHashMap::default(),
            now: Open::default(),
            peers: FxHashSet::default(),
            steps: Vec::new(),
        };
        (count.all().times(f64::from(rounds)), count.steps)
    }

    /// Adds a task that stands for `tasks` tasks.
    fn add(&mut self, task: &Volume, tasks: f64) {
        self.messages += tasks * task.messages;
        self.bytes += tasks * task.bytes;
        for (sum, own) in self.weight.iter_mut().zip(task.weight) {
            *sum += tasks * own;
        }
        self.computed = self.computed.max(task.computed);
        self.waits = self.waits.max(task.waits);
        self.sent = self.sent.max(task.sent);
        self.open.add(task.open, tasks);
        self.exact &= task.exact;
    }

    fn step(&self) -> Step {
        Step {
            computed: self.computed,
            waits: self.waits,
            bytes: self.bytes,
        }
    }

    fn times(self, times: f64) -> Volume {
        Volume {
            messages: times * self.messages,
            bytes: times * self.bytes,
            weight: self.weight.map(|one| times * one),
            computed: times * self.computed,
            waits: times * self.waits,
            sent: times * self.sent,
            received: times * self.received,
            // The same again holds no more.
            open: self.open,
            exact: self.exact,
        }
    }
}

/// Looks through programs.
struct Count<'a, F> {
    job: &'a Job,
    weigh: F,
    effort: u64,
    ops: Vec<Op>,
    step_ops: Vec<Op>,
    /// Operations examined so far.
    looked: u64,
    /// Parts of the program that was examined last.
    parts: u32,
    /// Work of the task that is examined.
    own: Volume,
    /// To whom it sends, and how many bytes.
    sent: Vec<(Peer, u64)>,
    /// Bytes that come to each task.
    received: FxHashMap<Peer, f64>,
    /// Operations that it has started and not waited for.
    now: Open,
    /// Whom it has sent to or received from.
    peers: FxHashSet<Peer>,
    /// Steps of some of the tasks.
    steps: Vec<Vec<Step>>,
}

impl<F: FnMut(Peer, Peer, u64) -> [f64; 2]> Count<'_, F> {
    fn all(&mut self) -> Volume {
        // The first task often is a root, and is representative of no other.
        let mut all = self.task(0);
        let mut received = std::mem::take(&mut self.received);
        let others = self.job.tasks.saturating_sub(1);
        let (mut some, mut done) = (Volume::NOTHING, 0);
        for task in spread(others) {
            let own = self.task(1 + task);
            some.add(&own, 1.0);
            done += 1;
            if self.looked > self.effort && done >= FEWEST {
                break;
            }
        }
        let scale = f64::from(others) / f64::from(done.max(1));
        some.exact &= done == others;
        all.add(&some, scale);
        for (to, bytes) in self.received.drain() {
            *received.entry(to).or_default() += scale * bytes;
        }
        all.received = received.into_values().fold(0.0, f64::max);
        all
    }

    fn task(&mut self, task: Peer) -> Volume {
        self.own = Volume::NOTHING;
        self.sent.clear();
        self.now = Open::default();
        self.peers.clear();
        self.parts = self.parts_of(task);
        let share = self.effort / u64::from(self.job.tasks).clamp(1, TASKS);
        let (mut done, before) = (0, self.looked);
        let mut steps = Vec::new();
        for part in spread(self.parts) {
            self.write(task, part);
            let mut of_part = Vec::new();
            for begin in (0..self.ops.len()).step_by(STEP_OPS) {
                let then = self.own.step();
                let end = self.ops.len().min(begin + STEP_OPS);
                for at in begin..end {
                    self.op(task, self.ops[at]);
                }
                // Operations that a part starts are waited for at its end.
                self.own.waits += f64::from(u8::from(end == self.ops.len()));
                of_part.push(self.own.step().and(then.times(-1.0)));
            }
            steps.push((part, of_part));
            self.looked += 1 + self.ops.len() as u64;
            done += 1;
            if self.looked - before > share && done >= FEWEST {
                break;
            }
        }
        self.waited();
        if self.steps.len() < COURSES {
            self.steps.push(in_order(steps, self.parts));
        }
        let scale = f64::from(self.parts) / f64::from(done.max(1));
        for (to, bytes) in self.sent.drain(..) {
            *self.received.entry(to).or_default() += scale * bytes as f64;
        }
        let exact = done == self.parts;
        self.own.open.peers = self.peers.len() as f64;
        let own = self.own.times(scale);
        Volume {
            sent: own.bytes,
            exact,
            ..own
        }
    }

    /// Writes a part of a task's program. False if it has none of this number.
    fn write(&mut self, task: Peer, part: u32) -> bool {
        self.ops.clear();
        let mut script = Script::new(&mut self.ops, task, self.job.tasks);
        self.job.motif.part(part, &mut script)
    }

    /// Number of parts of a program: mostly the same as of the one before.
    fn parts_of(&mut self, task: Peer) -> u32 {
        let guess = self.parts;
        let same = guess > 0 && self.write(task, guess - 1) && !self.write(task, guess);
        if same {
            return guess;
        }
        let mut beyond = 1;
        while self.write(task, beyond - 1) {
            match beyond.checked_mul(2) {
                Some(next) => beyond = next,
                None => return u32::MAX,
            }
        }
        // The last existing part is between the two.
        let (mut there, mut beyond) = (beyond / 2, beyond);
        while beyond - there > 1 {
            let middle = there + (beyond - there) / 2;
            match self.write(task, middle - 1) {
                true => there = middle,
                false => beyond = middle,
            }
        }
        there
    }

    fn op(&mut self, task: Peer, op: Op) {
        match op {
            Op::Compute(time) => self.own.computed += time as f64,
            Op::Send { to, bytes, .. } => {
                self.own.waits += 1.0;
                self.message(task, to, bytes);
                self.waited();
            }
            Op::Isend { to, bytes, .. } => self.message(task, to, bytes),
            Op::Recv { from, .. } => {
                self.own.waits += 1.0;
                self.peers.extend(from);
            }
            Op::WaitAll(_) => {
                self.own.waits += 1.0;
                self.waited();
            }
            Op::WaitAny(_) => self.own.waits += 1.0,
            Op::Irecv { from, .. } => {
                self.peers.extend(from);
                self.now.receives += 1.0;
            }
            Op::Collective(collective) => self.collective(task, &collective),
        }
    }

    fn collective(&mut self, task: Peer, collective: &Collective) {
        let mut steps = std::mem::take(&mut self.step_ops);
        for step in 0.. {
            steps.clear();
            if !collective.step(&self.job.algorithms, task, step, &mut steps) {
                break;
            }
            for &op in &steps {
                self.op(task, op);
            }
            self.waited();
            self.looked += 1 + steps.len() as u64;
        }
        self.step_ops = steps;
    }

    /// All that was started is complete.
    fn waited(&mut self) {
        let now = std::mem::take(&mut self.now);
        self.own.open.most(now);
    }

    /// A message, and the messages by which a long one asks for leave.
    /// Messages from a task to itself do not pass a NIC.
    fn message(&mut self, from: Peer, to: Peer, bytes: u64) {
        if from == to {
            return;
        }
        self.peers.insert(to);
        self.now.sends += 1.0;
        let before = self.own.weight[0];
        let protocol = &self.job.exchange.protocol;
        if bytes >= protocol.rendezvous_from {
            let control = protocol.control_bytes;
            self.single(from, to, control);
            self.single(to, from, control);
            self.own.waits += 2.0;
            if protocol.rendezvous_completes == RendezvousCompletes::Received {
                self.single(to, from, control);
                self.own.waits += 1.0;
            }
        }
        self.single(from, to, self.job.exchange.protocol.with_header(bytes));
        self.sent.push((to, bytes));
        self.now.packets += self.own.weight[0] - before;
    }

    fn single(&mut self, from: Peer, to: Peer, bytes: u64) {
        self.own.messages += 1.0;
        self.own.bytes += bytes as f64;
        let weight = (self.weigh)(from, to, bytes);
        for (sum, own) in self.own.weight.iter_mut().zip(weight) {
            *sum += own;
        }
    }
}

/// Steps by part in the order of the program.
/// An examined part stands for those after it until the next; the first also for those before it.
fn in_order(mut steps: Vec<(u32, Vec<Step>)>, parts: u32) -> Vec<Step> {
    steps.sort_unstable_by_key(|step| step.0);
    let ends = steps.iter().skip(1).map(|step| step.0).chain([parts]);
    let ends: Vec<u32> = ends.collect();
    let begins = [0].into_iter().chain(ends.iter().copied());
    let spans = begins.zip(&ends).map(|(begin, end)| f64::from(end - begin));
    let scaled = steps
        .iter()
        .zip(spans)
        .flat_map(|((_, steps), span)| steps.iter().map(move |step| step.times(span)));
    let scaled: Vec<Step> = scaled.collect();
    let chunk = scaled.len().div_ceil(STEPS).max(1);
    let all = |steps: &[Step]| {
        steps
            .iter()
            .fold(Step::default(), |sum, &step| sum.and(step))
    };
    scaled.chunks(chunk).map(all).collect()
}

/// All numbers below `count`, each once, in an order of which every beginning is spread evenly:
/// multiples of a step near the golden ratio that has no divisor in common with `count`.
fn spread(count: u32) -> impl Iterator<Item = u32> {
    let count = u64::from(count);
    let near = (count as f64 * 0.618_034) as u64;
    let step = (near.max(1)..).find(|&step| divisor(step, count) == 1);
    let step = step.unwrap_or(1);
    (0..count).map(move |at| (at * step % count) as u32)
}

/// The greatest common divisor.
fn divisor(mut a: u64, mut b: u64) -> u64 {
    while b > 0 {
        (a, b) = (b, a % b);
    }
    a
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn everything_comes_once_and_every_beginning_is_spread() {
        for count in [0, 1, 2, 7, 100, 4_096] {
            let mut all: Vec<u32> = spread(count).collect();
            all.sort_unstable();
            assert!(all.into_iter().eq(0..count), "{count}");
        }
        let mut few: Vec<u32> = spread(1_000).take(20).collect();
        few.sort_unstable();
        assert!(
            few.windows(2).all(|pair| pair[1] - pair[0] < 120),
            "{few:?}"
        );
    }
}
