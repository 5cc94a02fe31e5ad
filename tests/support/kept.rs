//! Runs that leave a checkpoint and are gone on with from there.

use std::time::Duration;

use tempfile::TempDir;
use weir::engine::{Progress, StopReason};
use weir::model::{Time, below, stream};
use weir::result::Data;
use weir::simulation::checkpoint::{self, Checkpoints, Forked};
use weir::simulation::fork::{self, Shared};
use weir::simulation::{self, Means, Observer, Plan, RunError, SavedState};

use super::experiment::{Split, on_ranks};

/// A place for checkpoints, with its checkpoints.
pub struct Kept {
    all: Checkpoints,
    _dir: TempDir,
}

impl Kept {
    fn new() -> Kept {
        Kept::of("[run]\n".into())
    }

    fn of(experiment: String) -> Kept {
        let dir = tempfile::tempdir().expect("a directory");
        let identity = fork::identity("tests".into(), experiment);
        let all = Checkpoints {
            dir: dir.path().into(),
            identity,
            found: Vec::new(),
            anew: false,
        };
        Kept { all, _dir: dir }
    }

    /// Simulated time of the newest checkpoint, ps.
    pub fn until(&self) -> Time {
        self.all.found[0].until()
    }
}

/// Runs a plan in one process; the data of the result, and how often its state could have been
/// saved.
pub fn run_counting(plan: &Plan) -> Result<(Data, u64), RunError> {
    let kept = Kept::new();
    let (data, asked) = run_with(1, plan, &kept, Saver::default)?;
    Ok((data, asked[0]))
}

/// Runs a plan on some ranks. Its state is saved once, after one of `places` pieces of windows that
/// the seed chooses.
pub fn run_saving(
    split: impl Into<Split>,
    plan: &Plan,
    places: u64,
    seed: u64,
) -> Result<(Data, Kept), RunError> {
    let mut kept = Kept::new();
    let most = u32::try_from(places).expect("a short run");
    let wanted = Some(1 + u64::from(below(&mut stream(seed, &[]), most)));
    let saver = || Saver { wanted, asked: 0 };
    let (data, _) = run_with(split, plan, &kept, saver)?;
    let found = checkpoint::find(&kept.all.dir, &kept.all.identity);
    kept.all.found = found.expect("its own").usable;
    assert_eq!(kept.all.found.len(), 1);
    Ok((data, kept))
}

/// Runs a plan on some ranks, and writes the state at a time for runs with this prefix.
pub fn run_sharing(ranks: u32, plan: &Plan, at: Time, prefix: String) -> (Data, Kept) {
    let mut kept = Kept::of(prefix);
    let (data, _) = shared(ranks, plan, at, &kept, true);
    let found = checkpoint::find(&kept.all.dir, &kept.all.identity);
    kept.all.found = found.expect("its own").usable;
    assert_eq!(kept.all.found.len(), 1, "the state at {at} ps");
    assert!(kept.until() <= at);
    (data, kept)
}

/// Goes on from a shared state on some ranks; the data of the result and the state's origin.
pub fn go_on_from(ranks: u32, plan: &Plan, at: Time, kept: &Kept) -> (Data, Forked) {
    let (data, forked) = shared(ranks, plan, at, kept, false);
    (data, forked.expect("it went on from there"))
}

fn shared(ranks: u32, plan: &Plan, at: Time, kept: &Kept, saves: bool) -> (Data, Option<Forked>) {
    let place = kept.all.clone();
    let shared = Shared { place, at, saves };
    let ran = on_ranks(ranks, |rank| {
        let means = Means {
            shared: Some(&shared),
            ..Means::default()
        };
        let outcome = simulation::run_with(plan, means, rank, &mut Saver::default())?;
        let forked = outcome.as_ref().and_then(|outcome| outcome.forked);
        Ok((outcome, forked))
    });
    let (data, forked) = ran.expect("a good run");
    (data, forked[0])
}

/// Goes on from a checkpoint on some ranks; the data of the result.
pub fn resume_on(split: impl Into<Split>, plan: &Plan, kept: &Kept) -> Result<Data, RunError> {
    run_with(split, plan, kept, Saver::default).map(|(data, _)| data)
}

fn run_with(
    split: impl Into<Split>,
    plan: &Plan,
    kept: &Kept,
    saver: impl Fn() -> Saver + Sync,
) -> Result<(Data, Vec<u64>), RunError> {
    let split = split.into();
    on_ranks(split.ranks, |rank| {
        let mut saver = saver();
        let means = Means {
            checkpoints: Some(&kept.all),
            ..split.means()
        };
        let outcome = simulation::run_with(plan, means, rank, &mut saver)?;
        Ok((outcome, saver.asked))
    })
}

/// Wants the state once.
#[derive(Default)]
struct Saver {
    asked: u64,
    wanted: Option<u64>,
}

impl Observer for Saver {
    fn progress(&mut self, _: Progress, _: u32) {}
    fn stop(&mut self) -> Option<StopReason> {
        None
    }
    fn wants_state(&mut self) -> bool {
        self.asked += 1;
        // Where a run forks, a wish is not heeded.
        self.wanted.is_some_and(|wanted| self.asked >= wanted)
    }
    fn saved(&mut self, outcome: Result<SavedState, &str>) {
        outcome.expect("the disk has room");
        self.wanted = None;
    }
    fn shared(&mut self, outcome: Result<SavedState, &str>) {
        outcome.expect("the disk has room");
    }
    fn is_alone(&mut self, why: &str) {
        panic!("{why}");
    }
    /// Long: then the pieces of windows do not depend on the clock.
    fn heed_within(&self) -> Duration {
        Duration::from_secs(600)
    }
}
