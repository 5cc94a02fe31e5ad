//! Shows the progress of a run on rank 0, watches the clock and listens for signals on all.

use std::path::PathBuf;
use std::time::{Duration, Instant};

use super::progress::{Kind, Progress, state};
use crate::cli::process::console::tell;
use crate::cli::process::launch::has_reached;
use crate::cli::process::signals::Asked;
use weir_engine::StopReason;
use weir_input::{Duration as Span, Until};
use weir_model::Time;
use weir_report::format::{bytes, simulated, wall};
use weir_result::Lock;
use weir_simulation::checkpoint::{self, Manifest};
use weir_simulation::config::Experiment;
use weir_simulation::fork::Shared;
use weir_simulation::{Observer, SavedState, memory_bytes};

/// Shows progress on rank 0, watches the clock and listens for signals on all.
pub struct Viewer {
    progress: Option<Progress>,
    asked: Asked,
    started: Instant,
    max_wall: Option<Duration>,
    /// Most memory, bytes; the last look at it, and true if it was exceeded then.
    max_memory: Option<u64>,
    weighed: Instant,
    large: bool,
    /// Time from one checkpoint to the next, and the last one.
    every: Option<Duration>,
    last: Instant,
    /// True since one failed, until another succeeds.
    failing: bool,
    /// The directory of a state that is shared with other runs, and the lock of the run that writes
    /// it.
    shared: Option<PathBuf>,
    lock: Option<Lock>,
    kind: Kind,
    /// Speed that the balance of the domains allows.
    balance: f64,
    /// File in which the progress is written, and the time of the next note.
    place: Option<PathBuf>,
    next: Duration,
}

/// Between two notes of how far the run is; nothing is written of a shorter one.
const NOTE: Duration = Duration::from_secs(1);

/// Between two looks at the memory.
const WEIGH: Duration = Duration::from_secs(1);

impl Viewer {
    /// For a run that begins now. `place` is the file in which the progress is written.
    pub fn new(
        experiment: &Experiment,
        quiet: bool,
        asked: Asked,
        place: Option<PathBuf>,
    ) -> Viewer {
        let kind = match experiment.run.until {
            Until::Time(time) => Kind::Until(time.0),
            Until::Completion => Kind::Completion,
        };
        let on_the_clock =
            |time: Option<Span>| time.map(|time| Duration::from_nanos(time.0 / 1_000));
        Viewer {
            progress: (!quiet).then(|| Progress::new(kind, quiet)),
            asked,
            started: Instant::now(),
            max_wall: on_the_clock(experiment.run.max_wall),
            max_memory: None,
            weighed: Instant::now(),
            large: false,
            every: on_the_clock(experiment.run.checkpoint_every),
            last: Instant::now(),
            failing: false,
            shared: None,
            lock: None,
            kind,
            balance: 1.0,
            place,
            next: NOTE,
        }
    }

    /// Stops the run if this process holds more memory than `most` bytes.
    pub fn with_max_memory(mut self, most: Option<u64>) -> Viewer {
        self.max_memory = most;
        self
    }

    /// The run goes on from a state that it shares with others, or writes it, with a lock on rank
    /// 0.
    pub fn shares(&mut self, shared: Option<(Shared, Option<Lock>)>) -> Option<Shared> {
        let (shared, lock) = shared?;
        self.shared = Some(shared.place.dir.clone());
        self.lock = lock;
        Some(shared)
    }

    /// Writes the progress for `weir inspect` while the run continues.
    fn note(&mut self, until: Time, moved: u64) {
        let elapsed = self.started.elapsed();
        let Some(place) = self.place.as_ref().filter(|_| elapsed >= self.next) else {
            return;
        };
        self.next = elapsed + NOTE.max(elapsed / 100);
        let text = state(self.kind, until, moved, elapsed);
        // A full disk is reported when the result is written.
        let _ = weir_result::replace(
            place,
            format!("{text} (at {})\n", weir_result::date()).as_bytes(),
        );
    }

    /// True if this process holds more memory than it may, as was seen within the last second.
    fn is_too_large(&mut self) -> bool {
        let Some(most) = self.max_memory else {
            return false;
        };
        if self.weighed.elapsed() >= WEIGH {
            self.weighed = Instant::now();
            self.large = memory_bytes() > most;
        }
        self.large
    }

    /// Removes the bar.
    pub fn finish(self) {
        let balance = self.balance;
        tracing::info!("the balance of domains allows {balance:.1} times the speed of one thread");
        if let Some(progress) = self.progress {
            progress.finish();
        }
    }
}

impl Observer for Viewer {
    fn progress(&mut self, now: weir_engine::Progress, ranks: u32) {
        has_reached(now.at.until);
        // The moves of the other ranks are not known between windows; they share the work evenly.
        let moved = now.moved_here * u64::from(ranks);
        self.balance = now.balance();
        self.note(now.at.until, moved);
        if let Some(progress) = &mut self.progress {
            progress.update(now.at.until, moved, self.started.elapsed());
        }
    }

    fn stop(&mut self) -> Option<StopReason> {
        let late = self
            .max_wall
            .is_some_and(|limit| self.started.elapsed() > limit);
        if late {
            return Some(StopReason::MaxWall);
        }
        let large = self.is_too_large().then_some(StopReason::MaxMemory);
        self.asked.reason().or(large)
    }

    fn wants_state(&mut self) -> bool {
        self.every.is_some_and(|every| self.last.elapsed() >= every)
    }

    fn goes_on(&mut self, from: &Manifest, newer: &[String]) {
        if self.place.is_none() {
            return;
        }
        for error in newer {
            tell(format!("warning: {error}; an older checkpoint is used"));
        }
        if self.progress.is_some() {
            tell(format!(
                "goes on from {} of simulated time ({})",
                simulated(from.until()),
                from.path.display()
            ));
        }
    }

    fn starts_anew(&mut self, why: &str) {
        if self.place.is_some() {
            tell(format!("warning: the run starts anew: {why}"));
        }
    }

    fn saved(&mut self, outcome: Result<SavedState, &str>) {
        self.last = Instant::now();
        // Rank 0 speaks for all.
        let speaks = self.place.is_some();
        // Once, not every few minutes, and whichever file it is about.
        let told = std::mem::replace(&mut self.failing, outcome.is_err());
        match outcome {
            Ok(saved) if speaks => tracing::info!(
                "checkpoint at {}: {} in {}",
                simulated(saved.until),
                bytes(saved.bytes),
                wall(saved.took.as_secs_f64())
            ),
            Err(error) if speaks && !told => {
                tell(format!("warning: there is no new checkpoint: {error}"));
            }
            _ => {}
        }
    }

    fn is_alone(&mut self, why: &str) {
        if self.place.is_some() {
            tell(format!(
                "warning: the run simulates its beginning itself: {why}"
            ));
            // Nobody can go on from it. One that cannot be removed is found again.
            let _ = self.shared.take().map(|dir| checkpoint::remove(&dir));
        }
    }

    fn shared(&mut self, outcome: Result<SavedState, &str>) {
        self.lock = None;
        if let (Err(error), true) = (outcome, self.place.is_some()) {
            tell(format!(
                "warning: other runs cannot go on from its state: {error}"
            ));
        }
    }

    /// A twentieth of the wall-clock limit. A checkpoint may be late: pieces of windows cost more.
    /// Without a limit, in good time for requests to end: schedulers give half a minute.
    fn heed_within(&self) -> Duration {
        let most = Duration::from_secs(5);
        let part = |limit: Duration| (limit / 20).clamp(Duration::from_millis(100), most);
        self.max_wall.map_or(most, part)
    }
}
