//! Runs the points of a study that have no result yet: some processes at once, each alone in its
//! directory.

mod active;
mod forks;
mod groups;
mod sessions;

pub use forks::clear;
pub use groups::Group;

use std::collections::VecDeque;
use std::fs::File;
use std::io;
use std::os::unix::process::CommandExt;
use std::path::PathBuf;
use std::process::{Child, Command, Stdio};
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

use super::dir::{PointDir, Stamp, State, StateName, Status, SweepDir, about, write};
use super::job_file::Study;
use super::points::Point;
use active::{Active, TICK, end};
use forks::Forks;
use sessions::{SESSIONS, Sessions};
use weir_result::{Lock, began, date, here, read_run};
use weir_simulation::config::Catalog;

/// Time between two checks of points that another sweep runs.
const PATIENCE: Duration = Duration::from_millis(500);
/// Environment variables that MPI launchers set for their ranks.
/// A run on one rank must not take itself for one of them.
const LAUNCHED: [&str; 6] = ["PMI_", "PMIX_", "OMPI_", "PRTE_", "MPI_LOCAL", "MV2_COMM"];

/// Settings for running the points.
#[derive(Clone, Debug)]
pub struct Settings {
    /// The program, `weir`.
    pub program: PathBuf,
    /// Points that run at once, at least 1.
    pub jobs: usize,
    /// MPI ranks of each.
    pub ranks: u32,
    /// Threads of each rank, at least 1.
    pub threads: usize,
    /// Command that starts several ranks; their number and the program follow: `mpirun -n`.
    pub launcher: Vec<String>,
    /// True if points that failed run again. Killed points always do.
    pub again: bool,
    /// The program's version and commit, as it writes them into its checkpoints.
    pub build: String,
    /// Points that are the same run until a time, which is then simulated once for each group.
    pub groups: Vec<Group>,
    /// Wall-clock time from one checkpoint of a point to the next, as `--checkpoint-every` takes
    /// it; None: those of the experiment alone.
    pub checkpoint_every: Option<String>,
}

/// Events, for observers of a sweep.
pub enum Event<'a> {
    /// It was done or had failed before.
    Known(&'a Point, &'a State),
    /// It begins.
    Started(&'a Point),
    /// It has ended after this number of seconds.
    Ended(&'a Point, &'a State, f64),
    /// Another sweep runs it; this one waits for that.
    Elsewhere(&'a Point),
}

/// Work of points that was not done, since other points had done it.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Spared {
    /// Points that went on from a shared state.
    pub points: usize,
    /// Packet-hops before it, of all of them.
    pub packet_hops: u64,
    /// Wall-clock time that other points took for these, s.
    pub seconds: f64,
}

/// Outcome of a sweep.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Outcome {
    /// Points that have failed, now or before.
    pub failed: usize,
    /// Work that was not done twice.
    pub spared: Spared,
    /// True if it was stopped before its end.
    pub stopped: bool,
}

enum Begun<'a> {
    Running(Box<Active<'a>>),
    Known(State),
    Elsewhere,
}

/// A study that is run.
#[derive(Clone, Copy)]
pub struct Running<'a> {
    /// Its job file.
    pub study: &'a Study,
    /// The names in its experiments.
    pub catalog: &'a Catalog,
    /// Its directory.
    pub dir: &'a SweepDir,
}

/// Runs the missing ones of `points`.
/// `stop` ends it early: the runs are ended and can be started again.
///
/// # Errors
/// If a directory cannot be written or the program cannot be started; the runs are ended.
pub fn run(
    points: &[&Point],
    of: Running,
    settings: &Settings,
    stop: &AtomicBool,
    tell: &mut dyn FnMut(Event),
) -> io::Result<Outcome> {
    let forks = Forks::new(&settings.groups, of.dir, settings.build.clone());
    let mut waiting = points.to_vec();
    waiting.sort_by_key(|point| forks.order(point.index));
    let mut sweep = Sweep {
        of,
        settings,
        forks,
        waiting: waiting.into(),
        elsewhere: Vec::new(),
        running: Vec::new(),
        looked: Instant::now(),
        outcome: Outcome::default(),
    };
    loop {
        if stop.load(Ordering::Relaxed) {
            sweep.end_all();
            sweep.outcome.stopped = true;
            return Ok(sweep.outcome);
        }
        let step = sweep.reap(tell).and_then(|()| sweep.fill(tell));
        if let Err(error) = step {
            sweep.end_all();
            return Err(error);
        }
        if sweep.running.is_empty() && sweep.waiting.is_empty() && sweep.elsewhere.is_empty() {
            return Ok(sweep.outcome);
        }
        std::thread::sleep(TICK);
    }
}

impl Spared {
    /// Adds the part of a point that another one has simulated. A result that cannot be read is
    /// reported with the table.
    fn add(&mut self, dir: &PointDir) {
        if let Ok(run) = read_run(&dir.result())
            && run.forked_ps.is_some()
        {
            self.points += 1;
            self.packet_hops += run.forked_packet_hops.unwrap_or_default();
            self.seconds += run.forked_seconds.unwrap_or_default();
        }
    }
}

/// Takes the first point of a list that is ready.
fn first<'a>(
    waiting: &mut VecDeque<&'a Point>,
    ready: impl FnMut(&&Point) -> bool,
) -> Option<&'a Point> {
    let at = waiting.iter().position(ready)?;
    waiting.remove(at)
}

struct Sweep<'a> {
    of: Running<'a>,
    settings: &'a Settings,
    forks: Forks<'a>,
    waiting: VecDeque<&'a Point>,
    /// Points that another sweep runs.
    elsewhere: Vec<&'a Point>,
    running: Vec<Active<'a>>,
    looked: Instant,
    outcome: Outcome,
}

impl<'a> Sweep<'a> {
    /// Takes note of the runs that have ended.
    fn reap(&mut self, tell: &mut dyn FnMut(Event)) -> io::Result<()> {
        let mut index = 0;
        while index < self.running.len() {
            match self.running[index].child.try_wait()? {
                None => index += 1,
                Some(exit) => {
                    let mut active = self.running.swap_remove(index);
                    let state = active.conclude(exit)?;
                    match state {
                        State::Failed(..) => self.outcome.failed += 1,
                        _ if self.forks.shares(active.point.index) => {
                            self.outcome.spared.add(&active.dir);
                        }
                        _ => {}
                    }
                    self.forks.settled(active.point.index);
                    let seconds = active.since.elapsed().as_secs_f64();
                    tell(Event::Ended(active.point, &state, seconds));
                }
            }
        }
        Ok(())
    }

    /// Begins points until as many run as may.
    fn fill(&mut self, tell: &mut dyn FnMut(Event)) -> io::Result<()> {
        let mut again = Vec::new();
        if self.looked.elapsed() >= PATIENCE {
            self.looked = Instant::now();
            again = std::mem::take(&mut self.elsewhere);
            self.waiting.extend(&again);
        }
        while self.running.len() < self.settings.jobs {
            let ready = |point: &&Point| !self.forks.waits(point.index);
            let Some(point) = first(&mut self.waiting, ready) else {
                break;
            };
            match self.begin(point)? {
                Begun::Running(active) => {
                    tell(Event::Started(point));
                    self.running.push(*active);
                }
                Begun::Known(state) => {
                    if matches!(state, State::Failed(..)) {
                        self.outcome.failed += 1;
                    }
                    self.forks.settled(point.index);
                    tell(Event::Known(point, &state));
                }
                Begun::Elsewhere => {
                    if !again.iter().any(|known| known.index == point.index) {
                        tell(Event::Elsewhere(point));
                    }
                    self.elsewhere.push(point);
                }
            }
        }
        // Points of `again` that found no free place are still somebody else's.
        for point in again {
            if let Some(at) = self.waiting.iter().position(|own| own.index == point.index) {
                self.waiting.remove(at);
                self.elsewhere.push(point);
            }
        }
        Ok(())
    }

    fn begin(&mut self, point: &'a Point) -> io::Result<Begun<'a>> {
        let Running {
            study,
            catalog,
            dir,
        } = self.of;
        let dir = dir.point(&point.hash);
        let Some(lock) = dir.take()? else {
            return Ok(Begun::Elsewhere);
        };
        match dir.settled() {
            State::Done => return Ok(Begun::Known(State::Done)),
            State::Running => return Ok(Begun::Elsewhere),
            State::Failed(reason, message) if !reason.passes() && !self.settings.again => {
                return Ok(Begun::Known(State::Failed(reason, message)));
            }
            _ => {}
        }
        let experiment = study.experiment(point, catalog);
        let experiment = experiment.map_err(|error| io::Error::other(error.to_string()))?;
        write(&dir.experiment(), experiment.resolved.as_bytes())?;
        let every = match experiment.run.checkpoint_every {
            None => self.settings.checkpoint_every.as_deref(),
            Some(_) => None,
        };
        let several = self.settings.ranks > 1;
        let sessions = several.then(|| Sessions::new(point.index)).transpose()?;
        let mut options = self.forks.begin(point.index, &dir);
        options.extend(every.map(|time| format!("--checkpoint-every={time}")));
        let before = Stamp::of(&dir.result());
        let child = self.start(&dir, &lock, &options, sessions.as_ref())?;
        let status = Status {
            state: StateName::Running,
            point: Some(point.index),
            reason: None,
            message: None,
            exit_code: None,
            wall_seconds: None,
            started: date(),
            host: here(),
            pid: child.id(),
            pid_began: began(child.id()).unwrap_or_default(),
            ranks: self.settings.ranks,
        };
        let mut active = Active {
            point,
            dir,
            before,
            child,
            status,
            since: Instant::now(),
            _lock: lock,
            _sessions: sessions,
        };
        if let Err(error) = active.dir.write_status(&active.status) {
            end(std::slice::from_mut(&mut active));
            return Err(error);
        }
        Ok(Begun::Running(Box::new(active)))
    }

    /// Starts the run with some more options. It gets the lock as its standard input, which is
    /// empty: so it holds the lock for as long as it lives.
    fn start(
        &self,
        dir: &PointDir,
        lock: &Lock,
        options: &[String],
        sessions: Option<&Sessions>,
    ) -> io::Result<Child> {
        let settings = self.settings;
        let mut command = match settings.launcher.as_slice() {
            [launcher, options @ ..] if settings.ranks > 1 => {
                let mut command = Command::new(launcher);
                command.args(options).arg(settings.ranks.to_string());
                command.arg(&settings.program);
                if settings.jobs > 1 || settings.threads > 1 {
                    // Open MPI would bind the ranks of every run to the same cores, and all threads
                    // of a rank to one.
                    command.env("OMPI_MCA_hwloc_base_binding_policy", "none");
                    command.env("PRTE_MCA_hwloc_default_binding_policy", "none");
                }
                command
            }
            _ => {
                let mut command = Command::new(&settings.program);
                for (name, _) in std::env::vars_os() {
                    let text = name.to_string_lossy();
                    if LAUNCHED.iter().any(|start| text.starts_with(start)) {
                        command.env_remove(&name);
                    }
                }
                command
            }
        };
        let path = dir.log();
        let log = File::create(&path).map_err(about(&path))?;
        command
            .args(["run", "experiment.toml", "--out", ".", "--force"])
            .args(["-j", &settings.threads.to_string()])
            .args(options)
            .envs(sessions.map(|own| (SESSIONS, &own.path)))
            .current_dir(dir.path())
            .stdin(Stdio::from(lock.file().try_clone().map_err(about(&path))?))
            .stdout(Stdio::from(log.try_clone().map_err(about(&path))?))
            .stderr(Stdio::from(log))
            // Ctrl-C is for the sweep, which ends its runs itself.
            .process_group(0)
            .spawn()
            .map_err(|error| {
                let name = command.get_program().to_string_lossy().into_owned();
                // If the directory that it is to run in is gone, the operating system gives the
                // same error as if the program were gone.
                match dir.path().is_dir() {
                    true => {
                        io::Error::new(error.kind(), format!("{name} cannot be started: {error}"))
                    }
                    false => about(&dir.experiment())(error),
                }
            })
    }

    fn end_all(&mut self) {
        end(&mut self.running);
        self.running.clear();
    }
}
