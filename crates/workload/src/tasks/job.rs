use super::{Algorithms, Envelope, Peer, Procedure, Process, Protocol, Script, Sequence};
use weir_model::{Time, stream, unit};

/// What an application's tasks do.
///
/// The program of a task is a row of parts. A part is a pure function of the task and of the part's number: whoever
/// has the number can have the operations again. All operations that a part starts and does not wait for are waited for
/// at its end.
pub trait Motif: Send + Sync {
    /// Writes part `part` (from 0) of the program of `script.task()`; false if the program has fewer parts (then nothing
    /// is written). A part may be empty.
    fn part(&self, part: u32, script: &mut Script) -> bool;

    /// Draws what is drawn once for all tasks, by a seed of the run and the workload. Called once, before all else.
    fn draw(&mut self, seed: u64) {
        let _ = seed;
    }

    /// True if an iteration begins with this part; each part is one, unless a motif says otherwise. For records only.
    fn begins_iteration(&self, part: u32) -> bool {
        let _ = part;
        true
    }

    /// True if the time of the iteration that begins with this part counts; not where a motif warms up. For records only.
    fn counts(&self, part: u32) -> bool {
        let _ = part;
        true
    }

    /// What carries the work of a task out. By default one operation after the other, part by part; what carries
    /// operations out in another order has their parts for those who count operations.
    fn process(&self, task: Peer) -> Box<dyn Process> {
        let _ = task;
        Sequence.into_process()
    }

    /// Bytes that the process of a task holds, if they are not those of the longest of its parts.
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
    /// How many times the program is run, one after the other.
    pub repetitions: u32,
    /// True if tasks write down when their iterations began and ended.
    pub iterations: bool,
    /// How messages travel.
    pub protocol: Protocol,
    /// How collective operations are carried out.
    pub algorithms: Algorithms,
    /// For what is drawn for each message.
    pub seed: u64,
}

impl Job {
    /// Time from a call until its message is handed to the NIC, ps. `copied`: so many bytes of it are copied on the way.
    pub(super) fn delay(&self, from: Peer, to: Peer, envelope: Envelope, copied: u64) -> Time {
        let copy = self.protocol.copy_per_byte.saturating_mul(copied);
        let fixed = self.protocol.send_delay.saturating_add(copy);
        match self.protocol.send_jitter {
            0 => fixed,
            most => {
                // Drawn by the message's own name: what else is sent, and where, does not change it.
                let name = [from.into(), to.into(), envelope.to_stamp().word()];
                let drawn = unit(&mut stream(self.seed, &name)) * most as f64;
                fixed.saturating_add(drawn as Time)
            }
        }
    }
}
