//! A job: the program of an application on some tasks.

use super::{Algorithms, Envelope, Peer, Procedure, Process, Protocol, Script, Sequence};
use crate::timeline::Limits;
use weir_model::{Time, stream, unit};

/// The program of an application's tasks.
///
/// The program of a task is a sequence of parts. A part is a pure function of the task and of the
/// part's number: its operations can be generated again from the number. At its end a part waits
/// for all operations that it started and did not wait for.
pub trait Motif: Send + Sync {
    /// Writes part `part` (from 0) of the program of `script.task()`; false if the program has
    /// fewer parts (then nothing is written). A part may be empty.
    fn part(&self, part: u32, script: &mut Script) -> bool;

    /// Draws the random choices that all tasks share, from a seed of the run and the workload.
    /// Called once, before all other methods.
    fn draw(&mut self, seed: u64) {
        let _ = seed;
    }

    /// True if an iteration begins with this part; by default with each part. For records only.
    fn begins_iteration(&self, part: u32) -> bool {
        let _ = part;
        true
    }

    /// True if the time of the iteration that begins with this part counts; false during warm-up.
    /// For records only.
    fn counts(&self, part: u32) -> bool {
        let _ = part;
        true
    }

    /// The process that carries out the work of a task. By default it performs one operation after
    /// the other, part by part; a process with another order still has parts, for counting
    /// operations.
    fn process(&self, task: Peer) -> Box<dyn Process> {
        let _ = task;
        Sequence.into_process()
    }

    /// Bytes that the process of a task holds; None: those of the longest of its parts.
    fn process_bytes(&self, task: Peer) -> Option<usize> {
        let _ = task;
        None
    }
}

/// A job: a motif on some tasks. The same for all domains.
pub struct Job {
    /// The program.
    pub motif: Box<dyn Motif>,
    /// Number of tasks.
    pub tasks: u32,
    /// Number of repetitions of the program, one after the other.
    pub repetitions: u32,
    /// True if tasks record the begin and end of their iterations.
    pub iterations: bool,
    /// Selection of what the timelines of tasks keep, if they have one.
    pub timeline: Option<Limits>,
    /// Protocol of messages.
    pub protocol: Protocol,
    /// Algorithms of collective operations.
    pub algorithms: Algorithms,
    /// Seed of the draws for each message.
    pub seed: u64,
}

impl Job {
    /// Time from a call until its message is handed to the NIC, ps. `copied`: number of its bytes
    /// copied on the way.
    pub(super) fn delay(&self, from: Peer, to: Peer, envelope: Envelope, copied: u64) -> Time {
        let copy = self.protocol.copy_per_byte.saturating_mul(copied);
        let fixed = self.protocol.send_delay.saturating_add(copy);
        match self.protocol.send_jitter {
            0 => fixed,
            most => {
                // Drawn from a stream named by the message itself: other messages do not change it.
                let name = [from.into(), to.into(), envelope.to_stamp().word()];
                let drawn = unit(&mut stream(self.seed, &name)) * most as f64;
                fixed.saturating_add(drawn as Time)
            }
        }
    }
}
