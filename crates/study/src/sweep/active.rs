//! A run of a point: how it is ended, and what its end means.

use std::io;
use std::os::unix::process::ExitStatusExt;
use std::process::{Child, ExitStatus};
use std::time::{Duration, Instant};

use rustix::process::{Pid, Signal, kill_process_group};

use super::sessions::Sessions;
use crate::dir::{PointDir, Reason, Stamp, State, StateName, Status};
use crate::points::Point;
use weir_engine::StopReason;
use weir_model::program::exit::STALLED;
use weir_result::{Lock, read};

/// Time between two checks of the runs, which takes some microseconds.
pub(super) const TICK: Duration = Duration::from_millis(2);
/// Time that a run gets to end in good order after it was asked to: most of what batch systems give
/// (`slurm::NOTICE`).
const GRACE: Duration = Duration::from_secs(45);
/// Bytes at the end of a log in which the error is looked for: a deadlock names all places of its
/// cycle.
const LAST_WORDS: u64 = 1 << 16;
/// Most characters of it that are kept as the reason of a failure.
const REASON: usize = 2_000;

/// Words about a point that was ended by `run.max_wall`.
const TOO_LONG: &str = "it took longer than run.max_wall; `weir sweep retry` tries again, from its \
                        checkpoint if it has one";

/// A point whose run goes on.
pub(super) struct Active<'a> {
    pub point: &'a Point,
    pub dir: PointDir,
    /// Its result before this run, if there was one.
    pub before: Option<Stamp>,
    pub child: Child,
    pub status: Status,
    pub since: Instant,
    /// Held until the outcome is written down.
    pub _lock: Lock,
    /// The same.
    pub _sessions: Option<Sessions>,
}

/// Ends runs: first by asking, with the signal that launchers pass on to their ranks and leave them
/// the time to save their states. Their points are waiting again, or done if they were quick.
pub(super) fn end(running: &mut [Active]) {
    let signal = |active: &Active, signal: Signal| {
        if let Some(pid) = Pid::from_raw(active.child.id() as i32) {
            // A run that has just ended by itself is no error.
            let _ = kill_process_group(pid, signal);
        }
    };
    for active in &*running {
        signal(active, Signal::USR1);
    }
    let asked = Instant::now();
    let alive = |active: &mut Active| matches!(active.child.try_wait(), Ok(None));
    while running.iter_mut().any(alive) && asked.elapsed() < GRACE {
        std::thread::sleep(TICK);
    }
    for active in running {
        signal(active, Signal::KILL);
        let _ = active.child.wait();
        active.dir.forget_status();
    }
}

impl Active<'_> {
    /// Writes down how the run has ended.
    pub fn conclude(&mut self, exit: ExitStatus) -> io::Result<State> {
        let state = match self.dir.done() {
            true => State::Done,
            false => match self.reason(exit) {
                Reason::TimeLimit => State::Failed(Reason::TimeLimit, TOO_LONG.into()),
                reason => State::Failed(reason, self.message(exit)),
            },
        };
        let status = &mut self.status;
        status.exit_code = exit.code();
        status.wall_seconds = Some(self.since.elapsed().as_secs_f64());
        match &state {
            State::Failed(reason, message) => {
                status.state = StateName::Failed;
                status.reason = Some(*reason);
                status.message = Some(message.clone());
            }
            _ => status.state = StateName::Done,
        }
        self.dir.write_status(status)?;
        Ok(state)
    }

    fn reason(&self, exit: ExitStatus) -> Reason {
        match exit.code() {
            // A shell or mpirun reports a signal as 128 and its number.
            None | Some(128..) => Reason::Killed,
            Some(code) if code == i32::from(STALLED) => Reason::Stalled,
            _ => match self.stopped() {
                Some(why) if why == StopReason::MaxWall.name() => Reason::TimeLimit,
                // mpirun has a separate exit code for ranks that it has asked to end.
                Some(_) => Reason::Killed,
                None => Reason::Error,
            },
        }
    }

    /// Reason why this run ended early, as its result says, if it has left one.
    fn stopped(&self) -> Option<String> {
        let result = self.dir.result();
        // Not the result of an earlier run.
        (Stamp::of(&result) != self.before).then(|| read(&result).ok()?.run.stopped)?
    }

    /// Error message in the log, or else the way in which the process ended.
    fn message(&self, exit: ExitStatus) -> String {
        let log = self.dir.last_words(LAST_WORDS);
        let error = log.rfind("error:").map(|at| log[at..].to_string());
        // Not the rule below a message of mpirun.
        let has_words = |line: &&str| line.contains(char::is_alphanumeric);
        let last = || log.lines().rev().find(has_words).map(str::to_string);
        let text = error.or_else(last).unwrap_or_default();
        match exit.signal() {
            Some(signal) => format!("ended by signal {signal}"),
            None if text.is_empty() => format!("exit code {}", exit.code().unwrap_or_default()),
            None => text.chars().take(REASON).collect(),
        }
    }
}
